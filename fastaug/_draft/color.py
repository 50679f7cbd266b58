"""Ops of colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from fastaug._draft.base import ALPHA_MODES, DraftBase
from fastaug._fallback import rounding
from fastaug._program import arguments, checks, ops
from fastaug._program.borrow import sources_of
from fastaug._program.kinds import OTHER, PIL_IMAGE, TENSOR
from fastaug._program.stains import Stains, found

_COLOUR_MODES = ("RGB", "RGBA")
#: Beyond it, a gamma curve may overflow. Python or Pillow raises that error.
LARGE = 1e6
# Beyond it, blends may not be finite in float32, so the native core refuses such factors.
_MOST = 1e30


class ColorDraft(DraftBase):
    """A draft's methods for colour."""

    __slots__ = ()

    #: The ops of uint8 tensors.
    _torch_contrast: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.torch_contrast)
    _torch_saturation: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.torch_saturation)
    _torch_hue: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.torch_hue)
    _torch_sharpness: ClassVar[staticmethod[[float], bytes]] = staticmethod(ops.torch_sharpness)
    _torch_autocontrast: ClassVar[bytes] = ops.TORCH_AUTOCONTRAST

    def _colour_channels(self) -> int:
        """Return the colour channels that an adjustment reads, 1 or 3, or 0 if the native core must not do it."""
        if not self.native:
            return 0
        if self.kind == PIL_IMAGE:
            return 3 if self.mode in _COLOUR_MODES else 1 if self.mode in ("L", "LA") else 0
        if self.channels not in (1, 3):
            raise TypeError(f"Input image tensor permitted channel values are [1, 3], but found {self.channels}")
        return self.channels

    def _blends_natively(self) -> bool:
        """Return whether the core blends this image as the library that torchvision calls."""
        if self.by_torch:
            return rounding.follows("colours")
        return self.kind == TENSOR or rounding.follows("blends")

    def adjust_brightness(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            checks.need_not_negative("brightness_factor", factor)
        number = factor if type(factor) is float else arguments.real(factor)
        if not self._colour_channels() or not abs(number) <= _MOST:
            self._eager("adjust_brightness", factor)
        elif number == 1:
            self.copied = True
        else:
            self.ops.append(ops.brightness(number, ops.HAS_ALPHA if self.mode in ALPHA_MODES else 0))
        self.info = None

    def adjust_contrast(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            checks.need_not_negative("contrast_factor", factor)
        number = factor if type(factor) is float else arguments.real(factor)
        flat = self.flat and self.kind == TENSOR
        if not self._colour_channels() or not abs(number) <= _MOST or flat:
            self._eager("adjust_contrast", factor)
        elif number == 1:
            self.copied = True
        elif not self._blends_natively():
            self._eager("adjust_contrast", factor)
        elif self.by_torch:
            self.ops.append(self._torch_contrast(number))
        else:
            self.ops.append(ops.contrast(number, ops.HAS_ALPHA if self.mode in ALPHA_MODES else 0))
        self.info = None

    def adjust_saturation(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            checks.need_not_negative("saturation_factor", factor)
        channels = self._colour_channels()
        number = factor if type(factor) is float else arguments.real(factor)
        if not channels or not abs(number) <= _MOST or (self.info and "transparency" in self.info):
            self._eager("adjust_saturation", factor)
        elif channels == 1:
            # Pillow blends gray with itself. torchvision returns a gray tensor unchanged.
            self.copied = self.copied or self.kind != TENSOR
        elif number == 1:
            self.copied = True
        elif not self._blends_natively():
            self._eager("adjust_saturation", factor)
        else:
            self.ops.append(self._torch_saturation(number) if self.by_torch else ops.saturation(number))

    def adjust_hue(self, factor: float) -> None:
        checks.need_hue(factor)
        channels = self._colour_channels()
        number = factor if type(factor) is float else arguments.real(factor)
        if not channels or self.mode == "LA" or number != number:
            self._eager("adjust_hue", factor)
        elif channels == 3 and self.by_torch:
            self.ops.append(self._torch_hue(number))
        elif channels == 3:
            # Pillow rounds the product with a factor of its own type towards zero.
            self.ops.append(ops.hue(factor))
            self.info = None

    def need_tile(self) -> None:
        """Check that stains can be taken from the image: the core holds it, in uint8 and three colour channels."""
        self.dimensions()
        if self.native and self.channels == 3 and (self.kind != PIL_IMAGE or self.mode == "RGB"):
            return
        if self.kind == PIL_IMAGE:
            got = f"a PIL image of mode {self.mode}"
        else:
            got = f"{'a tensor' if self.kind == TENSOR else 'an array'} of {self.channels} channels"
            if isinstance(self.image, (torch.Tensor, np.ndarray)):
                got += f", {self.image.dtype} of shape {tuple(self.image.shape)}"
        raise TypeError(
            "Stains are taken from RGB images: PIL images of mode RGB, uint8 arrays (H, W, 3) and uint8 tensors "
            f"(..., 3, H, W) of one pixel or more, got {got}"
        )

    def adjust_hed(self, alpha: Sequence[float], beta: Sequence[float], clip: bool) -> None:
        self.need_tile()
        self.ops.append(ops.hed(alpha, beta, clip))
        self.info = None

    def restain(self, numbers: Sequence[float], flags: int) -> None:
        """Map densities by twelve numbers (fastaug._program.stains)."""
        self.need_tile()
        self.ops.append(ops.stains(numbers, flags))
        self.info = None

    def restain_found(self, numbers: Callable[[Stains], Sequence[float]], flags: int) -> None:
        """Do the same by numbers that follow from the image's own stains, if it has any."""
        self.need_tile()
        self.apart(lambda draft: draft._restain_found(numbers, flags))

    def _restain_found(self, numbers: Callable[[Stains], Sequence[float]], flags: int) -> None:
        stains = found(sources_of(self.flush()))
        if stains is None:
            return
        made = numbers(stains)
        # Beyond, the stains are too faint or too much alike.
        if max(map(abs, made)) <= LARGE:
            self.restain(made, flags)

    def grayscale(self, channels: int) -> None:
        """Reduce to 1 channel, or 3 equal ones."""
        if not self.native:
            self._eager("grayscale", channels)
            return
        if self.kind != PIL_IMAGE:
            if self.kind == TENSOR:
                if self.flat:
                    checks.need_channel_axis(self.image)
                if channels == self.channels == 1 and self.source == TENSOR and type(self.image) is not Tensor:
                    # A clone is of the class of its original, even where other results are not.
                    self._eager("grayscale", channels)
                    return
            self._colour_channels()
        if channels not in (1, 3):
            raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")
        channels = 3 if channels == 3 else 1  # they may be numbers of another type
        if self.kind == TENSOR and self.channels == 1:
            channels = 1  # torchvision expands to the shape of its input
        if self.kind == PIL_IMAGE:
            if (self.mode != "L" and self.mode not in _COLOUR_MODES) or (self.info and "transparency" in self.info):
                self._eager("grayscale", channels)
                return
            self.mode = "L" if channels == 1 else "RGB"
        if self.channels > 1:
            self.ops.append(ops.TORCH_LUMA if self.by_torch else ops.LUMA)
        if channels == 3:
            self.ops.append(ops.REPLICATE_3)
            self.info = None
            self.flat = False
        self.copied = True
        self.channel_last = False
        self.channels = channels

    def adjust_gamma(self, gamma: float, gain: float) -> None:
        simple = self.native and not (self.info and "transparency" in self.info)
        if self.kind == PIL_IMAGE:
            # L passes through RGB unharmed: the weights of luma add up to 1.
            simple = simple and self.mode in ("L", "RGB")
        elif simple:
            self._colour_channels()
            checks.need_gamma(gamma)
        # Other types round in their own way.
        simple = simple and type(gamma) in (int, float) and type(gain) in (int, float)
        op = None
        if simple and 0 <= gamma < LARGE and abs(gain) < LARGE:
            op = ops.torch_gamma(gamma, gain) if self.by_torch else ops.gamma(gamma, gain)
        if op is None:
            self._eager("adjust_gamma", gamma, gain)
        else:
            self.ops.append(op)

    def adjust_sharpness(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            checks.need_not_negative("sharpness_factor", factor)
        # torch smooths one batch of planes: neither a plane alone nor a batch of batches.
        shaped = self.kind != TENSOR or (not self.flat and len(self.lead) <= self._most_leading)
        number = factor if type(factor) is float else arguments.real(factor)
        if not self._colour_channels() or not abs(number) <= _MOST or not shaped:
            self._eager("adjust_sharpness", factor)
        elif self.kind == TENSOR and (self.width <= 2 or self.height <= 2):
            pass  # torchvision returns the tensor itself
        elif number == 1:
            self.copied = True
        elif not self._blends_natively():
            self._eager("adjust_sharpness", factor)
        elif self.by_torch:
            self.ops.append(self._torch_sharpness(number))
        else:
            self.ops.append(ops.sharpness(number, ops.HAS_ALPHA if self.mode in ALPHA_MODES else 0))

    def _has_tables(self) -> bool:
        """Return whether the native core may look up each sample of this image in a table."""
        if not self.native:
            return False
        if self.kind == PIL_IMAGE:
            return self.mode == "L" or self.mode == "RGB"
        if self.kind == TENSOR and self.flat:
            checks.need_channel_axis(self.image)
        self._colour_channels()
        return True

    def invert(self) -> None:
        if self._has_tables():
            if not self.ops:
                self.first = ("invert",)
            self.ops.append(ops.INVERT)
        else:
            self._eager("invert")

    def posterize(self, bits: int) -> None:
        if not 0 <= bits <= 8:
            raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
        if self._has_tables() and type(bits) is int and bits > 0:
            if not self.ops:
                self.first = ("posterize", bits)
            self.ops.append(ops.posterize(bits))
        else:
            self._eager("posterize", bits)

    def solarize(self, threshold: float) -> None:
        if self._has_tables() and type(threshold) in (int, float):
            if self.kind == TENSOR:
                checks.need_threshold(threshold, torch.uint8)
            if self.by_torch and not threshold >= 0:
                # A negative int wraps around there, and nothing is as large as NaN.
                self._eager("solarize", threshold)
                return
            if self.by_torch and type(threshold) is float and torch.get_default_dtype() is torch.float32:
                threshold = arguments.as_float32(threshold)
            # No sample lies beyond these bounds, nor does anything compare to NaN, which inverts every sample.
            self.ops.append(ops.solarize(max(min(threshold, 256), 0) if threshold == threshold else 0))
        else:
            self._eager("solarize", threshold)

    def autocontrast(self) -> None:
        if self._has_tables():
            self.ops.append(self._torch_autocontrast if self.by_torch else ops.AUTOCONTRAST)
        else:
            self._eager("autocontrast")

    def equalize(self) -> None:
        if self._has_tables() and (len(self.lead) <= self._most_leading or self.kind != TENSOR):
            self.ops.append(ops.EQUALIZE)
            self.channel_last = False
        else:
            self._eager("equalize")
