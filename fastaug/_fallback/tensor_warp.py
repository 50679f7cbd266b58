"""Warps and blurs of tensors as torchvision computes them on tensors, with torch. Shapes: [..., C, H, W] or [H, W]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback.tensor import as_float_batch, dimensions, from_float_batch
from fastaug._program import convolution, fields, matrices
from fastaug._program.checks import check_warp, need_image


def rotate(
    image: Tensor, angle: float, interpolation: int, mode_name: str, expand: bool, center: Any, fill: Any
) -> Tensor:
    matrix = None if center is not None else matrices.rotation_matrix(0, 0, angle, None)
    channels, height, width = dimensions(image)
    if matrix is None:
        matrix = matrices.rotation_matrix(height, width, angle, center)
    check_warp(channels, mode_name, fill)
    out_height, out_width = height, width
    if expand:
        out_height, out_width = matrices.size_around(matrix, height, width)
    return _sample(image, _affine_grid(image, matrix, out_height, out_width), mode_name, fill)


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
    matrix = matrices.affine_matrix(height, width, angle, translate, scale, shear, center)
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
