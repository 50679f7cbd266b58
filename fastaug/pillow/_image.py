"""Methods of ``PIL.Image.Image``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from fastaug._draft.progress import by_pillow
from fastaug._names import export_functions


def point(image: Any, lut: Sequence[float] | Callable[[int], float], mode: str | None = None) -> Any:
    """Look up samples in a table, or apply a function to each, as ``image.point`` does. Pillow computes it.

    Example:
        >>> from PIL import Image
        >>> point(Image.new("L", (1, 1), 7), lambda v: 2 * v).getpixel((0, 0))
        14
    """
    return by_pillow(image, "pillow_point", lut, mode)


def convert(
    image: Any,
    mode: str | None = None,
    matrix: tuple[float, ...] | None = None,
    dither: int | None = None,
    palette: int = 0,
    colors: int = 256,
) -> Any:
    """Convert to another mode, as ``image.convert`` does.

    Example:
        >>> from PIL import Image
        >>> convert(Image.new("RGB", (1, 1), (255, 0, 0)), "L").getpixel((0, 0))
        76
    """
    return by_pillow(image, "pillow_convert", mode, matrix, dither, palette, colors)


def transpose(image: Any, method: int) -> Any:
    """Flip or turn by a multiple of 90 degrees, as ``image.transpose`` does.

    Example:
        >>> from PIL import Image
        >>> transpose(Image.new("L", (4, 3)), Image.Transpose.ROTATE_90).size
        (3, 4)
    """
    return by_pillow(image, "pillow_transpose", method)


def crop(image: Any, box: Sequence[float] | None = None) -> Any:
    """Cut out (left, upper, right, lower), with zeros outside the image, as ``image.crop`` does.

    Example:
        >>> from PIL import Image
        >>> crop(Image.new("L", (4, 3)), (1, 1, 4, 3)).size
        (3, 2)
    """
    return by_pillow(image, "pillow_crop", box)


def resize(
    image: Any,
    size: Sequence[int],
    resample: int | None = None,
    box: Sequence[float] | None = None,
    reducing_gap: float | None = None,
) -> Any:
    """Resize to (width, height), as ``image.resize`` does.

    Pillow computes it if ``box`` is a part of the image, or if ``reducing_gap`` has an effect.

    Example:
        >>> from PIL import Image
        >>> resize(Image.new("L", (4, 3)), (8, 6), Image.Resampling.BILINEAR).size
        (8, 6)
    """
    return by_pillow(image, "pillow_resize", size, resample, box, reducing_gap)


def rotate(
    image: Any,
    angle: float,
    resample: int = Image.Resampling.NEAREST,
    expand: int | bool = False,
    center: Sequence[float] | None = None,
    translate: Sequence[float] | None = None,
    fillcolor: float | tuple[float, ...] | str | None = None,
) -> Any:
    """Rotate counter-clockwise by degrees, as ``image.rotate`` does.

    Example:
        >>> from PIL import Image
        >>> rotate(Image.new("L", (40, 30)), 45, expand=True).size
        (50, 50)
    """
    return by_pillow(image, "pillow_rotate", angle, resample, expand, center, translate, fillcolor)


def transform(
    image: Any,
    size: Sequence[int],
    method: Any,
    data: Sequence[Any] | None = None,
    resample: int = Image.Resampling.NEAREST,
    fill: int = 1,
    fillcolor: float | tuple[float, ...] | str | None = None,
) -> Any:
    """Map each pixel of the result to a place of the image, as ``image.transform`` does.

    The core computes AFFINE, PERSPECTIVE and EXTENT, and Pillow computes other methods.

    Example:
        >>> from PIL import Image
        >>> image = Image.linear_gradient("L")
        >>> transform(image, (2, 2), Image.Transform.AFFINE, (1, 0, 0, 0, 1, 100)).getpixel((0, 0))
        100
    """
    return by_pillow(image, "pillow_transform", size, method, data, resample, fill, fillcolor)


export_functions(globals())
