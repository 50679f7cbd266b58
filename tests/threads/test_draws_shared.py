"""Threads and processes that draw from one generator: nothing is drawn twice, and none waits for ever."""

from __future__ import annotations

import os
import random
import sys
import threading
import time

import pytest
import torch

from fastaug._draft.draws import draws_from
from support.processes import python


def seeded(seed: int) -> torch.Generator:
    generator = torch.Generator()
    generator.manual_seed(seed)
    return generator


def test_threads_share_one_sequence() -> None:
    """Nothing is lost and nothing is drawn twice, through one object and through several."""
    threads, groups = 8, 400
    generator = seeded(9)
    shared = draws_from(generator)
    drawn: list[list[float]] = []
    barrier = threading.Barrier(threads)

    def work(k: int) -> None:
        draws = shared if k % 2 else draws_from(generator)
        rng = random.Random(k)
        mine = []
        barrier.wait()
        for _ in range(groups):
            sizes = [draws.rand() for _ in range(5)]
            draws.release()
            mine.append(sizes)
            if rng.random() < 0.02:
                time.sleep(1e-4)
        drawn.extend(mine)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    expected = torch.rand(threads * groups * 5 + 1, generator=seeded(9))
    # What one thread draws before it releases is consecutive.
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, expected[:-1].view(-1, 5).tolist()))
    assert torch.rand(1, generator=generator).item() == expected[-1]


def test_threads_that_draw_from_torch_lose_nothing() -> None:
    """Draws of torch itself do not wait; but no draw is handed out again after both."""
    generator = seeded(9)
    draws = draws_from(generator)
    entered, drew = threading.Event(), threading.Event()

    def work() -> None:
        entered.wait()
        torch.rand(1000, generator=generator)
        drew.set()

    thread = threading.Thread(target=work)
    thread.start()
    draws.rand()
    entered.set()
    drew.wait()
    draws.rand()
    draws.release()
    thread.join()
    assert torch.rand(1, generator=generator).item() == torch.rand(1003, generator=seeded(9))[-1].item()


def test_a_thread_that_waits_lets_others_run() -> None:
    generator = seeded(12)
    draws = draws_from(generator)
    expected = torch.rand(3, generator=seeded(12)).tolist()
    drawn: list[float] = []

    def work() -> None:
        drawn.append(draws.rand())
        draws.release()

    assert draws.rand() == expected[0]
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    assert draws.rand() == expected[1]
    draws.release()
    thread.join()
    assert drawn == expected[2:]


def test_two_generators_two_threads() -> None:
    """Threads that use two generators in opposite orders do not wait for each other for ever."""
    generators = [seeded(1), seeded(2)]
    draws = [draws_from(generator) for generator in generators]

    def work(k: int) -> None:
        for i in range(2000):
            draws[(k + i) % 2].rand()
        draws[0].release()
        draws[1].release()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, generator in zip((1, 2), generators, strict=True):
        assert torch.rand(1, generator=generator).item() == torch.rand(2001, generator=seeded(seed))[-1].item()


def test_a_stream_outlives_its_objects() -> None:
    """The last object may go while its draws have not been handed back."""
    generator = seeded(1)
    draws = draws_from(generator)
    expected = torch.rand(2, generator=seeded(1)).tolist()
    assert draws.rand() == expected[0]
    del draws
    again = draws_from(generator)
    assert again.rand() == expected[1]
    again.release()


FORKS = """
import os, sys, threading
import torch
from fastaug._draft.draws import DEFAULT, draws_from

def seeded(seed):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return generator

def in_child(check):
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = check()
        finally:
            os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0

expected = torch.rand(5, generator=seeded(1)).tolist()

# Nobody holds it.
draws = draws_from(seeded(1))
in_child(lambda: [draws.rand() for _ in range(5)] == expected)

# The thread that forks does: both go on from there.
first = draws.rand()
def goes_on():
    rest = [draws.rand() for _ in range(2)]
    draws.release()
    return [first, *rest, *torch.rand(2, generator=draws.generator).tolist()] == expected
in_child(goes_on)
assert goes_on()

# Another thread does, and is not there in the child.
draws = draws_from(seeded(1))
held, done = threading.Event(), threading.Event()
def work():
    draws.rand()
    held.set()
    done.wait()
    draws.release()
thread = threading.Thread(target=work, daemon=True)
thread.start()
held.wait()
in_child(lambda: [draws.rand() for _ in range(5)] == expected)
done.set()
thread.join()
assert [draws.rand() for _ in range(4)] == expected[1:]
draws.release()
print("ok")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork processes")
def test_forks() -> None:
    result = python(["-c", FORKS])
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr[-3000:]
