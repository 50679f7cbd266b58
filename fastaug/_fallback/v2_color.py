"""torchvision's v2 functions of colour and its filters on tensors, in torch's own: where the core does not do them.

Shapes are [..., C, H, W]. Where torch's rounding decides, the calls are torchvision's, in its order.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._fallback import pil as pil_fallback
from fastaug._fallback.tensor import to_pil_image
from fastaug._program import convolution
from fastaug._program.arguments import UINT16, checked_blur, maximum
from fastaug._program.checks import need_gamma, need_hue, need_not_negative
from fastaug._program.eager import recording

# The bits that hold a value.
_BITS = {torch.uint8: 8, torch.int8: 7, torch.int16: 15, torch.int32: 31, torch.int64: 63, UINT16: 16}

# Which output of _hsv_to_rgb is the value, p, q or t in each sixth of the circle of hues; for red, green and blue.
_SECTORS = [[0, 2, 1, 1, 3, 0], [3, 0, 0, 2, 1, 1], [1, 1, 3, 0, 0, 2]]


def value_bits(dtype: torch.dtype) -> int:
    """The bits of an integer dtype that hold a value.

    Raises:
        TypeError: not an integer dtype.
    """
    bits = _BITS.get(dtype)
    if bits is None:
        raise TypeError(f"Only integer dtypes have a number of value bits, got {dtype}.")
    return bits


def _planes(image: Tensor) -> int:
    """The number of channels."""
    if image.ndim < 3:
        raise IndexError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    return image.shape[-3]


def need_colour(channels: int) -> None:
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {channels}")


def need_threshold(threshold: float, dtype: torch.dtype) -> None:
    if threshold > maximum(dtype):
        raise TypeError(
            f"Threshold should be less or equal the maximum value of the dtype, {maximum(dtype)}, but got {threshold}"
        )


def _blend(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    ratio = float(ratio)
    mixed = image.mul(ratio).add_(other, alpha=1.0 - ratio)
    return mixed.clamp_(0, maximum(image.dtype)).to(image.dtype)


def _luma(image: Tensor) -> Tensor:
    """One channel, in floats."""
    red, green, blue = image.unbind(dim=-3)
    return red.mul(0.2989).add_(green, alpha=0.587).add_(blue, alpha=0.114).unsqueeze(dim=-3)


def _whole_luma(image: Tensor) -> Tensor:
    """The same rounded down, for integers."""
    gray = _luma(image)
    return gray if image.is_floating_point() else gray.floor_()


def grayscale(image: Tensor, channels: int) -> Tensor:
    found = _planes(image)
    if found == 1:
        if channels == 1:
            return image.clone()
        return image.repeat([3 if axis == image.ndim - 3 else 1 for axis in range(image.ndim)])
    if found != 3:
        raise ValueError(f"Input image tensor should have 1 or 3 channels to be made gray, but found {found}")
    gray = _luma(image).to(image.dtype)
    return gray.expand(image.shape) if channels == 3 else gray


def to_rgb(image: Tensor) -> Tensor:
    return image if _planes(image) >= 3 else grayscale(image, 3)


def adjust_brightness(image: Tensor, factor: float) -> Tensor:
    need_not_negative("brightness_factor", factor)
    need_colour(_planes(image))
    return image.mul(factor).clamp_(0, maximum(image.dtype)).to(image.dtype)


def adjust_contrast(image: Tensor, factor: float) -> Tensor:
    need_not_negative("contrast_factor", factor)
    channels = _planes(image)
    need_colour(channels)
    if channels == 3:
        gray = _whole_luma(image)
    else:
        gray = image if image.is_floating_point() else image.to(torch.float32)
    return _blend(image, torch.mean(gray, dim=(-3, -2, -1), keepdim=True), factor)


def adjust_saturation(image: Tensor, factor: float) -> Tensor:
    need_not_negative("saturation_factor", factor)
    channels = _planes(image)
    need_colour(channels)
    return image if channels == 1 else _blend(image, _whole_luma(image), factor)


def adjust_hue(image: Tensor, factor: float) -> Tensor:
    need_hue(factor)
    channels = _planes(image)
    need_colour(channels)
    if channels == 1 or image.numel() == 0:
        return image
    hue, saturation, value = _rgb_to_hsv(to_dtype(image, torch.float32, True))
    shifted = hue.add_(factor).remainder_(1.0)
    return to_dtype(_hsv_to_rgb(shifted, saturation, value), image.dtype, True)


def _rgb_to_hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
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


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
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


def adjust_gamma(image: Tensor, gamma: float, gain: float) -> Tensor:
    need_gamma(gamma)
    if image.is_floating_point():
        curved = image.pow(gamma)
    else:
        curved = to_dtype(image, torch.float32, True).pow_(gamma)
    if gain != 1.0:
        curved = curved.mul_(gain).clamp_(0.0, 1.0)
    return to_dtype(curved, image.dtype, True)


def adjust_sharpness(image: Tensor, factor: float) -> Tensor:
    if image.ndim < 3:
        raise ValueError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    channels, height, width = image.shape[-3:]
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor can have 1 or 3 channels, but found {channels}")
    need_not_negative("sharpness_factor", factor)
    if image.numel() == 0 or height <= 2 or width <= 2:
        return image
    batch = image.reshape(-1, channels, height, width) if image.ndim > 4 else image
    dtype = image.dtype if image.is_floating_point() else torch.float32
    side, centre = 1.0 / 13.0, 5.0 / 13.0
    kernel = torch.tensor([[side] * 3, [side, centre, side], [side] * 3], dtype=dtype, device=image.device)
    sharp = batch.to(dtype=dtype, copy=True)
    smooth = nnf.conv2d(sharp, kernel.expand(channels, 1, 3, 3), groups=channels)
    if not image.is_floating_point():
        smooth = smooth.round_()
    inner = sharp[..., 1:-1, 1:-1]
    inner.add_(smooth.sub_(inner), alpha=1.0 - factor)
    sharp = sharp.clamp_(0, maximum(image.dtype)).to(image.dtype)
    return sharp.reshape(image.shape) if image.ndim > 4 else sharp


def invert(image: Tensor) -> Tensor:
    if image.is_floating_point():
        return 1.0 - image
    if image.dtype == torch.uint8:
        return image.bitwise_not()
    return image.bitwise_xor((1 << value_bits(image.dtype)) - 1)


def posterize(image: Tensor, bits: int) -> Tensor:
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)
    most = value_bits(image.dtype)
    return image if bits >= most else image & (((1 << bits) - 1) << (most - bits))


def solarize(image: Tensor, threshold: float) -> Tensor:
    need_threshold(threshold, image.dtype)
    return torch.where(image >= threshold, invert(image), image)


def autocontrast(image: Tensor) -> Tensor:
    need_colour(_planes(image))
    if image.numel() == 0:
        return image
    white = maximum(image.dtype)
    samples = image if image.is_floating_point() else image.to(torch.float32)
    low, high = (extreme(dim=(-2, -1), keepdim=True) for extreme in (samples.amin, samples.amax))
    flat = high == low
    scale = high.sub_(low).mul_(1.0 / white)
    low[flat] = 0.0
    scale[flat] = 1.0
    return samples.sub(low).div_(scale).clamp_(0, white).to(image.dtype)


def equalize(image: Tensor) -> Tensor:
    if image.numel() == 0:
        return image
    if image.ndim < 2:
        raise IndexError(f"Input image tensor should have at least 2 dimensions, but found {image.ndim}")
    samples = to_dtype(image, torch.uint8, True)
    index = samples.flatten(start_dim=-2).to(torch.long)
    histogram = index.new_zeros((*samples.shape[:-2], 256), dtype=torch.int32)
    histogram.scatter_add_(-1, index, histogram.new_ones(1).expand_as(index))
    total = histogram.cumsum(dim=-1)
    # All of the plane but its brightest value is shared out among 255 steps.
    brightest = histogram.gather(-1, total.argmax(dim=-1, keepdim=True))
    step = (index.shape[-1] - brightest).div_(255, rounding_mode="floor")
    table = (total - histogram + step // 2).div_(step.clamp(min=1), rounding_mode="floor").clamp_(0, 255)
    equalized = table.to(torch.uint8).gather(-1, index).view_as(samples)
    return to_dtype(torch.where(step.ne(0).unsqueeze(-1), equalized, samples), image.dtype, True)


def permute_channels(image: Tensor, permutation: Sequence[int]) -> Tensor:
    if image.ndim < 3:
        raise ValueError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    channels, height, width = image.shape[-3:]
    if len(permutation) != channels:
        raise ValueError(f"Length of permutation does not match number of channels: {len(permutation)} != {channels}")
    if image.numel() == 0:
        return image
    return image.reshape(-1, channels, height, width)[:, list(permutation), :, :].reshape(image.shape)


def normalize(image: Tensor, mean: Any, std: Any, inplace: bool) -> Tensor:
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got {image.shape}.")
    if not all(std) if isinstance(std, (tuple, list)) else isinstance(std, (int, float)) and std == 0:
        raise ValueError(f"std evaluated to zero, leading to division by zero. Got {std}")
    mean, std = (torch.as_tensor(value, dtype=image.dtype, device=image.device) for value in (mean, std))
    mean, std = (value.view(-1, 1, 1) if value.ndim == 1 else value for value in (mean, std))
    return (image.sub_(mean) if inplace else image.sub(mean)).div_(std)


def gaussian_kernel(size: int, sigma: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The weights of one axis."""
    end = (size - 1) / (2.0 * math.sqrt(2.0))
    positions = torch.linspace(-end, end, steps=size, dtype=dtype, device=device)
    return torch.softmax(positions.div(sigma).pow(2).neg(), dim=0)


