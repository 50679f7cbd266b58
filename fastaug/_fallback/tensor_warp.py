"""Warps and blurs of tensors as torchvision computes them on tensors, with torch. Shapes: [..., C, H, W] or [H, W]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback import convolution
from fastaug._fallback.tensor import as_float_batch, dimensions, from_float_batch
from fastaug._program import arguments, fields
from fastaug._program.checks import check_warp, need_image


def rotated_size(height: int, width: int, angle: float, center: Any) -> tuple[int, int]:
    """(height, width) of the rectangle around the rotated image."""
    return size_around(rotation_matrix(height, width, angle, center), height, width)


def rotation_matrix(height: int, width: int, angle: float, center: Any) -> list[float]:
    """Output to input, both in pixels from their centres. An image that grows around a rotation has the same."""
    # Rotations of tensors are counter-clockwise, affine maps clockwise.
    return affine_matrix(height, width, -angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)


def size_around(matrix: Sequence[float], height: int, width: int, v2: bool = False) -> tuple[int, int]:
    """(height, width) of the rectangle around an image that `matrix` was applied to: rotate's, with expand=True.

    `v2` says that it is that of torchvision.transforms.v2, which rounds otherwise.
    """
    size = _sure_size_around(matrix, height, width)
    return _rounded_size_around(matrix, height, width, v2) if size is None else size


def _sure_size_around(matrix: Sequence[float], height: int, width: int) -> tuple[int, int] | None:
    """The same in double precision, or None where the roundings of torch's float32 might give another size."""
    sides = []
    for (a, b, c), half in ((matrix[3:], height * 0.5), (matrix[:3], width * 0.5)):
        reach = abs(a) * width * 0.5 + abs(b) * height * 0.5
        low, high = c - reach + half, c + reach + half
        # Six roundings of sums below this one, and a grain.
        slack = 2e-4 + (reach + abs(c) + half) * 2.0**-20
        for value in (low, high):
            # Neither is a number that is not finite.
            if not (abs(value) < 1e6 and slack < value - math.floor(value) < 1.0 - slack):
                return None
        sides.append(math.ceil(high) - math.floor(low))
    return sides[0], sides[1]


def _rounded_size_around(rows: Sequence[float], height: int, width: int, v2: bool) -> tuple[int, int]:
    matrix = torch.tensor(rows, dtype=torch.float).view(2, 3)
    corners = torch.tensor(
        [
            [-0.5 * width, -0.5 * height, 1.0],
            [-0.5 * width, 0.5 * height, 1.0],
            [0.5 * width, 0.5 * height, 1.0],
            [0.5 * width, -0.5 * height, 1.0],
        ]
    )
    mapped = torch.matmul(corners, matrix.T)
    half = torch.tensor((width * 0.5, height * 0.5))
    low, high = mapped.min(dim=0).values + half, mapped.max(dim=0).values + half
    # Rounding noise below 1e-4 of a pixel must not add a row or a column.
    grain = 1e-4
    if v2:
        high, low = high * (1.0 / grain), low * (1.0 / grain)
    else:
        high, low = high / grain, low / grain
    size = torch.ceil(high.trunc_() * grain) - torch.floor(low.trunc_() * grain)
    return int(size[1]), int(size[0])


def rotate(
    image: Tensor, angle: float, interpolation: int, mode_name: str, expand: bool, center: Any, fill: Any
) -> Tensor:
    matrix = None if center is not None else rotation_matrix(0, 0, angle, None)
    channels, height, width = dimensions(image)
    if matrix is None:
        matrix = rotation_matrix(height, width, angle, center)
    check_warp(channels, mode_name, fill)
    out_height, out_width = height, width
    if expand:
        out_height, out_width = size_around(matrix, height, width)
    return _sample(image, _affine_grid(image, matrix, out_height, out_width), mode_name, fill)


def affine_matrix(
    height: int, width: int, angle: float, translate: Sequence[float], scale: float, shear: Sequence[float], center: Any
) -> list[float]:
    """Output to input, both in pixels from the image's centre."""
    offset: tuple[float, ...] = (0.0, 0.0)
    if center is not None:
        offset = tuple(1.0 * (middle - side * 0.5) for middle, side in zip(center, (width, height)))
    return arguments.inverse_affine_matrix(offset, angle, (1.0 * translate[0], 1.0 * translate[1]), scale, shear)


def affine(
    image: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: int,
    mode_name: str,
    fill: Any,
    center: Any,
) -> Tensor:
    channels, height, width = dimensions(image)
    matrix = affine_matrix(height, width, angle, translate, scale, shear, center)
    check_warp(channels, mode_name, fill)
    return _sample(image, _affine_grid(image, matrix, height, width), mode_name, fill)


