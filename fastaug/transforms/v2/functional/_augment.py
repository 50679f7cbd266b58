"""Erased boxes, JPEG."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._utils import _get_kernel, done, registered

__all__: list[str] = ["erase", "erase_image", "erase_video", "jpeg", "jpeg_image", "jpeg_video"]


def erase(inpt: InputT, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False) -> InputT:
    """The input with a box of it overwritten, as :class:`~fastaug.transforms.v2.RandomErasing` does it.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.
        i: top row of the box.
        j: left column of the box.
        h: height of the box.
        w: width of the box.
        v: what is written, of a shape that broadcasts to that of the box.
        inplace: write into the tensor that is given.

    Raises:
        RuntimeError: ``v`` does not broadcast.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.erase(torch.ones(1, 1, 4), i=0, j=1, h=1, w=2, v=torch.zeros(1, 1, 1))
        tensor([[[1., 0., 0., 1.]]])
    """
    return _get_kernel(erase, type(inpt))(inpt, i=i, j=j, h=h, w=w, v=v, inplace=inplace)


@registered(erase, ImageDraft, VideoDraft)
def _erase(draft: Any, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False) -> None:
    draft.erase_box(i, j, h, w, v, inplace)


@registered(erase, torch.Tensor, "Image")
def erase_image(
    image: torch.Tensor, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False
) -> torch.Tensor:
    """The kernel of :func:`erase` for images, of shape (..., channels, height, width)."""
    erased: torch.Tensor = done(image, _erase, i, j, h, w, v, inplace)
    return erased


@registered(erase, PIL.Image.Image)
def _erase_image_pil(
    image: PIL.Image.Image, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False
) -> PIL.Image.Image:
    erased: PIL.Image.Image = done(image, _erase, i, j, h, w, v, inplace)
    return erased


@registered(erase, "Video")
def erase_video(
    video: torch.Tensor, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False
) -> torch.Tensor:
    """The kernel of :func:`erase` for videos, of shape (..., frames, channels, height, width)."""
    return erase_image(video, i=i, j=j, h=h, w=w, v=v, inplace=inplace)


def jpeg(image: Any, quality: int) -> Any:
    """What is left of the input after it was a JPEG file, as :class:`~fastaug.transforms.v2.JPEG` does it.

    Args:
        image: uint8 image or video of 1 or 3 channels, or a PIL image of a mode that JPEG files have.
        quality: of the file, 1 to 100; libjpeg's number.

    Raises:
        ValueError: quality is not from 1 to 100.
        RuntimeError: another dtype or number of channels.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.jpeg(torch.full((1, 1, 2), 100, dtype=torch.uint8), quality=90)
        tensor([[[100, 100]]], dtype=torch.uint8)
    """
    return _get_kernel(jpeg, type(image))(image, quality=quality)


@registered(jpeg, ImageDraft, VideoDraft)
def _jpeg(draft: Any, quality: int) -> None:
    draft.jpeg(quality)


@registered(jpeg, torch.Tensor, "Image")
def jpeg_image(image: torch.Tensor, quality: int) -> torch.Tensor:
    """The kernel of :func:`jpeg` for images, of shape (..., channels, height, width)."""
    left: torch.Tensor = done(image, _jpeg, quality)
    return left


@registered(jpeg, "Video")
def jpeg_video(video: torch.Tensor, quality: int) -> torch.Tensor:
    """The kernel of :func:`jpeg` for videos, of shape (..., frames, channels, height, width)."""
    return jpeg_image(video, quality=quality)


@registered(jpeg, PIL.Image.Image)
def _jpeg_image_pil(image: PIL.Image.Image, quality: int) -> PIL.Image.Image:
    left: PIL.Image.Image = done(image, _jpeg, quality)
    return left
