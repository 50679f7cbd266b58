"""Arguments that are integers. Without torch, which readers of images do not import."""

from __future__ import annotations

import operator
from typing import Any


def integer(name: str, value: Any) -> int:
    """
    Raises:
        TypeError: no integer.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} should be an integer, got {value!r}") from None


def positive(name: str, value: Any) -> int:
    """
    Raises:
        TypeError: no integer.
        ValueError: less than one.
    """
    number = integer(name, value)
    if number < 1:
        raise ValueError(f"{name} should be at least 1, got {number}")
    return number
