"""Checks of images and arguments, with torchvision's errors and warnings."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from fastaug._program.arguments import maximum


def need_pil(image: Any) -> Image.Image:
    if not isinstance(image, Image.Image):
        raise TypeError(f"img should be PIL Image. Got {type(image)}")
    return image


def need_image(image: Tensor) -> None:
    if image.ndim < 2:
        raise TypeError(f"Tensor is not a torch image: it should have 2 or more dimensions, got {image.ndim}.")


def need_channel_axis(image: Tensor) -> None:
    if image.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")


def need_channels(image: Tensor) -> None:
    if image.ndim < 3:
        raise ValueError(
            f"A tensor should have the shape (..., channels, height, width), got one of {image.ndim} dimensions"
        )


def need_colour(channels: int) -> None:
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {channels}")


def need_not_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


def need_hue(factor: float) -> None:
    if not -0.5 <= factor <= 0.5:
        raise ValueError(f"hue_factor ({factor}) is not in [-0.5, 0.5].")


def need_gamma(gamma: float) -> None:
    if gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number, got {gamma}")


def need_bits(bits: int) -> None:
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")


def need_v2_bits(bits: Any) -> None:
    if not (isinstance(bits, int) and 0 <= bits <= 8):
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")


def need_uint8(image: Tensor) -> None:
    if image.dtype != torch.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {image.dtype}")


def need_threshold(threshold: float, dtype: torch.dtype) -> None:
    if threshold > maximum(dtype):
        raise TypeError(
            f"Threshold should be less or equal the maximum value of the dtype, {maximum(dtype)}, but got {threshold}"
        )


def check_warp(channels: int, mode_name: str, fill: Any) -> None:
    if fill is not None and not isinstance(fill, (int, float, tuple, list)):
        warnings.warn("Argument fill should be either int, float, tuple or list", stacklevel=5)
    need_fill_for(channels, fill)
    if mode_name not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{mode_name}' is unsupported with Tensor input")


def need_fill_for(channels: int, fill: Any) -> None:
    if isinstance(fill, (tuple, list)) and len(fill) > 1 and len(fill) != channels:
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )


def warn_antialias() -> None:
    warnings.warn(
        "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.", stacklevel=4
    )
