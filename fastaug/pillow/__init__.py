"""Pillow's own operations by Pillow's names: equal to Pillow's, bit for bit, and faster.

The functions take and give PIL images, with the arguments, sizes, modes, metadata and errors of ``PIL.Image``,
``PIL.ImageFilter``, ``PIL.ImageOps`` and ``PIL.ImageEnhance``. Images of the modes L, LA, RGB, RGBA, CMYK, YCbCr and
HSV are computed by the native core where it has the operation; all else is done by Pillow itself. Results are new
images.

They also take the image in progress that a pipeline works on, append the operation to what is to be done to it, and
return it.

Example:
    >>> from PIL import Image
    >>> from fastaug import pillow
    >>> pillow.gaussian_blur(Image.new("RGB", (40, 30), "red"), 1.5).getpixel((20, 15))
    (255, 0, 0)
"""

from __future__ import annotations

from fastaug._names import publish
from fastaug.pillow._enhance import box_blur, brightness, color, contrast, gaussian_blur, sharpness
from fastaug.pillow._image import convert, crop, point, resize, rotate, transform, transpose
from fastaug.pillow._ops import (
    autocontrast,
    contain,
    cover,
    crop_border,
    equalize,
    exif_transpose,
    expand,
    fit,
    flip,
    grayscale,
    invert,
    mirror,
    pad,
    posterize,
    scale,
    solarize,
)

__all__ = [
    "autocontrast",
    "box_blur",
    "brightness",
    "color",
    "contain",
    "contrast",
    "convert",
    "cover",
    "crop",
    "crop_border",
    "equalize",
    "exif_transpose",
    "expand",
    "fit",
    "flip",
    "gaussian_blur",
    "grayscale",
    "invert",
    "mirror",
    "pad",
    "point",
    "posterize",
    "resize",
    "rotate",
    "scale",
    "sharpness",
    "solarize",
    "transform",
    "transpose",
]

publish(globals())
