"""One knob for how many random cases the tests run.

FASTAUG_SCALE multiplies the number of cases of every random family: 0.1 in `make test`, 1 in `make test-all` and by
default, 10 in `make test-nightly`. The cases are the first ones, in the same order, whatever the scale. Of a list of
fixed cases a smaller scale tries a share.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def _scale() -> float:
    text = os.environ.get("FASTAUG_SCALE") or "1"
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not 0 < scale < math.inf:
        raise ValueError(f"FASTAUG_SCALE should be a positive number, such as 0.1, 1 or 10, got {text!r}")
    return scale


def cases(count: int) -> int:
    """How many cases to run of a family that has `count` of them at a scale of 1; one at least."""
    return max(1, round(count * _scale()))


def blocks(count: int, size: int, first: int = 0) -> range:
    """The first numbers of blocks of `size` cases that hold `cases(count)`, from number `first` on."""
    return range(first, first + cases(count), size)


def share(values: Iterable[T], key: str, least: int = 8) -> list[T]:
    """All values at a scale of 1 or more; below it that share of them, and `least` or more, in their order.

    The key decides which. It is the same in each run, and another one for each transform, so that all together meet
    every size and container.
    """
    every = list(values)
    count = max(least, cases(len(every)))
    if count >= len(every):
        return every
    return [every[index] for index in sorted(random.Random(key).sample(range(len(every)), count))]
