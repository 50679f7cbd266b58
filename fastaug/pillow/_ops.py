"""What ``PIL.ImageOps`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PIL import Image

from fastaug._draft.progress import applied


def solarize(image: Any, threshold: float = 128) -> Any:
    """``ImageOps.solarize``: samples from a threshold on are inverted.

    Args:
        image: a PIL image, or an image in progress.
        threshold: the least sample that is inverted.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        OSError: a mode other than L, RGB and P.

    Example:
        >>> from PIL import Image
        >>> solarize(Image.new("L", (1, 1), 200)).getpixel((0, 0))
        55
    """
    return applied(image, "pillow_solarize", threshold)


def posterize(image: Any, bits: int) -> Any:
    """``ImageOps.posterize``: only the upper bits of samples are kept.

    Args:
        image: a PIL image, or an image in progress.
        bits: how many, 1 to 8.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: other ``bits``.
        OSError: a mode other than L, RGB and P.

    Example:
        >>> from PIL import Image
        >>> posterize(Image.new("L", (1, 1), 200), 2).getpixel((0, 0))
        192
    """
    return applied(image, "pillow_posterize", bits)


def equalize(image: Any, mask: Image.Image | None = None) -> Any:
    """``ImageOps.equalize``: each channel's histogram becomes as even as it can.

    Args:
        image: a PIL image, or an image in progress.
        mask: image of mode 1 or L whose nonzero pixels are counted; None for all.

    Returns:
        An image of the same mode; of RGB for P.

    Raises:
        TypeError: ``image`` is no PIL image.
        OSError: a mode other than L, RGB and P.

    Example:
        >>> from PIL import Image
        >>> equalize(Image.linear_gradient("L")).getpixel((0, 255))
        255
    """
    return applied(image, "pillow_equalize", mask)


def autocontrast(
    image: Any,
    cutoff: float | tuple[float, float] = 0,
    ignore: int | Sequence[int] | None = None,
    mask: Image.Image | None = None,
    preserve_tone: bool = False,
) -> Any:
    """``ImageOps.autocontrast``: each channel is stretched to 0..255.

    Args:
        image: a PIL image, or an image in progress.
        cutoff: percent of the pixels that may be clipped, or two of them, of the darkest and of the lightest.
        ignore: a sample, or several, that are not counted.
        mask: image of mode 1 or L whose nonzero pixels are counted; None for all.
        preserve_tone: stretches all channels alike, by their gray.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        OSError: a mode other than L and RGB.

    Example:
        >>> from PIL import Image
        >>> image = Image.linear_gradient("L").crop((0, 100, 1, 151))
        >>> autocontrast(image).getextrema()
        (0, 255)
    """
    return applied(image, "pillow_autocontrast", cutoff, ignore, mask, preserve_tone)


def invert(image: Any) -> Any:
    """``ImageOps.invert``: 255 less every sample.

    Args:
        image: a PIL image, or an image in progress.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        OSError: a mode other than 1, L, RGB and P.

    Example:
        >>> from PIL import Image
        >>> invert(Image.new("L", (1, 1), 5)).getpixel((0, 0))
        250
    """
    return applied(image, "pillow_invert")


def grayscale(image: Any) -> Any:
    """``ImageOps.grayscale``: the image in mode L.

    Args:
        image: a PIL image, or an image in progress.

    Returns:
        An image of mode L.

    Raises:
        TypeError: ``image`` is no PIL image.

    Example:
        >>> from PIL import Image
        >>> grayscale(Image.new("RGB", (1, 1), (255, 0, 0))).mode
        'L'
    """
    return applied(image, "pillow_convert", "L", None, None, 0, 256)


def mirror(image: Any) -> Any:
    """``ImageOps.mirror``: left and right exchanged.

    Args:
        image: a PIL image, or an image in progress.

    Returns:
        An image of the same mode and size.

    Raises:
        TypeError: ``image`` is no PIL image.

    Example:
        >>> from PIL import Image
        >>> mirror(Image.new("L", (4, 3))).size
        (4, 3)
    """
    return applied(image, "pillow_transpose", Image.Transpose.FLIP_LEFT_RIGHT)


def flip(image: Any) -> Any:
    """``ImageOps.flip``: top and bottom exchanged.

    Args:
        image: a PIL image, or an image in progress.

    Returns:
        An image of the same mode and size.

    Raises:
        TypeError: ``image`` is no PIL image.

    Example:
        >>> from PIL import Image
        >>> flip(Image.new("L", (4, 3))).size
        (4, 3)
    """
    return applied(image, "pillow_transpose", Image.Transpose.FLIP_TOP_BOTTOM)


def exif_transpose(image: Any) -> Any:
    """``ImageOps.exif_transpose``: upright, as the EXIF orientation says, which is then removed.

    Args:
        image: a PIL image, or an image in progress.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (4, 3))
        >>> image.getexif()[0x0112] = 6
        >>> exif_transpose(image).size
        (3, 4)
    """
    return applied(image, "pillow_exif_transpose")


def crop_border(image: Any, border: int | tuple[int, ...] = 0) -> Any:
    """``ImageOps.crop``: the image without its border.

    Args:
        image: a PIL image, or an image in progress.
        border: pixels, for all sides; or two, left and right, top and bottom; or four, left, top, right,
            bottom.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: a tuple of another length, or a border larger than the image.

    Example:
        >>> from PIL import Image
        >>> crop_border(Image.new("L", (4, 3)), 1).size
        (2, 1)
    """
    return applied(image, "pillow_crop_border", border)


def fit(
    image: Any,
    size: Sequence[int],
    method: int = Image.Resampling.BICUBIC,
    bleed: float = 0.0,
    centering: Sequence[float] = (0.5, 0.5),
) -> Any:
    """``ImageOps.fit``: cropped to the proportions of a size, and resized to it.

    Pillow does it where pixels are cropped.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height).
        method: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``.
        bleed: share of the image that is cut off at each side before, below 0.5.
        centering: shares of what is cropped that are cropped left and at the top.

    Returns:
        An image of that size.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no size of an image, or another ``method``.

    Example:
        >>> from PIL import Image
        >>> fit(Image.new("L", (40, 30)), (8, 8)).size
        (8, 8)
    """
    return applied(image, "pillow_fit", size, method, bleed, centering)


def contain(image: Any, size: Sequence[int], method: int = Image.Resampling.BICUBIC) -> Any:
    """``ImageOps.contain``: resized to the largest size of the same proportions inside of one.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height).
        method: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``.

    Returns:
        An image.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no size of an image, or another ``method``.

    Example:
        >>> from PIL import Image
        >>> contain(Image.new("L", (40, 30)), (8, 8)).size
        (8, 6)
    """
    return applied(image, "pillow_contain", size, method)


def cover(image: Any, size: Sequence[int], method: int = Image.Resampling.BICUBIC) -> Any:
    """``ImageOps.cover``: resized to the smallest size of the same proportions around one.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height).
        method: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``.

    Returns:
        An image.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no size of an image, or another ``method``.

    Example:
        >>> from PIL import Image
        >>> cover(Image.new("L", (40, 30)), (9, 9)).size
        (12, 9)
    """
    return applied(image, "pillow_cover", size, method)


def pad(
    image: Any,
    size: Sequence[int],
    method: int = Image.Resampling.BICUBIC,
    color: str | int | tuple[int, ...] | None = None,
    centering: Sequence[float] = (0.5, 0.5),
) -> Any:
    """``ImageOps.pad``: as ``contain``, on a canvas of the size that was asked for.

    Args:
        image: a PIL image, or an image in progress.
        size: (width, height).
        method: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``.
        color: of the canvas; None for zeros.
        centering: shares of what is empty that are left of the image and above it.

    Returns:
        An image of that size.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: no size of an image, another ``method``, or no such colour.

    Example:
        >>> from PIL import Image
        >>> pad(Image.new("L", (40, 30)), (8, 8), color=9).getpixel((0, 0))
        9
    """
    return applied(image, "pillow_pad", size, method, color, centering)


def scale(image: Any, factor: float, resample: int = Image.Resampling.BICUBIC) -> Any:
    """``ImageOps.scale``: resized by a factor.

    Args:
        image: a PIL image, or an image in progress.
        factor: more than 0.
        resample: 0 (nearest), 1 (Lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (Hamming), or of
            ``Image.Resampling``.

    Returns:
        An image.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: another ``factor`` or ``resample``.

    Example:
        >>> from PIL import Image
        >>> scale(Image.new("L", (40, 30)), 0.5).size
        (20, 15)
    """
    return applied(image, "pillow_scale", factor, resample)


def expand(image: Any, border: int | tuple[int, ...] = 0, fill: str | int | tuple[int, ...] = 0) -> Any:
    """``ImageOps.expand``: the image with a border.

    Args:
        image: a PIL image, or an image in progress.
        border: pixels, for all sides; or two, left and right, top and bottom; or four, left, top, right,
            bottom.
        fill: the colour of the border.

    Returns:
        An image of the same mode.

    Raises:
        TypeError: ``image`` is no PIL image.
        ValueError: a tuple of another length, or no such colour.

    Example:
        >>> from PIL import Image
        >>> expand(Image.new("L", (4, 3)), 2, fill=255).size
        (8, 7)
    """
    return applied(image, "pillow_expand", border, fill)
