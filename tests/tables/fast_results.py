"""Results of fast mode on a few pictures. As a script it writes them to a file, under the present FASTAUG_ISA."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
from bench.chains import CHAINS, Chain
from bench.images import scaled, windows
from fastaug._inspect.float64 import planes
from support.images import PHOTOS, noise, photo

#: Of the sizes that the chains are written for.
SCALE = 0.25


@functools.cache
def pictures(kind: str) -> list[np.ndarray]:
    """Two photographs, and noise that is clipped at every step."""
    photographs = [np.asarray(photo(title)) for title in (PHOTOS[3], PHOTOS[0])]
    side, (height, width) = round(1024 * SCALE), (round(375 * SCALE), round(500 * SCALE))
    if kind == "tiles":
        return [*windows(photographs, 2, side, side), noise(side, side)]
    return [*scaled(photographs, height, width), noise(height, width)]


def given(chain: Chain) -> list[Any]:
    """As the chain takes them."""
    if chain.pictures == "tiles":
        return list(pictures("tiles"))
    return [Image.fromarray(picture) for picture in pictures("photographs")]


@functools.cache
def results() -> dict[tuple[str, int], tuple[Any, Any]]:
    """Of every chain, by name and seed: the transform and its result."""
    found = {}
    for chain in CHAINS:
        transform = chain.transform(SCALE)
        fast = fastaug.compile(transform, mode="fast")
        for seed, image in enumerate(given(chain)):
            torch.manual_seed(seed)
            found[chain.name, seed] = (transform, fast(image))
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    arrays = {f"{name} {seed}": planes(value) for (name, seed), (_, value) in results().items()}
    np.savez(sys.argv[1], allow_pickle=False, **arrays)
