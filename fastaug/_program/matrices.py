"""Matrices of rotations, affine maps and perspectives, and sizes around them, with the roundings of v1 and v2."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from fastaug._program.eager import traced

# The product of two such numbers has fewer than 64 bits.
_SMALL = 1 << 31

#: (height, width, matrix from output to input)
Rotation = tuple[int, int, list[float]]


def rotation(
    height: int,
    width: int,
    angle: float,
    expand: bool,
    center: Sequence[float] | None,
    size: tuple[int, int] | None = None,
    translate: Sequence[float] = (0, 0),
) -> Rotation:
    """Return the affine map of Image.rotate, for a counter-clockwise angle in degrees that is not one of its shortcuts.

    `size` is (height, width) of the expanded image, by default Pillow's. `translate` moves the turned image right and
    down. Pillow rounds the coefficients to 15 decimals.
    """
    center_x, center_y = (width / 2, height / 2) if center is None else (center[0], center[1])
    radians = -math.radians(angle)
    cos, sin, minus_sin = (round(value, 15) for value in (math.cos(radians), math.sin(radians), -math.sin(radians)))
    # Turn about the centre: to the origin, rotate, back.
    before_x, before_y = -center_x - translate[0], -center_y - translate[1]
    offset_x = cos * before_x + sin * before_y + 0.0 + center_x
    offset_y = minus_sin * before_x + cos * before_y + 0.0 + center_y
    if not expand:
        return height, width, [cos, sin, offset_x, minus_sin, cos, offset_y]
    corners = ((0, 0), (width, 0), (width, height), (0, height))
    xs = [cos * x + sin * y + offset_x for x, y in corners]
    ys = [minus_sin * x + cos * y + offset_y for x, y in corners]
    if size is None:
        new_width = math.ceil(max(xs)) - math.floor(min(xs))
        new_height = math.ceil(max(ys)) - math.floor(min(ys))
    else:
        new_height, new_width = size
    # The growth is shared by both sides: shift the output by half of it.
    shift_x, shift_y = -(new_width - width) / 2.0, -(new_height - height) / 2.0
    offset_x, offset_y = (
        cos * shift_x + sin * shift_y + offset_x,
        minus_sin * shift_x + cos * shift_y + offset_y,
    )
    return new_height, new_width, [cos, sin, offset_x, minus_sin, cos, offset_y]


def rotated_size(height: int, width: int, angle: float, center: Any) -> tuple[int, int]:
    return size_around(rotation_matrix(height, width, angle, center), height, width)


def rotation_matrix(height: int, width: int, angle: float, center: Any) -> list[float]:
    """Return the map from output to input, both in pixels from their centres. It is the same for an expanded image."""
    # Rotations of tensors are counter-clockwise, affine maps clockwise.
    return affine_matrix(height, width, -angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)


def size_around(matrix: Sequence[float], height: int, width: int, v2: bool = False) -> tuple[int, int]:
    """Return (height, width) of the rectangle around a mapped image, as for rotate with expand=True."""
    size = _sure_size_around(matrix, height, width)
    return _rounded_size_around(matrix, height, width, v2) if size is None else size


def _sure_size_around(matrix: Sequence[float], height: int, width: int) -> tuple[int, int] | None:
    """Return it in double precision, or None if the roundings of torch's float32 might give another size."""
    sides = []
    for (a, b, c), half in ((matrix[3:], height * 0.5), (matrix[:3], width * 0.5)):
        reach = abs(a) * width * 0.5 + abs(b) * height * 0.5
        low, high = c - reach + half, c + reach + half
        # Six roundings of sums below this one, and a grain.
        slack = 2e-4 + (reach + abs(c) + half) * 2.0**-20
        for value in (low, high):
            # Neither is a number that is not finite.
            if not (abs(value) < 1e6 and slack < value - math.floor(value) < 1.0 - slack):
                return None
        sides.append(math.ceil(high) - math.floor(low))
    return sides[0], sides[1]


def _rounded_size_around(rows: Sequence[float], height: int, width: int, v2: bool) -> tuple[int, int]:
    matrix = torch.tensor(rows, dtype=torch.float).view(2, 3)
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
    if v2:
        high, low = high * (1.0 / grain), low * (1.0 / grain)
    else:
        high, low = high / grain, low / grain
    size = torch.ceil(high.trunc_() * grain) - torch.floor(low.trunc_() * grain)
    return int(size[1]), int(size[0])


