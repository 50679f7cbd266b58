"""Colours of tensors, as torchvision computes them on tensors, with torch. Shapes are [..., C, H, W] or [H, W]."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback.tensor import (
    as_float_batch,
    convert_image_dtype,
    from_float_batch,
    need_colour,
)
from fastaug._program.arguments import maximum
from fastaug._program.borrow import is_interleaved
from fastaug._program.checks import (
    need_channel_axis,
    need_gamma,
    need_hue,
    need_image,
    need_not_negative,
    need_threshold,
    need_uint8,
)


def _blend(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    ratio = float(ratio)
    return (ratio * image + (1.0 - ratio) * other).clamp(0, maximum(image.dtype)).to(image.dtype)


def adjust_brightness(image: Tensor, factor: float) -> Tensor:
    need_not_negative("brightness_factor", factor)
    need_colour(image)
    return _blend(image, torch.zeros_like(image), factor)


def adjust_contrast(image: Tensor, factor: float) -> Tensor:
    need_not_negative("contrast_factor", factor)
    dtype = image.dtype if image.is_floating_point() else torch.float32
    gray = grayscale(image, 1) if need_colour(image) == 3 else image
    return _blend(image, torch.mean(gray.to(dtype), dim=(-3, -2, -1), keepdim=True), factor)


def adjust_saturation(image: Tensor, factor: float) -> Tensor:
    need_not_negative("saturation_factor", factor)
    if need_colour(image) == 1:
        return image
    return _blend(image, grayscale(image, 1), factor)


def adjust_hue(image: Tensor, factor: float) -> Tensor:
    need_hue(factor)
    if need_colour(image) == 1:
        return image
    hue, saturation, value = _rgb_to_hsv(convert_image_dtype(image, torch.float32))
    shifted = (hue + factor) % 1.0
    return convert_image_dtype(_hsv_to_rgb(shifted, saturation, value, is_interleaved(image)), image.dtype)


def _rgb_to_hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = image.unbind(dim=-3)
    high, low = torch.max(image, dim=-3).values, torch.min(image, dim=-3).values
    gray = high == low
    spread, ones = high - low, torch.ones_like(high)
    saturation = spread / torch.where(gray, ones, high)
    divisor = torch.where(gray, ones, spread)
    to_red, to_green, to_blue = (high - red) / divisor, (high - green) / divisor, (high - blue) / divisor
    sector = (
        (high == red) * (to_blue - to_green)
        + ((high == green) & (high != red)) * (2.0 + to_red - to_blue)
        + ((high != green) & (high != red)) * (4.0 + to_green - to_red)
    )
    return torch.fmod(sector / 6.0 + 1.0, 1.0), saturation, high


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor, interleaved: bool) -> Tensor:
    floor = torch.floor(hue * 6.0)
    fraction = hue * 6.0 - floor
    sector = floor.to(torch.int32) % 6
    p = torch.clamp(value * (1.0 - saturation), 0.0, 1.0)
    q = torch.clamp(value * (1.0 - saturation * fraction), 0.0, 1.0)
    t = torch.clamp(value * (1.0 - saturation * (1.0 - fraction)), 0.0, 1.0)
    choices = (
        torch.stack((value, q, p, p, t, value)),
        torch.stack((t, value, value, q, p, p)),
        torch.stack((p, p, t, value, value, q)),
    )
    index = sector.to(torch.int64).unsqueeze(0)
    planes = [choice.gather(0, index).squeeze(0) for choice in choices]
    return torch.stack(planes, dim=-1).movedim(-1, -3) if interleaved else torch.stack(planes, dim=-3)


def grayscale(image: Tensor, channels: int) -> Tensor:
    need_channel_axis(image)
    need_colour(image)
    if channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")
    if image.shape[-3] == 3:
        red, green, blue = image.unbind(dim=-3)
        gray = (0.2989 * red + 0.587 * green + 0.114 * blue).to(image.dtype).unsqueeze(dim=-3)
    else:
        gray = image.clone()
    return gray.expand(image.shape) if channels == 3 else gray


def adjust_gamma(image: Tensor, gamma: float, gain: float) -> Tensor:
    need_colour(image)
    need_gamma(gamma)
    result = image if image.is_floating_point() else convert_image_dtype(image, torch.float32)
    return convert_image_dtype((gain * result.pow(gamma)).clamp(0, 1), image.dtype)


def adjust_sharpness(image: Tensor, factor: float) -> Tensor:
    need_not_negative("sharpness_factor", factor)
    need_colour(image)
    if image.shape[-1] <= 2 or image.shape[-2] <= 2:
        return image
    dtype = image.dtype if image.is_floating_point() else torch.float32
    kernel = torch.ones((3, 3), dtype=dtype, device=image.device)
    kernel[1, 1] = 5.0
    kernel /= kernel.sum()
    batch = as_float_batch(image, (dtype,))
    inner = nnf.conv2d(batch, kernel.expand(image.shape[-3], 1, 3, 3), groups=batch.shape[-3])
    smooth = image.clone()
    smooth[..., 1:-1, 1:-1] = from_float_batch(inner, image)
    return _blend(image, smooth, factor)


def _need_colour_planes(image: Tensor) -> None:
    need_image(image)
    need_channel_axis(image)
    need_colour(image)


def invert(image: Tensor) -> Tensor:
    _need_colour_planes(image)
    return maximum(image.dtype) - image


def posterize(image: Tensor, bits: int) -> Tensor:
    need_image(image)
    need_channel_axis(image)
    need_uint8(image)
    need_colour(image)
    return image & -int(2 ** (8 - bits))


def solarize(image: Tensor, threshold: float) -> Tensor:
    _need_colour_planes(image)
    need_threshold(threshold, image.dtype)
    inverted = invert(image)
    return torch.where(image >= threshold, inverted, image)


def autocontrast(image: Tensor) -> Tensor:
    _need_colour_planes(image)
    white = maximum(image.dtype)
    dtype = image.dtype if image.is_floating_point() else torch.float32
    low = image.amin(dim=(-2, -1), keepdim=True).to(dtype)
    scale = white / (image.amax(dim=(-2, -1), keepdim=True).to(dtype) - low)
    flat = torch.isfinite(scale).logical_not()
    low[flat] = 0
    scale[flat] = 1
    return ((image - low) * scale).clamp(0, white).to(image.dtype)


def equalize(image: Tensor) -> Tensor:
    need_image(image)
    if not 3 <= image.ndim <= 4:
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {image.ndim}")
    need_uint8(image)
    need_colour(image)
    planes = image.flatten(0, -3)
    return torch.stack([_equalized(plane) for plane in planes]).view(image.shape)


def _equalized(plane: Tensor) -> Tensor:
    histogram = torch.bincount(plane.reshape(-1).to(torch.int64), minlength=256)
    used = histogram[histogram != 0]
    step = used[:-1].sum() // 255
    if step == 0:
        return plane
    below = torch.cumsum(histogram, 0) - histogram
    table = (below + step // 2) // step
    return table.clamp(0, 255).to(torch.uint8)[plane.to(torch.int64)]
