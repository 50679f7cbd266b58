"""Pillow's own operations as functions, equal to Pillow's bit for bit, and faster.

Each function names the one in ``PIL.Image``, ``PIL.ImageFilter``, ``PIL.ImageOps`` or ``PIL.ImageEnhance`` that it
equals in arguments, sizes, modes, metadata and errors. `Pillow's pages
<https://pillow.readthedocs.io/en/stable/reference/>`_ describe the arguments. The first argument is a PIL image, or the
image in progress of a pipeline; anything else raises TypeError. A function returns a new PIL image, or appends the
operation to the image in progress and returns that.

The native core computes modes L, LA, RGB, RGBA, CMYK, YCbCr and HSV, where it has the operation. Pillow does the rest.

Example:
    >>> from PIL import Image
    >>> from fastaug import pillow
    >>> pillow.gaussian_blur(Image.new("RGB", (40, 30), "red"), 1.5).getpixel((20, 15))
    (255, 0, 0)
"""

from __future__ import annotations

from fastaug import _names
from fastaug.pillow._enhance import *
from fastaug.pillow._image import *
from fastaug.pillow._ops import *

_names.publish(globals())
