"""Boxes and points in the native core. A function returns None or False where only torch can move them."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import torch
from torch import Tensor

from fastaug import _C
from fastaug._program.eager import traced
from fastaug._tv_tensors.formats import PLAIN

Places: TypeAlias = Any  # _C.Boxes | _C.Points

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


def whole(*numbers: Any) -> bool:
    return all(type(number) is int for number in numbers)


def _held(cls: Any, numbers: Tensor, length: int, canvas_size: Any, *format: int) -> Any:
    code = _TYPES.get(numbers.dtype)
    if code is None or not numbers.ndim or numbers.shape[-1] != length or not _readable(numbers):
        return None
    height, width = canvas_size
    if not whole(height, width):
        return None
    rows = numbers if numbers.ndim == 2 else numbers.reshape(-1, length)
    return cls(rows.data_ptr(), rows.shape[0], *rows.stride(), code, *format, height, width)


def held_boxes(boxes: Tensor, name: str, canvas_size: Any) -> _C.Boxes | None:
    """Copy boxes for the core.

    Only torch moves rotated boxes, boxes on devices, of other dtypes or with gradients, and all boxes while it traces.
    """
    held: _C.Boxes | None = _held(_C.Boxes, boxes, 4, canvas_size, PLAIN.index(name)) if name in PLAIN else None
    return held


def held_points(points: Tensor, canvas_size: Any) -> _C.Points | None:
    held: _C.Points | None = _held(_C.Points, points, 2, canvas_size)
    return held


def readable_mask(mask: Tensor, count: int) -> bool:
    """Return whether the core reads a tensor of `count` bools."""
    return mask.dtype is torch.bool and mask.shape == (count,) and mask.is_contiguous() and _readable(mask)


def tensor_of(places: Places, shape: Any) -> Tensor:
    tensor = torch.empty(shape, dtype=_DTYPES[places.type], device="cpu")
    places.into(tensor.data_ptr())
    return tensor


@functools.lru_cache(maxsize=64)
def _along(size: int, dtype: torch.dtype) -> Tensor:
    """Return the positions of the pixels along an axis, in grid_sample's units."""
    return torch.linspace((-size + 1) / size, (size - 1) / size, size, dtype=dtype, device="cpu")


def elastic(places: Places, clamping: bool, displacement: Tensor) -> bool:
    """Move by a displacement of the canvas's size."""
    doubles = displacement.dtype is torch.float64
    if not (doubles or displacement.dtype is torch.float32) or not displacement.numel() or not _readable(displacement):
        return False
    dtype = torch.float64 if places.type == "float64" else torch.float32
    height, width = places.canvas
    across, down = _along(width, dtype), _along(height, dtype)
    strides = displacement.stride()[1:]
    places.elastic(displacement.data_ptr(), doubles, *strides, across.data_ptr(), down.data_ptr(), clamping)
    return True


def valid_boxes(boxes: _C.Boxes, min_size: Any, min_area: Any) -> Tensor | None:
    """Return which boxes are large enough and wholly on the canvas."""
    if type(min_size) not in (int, float) or type(min_area) not in (int, float):
        return None
    valid = torch.empty(boxes.count, dtype=torch.bool, device="cpu")
    boxes.valid(min_size, min_area, valid.data_ptr())
    return valid


def valid_points(points: _C.Points, shape: Any) -> Tensor:
    """Return which groups of points, or points of two dimensions, are wholly on the canvas."""
    valid = torch.empty(shape[0], dtype=torch.bool, device="cpu")
    group = points.count // shape[0] if shape[0] else 0
    points.valid(group, shape[0], valid.data_ptr())
    return valid
