"""Interpolation modes, and their recognition in arguments."""

from __future__ import annotations

from enum import Enum
from typing import Any


class InterpolationMode(Enum):
    """How a resized or rotated image is sampled.

    Resize takes all of them on PIL images and arrays; tensors take NEAREST, NEAREST_EXACT, BILINEAR and BICUBIC.
    Rotation takes NEAREST, BILINEAR and, except on tensors, BICUBIC. Functions also take Pillow's integers
    (``PIL.Image.BICUBIC``) and torchvision's enum of the same name.

    Example:
        >>> from fastaug.transforms import InterpolationMode
        >>> InterpolationMode.BICUBIC.value
        'bicubic'
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


# Its public name, by which it pickles.
InterpolationMode.__module__ = "fastaug.transforms"

#: The number that Pillow gives each mode (PIL.Image.Resampling).
pil_modes_mapping = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
    InterpolationMode.LANCZOS: 1,
}

_FROM_PILLOW = {
    number: mode for mode, number in pil_modes_mapping.items() if mode is not InterpolationMode.NEAREST_EXACT
}


def as_interpolation(value: Any) -> InterpolationMode:
    """Return the mode for a member of this enum or of torchvision's, or for one of Pillow's integers.

    Raises:
        TypeError: any other type.
        KeyError: an integer without a meaning for Pillow.
    """
    if isinstance(value, InterpolationMode):
        return value
    if isinstance(value, int):
        return _FROM_PILLOW[value]
    # torchvision's enum, recognised without importing torchvision.
    if isinstance(value, Enum) and type(value).__name__ == "InterpolationMode":
        return InterpolationMode(value.value)
    raise TypeError(
        "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant, "
        f"got {value!r}"
    )


_BY_VALUE = {mode.value: mode for mode in InterpolationMode}


def named_interpolation(value: Any) -> InterpolationMode:
    """Return the mode for an argument of a function of v2, which may also be a name, such as "bilinear".

    Raises:
        ValueError: any other name or type.
        KeyError: an integer without a meaning for Pillow.
    """
    if type(value) is InterpolationMode:
        return value
    if isinstance(value, str):
        # The enumeration finds members by value more slowly.
        mode = _BY_VALUE.get(value)
        if mode is None:
            raise ValueError(f"Invalid interpolation mode: '{value}'. Supported string values are: {[*_BY_VALUE]}.")
        return mode
    try:
        return as_interpolation(value)
    except TypeError:
        raise ValueError(
            "Argument interpolation should be an `InterpolationMode` or a corresponding Pillow integer constant, "
            f"but got {value}."
        ) from None


def stored_interpolation(value: Any) -> Any:
    """Return the attribute `interpolation` of a transform. A wrong type is an error only when it is used."""
    if isinstance(value, int) or type(value).__name__ == "InterpolationMode":
        return as_interpolation(value)
    return value
