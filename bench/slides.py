"""Slides of python -m bench pathology: mosaics of a tile, written by tifffile, and who reads regions of them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug.transforms as T
from fastaug.io import LazyImage, Slide, imread

#: Of the slide, of a region, and how many regions are read at a time.
SIDE, REGION, COUNT = 6144, 1024, 4

#: (side of a tile, subsampling) by the name of a row.
LAYOUTS = {"256 4:2:0": (256, (2, 2)), "240 4:2:2": (240, (2, 1)), "512 4:4:4": (512, (1, 1))}

_MEAN, _STD = [0.7, 0.5, 0.7], [0.2, 0.2, 0.2]


@dataclass
class Regions:
    """Places on a slide, and the readers of it, each of which is opened once."""

    path: str
    corners: list[tuple[int, int]]

    @functools.cached_property
    def slide(self) -> Slide:
        return Slide(self.path)

    @functools.cached_property
    def openslide(self) -> Any:
        from openslide import OpenSlide

        return OpenSlide(self.path)

    @functools.cached_property
    def cucim(self) -> Any:
        from cucim.clara import CuImage

        return CuImage(self.path)

    @functools.cached_property
    def page(self) -> Any:
        """What tifffile says of level 0."""
        import tifffile

        with tifffile.TiffFile(self.path) as tiff:
            page = tiff.pages[0]
            # What is asked for later is read while the file is open.
            assert len(page.dataoffsets) == len(page.databytecounts) and page.jpegtables is None
            return page

    def read(self) -> list[np.ndarray]:
        return [self.slide.read(x, y, (REGION, REGION)) for x, y in self.corners]

    def by_cucim(self) -> list[np.ndarray]:
        return [np.asarray(self.cucim.read_region((x, y), (REGION, REGION), 0)) for x, y in self.corners]

    def by_openslide(self) -> list[Image.Image]:
        return [self.openslide.read_region(corner, 0, (REGION, REGION)).convert("RGB") for corner in self.corners]

    def by_loop(self) -> list[np.ndarray]:
        """A loop in Python over the tiles, each decoded by imread and copied."""
        page, made = self.page, []
        side, columns = page.tilewidth, -(-page.imagewidth // page.tilewidth)
        with open(self.path, "rb") as file:
            for x, y in self.corners:
                region = np.empty((REGION, REGION, 3), np.uint8)
                for row in range(y // side, -(-(y + REGION) // side)):
                    for column in range(x // side, -(-(x + REGION) // side)):
                        index = row * columns + column
                        file.seek(page.dataoffsets[index])
                        tile = imread(file.read(page.databytecounts[index]))
                        top, left = row * side - y, column * side - x
                        part = tile[max(-top, 0) : REGION - top, max(-left, 0) : REGION - left]
                        top, left = max(top, 0), max(left, 0)
                        region[top : top + part.shape[0], left : left + part.shape[1]] = part
                made.append(region)
        return made

    def handles(self) -> list[LazyImage]:
        return [self.slide.lazy(x, y, (REGION, REGION)) for x, y in self.corners]

    def tensors(self) -> list[torch.Tensor]:
        return [_eval(T)(handle) for handle in self.handles()]

    def tensors_by_openslide(self) -> list[torch.Tensor]:
        return [_eval(TV)(image) for image in self.by_openslide()]


@functools.cache
def _eval(package: Any) -> Callable[[Any], torch.Tensor]:
    compose: Callable[[Any], torch.Tensor] = package.Compose(
        [package.Resize(224), package.ToTensor(), package.Normalize(_MEAN, _STD)]
    )
    return compose


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


_made: dict[str, Regions] = {}


def regions(layout: str, tile: np.ndarray) -> Regions:
    """Of a mosaic of a tile, turned in all ways."""
    if layout not in _made:
        import tifffile

        rng = np.random.default_rng(0)
        whole = np.empty((SIDE, SIDE, 3), np.uint8)
        height, width = (min(side, SIDE) for side in tile.shape[:2])
        side = min(height, width)
        for top in range(0, SIDE, side):
            for left in range(0, SIDE, side):
                room = whole[top : top + side, left : left + side]
                room[...] = np.rot90(tile[:side, :side], rng.integers(4))[: room.shape[0], : room.shape[1]]
        path = Path(_folder().name) / f"{layout.replace(':', '')}.tif"
        size, subsampling = LAYOUTS[layout]
        options: dict[str, Any] = {"compressionargs": {"level": 80}, "subsampling": subsampling, "metadata": None}
        tifffile.imwrite(path, whole, tile=(size, size), photometric="rgb", compression="jpeg", **options)
        corners = rng.integers(0, SIDE - REGION, (COUNT, 2)).tolist()
        _made[layout] = Regions(str(path), [(x, y) for x, y in corners])
    return _made[layout]
