"""Turn torchvision's arguments into the numbers of an op: sizes, paddings, fills and kernels."""

from __future__ import annotations

import math
import numbers
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

#: None with torch 2.2, which has no such dtype.
UINT16: torch.dtype | None = getattr(torch, "uint16", None)

# The bits that hold a value.
_BITS = {torch.uint8: 8, torch.int8: 7, torch.int16: 15, torch.int32: 31, torch.int64: 63, UINT16: 16}

_FLOAT = struct.Struct("f")


def whole(value: Any) -> int | None:
    """Return an int of Python's or NumPy's. Return None for anything else, also for a bool, which torch may refuse."""
    return int(value) if isinstance(value, (int, np.integer)) and type(value) is not bool else None


def real(value: Any) -> float:
    """Return a number, or a tensor of one, as a float. Return NaN for anything else, or if it is too large."""
    if isinstance(value, torch.Tensor):
        plain = value.numel() == 1 and not value.is_complex()
    else:
        plain = isinstance(value, (int, float, np.integer, np.floating))
    try:
        return float(value) if plain else math.nan
    except OverflowError:
        return math.nan


def as_float32(number: float) -> float:
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return rounded


def maximum(dtype: torch.dtype) -> int:
    """Return the sample value of white."""
    return (1 << _BITS.get(dtype, 1)) - 1


def value_bits(dtype: torch.dtype) -> int:
    bits = _BITS.get(dtype)
    if bits is None:
        raise TypeError(f"Only integer dtypes have a number of value bits, got {dtype}.")
    return bits


def as_size_list(size: Any, max_size: Any) -> Any:
    """Check the `size` of a resize as torchvision does, and return an int as a list of one."""
    if isinstance(size, (list, tuple)):
        if len(size) not in (1, 2):
            raise ValueError(
                f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list"
            )
        if max_size is not None and len(size) != 1:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge, "
                f"i.e. size should be an int or a sequence of length 1, got size={size!r} and max_size={max_size!r}"
            )
    return [size] if isinstance(size, int) else size


def resized_size(height: int, width: int, size: Any, max_size: int | None) -> tuple[int, int]:
    """Return (height, width) after a resize to (height, width), or to (short side,) with a limit on the long one."""
    if size is None:
        raise ValueError("size should be an int or a sequence of one or two, got None")
    if len(size) != 1:
        return size[0], size[1]
    short, long = (width, height) if width <= height else (height, width)
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None:
        if max_size <= new_short:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge "
                f"size = {size}"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def square_if_single(size: Any) -> Any:
    if isinstance(size, numbers.Number):
        return int(size), int(size)  # type: ignore[call-overload]
    if isinstance(size, (tuple, list)) and len(size) == 1:
        return size[0], size[0]
    return size


def two_sides(size: Any) -> Any:
    """Return the (height, width) of a crop."""
    size = square_if_single(size)
    if len(size) != 2:
        raise ValueError(f"Please provide only two dimensions (h, w) for size. Got {size!r}")
    return size


def sides(padding: Any) -> tuple[Any, Any, Any, Any]:
    """Return (left, top, right, bottom) of a padding that torchvision accepts, unchecked."""
    if not isinstance(padding, (list, tuple)):
        return padding, padding, padding, padding
    if len(padding) == 1:
        return padding[0], padding[0], padding[0], padding[0]
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    return padding[0], padding[1], padding[2], padding[3]


def whole_sides(padding: Any) -> tuple[int, int, int, int] | None:
    """Return `sides`, or None if they are not all whole numbers."""
    left, top, right, bottom = sides(padding)
    if type(left) is type(top) is type(right) is type(bottom) is int:
        return left, top, right, bottom
    left, top, right, bottom = map(whole, (left, top, right, bottom))
    return None if left is None or top is None or right is None or bottom is None else (left, top, right, bottom)


def grid_fill(fill: Any, channels: int) -> bytes | tuple[float, ...] | None:
    """Return the fill of a grid's samples for each channel: bytes, or else float32 numbers, in a multiple of four.

    Return None for numbers that are not from 0 to 255, which torch may not convert, and for wrong lengths.
    """
    values = fill if isinstance(fill, (list, tuple)) else [fill]
    if len(values) not in (1, channels):
        return None
    if not all(isinstance(value, (int, float)) and 0.0 <= value <= 255.0 for value in values):
        return None
    samples = [*values] * (channels if len(values) == 1 else 1) + [0] * (-channels % 4)
    return bytes(map(int, samples)) if all(value in range(256) for value in values) else tuple(map(float, samples))


def checked_shear(angle: Any, translate: Any, scale: Any, shear: Any, center: Any) -> tuple[float, float]:
    """Check the arguments of an affine map as torchvision does, and return the shear along x and along y."""
    if not isinstance(angle, (int, float)):
        raise TypeError(f"Argument angle should be int or float, got {angle!r}")
    if not isinstance(translate, (list, tuple)):
        raise TypeError(f"Argument translate should be a sequence, got {translate!r}")
    if len(translate) != 2:
        raise ValueError(f"Argument translate should be a sequence of length 2, got {translate!r}")
    if scale <= 0.0:
        raise ValueError(f"Argument scale should be positive, got {scale}")
    pair: Any = shear
    if isinstance(shear, numbers.Number):
        pair = (shear, 0.0)
    elif not isinstance(shear, (list, tuple)):
        raise TypeError(f"Shear should be either a single value or a sequence of two values, got {shear!r}")
    if len(pair) == 1:
        pair = (pair[0], pair[0])
    if len(pair) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear!r}")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError(f"Argument center should be a sequence, got {center!r}")
    return pair[0], pair[1]


def checked_blur(kernel_size: Any, sigma: Any) -> tuple[Sequence[int], Sequence[float]]:
    """Check the arguments of a blur as torchvision does, and return (width, height) of the kernel and both sigmas."""
    if not isinstance(kernel_size, (int, list, tuple)):
        raise TypeError(f"kernel_size should be int or a sequence of integers. Got {type(kernel_size)}")
    if isinstance(kernel_size, int):
        kernel_size = [kernel_size, kernel_size]
    if len(kernel_size) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(kernel_size)}")
    if any(size % 2 == 0 or size < 0 for size in kernel_size):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        return kernel_size, [size * 0.15 + 0.35 for size in kernel_size]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    if isinstance(sigma, (int, float)):
        sigma = [float(sigma), float(sigma)]
    elif len(sigma) == 1:
        sigma = [sigma[0], sigma[0]]
    if len(sigma) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    if any(value <= 0.0 for value in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return kernel_size, sigma
