"""Types of the arguments of transforms of geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fastaug._draft.interpolation import InterpolationMode

_Interpolation = str | InterpolationMode | int
_Number = int | float
_Fill = _Number | Sequence[_Number] | None | dict[Any, Any]
_PaddingMode = Literal["constant", "edge", "reflect", "symmetric"]


def _scalar_fill(transform: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for v1, whose scripted classes take one number as fill."""
    if params["fill"] is not None and not isinstance(params["fill"], (int, float)):
        raise ValueError(
            f"{type(transform).__name__}() can only be scripted for a scalar `fill`, but got {transform.fill}."
        )
    return params
