"""Processor time of the first calls of torchvision's own and of the twins, for a report of what was saved."""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable
from typing import Any

#: The first calls that are left out, as they prepare more than themselves; and how many are timed after them.
_LEFT_OUT, _TIMED = 2, 5

#: Whether calls are timed.
wanted = False


class Times:
    """Seconds of processor time of the first calls of a transform."""

    __slots__ = ("_calls", "_ours", "_theirs")

    def __init__(self) -> None:
        self._theirs: list[float] = []
        self._ours: list[float] = []
        self._calls = 0

    @property
    def enough(self) -> bool:
        return len(self._ours) >= _TIMED

    def add(self, seconds: float, by_twin: bool) -> None:
        """Add a call."""
        self._calls += by_twin
        if not by_twin:
            self._theirs.append(seconds)
        elif self._calls > _LEFT_OUT:
            self._ours.append(seconds)

    def saved(self, calls: int) -> float:
        """Return the seconds that so many calls of the twin have saved, by the medians; 0 where they are not known."""
        # The first call of torchvision's own imports and allocates.
        theirs = self._theirs[1:] or self._theirs
        if not theirs or not self._ours:
            return 0.0
        return calls * (statistics.median(theirs) - statistics.median(self._ours))


def timed(method: Callable[..., Any], note_of: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a method that is timed until enough is known."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        known = note_of(self)
        if known is not None and known[0].times.enough:
            return method(self, *args, **kwargs)
        begun = time.thread_time()
        result = method(self, *args, **kwargs)
        seconds = time.thread_time() - begun
        after = note_of(self)
        if after is not None:
            after[0].times.add(seconds, after[1] > (known[1] if known is not None else 0))
        return result

    call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return call
