"""One knob for how many random cases the tests run.

FASTAUG_SCALE multiplies the number of cases of every random family: 0.1 in `make test`, 1 in `make test-all` and by
default, 10 in `make test-nightly`. The cases are the first ones, in the same order, whatever the scale.
"""

from __future__ import annotations

import math
import os


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
