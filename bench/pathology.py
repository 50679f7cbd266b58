"""python -m bench pathology: fastaug.pathology on tiles, beside what it equals.

Equality is asserted first. Times are processor time of one thread; the two take turns, and a ratio is the median of
those of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
from bench.images import TILES, photographs, read, windows
from fastaug.pathology import functional

ALPHA, BETA = np.array([1.031, 0.962, 1.018]), np.array([0.021, -0.034, 0.012])


@dataclass(frozen=True)
class Row:
    """What is timed: `ours` and `theirs` of an RGB array, where `prepared` makes the images of it first."""

    name: str
    reference: str
    prepared: Callable[[np.ndarray], Any]
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    ops: tuple[str, ...]

    def same(self, image: Any) -> bool:
        return np.array_equal(np.asarray(self.ours(image)), np.asarray(self.theirs(image)))


def by_skimage(image: np.ndarray) -> np.ndarray:
    from skimage.color import hed2rgb, rgb2hed

    made: np.ndarray = (hed2rgb(rgb2hed(image) * ALPHA + BETA) * 255).astype(np.uint8)
    return made


def tensor_of(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image.transpose(2, 0, 1).copy())


CASES = (
    Row(
        "adjust_hed, array",
        "skimage",
        lambda image: image,
        lambda image: functional.adjust_hed(image, ALPHA, BETA),
        by_skimage,
        ("HED",),
    ),
    Row(
        "quarter_turn, PIL",
        "Pillow",
        Image.fromarray,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: image.transpose(Image.Transpose.ROTATE_90),
        ("ROT90",),
    ),
    Row(
        "quarter_turn, array",
        "numpy",
        lambda image: image,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: np.rot90(image).copy(),
        ("ROT90",),
    ),
    Row(
        "quarter_turn, tensor",
        "torch",
        tensor_of,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: torch.rot90(image, 1, (-2, -1)).contiguous(),
        ("ROT90",),
    ),
)


def spent(call: Callable[[Any], Any], image: Any) -> float:
    start = time.process_time()
    call(image)
    return time.process_time() - start


def timed(row: Row, image: Any, rounds: int) -> tuple[float, float, float]:
    """Seconds of ours and of theirs, and the ratio of the two."""
    pairs = [(spent(row.ours, image), spent(row.theirs, image)) for _ in range(rounds)]
    ratios = [theirs / max(ours, 1e-9) for ours, theirs in pairs]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench pathology", description=__doc__)
    parser.add_argument("--tile", type=Path, help="an image; by default the first window of 1024x1024 of the tiles")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tile: Path | None = options.tile
    array = windows(photographs("tile1024", TILES), 1, 1024, 1024)[0] if tile is None else read(tile)
    print(f"{array.shape[0]}x{array.shape[1]}, {fastaug.isa()}, ms of processor time")
    failed = 0
    for row in CASES:
        image = row.prepared(array)
        if not row.same(image):
            print(f"{row.name}: DIFFERS FROM {row.reference.upper()}")
            failed = 1
            continue
        ours, theirs, ratio = timed(row, image, options.rounds)
        print(f"{row.name:22} {ours * 1e3:8.2f}   {row.reference:8} {theirs * 1e3:8.2f}   {ratio:5.1f}x")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
