"""Ops on tensors that the native core does not hold: float and other dtypes, other devices, antialias=False.

They compute what torchvision.transforms computes on tensors, with torch. Shapes are [..., C, H, W] or [H, W].
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as nnf

from fastaug import _fallback_pil, _lower

_MAXIMA = {
    torch.uint8: 255,
    torch.int8: 127,
    torch.int16: 32767,
    torch.int32: 2**31 - 1,
    torch.int64: 2**63 - 1,
}
if hasattr(torch, "uint16"):
    _MAXIMA[torch.uint16] = 65535
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def maximum(dtype: torch.dtype) -> int:
    """The sample value of white."""
    return _MAXIMA.get(dtype, 1)


def need_image(image: Tensor) -> None:
    if image.ndim < 2:
        raise TypeError(f"Tensor is not a torch image: it should have 2 or more dimensions, got {image.ndim}.")


def dimensions(image: Tensor) -> tuple[int, int, int]:
    """(channels, height, width)."""
    need_image(image)
    return (1 if image.ndim == 2 else image.shape[-3]), image.shape[-2], image.shape[-1]


def need_colour(image: Tensor) -> int:
    """The number of channels, which must be 1 or 3."""
    channels, _, _ = dimensions(image)
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are [1, 3], but found {channels}")
    return channels


def need_channel_axis(image: Tensor) -> None:
    if image.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")


def hflip(image: Tensor) -> Tensor:
    need_image(image)
    return image.flip(-1)


def vflip(image: Tensor) -> Tensor:
    need_image(image)
    return image.flip(-2)


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A view of the image where the box lies inside it; else a new tensor with zeros around."""
    _, image_height, image_width = dimensions(image)
    bottom, right = top + height, left + width
    if left >= 0 and top >= 0 and right <= image_width and bottom <= image_height:
        return image[..., top:bottom, left:right]
    around = [
        max(-left + min(0, right), 0),
        max(-top + min(0, bottom), 0),
        max(right - max(image_width, left), 0),
        max(bottom - max(image_height, top), 0),
    ]
    return pad(image[..., max(top, 0) : bottom, max(left, 0) : right], around, 0, "constant")


def _pad_symmetric(image: Tensor, left: int, top: int, right: int, bottom: int) -> Tensor:
    if min(left, top, right, bottom) < 0:
        height, width = image.shape[-2:]
        image = image[..., -min(top, 0) : height + min(bottom, 0), -min(left, 0) : width + min(right, 0)]
        left, top, right, bottom = max(left, 0), max(top, 0), max(right, 0), max(bottom, 0)
    if image.ndim not in (3, 4):
        raise RuntimeError(f"Symmetric padding needs a tensor of 3 or 4 dimensions, got {image.ndim}")

    def mirrored(size: int, before: int, after: int) -> Tensor:
        # Negative indices count from the end, so a padding beyond the image is an IndexError.
        index = [*range(before - 1, -1, -1), *range(size), *range(-1, -after - 1, -1)]
        return torch.tensor(index, device=image.device)

    rows = mirrored(image.shape[-2], top, bottom)
    columns = mirrored(image.shape[-1], left, right)
    return image[..., rows[:, None], columns[None, :]]


def pad(image: Tensor, padding: Any, fill: Any, padding_mode: str) -> Tensor:
    need_image(image)
    if fill is None:
        fill = 0
    if not isinstance(padding, (int, tuple, list)):
        raise TypeError(f"Got inappropriate padding arg: {padding!r}, accepted are an int or a sequence of ints")
    if not isinstance(fill, (int, float)):
        raise TypeError(f"Got inappropriate fill arg: {fill!r}, tensors accept a number")
    box: Any = _lower.sides(padding) or padding
    left, top, right, bottom = box
    if padding_mode == "symmetric":
        return _pad_symmetric(image, left, top, right, bottom)
    batch = image if image.ndim >= 4 else image.unsqueeze(0)
    around = [left, right, top, bottom]
    if padding_mode == "constant":
        result = nnf.pad(batch, around, mode="constant", value=float(fill))
    else:
        # torch pads by reflection and repetition in floating point only.
        exact = batch if batch.dtype in (torch.float32, torch.float64) else batch.to(torch.float32)
        mode = "replicate" if padding_mode == "edge" else "reflect"
        result = nnf.pad(exact, around, mode=mode).to(image.dtype)
    return result if image.ndim >= 4 else result.squeeze(0)


