"""From torchvision's arguments to the numbers of an op: sizes, paddings, fills and the matrix of a rotation."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

#: (height, width, matrix from output to input)
Rotation = tuple[int, int, list[float]]


def as_size_list(size: Any, max_size: Any) -> Any:
    """Checks the `size` of a resize as torchvision does; an int becomes a list of one."""
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
    """(height, width) after a resize to `size`: (height, width), or (short side,) with a limit on the long one."""
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
    """A number or a sequence of one means a square."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)  # type: ignore[call-overload]
    if isinstance(size, (tuple, list)) and len(size) == 1:
        return size[0], size[0]
    return size


def sides(padding: Any) -> tuple[int, int, int, int] | None:
    """(left, top, right, bottom) of a padding that torchvision accepts; None for what is not made of ints."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not all(isinstance(side, int) for side in padding):
        return None
    if len(padding) == 1:
        return (padding[0],) * 4
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    return padding[0], padding[1], padding[2], padding[3]


def fill_bytes(fill: Any, channels: int) -> bytes | None:
    """One byte per channel, at least four: truncated to int and clamped to 0..255, as Pillow reads a colour.

    None for types that Pillow reads in other ways.

    Raises:
        ValueError: a sequence whose length is neither 1 nor the number of channels.
    """
    if fill is None:
        return bytes(max(channels, 4))
    if isinstance(fill, (int, float)):
        return bytes((min(max(int(fill), 0), 255),)) * max(channels, 4)
    if not isinstance(fill, (list, tuple)):
        return None
    if len(fill) != 1 and len(fill) != channels:
        raise ValueError(
            "The number of elements in 'fill' does not match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    values = bytes(min(max(int(value), 0), 255) for value in fill)
    if len(fill) == 1:
        return values * max(channels, 4)
    return values + bytes(max(4 - channels, 0))


def rotation(height: int, width: int, angle: float, expand: bool, center: Sequence[float] | None) -> Rotation:
    """The affine map of Image.rotate (Pillow, Image.py), for an angle in degrees that is no shortcut of it.

    Positive angles turn counter-clockwise. The coefficients are rounded to 15 decimals there, so they are here.
    """
    center_x, center_y = (width / 2, height / 2) if center is None else (center[0], center[1])
    radians = -math.radians(angle)
    cos, sin, minus_sin = (round(value, 15) for value in (math.cos(radians), math.sin(radians), -math.sin(radians)))
    # Turn about the centre: to the origin, rotate, back.
    offset_x = cos * -center_x + sin * -center_y + 0.0 + center_x
    offset_y = minus_sin * -center_x + cos * -center_y + 0.0 + center_y
    if not expand:
        return height, width, [cos, sin, offset_x, minus_sin, cos, offset_y]
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    xs = [cos * x + sin * y + offset_x for x, y in corners]
    ys = [minus_sin * x + cos * y + offset_y for x, y in corners]
    new_width = math.ceil(max(xs)) - math.floor(min(xs))
    new_height = math.ceil(max(ys)) - math.floor(min(ys))
    # The growth is shared by both sides: shift the output by half of it.
    shift_x, shift_y = -(new_width - width) / 2.0, -(new_height - height) / 2.0
    offset_x, offset_y = (
        cos * shift_x + sin * shift_y + offset_x,
        minus_sin * shift_x + cos * shift_y + offset_y,
    )
    return new_height, new_width, [cos, sin, offset_x, minus_sin, cos, offset_y]
