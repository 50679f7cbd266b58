"""Whole-slide images: read regions of a pyramid, and decode only the tiles that they cover."""

from __future__ import annotations

import contextlib
import math
import operator
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image.assembled import Assembled
from fastaug._image.lazy import LazyImage
from fastaug._image.pillow import DecodeError
from fastaug._program.integers import integer
from fastaug.io import _tiff

# The core counts pixels in 32 bits.
_MOST_PIXELS = 1 << 31

# More pixels than any slide has across. Every place beyond it is black.
_FAR = 1 << 40


@dataclass(frozen=True)
class SlideLevel:
    """A level of a slide.

    Attributes:
        width, height: in pixels of the level.
        downsample: pixels of level 0 per pixel of this level, the mean of both axes, as in openslide.
        tile: (width, height) of its tiles. A strip is a tile as wide as the level.

    Example:
        >>> from fastaug.io import SlideLevel
        >>> SlideLevel(2220, 2967, 1.0, (240, 240)).size
        (2220, 2967)
    """

    width: int
    height: int
    downsample: float
    tile: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height


class Slide:
    """A whole-slide image that reads regions of a tiled pyramid in a TIFF file, such as Aperio's .svs.

    tifffile must be installed. It locates the tiles when the slide is opened. Tiles are read when a region covers them.
    The native core decodes all JPEG tiles of a region in one call, without Python's lock. tifffile decodes other
    compressions, most of which need imagecodecs.

    Threads can share a slide, and so can forked processes. It pickles as its path. The file closes with its last
    reader.

    Args:
        path: of the file.

    Attributes:
        path: the same.
        levels: tuple of :class:`SlideLevel`, the largest first.
        mpp: microns per pixel of level 0, across and down, or None if the file has neither Aperio's MPP nor a
            resolution.

    Raises:
        OSError: the file cannot be read.
        ImportError: tifffile is not installed, or imagecodecs for tiles that need it.
        ValueError: tifffile cannot open the file, or its levels are not 8-bit gray or RGB.
        TypeError: ``path`` is not a path.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import tifffile
        >>> import fastaug.transforms as T
        >>> from fastaug.io import Slide
        >>> path = tempfile.mkdtemp() + "/slide.tif"
        >>> pixels = np.arange(80 * 96 * 3).reshape(80, 96, 3).astype(np.uint8)
        >>> tifffile.imwrite(path, pixels, tile=(32, 32), photometric="rgb")
        >>> slide = Slide(path)
        >>> slide.levels[0].size
        (96, 80)
        >>> region = slide.read(30, 20, (40, 10))
        >>> np.array_equal(region, pixels[20:30, 30:70])
        True
        >>> T.RandomCrop(16)(slide.lazy(30, 20, (40, 40))).size
        (16, 16)
        >>> [tile.size for tile in slide.tiles(size=(64, 64))]
        [(64, 64), (32, 64), (64, 16), (32, 16)]
    """

    path: str
    levels: tuple[SlideLevel, ...]
    mpp: tuple[float, float] | None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path should be a path, got {type(path).__name__}")
        self.path = os.fsdecode(path)
        with open(self.path, "rb") as file:
            descriptor = _C.File(os.dup(file.fileno()))
            self._grids, self.mpp = _tiff.read(file, descriptor, self.path)
        first = self._grids[0]
        self.levels = tuple(
            SlideLevel(
                grid.width,
                grid.height,
                (first.width / grid.width + first.height / grid.height) / 2,
                (grid.tile_width, grid.tile_height),
            )
            for grid in self._grids
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)

    def __repr__(self) -> str:
        width, height = self.levels[0].size
        levels = len(self.levels)
        return f"Slide({self.path!r}, {width}x{height}, {levels} level{'s' if levels > 1 else ''})"

    def read(self, x: int, y: int, size: tuple[int, int], level: int = 0) -> np.ndarray:
        """Read a region, equal to openslide's ``read_region((x, y), level, size).convert("RGB")`` at level 0.

        At other levels, (x, y) can lie between pixels. openslide interpolates there. This starts at the nearest pixel
        instead, ``floor(x / levels[level].downsample + 0.5)``.

        Args:
            x, y: upper left corner, in pixels of level 0.
            size: (width, height), in pixels of the level.
            level: index into ``levels``.

        Returns:
            uint8 of shape (height, width, 3), black outside the slide.

        Raises:
            fastaug.DecodeError: a tile is missing, truncated or corrupt. The message has its column, row and level.
            TypeError: a number is not an integer, or ``size`` is not a pair.
            ValueError: the level does not exist, or ``size`` is not 1 to 2^31 - 1 pixels.
        """
        return self._region(x, y, size, level).read()

    def lazy(self, x: int, y: int, size: tuple[int, int], level: int = 0) -> LazyImage:
        """Return a handle of a region that decodes its pixels on demand, and only those that are needed.

        Pass it to a ``Compose`` or its ``batch``, which read and decode only the JPEG tiles that the crop covers.
        tifffile decodes all tiles of the region, on the calling thread.

        Args:
            x, y, size, level: as for :meth:`read`.

        Returns:
            A :class:`LazyImage` of mode RGB.

        Raises:
            TypeError, ValueError: as :meth:`read`. Missing and broken tiles raise at their first use.
        """
        region: Any = self._region(x, y, size, level)
        return LazyImage(region)

    def tiles(self, level: int = 0, size: tuple[int, int] | None = None) -> list[LazyImage]:
        """Return handles of regions that cover a level, from left to right and from top to bottom.

        A row has ``ceil(levels[level].width / size[0])`` of them. Those at the right and bottom edges end with the
        slide and may be smaller.

        Args:
            level: index into ``levels``.
            size: (width, height) of a region. By default the size of the stored tiles, so that each is decoded once.

        Raises:
            TypeError, ValueError: as :meth:`read`.
        """
        number = self._level(level)
        across, down = self.levels[number].tile if size is None else _sides(size)
        width, height = self.levels[number].size
        regions: list[Any] = [
            Region(self, number, x, y, min(across, width - x), min(down, height - y))
            for y in range(0, height, down)
            for x in range(0, width, across)
        ]
        return [LazyImage(region) for region in regions]

    def _level(self, level: Any) -> int:
        number = integer("level", level)
        if not 0 <= number < len(self.levels):
            raise ValueError(f"level should be from 0 to {len(self.levels) - 1}, got {number}")
        return number

    def _region(self, x: Any, y: Any, size: Any, level: Any) -> Region:
        left, top = integer("x", x), integer("y", y)
        number = self._level(level)
        width, height = _sides(size)
        downsample = self.levels[number].downsample
        left, top = (math.floor(max(-_FAR, min(side, _FAR)) / downsample + 0.5) for side in (left, top))
        return Region(self, number, left, top, width, height)


