"""Random pipelines on float tensors against torchvision: bits, memory, classes, gradients, what is written, errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torchvision.transforms as TV

from random_floats import LAYOUTS, STEPS, WAYS, Case, difference, draw_case, outcome, shrink
from support.processes import OTHER_ISAS, python
from support.scale import blocks, cases

CASES, BLOCK = 1500, 100


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_pipelines(first: int) -> None:
    cases = [draw_case(number) for number in range(first, first + BLOCK)]
    found = [case for case in cases if difference(case)]
    assert not found, "\n".join([f"{len(found)} differ", *(str(difference(shrink(case))) for case in found[:3])])


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_every_instruction_set(isa: str) -> None:
    numbers = range(9000, 9000 + cases(200))
    code = f"from random_floats import *; print([t for n in {numbers} if (t := difference(draw_case(n)))])"
    result = python(["-W", "ignore", "-c", code], isa=isa, folder=Path(__file__).parent)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.strip() == "[]"


def test_the_cases_are_worth_running() -> None:
    """Every step, layout and way occurs many times, and most pipelines succeed."""
    cases = [draw_case(number) for number in range(CASES)]
    names = [name for case in cases for name, _ in case.steps]
    for name in STEPS:
        assert names.count(name) > 20, name
    for name in LAYOUTS:
        assert sum(case.layout == name for case in cases) > 20, name
    for name in WAYS:
        assert sum(case.way == name for case in cases) > 100, name
    good = sum("error" not in outcome(case, case.pipeline(TV)) for case in cases[:300])
    assert good > 150


def test_a_wrong_step_is_found_and_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("plain", 3, 8, 9, True, (("cloned", 1), ("vflip", 2), ("hflip", 3), ("normalise", 4)), "compose", 5)
    assert difference(case) is None
    monkeypatch.setitem(STEPS, "hflip", lambda rng: lambda P, _: P.Pad(0 if P is TV else 1))
    assert difference(case) is not None
    assert [name for name, _ in shrink(case).steps] == ["hflip"]


def test_a_result_in_other_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("plain", 3, 8, 9, False, (("handed", 2),), "compose", 5)
    assert difference(case) is None
    monkeypatch.setitem(STEPS, "handed", lambda rng: lambda P, _: P.Lambda(lambda x: x if P is TV else x.clone()))
    assert "place" in str(difference(case))
