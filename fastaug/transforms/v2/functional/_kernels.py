"""What functionals of geometry share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import MaskDraft

Tensor = torch.Tensor
_Interpolation = InterpolationMode | str | int
_Fill = int | float | Sequence[float] | None
_NEAREST = InterpolationMode.NEAREST


def is_mask(draft: object) -> bool:
    """Return whether the draft is one of masks."""
    return isinstance(draft, MaskDraft)


def sampling(draft: Any, interpolation: _Interpolation, fill: _Fill) -> tuple[InterpolationMode, Any]:
    """Return the mode and the fill of a warp. Masks are always sampled by the nearest."""
    if isinstance(draft, MaskDraft):
        return _NEAREST, draft.fill_of(fill, True)
    return named_interpolation(interpolation), fill
