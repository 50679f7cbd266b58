"""Affine maps and rotations of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._kernels import (
    _NEAREST,
    _PIL,
    Tensor,
    _Fill,
    _Interpolation,
    _on_mask,
    _on_pil,
    _on_tensor,
)
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

__all__: list[str] = [
    "affine",
    "affine_image",
    "affine_mask",
    "affine_video",
    "rotate",
    "rotate_image",
    "rotate_mask",
    "rotate_video",
]


def affine(
    inpt: InputT,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> InputT:
    """The input turned, moved, scaled and sheared, as :class:`~fastaug.transforms.v2.RandomAffine` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        angle: in degrees, clockwise.
        translate: to the right and down, in pixels.
        scale: above 0.
        shear: in degrees, along x and y; or along x alone.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest and bilinear, PIL images bicubic
            too; masks are always sampled by the nearest.
        fill: what is outside of the input: a number, or one for each channel. None is zero, and tensors fade into it.
        center: (x, y) in pixels from the corner that all turns about; the middle by default.

    Returns:
        A new object of the same type and size.

    Raises:
        TypeError: an object of another type, or an argument of a wrong one.
        ValueError: a mode that there is not; a wrong length of a sequence; a scale that is not positive.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.affine(torch.tensor([[[1, 2, 3]]]), angle=0, translate=[1, 0], scale=1.0, shear=[0.0, 0.0])
        tensor([[[0, 1, 2]]])
    """
    kernel = _get_kernel(affine, type(inpt))
    return kernel(
        inpt,
        angle=angle,
        translate=translate,
        scale=scale,
        shear=shear,
        interpolation=interpolation,
        fill=fill,
        center=center,
    )


@registered(affine, ImageDraft, VideoDraft)
def _affine(
    draft: Any,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = _NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> None:
    draft.affine(angle, translate, scale, shear, named_interpolation(interpolation), fill, center)


@registered(affine, MaskDraft)
def _affine_planes(
    draft: Any,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = _NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> None:
    draft.affine(angle, translate, scale, shear, _NEAREST, draft.fill_of(fill, True), center)


@registered(affine, torch.Tensor, "Image")
def affine_image(
    image: Tensor,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`affine` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _affine, angle, translate, scale, shear, interpolation, fill, center)


@registered(affine, PIL.Image.Image)
def _affine_image_pil(
    image: _PIL,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> _PIL:
    return _on_pil(image, _affine, angle, translate, scale, shear, interpolation, fill, center)


def affine_mask(
    mask: Tensor,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`affine` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _affine_planes, angle, translate, scale, shear, _NEAREST, fill, center)


@registered(affine, "Mask")
def _affine_mask_dispatch(
    mask: Tensor,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
    **kwargs: Any,
) -> Tensor:
    return affine_mask(mask, angle, translate, scale, shear, fill, center)


@registered(affine, "Video")
def affine_video(
    video: Tensor,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    fill: _Fill = None,
    center: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`affine` for videos, of shape (..., frames, channels, height, width)."""
    return affine_image(video, angle, translate, scale, shear, interpolation, fill, center)


def rotate(
    inpt: InputT,
    angle: float,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> InputT:
    """The input turned, as :class:`~fastaug.transforms.v2.RandomRotation` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        angle: in degrees, counter-clockwise.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest and bilinear, PIL images bicubic
            too; masks are always sampled by the nearest.
        expand: whether the result is large enough to hold all of the input, turned about its middle.
        center: (x, y) in pixels from the corner that all turns about; the middle by default.
        fill: what is outside of the input: a number, or one for each channel. None is zero, and tensors fade into it.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type, or an argument of a wrong one.
        ValueError: a mode that there is not; a wrong length of a sequence.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.rotate(torch.tensor([[[1, 2], [3, 4]]]), 90)
        tensor([[[2, 4],
                 [1, 3]]])
    """
    kernel = _get_kernel(rotate, type(inpt))
    return kernel(inpt, angle=angle, interpolation=interpolation, expand=expand, fill=fill, center=center)


@registered(rotate, ImageDraft, VideoDraft)
def _rotate(
    draft: Any,
    angle: float,
    interpolation: _Interpolation = _NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> None:
    draft.rotate(angle, named_interpolation(interpolation), expand, center, fill)


@registered(rotate, MaskDraft)
def _rotate_planes(
    draft: Any,
    angle: float,
    interpolation: _Interpolation = _NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> None:
    draft.rotate(angle, _NEAREST, expand, center, draft.fill_of(fill, True))


@registered(rotate, torch.Tensor, "Image")
def rotate_image(
    image: Tensor,
    angle: float,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`rotate` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _rotate, angle, interpolation, expand, center, fill)


@registered(rotate, PIL.Image.Image)
def _rotate_image_pil(
    image: _PIL,
    angle: float,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> _PIL:
    return _on_pil(image, _rotate, angle, interpolation, expand, center, fill)


def rotate_mask(
    mask: Tensor,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`rotate` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _rotate_planes, angle, _NEAREST, expand, center, fill)


@registered(rotate, "Mask")
def _rotate_mask_dispatch(
    mask: Tensor,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
    **kwargs: Any,
) -> Tensor:
    return rotate_mask(mask, angle, expand, center, fill)


@registered(rotate, "Video")
def rotate_video(
    video: Tensor,
    angle: float,
    interpolation: _Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`rotate` for videos, of shape (..., frames, channels, height, width)."""
    return rotate_image(video, angle, interpolation, expand, center, fill)
