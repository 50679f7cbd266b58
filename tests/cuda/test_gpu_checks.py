"""The checks of `python -m bench.cuda` on an emulated device: what they find, and how far they come in their time."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from bench.gpu import checks, machine, processes, programs, timing
from bench.gpu.ahead import Ahead, made
from bench.gpu.cases import CASES
from bench.gpu.clock import Clock
from bench.gpu.parts import Skipped
from bench.gpu.report import Report
from fastaug import _C
from fastaug._cuda import memory
from fastaug._cuda.kernels import Family, Spec


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> machine.Emulated:
    return machine.Emulated(monkeypatch)


def test_every_op_and_one_that_is_lost(emulated: machine.Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    note = checks.each_op(emulated, Clock(), 2)
    assert note.startswith(f"{len(_C.OPS)} ops, ") and note.endswith("that no device does (AFFINE, BOX_BLUR, JPEG)")
    real = programs.bag.run
    monkeypatch.setattr(programs.bag, "run", lambda jobs, *rest: real(jobs[:-1], *rest))
    with pytest.raises(AssertionError, match="bytes of HFLIP"):
        checks.each_op(emulated, Clock(), 2)


class Stops(Clock):
    """A clock that is over once it was looked at so many times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks

    @property
    def over(self) -> bool:
        self._looks -= 1
        return self._looks < 0


@pytest.mark.parametrize("rewrites", [_C.EXACT, _C.FAST])
def test_random_programs_and_some_of_them(emulated: machine.Emulated, rewrites: int) -> None:
    assert checks.random_programs(emulated, Clock(), 150, rewrites).startswith("150 programs, ")
    assert checks.random_programs(emulated, Stops(2), 150, rewrites).startswith("128 of 150 programs in the time, ")
    with pytest.raises(Skipped, match="none of 150 programs in the time"):
        checks.random_programs(emulated, Stops(0), 150, rewrites)


def test_programs_that_a_device_leaves(emulated: machine.Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    real = programs.bag.run
    monkeypatch.setattr(programs.bag, "run", lambda jobs, *rest: [*real(jobs[1:], *rest), 0])
    samples = programs.of_op(programs.op_table(), "HFLIP", 4)
    with pytest.raises(AssertionError, match="no device does 1, though any does each op of theirs:\nHFLIP"):
        checks.together(emulated, Clock(), samples, _C.EXACT)


def test_what_was_compared_before_the_time_is_asserted(
    emulated: machine.Emulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = programs.bag.run
    monkeypatch.setattr(programs.bag, "run", lambda jobs, *rest: real(jobs[:-1], *rest))
    with pytest.raises(AssertionError, match=r"1 of \d+ differ"):
        checks.random_programs(emulated, Stops(1), 100)


def test_batches_and_the_time(emulated: machine.Emulated) -> None:
    assert checks.pipelines(emulated, Stops(1), ["ImageNet train", "P"]).startswith(
        "1 of 2 pipelines in the time, 12 images"
    )
    assert checks.types(emulated, Stops(1), ["ImageNet train"]) == "1 of 12 combinations in the time"


def test_what_a_sanitizer_looks_at(emulated: machine.Emulated, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its process runs as much as the kernels suffice for that were made before, and asks for no others."""
    sanitizers = checks.Sanitizers()
    assert sanitizers.short(emulated, Clock(0)).count("in the time") == 2
    assert sanitizers.kernels == (0, 0)
    given: list[list[str]] = []

    def run(command: list[str], seconds: float, **environment: str) -> None:
        given.append(command)
        raise processes.Late("enough")

    monkeypatch.setattr(processes, "run", run)
    monkeypatch.setattr(checks, "tool", lambda name: "/there")
    monkeypatch.setattr(emulated, "emulated", False)
    sanitizers = checks.Sanitizers()
    for kind in ("memcheck", "racecheck"):
        with pytest.raises(Skipped, match="enough"):
            sanitizers.run(kind, emulated, Clock())
    made_before = sanitizers.kernels
    assert made_before is not None and min(made_before) > 5
    assert [command[-2:] for command in given] == [[str(count) for count in made_before]] * 2
    emulated.bags.asked.clear()
    assert checks.Sanitizers((2, 1)).short(emulated, Clock()).count("in the time") == 2
    kinds = {spec[:3] for spec in emulated.bags.asked}
    assert 3 <= len(kinds) < sum(made_before)


def test_cases_and_the_time(emulated: machine.Emulated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Report(tmp_path, {"gpu": "emulated"})

    def measured(device: Any, case: Any, given: Any, seconds: float) -> timing.Row:
        if case.mode == "fast":
            raise AssertionError("3 of 4 samples differ")
        time.sleep(0.2)
        return timing.Row(case.title, len(given), case.place, batch=timing.spread([1.0]))

    monkeypatch.setattr(timing, "measured", measured)
    chosen = [case for case in CASES if case.images == "photographs" and case.rivals is None]
    assert timing.times(emulated, chosen, kept, Clock()) == "5 cases"
    assert [row.place for row in kept.rows] == ["device", "host", "host, pinned"]
    assert [check.outcome for check in kept.failures] == ["failed"] * 2
    # A case that would take as long as the longest before it is not begun.
    assert timing.times(emulated, chosen[:1] * 9, kept, Clock(0.35)) == "1 of 9 cases in the time"


# ---- kernels, while others are made


class Slow:
    """A device whose kernels are made when they may be."""

    def __init__(self) -> None:
        self.asked: list[Spec] = []
        self.may = threading.Event()
        self.bags = self

    def kernels(self, bag: Any, family: Family) -> None:
        self.asked += bag.specs
        if bag.specs[0][0]:
            assert self.may.wait(60)
            raise RuntimeError("cannot be compiled")


def spec(source: int) -> Spec:
    return (source, 3, 1, 1, 1, 1, 0)


def test_kernels_that_are_not_there_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    device: Any = Slow()
    with Ahead(device) as ahead:
        asked = ahead.ask([spec(0), spec(1), spec(2), spec(3)], Family())
        assert made(asked[:1], Clock(60))
        assert not made(asked[:2], Clock(0.05))
    assert asked[3].cancelled()
    device.may.set()
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        made(asked[:2], Clock(60))
    assert spec(3) not in device.asked


def test_kernels_are_asked_for_once_and_wide(emulated: machine.Emulated) -> None:
    """As many as there are kinds, those first that most samples need."""
    samples = programs.chains(programs.op_table(), 200)
    with Ahead(emulated) as ahead:
        trial = programs.Trial(samples, emulated, _C.EXACT, ahead)
        assert made(trial._kernels, Clock(60))
    asked: list[Spec] = list(emulated.bags.asked)
    assert len({one[:3] for one in asked}) == len(asked) == len(trial._kernels)
    assert trial.compare(Clock()).seen == len(samples)
    assert set(emulated.bags.asked) == set(asked)


def test_a_device_takes_what_asks_ahead() -> None:
    """memory.Device.kernels looks at no more of a bag."""
    known = mock.Mock(**{"get.return_value": [7]})
    device = mock.Mock(_kernels=known)
    device.kernels = lambda *asked: memory.Device.kernels(device, *asked)
    with Ahead(mock.Mock(bags=device)) as ahead:
        (kernel,) = ahead.ask([spec(0)], family := Family())
        assert kernel.result(60) == (0, [7])
    known.get.assert_called_once_with([spec(0)], family)
