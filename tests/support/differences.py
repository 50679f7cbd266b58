"""Many cases in one item of pytest: each of them is tried, and the first that fail are reported with their names."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import reprlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from support.scale import share

#: How many failing cases an item tries and reports, before it leaves out the others.
SHOWN = 3

_names = reprlib.Repr()
_names.maxstring = _names.maxother = 120
_names.maxtuple = _names.maxlist = 12


def assert_none(found: Sequence[str], tried: int, shown: int = SHOWN) -> None:
    """Fail with the first of the differences that were found."""
    assert not found, "\n".join([f"{len(found)} of {tried} differ", *found[:shown]])


def each(
    names: str | tuple[str, ...], values: Iterable[Any] | Callable[..., Iterable[Any]], whole: bool = False
) -> Callable[[Any], Any]:
    """Call the test with each of the values, as pytest.mark.parametrize would do with an item for each.

    Values that take time to make, or depend on the item, are given as a function of the item's parameters. Decorators
    above one another go through all combinations, the upper one outermost. Every case gets a monkeypatch and a tmp_path
    of its own; all other fixtures are the item's.

    Args:
        whole: whether a fast tier tries all cases too.
    """
    names = (names,) if isinstance(names, str) else names
    values = values if callable(values) else tuple(values)
    asked = list(inspect.signature(values).parameters.values()) if callable(values) else []

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        function, axes, all_tried = getattr(test, "goes_through", (test, (), False))
        axes = ((names, values, [one.name for one in asked]), *axes)

        @functools.wraps(test)
        def test_each(**fixtures: Any) -> None:
            __tracebackhide__ = True
            taken = {name: value for name, value in fixtures.items() if name in inspect.signature(function).parameters}
            _try_each(function, taken, _product(axes, fixtures), whole or all_tried)

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in names]
        assert len(kept) + len(names) == len(signature.parameters), f"{test.__name__} does not take all of {names}"
        kept += [one for one in asked if one.name not in signature.parameters]
        test_each.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        test_each.goes_through = (function, axes, whole or all_tried)  # type: ignore[attr-defined]
        return test_each

    return decorate


def first_word(case: str) -> str:
    """A transform, of a case such as "Pad 3 reflect" or "rotate, expand"."""
    return case.replace(",", " ").split()[0]


def grouped(
    cases: Iterable[Any],
    name: str | tuple[str, ...] = "name",
    group_of: Callable[[Any], str] = first_word,
    whole: bool = False,
) -> Callable[[Any], Any]:
    """An item for each group, such as the cases of a transform, which calls the test with each of its cases."""
    groups: dict[str, list[Any]] = {}
    for case in cases:
        groups.setdefault(group_of(case), []).append(case)

    def decorate(test: Callable[..., None]) -> Any:
        return pytest.mark.parametrize("group", groups)(each(name, lambda group: groups[group], whole)(test))

    return decorate


def _product(axes: Iterable[tuple[tuple[str, ...], Any, list[str]]], fixtures: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values of the axes, by name."""
    rows = []
    for names, values, asked in axes:
        made = values(**{name: fixtures[name] for name in asked}) if callable(values) else values
        rows.append([dict(zip(names, value if len(names) > 1 else (value,), strict=True)) for value in made])
    return [functools.reduce(operator.or_, row) for row in itertools.product(*rows)]


def _error(test: Callable[..., None], fixtures: dict[str, Any], number: int, case: dict[str, Any]) -> Any:
    """Call the test with one case, and undo what it patches; the exception that it raises, or None."""
    own: dict[str, Any] = {}
    with ExitStack() as stack:
        if "monkeypatch" in fixtures:
            own["monkeypatch"] = stack.enter_context(fixtures["monkeypatch"].context())
        if "tmp_path" in fixtures:
            own["tmp_path"] = fixtures["tmp_path"] / str(number)
            own["tmp_path"].mkdir()
        try:
            test(**{**fixtures, **own}, **case)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # pytest.raises() fails so
            return error
    return None


def _try_each(
    test: Callable[..., None], fixtures: dict[str, Any], cases: Sequence[dict[str, Any]], whole: bool
) -> None:
    """Try the cases, or a share of them in a fast tier, until SHOWN have failed, and raise one error that names those.

    The item is skipped when all of its cases are.
    """
    __tracebackhide__ = True
    assert cases, "there are no cases"
    item = sorted((name, value) for name, value in fixtures.items() if isinstance(value, (str, int)))
    if not whole:
        cases = share(cases, f"{test.__module__} {test.__qualname__} {item}")
    failed: list[tuple[dict[str, Any], Any]] = []
    skipped: list[Any] = []
    tried = 0
    while tried < len(cases) and len(failed) < SHOWN:
        error = _error(test, fixtures, tried, cases[tried])
        if isinstance(error, pytest.skip.Exception):
            skipped.append(error)
        elif error is not None:
            failed.append((cases[tried], error))
        tried += 1
    if failed:
        whole = f"{tried} cases" if tried == len(cases) else f"the first {tried} cases (of {len(cases)})"
        lines = [f"{_named(case)}: {_said(error)}" for case, error in failed]
        raise AssertionError("\n".join([f"{len(failed)} of {whole} fail", *lines])) from failed[0][1]
    if len(skipped) == len(cases):
        raise skipped[0]


def _named(case: dict[str, Any]) -> str:
    named = ((name, getattr(value, "__name__", None) or _names.repr(value)) for name, value in case.items())
    return ", ".join(f"{name}={text}" for name, text in named)


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
