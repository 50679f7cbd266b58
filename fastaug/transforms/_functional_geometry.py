"""Functions of geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from fastaug import _fallback_tensor
from fastaug._draft import Draft
from fastaug._interpolation import InterpolationMode


def resize(
    img: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The image in another size. The same object comes back when the size does not change.

    Args:
        img: image.
        size: (height, width); or an int or sequence of one for the shorter side, keeping the proportions.
        interpolation: any mode on PIL images and arrays; NEAREST, NEAREST_EXACT, BILINEAR or BICUBIC on tensors.
            NEAREST on tensors follows torch's rule for the source pixel, elsewhere Pillow's.
        max_size: limit of the longer side, where ``size`` is the shorter one.
        antialias: on tensors, whether BILINEAR and BICUBIC widen their filter when shrinking (None means False). PIL
            images and arrays always do.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``, or a ``max_size`` that is not above it.

    Example:
        >>> from PIL import Image
        >>> resize(Image.new("RGB", (40, 30)), 15).size
        (20, 15)
    """
    draft = Draft(img)
    draft.resize(size, interpolation, max_size, antialias)
    return draft.finish()


def pad(
    img: Any, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
) -> Any:
    """The image with a border.

    Args:
        img: image.
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom). Negative
            ones crop.
        fill: colour of a constant border: a number, or one per channel (not on tensors).
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``padding`` or ``fill``, or unknown ``padding_mode``.
        RuntimeError: on tensors, reflection of more pixels than there are.

    Example:
        >>> from PIL import Image
        >>> pad(Image.new("L", (4, 3)), (1, 2)).size
        (6, 7)
    """
    draft = Draft(img)
    draft.pad(padding, fill, padding_mode)
    return draft.finish()


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A box of the image, with zeros where it reaches beyond. A box inside a tensor is a view of it.

    Args:
        img: image.
        top: first row.
        left: first column.
        height: rows.
        width: columns.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20).size
        (20, 10)
    """
    if isinstance(img, Tensor):
        return _fallback_tensor.crop(img, top, left, height, width)
    draft = Draft(img)
    draft.crop(top, left, height, width)
    return draft.finish()


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the image, with zeros around it where it is smaller than that.

    Args:
        img: image.
        output_size: (height, width), or an int or sequence of one for a square.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> center_crop(Image.new("RGB", (40, 30)), (50, 20)).size
        (20, 50)
    """
    draft = Draft(img)
    draft.center_crop(output_size)
    return draft.finish()


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """A box of the image, resized. Pixels outside the box do not count.

    Args:
        img: image.
        top: first row.
        left: first column.
        height: rows.
        width: columns.
        size: as in :func:`resize`.
        interpolation: as in :func:`resize`.
        antialias: as in :func:`resize`.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``.

    Example:
        >>> from PIL import Image
        >>> resized_crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20, (5, 5)).size
        (5, 5)
    """
    draft = Draft(img)
    draft.crop(top, left, height, width)
    draft.resize(size, interpolation, None, antialias)
    return draft.finish()


def hflip(img: Any) -> Any:
    """The image mirrored left to right.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> hflip(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.hflip()
    return draft.finish()


def vflip(img: Any) -> Any:
    """The image turned upside down, as a mirror does.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> vflip(torch.tensor([[[1], [2]]], dtype=torch.uint8))
        tensor([[[2],
                 [1]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.vflip()
    return draft.finish()


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: float | Sequence[float] | None = None,
) -> Any:
    """The image rotated.

    Args:
        img: image.
        angle: degrees, counter-clockwise.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors).
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners: a number, one per channel, or None for 0.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``fill``, or an interpolation that rotation does not have.

    Example:
        >>> from PIL import Image
        >>> rotate(Image.new("RGB", (40, 30)), 90, expand=True).size
        (30, 40)
    """
    draft = Draft(img)
    draft.rotate(angle, interpolation, expand, center, fill)
    return draft.finish()
