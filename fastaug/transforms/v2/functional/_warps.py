"""Resizes and warps of images, videos and masks; those of boxes and points are in _geometry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.at_once import FEW_PIXELS, Ways
from fastaug._draft.geometry import FILTERS
from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._fallback import v2 as v2_fallback
from fastaug._image.types import InputT
from fastaug._names import export_functions
from fastaug._program import matrices, v2_arguments
from fastaug.transforms.v2.functional._crops import _Fill
from fastaug.transforms.v2.functional._make import drafted, functional, on_masks, on_pixels

_Interpolation = InterpolationMode | str | int
_NEAREST = InterpolationMode.NEAREST


def _sampling(draft: Any, interpolation: _Interpolation, fill: _Fill) -> tuple[InterpolationMode, Any]:
    """Return the mode and the fill of a warp. Masks are always sampled by the nearest."""
    if isinstance(draft, MaskDraft):
        return _NEAREST, draft.fill_of(fill, True)
    return named_interpolation(interpolation), fill


def _resize(image: PIL.Image.Image, size: Any, interpolation: Any, max_size: int | None, antialias: Any) -> Any:
    if not antialias:
        return NotImplemented
    mode = named_interpolation(interpolation)
    width, height = image.size
    rows, columns = v2_arguments.resized_size(height, width, size, max_size)
    if rows == height and columns == width:
        return image
    if type(rows) is not int or type(columns) is not int:
        return NotImplemented
    # Filters take their time for each sample, so the core has made up for its later start from fewer pixels on.
    if mode is not _NEAREST and max(width * height, rows * columns) * len(image.getbands()) > FEW_PIXELS:
        return NotImplemented
    return image.resize((columns, rows), FILTERS[mode.name][0])


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(_resize, pixels=math.inf))
def resize(
    inpt: InputT,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> InputT:
    """The input in another size, as :class:`~fastaug.transforms.v2.Resize` does it.

    A tensor or a PIL image that has the size already is returned itself.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        size: (height, width); or the short side, as an int or a sequence of one; or None.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest, nearest-exact, bilinear, bicubic
            and lanczos; masks nearest-exact, and nearest instead of all others.
        max_size: limit of the long side, where ``size`` is the short one; its length, where ``size`` is None.
        antialias: whether bilinear and bicubic filters are widened when shrinking. PIL images' always are.

    Raises:
        TypeError: another type of input.
        ValueError: unknown mode; lanczos without antialias; a plane without an axis of channels; ``max_size`` where it
            means nothing, or not above the short side.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resize(torch.zeros(3, 20, 40, dtype=torch.uint8), 10).shape
        torch.Size([3, 10, 20])
    """
    mode = named_interpolation(interpolation)
    draft: Any = inpt
    if isinstance(draft, MaskDraft):
        mode, antialias = mode if mode is InterpolationMode.NEAREST_EXACT else _NEAREST, None
    return drafted(inpt).resize(size, mode, max_size, antialias)


resize_image, resize_video = on_pixels(resize)
resize_mask = on_masks(resize, without="antialias")


@functional(ImageDraft, VideoDraft, MaskDraft)
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
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        top, left: first row and column.
        height, width: rows and columns.
        size: as in :func:`resize`.
        interpolation: as in :func:`resize`, but masks always take the nearest pixel.
        antialias: as in :func:`resize`.

    Raises:
        TypeError: another type of input.
        ValueError: as in :func:`resize`.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resized_crop(torch.tensor([[[1, 2, 3]]]), 0, 1, 1, 2, [1, 4], "nearest")
        tensor([[[2, 2, 3, 3]]])
    """
    draft: Any = inpt
    if isinstance(draft, MaskDraft):
        interpolation, antialias = _NEAREST, None
    return drafted(inpt).resized_crop(top, left, height, width, size, named_interpolation(interpolation), antialias)


