"""Functions of ``PIL.ImageOps``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PIL import Image

from fastaug._draft.progress import by_pillow
from fastaug._names import export_functions


def solarize(image: Any, threshold: float = 128) -> Any:
    """Invert all samples of at least ``threshold``, as ``ImageOps.solarize`` does.

    Example:
        >>> from PIL import Image
        >>> solarize(Image.new("L", (1, 1), 200)).getpixel((0, 0))
        55
    """
    return by_pillow(image, "pillow_solarize", threshold)


def posterize(image: Any, bits: int) -> Any:
    """Keep the upper bits of samples, 1 to 8 of them, as ``ImageOps.posterize`` does.

    Example:
        >>> from PIL import Image
        >>> posterize(Image.new("L", (1, 1), 200), 2).getpixel((0, 0))
        192
    """
    return by_pillow(image, "pillow_posterize", bits)


def equalize(image: Any, mask: Image.Image | None = None) -> Any:
    """Flatten the histogram of each channel, as ``ImageOps.equalize`` does. Mode P becomes RGB.

    Example:
        >>> from PIL import Image
        >>> equalize(Image.linear_gradient("L")).getpixel((0, 255))
        255
    """
    return by_pillow(image, "pillow_equalize", mask)


def autocontrast(
    image: Any,
    cutoff: float | tuple[float, float] = 0,
    ignore: int | Sequence[int] | None = None,
    mask: Image.Image | None = None,
    preserve_tone: bool = False,
) -> Any:
    """Stretch each channel to 0..255, with a cutoff in percent of pixels, as ``ImageOps.autocontrast`` does.

    Example:
        >>> from PIL import Image
        >>> image = Image.linear_gradient("L").crop((0, 100, 1, 151))
        >>> autocontrast(image).getextrema()
        (0, 255)
    """
    return by_pillow(image, "pillow_autocontrast", cutoff, ignore, mask, preserve_tone)


def invert(image: Any) -> Any:
    """Replace each sample by 255 minus its value, as ``ImageOps.invert`` does.

    Example:
        >>> from PIL import Image
        >>> invert(Image.new("L", (1, 1), 5)).getpixel((0, 0))
        250
    """
    return by_pillow(image, "pillow_invert")


def grayscale(image: Any) -> Any:
    """Convert to mode L, as ``ImageOps.grayscale`` does.

    Example:
        >>> from PIL import Image
        >>> grayscale(Image.new("RGB", (1, 1), (255, 0, 0))).mode
        'L'
    """
    return by_pillow(image, "pillow_convert", "L", None, None, 0, 256)


def mirror(image: Any) -> Any:
    """Swap left and right, as ``ImageOps.mirror`` does.

    Example:
        >>> from PIL import Image
        >>> mirror(Image.new("L", (4, 3))).size
        (4, 3)
    """
    return by_pillow(image, "pillow_transpose", Image.Transpose.FLIP_LEFT_RIGHT)


def flip(image: Any) -> Any:
    """Swap top and bottom, as ``ImageOps.flip`` does.

    Example:
        >>> from PIL import Image
        >>> flip(Image.new("L", (4, 3))).size
        (4, 3)
    """
    return by_pillow(image, "pillow_transpose", Image.Transpose.FLIP_TOP_BOTTOM)


def exif_transpose(image: Any) -> Any:
    """Turn the image upright by its EXIF orientation and remove that, as ``ImageOps.exif_transpose`` does.

    Example:
        >>> from PIL import Image
        >>> image = Image.new("L", (4, 3))
        >>> image.getexif()[0x0112] = 6
        >>> exif_transpose(image).size
        (3, 4)
    """
    return by_pillow(image, "pillow_exif_transpose")


def crop_border(image: Any, border: int | tuple[int, ...] = 0) -> Any:
    """Remove a border of pixels, as ``ImageOps.crop`` does.

    It is one number, (left and right, top and bottom), or (left, top, right, bottom).

    Example:
        >>> from PIL import Image
        >>> crop_border(Image.new("L", (4, 3)), 1).size
        (2, 1)
    """
    return by_pillow(image, "pillow_crop_border", border)


def fit(
    image: Any,
    size: Sequence[int],
    method: int = Image.Resampling.BICUBIC,
    bleed: float = 0.0,
    centering: Sequence[float] = (0.5, 0.5),
) -> Any:
    """Crop to the aspect ratio of ``size`` and resize to it, as ``ImageOps.fit`` does. Pillow computes it if it crops.

    Example:
        >>> from PIL import Image
        >>> fit(Image.new("L", (40, 30)), (8, 8)).size
        (8, 8)
    """
    return by_pillow(image, "pillow_fit", size, method, bleed, centering)


def contain(image: Any, size: Sequence[int], method: int = Image.Resampling.BICUBIC) -> Any:
    """Resize to the largest size within ``size``, keeping the aspect ratio, as ``ImageOps.contain`` does.

    Example:
        >>> from PIL import Image
        >>> contain(Image.new("L", (40, 30)), (8, 8)).size
        (8, 6)
    """
    return by_pillow(image, "pillow_in_proportion", "contain", size, method)


def cover(image: Any, size: Sequence[int], method: int = Image.Resampling.BICUBIC) -> Any:
    """Resize to the smallest size that covers ``size``, keeping the aspect ratio, as ``ImageOps.cover`` does.

    Example:
        >>> from PIL import Image
        >>> cover(Image.new("L", (40, 30)), (9, 9)).size
        (12, 9)
    """
    return by_pillow(image, "pillow_in_proportion", "cover", size, method)


def pad(
    image: Any,
    size: Sequence[int],
    method: int = Image.Resampling.BICUBIC,
    color: str | int | tuple[int, ...] | None = None,
    centering: Sequence[float] = (0.5, 0.5),
) -> Any:
    """Resize like :func:`contain`, on a canvas of exactly ``size``, as ``ImageOps.pad`` does.

    Example:
        >>> from PIL import Image
        >>> pad(Image.new("L", (40, 30)), (8, 8), color=9).getpixel((0, 0))
        9
    """
    return by_pillow(image, "pillow_pad", size, method, color, centering)


def scale(image: Any, factor: float, resample: int = Image.Resampling.BICUBIC) -> Any:
    """Resize by a factor, as ``ImageOps.scale`` does.

    Example:
        >>> from PIL import Image
        >>> scale(Image.new("L", (40, 30)), 0.5).size
        (20, 15)
    """
    return by_pillow(image, "pillow_scale", factor, resample)


def expand(image: Any, border: int | tuple[int, ...] = 0, fill: str | int | tuple[int, ...] = 0) -> Any:
    """Add a border of pixels, given as for :func:`crop_border`, as ``ImageOps.expand`` does.

    Example:
        >>> from PIL import Image
        >>> expand(Image.new("L", (4, 3)), 2, fill=255).size
        (8, 7)
    """
    return by_pillow(image, "pillow_expand", border, fill)


export_functions(globals())
