"""Ops of colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from fastaug._draft.base import DraftBase, rule
from fastaug._program import checks, ops
from fastaug._program.borrow import sources_of
from fastaug._program.kinds import OTHER, PIL_IMAGE, TENSOR
from fastaug._program.stains import Stains, found

#: Beyond it, a gamma curve may overflow. Python or Pillow raises that error.
LARGE = 1e6


def _by_factor(name: str) -> Callable[[Any, Any], None]:
    """Return a check of a factor, which has this name, and of the image."""

    def check(draft: Any, factor: Any) -> None:
        if draft.core.kind != PIL_IMAGE and draft.core.kind != OTHER:
            checks.need_not_negative(name, factor)
        draft._check_colour()

    return check


def _check_hue(draft: Any, factor: Any) -> None:
    checks.need_hue(factor)
    draft._check_colour()


class ColorDraft(DraftBase):
    """A draft's methods for colour."""

    __slots__ = ()

    adjust_brightness = rule("adjust_brightness", _by_factor("brightness_factor"))
    adjust_contrast = rule("adjust_contrast", _by_factor("contrast_factor"))
    adjust_saturation = rule("adjust_saturation", _by_factor("saturation_factor"))
    adjust_sharpness = rule("adjust_sharpness", _by_factor("sharpness_factor"))
    adjust_hue = rule("adjust_hue", _check_hue)
    adjust_gamma = rule("adjust_gamma", lambda draft, gamma, gain: draft._check_gamma(gamma))
    grayscale = rule("grayscale", lambda draft, channels: draft._check_grayscale(channels))
    invert = rule("invert", lambda draft: draft._check_table())
    posterize = rule("posterize", lambda draft, bits: draft._check_posterize(bits))
    solarize = rule("solarize", lambda draft, threshold: draft._check_solarize(threshold))
    autocontrast = rule("autocontrast", lambda draft: draft._check_table())
    equalize = rule("equalize", lambda draft: draft._check_table())

    def _check_colour(self) -> None:
        """Check that an image that the core holds has colours."""
        if self.core.native and self.core.kind != PIL_IMAGE and self.core.channels not in (1, 3):
            raise TypeError(f"Input image tensor permitted channel values are [1, 3], but found {self.core.channels}")

    def _check_table(self) -> None:
        if self.core.native and self.core.kind == TENSOR and self.core.flat:
            checks.need_channel_axis(self.image)
        self._check_colour()

    def _check_gamma(self, gamma: float) -> None:
        if self.core.native and self.core.kind != PIL_IMAGE:
            self._check_colour()
            checks.need_gamma(gamma)

    def _check_grayscale(self, channels: int) -> None:
        if self.core.native:
            self._check_table()
            if channels not in (1, 3):
                raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")

    def _check_posterize(self, bits: int) -> None:
        checks.need_bits(bits)
        self._check_table()

    def _check_solarize(self, threshold: float) -> None:
        self._check_table()
        if self.core.native and self.core.kind == TENSOR and type(threshold) in (int, float):
            checks.need_threshold(threshold, torch.uint8)

    def recolour(self, op: bytes, otherwise: Callable[[Any], None]) -> None:
        """Append an op of three colour channels, or hand an image that the core does not hold so to a function."""
        self.dimensions()
        if self.core.recolour(op):
            otherwise(self)

    def _has_colours(self) -> bool:
        self.dimensions()
        core = self.core
        return bool(core.native and core.channels == 3 and (core.kind != PIL_IMAGE or core.mode == "RGB"))

    def need_tile(self) -> None:
        """Check that stains can be taken from the image: the core holds it, in uint8 and three colour channels."""
        if self._has_colours():
            return
        if self.core.kind == PIL_IMAGE:
            got = f"a PIL image of mode {self.core.mode}"
        else:
            got = f"{'a tensor' if self.core.kind == TENSOR else 'an array'} of {self.core.channels} channels"
            if isinstance(self.image, (torch.Tensor, np.ndarray)):
                got += f", {self.image.dtype} of shape {tuple(self.image.shape)}"
        raise TypeError(
            "Stains are taken from RGB images: PIL images of mode RGB, uint8 arrays (H, W, 3) and uint8 tensors "
            f"(..., 3, H, W) of one pixel or more, got {got}"
        )

    def adjust_hed(self, alpha: Sequence[float], beta: Sequence[float], clip: bool) -> None:
        self.recolour(ops.hed(alpha, beta, clip), ColorDraft.need_tile)

    def restain(self, numbers: Sequence[float], flags: int) -> None:
        """Map densities by twelve numbers (fastaug._program.stains)."""
        self.recolour(ops.stains(numbers, flags), ColorDraft.need_tile)

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
