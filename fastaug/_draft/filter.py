"""Blur and elastic displacement, which torchvision's tensor functions define for every container."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fastaug._draft.base import DraftBase
from fastaug._program import arguments, fields
from fastaug._program.eager import addressable
from fastaug._program.kinds import ARRAY, OTHER, TENSOR


class FilterDraft(DraftBase):
    """A draft's methods for filters."""

    __slots__ = ()

    def gaussian_blur(self, kernel_size: Any, sigma: Any) -> None:
        kernel_size, sigma = arguments.checked_blur(kernel_size, sigma)
        if self.core.gaussian_blur(kernel_size, sigma):
            self._eager_tensor("gaussian_blur", kernel_size, sigma)

    def elastic_transform(self, displacement: Any, interpolation: Any, fill: Any) -> None:
        if not isinstance(displacement, Tensor):
            raise TypeError(f"Argument displacement should be a Tensor, got {type(displacement)}")
        if self.core.kind == OTHER:
            raise TypeError(f"img should be PIL Image or Tensor. Got {type(self.image)}")
        if self.core.kind == ARRAY:
            self.dimensions()
        expected = (1, self.core.height, self.core.width, 2)
        if expected != displacement.shape:
            raise ValueError(f"Argument displacement shape should be {expected}, but given {displacement.shape}")
        mode_name = interpolation.value
        if not self._displace_natively(displacement, mode_name, fill):
            self._eager_tensor("elastic_transform", displacement, mode_name, fill)

    def _displace_natively(self, displacement: Tensor, mode_name: str, fill: Any) -> bool:
        plain = displacement.dtype is torch.float32 and displacement.is_cpu and not displacement.requires_grad
        if self.call.traced or not plain or not addressable(displacement) or not displacement.numel():
            return False
        if not self.core.native or self.device is not None or mode_name not in ("nearest", "bilinear"):
            return False
        if torch.get_default_dtype() is not torch.float32:
            return False
        if self.core.kind == TENSOR:
            if self.core.flat or len(self.core.lead) > 1:
                return False
        elif self.core.channels > 4:
            return False
        colour = None if fill is None else arguments.grid_fill(fill, self.core.channels)
        if colour is None and fill is not None:
            return False
        self.load()
        moved = fields.displaced(self.flush(), displacement, mode_name == "nearest", colour, self._v2)
        if moved is None:
            return False
        self.reset(moved)
        return True
