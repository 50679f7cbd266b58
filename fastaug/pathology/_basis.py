"""Stain matrices by name or rows, and checks of the arguments of stain transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from fastaug._program import ops
from fastaug._program.stains import Rows, Triple, is_singular

#: Published matrices, a row of densities in red, green and blue for each stain.
PRESETS: dict[str, Rows] = {
    # Haematoxylin, eosin and DAB: Ruifrok and Johnston, Quantification of histochemical staining by color
    # deconvolution, 2001; as printed in scikit-image's rgb_from_hed.
    "hed": ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78)),
    # Its haematoxylin and eosin.
    "he": ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11)),
    # "H&E" of Landini's Colour Deconvolution for ImageJ, which is Ruifrok's own plugin continued.
    "imagej-he": ((0.644211, 0.716556, 0.266844), (0.092789, 0.954111, 0.283111)),
    # The reference that Macenko's method is commonly run with (Veta's staining normalization, 2013; torchstain).
    "macenko-reference": ((0.5626, 0.7201, 0.4062), (0.2159, 0.8012, 0.5581)),
}
#: The strengths of the stains in that reference.
REFERENCE_STRENGTHS = (1.9705, 1.0308)

LIKE = {"tiatoolbox": 0, "albumentationsx": ops.ROUNDS_STAINS}
BACKGROUND = {"augment": 0, "keep": ops.KEEPS_BACKGROUND}
RESIDUAL = ("project", "preserve", "augment")

#: The largest density in a matrix, and the largest factor or shift.
_MOST_DENSITY, _MOST = 1e3, 100.0


def numbers_of(name: str, values: Any, most: float = _MOST) -> tuple[float, ...]:
    """Return a sequence of numbers, each within `most` of zero."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray, torch.Tensor)):
        raise TypeError(f"{name} should be a sequence of numbers, got {values!r}")
    try:
        numbers = tuple(float(value) for value in values)
    except TypeError:
        raise TypeError(f"{name} should be a sequence of numbers, got {values!r}") from None
    if not all(abs(number) <= most for number in numbers):
        raise ValueError(f"{name} should be within {most:g} of zero, got {values!r}")
    return numbers


def three_of(name: str, values: Any, most: float) -> Triple:
    numbers = numbers_of(name, values, most)
    if len(numbers) != 3:
        raise ValueError(f"{name} should have three numbers, got {values!r}")
    return numbers[0], numbers[1], numbers[2]


def rows_of(name: str, matrix: Any) -> Rows:
    """Return a stain matrix of two or three rows, given its name or its numbers."""
    if isinstance(matrix, str):
        if matrix not in PRESETS:
            raise ValueError(f"{name} should be rows of numbers or one of {', '.join(PRESETS)}, got {matrix!r}")
        return PRESETS[matrix]
    if not isinstance(matrix, (Sequence, np.ndarray, torch.Tensor)):
        raise TypeError(f"{name} should be a name, or two or three rows of three numbers, got {matrix!r}")
    if len(matrix) not in (2, 3):
        raise ValueError(f"{name} should have two or three rows, got {matrix!r}")
    rows = tuple(three_of(f"a row of {name}", row, _MOST_DENSITY) for row in matrix)
    if is_singular(rows):
        raise ValueError(f"the rows of {name} should be independent of one another, got {matrix!r}")
    return rows


def range_of(name: str, value: Any, centre: float) -> tuple[float, float]:
    """Return a pair as it is, and a number as the range of that width on both sides of `centre`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Sequence)) or isinstance(value, (str, bytes)):
        raise TypeError(f"{name} should be a number or a pair of numbers, got {value!r}")
    if isinstance(value, (int, float)):
        if not 0 <= value <= _MOST / 2:
            raise ValueError(f"{name} should be from 0 to {_MOST / 2:g}, got {value!r}")
        return centre - value, centre + value
    ends = numbers_of(name, value)
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ValueError(
            f"{name} should be a number, or a pair of numbers of which the first is not larger, got {value!r}"
        )
    return ends[0], ends[1]


def checked_matrix(matrix: Any, like: Any, residual: Any, background: Any) -> Rows | str:
    """Return the rows of a matrix, or "macenko" for the matrix of each tile, and check the other settings."""
    _check_choice("like", like, LIKE)
    _check_choice("residual", residual, RESIDUAL)
    _check_choice("background", background, BACKGROUND)
    return matrix if isinstance(matrix, str) and matrix == "macenko" else rows_of("matrix", matrix)


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} should be a str, got {value!r}")
    if value not in choices:
        raise ValueError(f"{name} should be one of {', '.join(choices)}, got {value!r}")


def stains_changed(matrix: Rows | str, residual: str) -> int:
    if residual == "project":
        return 2 if matrix == "macenko" else len(matrix)
    return 3 if residual == "augment" else 2