def gaussian_blur(image: Tensor, kernel_size: Any, sigma: Any) -> Tensor:
    kernel_size, sigma = checked_blur(kernel_size, sigma)
    if image.numel() == 0:
        return image
    dtype = image.dtype if image.is_floating_point() else torch.float32
    across, down = (gaussian_kernel(size, width, dtype, image.device) for size, width in zip(kernel_size, sigma))
    kernel = down.unsqueeze(-1) * across
    batch = image.reshape(-1, *image.shape[-3:]) if image.ndim > 4 else image.unsqueeze(0) if image.ndim == 3 else image
    exact = batch if image.is_floating_point() else batch.to(dtype=torch.float32)
    blurred = convolution.blurred(exact, kernel)
    if image.ndim != 4:
        blurred = blurred.squeeze(dim=0) if image.ndim == 3 else blurred.reshape(image.shape)
    return blurred if image.is_floating_point() else blurred.round_().to(dtype=image.dtype)


def gaussian_noise(
    image: Tensor, mean: float, sigma: float, clip: bool, generator: torch.Generator | None = None
) -> Tensor:
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        noisy = image + (mean + _normal_like(image, image.dtype, generator) * sigma)
        return torch.clamp(noisy, 0, 1) if clip else noisy
    if image.dtype != torch.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
    noise = mean * 255 + _normal_like(image, torch.float32, generator) * (sigma * 255)
    noisy = image + noise.to(torch.int16)
    return (torch.clamp(noisy, 0, 255) if clip else noisy).to(torch.uint8)


