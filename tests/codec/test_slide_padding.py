"""Regions that begin in what the last tiles of a level have behind its edge: black, whatever the tiles' codec."""

from __future__ import annotations

from pathlib import Path

import encoded_images as made
import numpy as np
import pytest
from slide_files import LAYOUTS, cut, places, tifffile, write

from fastaug.io import Slide

SIDE, TILE = 80, 32
PIXELS = np.random.default_rng(0).integers(1, 255, (SIDE, SIDE, 3), dtype=np.uint8)


@pytest.mark.parametrize("kind", [None, "zlib", *LAYOUTS])
def test_regions_in_the_padding(kind: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    pixels = PIXELS
    if kind in LAYOUTS:
        pixels = write(path, LAYOUTS[kind]())[0]
    else:
        tifffile.imwrite(path, PIXELS, tile=(TILE, TILE), photometric="rgb", compression=kind)
    slide = Slide(path)
    height, width = pixels.shape[:2]
    across, down = slide.levels[0].tile
    random = np.random.default_rng(1)
    beyond = 0
    for _ in range(150):
        x = int(random.integers(width - 2, width + across))
        y = int(random.integers(height - 2, height + down))
        if random.random() < 0.6:
            x, y = (int(random.integers(width)), y) if random.random() < 0.5 else (x, int(random.integers(height)))
        size = int(random.integers(1, across)), int(random.integers(1, down))
        assert made.same(slide.read(x, y, size), cut(pixels, x, y, *size)), (x, y, size)
        beyond += x >= width or y >= height
    assert beyond > 100
    assert made.same(np.asarray(slide.lazy(width, height, (3, 4))), np.zeros((4, 3, 3), np.uint8))


def test_no_tile_is_read_for_its_padding(tmp_path: Path) -> None:
    """A broken one does not matter there."""
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, PIXELS, tile=(TILE, TILE), photometric="rgb", compression="zlib")
    at, size = places(path)[-1]
    data = bytearray(path.read_bytes())
    data[at : at + size] = bytes(size)
    path.write_bytes(data)
    slide = Slide(path)
    assert not slide.read(SIDE + 3, SIDE - 4, (9, 9)).any()
    with pytest.raises(OSError, match="column 2, row 2"):
        slide.read(SIDE - 3, SIDE - 4, (9, 9))
