"""What ``PIL.ImageEnhance`` and ``PIL.ImageFilter`` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastaug._draft.progress import applied


def gaussian_blur(image: Any, radius: float | Sequence[float] = 2) -> Any:
    """``image.filter(ImageFilter.GaussianBlur(radius))``: three box blurs, one after the other.

    Args:
        image: a PIL image, or an image in progress.
        radius: standard deviation in pixels, or two of them, along x and along y.

    Returns:
        A blurred image.

    Raises:
        TypeError: ``image`` is no PIL image, or ``radius`` neither a number nor two.
        ValueError: Pillow does not blur images of this mode.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (5, 1))
        >>> image.putpixel((2, 0), 250)
        >>> list(gaussian_blur(image, (1, 0)).tobytes())
        [15, 59, 102, 59, 15]
    """
    return applied(image, "pillow_gaussian_blur", radius)


def box_blur(image: Any, radius: float | Sequence[float]) -> Any:
    """``image.filter(ImageFilter.BoxBlur(radius))``: the mean of a box around each pixel.

    Args:
        image: a PIL image, or an image in progress.
        radius: pixels of the box on each side of its middle, or two of them, along x and along y; parts of
            pixels count.

    Returns:
        A blurred image.

    Raises:
        TypeError: ``image`` is no PIL image, or ``radius`` neither a number nor two.
        ValueError: a negative ``radius``; or Pillow does not blur images of this mode.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (5, 1))
        >>> image.putpixel((2, 0), 90)
        >>> list(box_blur(image, 1).tobytes())
        [0, 30, 30, 30, 0]
    """
    return applied(image, "pillow_box_blur", radius)


def brightness(image: Any, factor: float) -> Any:
    """``ImageEnhance.Brightness(image).enhance(factor)``: a blend with black.

    Args:
        image: a PIL image, or an image in progress.
        factor: 1 for the image as it is, 0 for what it is blended with; any number.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``factor`` no number.
        ValueError: Pillow does not do it to images of this mode.

    Example:
        >>> from PIL import Image
        >>> brightness(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        100
    """
    return applied(image, "pillow_brightness", factor)


def contrast(image: Any, factor: float) -> Any:
    """``ImageEnhance.Contrast(image).enhance(factor)``: a blend with the mean gray.

    Args:
        image: a PIL image, or an image in progress.
        factor: 1 for the image as it is, 0 for what it is blended with; any number.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``factor`` no number.
        ValueError: Pillow does not do it to images of this mode.

    Example:
        >>> from PIL import Image
        >>> contrast(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return applied(image, "pillow_contrast", factor)


def color(image: Any, factor: float) -> Any:
    """``ImageEnhance.Color(image).enhance(factor)``: a blend with the gray of each pixel.

    Args:
        image: a PIL image, or an image in progress.
        factor: 1 for the image as it is, 0 for what it is blended with; any number.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``factor`` no number.
        ValueError: Pillow does not do it to images of this mode.

    Example:
        >>> from PIL import Image
        >>> color(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return applied(image, "pillow_color", factor)


def sharpness(image: Any, factor: float) -> Any:
    """``ImageEnhance.Sharpness(image).enhance(factor)``: a blend with the smoothed image.

    Args:
        image: a PIL image, or an image in progress.
        factor: 1 for the image as it is, 0 for what it is blended with; any number.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``factor`` no number.
        ValueError: Pillow does not do it to images of this mode.

    Example:
        >>> from PIL import Image
        >>> sharpness(Image.new("L", (3, 3), 200), 0.5).getpixel((1, 1))
        200
    """
    return applied(image, "pillow_sharpness", factor)
