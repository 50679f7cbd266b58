"""Drafts of masks whose samples are larger than bytes."""

from __future__ import annotations

import math
import struct
from typing import Any

import torch

from fastaug._draft.call import Call
from fastaug._draft.leaf import MaskDraft

#: The types of samples that the core moves: as kMaskSamples of csrc/draft/draft.h, without bytes and bools.
WIDE = (torch.int16, torch.int32, torch.int64, torch.float32)

# Up to here float32, in which torch computes, has all integers.
_MOST = 2**24

_FORMATS = dict(zip(WIDE, ["<h", "<i", "<q", "<f"]))


class _FillBytes(list[int]):
    """The bytes of a fill, as the fills of channels."""

    fill: Any


class WideMaskDraft(MaskDraft):
    """A draft of masks whose planes are images, and the bytes of a sample their channels.

    Torch does to the samples themselves what the core does not move in this form.
    """

    __slots__ = (
        "parts",  # the bytes of the mask
        "samples",  # their dtype; None once torch has changed the mask
    )

    def __init__(self, mask: Any, call: Call | None = None, cls: type | None = None, plain: Any = None) -> None:
        super().__init__(mask, call, cls, plain)
        self.samples = self.given.dtype if _is_moved(self.given) else None
        if self.samples is not None:
            self.parts = self.given.unsqueeze(-1).view(torch.uint8).movedim(-1, -3)
            self.reset(self.parts)

    def fill_of(self, fill: Any, rounds: bool) -> Any:
        """Return the bytes of a fill, or the fill itself for torch."""
        if self.samples is None or fill is None:
            return fill
        number = fill[0] if isinstance(fill, (tuple, list)) and len(fill) == 1 else fill
        if type(number) not in (int, float) or not math.isfinite(number) or not _has(self.samples, number):
            self._leave()
            return fill
        whole = self.samples is not torch.float32
        packed = _FillBytes(struct.pack(_FORMATS[self.samples], int(number) if whole else number))
        packed.fill = fill
        return packed

    def pad(self, padding: Any, fill: Any, padding_mode: str) -> None:
        if padding_mode != "constant" and isinstance(fill, _FillBytes):
            fill = 0  # which does not show
        super().pad(padding, fill, padding_mode)

    def select(self, valid: torch.Tensor) -> bool:
        return self.samples is None and super().select(valid)

    def _eager(self, name: str, *arguments: Any) -> None:
        self._leave()
        super()._eager(name, *(one.fill if isinstance(one, _FillBytes) else one for one in arguments))

    def _leave(self) -> None:
        """Go on from the samples themselves, which are torch's to change."""
        if self.samples is not None:
            parts = self.handed()
            whole = self.given if parts is self.parts else self._whole(parts)
            self.samples = None
            self.reset(whole)

    def _whole(self, parts: torch.Tensor) -> torch.Tensor:
        """Return the samples of these bytes, in their memory if it has their order."""
        parts = parts.movedim(-3, -1)
        size = parts.shape[-1]
        if parts.stride(-1) != 1 or any(step % size for step in parts.stride()[:-1]) or parts.storage_offset() % size:
            parts = parts.clone(memory_format=torch.contiguous_format)
        assert self.samples is not None
        return parts.view(self.samples).squeeze(-1)

    def _restored(self, result: Any) -> Any:
        if self.samples is not None:
            result = self.given if result is self.parts else self._whole(result)
        return super()._restored(result)


def _has(dtype: torch.dtype, number: float) -> bool:
    """Return whether a finite number is a sample."""
    if dtype is torch.float32:
        return abs(number) <= torch.finfo(dtype).max
    return number == int(number) and abs(number) <= min(_MOST, torch.iinfo(dtype).max)


def _is_moved(mask: torch.Tensor) -> bool:
    """Return whether the core moves a mask so that the result is torch's."""
    if mask.dtype not in WIDE or not mask.is_contiguous() or mask.numel() < 1 or mask.shape[-1] * mask.shape[-2] == 1:
        return False
    if mask.dtype is torch.float32 or mask.dtype is torch.int16:
        return True
    low, high = mask.aminmax()
    return int(low) >= -_MOST and int(high) <= _MOST
