"""Find out once a process which JPEG files fastaug decodes as the installed Pillow does."""

from __future__ import annotations

import functools
import io
import itertools
from typing import Any

import numpy as np
from PIL import Image, JpegImagePlugin

from fastaug._image.sample import PHOTOGRAPH
from fastaug.io import imread

# Pillow's numbers of 4:4:4, 4:2:2 and 4:2:0, and whether a file is progressive.
_KINDS = tuple(itertools.product((0, 1, 2), (False, True)))


@functools.cache
def _alike() -> frozenset[tuple[int, bool]]:
    """Return the kinds of JPEG files that come out as Pillow decodes them, of those that cameras and the web write."""
    with Image.open(PHOTOGRAPH) as photograph:
        picture = photograph.convert("RGB").crop((20, 30, 173, 131))
    alike = []
    for subsampling, progressive in _KINDS:
        file = io.BytesIO()
        picture.save(file, "JPEG", subsampling=subsampling, progressive=progressive, quality=85)
        with Image.open(file) as theirs:
            if np.array_equal(np.asarray(theirs.convert("RGB")), imread(file.getvalue())):
                alike.append((subsampling, progressive))
    return frozenset(alike)


def is_pillows(path: Any) -> bool:
    """Return whether a file comes out as Pillow decodes it; of unknown kinds none if any kind does not."""
    alike = _alike()
    if len(alike) == len(_KINDS):
        return True
    try:
        with Image.open(path) as image:
            if image.format not in ("JPEG", "MPO"):
                return True
            return (JpegImagePlugin.get_sampling(image), "progressive" in image.info) in alike
    except Exception:  # torchvision raises the error
        return False
