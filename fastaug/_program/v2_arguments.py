"""Turn arguments of torchvision.transforms.v2 into sizes and corners, with its roundings."""

from __future__ import annotations

from typing import Any

from fastaug._program import arguments
from fastaug._program.checks import need_fill_for


def resized_size(height: int, width: int, size: Any, max_size: int | None) -> tuple[int, int]:
    """Return (height, width) after a resize.

    Args:
        height, width: before it.
        size: (height, width); or the short side, as an int or a sequence of one; or None.
        max_size: limit of the long side if `size` is the short one; its length if `size` is None.
    """
    if size is None:
        if not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        short = int(max_size * min(height, width) / max(height, width))
        return (max_size, short) if width <= height else (short, max_size)
    if isinstance(size, int):
        size = [size]
    elif max_size is not None and len(size) != 1:
        raise ValueError(
            "max_size should only be passed if size is None or specifies the length of the smaller edge, "
            f"i.e. size should be an int or a sequence of length 1, got size={size!r} and max_size={max_size!r}"
        )
    return arguments.resized_size(height, width, size, max_size)


def padding_sides(padding: Any) -> tuple[int, int, int, int]:
    if not isinstance(padding, (int, tuple, list)):
        raise TypeError(f"`padding` should be an integer or tuple or list of integers, but got {padding}")
    if not isinstance(padding, int) and len(padding) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple or list. Found {len(padding)}")
    return arguments.sides(padding)


def central_corner(height: int, width: int, size: tuple[int, int]) -> tuple[int, int]:
    """Return (top, left) of a central crop from (height, width) `size`, negative if it is larger."""
    return round((size[0] - height) / 2.0), round((size[1] - width) / 2.0)


def check_fill(fill: Any, channels: int) -> None:
    need_fill_for(channels, fill)
    if fill is not None and not isinstance(fill, (int, float, tuple, list)):
        raise ValueError(f"Argument fill should be either int, float, tuple or list, got {fill!r}")
