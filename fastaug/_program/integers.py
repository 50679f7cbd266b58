"""Arguments that are integers. This imports no torch, for the sake of readers of images."""

from __future__ import annotations

import operator
from typing import Any


def integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} should be an integer, got {value!r}") from None


def positive(name: str, value: Any) -> int:
    number = integer(name, value)
    if number < 1:
        raise ValueError(f"{name} should be at least 1, got {number}")
    return number
