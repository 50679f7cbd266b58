"""Results in the memory of PIL images."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image

from fastaug import _C

#: What runs jobs: _C.run, or what takes its place.
Run = Callable[[Sequence[tuple[bytes, _C.Source, _C.Target]], int], None]


def run_into_pil(
    program: bytes,
    source: _C.Source,
    mode: str,
    size: tuple[int, int, int],
    run: Run = _C.run,
    rewrites: int = _C.EXACT,
) -> Image.Image:
    """The result of a program as an image of that mode; `size` is (height, width, channels)."""
    height, width, channels = size
    # Uninitialised: the program writes every pixel, in place.
    image = Image.new(mode, (width, height), None)
    try:
        target = _C.into_pil(image, channels)
    except ValueError:
        # Pillow splits large images into blocks: these alone are copied once.
        array = np.empty((height, width) if channels == 1 else size, np.uint8)
        run(((program, source, _C.into_array(array)),), rewrites)
        return Image.frombuffer(mode, (width, height), array, "raw", mode, 0, 1).copy()
    run(((program, source, target),), rewrites)
    return image
