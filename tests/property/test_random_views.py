"""Random objects that call transforms, compiled and as programs of fastaug's, against the objects themselves.

Results, their structure, what shares memory with what and with the input, what becomes of the input, errors, and the
states of all random generators.
"""

from __future__ import annotations

from typing import Any

import pytest

import fastaug
import random_views
from random_views import Case, Held, Value, build, check, compiled, difference, draw_case, run, shrink
from support.differences import assert_none
from support.scale import blocks

CASES, BLOCK = 500, 50


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_views(first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number))]
    assert_none(found, BLOCK)


def test_the_cases_are_worth_running() -> None:
    """Most objects are looked into and succeed, and all transforms, functions and images occur."""
    cases = [draw_case(number) for number in range(CASES)]
    assert sum(isinstance(compiled(case), fastaug.Views) for case in cases[:100]) > 80
    assert sum(run(lambda case=case: build(case), case, ours=False).error is None for case in cases[:100]) > 90  # type: ignore[misc]
    held = [one.source for case in cases for one in case.held]
    for source in (*random_views.ANY, *random_views.BYTES, *random_views.PIL, *random_views.FLOATS):
        assert held.count(source) >= 3, source
    assert {"drawing", "same", "turned", "writing"} <= set(held)
    assert {case.image for case in cases} == set(random_views.IMAGES)
    assert sum(one.sampled for case in cases for one in case.held) > 100


WRITING = Case(
    (Held("M.RandomCrop(12)"), Held("writing"), Held("M.Pad(2)")),
    ((0, 0), (2, 0), (1, 0), (0, 0)),
    "[v1, v2, v3, v4]",
    "picture('RGB')",
    3,
)


def without_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastaug._views.drawn.DrawnViews.settle", lambda self: None)


def one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call is made last."""
    program = random_views.program

    def other(case: Case) -> Any:
        made = program(case)
        first, *calls = made.calls
        return fastaug.Views._of_calls([*calls, first], made.result)

    monkeypatch.setitem(random_views.WAYS, "program", other)


@pytest.mark.parametrize(
    ("case", "break_it", "text"),
    [
        (WRITING, without_settling, "other results than calls"),
        (
            Case((Held("M.RandomCrop(12)"), Held("M.Pad(2)")), ((0, 0), (0, 0), (1, 0)), "[v1, v2, v3]", "pixels()", 5),
            one_after_another,
            "leaf 0 differs",
        ),
    ],
    ids=["settle", "order"],
)
def test_what_differs_is_found(case: Case, break_it: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert difference(case) is None
    break_it(monkeypatch)
    assert text in str(difference(case))
    small = shrink(case)
    assert difference(small) is not None
    assert len(small.calls) < len(case.calls)


def test_sharing_is_seen() -> None:
    case = Case((Held("M.Pad(0)"), Held("M.CenterCrop(12)")), ((0, 0), (1, 0)), "[v1, v2, v0]", "pixels()", 3)
    outcome = run(lambda: build(case), case, ours=False)
    # Padding by nothing is a copy; a crop is a view.
    assert outcome.shared[0] != outcome.shared[1]
    assert Value(1) in random_views.program(case).result
