"""What images of Pillow's do by themselves: methods of ``PIL.Image.Image``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image

from fastaug._draft.progress import applied


def point(image: Any, lut: Sequence[float] | Callable[[int], float], mode: str | None = None) -> Any:
    """``image.point``: samples are looked up in a table. Pillow does it.

    Args:
        image: a PIL image, or an image in progress.
        lut: 256 values for each channel, or a function of a sample.
        mode: of the result, where the table is for another one; None for that of the image.

    Returns:
        An image.

    Raises:
        TypeError: ``image`` is no PIL image, or ``lut`` no table.
        ValueError: a table of another length.

    Example:
        >>> from PIL import Image
        >>> point(Image.new("L", (1, 1), 7), lambda v: 2 * v).getpixel((0, 0))
        14
    """
    return applied(image, "pillow_point", lut, mode)


def convert(
    image: Any,
    mode: str | None = None,
    matrix: tuple[float, ...] | None = None,
    dither: int | None = None,
    palette: int = 0,
    colors: int = 256,
) -> Any:
    """``image.convert``: the image in another mode.

    Args:
        image: a PIL image, or an image in progress.
        mode: of the result; None for the same, or that of a palette.
        matrix: 4 or 12 numbers, to L or RGB.
        dither: of ``Image.Dither``, to 1 or P.
        palette: of ``Image.Palette``, to P.
        colors: of an adaptive palette.

    Returns:
        An image.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: Pillow knows no such conversion.

    Example:
        >>> from PIL import Image
        >>> convert(Image.new("RGB", (1, 1), (255, 0, 0)), "L").getpixel((0, 0))
        76
    """
    return applied(image, "pillow_convert", mode, matrix, dither, palette, colors)


def transpose(image: Any, method: int) -> Any:
    """``image.transpose``: flips and quarter turns.

    Args:
        image: a PIL image, or an image in progress.
        method: of ``Image.Transpose``, 0 to 6.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``method`` no integer.
        ValueError: another ``method``.

    Example:
        >>> from PIL import Image
        >>> transpose(Image.new("L", (4, 3)), Image.Transpose.ROTATE_90).size
        (3, 4)
    """
    return applied(image, "pillow_transpose", method)


def crop(image: Any, box: Sequence[float] | None = None) -> Any:
    """``image.crop``: a box of the image, with zeros where it reaches beyond.

    Args:
        image: a PIL image, or an image in progress.
        box: left, upper, right, lower, which are rounded; None for all of the image.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``box`` not four numbers.
        ValueError: a box that ends before it begins.

    Example:
        >>> from PIL import Image
        >>> crop(Image.new("L", (4, 3)), (1, 1, 4, 3)).size
        (3, 2)
    """
    return applied(image, "pillow_crop", box)


def resize(
    image: Any,
    size: Sequence[int],
    resample: int | None = None,
    box: Sequence[float] | None = None,
    reducing_gap: float | None = None,
) -> Any:
    """``image.resize``. Pillow does it where ``box`` is a part of the image, or ``reducing_gap`` has an effect.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height).
        resample: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``; None for bicubic.
        box: the part that is resized; None for all.
        reducing_gap: at least 1: first reduces by whole factors, to so many times the size.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no size of an image, another ``resample``, a ``reducing_gap`` below 1, or a box outside the
            image.

    Example:
        >>> from PIL import Image
        >>> resize(Image.new("L", (4, 3)), (8, 6), Image.Resampling.BILINEAR).size
        (8, 6)
    """
    return applied(image, "pillow_resize", size, resample, box, reducing_gap)


def rotate(
    image: Any,
    angle: float,
    resample: int = Image.Resampling.NEAREST,
    expand: int | bool = False,
    center: Sequence[float] | None = None,
    translate: Sequence[float] | None = None,
    fillcolor: float | tuple[float, ...] | str | None = None,
) -> Any:
    """``image.rotate``: counter-clockwise.

    Args:
        image: a PIL image, or an image in progress.
        angle: in degrees.
        resample: 0 (nearest), 2 (bilinear) or 3 (bicubic).
        expand: makes the result so large that all of the image is seen.
        center: (x, y) around which it turns; None for the middle.
        translate: (x, y), by which it is moved after that.
        fillcolor: of what lies outside the image; None for zeros.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image, or ``angle`` no number.
        ValueError: another ``resample``, or no such colour.

    Example:
        >>> from PIL import Image
        >>> rotate(Image.new("L", (40, 30)), 45, expand=True).size
        (50, 50)
    """
    return applied(image, "pillow_rotate", angle, resample, expand, center, translate, fillcolor)


def transform(
    image: Any,
    size: Sequence[int],
    method: Any,
    data: Sequence[Any] | None = None,
    resample: int = Image.Resampling.NEAREST,
    fill: int = 1,
    fillcolor: float | tuple[float, ...] | str | None = None,
) -> Any:
    """``image.transform``: AFFINE, PERSPECTIVE and EXTENT natively, by the coefficients given, others by Pillow.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height) of the result.
        method: of ``Image.Transform``, or an object with ``getdata``, or an ``Image.ImageTransformHandler``.
        data: what the method takes: for AFFINE the six coefficients of a map from output to input.
        resample: 0 (nearest), 2 (bilinear) or 3 (bicubic).
        fill: handed to an ``ImageTransformHandler``; else it has no effect.
        fillcolor: of what lies outside the image; None for zeros.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no data, or another ``method`` or ``resample``.

    Example:
        >>> from PIL import Image
        >>> image = Image.linear_gradient("L")
        >>> transform(image, (2, 2), Image.Transform.AFFINE, (1, 0, 0, 0, 1, 100)).getpixel((0, 0))
        100
    """
    return applied(image, "pillow_transform", size, method, data, resample, fill, fillcolor)