def _as_float_batch(image: Tensor, accepted: tuple[torch.dtype, ...]) -> Tensor:
    batch = image if image.ndim >= 4 else image.unsqueeze(0)
    return batch if batch.dtype in accepted else batch.to(accepted[0])


def _from_float_batch(batch: Tensor, like: Tensor) -> Tensor:
    result = batch if like.ndim >= 4 else batch.squeeze(0)
    if result.dtype == like.dtype:
        return result
    return (torch.round(result) if like.dtype in _INTEGERS else result).to(like.dtype)


def resize(image: Tensor, height: int, width: int, interpolation: int, mode_name: str, antialias: bool) -> Tensor:
    need_image(image)
    smooth = mode_name in ("bilinear", "bicubic")
    batch = _as_float_batch(image, (torch.float32, torch.float64))
    result = nnf.interpolate(
        batch,
        size=[height, width],
        mode=mode_name,
        align_corners=False if smooth else None,
        antialias=bool(antialias) and smooth,
    )
    if mode_name == "bicubic" and image.dtype == torch.uint8:
        result = result.clamp(min=0, max=255)
    return _from_float_batch(result, image)


def check_rotation(channels: int, mode_name: str, fill: Any) -> None:
    """The limits of rotation on tensors, whatever their dtype."""
    if isinstance(fill, (tuple, list)) and len(fill) > 1 and len(fill) != channels:
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    if mode_name not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{mode_name}' is unsupported with Tensor input")


def _expanded_size(matrix: Tensor, height: int, width: int) -> tuple[int, int]:
    """(height, width) of the rectangle around the rotated image."""
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
    size = torch.ceil((high / grain).trunc_() * grain) - torch.floor((low / grain).trunc_() * grain)
    return int(size[1]), int(size[0])


def rotate(
    image: Tensor, angle: float, interpolation: int, mode_name: str, expand: bool, center: Any, fill: Any
) -> Tensor:
    channels, height, width = dimensions(image)
    check_rotation(channels, mode_name, fill)
    offset = [0.0, 0.0] if center is None else [1.0 * (c - s * 0.5) for c, s in zip(center, (width, height))]
    matrix = _rotation_matrix(offset, angle)
    out_height, out_width = height, width
    if expand:
        out_height, out_width = _expanded_size(torch.tensor(matrix, dtype=torch.float).view(2, 3), height, width)
    dtype = image.dtype if image.is_floating_point() else torch.float32
    theta = torch.tensor(matrix, dtype=dtype, device=image.device).view(1, 2, 3)
    grid = _affine_grid(theta, height, width, out_height, out_width)
    return _sample(image, grid, mode_name, fill)


def _rotation_matrix(center: list[float], angle: float) -> list[float]:
    """Output to input, in pixels from the image's centre."""
    cos, sin = math.cos(math.radians(-angle)), math.sin(math.radians(-angle))
    x, y = center
    return [cos, sin, cos * -x + sin * -y + x, -sin, cos, -sin * -x + cos * -y + y]


def _affine_grid(theta: Tensor, height: int, width: int, out_height: int, out_width: int) -> Tensor:
    """Where every output pixel lies in the input, in grid_sample's units."""
    base = torch.empty(1, out_height, out_width, 3, dtype=theta.dtype, device=theta.device)
    half_x, half_y = out_width * 0.5, out_height * 0.5
    base[..., 0].copy_(torch.linspace(-half_x + 0.5, half_x - 0.5, steps=out_width, device=theta.device))
    rows = torch.linspace(-half_y + 0.5, half_y - 0.5, steps=out_height, device=theta.device)
    base[..., 1].copy_(rows.unsqueeze_(-1))
    base[..., 2].fill_(1)
    scaled = theta.transpose(1, 2) / torch.tensor([0.5 * width, 0.5 * height], dtype=theta.dtype, device=theta.device)
    return base.view(1, out_height * out_width, 3).bmm(scaled).view(1, out_height, out_width, 2)


