"""Pillow and torch as the native core's drafts ask them: what only they compute, and how they round."""

from __future__ import annotations

from typing import Any

import torch

from fastaug._draft.draws import TorchDraws
from fastaug._draft.geometry import RESIZE_FLAGS
from fastaug._fallback import rounding
from fastaug._program import arguments, convolution, matrices, ops, resizing

# The exponents of a narrower kernel overflow, and so do wider ones in float32.
_SHARP, _DULL = 1e-12, 1e18


def _blur(
    kernel_width: int, kernel_height: int, across: float, down: float, shape: tuple[int, int, int, int], v2: bool
) -> bytes | None:
    """Return the op BLUR for a batch of images of (images, channels, height, width), by two standard deviations."""
    if not (_SHARP <= across <= _DULL and _SHARP <= down <= _DULL):
        return None
    fused = convolution.fuses(*shape, (kernel_width, kernel_height))
    if fused is None:
        return None
    half_kernel = arguments.v2_half_kernel if v2 else arguments.half_kernel
    row = half_kernel(kernel_width, across)
    column = row if kernel_width == kernel_height and across == down else half_kernel(kernel_height, down)
    return ops.blur(row, column, fused)


def _follows(name: str) -> bool:
    """Return True if the core's result of that name is the library's."""
    if name == "bytes":
        return resizing.in_bytes()
    if name in ("bilinear", "bicubic"):
        return resizing.follows(name == "bicubic")
    return rounding.follows(name)


#: The functions, by the names that csrc/bind/libraries.cpp has for them.
FUNCTIONS: dict[str, Any] = {
    "real": arguments.real,
    "whole": arguments.whole,
    "exp": TorchDraws.exp,
    "blur": _blur,
    "perspective": matrices.perspective_coefficients,
    "size_around": matrices.size_around,
    "follows": _follows,
    "fuses_products": rounding.fuses_products,
    "default_dtype": torch.get_default_dtype,
    "float32": torch.float32,
    "width_first": bool(RESIZE_FLAGS),
}
