"""Slides that tests write, and what their pixels are, tile by tile, by Pillow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from image_files import encode, unmarked
from PIL import Image

from support.images import photo

tifffile = pytest.importorskip("tifffile")

# tifffile asks for an encoder of JPEGs, which imagecodecs has, even of tiles that are encoded already.
tifffile.TIFF.COMPRESSORS._codecs.setdefault(7, None)

#: The levels of most slides here: the second ends elsewhere than the first one's tiles, and nothing is a whole tile.
SIZES = ((150, 233), (37, 58))


@dataclass
class Layout:
    """How tiles are encoded and what the file says of them.

    Attributes:
        stream: the bytes of a tile, which Pillow decodes to what is in the slide.
        stored: of those, what is in the file; the rest of them is in `tables`.
    """

    stream: Callable[[Image.Image], bytes]
    options: dict[str, Any]
    tile: tuple[int, int] | None = (48, 64)
    rows: int | None = None
    said: Callable[[bytes], bytes] = lambda data: data
    tables: bool = False
    gray: bool = False
    levels: list[np.ndarray] = field(default_factory=list)


def jpeg(**options: Any) -> Callable[[Image.Image], bytes]:
    return lambda image: encode(image, "JPEG", quality=85, **options)


def rgb(image: Image.Image) -> bytes:
    return encode(image, "JPEG", quality=85, keep_rgb=True)


YCBCR = {"photometric": "ycbcr", "compression": "jpeg"}
RGB = {"photometric": "rgb", "compression": "jpeg", "compressionargs": {"outcolorspace": "rgb"}}

LAYOUTS: dict[str, Callable[[], Layout]] = {
    "4:2:0": lambda: Layout(jpeg(subsampling=2), {**YCBCR, "subsampling": (2, 2)}),
    "4:2:2 progressive": lambda: Layout(jpeg(subsampling=1, progressive=True), {**YCBCR, "subsampling": (2, 1)}),
    "4:4:4 restarts": lambda: Layout(jpeg(subsampling=0, restart_marker_blocks=3), {**YCBCR, "subsampling": (1, 1)}),
    "tables apart": lambda: Layout(jpeg(subsampling=2), {**YCBCR, "subsampling": (2, 2)}, tables=True),
    "RGB that says so": lambda: Layout(rgb, RGB),
    "RGB that does not": lambda: Layout(rgb, RGB, said=lambda data: unmarked(data, b"\0\1\2"), tables=True),
    "JFIF in RGB": lambda: Layout(jpeg(subsampling=0), RGB),
    "gray": lambda: Layout(jpeg(), {"photometric": "minisblack", "compression": "jpeg"}, gray=True),
    "strips": lambda: Layout(jpeg(subsampling=2), {**YCBCR, "subsampling": (2, 2)}, tile=None, rows=32),
    "one strip": lambda: Layout(jpeg(subsampling=2), {**YCBCR, "subsampling": (2, 2)}, tile=None),
}


def write(path: Path, layout: Layout, sizes: tuple[tuple[int, int], ...] = SIZES, **options: Any) -> list[np.ndarray]:
    """Writes a slide, and returns the pixels of its levels."""
    levels = []
    with tifffile.TiffWriter(path) as writer:
        for number, (height, width) in enumerate(sizes):
            streams, pixels = encoded(layout, height, width, number)
            levels.append(pixels)
            split = [made.split_tables(layout.said(stream)) for stream in streams] if layout.tables else None
            data = [part for _, part in split] if split is not None else [layout.said(stream) for stream in streams]
            writer.write(
                iter(data),
                shape=(height, width) if layout.gray else (height, width, 3),
                dtype=np.uint8,
                tile=layout.tile,
                rowsperstrip=None if layout.tile is not None else layout.rows or height,
                jpegtables=None if split is None else split[0][0],
                subfiletype=min(number, 1),
                metadata=None,
                **layout.options,
                **options,
            )
    return levels


def encoded(layout: Layout, height: int, width: int, number: int) -> tuple[list[bytes], np.ndarray]:
    """The streams of all tiles of a level, and its pixels."""
    tall, wide = layout.tile or (layout.rows or height, width)
    rows, columns = -(-height // tall), -(-width // wide)
    if layout.tile is None:
        whole = photo("ihc", height, width)
    else:
        # What lies behind the edge is not the slide's, and must not be seen.
        whole = photo("ihc", rows * tall, columns * wide)
    if number:
        whole = whole.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if layout.gray:
        whole = whole.convert("L")
    streams, pixels = [], np.empty((rows * tall, columns * wide, 3), np.uint8)
    for top in range(0, rows * tall, tall):
        for left in range(0, columns * wide, wide):
            bottom = min(top + tall, whole.height)
            stream = layout.stream(whole.crop((left, top, left + wide, bottom)))
            streams.append(stream)
            pixels[top:bottom, left : left + wide] = np.asarray(Image.open(io.BytesIO(stream)).convert("RGB"))
    return streams, pixels[:height, :width]


def cut(pixels: np.ndarray, left: int, top: int, width: int, height: int) -> np.ndarray:
    """A region of a level, black outside of it."""
    region = np.zeros((height, width, 3), np.uint8)
    tall, wide = pixels.shape[:2]
    y0, y1, x0, x1 = max(top, 0), min(top + height, tall), max(left, 0), min(left + width, wide)
    if y0 < y1 and x0 < x1:
        region[y0 - top : y1 - top, x0 - left : x1 - left] = pixels[y0:y1, x0:x1]
    return region


def regions(pixels: np.ndarray, count: int, seed: int) -> Iterator[tuple[int, int, int, int]]:
    """(left, top, width, height): all of it, parts of it, and what lies across its edges or outside."""
    height, width = pixels.shape[:2]
    yield 0, 0, width, height
    yield -3, -5, width + 7, height + 11
    yield width, 0, 5, 5
    yield 0, -9, 4, 9
    yield -(10**6), 10**15, 3, 2
    yield width - 1, height - 1, 1, 1
    rng = np.random.default_rng(seed)
    for _ in range(count):
        left, top = (int(rng.integers(-20, side + 5)) for side in (width, height))
        yield left, top, int(rng.integers(1, width)), int(rng.integers(1, height))


def said_of(path: Path, tag: int, change: Callable[[list[int]], Any], page: int = 0) -> None:
    """Changes a tag of many numbers in place."""
    with tifffile.TiffFile(path, mode="r+") as tiff:
        entry = tiff.pages[page].tags[tag]
        numbers = list(entry.value) if isinstance(entry.value, tuple) else [entry.value]
        change(numbers)
        entry.overwrite(numbers if len(numbers) > 1 else numbers[0])


def places(path: Path, page: int = 0) -> list[tuple[int, int]]:
    """Offset and size of each tile."""
    with tifffile.TiffFile(path) as tiff:
        return list(zip(tiff.pages[page].dataoffsets, tiff.pages[page].databytecounts))
