"""A draft by the rules that torchvision has for uint8 tensors, where they differ from Pillow's. AugMix needs them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.draft import Draft
from fastaug._draft.interpolation import InterpolationMode, as_interpolation
from fastaug._fallback import tensor_warp as warp_fallback
from fastaug._program import arguments, checks, ops

# torch adds up samples in float32, and what comes of it beyond this sum depends on its number of threads.
_EXACT_SUM = 1 << 24
_SAMPLERS = {"nearest": 0, "bilinear": 2}


@functools.cache
def _fused() -> int:
    """How torch's matrix product rounds: MKL fuses multiplications and additions on some processors."""
    base = torch.tensor([1.0, 3.0, 1.0]).expand(1, 67, 3).contiguous()
    theta = torch.tensor([[[-1.0, 0.0], [1.0 / 3.0, 0.0], [0.0, 0.0]]])
    return ops.FUSED if torch.bmm(base, theta).any() else 0


class TensorDraft(Draft):
    """A draft of a tensor of at least three dimensions."""

    __slots__ = ()

    def affine(
        self,
        angle: float,
        translate: Sequence[float],
        scale: float,
        shear: Any,
        interpolation: Any,
        fill: Any,
        center: Sequence[float] | None,
    ) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        shear = arguments.checked_shear(angle, translate, scale, shear, center)
        _, height, width = self.dimensions()
        matrix = warp_fallback.affine_matrix(height, width, angle, translate, scale, shear, center)
        if not self._sample_natively(matrix, interpolation.value, fill):
            self._eager("affine", angle, translate, scale, shear, 0, interpolation.value, fill, center)

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        _, height, width = self.dimensions()
        # Rotations of tensors are counter-clockwise, affine maps clockwise.
        matrix = warp_fallback.affine_matrix(height, width, -angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)
        if expand or not self._sample_natively(matrix, interpolation.value, fill):
            self._eager("rotate", angle, 0, interpolation.value, expand, center, fill)

    def _sample_natively(self, matrix: list[float], mode_name: str, fill: Any) -> bool:
        number = _SAMPLERS.get(mode_name)
        if not self.native or number is None or len(self.lead) > 1 or not all(map(math.isfinite, matrix)):
            return False
        flags = number | _fused()
        colour = bytes(max(self.channels, 4))
        if fill is not None:
            exact = arguments.exact_fill_bytes(fill, self.channels)
            if exact is None:
                return False
            checks.check_warp(self.channels, mode_name, fill)
            flags |= ops.FILLED
            colour = exact
        height, width = self.height, self.width
        self._append_filled(lambda part: ops.torch_affine(height, width, flags, matrix, part), colour)
        return True

    def adjust_contrast(self, factor: float) -> None:
        checks.need_not_negative("contrast_factor", factor)
        exact = self.height * self.width * 255 <= _EXACT_SUM
        if not self._colour_channels() or not math.isfinite(factor) or not exact:
            self._eager("adjust_contrast", factor)
        else:
            self.ops.append(ops.torch_contrast(factor))

    def adjust_saturation(self, factor: float) -> None:
        checks.need_not_negative("saturation_factor", factor)
        channels = self._colour_channels()
        if not channels or not math.isfinite(factor):
            self._eager("adjust_saturation", factor)
        elif channels == 3:
            self.ops.append(ops.torch_saturation(factor))

    def adjust_sharpness(self, factor: float) -> None:
        checks.need_not_negative("sharpness_factor", factor)
        if not self._colour_channels() or not math.isfinite(factor) or len(self.lead) > 1:
            self._eager("adjust_sharpness", factor)
        else:
            self.ops.append(ops.torch_sharpness(factor))

    def autocontrast(self) -> None:
        if self._has_tables():
            self.ops.append(ops.TORCH_AUTOCONTRAST)
        else:
            self._eager("autocontrast")
