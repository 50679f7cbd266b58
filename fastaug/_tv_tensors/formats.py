"""Formats of boxes, and conversions between them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Names of formats. Code compares these, because torchvision's enumeration and ours differ.
PLAIN = ("XYXY", "XYWH", "CXCYWH")
ROTATED = ("XYWHR", "CXCYWHR", "XYXYXYXY")


def clamping_mode_of(boxes: Any) -> str | None:
    """Return the clamping mode of boxes: "soft" in releases of torchvision without that attribute."""
    mode: str | None = getattr(boxes, "clamping_mode", "soft")
    return mode


def format_name(format: Any) -> str:
    """Return the name of a BoundingBoxFormat, or of a string in upper or lower case.

    Raises:
        KeyError: a string that names no format.
        ValueError: neither a format nor a string.
    """
    name = format.upper() if isinstance(format, str) else getattr(format, "name", None)
    if name in PLAIN or name in ROTATED:
        return str(name)
    if isinstance(format, str):
        raise KeyError(f"format must be one of {', '.join(PLAIN + ROTATED)}, got {format!r}")
    raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")


def numbers_of(name: str) -> int:
    """Return how many numbers a box has."""
    return 8 if name == "XYXYXYXY" else 5 if name in ROTATED else 4


def converted(boxes: Tensor, old: str, new: str, inplace: bool = False) -> Tensor:
    """Convert boxes (..., numbers) of any dtype by torch, in torchvision's order of operations, for equal roundings.

    Args:
        boxes: tensor; `inplace` overwrites it if both formats have as many numbers.
        old, new: names of the formats.

    Raises:
        ValueError: one of the formats is of rotated boxes, and the other is not.
    """
    if new == old:
        return boxes
    if (old in ROTATED) != (new in ROTATED):
        raise ValueError(f"Cannot convert between rotated and unrotated bounding boxes, got {old} and {new}.")
    if old in ROTATED:
        return _between_rotated(boxes, old, new, inplace)
    result = boxes if inplace else boxes.clone()
    if old == "CXCYWH":
        return _from_centers(result, new)
    if old == "XYWH":
        if new == "CXCYWH":
            result[..., :2].add_(_halves(result[..., 2:]))
        else:
            result[..., 2:].add_(result[..., :2])
        return result
    result[..., 2:].sub_(result[..., :2])
    if new == "CXCYWH":
        twice = result[..., :2].mul_(2).add_(result[..., 2:])
        result[..., :2] = _halves(twice)
    return result


def _halves(values: Tensor) -> Tensor:
    """Halve, rounding integers down."""
    return values.div(2, rounding_mode=None if values.is_floating_point() else "floor")


def _from_centers(boxes: Tensor, new: str) -> Tensor:
    """Convert CXCYWH in place. Integers go through float32, whose truncation also shortens width and height."""
    real = boxes if boxes.is_floating_point() else boxes.float()
    first = real[..., :2] - real[..., 2:] / 2
    last = first + real[..., 2:]
    if new == "XYWH":
        if real is not boxes:
            boxes[..., 2:] = last.to(boxes.dtype) - first.to(boxes.dtype)
    else:
        boxes[..., 2:] = last
    boxes[..., :2] = first
    return boxes


def _between_rotated(boxes: Tensor, old: str, new: str, inplace: bool) -> Tensor:
    if old == "XYXYXYXY":
        boxes, inplace = _without_corners(boxes), True
    elif old == "CXCYWHR":
        boxes = _moved_by_half(boxes if inplace else boxes.clone(), -1)
        inplace = True
    if new == "CXCYWHR":
        return _moved_by_half(boxes if inplace else boxes.clone(), 1)
    return _with_corners(boxes) if new == "XYXYXYXY" else boxes


def _turn(boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines of the angles of boxes."""
    radians = boxes[..., 4].mul(torch.pi).div(180.0)
    return radians.cos(), radians.sin()


def _moved_by_half(boxes: Tensor, sign: int) -> Tensor:
    """Move corners to the middles of their boxes in place, or back with -1."""
    mode = None if boxes.is_floating_point() else "floor"
    half = boxes[..., 2:-1].div(-2, rounding_mode=mode).abs_()
    cos, sin = _turn(boxes)
    across, down = half[..., 0], half[..., 1]
    # a - b is a + (-b), to the bit.
    boxes[..., 0].add_(across.mul(cos), alpha=sign).add_(down.mul(sin), alpha=sign)
    boxes[..., 1].sub_(across.mul(sin), alpha=sign).add_(down.mul(cos), alpha=sign)
    return boxes


def _with_corners(boxes: Tensor) -> Tensor:
    """Convert XYWHR to XYXYXYXY."""
    width, height = boxes[..., 2], boxes[..., 3]
    cos, sin = _turn(boxes)
    right, rise = width.mul(cos), width.mul(sin)
    shift, fall = height.mul(sin), height.mul(cos)
    corners = boxes[..., :2].tile((1, 4))
    corners[..., 2].add_(right)
    corners[..., 3].sub_(rise)
    corners[..., 4].add_(right + shift)
    corners[..., 5].sub_(rise - fall)
    corners[..., 6].add_(shift)
    corners[..., 7].add_(fall)
    return corners


def _without_corners(boxes: Tensor) -> Tensor:
    """Convert XYXYXYXY to XYWHR, by float32 at least, as squares of small floats would overflow."""
    real = boxes if boxes.dtype in (torch.float32, torch.float64) else boxes.to(torch.float32)
    x1, y1, x2, y2, x3, y3 = real[..., :6].unbind(-1)
    angle = torch.atan2(y1.sub(y2), x2.sub(x1)).div_(torch.pi).mul_(180.0)
    width = (x2 - x1).pow(2).add((y2 - y1).pow(2)).sqrt()
    height = (x3 - x2).pow(2).add((y3 - y2).pow(2)).sqrt()
    return torch.stack((x1, y1, width, height, angle), -1).to(boxes.dtype)
