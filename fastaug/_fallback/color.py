"""Colours of tensors as torchvision computes them, with torch. Shapes are [..., C, H, W], or [H, W] in v1.

With `v2` the roundings and checks are those of torchvision.transforms.v2. Where torch's rounding decides, the calls are
torchvision's, in its order.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback.tensor import (
    as_float_batch,
    by_v2,
    convert_image_dtype,
    dimensions,
    float_dtype,
    from_float_batch,
)
from fastaug._program.arguments import maximum, value_bits
from fastaug._program.borrow import is_interleaved
from fastaug._program.checks import (
    need_bits,
    need_channel_axis,
    need_colour,
    need_gamma,
    need_hue,
    need_image,
    need_not_negative,
    need_threshold,
    need_uint8,
    need_v2_bits,
)

# Which output of _v2_hsv_to_rgb is the value, p, q or t in each sixth of the circle of hues; for red, green and blue.
_SECTORS = [[0, 2, 1, 1, 3, 0], [3, 0, 0, 2, 1, 1], [1, 1, 3, 0, 0, 2]]


def _planes(image: Tensor) -> int:
    if image.ndim < 3:
        raise IndexError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    return image.shape[-3]


def _colours(image: Tensor, v2: bool) -> int:
    channels = _planes(image) if v2 else dimensions(image)[0]
    need_colour(channels)
    return channels


def _need_colour_planes(image: Tensor) -> None:
    need_image(image)
    need_channel_axis(image)
    need_colour(image.shape[-3])


def _blend(image: Tensor, other: Tensor, ratio: float, v2: bool) -> Tensor:
    ratio = float(ratio)
    mixed = image.mul(ratio).add_(other, alpha=1.0 - ratio) if v2 else ratio * image + (1.0 - ratio) * other
    mixed = mixed.clamp_(0, maximum(image.dtype))
    return mixed if image.is_floating_point() else mixed.to(image.dtype)


def _luma(image: Tensor, v2: bool) -> Tensor:
    red, green, blue = image.unbind(dim=-3)
    if v2:
        gray = red.mul(0.2989).add_(green, alpha=0.587).add_(blue, alpha=0.114)
    else:
        gray = 0.2989 * red + 0.587 * green + 0.114 * blue
    return gray.unsqueeze(dim=-3)


def _whole_luma(image: Tensor, v2: bool) -> Tensor:
    """Return the luma without fractions, unless the image has a float dtype."""
    gray = _luma(image, v2)
    if v2:
        return gray if image.is_floating_point() else gray.floor_()
    return gray.to(image.dtype)


def grayscale(image: Tensor, channels: int, v2: bool = False) -> Tensor:
    if v2:
        if channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {channels}.")
        found = _planes(image)
        if found == 1 and channels != 1:
            return image.repeat([3 if axis == image.ndim - 3 else 1 for axis in range(image.ndim)])
        if found not in (1, 3):
            raise ValueError(f"Input image tensor should have 1 or 3 channels to be made gray, but found {found}")
    else:
        _need_colour_planes(image)
        if channels not in (1, 3):
            raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")
    if image.shape[-3] == 1:
        return image.clone()
    gray = _luma(image, v2).to(image.dtype)
    return gray.expand(image.shape) if channels == 3 else gray


def to_rgb(image: Tensor) -> Tensor:
    return image if _planes(image) >= 3 else grayscale(image, 3, v2=True)


def adjust_brightness(image: Tensor, factor: float, v2: bool = False) -> Tensor:
    need_not_negative("brightness_factor", factor)
    _colours(image, v2)
    if v2:
        brighter = image.mul(factor).clamp_(0, maximum(image.dtype))
        return brighter if image.is_floating_point() else brighter.to(image.dtype)
    return _blend(image, torch.zeros_like(image), factor, v2)


def adjust_contrast(image: Tensor, factor: float, v2: bool = False) -> Tensor:
    need_not_negative("contrast_factor", factor)
    gray = _whole_luma(image, v2) if _colours(image, v2) == 3 else image
    if not gray.is_floating_point():
        gray = gray.to(torch.float32)
    return _blend(image, torch.mean(gray, dim=(-3, -2, -1), keepdim=True), factor, v2)


def adjust_saturation(image: Tensor, factor: float, v2: bool = False) -> Tensor:
    need_not_negative("saturation_factor", factor)
    return image if _colours(image, v2) == 1 else _blend(image, _whole_luma(image, v2), factor, v2)


def adjust_hue(image: Tensor, factor: float, v2: bool = False) -> Tensor:
    need_hue(factor)
    if _colours(image, v2) == 1 or (v2 and image.numel() == 0):
        return image
    rgb_to_hsv = _v2_rgb_to_hsv if v2 else _rgb_to_hsv
    hue, saturation, value = rgb_to_hsv(convert_image_dtype(image, torch.float32, v2))
    shifted = (hue + factor) % 1.0
    if v2:
        rgb = _v2_hsv_to_rgb(shifted, saturation, value)
    else:
        rgb = _hsv_to_rgb(shifted, saturation, value, is_interleaved(image))
    return convert_image_dtype(rgb, image.dtype, v2)


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


def _v2_rgb_to_hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, _ = image.unbind(dim=-3)
    low, high = torch.aminmax(image, dim=-3)
    gray, spread, ones = high == low, high - low, torch.ones_like(high)
    saturation = spread / torch.where(gray, ones, high)
    # Gray has any hue; a divisor of one keeps it finite.
    divisor = torch.where(gray, ones, spread).unsqueeze_(dim=-3)
    to_red, to_green, to_blue = ((high.unsqueeze(dim=-3) - image) / divisor).unbind(dim=-3)
    not_red, is_green = high != red, high == green
    from_green = to_red.add(2.0).sub_(to_blue).mul_(is_green & not_red)
    from_red = to_blue.sub_(to_green).mul_(~not_red)
    from_blue = to_green.add_(4.0).sub_(to_red).mul_(not_red.logical_and_(is_green.logical_not_()))
    hue = from_red.add_(from_green).add_(from_blue).mul_(1.0 / 6.0).add_(1.0).fmod_(1.0)
    return hue, saturation, high


def _v2_hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    sixths = hue.mul(6)
    floor = torch.floor(sixths)
    sector = floor.to(dtype=torch.int32).remainder_(6)
    product = saturation * sixths.sub_(floor)
    rest = 1.0 - saturation
    q = (1.0 - product).mul_(value).clamp_(0.0, 1.0)
    t = product.add_(rest).mul_(value).clamp_(0.0, 1.0)
    p = rest.mul_(value).clamp_(0.0, 1.0)
    choices = torch.stack((value, p, q, t), dim=-3)
    select = torch.tensor(_SECTORS, dtype=torch.long).to(device=hue.device, non_blocking=True)[:, sector]
    return choices.gather(-3, select.moveaxis(0, -3))


def adjust_gamma(image: Tensor, gamma: float, gain: float, v2: bool = False) -> Tensor:
    if not v2:
        _colours(image, v2)
    need_gamma(gamma)
    curved = (image if image.is_floating_point() else convert_image_dtype(image, torch.float32, v2)).pow(gamma)
    if gain != 1.0 or not v2:
        curved = curved.mul_(gain).clamp_(0.0, 1.0)
    return convert_image_dtype(curved, image.dtype, v2)


def adjust_sharpness(image: Tensor, factor: float) -> Tensor:
    need_not_negative("sharpness_factor", factor)
    need_colour(dimensions(image)[0])
    if image.shape[-1] <= 2 or image.shape[-2] <= 2:
        return image
    inner = _smooth(as_float_batch(image, (float_dtype(image),)), image.shape[-3])
    smooth = image.clone()
    smooth[..., 1:-1, 1:-1] = from_float_batch(inner, image)
    return _blend(image, smooth, factor, v2=False)


def v2_adjust_sharpness(image: Tensor, factor: float) -> Tensor:
    if image.ndim < 3:
        raise ValueError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    channels, height, width = image.shape[-3:]
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor can have 1 or 3 channels, but found {channels}")
    need_not_negative("sharpness_factor", factor)
    if image.numel() == 0 or height <= 2 or width <= 2:
        return image
    batch = image.reshape(-1, channels, height, width) if image.ndim > 4 else image
    sharp = batch.to(float_dtype(image), copy=True)
    smooth = _smooth(sharp, channels)
    if not image.is_floating_point():
        smooth = smooth.round_()
    inner = sharp[..., 1:-1, 1:-1]
    inner.add_(smooth.sub_(inner), alpha=1.0 - factor)
    sharp = sharp.clamp_(0, maximum(image.dtype)).to(image.dtype)
    return sharp.reshape(image.shape) if image.ndim > 4 else sharp


def _smooth(batch: Tensor, channels: int) -> Tensor:
    """Mix each pixel, except at the border, with its eight neighbours, in floats."""
    side, centre = 1.0 / 13.0, 5.0 / 13.0
    kernel = torch.tensor([[side] * 3, [side, centre, side], [side] * 3], dtype=batch.dtype, device=batch.device)
    return nnf.conv2d(batch, kernel.expand(channels, 1, 3, 3), groups=channels)


def invert(image: Tensor) -> Tensor:
    _need_colour_planes(image)
    return image.bitwise_not() if image.dtype == torch.uint8 else maximum(image.dtype) - image


def v2_invert(image: Tensor) -> Tensor:
    if image.is_floating_point():
        return 1.0 - image
    if image.dtype == torch.uint8:
        return image.bitwise_not()
    return image.bitwise_xor((1 << value_bits(image.dtype)) - 1)


def posterize(image: Tensor, bits: int) -> Tensor:
    need_bits(bits)
    _need_colour_planes(image)
    need_uint8(image)
    return image & -int(2 ** (8 - bits))


def v2_posterize(image: Tensor, bits: int) -> Tensor:
    need_v2_bits(bits)
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)
    most = value_bits(image.dtype)
    return image if bits >= most else image & (((1 << bits) - 1) << (most - bits))


def solarize(image: Tensor, threshold: float, v2: bool = False) -> Tensor:
    if not v2:
        _need_colour_planes(image)
    need_threshold(threshold, image.dtype)
    return torch.where(image >= threshold, v2_invert(image) if v2 else invert(image), image)


def autocontrast(image: Tensor, v2: bool = False) -> Tensor:
    if v2:
        _colours(image, v2)
        if image.numel() == 0:
            return image
    else:
        _need_colour_planes(image)
    white = maximum(image.dtype)
    dtype = float_dtype(image)
    samples = image.to(dtype) if v2 and image.dtype != dtype else image
    low, high = torch.amin(samples, (-2, -1), keepdim=True), torch.amax(samples, (-2, -1), keepdim=True)
    if samples.dtype != dtype:
        low, high = low.to(dtype), high.to(dtype)
    spread = high - low
    if v2:
        flat, scale = high == low, spread.mul_(1.0 / white)
    else:
        scale = white / spread
        flat = torch.isfinite(scale).logical_not()
    low[flat] = 0.0
    scale[flat] = 1.0
    stretched = (samples - low) / scale if v2 else (samples - low) * scale
    stretched = stretched.clamp_(0, white)
    return stretched if image.dtype == dtype else stretched.to(image.dtype)


def equalize(image: Tensor) -> Tensor:
    need_image(image)
    if not 3 <= image.ndim <= 4:
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {image.ndim}")
    need_uint8(image)
    need_colour(image.shape[-3])
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


def v2_equalize(image: Tensor) -> Tensor:
    if image.numel() == 0:
        return image
    if image.ndim < 2:
        raise IndexError(f"Input image tensor should have at least 2 dimensions, but found {image.ndim}")
    samples = convert_image_dtype(image, torch.uint8, v2=True)
    index = samples.flatten(start_dim=-2).to(torch.long)
    histogram = index.new_zeros((*samples.shape[:-2], 256), dtype=torch.int32)
    histogram.scatter_add_(-1, index, histogram.new_ones(1).expand_as(index))
    total = histogram.cumsum(dim=-1)
    # All of the plane but its brightest value is shared out among 255 steps.
    brightest = histogram.gather(-1, total.argmax(dim=-1, keepdim=True))
    step = (index.shape[-1] - brightest).div_(255, rounding_mode="floor")
    table = (total - histogram + step // 2).div_(step.clamp(min=1), rounding_mode="floor").clamp_(0, 255)
    equalized = table.to(torch.uint8).gather(-1, index).view_as(samples)
    result = torch.where(step.ne(0).unsqueeze(-1), equalized, samples)
    return convert_image_dtype(result, image.dtype, v2=True)


V2 = {
    **by_v2(
        adjust_brightness,
        adjust_contrast,
        adjust_gamma,
        adjust_hue,
        adjust_saturation,
        autocontrast,
        grayscale,
        solarize,
    ),
    "adjust_sharpness": v2_adjust_sharpness,
    "equalize": v2_equalize,
    "invert": v2_invert,
    "posterize": v2_posterize,
    "to_rgb": to_rgb,
}
