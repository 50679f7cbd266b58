"""What transforms do to boxes and points, by the native core.

Each function changes what it is given, or returns False where that needs torch, and has changed nothing then. Points
are given an empty tuple for `clamping`, and boxes whether they are cut to the canvas afterwards.
"""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import torch
from torch import Tensor

from fastaug import _C
from fastaug._program.eager import traced
from fastaug._tv_tensors import maps
from fastaug._tv_tensors.formats import PLAIN

Places: TypeAlias = Any  # _C.Boxes | _C.Points, whose methods differ by the clamping
Clamping: TypeAlias = "tuple[()] | tuple[bool]"

_TYPES = {torch.float32: 0, torch.float64: 1, torch.int64: 2}
assert {str(dtype)[6:]: code for dtype, code in _TYPES.items()} == _C.COORDINATES
_DTYPES = {str(dtype)[6:]: dtype for dtype in _TYPES}


def _readable(tensor: Tensor) -> bool:
    return (
        type(tensor) is Tensor
        and tensor.is_cpu
        and not tensor.requires_grad
        and tensor.layout is torch.strided
        and not tensor.is_neg()
        and not traced()
        and torch.get_default_dtype() is torch.float32
    )


def _whole(a: Any, b: Any, c: Any = 0, d: Any = 0) -> bool:
    return type(a) is type(b) is type(c) is type(d) is int


def held_boxes(boxes: Tensor, name: str, canvas_size: Any) -> _C.Boxes | None:
    """A copy of boxes for the core; None where only torch moves them.

    Those are turned boxes; boxes on devices, of other dtypes than float32, float64 and int64, or that autograd follows;
    and all boxes while torch traces.
    """
    code = _TYPES.get(boxes.dtype)
    if code is None or name not in PLAIN or not boxes.ndim or boxes.shape[-1] != 4 or not _readable(boxes):
        return None
    height, width = canvas_size
    if not _whole(height, width):
        return None
    rows = boxes if boxes.ndim == 2 else boxes.reshape(-1, 4)
    row, column = rows.stride()
    return _C.Boxes(rows.data_ptr(), rows.shape[0], row, column, code, PLAIN.index(name), height, width)


def held_points(points: Tensor, canvas_size: Any) -> _C.Points | None:
    """A copy of points for the core; None where only torch moves them, as for boxes."""
    code = _TYPES.get(points.dtype)
    if code is None or not points.ndim or points.shape[-1] != 2 or not _readable(points):
        return None
    height, width = canvas_size
    if not _whole(height, width):
        return None
    rows = points if points.ndim == 2 else points.reshape(-1, 2)
    row, column = rows.stride()
    return _C.Points(rows.data_ptr(), rows.shape[0], row, column, code, height, width)


def readable_mask(mask: Tensor, count: int) -> bool:
    """Whether the core reads a tensor of bools, one for each of so many."""
    return mask.dtype is torch.bool and mask.shape == (count,) and mask.is_contiguous() and _readable(mask)


def tensor_of(places: Places, shape: Any) -> Tensor:
    """Their numbers now, as a new tensor."""
    tensor = torch.empty(shape, dtype=_DTYPES[places.type], device="cpu")
    places.into(tensor.data_ptr())
    return tensor


def crop(places: Places, clamping: Clamping, top: Any, left: Any, height: Any, width: Any) -> bool:
    if not _whole(top, left, height, width):
        return False
    places.crop(top, left, height, width, *clamping)
    return True


def pad(places: Places, clamping: Clamping, padding: Any) -> bool:
    left, top, right, bottom = maps.padding_sides(padding)
    if not _whole(left, top, right, bottom):
        return False
    places.pad(left, top, right, bottom, *clamping)
    return True


def resize_to(places: Places, height: Any, width: Any) -> bool:
    if not _whole(height, width):
        return False
    places.resize(height, width)
    return True


def resized_crop(places: Places, clamping: Clamping, top: Any, left: Any, height: Any, width: Any, size: Any) -> bool:
    new_height, new_width = maps.resized_canvas((height, width), size, None)
    if not _whole(top, left, height, width) or not _whole(new_height, new_width):
        return False
    places.crop(top, left, height, width, *clamping)
    places.resize(new_height, new_width)
    return True


def center_crop(places: Places, clamping: Clamping, output_size: Any) -> bool:
    height, width = maps.output_size(output_size)
    top, left = maps.central_corner(height, width, places.canvas)
    return crop(places, clamping, top, left, height, width)


def affine(
    places: Places,
    clamping: Clamping,
    angle: Any,
    translate: Any,
    scale: Any,
    shear: Any,
    center: Any,
    expand: bool = False,
) -> bool:
    if places.count:
        forth, back = maps.affine_matrices(places.canvas, angle, translate, scale, shear, center)
        places.affine(forth, back if expand else None, *clamping)
    return True


def rotate(places: Places, clamping: Clamping, angle: Any, expand: bool, center: Any) -> bool:
    return affine(places, clamping, -angle, [0.0, 0.0], 1.0, [0.0, 0.0], center, expand)


def perspective(
    places: Places, clamping: Clamping, startpoints: Any, endpoints: Any, coefficients: Any, of: str
) -> bool:
    if places.count:
        numbers = maps.checked_coefficients(startpoints, endpoints, coefficients)
        places.perspective(maps.inverse_perspective(numbers, of), *clamping)
    return True


@functools.lru_cache(maxsize=64)
def _along(size: int, dtype: torch.dtype) -> Tensor:
    """Where the pixels along an axis lie, in grid_sample's units."""
    return torch.linspace((-size + 1) / size, (size - 1) / size, size, dtype=dtype, device="cpu")


def elastic(places: Places, clamping: Clamping, displacement: Any) -> bool:
    maps.check_displacement(displacement, places.canvas)
    if not places.count:
        return True
    if displacement.dtype not in (torch.float32, torch.float64) or not displacement.numel():
        return False
    if not _readable(displacement):
        return False
    dtype = torch.float64 if places.type == "float64" else torch.float32
    height, width = places.canvas
    across, down = _along(width, dtype), _along(height, dtype)
    doubles = displacement.dtype is torch.float64
    strides = displacement.stride()[1:]
    places.elastic(displacement.data_ptr(), doubles, *strides, across.data_ptr(), down.data_ptr(), *clamping)
    return True


def convert(boxes: _C.Boxes, name: str) -> bool:
    if name not in PLAIN:
        return False
    boxes.convert(PLAIN.index(name))
    return True


def valid_boxes(boxes: _C.Boxes, min_size: Any, min_area: Any) -> Tensor | None:
    """Which boxes are large enough and wholly on the canvas; None where only torch says so."""
    if type(min_size) not in (int, float) or type(min_area) not in (int, float):
        return None
    valid = torch.empty(boxes.count, dtype=torch.bool, device="cpu")
    boxes.valid(min_size, min_area, valid.data_ptr())
    return valid


def valid_points(points: _C.Points, shape: Any) -> Tensor:
    """Which groups of points, or points of two dimensions, are wholly on the canvas."""
    valid = torch.empty(shape[0], dtype=torch.bool, device="cpu")
    group = points.count // shape[0] if shape[0] else 0
    points.valid(group, shape[0], valid.data_ptr())
    return valid
