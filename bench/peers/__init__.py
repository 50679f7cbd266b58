"""The cases in the words of libraries that do not have torchvision's names.

Each does what its users would write: the same steps with the library's own filters and random numbers. None gives
torchvision's pixels, so their times stand beside the others without a claim of equality.
"""

from __future__ import annotations

import math
import random


def crop_box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    """top, left, height, width of a random resized crop, by torchvision's rule with Python's random numbers."""
    for _ in range(10):
        area = height * width * random.uniform(*scale)
        aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def around(value: float, extent: float) -> float:
    return random.uniform(value - extent, value + extent)


P_SCALE, P_RATIO = (0.5, 1.5), (0.8, 1.2)
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
