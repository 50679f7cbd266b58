"""What tifffile says of a slide: the levels of its pyramid, and where their tiles lie. It reads the container alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from fastaug import _C
from fastaug._image.encoded import check_tables

if TYPE_CHECKING:
    import tifffile

# Compressions whose tiles are JPEG streams that the core decodes. That of 6 is an older one, which is not of streams.
_JPEG = (7, 33007)

# JPEG 2000 as Aperio has it in YCbCr, of which decoders give that.
_APERIO_YCBCR = 33003

_GRAY, _RGB, _YCBCR = 1, 2, 6
_MICRONS = {2: 25400.0, 3: 10000.0}  # of an inch and of a centimetre, by the number of the unit

_OTHERS = "; openslide opens more formats (pip install openslide-python openslide-bin)"


@dataclass(frozen=True)
class Grid:
    """A level: what the core knows of its tiles, and what decodes them where that is not the core.

    Attributes:
        jpeg: what JPEG tiles have beside them: their tables and their colour space; None of other tiles.
        decode: tifffile's, of the bytes of a tile and its number: (array of depth, height, width and samples, where it
            belongs, its shape); None of JPEG tiles.
    """

    width: int
    height: int
    tile_width: int
    tile_height: int
    tiles: _C.Tiles
    jpeg: tuple[bytes | None, Any] | None
    decode: Callable[..., Any] | None

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile_width)


def read(file: BinaryIO, descriptor: _C.File, path: str) -> tuple[list[Grid], tuple[float, float] | None]:
    """The levels of the slide in a file, from the largest on, and the microns of a pixel of the first.

    Raises:
        ImportError: tifffile is not installed, or not what it needs for these tiles.
        ValueError: it does not open the file, or that has no tiles of 8 bits in gray or RGB.
    """
    try:
        import tifffile
    except ImportError as error:
        raise ImportError(f"Slide needs tifffile (pip install tifffile){_OTHERS}") from error
    try:
        with tifffile.TiffFile(file) as tiff:
            if not tiff.series:
                raise ValueError("there is no image in it")
            slide = max(tiff.series, key=lambda series: math.prod(series.shape))
            levels = [_grid(_page_of(level, tiff), descriptor) for level in slide.levels]
            return levels, _microns(slide.levels[0].keyframe)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # hostile files make tifffile raise of any kind
        raise ValueError(
            f"tifffile does not open {path} as a slide: {error or type(error).__name__}{_OTHERS}"
        ) from error


def _page_of(level: tifffile.TiffPageSeries, tiff: tifffile.TiffFile) -> tifffile.TiffPage:
    page = level.keyframe
    if len(level.pages) != 1:
        raise ValueError(f"a level of it is of {len(level.pages)} images, with the axes {level.axes}")
    if page.parent is not tiff:
        raise ValueError("a level of it is in another file")
    return page


def _grid(page: tifffile.TiffPage, descriptor: _C.File) -> Grid:
    _check(page)
    width, height = page.imagewidth, page.imagelength
    size = (page.tilewidth, page.tilelength) if page.is_tiled else (width, min(page.rowsperstrip, height))
    tables = page.jpegtables
    jpeg = (None if tables is None else check_tables(tables), _colorspace(page)) if page.compression in _JPEG else None
    decode: Callable[..., Any] | None = None if jpeg is not None else page.decode
    if decode is not None:
        _try(decode)
    tiles = _C.Tiles(
        descriptor,
        height,
        width,
        size[1],
        size[0],
        np.asarray(page.dataoffsets, np.uint64).tobytes(),
        np.asarray(page.databytecounts, np.uint64).tobytes(),
        *(jpeg or ()),
    )
    return Grid(width, height, *size, tiles, jpeg, decode)


def _check(page: tifffile.TiffPage) -> None:
    """
    Raises:
        ValueError: it is no image of 8 bits in gray or RGB.
    """
    samples, photometric = page.samplesperpixel, page.photometric
    gray = samples == 1 and photometric == _GRAY
    jpeg = page.compression in _JPEG
    rgb = samples == 3 and (photometric == _RGB or (jpeg and photometric == _YCBCR))
    rgba = samples == 4 and photometric == _RGB and not jpeg
    contiguous = page.planarconfig == 1 and page.imagedepth == 1 and (not page.is_tiled or page.tiledepth == 1)
    if not (gray or rgb or rgba) or page.dtype != np.uint8 or not contiguous or page.compression == _APERIO_YCBCR:
        photometric, compression = (getattr(value, "name", value) for value in (photometric, page.compression))
        raise ValueError(
            "levels should be of interleaved uint8 samples in gray or RGB, got "
            f"{samples} of {page.dtype} in {photometric}, compressed as {compression}"
        )


def _colorspace(page: tifffile.TiffPage) -> str | None:
    """What three components are, as tifffile reads the tags: some streams in RGB do not say so.

    Where the tag says RGB of JFIF streams, openslide believes the tag.
    """
    if page.photometric == _YCBCR:
        return "ycbcr"
    return "rgb" if page.photometric == _RGB and not page.is_jfif else None


def _try(decode: Callable[..., Any]) -> None:
    """
    Raises:
        ImportError: there is no decoder, for the want of a package.
        ValueError: there is none at all.
    """
    try:
        decode(None, 0)
    except (ValueError, NotImplementedError) as error:
        if "imagecodecs" in str(error):
            raise ImportError(f"{error} (pip install imagecodecs){_OTHERS}") from error
        raise


def _microns(page: tifffile.TiffPage) -> tuple[float, float] | None:
    """Across and down, of a pixel: as Aperio says, or the resolution."""
    aperio = re.search(r"\|\s*MPP\s*=\s*([0-9.]+)", page.description) if page.is_svs else None
    if aperio is not None and (microns := float(aperio[1])) > 0:
        return microns, microns
    unit = _MICRONS.get(page.tags.valueof(296, 2))
    across, down = (page.tags.valueof(tag) for tag in (282, 283))
    if unit is None or across is None or down is None or 0 in (*across, *down):
        return None
    return unit * across[1] / across[0], unit * down[1] / down[0]