def perspective(image: Tensor, coefficients: Sequence[float], interpolation: int, mode_name: str, fill: Any) -> Tensor:
    channels, height, width = dimensions(image)
    check_warp(channels, mode_name, fill)
    dtype, device = _sampling_dtype(image), image.device
    a, b, c, d, e, f, g, h = coefficients
    base = _base_grid(height, width, (0.5, width * 1.0 + 0.5 - 1.0), (0.5, height * 1.0 + 0.5 - 1.0), dtype, device)
    half = torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    numerator = torch.tensor([[[a, b, c], [d, e, f]]], dtype=dtype, device=device).transpose(1, 2) / half
    denominator = torch.tensor([[[g, h, 1.0], [g, h, 1.0]]], dtype=dtype, device=device).transpose(1, 2)
    grid = base.bmm(numerator) / base.bmm(denominator) - 1.0
    return _sample(image, grid.view(1, height, width, 2), mode_name, fill)


def elastic_transform(image: Tensor, displacement: Tensor, mode_name: str, fill: Any) -> Tensor:
    height, width = image.shape[-2:]
    grid = fields.identity_grid(height, width).to(image.device) + displacement.to(image.device)
    return _sample(image, grid, mode_name, fill)


def gaussian_kernel(size: int, sigma: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The weights of one axis."""
    half = (size - 1) * 0.5
    positions = torch.linspace(-half, half, steps=size, dtype=dtype, device=device)
    density = torch.exp(-0.5 * (positions / sigma).pow(2))
    return density / density.sum()


def gaussian_blur(image: Tensor, kernel_size: Sequence[int], sigma: Sequence[float]) -> Tensor:
    need_image(image)
    if image.ndim < 3:
        raise IndexError(f"gaussian_blur takes tensors of shape [..., C, H, W]. Got shape {list(image.shape)}")
    dtype, device = _sampling_dtype(image), image.device
    across, down = (gaussian_kernel(size, s, dtype, device) for size, s in zip(kernel_size, sigma))
    kernel = torch.mm(down[:, None], across[None, :])
    return from_float_batch(convolution.blurred(as_float_batch(image, (dtype,)), kernel), image)


def _sampling_dtype(image: Tensor) -> torch.dtype:
    return image.dtype if image.is_floating_point() else torch.float32


def _base_grid(
    height: int,
    width: int,
    columns: tuple[float, float],
    rows: tuple[float, float],
    dtype: torch.dtype,
    device: torch.device,
) -> Tensor:
    """(x, y, 1) of every output pixel, with x and y between the first and the last that are given."""
    base = torch.empty(1, height, width, 3, dtype=dtype, device=device)
    base[..., 0].copy_(torch.linspace(*columns, steps=width, device=device))
    base[..., 1].copy_(torch.linspace(*rows, steps=height, device=device).unsqueeze_(-1))
    base[..., 2].fill_(1)
    return base.view(1, height * width, 3)


def _affine_grid(image: Tensor, matrix: list[float], out_height: int, out_width: int) -> Tensor:
    """Where every output pixel lies in the input, in grid_sample's units."""
    dtype, device = _sampling_dtype(image), image.device
    height, width = image.shape[-2:]
    half_x, half_y = out_width * 0.5, out_height * 0.5
    columns, rows = (-half_x + 0.5, half_x + 0.5 - 1), (-half_y + 0.5, half_y + 0.5 - 1)
    base = _base_grid(out_height, out_width, columns, rows, dtype, device)
    theta = torch.tensor(matrix, dtype=dtype, device=device).view(1, 2, 3)
    scaled = theta.transpose(1, 2) / torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    return base.bmm(scaled).view(1, out_height, out_width, 2)


def _sample(image: Tensor, grid: Tensor, mode_name: str, fill: Any) -> Tensor:
    batch = as_float_batch(image, (grid.dtype,))
    if batch.shape[0] > 1:
        grid = grid.expand(batch.shape[0], -1, -1, -1)
    if fill is None:
        sampled = nnf.grid_sample(batch, grid, mode=mode_name, padding_mode="zeros", align_corners=False)
        return from_float_batch(sampled, image)
    # A plane of ones sampled along tells how much of each output pixel came from the image.
    ones = torch.ones((batch.shape[0], 1, batch.shape[2], batch.shape[3]), dtype=batch.dtype, device=batch.device)
    sampled = nnf.grid_sample(
        torch.cat((batch, ones), dim=1), grid, mode=mode_name, padding_mode="zeros", align_corners=False
    )
    sampled, mask = sampled[:, :-1], sampled[:, -1:].expand_as(sampled[:, :-1])
    values = list(fill) if isinstance(fill, (tuple, list)) else [float(fill)]
    background = torch.tensor(values, dtype=batch.dtype, device=batch.device).view(1, -1, 1, 1).expand_as(sampled)
    if mode_name == "nearest":
        result = torch.where(mask < 0.5, background, sampled)
    else:
        result = sampled * mask + (1.0 - mask) * background
    return from_float_batch(result, image)
