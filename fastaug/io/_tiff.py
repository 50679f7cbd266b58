"""Read the levels of a slide and the locations of their tiles by tifffile, from the TIFF structure alone."""

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

# Compressions whose tiles are JPEG streams, which the core decodes. The older compression 6 has no such streams.
_JPEG = (7, 33007)

# Aperio's JPEG 2000 in YCbCr, which decoders return as YCbCr.
_APERIO_YCBCR = 33003

_GRAY, _RGB, _YCBCR = 1, 2, 6
_MICRONS = {2: 25400.0, 3: 10000.0}  # in an inch and a centimetre, by TIFF's number of the unit

_OTHERS = "; openslide opens more formats (pip install openslide-python openslide-bin)"


@dataclass(frozen=True)
class Grid:
    """A level and its tiles."""

    width: int
    height: int
    tile_width: int
    tile_height: int
    tiles: _C.Tiles
    #: Tables and colour space of JPEG tiles, or None for other tiles.
    jpeg: tuple[bytes | None, Any] | None
    #: tifffile's function of the bytes and number of another tile, to (array [depth, height, width, samples], ..).
    decode: Callable[..., Any] | None

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile_width)


def read(file: BinaryIO, descriptor: _C.File, path: str) -> tuple[list[Grid], tuple[float, float] | None]:
    """Return the levels of the slide in a file, the largest first, and the microns per pixel of the first."""
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
    except Exception as error:  # tifffile raises any type for hostile files
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
    """Raise ValueError unless a page is 8-bit gray or RGB."""
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
    """Return the colour space of three components by the tags, since some RGB streams do not declare it.

    openslide believes the tag if it is RGB and the streams are JFIF.
    """
    if page.photometric == _YCBCR:
        return "ycbcr"
    return "rgb" if page.photometric == _RGB and not page.is_jfif else None


def _try(decode: Callable[..., Any]) -> None:
    """Raise ImportError if the decoder is in a package that is not installed, and ValueError if there is none."""
    try:
        decode(None, 0)
    except (ValueError, NotImplementedError) as error:
        if "imagecodecs" in str(error):
            raise ImportError(f"{error} (pip install imagecodecs){_OTHERS}") from error
        raise


def _microns(page: tifffile.TiffPage) -> tuple[float, float] | None:
    """Return microns per pixel, across and down, from Aperio's MPP or the resolution tags."""
    aperio = re.search(r"\|\s*MPP\s*=\s*([0-9.]+)", page.description) if page.is_svs else None
    if aperio is not None and (microns := float(aperio[1])) > 0:
        return microns, microns
    unit = _MICRONS.get(page.tags.valueof(296, 2))
    across, down = (page.tags.valueof(tag) for tag in (282, 283))
    if unit is None or across is None or down is None or 0 in (*across, *down):
        return None
    return unit * across[1] / across[0], unit * down[1] / down[0]
