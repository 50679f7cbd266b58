"""Affine maps and rotations of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._kernels import _NEAREST, Tensor, _Fill, _Interpolation, sampling
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_masks, on_pillow, on_videos

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


@functional(ImageDraft, VideoDraft, MaskDraft)
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
    mode, fill = sampling(inpt, interpolation, fill)
    return drafted(inpt).affine(angle, translate, scale, shear, mode, fill, center)


affine_image = on_images(affine)
_affine_image_pil = on_pillow(affine)
_affine_mask = on_masks(affine)
affine_video = on_videos(affine)


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
    return _affine_mask(mask, angle, translate, scale, shear, _NEAREST, fill, center)


@functional(ImageDraft, VideoDraft, MaskDraft)
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
    mode, fill = sampling(inpt, interpolation, fill)
    return drafted(inpt).rotate(angle, mode, expand, center, fill)


rotate_image = on_images(rotate)
_rotate_image_pil = on_pillow(rotate)
_rotate_mask = on_masks(rotate)
rotate_video = on_videos(rotate)


def rotate_mask(
    mask: Tensor,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`rotate` for masks, of shape (..., height, width)."""
    return _rotate_mask(mask, angle, _NEAREST, expand, center, fill)
