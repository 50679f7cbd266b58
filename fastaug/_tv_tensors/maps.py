"""Matrices and coefficients that move boxes and points, with torchvision's roundings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug._program import arguments, matrices

Canvas = tuple[int, int]


def affine_matrices(
    canvas_size: Canvas, angle: Any, translate: Any, scale: Any, shear: Any, center: Any
) -> tuple[list[float], list[float]]:
    """Return the six numbers of an affine map from input to output, and of its inverse.

    The map rotates clockwise, scales and shears about the centre, by default the canvas's, and then shifts.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of a sequence, or a scale that is not positive.
    """
    across, down = arguments.checked_shear(angle, translate, scale, shear, center)
    if center is None:
        center = (canvas_size[1] * 0.5, canvas_size[0] * 0.5)
    return matrices.affine_matrices([float(value) for value in center], float(angle), translate, scale, (across, down))


def inverse_perspective(coefficients: Sequence[float], of: str) -> list[float]:
    """Return the eight numbers of the inverse.

    Raises:
        RuntimeError: there is none.
    """
    a, b, c, d, e, f, g, h = coefficients
    determinant = a * e - b * d
    if determinant == 0:
        raise RuntimeError(
            f"Provided perspective_coeffs {coefficients} can not be inverted to transform {of}. "
            f"Denominator is zero, denom={determinant}"
        )
    numerators = (
        e - f * h,
        -b + c * h,
        b * f - c * e,
        -d + f * g,
        a - c * g,
        -a * f + c * d,
        -e * g + d * h,
        -a * h + b * g,
    )
    return [number / determinant for number in numerators]


def check_displacement(displacement: Any, canvas_size: Canvas) -> None:
    """Raise TypeError for anything but a tensor, and ValueError for one of another size than the canvas."""
    expected = (1, canvas_size[0], canvas_size[1], 2)
    if not isinstance(displacement, Tensor):
        raise TypeError(f"Argument displacement should be a Tensor, got {type(displacement)}")
    if displacement.shape != expected:
        raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")


def with_ones(points: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Append ones for matrices. Without a dtype they have the default one, and torch promotes."""
    return torch.cat([points, torch.ones(points.shape[0], 1, device=points.device, dtype=dtype)], dim=-1)


def mapped(points: Tensor, matrix: Sequence[float]) -> Tensor:
    """Apply the six numbers of a map to floating point (points, 2)."""
    rows = torch.tensor(matrix, dtype=points.dtype, device=points.device).reshape(2, 3)
    return torch.matmul(with_ones(points, points.dtype), rows.T)


def corner_of(canvas_size: Canvas, matrix: Sequence[float], like: Tensor) -> Tensor:
    """Return the least x and y of the mapped canvas, (1, 2)."""
    height, width = canvas_size
    corners = [[0.0, 0.0], [0.0, float(height)], [float(width), float(height)], [float(width), 0.0]]
    ends = mapped(torch.tensor(corners, dtype=like.dtype, device=like.device), matrix)
    return torch.amin(ends, dim=0, keepdim=True)


def projected(points: Tensor, inverse: Sequence[float]) -> Tensor:
    """Apply the eight numbers of a perspective to (points, 2) of any dtype; integers become floats."""
    dtype = points.dtype if points.is_floating_point() else torch.float32
    device = points.device
    above = torch.tensor(inverse[:6], dtype=dtype, device=device).reshape(2, 3)
    below = torch.tensor([[*inverse[6:], 1.0]] * 2, dtype=dtype, device=device)
    rows = with_ones(points)
    return torch.matmul(rows, above.T).div_(torch.matmul(rows, below.T))


def displaced(points: Tensor, canvas_size: Canvas, displacement: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the new positions, in `dtype`, of pixels given as int64 (points, 2).

    A displacement holds the positions that pixels come from. Its negative serves as the inverse.
    """
    height, width = canvas_size
    device = points.device
    x, y = points[:, 0].clamp(0, width - 1), points[:, 1].clamp(0, height - 1)

    def along(size: int, index: Tensor) -> Tensor:
        return torch.linspace((-size + 1) / size, (size - 1) / size, size, dtype=dtype, device=device)[index]

    at = torch.stack((along(width, x), along(height, y)), -1)
    moved = at.sub_(displacement.to(device=device)[0, y, x, :].to(dtype))
    return moved.add_(1).mul_(0.5 * torch.tensor((width, height), dtype=dtype, device=device)).sub_(0.5)
