"""Colours, filters and conversions of torchvision's v2, where they differ from v1's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.base import rule
from fastaug._draft.draft import Draft
from fastaug._draft.draws import drawn_from
from fastaug._fallback import tensor as tensor_fallback
from fastaug._fallback import v2
from fastaug._program import checks, ops
from fastaug._program.kinds import ARRAY, OTHER, PIL_IMAGE, TENSOR

_HALVES = (torch.float16, torch.bfloat16)


class LeafColor(Draft):
    """A draft's methods for colours, filters and conversions that differ in v2."""

    __slots__ = ()

    to_rgb = rule("to_rgb")
    jpeg = rule("jpeg")

    def adjust_sharpness(self, factor: float) -> None:
        if self.core.adjust_sharpness(factor):
            if self.core.kind != OTHER and self.core.kind != PIL_IMAGE:
                checks.need_not_negative("sharpness_factor", factor)
            self._eager("adjust_sharpness", factor)

    def posterize(self, bits: int) -> None:
        if self.core.posterize(bits):
            if self.core.kind == TENSOR:
                checks.need_v2_bits(bits)
            elif 0 <= bits <= 8:
                self._check_posterize(bits)
            self._eager("posterize", bits)

    def permute_channels(self, permutation: Sequence[int]) -> None:
        """Permute channels. Channel k of the result is channel permutation[k]."""
        if self.core.permute_channels(permutation):
            if self.core.kind == PIL_IMAGE:
                self._as_tensor("permute_channels", None, permutation)
            else:
                self._eager("permute_channels", permutation)

    def _check_colour(self) -> None:
        if self.core.kind != TENSOR:
            super()._check_colour()
        elif self.core.native and not self.core.flat and torch.get_default_dtype() is torch.float32:
            checks.need_colour(self.core.channels)

    def _check_table(self) -> None:
        if self.core.kind != TENSOR:
            super()._check_table()

    def _check_gamma(self, gamma: float) -> None:
        if self.core.kind != TENSOR:
            super()._check_gamma(gamma)
        else:
            checks.need_gamma(gamma)

    def _check_grayscale(self, channels: int) -> None:
        if self.core.kind != TENSOR:
            super()._check_grayscale(channels)

    def _check_solarize(self, threshold: float) -> None:
        if self.core.kind == TENSOR and self.core.native:
            checks.need_threshold(threshold, torch.uint8)
        super()._check_solarize(threshold)

    autocontrast = rule("autocontrast", lambda draft: draft._check_colour())

    def gaussian_noise(self, mean: float, sigma: float, clip: bool) -> None:
        """Add noise to each sample of a tensor, from torch's generator or that of the thread."""
        if self.core.kind == PIL_IMAGE:
            raise ValueError("Gaussian Noise is not implemented for PIL images.")
        self._eager("gaussian_noise", mean, sigma, clip, drawn_from(None).get("generator"))

    def to_dtype(self, dtype: torch.dtype, scale: bool) -> None:
        """Convert to another dtype. With `scale`, white stays white."""
        if (self.core.stored or self.core.floats) and dtype is torch.float32:
            return
        if self.core.native and not scale and dtype is torch.float32:
            self.core.append_float(ops.by_factor("SCALE", 1.0))
        elif not self.core.native or not scale or dtype is torch.uint8:
            if not (self.core.native and dtype is torch.uint8):
                self._eager("to_dtype", dtype, scale)
        elif dtype is torch.float32:
            self.core.append_float(ops.plain("V2_TO_FLOAT"))
        elif dtype in _HALVES and not self.core.flat and not self.core.lead and self.core.bands <= 4:
            # A half of a share is rounded once more, as torch rounds it.
            self.core.append_float(ops.plain("V2_TO_FLOAT"))
            halves = self.finish_as(dtype, self.core.channel_last)
            assert halves is not None
            self.reset(halves)
        else:
            self._eager("to_dtype", dtype, scale)

    def erase_box(self, top: int, left: int, height: int, width: int, values: Any, inplace: bool) -> None:
        """Overwrite a box of the image, by anything that a tensor's part can be set to."""
        if self.core.kind == PIL_IMAGE:
            self._as_tensor("erase", self.core.mode, top, left, height, width, values, inplace)
        elif not self._erase_natively(top, left, height, width, values):
            self._eager("erase", top, left, height, width, values, inplace)

    def uniform_temporal_subsample(self, count: int) -> None:
        """Keep so many frames, evenly spaced from the first to the last."""
        whole = bool(self.core.lead) and self.core.native and type(count) is int and count > 0
        if not whole:
            self._eager("uniform_temporal_subsample", count)
            return
        # The pending ops apply to the kept frames.
        numbers = v2.frame_numbers(self.core.lead[-1], count, torch.get_default_dtype())
        self._choose(numbers)
        self.core.lead = (*self.core.lead[:-1], len(numbers))
        self.core.channel_last = False
        self.core.unview()

    def _choose(self, numbers: Sequence[int]) -> None:
        """Keep these frames of the image, in this order."""
        self.image = self.image.index_select(-4, torch.tensor(numbers, device="cpu"))

    def to_image_tensor(self) -> None:
        """Convert a PIL image to a tensor that is a view of HWC memory, and an array plane by plane."""
        if self.core.kind == PIL_IMAGE:
            self.to_uint8_tensor()
        elif self.core.kind == ARRAY and self.core.native:
            self.core.kind = TENSOR
            self.core.copied, self.core.flat = True, False
        elif self.core.kind == ARRAY:
            self.reset(tensor_fallback.array_planes(self.finish()))
        elif self.core.flat:
            self.reset(self.finish().unsqueeze(0))
