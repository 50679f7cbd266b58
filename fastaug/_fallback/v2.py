"""torchvision's v2 functions on tensors, with torch, unless they are v1's with another rounding.

Shapes are [..., C, H, W], of any dtype and on any device. Ops are in torchvision's order, which decides the last bits.
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
from fastaug._fallback.tensor import convert_image_dtype, cropped, mirrored, to_pil_image
from fastaug._program import resizing
from fastaug._program.checks import need_channels
from fastaug._program.eager import recording
from fastaug._program.v2_arguments import central_corner

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATS = (torch.float32, torch.float64)
_TORCH_MODES = {"edge": "replicate", "reflect": "reflect"}


def hflip(image: Tensor) -> Tensor:
    return image.flip(-1)


def vflip(image: Tensor) -> Tensor:
    return image.flip(-2)


def rot90(image: Tensor, turns: int) -> Tensor:
    return torch.rot90(image, turns, (-2, -1)) if turns else image.clone()


def crop(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """Return a view if the box lies inside the image, else a new tensor with zeros around."""
    part, around = cropped(image, top, left, height, width)
    return part if around is None else _padded(part, around, 0.0, "constant")


def center_crop(image: Tensor, height: int, width: int) -> Tensor:
    """Return the middle of an image, with zeros around if it is too small."""
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
    need_channels(image)
    around = tuple(sides)
    if not isinstance(fill, (int, float)):
        if len(fill) != 1:
            return _framed(image, around, fill, padding_mode)
        fill = fill[0]
    return _padded(image, around, float(fill), padding_mode)


def _padded(image: Tensor, around: Sequence[int], fill: float, padding_mode: str) -> Tensor:
    need_channels(image)
    shape = image.shape
    left, top, right, bottom = around
    batch = image.reshape(math.prod(shape[:-3]), *shape[-3:])
    if padding_mode == "constant":
        batch = nnf.pad(batch, [left, right, top, bottom], mode="constant", value=fill)
    elif padding_mode == "symmetric":
        batch = mirrored(batch, left, top, right, bottom)
    else:
        # torch pads by reflection and repetition in floating point only.
        exact = batch if batch.is_floating_point() else batch.to(torch.float32)
        batch = nnf.pad(exact, [left, right, top, bottom], mode=_TORCH_MODES[padding_mode]).to(image.dtype)
    return batch.reshape(*shape[:-2], *batch.shape[-2:])


def _framed(image: Tensor, around: Sequence[int], fill: Sequence[float], padding_mode: str) -> Tensor:
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar, got {fill!r}")
    result = _padded(image, around, 0.0, padding_mode)
    left, top, right, bottom = around
    # torch finds a dtype for the numbers before they are cast to the image's, which may be integers.
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
    exact = dtype in _FLOATS or (dtype == torch.uint8 and (nearest or (smooth and _resizes_bytes(image, mode_name))))
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


def _resizes_bytes(image: Tensor, mode_name: str) -> bool:
    """Return True if torch filters bytes: on the CPU alone, and bilinearly on some machines."""
    return image.device.type == "cpu" and (mode_name != "bilinear" or resizing.in_bytes())


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
    """Return torch.randn_like, but with a generator."""
    if generator is None or not image.is_cpu:
        return torch.randn_like(image, dtype=dtype)
    return torch.empty_like(image, dtype=dtype).normal_(generator=generator)


def to_dtype(image: Tensor, dtype: torch.dtype, scale: bool) -> Tensor:
    return convert_image_dtype(image, dtype, v2=True) if scale else image.to(dtype)


def warn_of_files(count: int) -> None:
    """Warn as torchvision's functions do for every file that is written or read."""
    if recording():
        return
    for _ in range(count):
        warnings.warn(
            "The image decoding and encoding capabilities of TorchVision are deprecated since torchvision 0.29; JPEG "
            "of tensors goes through them there.",
            DeprecationWarning,
            stacklevel=2,
        )


def jpeg(image: Tensor, quality: Any) -> Tensor:
    """Return each image as read back from a JPEG file. torchvision's files are Pillow's, byte by byte."""
    if image.ndim < 3:
        warn_of_files(1)
        raise RuntimeError(f"Input data should be a 3-dimensional tensor, got shape {tuple(image.shape)}")
    images = image.reshape(-1, *image.shape[-3:])
    if images.shape[0] == 0:
        return images.reshape(image.shape).clone()
    warn_of_files(1)
    if not 1 <= quality <= 100:
        raise ValueError(f"Image quality should be a positive number between 1 and 100, got {quality}")
    if not isinstance(quality, int):
        raise RuntimeError(f"Image quality should be an int, got {quality!r}")
    if image.dtype != torch.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {image.dtype}")
    if image.shape[-3] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {image.shape[-3]}")
    warn_of_files(2 * len(images) - 1)
    files = [pil_fallback.jpeg(to_pil_image(one, None), quality) for one in images]
    return torch.stack([pil_fallback.pil_to_tensor(file) for file in files], dim=0).view(image.shape)


def uniform_temporal_subsample(video: Tensor, count: int) -> Tensor:
    if video.ndim < 4:
        raise IndexError(f"Input video tensor should have at least 4 dimensions, but found {video.ndim}")
    return torch.index_select(video, -4, frames(video.shape[-4], count).to(video.device))


def frames(length: int, count: int) -> Tensor:
    """Return which of `length` frames are kept, evenly spaced from the first to the last."""
    return torch.linspace(0, length - 1, count).long()


@functools.lru_cache(maxsize=64)
def frame_numbers(length: int, count: int, dtype: torch.dtype) -> tuple[int, ...]:
    """Return `frames` for torch's default dtype, which decides the last bits of positions."""
    return tuple(frames(length, count).tolist())