@dataclass(repr=False, eq=False)
class Region(Assembled):
    """A part of a level, in pixels of that level."""

    slide: Slide
    level: int
    left: int
    top: int
    width: int
    height: int

    format = "TIFF"

    def __post_init__(self) -> None:
        self.path = self.slide.path

    def __repr__(self) -> str:
        return (
            f"{self.slide!r}, level {self.level}, {self.width}x{self.height} at column {self.left} and row {self.top}"
        )

    @property
    def _grid(self) -> _tiff.Grid:
        return self.slide._grids[self.level]

    def source(self, channels: int) -> _C.Source:
        grid = self._grid
        if grid.jpeg is not None:
            return grid.tiles.source(self.top, self.left, self.height, self.width, channels)
        pixels = self._assembled()
        if channels == 4:
            pixels = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
        return _C.from_array(pixels)

    def image(self) -> Image.Image:
        return Image.fromarray(self.read())

    def read(self) -> np.ndarray:
        if self._grid.jpeg is not None:
            pixels = np.empty((self.height, self.width, 3), np.uint8)
            with contextlib.suppress(_C.Deferred):  # _assembled finds the broken tile, or decodes it by Pillow
                _C.run([(b"", self.source(3), _C.into_array(pixels))])
                return pixels
        return self._assembled()

    def _assembled(self) -> np.ndarray:
        """Return the pixels, copied tile by tile."""
        pixels = np.zeros((self.height, self.width, 3), np.uint8)
        grid = self._grid
        for column, row in self._covered():
            tile = self._tile(column, row)
            across, down = column * grid.tile_width, row * grid.tile_height
            # The last tiles have padding beyond the edge of the level.
            right = min(across + tile.shape[1], grid.width, self.left + self.width)
            bottom = min(down + tile.shape[0], grid.height, self.top + self.height)
            left, top = max(across, self.left), max(down, self.top)
            part = tile[top - down : bottom - down, left - across : right - across]
            pixels[top - self.top : bottom - self.top, left - self.left : right - self.left] = part
        return pixels

    def _covered(self) -> Iterator[tuple[int, int]]:
        """Yield (column, row) of each tile that has pixels of the region inside the level."""
        grid = self._grid
        left, right = max(self.left, 0), min(self.left + self.width, grid.width)
        top, bottom = max(self.top, 0), min(self.top + self.height, grid.height)
        if right <= left or bottom <= top:
            return  # outside, although perhaps in the padding of a last tile
        for row in range(top // grid.tile_height, -(-bottom // grid.tile_height)):
            for column in range(left // grid.tile_width, -(-right // grid.tile_width)):
                yield column, row

    def _tile(self, column: int, row: int) -> np.ndarray:
        """Return a tile of one or three channels, at least as large as its part of the level."""
        grid = self._grid
        index = row * grid.columns + column
        try:
            data = grid.tiles.read(index)
        except _C.Deferred as error:
            reason, offset = error.args
            self._fail(column, row, reason, error, offset if offset >= 0 else None)
        least = min(grid.tile_width, grid.width - column * grid.tile_width)
        low = min(grid.tile_height, grid.height - row * grid.tile_height)
        size = None
        try:
            if grid.jpeg is not None:
                tables, colorspace = grid.jpeg
                handle = LazyImage(data, "RGB", jpeg_tables=tables, colorspace=colorspace)
                size = handle.size
                if least <= size[0] <= grid.tile_width and low <= size[1] <= grid.tile_height:
                    return np.asarray(handle)
            else:
                assert grid.decode is not None
                tile: np.ndarray = grid.decode(data, index)[0][0]
                size = tile.shape[1], tile.shape[0]
                if least <= size[0] and low <= size[1]:
                    return tile[:, :, :3]
        except MemoryError:
            raise
        except Exception as error:
            self._fail(column, row, str(error) or type(error).__name__, error)
        self._fail(column, row, f"it is of {size[0]}x{size[1]} pixels, and not of {least}x{low}", None)

    def _fail(self, column: int, row: int, reason: str, error: Exception | None, offset: int | None = None) -> NoReturn:
        words = f"cannot decode {self.path}: tile in column {column}, row {row} of level {self.level}: {reason}"
        form = "TIFF" if self._grid.jpeg is None else "JPEG"
        raise DecodeError(words, self.path, form, offset) from error


def _sides(size: Any) -> tuple[int, int]:
    """Return (width, height) of a region as integers."""
    try:
        width, height = (operator.index(side) for side in size)
    except (TypeError, ValueError):
        raise TypeError(f"size should be two integers, (width, height), got {size!r}") from None
    if width < 1 or height < 1 or width * height >= _MOST_PIXELS:
        raise ValueError(f"size should be (width, height) of 1 to 2^31 - 1 pixels in all, got {(width, height)}")
    return width, height
