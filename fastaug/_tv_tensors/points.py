"""torchvision's kernels for key points, on tensors.

Points are (..., 2), x before y, of any dtype and on any device; a canvas is (height, width). Nothing clamps them. No
function changes its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug._tv_tensors import maps, moves
from fastaug._tv_tensors.maps import Canvas


def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for key points; returns them."""
    return _flipped(keypoints, canvas_size[1], 0)


def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for key points; returns them."""
    return _flipped(keypoints, canvas_size[0], 1)


def _flipped(keypoints: Tensor, size: int, axis: int) -> Tensor:
    held = moves.held_points(keypoints, (size, size))
    if held is not None:
        (held.vflip if axis else held.hflip)()
        return moves.tensor_of(held, keypoints.shape)
    points = keypoints.clone().reshape(-1, 2)
    points[:, axis].sub_(size - 1).neg_()
    return points.reshape(keypoints.shape)


def resize_keypoints(
    keypoints: Tensor, size: int | Sequence[int] | None, canvas_size: Canvas, max_size: int | None = None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resize` for key points; returns them and the new canvas, as they were if the size stays."""
    height, width = maps.resized_canvas(canvas_size, size, max_size)
    if (height, width) == tuple(canvas_size):
        return keypoints, canvas_size
    held = moves.held_points(keypoints, canvas_size)
    if held is not None and moves.resize_to(held, height, width):
        return moves.tensor_of(held, keypoints.shape), held.canvas
    ratios = torch.tensor([width / canvas_size[1], height / canvas_size[0]], device=keypoints.device)
    return keypoints.mul(ratios).to(keypoints.dtype), (height, width)


def pad_keypoints(
    keypoints: Tensor, canvas_size: Canvas, padding: int | Sequence[int], padding_mode: str = "constant"
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`pad` for key points; returns them and the new canvas."""
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with KeyPoints, only 'constant' is")
    left, top, right, bottom = maps.padding_sides(padding)
    held = moves.held_points(keypoints, canvas_size)
    if held is not None and moves.pad(held, (), padding):
        return moves.tensor_of(held, keypoints.shape), held.canvas
    shift = torch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device)
    return keypoints + shift, (canvas_size[0] + top + bottom, canvas_size[1] + left + right)


def crop_keypoints(keypoints: Tensor, top: int, left: int, height: int, width: int) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`crop` for key points; returns them and the new canvas."""
    held = moves.held_points(keypoints, (height, width))
    if held is not None and moves.crop(held, (), top, left, height, width):
        return moves.tensor_of(held, keypoints.shape), held.canvas
    shift = torch.tensor([left, top], dtype=keypoints.dtype, device=keypoints.device)
    return keypoints - shift, (height, width)


def center_crop_keypoints(inpt: Tensor, canvas_size: Canvas, output_size: int | Sequence[int]) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for key points; returns them and the new canvas."""
    height, width = maps.output_size(output_size)
    top, left = maps.central_corner(height, width, canvas_size)
    return crop_keypoints(inpt, top, left, height, width)


def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resized_crop` for key points; returns them and the new canvas."""
    points, canvas_size = crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(points, size, canvas_size)


def _affine(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: Any,
    translate: Any,
    scale: Any,
    shear: Any,
    center: Any,
    expand: bool,
) -> tuple[Tensor, Canvas]:
    if keypoints.numel() == 0:
        # With the canvas as it was, even if images expand.
        return keypoints, canvas_size
    held = moves.held_points(keypoints, canvas_size)
    if held is not None:
        moves.affine(held, (), angle, translate, scale, shear, center, expand)
        return moves.tensor_of(held, keypoints.shape), held.canvas
    forth, back = maps.affine_matrices(canvas_size, angle, translate, scale, shear, center)
    points = (keypoints if keypoints.is_floating_point() else keypoints.float()).reshape(-1, 2)
    moved = maps.mapped(points, forth)
    if expand:
        moved.sub_(maps.corner_of(canvas_size, forth, moved))
        canvas_size = maps.expanded_canvas(back, canvas_size)
    return moved.reshape(keypoints.shape).to(keypoints.dtype), canvas_size


def affine_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Sequence[float] | None = None,
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`affine` for key points; returns them and the new canvas."""
    return _affine(keypoints, canvas_size, angle, translate, scale, shear, center, False)


def rotate_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`rotate` for key points; returns them and the new canvas."""
    return _affine(keypoints, canvas_size, -angle, [0.0, 0.0], 1.0, [0.0, 0.0], center, expand)


def perspective_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for key points; returns them."""
    if keypoints.numel() == 0:
        return keypoints
    held = moves.held_points(keypoints, canvas_size)
    if held is not None:
        moves.perspective(held, (), startpoints, endpoints, coefficients, "keypoints")
        return moves.tensor_of(held, keypoints.shape)
    numbers = maps.checked_coefficients(startpoints, endpoints, coefficients)
    inverse = maps.inverse_perspective(numbers, "keypoints")
    moved = maps.projected(keypoints.reshape(-1, 2), inverse)
    return moved.to(keypoints.dtype).reshape(keypoints.shape)


def elastic_keypoints(keypoints: Tensor, canvas_size: Canvas, displacement: Tensor) -> Tensor:
    """The kernel of :func:`elastic` for key points; returns them."""
    maps.check_displacement(displacement, canvas_size)
    if keypoints.numel() == 0:
        return keypoints
    held = moves.held_points(keypoints, canvas_size)
    if held is not None and moves.elastic(held, (), displacement):
        return moves.tensor_of(held, keypoints.shape)
    dtype = keypoints.dtype if keypoints.is_floating_point() else torch.float32
    pixels = keypoints.reshape(-1, 2).to(torch.long)
    moved = maps.displaced(pixels, canvas_size, displacement, dtype)
    return moved.to(keypoints.dtype).reshape(keypoints.shape)


def clamped(points: Tensor, canvas_size: Canvas) -> Tensor:
    """Points moved onto the pixels of the canvas: x from 0 to its width - 1, y to its height - 1."""
    held = moves.held_points(points, canvas_size)
    if held is not None:
        held.clamp()
        return moves.tensor_of(held, points.shape)
    height, width = canvas_size
    real = points.clone() if points.is_floating_point() else points.float()
    real[..., 0].clamp_(min=0, max=width - 1)
    real[..., 1].clamp_(min=0, max=height - 1)
    return real.to(points.dtype)


def valid_points(points: Tensor, canvas_size: Canvas) -> Tensor:
    """Whether all points of each group, along the first dimension, are inside of the canvas: a bool for each."""
    held = moves.held_points(points, canvas_size) if points.ndim > 1 else None
    if held is not None:
        return moves.valid_points(held, points.shape)
    height, width = canvas_size
    x, y = points[..., 0], points[..., 1]
    valid = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return valid.flatten(start_dim=1).all(dim=1) if valid.ndim > 1 else valid
