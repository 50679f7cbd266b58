"""How much time there is: for everything, and for each part of it."""

from __future__ import annotations

import time


class Clock:
    """Time that passes from now on.

    Args:
        seconds: how much there is; by default more than anything takes.

    Example:
        >>> Clock(60).part(0.5).left <= 30
        True
    """

    def __init__(self, seconds: float = 86400.0) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds; below zero once it is over."""
        return self._end - time.perf_counter()

    @property
    def over(self) -> bool:
        return self.left <= 0

    def part(self, share: float) -> Clock:
        """A share of what is left."""
        return Clock(share * max(self.left, 0.0))