def _sample(image: Tensor, grid: Tensor, mode_name: str, fill: Any) -> Tensor:
    batch = _as_float_batch(image, (grid.dtype,))
    if batch.shape[0] > 1:
        grid = grid.expand(batch.shape[0], -1, -1, -1)
    if fill is None:
        sampled = nnf.grid_sample(batch, grid, mode=mode_name, padding_mode="zeros", align_corners=False)
        return _from_float_batch(sampled, image)
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
    return _from_float_batch(result, image)


def _blend(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    ratio = float(ratio)
    return (ratio * image + (1.0 - ratio) * other).clamp(0, maximum(image.dtype)).to(image.dtype)


def need_not_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


def need_hue(factor: float) -> None:
    if not -0.5 <= factor <= 0.5:
        raise ValueError(f"hue_factor ({factor}) is not in [-0.5, 0.5].")


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
    return convert_image_dtype(_hsv_to_rgb((hue + factor) % 1.0, saturation, value), image.dtype)


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


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
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
    return torch.stack([choice.gather(0, index).squeeze(0) for choice in choices], dim=-3)


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


def convert_image_dtype(image: Tensor, dtype: torch.dtype) -> Tensor:
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        if (image.dtype == torch.float32 and dtype in (torch.int32, torch.int64)) or (
            image.dtype == torch.float64 and dtype == torch.int64
        ):
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        # A thousandth less than the next value, so that 1.0 becomes white and all steps are equally wide.
        return image.mul(float(maximum(dtype)) + 1.0 - 1e-3).to(dtype)
    white = float(maximum(image.dtype))
    if dtype.is_floating_point:
        return image.to(dtype) / white
    out_white = float(maximum(dtype))
    if white > out_white:
        return torch.div(image, int((white + 1) // (out_white + 1)), rounding_mode="floor").to(dtype)
    return image.to(dtype) * int((out_white + 1) // (white + 1))


def normalize(image: Tensor, mean: Any, std: Any, inplace: bool) -> Tensor:
    need_image(image)
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {image.size()}"
        )
    if not inplace:
        image = image.clone()
    mean, std = (torch.as_tensor(value, dtype=image.dtype, device=image.device) for value in (mean, std))
    if (std == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {image.dtype}, leading to division by zero.")
    mean, std = (value.view(-1, 1, 1) if value.ndim == 1 else value for value in (mean, std))
    return image.sub_(mean).div_(std)


def array_to_tensor(pixels: np.ndarray) -> Tensor:
    """ToTensor of an HW or HWC array of any dtype."""
    samples = torch.from_numpy((pixels[:, :, None] if pixels.ndim == 2 else pixels).transpose((2, 0, 1))).contiguous()
    return samples.to(torch.get_default_dtype()).div(255) if samples.dtype == torch.uint8 else samples


# The modes of an image by its number of channels; the first is the default.
_MODES = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
_SINGLE = {
    np.dtype(np.uint8): "L",
    np.dtype(np.int16): "I;16" if sys.byteorder == "little" else "I;16B",
    np.dtype(np.int32): "I",
    np.dtype(np.float32): "F",
}


def to_pil_image(image: Any, mode: str | None) -> Image.Image:
    """A CHW or HW tensor, or an HWC or HW array, of any dtype as a PIL image."""
    if isinstance(image, Tensor):
        image = (image.permute((1, 2, 0)) if image.ndim == 3 else image).numpy(force=True)
    elif not isinstance(image, np.ndarray):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(image)}.")
    if image.ndim == 2:
        image = image[:, :, None]
    if image.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {image.ndim} dimensions.")
    channels = image.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if np.issubdtype(image.dtype, np.floating) and mode != "F":
        image = (image * 255).astype(np.uint8)
    if channels == 1:
        image = image[:, :, 0]
        expected = _SINGLE.get(image.dtype)
        if mode is not None and mode != expected:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {image.dtype}. Should be {expected}")
        mode = expected
    else:
        accepted = _MODES.get(channels, _MODES[3])
        if mode is not None and mode not in accepted:
            raise ValueError(f"Only modes {list(accepted)} are supported for {channels}D inputs, got {mode!r}")
        if mode is None and image.dtype == np.uint8:
            mode = accepted[0]
    if mode is None:
        raise TypeError(f"Input type {image.dtype} is not supported")
    return _fallback_pil.from_array(image, mode)
