"""Pillow's own operations by Pillow itself, for images that the native core does not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PIL import Image, ImageFilter, ImageOps


def gaussian_blur(image: Image.Image, radius: Any) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(radius))


def box_blur(image: Image.Image, radius: Any) -> Image.Image:
    return image.filter(ImageFilter.BoxBlur(radius))


def place(image: Image.Image, size: Any, left: int, top: int, color: Any) -> Image.Image:
    """Put an image onto a canvas as ImageOps.pad does."""
    right, bottom = size[0] - image.width - left, size[1] - image.height - top
    return ImageOps.expand(image, (left, top, right, bottom), color)


#: The functions by their names in fastaug.pillow.
FUNCTIONS: dict[str, Callable[..., Image.Image]] = {
    "autocontrast": ImageOps.autocontrast,
    "box_blur": box_blur,
    "contain": ImageOps.contain,
    "convert": Image.Image.convert,
    "cover": ImageOps.cover,
    "crop": Image.Image.crop,
    "equalize": ImageOps.equalize,
    "exif_transpose": ImageOps.exif_transpose,
    "expand": ImageOps.expand,
    "fit": ImageOps.fit,
    "gaussian_blur": gaussian_blur,
    "invert": ImageOps.invert,
    "pad": ImageOps.pad,
    "place": place,
    "point": Image.Image.point,
    "posterize": ImageOps.posterize,
    "resize": Image.Image.resize,
    "solarize": ImageOps.solarize,
    "transform": Image.Image.transform,
    "transpose": Image.Image.transpose,
}
