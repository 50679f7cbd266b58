"""Transforms of colour."""

from __future__ import annotations

import numbers
from typing import Any

import torch
from torch import Tensor

from fastaug._draft import Draft
from fastaug.transforms._base import Transform, happens

__all__ = ["ColorJitter", "Grayscale", "RandomGrayscale"]

Range = tuple[float, float]


class ColorJitter(Transform):
    """Random brightness, contrast, saturation and hue, in random order.

    Draws the order first, then one factor for each of the four that is enabled. Images have 1 or 3 channels, or are PIL
    images with alpha, which stays.

    Args:
        brightness: x for factors in [max(0, 1 - x), 1 + x], or (low, high).
        contrast: as ``brightness``.
        saturation: as ``brightness``.
        hue: x for shifts in [-x, x], or (low, high); within [-0.5, 0.5].

    Raises:
        TypeError: neither a number nor a pair.
        ValueError: negative number, or a range out of bounds or in wrong order.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.ColorJitter(brightness=0.4, hue=0.1)(Image.new("RGB", (4, 3))).size
        (4, 3)
    """

    def __init__(
        self,
        brightness: float | Range = 0,
        contrast: float | Range = 0,
        saturation: float | Range = 0,
        hue: float | Range = 0,
    ) -> None:
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False)

    def _check_input(
        self,
        value: Any,
        name: str,
        center: float = 1,
        bound: Range = (0, float("inf")),
        clip_first_on_zero: bool = True,
    ) -> Range | None:
        """The range of factors; None when it is only the neutral one."""
        if isinstance(value, numbers.Number):
            number: Any = value
            if number < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative. Got {value}.")
            low, high = center - float(number), center + float(number)
            if clip_first_on_zero:
                low = max(low, 0.0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            low, high = float(value[0]), float(value[1])
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2. Got {value!r}.")
        if not bound[0] <= low <= high <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {[low, high]}.")
        return None if low == high == center else (low, high)

    @staticmethod
    def get_params(
        brightness: Range | None, contrast: Range | None, saturation: Range | None, hue: Range | None
    ) -> tuple[Tensor, float | None, float | None, float | None, float | None]:
        """Draws the order of the four adjustments and their factors; None for a range that is None.

        Example:
            >>> import fastaug.transforms as T
            >>> order, brightness, contrast, saturation, hue = T.ColorJitter.get_params((1, 1), None, None, None)
            >>> len(order), brightness, hue
            (4, 1.0, None)
        """
        order = torch.randperm(4)
        draw = torch.empty(1)
        factors = [
            None if limits is None else draw.uniform_(limits[0], limits[1]).item()
            for limits in (brightness, contrast, saturation, hue)
        ]
        return order, factors[0], factors[1], factors[2], factors[3]

    def _draft(self, draft: Draft) -> None:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        for which in order.tolist():
            factor = factors[which]
            if factor is None:
                continue
            if which == 0:
                draft.adjust_brightness(factor)
            elif which == 1:
                draft.adjust_contrast(factor)
            elif which == 2:
                draft.adjust_saturation(factor)
            else:
                draft.adjust_hue(factor)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


class Grayscale(Transform):
    """The image in gray.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Raises:
        ValueError: when called, another number of channels.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.Grayscale()(Image.new("RGB", (4, 3))).mode
        'L'
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def _draft(self, draft: Draft) -> None:
        draft.grayscale(self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomGrayscale(Transform):
    """The image in gray with probability ``p``, with as many channels as before.

    Args:
        p: probability.

    Raises:
        ValueError: when it happens to an image that has neither 1 nor 3 channels.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomGrayscale(p=1.0)(Image.new("RGB", (1, 1), (200, 100, 0))).getpixel((0, 0))
        (118, 118, 118)
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        self.p = p

    def _draft(self, draft: Draft) -> None:
        channels, _, _ = draft.dimensions()
        if happens(self.p):
            draft.grayscale(channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"
