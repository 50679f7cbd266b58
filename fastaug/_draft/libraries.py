"""Pillow and torch as the native core's drafts ask them: what only they compute, and how they round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as nnf

from fastaug._draft.draws import TorchDraws, chosen, python_random, shuffled
from fastaug._draft.geometry import RESIZE_FLAGS
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import rounding, v2, warp
from fastaug._program import arguments, convolution, matrices, resizing

_CPU = torch.device("cpu")


def _positions(size: int, v2: bool) -> list[float]:
    positions: list[float] = warp.gaussian_positions(size, torch.float32, _CPU, v2).tolist()
    return positions


def _weights(exponents: memoryview, v2: bool) -> None:
    """Overwrite the float32 exponents of a Gaussian kernel with its weights."""
    weights = torch.from_numpy(np.frombuffer(exponents, np.float32))
    weights.copy_(warp.gaussian_weights(weights, v2))


def _product(points: memoryview, columns: memoryview, product: memoryview, doubles: bool) -> None:
    """Write the products of rows of (x, y, 1) and of two columns, as torchvision asks torch for them."""
    dtype = torch.float64 if doubles else torch.float32
    rows, numbers, result = (torch.frombuffer(memory, dtype=dtype) for memory in (points, columns, product))
    with torch.autocast("cpu", enabled=False), torch.no_grad():
        result.view(-1, 2).copy_(torch.matmul(rows.view(-1, 3), numbers.view(2, 3).T))


def _follows(name: str) -> bool:
    """Return True if the core's result of that name is the library's."""
    if name == "bytes":
        return resizing.in_bytes()
    if name in ("bilinear", "bicubic"):
        return resizing.follows(name == "bicubic")
    return rounding.follows(name)


def _python_draws() -> Callable[[], None]:
    """Return a function that has Python's ``random`` draw the same again."""
    random = python_random()
    return partial(random.setstate, random.getstate())


#: The functions, by the names that csrc/bind/libraries.cpp has for them.
FUNCTIONS: dict[str, Any] = {
    "real": arguments.real,
    "whole": arguments.whole,
    "exp": TorchDraws.exp,
    "positions": _positions,
    "weights": _weights,
    "fuses": convolution.fuses,
    "convolution_settings": convolution.SETTINGS,
    "convolutions": vars(nnf),
    "perspective": matrices.perspective_coefficients,
    "size_around": matrices.size_around,
    "follows": _follows,
    "fuses_products": rounding.fuses_products,
    "default_dtype": torch.get_default_dtype,
    "float32": torch.float32,
    "product": _product,
    "matmul_precision": torch.get_float32_matmul_precision,
    "width_first": bool(RESIZE_FLAGS),
    "jpeg_info": pil_fallback.jpeg_info,
    "warn_of_files": v2.warn_of_files,
    "python_draws": _python_draws,
    "chosen": chosen,
    "shuffled": shuffled,
}
