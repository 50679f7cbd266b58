"""Blur and elastic displacement, which torchvision's tensor functions define for every container."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from fastaug._draft.base import DraftBase
from fastaug._program import arguments, convolution, fields, ops
from fastaug._program.eager import addressable
from fastaug._program.kinds import ARRAY, OTHER, TENSOR

# The exponents of a narrower kernel overflow, and so do wider ones in float32.
_SHARP, _DULL = 1e-12, 1e18


def is_width(sigma: Any) -> bool:
    return isinstance(sigma, (int, float)) and _SHARP <= sigma <= _DULL


class FilterDraft(DraftBase):
    """A draft's methods for filters."""

    __slots__ = ()

    #: The first half and the centre of a Gaussian kernel.
    _half_kernel: ClassVar[staticmethod[[int, float], list[float]]] = staticmethod(arguments.half_kernel)

    def gaussian_blur(self, kernel_size: Any, sigma: Any) -> None:
        kernel_size, sigma = arguments.checked_blur(kernel_size, sigma)
        if not self._blur_natively(kernel_size, sigma):
            self._eager_tensor("gaussian_blur", kernel_size, sigma)

    def _blur_natively(self, kernel_size: Sequence[int], sigma: Sequence[float]) -> bool:
        size_x, size_y = kernel_size
        # A mirrored border is narrower than the image.
        fits = size_x // 2 < self.core.width and size_y // 2 < self.core.height
        if (
            not self.core.native
            or not fits
            or len(self.core.lead) > self._most_leading
            or (self.core.flat and self.core.kind == TENSOR)
        ):
            return False
        if self.call.traced:  # a sigma may be torch's symbol
            return False
        if type(size_x) is not int or type(size_y) is not int or not all(map(is_width, sigma)):
            return False
        fused = convolution.fuses(
            math.prod(self.core.lead), self.core.channels, self.core.height, self.core.width, kernel_size
        )
        if fused is None:
            return False
        across = self._half_kernel(size_x, sigma[0])
        down = across if size_x == size_y and sigma[0] == sigma[1] else self._half_kernel(size_y, sigma[1])
        op = ops.blur(across, down, fused)
        if op is None:
            return False
        self.core.append(op)
        if not self.core.lead:
            self.core.channel_last = False
        self.info = None
        return True

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
