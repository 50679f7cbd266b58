"""Pictures and sizes that tell whether a resize rounds as another one does."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

Size = tuple[int, int]

#: (before, after): single lines, long axes, one axis that stays, and usual sizes.
TELLING: list[tuple[Size, Size]] = [
    ((1, 1), (7, 5)),
    ((1, 1), (1, 1)),
    ((1, 4097), (3, 2)),
    ((3001, 2), (1, 40)),
    ((2, 3), (517, 1000)),
    ((1200, 9), (7, 900)),
    ((64, 64), (64, 17)),
    ((64, 64), (17, 64)),
    ((960, 40), (100, 960)),
    ((512, 512), (224, 224)),
    ((375, 500), (700, 933)),
]


def picture(rng: random.Random, height: int, width: int, channels: int) -> np.ndarray:
    """Noise, black and white, or a gradient: ties, clipped sums, and what photographs mostly are."""
    noise = np.random.default_rng(rng.getrandbits(32)).integers(0, 256, (height, width, channels), dtype=np.uint8)
    kind = rng.randrange(3)
    if kind == 1:
        return np.where(noise < 128, 0, 255).astype(np.uint8)
    if kind == 2:
        ramp = np.linspace(0, 255, height)[:, None, None] * 0.5 + np.linspace(0, 255, width)[None, :, None] * 0.4
        return np.asarray(ramp + noise / 11, np.uint8)
    return noise


def random_resizes(rng: random.Random, most: int, count: int) -> Iterator[tuple[np.ndarray, Size]]:
    """Pictures of 1 to 4 channels, and sizes for them, sides up to `most`; some axes stay as they are."""
    for _ in range(count):
        height, width, *size = (rng.randint(1, most) for _ in range(4))
        if rng.random() < 0.2:
            size[rng.randrange(2)] = (height, width)[rng.randrange(2)]
        if rng.random() < 0.1:
            size[0] = height
        yield picture(rng, height, width, rng.randint(1, 4)), (size[0], size[1])