def _normal_like(image: Tensor, dtype: torch.dtype, generator: torch.Generator | None) -> Tensor:
    """torch.randn_like, which takes no generator."""
    if generator is None or not image.is_cpu:
        return torch.randn_like(image, dtype=dtype)
    return torch.empty_like(image, dtype=dtype).normal_(generator=generator)


def to_dtype(image: Tensor, dtype: torch.dtype, scale: bool) -> Tensor:
    if image.dtype == dtype:
        return image
    if not scale:
        return image.to(dtype)
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        if (image.dtype == torch.float32 and dtype in (torch.int32, torch.int64)) or (
            image.dtype == torch.float64 and dtype == torch.int64
        ):
            raise RuntimeError(
                f"The conversion from {image.dtype} to {dtype} cannot be performed safely: white does not fit."
            )
        # A thousandth less than the next value, so that 1.0 becomes white and all steps are equally wide.
        return image.mul(float(maximum(dtype)) + 1.0 - 1e-3).to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype).mul_(1.0 / maximum(image.dtype))
    shift = value_bits(dtype) - value_bits(image.dtype)
    if shift < 0:
        # torch shifts no uint16.
        if image.dtype == UINT16:
            return image.div(float(1 << -shift)).to(dtype)
        return image.bitwise_right_shift(-shift).to(dtype)
    wide = image.to(dtype)
    return wide.mul(2**shift) if dtype == UINT16 else wide.bitwise_left_shift_(shift)


def _warn_of_files() -> None:
    """Give the warning of torchvision's functions for files: once when an image is written, once when it is read."""
    if recording():
        return
    warnings.warn(
        "The image decoding and encoding capabilities of TorchVision are deprecated since torchvision 0.29; JPEG of "
        "tensors goes through them there.",
        DeprecationWarning,
        stacklevel=2,
    )


def jpeg(image: Tensor, quality: Any) -> Tensor:
    """What is left of each image of a batch after it was a JPEG file: torchvision's files are Pillow's, byte by byte.

    Raises:
        ValueError: quality is not from 1 to 100.
        RuntimeError: not uint8, not of 1 or 3 channels, or no pixels.
    """
    if image.ndim < 3:
        _warn_of_files()
        raise RuntimeError(f"Input data should be a 3-dimensional tensor, got shape {tuple(image.shape)}")
    images = image.reshape(-1, *image.shape[-3:])
    if images.shape[0] == 0:
        return images.reshape(image.shape).clone()
    _warn_of_files()
    if not 1 <= quality <= 100:
        raise ValueError(f"Image quality should be a positive number between 1 and 100, got {quality}")
    if not isinstance(quality, int):
        raise RuntimeError(f"Image quality should be an int, got {quality!r}")
    if image.dtype != torch.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {image.dtype}")
    if image.shape[-3] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {image.shape[-3]}")
    files = [pil_fallback.jpeg(to_pil_image(one, None), quality) for one in images]
    for _ in range(2 * len(files) - 1):
        _warn_of_files()
    return torch.stack([pil_fallback.pil_to_tensor(file) for file in files], dim=0).view(image.shape)


def uniform_temporal_subsample(video: Tensor, count: int) -> Tensor:
    """So many frames, evenly spaced from the first to the last."""
    if video.ndim < 4:
        raise IndexError(f"Input video tensor should have at least 4 dimensions, but found {video.ndim}")
    return torch.index_select(video, -4, frames(video.shape[-4], count).to(video.device))


def frames(length: int, count: int) -> Tensor:
    """Which of so many frames are kept."""
    return torch.linspace(0, length - 1, count).long()


@functools.lru_cache(maxsize=64)
def frame_numbers(length: int, count: int, dtype: torch.dtype) -> tuple[int, ...]:
    """As `frames`, while this is torch's default dtype, which decides on the last bits of where a frame lies."""
    return tuple(frames(length, count).tolist())
