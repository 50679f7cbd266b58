"""From the arguments of torchvision.transforms.v2 to sizes, matrices and coefficients, with its roundings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fastaug._program import arguments


def resized_size(height: int, width: int, size: Any, max_size: int | None) -> tuple[int, int]:
    """(height, width) after a resize.

    Args:
        height, width: before it.
        size: (height, width); or the short side, as an int or a sequence of one; or None.
        max_size: limit of the long side, where `size` is the short one; its length, where `size` is None.

    Raises:
        ValueError: `max_size` where it has no meaning, or is not above the short side.
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
    """(left, top, right, bottom).

    Raises:
        ValueError: a sequence of another length than 1, 2 or 4.
        TypeError: neither an int nor a sequence.
    """
    if not isinstance(padding, (int, tuple, list)):
        raise TypeError(f"`padding` should be an integer or tuple or list of integers, but got {padding}")
    if not isinstance(padding, int) and len(padding) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple or list. Found {len(padding)}")
    return arguments.sides(padding)


def check_padding_mode(padding_mode: Any) -> None:
    """Raises ValueError for a mode that there is not."""
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(
            "`padding_mode` should be either `'constant'`, `'edge'`, `'reflect'` or `'symmetric'`, "
            f"but got `{padding_mode!r}`."
        )


def central_corner(height: int, width: int, size: tuple[int, int]) -> tuple[int, int]:
    """(top, left) of a central crop out of (height, width) `size`; negative where it reaches out."""
    return round((size[0] - height) / 2.0), round((size[1] - width) / 2.0)


def affine_matrices(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Six numbers of an affine map from input to output, and of the one back.

    The map is clockwise rotation, scale and shear about the centre, then a shift.
    """
    x, y = center
    to_x, to_y = x + translate[0], y + translate[1]
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    cos_y, tan_x = math.cos(shear_y), math.tan(shear_x)
    a = math.cos(turn - shear_y) / cos_y
    b = -(a * tan_x + math.sin(turn))
    c = math.sin(turn - shear_y) / cos_y
    d = math.cos(turn) - c * tan_x
    forth = [a * scale, b * scale, 0.0, c * scale, d * scale, 0.0]
    forth[2] += to_x - forth[0] * x - forth[1] * y
    forth[5] += to_y - forth[3] * x - forth[4] * y
    # The rotation and the shear have determinant 1.
    back = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    back[2] += x - back[0] * to_x - back[1] * to_y
    back[5] += y - back[3] * to_x - back[4] * to_y
    return forth, back


def perspective_coefficients(startpoints: Any, endpoints: Any, coefficients: Any) -> Sequence[float]:
    """The eight numbers of a map from output to input: given, or from four corners and where they go.

    Raises:
        ValueError: both or neither are given, not eight numbers, not four corners.
    """
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise ValueError("The startpoints/endpoints and the coefficients shouldn't be defined concurrently.")
        if len(coefficients) != 8:
            raise ValueError(f"Argument coefficients should have 8 float values, got {len(coefficients)}")
        given: Sequence[float] = coefficients
        return given
    if startpoints is None or endpoints is None:
        raise ValueError("Either the startpoints/endpoints or the coefficients must have non `None` values.")
    return arguments.perspective_coefficients(startpoints, endpoints)


def check_fill(fill: Any, channels: int) -> None:
    """What a warp of a tensor may show outside of it.

    Raises:
        ValueError: neither a number nor a sequence, or not one number for each channel.
    """
    if isinstance(fill, (tuple, list)):
        if len(fill) > 1 and len(fill) != channels:
            raise ValueError(
                "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
                f"({len(fill)} != {channels})"
            )
    elif fill is not None and not isinstance(fill, (int, float)):
        raise ValueError(f"Argument fill should be either int, float, tuple or list, got {fill!r}")
