"""Warps and blurs of tensors as torchvision computes them, with torch. Shapes are [..., C, H, W], or [H, W] in v1.

With `v2` the roundings and checks are those of torchvision.transforms.v2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback.tensor import as_float_batch, by_v2, dimensions, float_dtype, from_float_batch
from fastaug._program import convolution, fields, matrices
from fastaug._program.arguments import checked_blur
from fastaug._program.checks import check_warp, need_channels, need_image
from fastaug._program.eager import kept


def rotate(
    image: Tensor, angle: float, interpolation: int, mode_name: str, expand: bool, center: Any, fill: Any
) -> Tensor:
    matrix = None if center is not None else matrices.rotation_matrix(0, 0, angle, None)
    channels, height, width = dimensions(image)
    if matrix is None:
        matrix = matrices.rotation_matrix(height, width, angle, center)
    check_warp(channels, mode_name, fill)
    size = matrices.size_around(matrix, height, width) if expand else None
    return affine_map(image, matrix, interpolation, mode_name, fill, size)


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
    return affine_map(image, matrix, interpolation, mode_name, fill)


def affine_map(
    image: Tensor,
    matrix: Sequence[float],
    number: int | None,
    mode_name: str,
    fill: Any,
    size: tuple[int, int] | None = None,
    v2: bool = False,
) -> Tensor:
    """Sample by a map of six numbers from output to input, both in pixels from their centres.

    `size` is the output's (height, width), the input's by default.
    """
    if v2:
        need_channels(image)
    dtype, device = float_dtype(image), image.device
    height, width = image.shape[-2:]
    out_height, out_width = (height, width) if size is None else size
    theta = torch.tensor(matrix, dtype=dtype, device=device).view(1, 2, 3)
    scaled = theta.transpose(1, 2) / torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    grid = _from_middle(out_height, out_width, dtype, device).bmm(scaled)
    return _sampled(image, grid.view(1, out_height, out_width, 2), mode_name, fill, v2)


def perspective(
    image: Tensor, coefficients: Sequence[float], number: int, mode_name: str, fill: Any, v2: bool = False
) -> Tensor:
    if v2:
        need_channels(image)
    else:
        check_warp(dimensions(image)[0], mode_name, fill)
    dtype, device = float_dtype(image), image.device
    height, width = image.shape[-2:]
    a, b, c, d, e, f, g, h = coefficients
    above = torch.tensor([[[a, b, c], [d, e, f]]], dtype=dtype, device=device)
    below = torch.tensor([[[g, h, 1.0], [g, h, 1.0]]], dtype=dtype, device=device)
    base = (_v2_from_corner if v2 else _from_corner)(height, width, dtype, device)
    scaled = above.transpose(1, 2) / torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device)
    grid = base.bmm(scaled).div_(base.bmm(below.transpose(1, 2))).sub_(1.0)
    return _sampled(image, grid.view(1, height, width, 2), mode_name, fill, v2)


def _homogeneous(across: Tensor, down: Tensor, dtype: torch.dtype) -> Tensor:
    """Return (1, pixels, 3): x, y and one."""
    height, width = down.shape[0], across.shape[0]
    base = torch.empty(1, height, width, 3, dtype=dtype, device=across.device)
    base[..., 0].copy_(across)
    base[..., 1].copy_(down.unsqueeze(-1))
    base[..., 2].fill_(1)
    return base.view(1, height * width, 3)


@kept
def _from_middle(height: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return pixels as `_homogeneous` does, from the middle. The positions are float32's, whatever the dtype."""
    across = torch.linspace((1.0 - width) * 0.5, (width - 1.0) * 0.5, steps=width, device=device)
    down = torch.linspace((1.0 - height) * 0.5, (height - 1.0) * 0.5, steps=height, device=device)
    return _homogeneous(across, down, dtype)


def _corner_grid(
    height: int, width: int, dtype: torch.dtype, device: torch.device, positions: torch.dtype | None
) -> Tensor:
    across = torch.linspace(0.5, width + 0.5 - 1.0, steps=width, dtype=positions, device=device)
    down = torch.linspace(0.5, height + 0.5 - 1.0, steps=height, dtype=positions, device=device)
    return _homogeneous(across, down, dtype)


_from_corner = kept(lambda height, width, dtype, device: _corner_grid(height, width, dtype, device, None))
_v2_from_corner = kept(lambda height, width, dtype, device: _corner_grid(height, width, dtype, device, dtype))


