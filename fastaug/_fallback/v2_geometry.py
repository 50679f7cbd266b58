"""torchvision's v2 functions of geometry on tensors, in torch's own: where the core does not do them.

Shapes are [..., C, H, W], of any dtype and on any device. Every op and its order is torchvision's, because results in
floating point have their last bits from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._program import resizing
from fastaug._program.v2_arguments import central_corner

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATS = (torch.float32, torch.float64)
_TORCH_MODES = {"edge": "replicate", "reflect": "reflect"}


def need_channels(image: Tensor) -> None:
    """Raises ValueError for a plane without an axis of channels."""
    if image.ndim < 3:
        raise ValueError(
            f"A tensor should have the shape (..., channels, height, width), got one of {image.ndim} dimensions"
        )


def hflip(image: Tensor) -> Tensor:
    return image.flip(-1)


def vflip(image: Tensor) -> Tensor:
    return image.flip(-2)


def rot90(image: Tensor, turns: int) -> Tensor:
    """A copy, turned counter-clockwise."""
    return torch.rot90(image, turns, (-2, -1)) if turns else image.clone()


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A view where the box lies inside the image; else a new tensor with zeros around."""
    image_height, image_width = image.shape[-2:]
    right, bottom = left + width, top + height
    if not (left < 0 or top < 0 or right > image_width or bottom > image_height):
        return image[..., top:bottom, left:right]
    around = [
        max(min(right, 0) - left, 0),
        max(right - max(image_width, left), 0),
        max(min(bottom, 0) - top, 0),
        max(bottom - max(image_height, top), 0),
    ]
    return _padded(image[..., max(top, 0) : bottom, max(left, 0) : right], around, 0.0, "constant")


