"""Resizes of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._kernels import (
    _BILINEAR,
    _NEAREST,
    _PIL,
    Tensor,
    _Interpolation,
    _on_mask,
    _on_pil,
    _on_tensor,
)
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

__all__: list[str] = [
    "resize",
    "resize_image",
    "resize_mask",
    "resize_video",
    "resized_crop",
    "resized_crop_image",
    "resized_crop_mask",
    "resized_crop_video",
]


def resize(
    inpt: InputT,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> InputT:
    """The input in another size, as :class:`~fastaug.transforms.v2.Resize` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        size: (height, width); or the short side, as an int or a sequence of one; or None.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest, nearest-exact, bilinear, bicubic
            and lanczos; masks nearest-exact, and nearest in the place of any other; boxes and points need none.
        max_size: the most that the long side may have, where `size` is the short one; its length, where `size` is None.
        antialias: whether the filter of a bilinear or bicubic resize is as wide as a pixel of the result. PIL images'
            always is.

    Returns:
        An object of the same type; ``inpt`` itself, if it is a tensor or a PIL image that has that size.

    Raises:
        TypeError: an object of another type.
        ValueError: no such mode; lanczos without antialias; a plane without an axis of channels; ``max_size`` where it
            has no meaning, or not above the short side.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resize(torch.zeros(3, 20, 40, dtype=torch.uint8), 10).shape
        torch.Size([3, 10, 20])
    """
    kernel = _get_kernel(resize, type(inpt))
    return kernel(inpt, size=size, interpolation=interpolation, max_size=max_size, antialias=antialias)


@registered(resize, ImageDraft, VideoDraft)
def _resize(
    draft: Any,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = _BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> None:
    draft.resize(size, named_interpolation(interpolation), max_size, antialias)


@registered(resize, MaskDraft)
def _resize_planes(
    draft: Any,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = _BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> None:
    mode = named_interpolation(interpolation)
    draft.resize(size, mode if mode is InterpolationMode.NEAREST_EXACT else _NEAREST, max_size, None)


@registered(resize, torch.Tensor, "Image")
def resize_image(
    image: Tensor,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Tensor:
    """The kernel of :func:`resize` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _resize, size, interpolation, max_size, antialias)


def _resize_image_pil(
    image: _PIL,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> _PIL:
    return _on_pil(image, _resize, size, interpolation, max_size)


@registered(resize, PIL.Image.Image)
def _resize_image_pil_dispatch(
    image: _PIL,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> _PIL:
    return _on_pil(image, _resize, size, interpolation, max_size, antialias)


def resize_mask(
    mask: Tensor,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> Tensor:
    """The kernel of :func:`resize` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _resize_planes, size, interpolation, max_size)


@registered(resize, "Mask")
def _resize_mask_dispatch(
    mask: Tensor,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    **kwargs: Any,
) -> Tensor:
    return resize_mask(mask, size, interpolation, max_size)


@registered(resize, "Video")
def resize_video(
    video: Tensor,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Tensor:
    """The kernel of :func:`resize` for videos, of shape (..., frames, channels, height, width)."""
    return resize_image(video, size, interpolation, max_size, antialias)


def resized_crop(
    inpt: InputT,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> InputT:
    """A box of the input in another size, as :class:`~fastaug.transforms.v2.RandomResizedCrop` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        top: of the box's first row.
        left: of its first column.
        height: of the box.
        width: of the box.
        size: as :func:`resize` takes it.
        interpolation: as :func:`resize` takes it; masks are always sampled by the nearest.
        antialias: as :func:`resize` takes it.

    Returns:
        An object of the same type.

    Raises:
        TypeError: an object of another type.
        ValueError: as of :func:`resize`.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resized_crop(torch.tensor([[[1, 2, 3]]]), 0, 1, 1, 2, [1, 4], "nearest")
        tensor([[[2, 2, 3, 3]]])
    """
    kernel = _get_kernel(resized_crop, type(inpt))
    return kernel(
        inpt,
        top=top,
        left=left,
        height=height,
        width=width,
        size=size,
        interpolation=interpolation,
        antialias=antialias,
    )


@registered(resized_crop, ImageDraft, VideoDraft)
def _resized_crop(
    draft: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = _BILINEAR,
    antialias: bool | None = True,
) -> None:
    draft.resized_crop(top, left, height, width, size, named_interpolation(interpolation), antialias)


@registered(resized_crop, MaskDraft)
def _resized_crop_planes(
    draft: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = _BILINEAR,
    antialias: bool | None = True,
) -> None:
    draft.resized_crop(top, left, height, width, size, _NEAREST, None)


@registered(resized_crop, torch.Tensor, "Image")
def resized_crop_image(
    image: Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Tensor:
    """The kernel of :func:`resized_crop` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _resized_crop, top, left, height, width, size, interpolation, antialias)


def _resized_crop_image_pil(
    image: _PIL,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
) -> _PIL:
    return _on_pil(image, _resized_crop, top, left, height, width, size, interpolation)


@registered(resized_crop, PIL.Image.Image)
def _resized_crop_image_pil_dispatch(
    image: _PIL,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> _PIL:
    return _on_pil(image, _resized_crop, top, left, height, width, size, interpolation, antialias)


def resized_crop_mask(
    mask: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None
) -> Tensor:
    """The kernel of :func:`resized_crop` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _resized_crop_planes, top, left, height, width, size)


@registered(resized_crop, "Mask")
def _resized_crop_mask_dispatch(
    mask: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None, **kwargs: Any
) -> Tensor:
    return resized_crop_mask(mask, top, left, height, width, size)


@registered(resized_crop, "Video")
def resized_crop_video(
    video: Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Tensor:
    """The kernel of :func:`resized_crop` for videos, of shape (..., frames, channels, height, width)."""
    return resized_crop_image(video, top, left, height, width, size, interpolation, antialias)