def elastic_transform(image: Tensor, displacement: Tensor, mode_name: str, fill: Any, v2: bool = False) -> Tensor:
    """Sample where a field (1, height, width, 2), in grid_sample's units, displaces each pixel to."""
    height, width = image.shape[-2:]
    if not v2:
        # torchvision's grid is of torch's default device, and moved from there.
        at = fields.identity_grid(height, width, torch.get_default_dtype(), torch.empty(0).device)
        field = at.to(image.device) + displacement.to(image.device)
        return _sampled(image, field, mode_name, fill, v2)
    given = image.dtype
    if given == torch.float16 and image.device.type == "cpu":
        image = image.to(torch.float32)
    dtype, device = float_dtype(image), image.device
    grid = fields.identity_grid(height, width, dtype, device) + displacement.to(dtype=dtype, device=device)
    result = _sampled(image, grid, mode_name, fill, v2)
    return result if image.dtype == given else result.to(given)


def _sampled(image: Tensor, grid: Tensor, mode_name: str, fill: Any, v2: bool) -> Tensor:
    if v2:
        need_channels(image)
        shape = (*image.shape[:-2], *grid.shape[1:3])
        if image.numel() == 0:
            return image.reshape(shape)
        batch = image.reshape(-1, *image.shape[-3:]).to(grid.dtype)
    else:
        batch = as_float_batch(image, (grid.dtype,))
    if batch.shape[0] > 1:
        grid = grid.expand(batch.shape[0], -1, -1, -1)
    samples = batch
    if fill is not None:
        # A plane of ones sampled along tells how much of each output pixel came from the image.
        ones = torch.ones((batch.shape[0], 1, batch.shape[2], batch.shape[3]), dtype=batch.dtype, device=batch.device)
        samples = torch.cat((batch, ones), dim=1)
    samples = nnf.grid_sample(samples, grid, mode=mode_name, padding_mode="zeros", align_corners=False)
    if fill is not None:
        samples, share = torch.tensor_split(samples, indices=(-1,), dim=-3)
        values = fill if isinstance(fill, (tuple, list)) else [float(fill)]
        colour = torch.tensor(values, dtype=samples.dtype, device=samples.device).view(1, -1, 1, 1)
        share = share.expand_as(samples)
        if mode_name == "nearest":
            samples = torch.where(share < 0.5, colour.expand_as(samples), samples)
        elif v2:
            samples = (samples - colour) * share + colour
        else:
            samples = samples * share + (1.0 - share) * colour.expand_as(samples)
    if not v2:
        return from_float_batch(samples, image)
    return (samples if image.dtype == grid.dtype else samples.round_().to(image.dtype)).reshape(shape)


def gaussian_positions(size: int, dtype: torch.dtype, device: torch.device, v2: bool) -> Tensor:
    """Return the places of a kernel's weights, in units that differ between v1 and v2."""
    half = (size - 1) / (2.0 * math.sqrt(2.0)) if v2 else (size - 1) * 0.5
    return torch.linspace(-half, half, steps=size, dtype=dtype, device=device)


def gaussian_weights(exponents: Tensor, v2: bool) -> Tensor:
    """Return weights that add up to one."""
    if v2:
        return torch.softmax(exponents, dim=0)
    density = torch.exp(exponents)
    return density / density.sum()


def gaussian_kernel(size: int, sigma: float, dtype: torch.dtype, device: torch.device, v2: bool = False) -> Tensor:
    squares = (gaussian_positions(size, dtype, device, v2) / sigma).pow(2)
    return gaussian_weights(squares.neg() if v2 else -0.5 * squares, v2)


def gaussian_blur(image: Tensor, kernel_size: Any, sigma: Any, v2: bool = False) -> Tensor:
    if v2:
        kernel_size, sigma = checked_blur(kernel_size, sigma)
        if image.numel() == 0:
            return image
    else:
        need_image(image)
    if image.ndim < 3:
        raise IndexError(f"gaussian_blur takes tensors of shape [..., C, H, W]. Got shape {list(image.shape)}")
    dtype, device = float_dtype(image), image.device
    across, down = (gaussian_kernel(size, width, dtype, device, v2) for size, width in zip(kernel_size, sigma))
    kernel = down.unsqueeze(-1) * across if v2 else torch.mm(down[:, None], across[None, :])
    batch = image.reshape(-1, *image.shape[-3:]) if v2 and image.ndim > 4 else image
    blurred = convolution.blurred(as_float_batch(batch, (dtype,)), kernel)
    if v2 and not image.is_floating_point():
        blurred = blurred.round_()
    blurred = from_float_batch(blurred, batch)
    return blurred if batch is image else blurred.reshape(image.shape)


V2 = by_v2(affine_map, perspective, elastic_transform, gaussian_blur)
