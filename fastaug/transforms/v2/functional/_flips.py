"""Flips of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._kernels import (
    _PIL,
    Tensor,
    _on_pil,
    _on_tensor,
)
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

__all__: list[str] = [
    "hflip",
    "horizontal_flip",
    "horizontal_flip_image",
    "horizontal_flip_mask",
    "horizontal_flip_video",
    "vertical_flip",
    "vertical_flip_image",
    "vertical_flip_mask",
    "vertical_flip_video",
    "vflip",
]


def horizontal_flip(inpt: InputT) -> InputT:
    """The input mirrored left to right, as :class:`~fastaug.transforms.v2.RandomHorizontalFlip` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., height, width) and any
            dtype, or a tv_tensor.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.horizontal_flip(torch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """
    return _get_kernel(horizontal_flip, type(inpt))(inpt)


@registered(horizontal_flip, ImageDraft, VideoDraft, MaskDraft)
def _hflip(draft: Any) -> None:
    draft.hflip()


@registered(horizontal_flip, torch.Tensor, "Image")
def horizontal_flip_image(image: Tensor) -> Tensor:
    """The kernel of :func:`horizontal_flip` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _hflip)


@registered(horizontal_flip, PIL.Image.Image)
def _horizontal_flip_image_pil(image: _PIL) -> _PIL:
    return _on_pil(image, _hflip)


@registered(horizontal_flip, "Mask")
def horizontal_flip_mask(mask: Tensor) -> Tensor:
    """The kernel of :func:`horizontal_flip` for masks, of shape (..., height, width)."""
    return horizontal_flip_image(mask)


@registered(horizontal_flip, "Video")
def horizontal_flip_video(video: Tensor) -> Tensor:
    """The kernel of :func:`horizontal_flip` for videos, of shape (..., frames, channels, height, width)."""
    return horizontal_flip_image(video)


def vertical_flip(inpt: InputT) -> InputT:
    """The input mirrored top to bottom, as :class:`~fastaug.transforms.v2.RandomVerticalFlip` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., height, width) and any
            dtype, or a tv_tensor.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.vertical_flip(torch.tensor([[[1], [2]]]))
        tensor([[[2],
                 [1]]])
    """
    return _get_kernel(vertical_flip, type(inpt))(inpt)


@registered(vertical_flip, ImageDraft, VideoDraft, MaskDraft)
def _vflip(draft: Any) -> None:
    draft.vflip()


@registered(vertical_flip, torch.Tensor, "Image")
def vertical_flip_image(image: Tensor) -> Tensor:
    """The kernel of :func:`vertical_flip` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _vflip)


@registered(vertical_flip, PIL.Image.Image)
def _vertical_flip_image_pil(image: _PIL) -> _PIL:
    return _on_pil(image, _vflip)


@registered(vertical_flip, "Mask")
def vertical_flip_mask(mask: Tensor) -> Tensor:
    """The kernel of :func:`vertical_flip` for masks, of shape (..., height, width)."""
    return vertical_flip_image(mask)


@registered(vertical_flip, "Video")
def vertical_flip_video(video: Tensor) -> Tensor:
    """The kernel of :func:`vertical_flip` for videos, of shape (..., frames, channels, height, width)."""
    return vertical_flip_image(video)


hflip = horizontal_flip
vflip = vertical_flip
