"""Makes a failing case small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Case = TypeVar("Case")


def shrunk(
    case: Case, simpler: Callable[[Case], Iterable[Case]], difference: Callable[[Case], Any], attempts: int = 1 << 30
) -> Case:
    """The last of the simpler cases that still differ, each of which is one of those of the last; so many are tried."""
    found = True
    while found and attempts > 0:
        found = False
        for candidate in simpler(case):
            attempts -= 1
            if attempts <= 0:
                break
            if difference(candidate):
                case, found = candidate, True
                break
    return case
