"""support.differences: many cases in one item fail as loudly as an item for each would."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.differences import SHOWN, assert_none, each, grouped

SETTINGS = SimpleNamespace(value=0)


@pytest.fixture(autouse=True)
def all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTAUG_SCALE", "1")


@pytest.mark.parametrize(("scale", "expected"), [("0.1", 30), ("0.001", 8), ("1", 300), ("10", 300)])
def test_a_share_is_tried_at_a_smaller_scale(monkeypatch: pytest.MonkeyPatch, scale: str, expected: int) -> None:
    monkeypatch.setenv("FASTAUG_SCALE", scale)
    tried: dict[str, list[int]] = {"Resize": [], "Pad": []}

    @each("number", range(300))
    def check(number: int, group: str) -> None:
        tried[group].append(number)

    for _ in range(2):
        check(group="Resize")
    check(group="Pad")
    first, second = tried["Resize"][:expected], tried["Resize"][expected:]
    assert first == second == sorted(set(first)) and len(first) == expected
    assert (tried["Pad"] == first) == (expected == 300)


def test_all_combinations_are_tried_in_order() -> None:
    tried = []

    @each("mode", ("L", "RGB"))
    @each(("seed", "size"), lambda: enumerate([(3, 4), (5, 6)]))
    def check(mode: str, seed: int, size: tuple[int, int]) -> None:
        tried.append((mode, seed, size))

    check()
    assert tried == [("L", 0, (3, 4)), ("L", 1, (5, 6)), ("RGB", 0, (3, 4)), ("RGB", 1, (5, 6))]


@pytest.mark.parametrize("name", ["Resize", "RandomCrop"])
@each("seed", range(3))
def test_items_have_the_other_parameters(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    assert request.node.name == f"test_items_have_the_other_parameters[{name}]"
    assert seed < 3


@grouped(["Resize 3", "RandomCrop", "Resize 4 BOX"])
@each("seed", [5, 6])
def test_items_for_groups(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    assert request.node.name == f"test_items_for_groups[{name.split()[0]}]"


def test_cases_of_a_group() -> None:
    tried = []

    @grouped([("Resize", 3), ("RandomCrop", 4), ("Resize", 5)], "case", lambda case: case[0])
    def check(case: tuple[str, int]) -> None:
        tried.append(case)

    (mark,) = check.pytestmark  # type: ignore[attr-defined]
    assert list(mark.args[1]) == ["Resize", "RandomCrop"]
    check(group="Resize")
    assert tried == [("Resize", 3), ("Resize", 5)]


def test_marks_between_decorators_are_kept() -> None:
    @each("a", [1])
    @pytest.mark.main
    @each("b", [2])
    def check(a: int, b: int) -> None:
        assert (a, b) == (1, 2)

    check()
    assert [mark.name for mark in check.pytestmark] == ["main"]  # type: ignore[attr-defined]
    assert not inspect.signature(check).parameters


def test_what_fails_is_named_and_counted() -> None:
    @each("mode", ["L", "RGB", "P"])
    @each("seed", range(100))
    def check(mode: str, seed: int) -> None:
        if (mode, seed) == ("L", 7):
            raise ValueError("no such mode")
        if (mode, seed) == ("RGB", 2):
            with pytest.raises(ValueError):
                int("3")
        assert mode != "P", "pixels differ"

    with pytest.raises(AssertionError) as caught:
        check()
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{SHOWN} of the first 201 cases (of 300) fail"
    assert lines[1] == "mode='L', seed=7: ValueError: no such mode"
    assert lines[2].startswith("mode='RGB', seed=2: Failed: DID NOT RAISE")
    assert lines[3].startswith("mode='P', seed=0: pixels differ")
    assert isinstance(caught.value.__cause__, ValueError)


def test_one_that_fails_among_others() -> None:
    @each("seed", range(40))
    def check(seed: int) -> None:
        assert seed != 12, "twelve"

    with pytest.raises(AssertionError, match=r"^1 of 40 cases fail\nseed=12: twelve"):
        check()


def test_no_cases_are_an_error() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        each("seed", [])(lambda seed: None)()
    with pytest.raises(AssertionError, match="does not take all"):
        each("seed", [1])(lambda size: None)


@each("seed", range(3))
def test_patches_and_folders_are_those_of_a_case(seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert SETTINGS.value == 0
    monkeypatch.setattr(SETTINGS, "value", 1)
    (tmp_path / "file").touch(exist_ok=False)


def test_an_item_is_skipped_when_all_cases_are() -> None:
    @each("mode", ["L", "RGB"])
    def some(mode: str) -> None:
        if mode == "L":
            pytest.skip("L")

    some()

    @each("mode", ["L", "RGB"])
    def all_of_them(mode: str) -> None:
        pytest.skip(mode)

    with pytest.raises(pytest.skip.Exception, match="L"):
        all_of_them()


def test_differences_as_text() -> None:
    assert_none([], 50)
    with pytest.raises(AssertionError, match=r"^4 of 50 differ\na\nb\nc$"):
        assert_none(["a", "b", "c", "d"], 50)