resized_crop_image, resized_crop_video = on_pixels(resized_crop)
resized_crop_mask = on_masks(resized_crop, without="interpolation antialias")


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
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        angle: degrees, clockwise.
        translate: to the right and down, in pixels.
        scale: above 0.
        shear: degrees, along x and y; or along x alone.
        interpolation: a mode, its name, or Pillow's integer: nearest, bilinear, or for PIL images bicubic. Masks always
            take the nearest pixel.
        fill: what is outside of the input: a number, or one per channel. None is 0, and tensors fade into it.
        center: (x, y) in pixels from the corner that all turns about; the middle by default.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: unknown mode, wrong length of a sequence, or a scale that is not positive.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.affine(torch.tensor([[[1, 2, 3]]]), angle=0, translate=[1, 0], scale=1.0, shear=[0.0, 0.0])
        tensor([[[0, 1, 2]]])
    """
    mode, fill = _sampling(inpt, interpolation, fill)
    return drafted(inpt).affine(angle, translate, scale, shear, mode, fill, center)


affine_image, affine_video = on_pixels(affine)
affine_mask = on_masks(affine, without="interpolation")


def _turned(image: torch.Tensor, angle: Any, interpolation: Any, expand: Any, center: Any, fill: Any) -> Any:
    """Turn a tensor by quarters of a circle, which is a call of torch."""
    named_interpolation(interpolation)
    if center is not None or not (fill is None or type(fill) in (int, float)) or image.dim() < 2:
        return NotImplemented
    turns, rest = divmod(angle % 360, 90) if type(angle) in (int, float) else (0, 1)
    height, width = image.shape[-2:]
    if rest or not (turns in (0, 2) or expand or height == width):
        return NotImplemented
    return v2_fallback.rot90(image, int(turns))


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(torch=_turned))
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
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        angle: degrees, counter-clockwise.
        interpolation: as in :func:`affine`.
        expand: enlarge the result so that it holds all of the input, turned about its middle.
        center: (x, y) in pixels from the corner that all turns about; the middle by default.
        fill: as in :func:`affine`.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: unknown mode, or wrong length of a sequence.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.rotate(torch.tensor([[[1, 2], [3, 4]]]), 90)
        tensor([[[2, 4],
                 [1, 3]]])
    """
    mode, fill = _sampling(inpt, interpolation, fill)
    return drafted(inpt).rotate(angle, mode, expand, center, fill)


rotate_image, rotate_video = on_pixels(rotate)
rotate_mask = on_masks(rotate, without="interpolation")


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
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        startpoints: (x, y) of the four corners: top left, top right, bottom right, bottom left.
        endpoints: where they go.
        interpolation, fill: as in :func:`affine`.
        coefficients: eight numbers instead of the points: a pixel (x, y) of the result is that of the input at
            ((a x + b y + c) / (g x + h y + 1), (d x + e y + f) / (g x + h y + 1)).

    Raises:
        TypeError: another type of input.
        ValueError: unknown mode; wrong number of points or coefficients; both, or neither of them.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.perspective(torch.tensor([[[1, 2, 3]]]), None, None, "nearest", coefficients=[1, 0, 1, 0, 1, 0, 0, 0])
        tensor([[[2, 3, 0]]])
    """
    numbers = matrices.checked_coefficients(startpoints, endpoints, coefficients)
    mode, fill = _sampling(inpt, interpolation, fill)
    return drafted(inpt).project(numbers, mode, fill)


perspective_image, perspective_video = on_pixels(perspective)
perspective_mask = on_masks(perspective, without="interpolation")


@functional(ImageDraft, VideoDraft, MaskDraft)
def elastic(
    inpt: InputT,
    displacement: torch.Tensor,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    fill: _Fill = None,
) -> InputT:
    """The input with its pixels displaced, as :class:`~fastaug.transforms.v2.ElasticTransform` does it.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        displacement: floating point tensor of shape (1, height, width, 2): how far to the right and down of each pixel
            of the result it lies in the input, as a share of half the width and height.
        interpolation: a mode, its name, or Pillow's integer: nearest, bilinear, bicubic. Masks take the nearest pixel.
        fill: what is outside of the input: a number, or one per channel. None is 0, and tensors fade into it.

    Raises:
        TypeError: another type of input, or a displacement that is not a tensor.
        ValueError: a displacement of another shape, or an unknown mode.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> step = torch.tensor([2 / 3, 0.0]).expand(1, 1, 3, 2)
        >>> F.elastic(torch.tensor([[[1, 2, 3]]]), step, "nearest")
        tensor([[[2, 3, 0]]])
    """
    mode, fill = _sampling(inpt, interpolation, fill)
    return drafted(inpt).elastic_transform(displacement, mode, fill)


elastic_image, elastic_video = on_pixels(elastic)
elastic_mask = on_masks(elastic, without="interpolation")
elastic_transform = elastic

export_functions(globals())
