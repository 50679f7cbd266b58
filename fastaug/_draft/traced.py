"""The state of a draft that the core does not hold: while torch traces, and of images that are too large to count.

Sides may be symbols of torch's, and Dynamo follows the code of Python alone. No sample is read, so each op is left to
Pillow or torch at once.
"""

from __future__ import annotations

from typing import Any


class TracedCore:
    """The state of an image, with the attributes and methods of _C.Draft. It drafts nothing."""

    native = floats = channel_last = copied = takes_moves = transparent = False
    count = stored = erases = views = 0
    reason = "none"
    ending = 1
    first = None
    ops = store = ()

    def begin(self, kind: int, mode: str | None, height: Any, width: Any, channels: Any, lead: tuple[Any, ...]) -> None:
        self.kind = self.source = kind
        self.mode, self.lead = mode, lead
        self.height, self.width = height, width
        self.bands = self.channels = channels
        self.flat = False
        self.lost = 0

    def begin_with(self, image: Any) -> int:
        """Leave the image to Python."""
        return 0

    begin_on_device = begin_with

    def choose_order(self) -> None:
        """Leave the samples in torch's order."""

    def _decline(self, *arguments: Any) -> bool:
        """Leave an op to a fallback."""
        return True

    hflip = vflip = transpose = rot90 = crop = center_crop = pad = resize = _decline
    rotate = affine = perspective = gaussian_blur = _decline
    adjust_brightness = adjust_contrast = adjust_saturation = adjust_hue = adjust_sharpness = adjust_gamma = _decline
    grayscale = to_rgb = permute_channels = invert = posterize = solarize = autocontrast = equalize = _decline
    recolour = to_float = to_uint8_tensor = to_pil = convert_dtype = normalize = erase = _decline
