"""One library's turn at a case: how every time in the table is taken."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


class Turn:
    """Calls number 0, 1, 2, ... of a case: call i takes image i of the bag (cyclically) and seed i.

    What is timed is one whole call: the parameter draws, the allocation of the output and every Python layer between.
    Seeding is not, nor is the release of the result.
    """

    def __init__(
        self,
        transform: Callable[[Any], Any],
        images: Sequence[Any],
        seed: Callable[[int], None],
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.transform = transform
        self.images = images
        self.seed = seed
        self.clock = clock

    def call(self, number: int) -> Any:
        image = self.images[number % len(self.images)]
        self.seed(number)
        return self.transform(image)

    def timed(self, number: int) -> int:
        """Nanoseconds of one call."""
        image = self.images[number % len(self.images)]
        transform, clock = self.transform, self.clock
        self.seed(number)
        start = clock()
        result = transform(image)
        stop = clock()
        del result
        return stop - start

    def run(self, first: int, count: int) -> list[int]:
        """The calls `first` to `first + count - 1`, after an untimed one.

        The untimed call stands for the tile that came before in the bag: without it a turn would begin with the code
        and the memory of another library in the caches.
        """
        gc.disable()
        try:
            self.call(first + len(self.images) - 1)
            return [self.timed(first + i) for i in range(count)]
        finally:
            gc.enable()
