"""Perspectives and elastic warps of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence

from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug._program import matrices
from fastaug.transforms.v2.functional._kernels import _NEAREST, Tensor, _Fill, _Interpolation, sampling
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_masks, on_pillow, on_videos

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


@functional(ImageDraft, VideoDraft, MaskDraft)
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
    numbers = matrices.checked_coefficients(startpoints, endpoints, coefficients)
    mode, fill = sampling(inpt, interpolation, fill)
    return drafted(inpt).project(numbers, mode, fill)


perspective_image = on_images(perspective)
_perspective_image_pil = on_pillow(perspective)
_perspective_mask = on_masks(perspective)
perspective_video = on_videos(perspective)


def perspective_mask(
    mask: Tensor,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    fill: _Fill = None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for masks, of shape (..., height, width)."""
    return _perspective_mask(mask, startpoints, endpoints, _NEAREST, fill, coefficients)


@functional(ImageDraft, VideoDraft, MaskDraft)
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
    mode, fill = sampling(inpt, interpolation, fill)
    return drafted(inpt).elastic_transform(displacement, mode, fill)


elastic_transform = elastic


elastic_image = on_images(elastic)
_elastic_image_pil = on_pillow(elastic)
_elastic_mask = on_masks(elastic)
elastic_video = on_videos(elastic)


def elastic_mask(mask: Tensor, displacement: Tensor, fill: _Fill = None) -> Tensor:
    """The kernel of :func:`elastic` for masks, of shape (..., height, width)."""
    return _elastic_mask(mask, displacement, _NEAREST, fill)
