"""Ops of torchvision.transforms, with torch, on tensors that the native core does not hold.

These have float and other dtypes, other devices, or antialias=False. Shapes are [..., C, H, W] or [H, W].
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._program import arguments
from fastaug._program.arguments import UINT16, maximum, value_bits
from fastaug._program.checks import need_image

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def by_v2(*functions: Callable[..., Tensor]) -> dict[str, Callable[..., Tensor]]:
    """Return the functions with `v2`, by their names."""

    def bound(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        # torch.compile reads a closure in every release, but not a partial.
        return lambda *given: function(*given, v2=True)

    return {function.__name__: bound(function) for function in functions}


def dimensions(image: Tensor) -> tuple[int, int, int]:
    need_image(image)
    return (1 if image.ndim == 2 else image.shape[-3]), image.shape[-2], image.shape[-1]


def transpose(image: Tensor) -> Tensor:
    need_image(image)
    return image.transpose(-1, -2).contiguous()


def rot90(image: Tensor, turns: int) -> Tensor:
    need_image(image)
    return torch.rot90(image, turns, (-2, -1))


def hflip(image: Tensor) -> Tensor:
    need_image(image)
    return image.flip(-1)


def vflip(image: Tensor) -> Tensor:
    need_image(image)
    return image.flip(-2)


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """Return a view if the box lies inside the image, else a new tensor with zeros around."""
    need_image(image)
    part, around = cropped(image, top, left, height, width)
    return part if around is None else pad(part, around, 0, "constant")


def cropped(
    image: Tensor, top: int, left: int, height: int, width: int
) -> tuple[Tensor, tuple[int, int, int, int] | None]:
    """Return the part of a box inside the image, and the (left, top, right, bottom) that it lacks, or None."""
    image_height, image_width = image.shape[-2:]
    right, bottom = left + width, top + height
    if not (left < 0 or top < 0 or right > image_width or bottom > image_height):
        return image[..., top:bottom, left:right], None
    around = (
        max(min(right, 0) - left, 0),
        max(min(bottom, 0) - top, 0),
        max(right - max(image_width, left), 0),
        max(bottom - max(image_height, top), 0),
    )
    return image[..., max(top, 0) : bottom, max(left, 0) : right], around


def mirrored(image: Tensor, left: int, top: int, right: int, bottom: int) -> Tensor:
    """Add a border by reflection that repeats the outermost samples. Negative sides are cut off first."""
    if min(left, top, right, bottom) < 0:
        height, width = image.shape[-2:]
        image = image[..., -min(top, 0) : height + min(bottom, 0), -min(left, 0) : width + min(right, 0)]
        left, top, right, bottom = max(left, 0), max(top, 0), max(right, 0), max(bottom, 0)

    def order(size: int, before: int, after: int) -> Tensor:
        # Negative indices count from the end, so that a border wider than the image is an IndexError.
        index = [*range(before - 1, -1, -1), *range(size), *range(-1, -after - 1, -1)]
        return torch.tensor(index, device=image.device)

    rows, columns = order(image.shape[-2], top, bottom), order(image.shape[-1], left, right)
    return image[..., rows[:, None], columns[None, :]]


def pad(image: Tensor, padding: Any, fill: Any, padding_mode: str) -> Tensor:
    need_image(image)
    if fill is None:
        fill = 0
    left, top, right, bottom = arguments.sides(padding)
    if padding_mode == "symmetric":
        if image.ndim not in (3, 4):
            raise RuntimeError(f"Symmetric padding needs a tensor of 3 or 4 dimensions, got {image.ndim}")
        return mirrored(image, left, top, right, bottom)
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


def erase(image: Tensor, top: int, left: int, height: int, width: int, value: Any, inplace: bool) -> Tensor:
    need_image(image)
    if not inplace:
        image = image.clone()
    image[..., top : top + height, left : left + width] = value
    return image


def float_dtype(image: Tensor) -> torch.dtype:
    """Return the dtype in which an image is computed."""
    return image.dtype if image.is_floating_point() else torch.float32


def as_float_batch(image: Tensor, accepted: tuple[torch.dtype, ...]) -> Tensor:
    batch = image if image.ndim >= 4 else image.unsqueeze(0)
    return batch if batch.dtype in accepted else batch.to(accepted[0])


def from_float_batch(batch: Tensor, like: Tensor) -> Tensor:
    result = batch if like.ndim >= 4 else batch.squeeze(0)
    if result.dtype == like.dtype:
        return result
    return (torch.round(result) if like.dtype in _INTEGERS else result).to(like.dtype)


def resize(image: Tensor, height: int, width: int, interpolation: int, mode_name: str, antialias: bool) -> Tensor:
    need_image(image)
    smooth = mode_name in ("bilinear", "bicubic")
    batch = as_float_batch(image, (torch.float32, torch.float64))
    result = nnf.interpolate(
        batch,
        size=[height, width],
        mode=mode_name,
        align_corners=False if smooth else None,
        antialias=bool(antialias) and smooth,
    )
    if mode_name == "bicubic" and image.dtype == torch.uint8:
        result = result.clamp(min=0, max=255)
    return from_float_batch(result, image)


def _is_float(dtype: Any) -> bool:
    if type(dtype) is torch.dtype:
        return dtype.is_floating_point
    # torch raises its own error for anything else.
    return torch.tensor(0, dtype=dtype).is_floating_point()


def convert_image_dtype(image: Tensor, dtype: torch.dtype, v2: bool = False) -> Tensor:
    """Scale from white to white."""
    if image.dtype == dtype:
        return image
    to_float = dtype.is_floating_point if v2 else _is_float(dtype)
    if image.is_floating_point():
        if to_float:
            return image.to(dtype)
        if (image.dtype == torch.float32 and dtype in (torch.int32, torch.int64)) or (
            image.dtype == torch.float64 and dtype == torch.int64
        ):
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        # A thousandth less than the next value, so that 1.0 becomes white and all steps are equally wide.
        return image.mul(float(maximum(dtype)) + 1.0 - 1e-3).to(dtype)
    white = float(maximum(image.dtype))
    if to_float:
        return image.to(dtype).mul_(1.0 / white) if v2 else image.to(dtype) / white
    if v2:
        return _shifted(image, dtype)
    out_white = float(maximum(dtype))
    if white > out_white:
        return torch.div(image, int((white + 1) // (out_white + 1)), rounding_mode="floor").to(dtype)
    return image.to(dtype) * int((out_white + 1) // (white + 1))


def _shifted(image: Tensor, dtype: torch.dtype) -> Tensor:
    shift = value_bits(dtype) - value_bits(image.dtype)
    if shift < 0:
        # torch shifts no uint16.
        if image.dtype == UINT16:
            return image.div(float(1 << -shift)).to(dtype)
        return image.bitwise_right_shift(-shift).to(dtype)
    wide = image.to(dtype)
    return wide.mul(2**shift) if dtype == UINT16 else wide.bitwise_left_shift_(shift)


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
    """Convert an HW or HWC array of any dtype as ToTensor does."""
    samples = torch.from_numpy((pixels[:, :, None] if pixels.ndim == 2 else pixels).transpose((2, 0, 1))).contiguous()
    return samples.to(torch.get_default_dtype()).div(255) if samples.dtype == torch.uint8 else samples


def from_array(pixels: np.ndarray, mode: str) -> Image.Image:
    height, width = pixels.shape[:2]
    return Image.frombuffer(mode, (width, height), np.ascontiguousarray(pixels), "raw", mode, 0, 1)


def array_planes(pixels: np.ndarray) -> Tensor:
    """Return an HW or HWC array as CHW."""
    return torch.from_numpy(np.atleast_3d(pixels)).permute((2, 0, 1)).contiguous()


# The modes of an image by its number of channels; the first is the default.
_MODES = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
_SINGLE = {
    np.dtype(np.uint8): "L",
    np.dtype(np.int16): "I;16" if sys.byteorder == "little" else "I;16B",
    np.dtype(np.int32): "I",
    np.dtype(np.float32): "F",
}


def to_pil_image(image: Any, mode: str | None) -> Image.Image:
    """Convert a CHW or HW tensor, or an HWC or HW array, of any dtype."""
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
    return from_array(image, mode)
