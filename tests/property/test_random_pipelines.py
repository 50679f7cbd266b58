"""Random pipelines, in four ways, against torchvision: pixels, errors, generator states, and the strides of tensors.

Two thousand on PIL images and arrays, two thousand on uint8 tensors.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torchvision.transforms as TV

import random_pipelines
from pipeline_steps import ANY, BYTES, FLOATS, Step
from random_pipelines import Case, build, check, difference, draw_case, evaluate, script, shrink
from support.differences import assert_none
from support.outcomes import run
from support.processes import python
from support.scale import blocks

CASES, BLOCK = 2000, 50


@pytest.mark.parametrize("tensors", [False, True], ids=["images", "tensors"])
@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_pipelines(first: int, tensors: bool) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number, tensors))]
    assert_none(found, BLOCK)


@pytest.mark.parametrize("tensors", [False, True], ids=["images", "tensors"])
def test_the_cases_are_worth_running(tensors: bool) -> None:
    """Every transform occurs many times, and most pipelines succeed."""
    cases = [draw_case(number, tensors) for number in range(CASES)]
    text = "\n".join(case.pipeline() for case in cases)
    for name in {*ANY, *BYTES, *FLOATS, "FiveCrop", "TenCrop", "RandomApply", "RandomChoice", "RandomOrder"}:
        assert text.count(f"T.{name}(") > 40, name
    changes = ("T.ToPILImage(), ", "T.PILToTensor(), ")
    for source in ("T.LinearTransformation(", "torch.nn.Sequential(", "torch.stack(", *changes):
        assert text.count(source) > 20, source
    good = 0
    for case in cases[:200]:
        image, given = evaluate(case)
        value = image if case.as_pil else given
        good += run(build(case.pipeline(), TV), value, case.seed).error is None
    assert good > 130


class Without:
    """torchvision with one transform in the place of another."""

    def __init__(self, name: str, other: Callable[[float], object]) -> None:
        self.name, self.other = name, other

    def __getattr__(self, name: str) -> object:
        return self.other if name == self.name else getattr(TV, name)


INNER = (Step("T.Resize(20)"), Step("T.RandomInvert(1.0)"), Step("T.CenterCrop(5)"))
EXAMPLE = Case(
    (
        Step("T.Pad(3)"),
        Step("T.RandomApply([", INNER, "], p=1.0)"),
        Step("T.RandomHorizontalFlip(1.0)"),
        Step("T.ToTensor()"),
    ),
    *("pil", "RGB", "noise", 64, 48, 3),
)


def test_a_wrong_transform_is_found_and_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert difference(EXAMPLE) is None
    package = Without("RandomInvert", lambda p: TV.Lambda(lambda image: image))
    monkeypatch.setattr(random_pipelines, "T", package)
    assert difference(EXAMPLE) is not None
    small = shrink(EXAMPLE)
    assert [step.source for step in small.steps] == ["T.RandomInvert(1.0)"]
    assert (small.height, small.width) == (1, 1)


def test_a_wrong_number_of_draws_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    package = Without("RandomHorizontalFlip", lambda p: TV.RandomApply([TV.RandomHorizontalFlip(p)], p=1.0))
    monkeypatch.setattr(random_pipelines, "T", package)
    assert "torch's generator" in str(difference(EXAMPLE))


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_script_runs_by_itself(number: int) -> None:
    cases = (draw_case(seed) for seed in range(number * 100, number * 100 + 100))
    case = next(c for c in cases if run(build(c.pipeline(), TV), evaluate(c)[0], c.seed).error is None)
    result = python(["-c", script(case)])
    assert result.returncode == 0, result.stderr
    names = [line.split(" ")[0] for line in result.stdout.splitlines()]
    assert [name for name in names if name.isalpha()] == ["fastaug", "compiled", "torchvision"]