def affine_matrix(
    height: int, width: int, angle: float, translate: Sequence[float], scale: float, shear: Sequence[float], center: Any
) -> list[float]:
    """Return the map from output to input, both in pixels from the image's centre."""
    offset: tuple[float, ...] = (0.0, 0.0)
    if center is not None:
        offset = tuple(1.0 * (middle - side * 0.5) for middle, side in zip(center, (width, height)))
    return inverse_affine_matrix(offset, angle, (1.0 * translate[0], 1.0 * translate[1]), scale, shear)


def inverse_affine_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """Return the map from output to input: clockwise rotation, scale and shear about `center`, then a shift.

    With t the translation, c the centre and A rotation times shear (determinant 1), it is A^-1 / scale * (p - c - t) +
    c, with torchvision's roundings.
    """
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    center_x, center_y = center
    shift_x, shift_y = translate
    cos_y, tan_x = math.cos(shear_y), math.tan(shear_x)
    cos, sin = math.cos(turn - shear_y), math.sin(turn - shear_y)
    m0 = (-sin * tan_x / cos_y + math.cos(turn)) / scale
    m1 = -(-cos * tan_x / cos_y - math.sin(turn)) / scale
    m3 = -(sin / cos_y) / scale
    m4 = cos / cos_y / scale
    back_x, back_y = -center_x - shift_x, -center_y - shift_y
    zero = 0.0 / scale
    m2 = zero + (m0 * back_x + m1 * back_y) + center_x
    m5 = zero + (m3 * back_x + m4 * back_y) + center_y
    return [m0, m1, m2, m3, m4, m5]


def affine_matrices(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return v2's affine map from input to output, and the one back."""
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


def perspective_coefficients(startpoints: Any, endpoints: Any) -> list[float]:
    """Return the eight numbers of a map from output to input that takes each end point to its start point.

    The least squares problem, its driver and its roundings are torchvision's.
    """
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and {len(endpoints)} endpoints."
        )
    if _are_small_ints(startpoints) and _are_small_ints(endpoints):
        # numpy converts short lists faster than torch.
        matrix = torch.from_numpy(np.array([*_corner_rows(startpoints, endpoints)], dtype=np.float64))
        targets = torch.from_numpy(np.array(startpoints, dtype=np.float64).reshape(8))
    else:
        # torchvision writes row by row, each in torch's dtype for such numbers.
        matrix = torch.zeros(8, 8, dtype=torch.float64)
        for index, row in enumerate(_corner_rows(startpoints, endpoints)):
            matrix[index, :] = torch.tensor(row)
        targets = torch.tensor(startpoints, dtype=torch.float64).view(8)
    solution = torch.linalg.lstsq(matrix, targets, driver="gels").solution
    if traced():  # there may be no numbers, which numpy would not notice
        coefficients: list[float] = solution.to(torch.float32).tolist()
    else:
        coefficients = solution.numpy().astype(np.float32).tolist()
    return coefficients


def _are_small_ints(points: Any) -> bool:
    """Return whether torch takes the products of these corners, for which it raises an error beyond 64 bits."""
    return all(
        type(point) is list
        and len(point) == 2
        and type(point[0]) is type(point[1]) is int
        and -_SMALL < point[0] < _SMALL
        and -_SMALL < point[1] < _SMALL
        for point in points
    )


def _corner_rows(startpoints: Any, endpoints: Any) -> Iterator[list[Any]]:
    for end, start in zip(endpoints, startpoints):
        yield [end[0], end[1], 1, 0, 0, 0, -start[0] * end[0], -start[0] * end[1]]
        yield [0, 0, 0, end[0], end[1], 1, -start[1] * end[0], -start[1] * end[1]]


def checked_coefficients(startpoints: Any, endpoints: Any, coefficients: Any) -> Sequence[float]:
    """Return the eight numbers of a perspective, which are given, or found from four corners."""
    if coefficients is not None:
        if startpoints is not None and endpoints is not None:
            raise ValueError("The startpoints/endpoints and the coefficients shouldn't be defined concurrently.")
        if len(coefficients) != 8:
            raise ValueError(f"Argument coefficients should have 8 float values, got {len(coefficients)}")
        given: Sequence[float] = coefficients
        return given
    if startpoints is None or endpoints is None:
        raise ValueError("Either the startpoints/endpoints or the coefficients must have non `None` values.")
    return perspective_coefficients(startpoints, endpoints)
