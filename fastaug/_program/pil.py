"""Allocate memory for results in PIL images."""

from __future__ import annotations

import numpy as np
from PIL import Image

from fastaug import _C

_NOTHING = Image.Image()


def borrow(image: Image.Image, channels: int) -> _C.Source:
    """Borrow a PIL image that is loaded; or a copy of a large one, if it is not known where Pillow keeps its rows."""
    try:
        return _C.from_pil(image, channels)
    except ValueError:
        return _C.from_array(np.asarray(image))


def blank(mode: str, width: int, height: int) -> Image.Image:
    """Return a new image of uninitialised pixels, without the checks of Image.new."""
    return _NOTHING._new(Image.core.new(mode, (width, height)))  # type: ignore[attr-defined]


def allocate(mode: str, size: tuple[int, int, int]) -> tuple[Image.Image | np.ndarray, _C.Target]:
    """Return memory for an image of (height, width, channels) `size`, and a target for the core."""
    height, width, channels = size
    # Uninitialised: a program writes every pixel, in place.
    image = blank(mode, width, height)
    try:
        return image, _C.into_pil(image, channels)
    except ValueError:
        # Pillow splits large images into blocks: these alone are copied once.
        array = np.empty((height, width) if channels == 1 else size, np.uint8)
        return array, _C.into_array(array)


def delivered(memory: Image.Image | np.ndarray, mode: str, size: tuple[int, int, int]) -> Image.Image:
    if isinstance(memory, Image.Image):
        return memory
    height, width, _ = size
    return Image.frombuffer(mode, (width, height), memory, "raw", mode, 0, 1).copy()


def run(program: bytes, source: _C.Source, mode: str, size: tuple[int, int, int]) -> Image.Image:
    memory, target = allocate(mode, size)
    _C.run(((program, source, target),))
    return delivered(memory, mode, size)
