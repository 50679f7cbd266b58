"""Filters and enhancers: ``PIL.ImageFilter`` and ``PIL.ImageEnhance``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastaug._draft.progress import by_pillow
from fastaug._names import export_functions


def gaussian_blur(image: Any, radius: float | Sequence[float] = 2) -> Any:
    """Blur by a standard deviation in pixels, as ``image.filter(ImageFilter.GaussianBlur(radius))`` does.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (5, 1))
        >>> image.putpixel((2, 0), 250)
        >>> list(gaussian_blur(image, (1, 0)).tobytes())
        [15, 59, 102, 59, 15]
    """
    return by_pillow(image, "pillow_gaussian_blur", radius)


def box_blur(image: Any, radius: float | Sequence[float]) -> Any:
    """Average over a box of so many pixels on each side, as ``image.filter(ImageFilter.BoxBlur(radius))`` does.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (5, 1))
        >>> image.putpixel((2, 0), 90)
        >>> list(box_blur(image, 1).tobytes())
        [0, 30, 30, 30, 0]
    """
    return by_pillow(image, "pillow_box_blur", radius)


def brightness(image: Any, factor: float) -> Any:
    """Blend with black, the result of factor 0, as ``ImageEnhance.Brightness(image).enhance(factor)`` does.

    Example:
        >>> from PIL import Image
        >>> brightness(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        100
    """
    return by_pillow(image, "pillow_brightness", factor)


def contrast(image: Any, factor: float) -> Any:
    """Blend with the mean gray, the result of factor 0, as ``ImageEnhance.Contrast(image).enhance(factor)`` does.

    Example:
        >>> from PIL import Image
        >>> contrast(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return by_pillow(image, "pillow_contrast", factor)


def color(image: Any, factor: float) -> Any:
    """Blend with the gray of each pixel, the result of factor 0, as ``ImageEnhance.Color(image).enhance(factor)`` does.

    Example:
        >>> from PIL import Image
        >>> color(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return by_pillow(image, "pillow_color", factor)


def sharpness(image: Any, factor: float) -> Any:
    """Blend with the smoothed image, the result of factor 0, as ``ImageEnhance.Sharpness(image).enhance(factor)`` does.

    Example:
        >>> from PIL import Image
        >>> sharpness(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return by_pillow(image, "pillow_sharpness", factor)


export_functions(globals())