def center_crop(image: Tensor, height: int, width: int) -> Tensor:
    """The middle of an image of at least two dimensions, with zeros around it where it is too small."""
    if image.numel() == 0:
        return image.reshape(*image.shape[:-2], height, width)
    image_height, image_width = image.shape[-2:]
    if height > image_height or width > image_width:
        rows, columns = max(height - image_height, 0), max(width - image_width, 0)
        image = nnf.pad(image, [columns // 2, (columns + 1) // 2, rows // 2, (rows + 1) // 2], value=0.0)
        image_height, image_width = image.shape[-2:]
        if (height, width) == (image_height, image_width):
            return image
    top, left = central_corner(height, width, (image_height, image_width))
    return image[..., top : top + height, left : left + width]


def pad(image: Tensor, sides: Sequence[int], fill: Any, padding_mode: str) -> Tensor:
    """`sides` are left, top, right, bottom; `fill` is a number, or one for each channel."""
    need_channels(image)
    left, top, right, bottom = sides
    around = [left, right, top, bottom]
    if not isinstance(fill, (int, float)):
        if len(fill) != 1:
            return _framed(image, around, fill, padding_mode)
        fill = fill[0]
    return _padded(image, around, float(fill), padding_mode)


def _padded(image: Tensor, around: list[int], fill: float, padding_mode: str) -> Tensor:
    need_channels(image)
    shape = image.shape
    batch = image.reshape(math.prod(shape[:-3]), *shape[-3:])
    if padding_mode == "constant":
        batch = nnf.pad(batch, around, mode="constant", value=fill)
    elif padding_mode == "symmetric":
        batch = _mirrored(batch, around)
    else:
        # torch pads by reflection and repetition in floating point only.
        exact = batch if batch.is_floating_point() else batch.to(torch.float32)
        batch = nnf.pad(exact, around, mode=_TORCH_MODES[padding_mode]).to(image.dtype)
    return batch.reshape(*shape[:-2], *batch.shape[-2:])


def _mirrored(batch: Tensor, around: list[int]) -> Tensor:
    """A border by reflection that repeats the outermost samples; negative sides are cut off first."""
    left, right, top, bottom = around
    if min(around) < 0:
        height, width = batch.shape[-2:]
        batch = batch[..., -min(top, 0) : height + min(bottom, 0), -min(left, 0) : width + min(right, 0)]
        left, right, top, bottom = max(left, 0), max(right, 0), max(top, 0), max(bottom, 0)

    def order(size: int, before: int, after: int) -> Tensor:
        # Negative indices count from the end, so that a border wider than the image is an IndexError.
        index = [*range(before - 1, -1, -1), *range(size), *range(-1, -after - 1, -1)]
        return torch.tensor(index, device=batch.device)

    rows, columns = order(batch.shape[-2], top, bottom), order(batch.shape[-1], left, right)
    return batch[:, :, rows[:, None], columns[None, :]]


def _framed(image: Tensor, around: list[int], fill: Sequence[float], padding_mode: str) -> Tensor:
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar, got {fill!r}")
    result = _padded(image, around, 0.0, padding_mode)
    left, right, top, bottom = around
    # In the dtype that torch finds for the numbers, and only then in the image's: it may be one of integers.
    colour = torch.tensor(fill, device=image.device).to(dtype=image.dtype).reshape(-1, 1, 1)
    if top > 0:
        result[..., :top, :] = colour
    if left > 0:
        result[..., :, :left] = colour
    if bottom > 0:
        result[..., -bottom:, :] = colour
    if right > 0:
        result[..., :, -right:] = colour
    return result


def resize(image: Tensor, height: int, width: int, number: int, mode_name: str, antialias: Any) -> Tensor:
    """To another size; `number` is Pillow's of the mode."""
    need_channels(image)
    shape, dtype = image.shape, image.dtype
    if image.numel() == 0:
        return image.reshape(*shape[:-2], height, width)
    nearest = mode_name in ("nearest", "nearest-exact")
    smooth = mode_name in ("bilinear", "bicubic", "lanczos")
    batch = image.reshape(-1, *shape[-3:])
    strides = batch.stride()
    if batch.shape[0] == 1 and batch.is_contiguous(memory_format=torch.channels_last) and image.numel() != strides[0]:
        # torch takes one image for channels_last only if its batch has the stride of one.
        batch = batch.as_strided(batch.shape, (image.numel(), *strides[1:]))
    # On the CPU torch resizes bytes, on others only by the nearest.
    in_bytes = smooth and image.device.type == "cpu" and (mode_name != "bilinear" or resizing.in_bytes())
    exact = dtype in _FLOATS or (dtype == torch.uint8 and (nearest or in_bytes))
    result = nnf.interpolate(
        batch if exact else batch.to(torch.float32),
        size=[height, width],
        mode=mode_name,
        align_corners=False if smooth else None,
        antialias=bool(antialias) and smooth,
    )
    if not exact:
        if mode_name in ("bicubic", "lanczos") and dtype == torch.uint8:
            result = result.clamp_(min=0, max=255)
        if dtype in _INTEGERS:
            result = result.round_()
        result = result.to(dtype)
    return result.reshape(*shape[:-2], height, width)


def _sampling_dtype(image: Tensor) -> torch.dtype:
    return image.dtype if image.is_floating_point() else torch.float32


def affine_map(
    image: Tensor,
    matrix: Sequence[float],
    number: int | None,
    mode_name: str,
    fill: Any,
    size: tuple[int, int] | None = None,
) -> Tensor:
    """Sampled where six numbers, about the middles of output and input, say that each pixel comes from.

    `size` is the output's (height, width), the input's by default.
    """
    need_channels(image)
    dtype, device = _sampling_dtype(image), image.device
    height, width = image.shape[-2:]
    out_height, out_width = (height, width) if size is None else size
    theta = torch.tensor(matrix, dtype=dtype, device=device).reshape(1, 2, 3)
    # The positions are float32's, whatever the dtype.
    across = torch.linspace((1.0 - out_width) * 0.5, (out_width - 1.0) * 0.5, steps=out_width, device=device)
    down = torch.linspace((1.0 - out_height) * 0.5, (out_height - 1.0) * 0.5, steps=out_height, device=device)
    base = _base_grid(across, down, dtype)
    scaled = theta.transpose(1, 2).div_(torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device))
    return _sampled(image, base.bmm(scaled).view(1, out_height, out_width, 2), mode_name, fill)


def perspective(image: Tensor, coefficients: Sequence[float], number: int, mode_name: str, fill: Any) -> Tensor:
    """Sampled where the eight numbers of a perspective say that each pixel comes from."""
    need_channels(image)
    dtype, device = _sampling_dtype(image), image.device
    height, width = image.shape[-2:]
    a, b, c, d, e, f, g, h = coefficients
    above = torch.tensor([[[a, b, c], [d, e, f]]], dtype=dtype, device=device)
    below = torch.tensor([[[g, h, 1.0], [g, h, 1.0]]], dtype=dtype, device=device)
    across = torch.linspace(0.5, width + 0.5 - 1.0, steps=width, device=device, dtype=dtype)
    down = torch.linspace(0.5, height + 0.5 - 1.0, steps=height, device=device, dtype=dtype)
    base = _base_grid(across, down, dtype)
    scaled = above.transpose(1, 2).div_(torch.tensor([0.5 * width, 0.5 * height], dtype=dtype, device=device))
    grid = base.bmm(scaled).div_(base.bmm(below.transpose(1, 2))).sub_(1.0)
    return _sampled(image, grid.view(1, height, width, 2), mode_name, fill)


def _base_grid(across: Tensor, down: Tensor, dtype: torch.dtype) -> Tensor:
    """(1, pixels, 3): x, y and one."""
    height, width = down.shape[0], across.shape[0]
    base = torch.empty(1, height, width, 3, dtype=dtype, device=across.device)
    base[..., 0].copy_(across)
    base[..., 1].copy_(down.unsqueeze(-1))
    base[..., 2].fill_(1)
    return base.view(1, height * width, 3)


def elastic_transform(image: Tensor, displacement: Tensor, mode_name: str, fill: Any) -> Tensor:
    """Sampled where a field (1, height, width, 2), in grid_sample's units, displaces each pixel to."""
    given = image.dtype
    if given == torch.float16 and image.device.type == "cpu":
        image = image.to(torch.float32)
    dtype, device = _sampling_dtype(image), image.device
    height, width = image.shape[-2:]
    grid = torch.empty(1, height, width, 2, dtype=dtype, device=device)
    for axis, size in ((0, width), (1, height)):
        at = torch.linspace((-size + 1) / size, (size - 1) / size, size, dtype=dtype, device=device)
        grid[..., axis].copy_(at if axis == 0 else at.unsqueeze(-1))
    grid = grid.add_(displacement.to(dtype=dtype, device=device))
    result = _sampled(image, grid, mode_name, fill)
    return result if image.dtype == given else result.to(given)


def _sampled(image: Tensor, grid: Tensor, mode_name: str, fill: Any) -> Tensor:
    need_channels(image)
    channels, height, width = image.shape[-3:]
    shape = (*image.shape[:-2], *grid.shape[1:3])
    if image.numel() == 0:
        return image.reshape(shape)
    batch = image.reshape(-1, channels, height, width)
    count = batch.shape[0]
    exact = batch.dtype == grid.dtype
    samples = batch if exact else batch.to(grid.dtype)
    if count > 1:
        grid = grid.expand(count, -1, -1, -1)
    if fill is not None:
        # A plane of ones sampled along tells how much of each output pixel came from the image.
        ones = torch.ones((count, 1, height, width), dtype=samples.dtype, device=samples.device)
        samples = torch.cat((samples, ones), dim=1)
    samples = nnf.grid_sample(samples, grid, mode=mode_name, padding_mode="zeros", align_corners=False)
    if fill is not None:
        samples, share = torch.tensor_split(samples, indices=(-1,), dim=-3)
        values = fill if isinstance(fill, (tuple, list)) else [float(fill)]
        colour = torch.tensor(values, dtype=samples.dtype, device=samples.device).view(1, -1, 1, 1)
        share = share.expand_as(samples)
        if mode_name == "nearest":
            samples = torch.where(share < 0.5, colour.expand_as(samples), samples)
        else:
            samples = (samples - colour) * share + colour
    return (samples if exact else samples.round_().to(image.dtype)).reshape(shape)
