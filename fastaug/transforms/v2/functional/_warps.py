"""Perspectives and elastic warps of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug._program import matrices
from fastaug.transforms.v2.functional._kernels import (
    _BILINEAR,
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
    "elastic",
    "elastic_image",
    "elastic_mask",
    "elastic_transform",
    "elastic_video",
    "perspective",
    "perspective_image",
    "perspective_mask",
    "perspective_video",
]


def perspective(
    inpt: InputT,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> InputT:
    """The input seen from elsewhere, as :class:`~fastaug.transforms.v2.RandomPerspective` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        startpoints: (x, y) of the four corners: top left, top right, bottom right, bottom left.
        endpoints: where they go.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest and bilinear, PIL images bicubic
            too; masks are always sampled by the nearest.
        fill: what is outside of the input: a number, or one for each channel. None is zero, and tensors fade into it.
        coefficients: eight numbers in the place of the points, with which a pixel (x, y) of the result is that at
            ((a x + b y + c) / (g x + h y + 1), (d x + e y + f) / (g x + h y + 1)) of the input.

    Returns:
        A new object of the same type and size.

    Raises:
        TypeError: an object of another type.
        ValueError: a mode that there is not; a wrong number of points or coefficients; both, or neither of them.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.perspective(torch.tensor([[[1, 2, 3]]]), None, None, "nearest", coefficients=[1, 0, 1, 0, 1, 0, 0, 0])
        tensor([[[2, 3, 0]]])
    """
    kernel = _get_kernel(perspective, type(inpt))
    return kernel(
        inpt,
        startpoints=startpoints,
        endpoints=endpoints,
        interpolation=interpolation,
        fill=fill,
        coefficients=coefficients,
    )


@registered(perspective, ImageDraft, VideoDraft)
def _perspective(
    draft: Any,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = _BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> None:
    numbers = matrices.checked_coefficients(startpoints, endpoints, coefficients)
    draft.project(numbers, named_interpolation(interpolation), fill)


@registered(perspective, MaskDraft)
def _perspective_planes(
    draft: Any,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = _BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> None:
    _perspective(draft, startpoints, endpoints, _NEAREST, draft.fill_of(fill, True), coefficients)


@registered(perspective, torch.Tensor, "Image")
def perspective_image(
    image: Tensor,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _perspective, startpoints, endpoints, interpolation, fill, coefficients)


@registered(perspective, PIL.Image.Image)
def _perspective_image_pil(
    image: _PIL,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> _PIL:
    return _on_pil(image, _perspective, startpoints, endpoints, interpolation, fill, coefficients)


def perspective_mask(
    mask: Tensor,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _perspective_planes, startpoints, endpoints, _NEAREST, fill, coefficients)


@registered(perspective, "Mask")
def _perspective_mask_dispatch(
    mask: Tensor,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
    **kwargs: Any,
) -> Tensor:
    return perspective_mask(mask, startpoints, endpoints, fill, coefficients)


@registered(perspective, "Video")
def perspective_video(
    video: Tensor,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for videos, of shape (..., frames, channels, height, width)."""
    return perspective_image(video, startpoints, endpoints, interpolation, fill, coefficients)


def elastic(
    inpt: InputT,
    displacement: Tensor,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
) -> InputT:
    """The input with its pixels displaced, as :class:`~fastaug.transforms.v2.ElasticTransform` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        displacement: of shape (1, height, width, 2) and any floating point dtype: how far to the right and down of each
            pixel of the result it lies in the input; half the input's width and height are one.
        interpolation: a mode, its name, or Pillow's integer: nearest, bilinear or bicubic; masks are always sampled by
            the nearest.
        fill: what is outside of the input: a number, or one for each channel. None is zero, faded into.

    Returns:
        A new object of the same type and size.

    Raises:
        TypeError: an object of another type, or a displacement that is no tensor.
        ValueError: a displacement of another shape, or a mode that there is not.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> step = torch.tensor([2 / 3, 0.0]).expand(1, 1, 3, 2)
        >>> F.elastic(torch.tensor([[[1, 2, 3]]]), step, "nearest")
        tensor([[[2, 3, 0]]])
    """
    kernel = _get_kernel(elastic, type(inpt))
    return kernel(inpt, displacement=displacement, interpolation=interpolation, fill=fill)


elastic_transform = elastic


@registered(elastic, ImageDraft, VideoDraft)
def _elastic(draft: Any, displacement: Tensor, interpolation: _Interpolation = _BILINEAR, fill: _Fill = None) -> None:
    draft.elastic_transform(displacement, named_interpolation(interpolation), fill)


@registered(elastic, MaskDraft)
def _elastic_planes(
    draft: Any, displacement: Tensor, interpolation: _Interpolation = _BILINEAR, fill: _Fill = None
) -> None:
    draft.elastic_transform(displacement, _NEAREST, draft.fill_of(fill, True))


@registered(elastic, torch.Tensor, "Image")
def elastic_image(
    image: Tensor,
    displacement: Tensor,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`elastic` for images, of shape (..., channels, height, width)."""
    return _on_tensor(image, _elastic, displacement, interpolation, fill)


@registered(elastic, PIL.Image.Image)
def _elastic_image_pil(
    image: _PIL,
    displacement: Tensor,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
) -> _PIL:
    return _on_pil(image, _elastic, displacement, interpolation, fill)


def elastic_mask(mask: Tensor, displacement: Tensor, fill: _Fill = None) -> Tensor:
    """The kernel of :func:`elastic` for masks, of shape (..., height, width)."""
    return _on_mask(mask, _elastic_planes, displacement, _NEAREST, fill)


@registered(elastic, "Mask")
def _elastic_mask_dispatch(mask: Tensor, displacement: Tensor, fill: _Fill = None, **kwargs: Any) -> Tensor:
    return elastic_mask(mask, displacement, fill)


@registered(elastic, "Video")
def elastic_video(
    video: Tensor,
    displacement: Tensor,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
) -> Tensor:
    """The kernel of :func:`elastic` for videos, of shape (..., frames, channels, height, width)."""
    return elastic_image(video, displacement, interpolation, fill)
