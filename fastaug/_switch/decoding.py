"""Find out once a process whether fastaug decodes JPEG files as the installed Pillow does."""

from __future__ import annotations

import functools
import io

import numpy as np
from PIL import Image

from fastaug._image.sample import PHOTOGRAPH
from fastaug.io import imread

# Pillow's numbers of 4:4:4, 4:2:2 and 4:2:0.
_SUBSAMPLINGS = (0, 1, 2)


@functools.cache
def is_pillows() -> bool:
    """Return whether all kinds of JPEG files that cameras and the web write come out as Pillow decodes them."""
    with Image.open(PHOTOGRAPH) as photograph:
        picture = photograph.convert("RGB").crop((20, 30, 173, 131))
    for subsampling in _SUBSAMPLINGS:
        for progressive in (False, True):
            file = io.BytesIO()
            picture.save(file, "JPEG", subsampling=subsampling, progressive=progressive, quality=85)
            with Image.open(file) as theirs:
                if not np.array_equal(np.asarray(theirs.convert("RGB")), imread(file.getvalue())):
                    return False
    return True
