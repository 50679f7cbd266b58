"""Ctrl-C and forks in the middle of calls leave the library, its locks and torch's generator whole."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fastaug.transforms as T
import random_interrupts
from fastaug._draft.draft import Draft
from fastaug._draft.draws import DEFAULT
from fastaug._draft.pipeline import Pipeline
from random_interrupts import batches, calls, check, forks, interrupted, interruptions, loaders, samples, threads
from support.processes import python
from support.scale import cases

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no such signals and forks")


@pytest.mark.parametrize(
    ("kind", "count"), [(calls, 80), (samples, 60), (batches, 20), (threads, 6), (forks, 3), (loaders, 1)]
)
def test_interrupts(kind: Callable[[random.Random], str], count: int) -> None:
    with interruptions():
        found = [text for number in range(cases(count)) if (text := kind(random.Random(number)))]
    assert not found, "\n".join([f"{len(found)} of {cases(count)}", *found[:3]])


def test_cases_have_numbers() -> None:
    assert [check(number) for number in range(10)] == [""] * 10


def test_calls_are_really_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def counted(call: Callable[[], Any], seconds: float) -> Any:
        done = interrupted(call, seconds)
        ended.append(done is None)
        return done

    monkeypatch.setattr(random_interrupts, "interrupted", counted)
    with interruptions():
        found = [text for number in range(20) if (text := calls(random.Random(number)))]
    assert not found, found[0]
    assert 20 < sum(ended) < len(ended)


def test_a_lock_that_stays_locked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: Pipeline, image: Any) -> Any:
        draft = Draft(image, self._call)
        self._draft_all(draft)
        return draft.finish()

    monkeypatch.setattr(Pipeline, "__call__", careless)
    monkeypatch.setattr(random_interrupts, "PATIENCE", 0.3)
    found = set()
    with interruptions():
        # Few interruptions meet a lock where the machine is busy: most come when the call is over.
        for number in range(300):
            found.add(calls(random.Random(number)).partition(";")[0])
            DEFAULT.release()
            if any("generator" in text for text in found):
                return
    raise AssertionError(found)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say so")
def test_memory_is_given_back() -> None:
    """Images, results and scratch memory of interrupted calls are."""
    pipeline = T.Compose([T.Resize(900), T.GaussianBlur(5), T.RandomRotation(20), T.ToTensor()])
    image = np.zeros((600, 700, 3), np.uint8)
    rng = random.Random(0)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def interrupt(count: int) -> int:
        hits = 0
        with interruptions():
            for _ in range(count):
                hits += interrupted(lambda: pipeline(image), rng.uniform(0, seconds)) is None
        return hits

    def timed() -> float:
        start = time.perf_counter()
        pipeline(image)
        return time.perf_counter() - start

    seconds = min(timed() for _ in range(10))
    interrupt(10)
    before = resident()
    assert interrupt(60) > 10
    assert resident() - before < 40e6


def test_kernels_are_chosen_at_import() -> None:
    """By another thread, at its first call, they could be half chosen in a process that is forked then."""
    source = "import os; from fastaug import _C; os.environ['FASTAUG_ISA'] = 'scalar'; print(_C.isa(), _C.isas()[-1])"
    result = python(["-c", source])
    chosen, best = result.stdout.split()
    assert chosen == best, result.stderr


FIRST_DRAW = """
import os, signal, threading, warnings
import torch
import fastaug.transforms as T
from fastaug._draft.draws import TorchDraws
from PIL import Image

uniform, inside, go_on = TorchDraws.uniform, threading.Event(), threading.Event()

def slow(self, low, high):
    inside.set()
    go_on.wait()
    return uniform(self, low, high)

def flip():
    torch.manual_seed(3)
    T.RandomHorizontalFlip()(Image.new("L", (3, 2)))
    return torch.rand(1).item()

TorchDraws.uniform = slow
thread = threading.Thread(target=flip, daemon=True)
thread.start()
inside.wait()
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    TorchDraws.uniform = uniform
    signal.alarm(60)
    os._exit(0 if flip() == EXPECTED else 1)
status = os.waitpid(child, 0)[1]
go_on.set()
thread.join()
print(status)
"""


def test_a_fork_during_the_first_draw_of_another_thread() -> None:
    """Which is when the core finds out how torch draws."""
    torch.manual_seed(3)
    expected = torch.rand(2)[1].item()
    result = python(["-c", FIRST_DRAW.replace("EXPECTED", repr(expected))])
    assert (result.returncode, result.stdout) == (0, "0\n"), result.stderr[-3000:]
