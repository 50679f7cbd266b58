"""Colours, filters and conversions of torchvision's v2, where they differ from v1's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from fastaug._draft.color import LARGE
from fastaug._draft.draft import MODES_OF, Draft
from fastaug._draft.draws import drawn_from
from fastaug._fallback import tensor as tensor_fallback
from fastaug._fallback import v2
from fastaug._program import arguments, checks, ops
from fastaug._program.kinds import ARRAY, PIL_IMAGE, TENSOR

_HALVES = (torch.float16, torch.bfloat16)


def _is_permutation(values: Any, count: int) -> bool:
    return isinstance(values, (list, tuple)) and set(map(type, values)) == {int} and sorted(values) == [*range(count)]


class LeafColor(Draft):
    """A draft's methods for colours, filters and conversions that differ in v2."""

    __slots__ = ()

    _torch_contrast: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.v2_contrast)
    _torch_saturation: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.v2_saturation)
    _torch_hue: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.v2_hue)
    _torch_sharpness: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.v2_sharpness)
    _torch_autocontrast: ClassVar[bytes] = ops.V2_AUTOCONTRAST
    _half_kernel: ClassVar[staticmethod[[int, float], list[float]]] = staticmethod(arguments.v2_half_kernel)
    _most_leading: ClassVar[int] = sys.maxsize

    def _colour_channels(self) -> int:
        if self.kind != TENSOR:
            return super()._colour_channels()
        if not self.native or self.flat or torch.get_default_dtype() is not torch.float32:
            return 0
        checks.need_colour(self.channels)
        return self.channels

    def _has_tables(self) -> bool:
        return self.native if self.kind == TENSOR else super()._has_tables()

    def adjust_brightness(self, factor: Any) -> None:
        if self.kind == TENSOR and not isinstance(factor, float):
            # torch multiplies bytes by an int as bytes, which wrap around. It also decides on other numbers.
            self._eager("adjust_brightness", factor)
        else:
            super().adjust_brightness(factor)

    def adjust_hue(self, factor: float) -> None:
        super().adjust_hue(factor)
        if self.channels == 3 and self.native:
            self.channel_last = False

    def adjust_gamma(self, gamma: float, gain: float) -> None:
        if self.kind != TENSOR:
            super().adjust_gamma(gamma, gain)
            return
        checks.need_gamma(gamma)
        op = None
        if self.native and type(gamma) in (int, float) and type(gain) in (int, float):
            op = ops.v2_gamma(gamma, gain) if gamma < LARGE and abs(gain) < LARGE else None
        if op is None:
            self._eager("adjust_gamma", gamma, gain)
        else:
            self.ops.append(op)

    def adjust_sharpness(self, factor: float) -> None:
        if self.kind == TENSOR and self.native and not self.flat and self.channels not in (1, 3):
            self._eager("adjust_sharpness", factor)
        else:
            super().adjust_sharpness(factor)

    def posterize(self, bits: int) -> None:
        if self.kind != TENSOR and not 0 <= bits <= 8:
            self._eager("posterize", bits)
        elif self.kind != TENSOR or not self.native or bits < 8:
            super().posterize(bits)

    def solarize(self, threshold: float) -> None:
        if self.kind == TENSOR and self.native:
            checks.need_threshold(threshold, torch.uint8)
        super().solarize(threshold)

    def autocontrast(self) -> None:
        if self.kind == TENSOR and not self._colour_channels():
            self._eager("autocontrast")
        else:
            super().autocontrast()

    def grayscale(self, channels: int) -> None:
        if self.kind != TENSOR:
            super().grayscale(channels)
        elif not self.native or self.flat or self.channels not in (1, 3):
            self._eager("grayscale", channels)
        else:
            if self.channels == 3:
                self.ops.append(ops.V2_LUMA)
            if channels == 3:
                self.ops.append(ops.REPLICATE_3)
            self.copied = True
            self.channel_last = False
            self.channels = 3 if channels == 3 else 1

    def to_rgb(self) -> None:
        """Convert to RGB. Gray becomes three equal channels, and Pillow converts its other modes."""
        if self.kind == PIL_IMAGE:
            if not self.native or self.mode not in ("L", "RGB") or (self.info and "transparency" in self.info):
                self._eager("to_rgb")
                return
            self.copied = True
            if self.mode == "L":
                self.ops.append(ops.REPLICATE_3)
                self.mode, self.channels = "RGB", 3
        elif not self.native or self.flat or self.channels < 3:
            if self.native and not self.flat and self.channels == 1:
                self.grayscale(3)
            else:
                self._eager("to_rgb")

    def permute_channels(self, permutation: Sequence[int]) -> None:
        """Permute channels. Channel k of the result is channel permutation[k]."""
        accepted = MODES_OF.get(self.channels)
        if accepted and self.native and not self.flat and _is_permutation(permutation, self.channels):
            self.ops.append(ops.v2_permute(permutation))
            self.channel_last = False
            if self.kind == PIL_IMAGE:
                self.mode, self.info = accepted[0], None
        elif self.kind == PIL_IMAGE:
            self._as_tensor("permute_channels", None, permutation)
        else:
            self._eager("permute_channels", permutation)

    def gaussian_noise(self, mean: float, sigma: float, clip: bool) -> None:
        """Add noise to each sample of a tensor, from torch's generator or that of the thread."""
        if self.kind == PIL_IMAGE:
            raise ValueError("Gaussian Noise is not implemented for PIL images.")
        self._eager("gaussian_noise", mean, sigma, clip, drawn_from(None).get("generator"))

    def jpeg(self, quality: int) -> None:
        """Compress the image as a JPEG file, and read it back."""
        self._eager("jpeg", quality)

    def to_dtype(self, dtype: torch.dtype, scale: bool) -> None:
        """Convert to another dtype. With `scale`, white stays white."""
        if self.store and dtype is torch.float32:
            return
        if not self.native or not scale or dtype is torch.uint8:
            if not (self.native and dtype is torch.uint8):
                self._eager("to_dtype", dtype, scale)
        elif dtype is torch.float32:
            self._append_float(ops.V2_TO_FLOAT)
        elif dtype in _HALVES and not self.flat and not self.lead and self.bands <= 4:
            # A half of a share is rounded once more, as torch rounds it.
            self._append_float(ops.V2_TO_FLOAT)
            halves = self.finish_as(dtype, self.channel_last)
            assert halves is not None
            self.reset(halves)
        else:
            self._eager("to_dtype", dtype, scale)

    def erase_box(self, top: int, left: int, height: int, width: int, values: Any, inplace: bool) -> None:
        """Overwrite a box of the image, by anything that a tensor's part can be set to."""
        if self.kind == PIL_IMAGE:
            self._as_tensor("erase", self.mode, top, left, height, width, values, inplace)
        elif not self._erase_natively(top, left, height, width, values):
            self._eager("erase", top, left, height, width, values, inplace)

    def uniform_temporal_subsample(self, count: int) -> None:
        """Keep so many frames, evenly spaced from the first to the last."""
        whole = bool(self.lead) and self.native and type(count) is int and count > 0
        if not whole:
            self._eager("uniform_temporal_subsample", count)
            return
        # The pending ops apply to the kept frames.
        numbers = v2.frame_numbers(self.lead[-1], count, torch.get_default_dtype())
        self._choose(numbers)
        self.lead = (*self.lead[:-1], len(numbers))
        self.channel_last = False
        self.first, self.views = None, 0  # a crop is no longer a view

    def _choose(self, numbers: Sequence[int]) -> None:
        """Keep these frames of the image, in this order."""
        self.image = self.image.index_select(-4, torch.tensor(numbers, device="cpu"))

    def to_image_tensor(self) -> None:
        """Convert a PIL image to a tensor that is a view of HWC memory, and an array plane by plane."""
        if self.kind == PIL_IMAGE:
            self.to_uint8_tensor()
        elif self.kind == ARRAY and self.native:
            self.kind = TENSOR
            self.copied, self.flat = True, False
        elif self.kind == ARRAY:
            self.reset(tensor_fallback.array_planes(self.finish()))
        elif self.flat:
            self.reset(self.finish().unsqueeze(0))
