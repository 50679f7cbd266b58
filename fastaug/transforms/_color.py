"""Transforms of colour."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import DEFAULT, Draws, TorchDraws
from fastaug._draft.progress import applied
from fastaug._draft.replaced import called, is_plain
from fastaug._program.eager import traced
from fastaug.transforms._base import RandomTransform, Transform

__all__ = [
    "ColorJitter",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]

Range = tuple[float, float]
Factors = tuple[list[int], float | None, float | None, float | None, float | None]

#: The methods of drafts that ColorJitter calls, which are functions of v2 too.
ADJUSTMENTS = ("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue")

_TORCH = TorchDraws()


class ColorJitter(Transform):
    """Random brightness, contrast, saturation and hue, in random order.

    Draws the order first, then one factor for each of the four that is enabled. Images have 1 or 3 channels, or are PIL
    images with alpha, which stays.

    Args:
        brightness: x for factors in [max(0, 1 - x), 1 + x], or (low, high).
        contrast, saturation: as ``brightness``.
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

    _drawn = ("order", "brightness", "contrast", "saturation", "hue")
    _shown = ("brightness", "contrast", "saturation", "hue")

    def __init__(
        self,
        brightness: float | Range = 0,
        contrast: float | Range = 0,
        saturation: float | Range = 0,
        hue: float | Range = 0,
    ) -> None:
        super().__init__()
        self.brightness = factors_of("brightness", brightness)
        self.contrast = factors_of("contrast", contrast)
        self.saturation = factors_of("saturation", saturation)
        self.hue = factors_of("hue", hue)

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
        drawn = draw_factors(_TORCH, brightness, contrast, saturation, hue)
        return torch.tensor(drawn[0]), drawn[1], drawn[2], drawn[3], drawn[4]

    def _sample(self, draft: Draft) -> Factors:
        ranges = self.brightness, self.contrast, self.saturation, self.hue
        order, *factors = self._drawn_by(draw_factors, draft, *ranges)
        return list(map(int, order)), *factors

    def _draft(self, draft: Draft, params: Factors) -> None:
        order, *factors = params
        for which in order:
            if factors[which] is not None:
                getattr(draft, ADJUSTMENTS[which])(factors[which])

    def _packed(self) -> recipe.Packed:
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        return "ColorJitter", *(None if limits is None else recipe.interval(limits) for limits in ranges)


def draw_factors(
    draws: Draws, brightness: Range | None, contrast: Range | None, saturation: Range | None, hue: Range | None
) -> Factors:
    return (
        draws.randperm(4),
        None if brightness is None else draws.uniform(brightness[0], brightness[1]),
        None if contrast is None else draws.uniform(contrast[0], contrast[1]),
        None if saturation is None else draws.uniform(saturation[0], saturation[1]),
        None if hue is None else draws.uniform(hue[0], hue[1]),
    )


def factors_of(name: str, value: Any, v2: bool = False) -> Range | None:
    """Return the range of factors, or None for the neutral one alone. Types and words are torchvision's."""
    neutral, bound = (0, (-0.5, 0.5)) if name == "hue" else (1, (0, math.inf))
    number: Any = (int, float) if v2 else numbers.Number
    if isinstance(value, number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative. Got {value}.")
        low, high = neutral - float(value), neutral + float(value)
        if name != "hue":
            low = max(low, 0.0)
    elif isinstance(value, Sequence if v2 else (tuple, list)) and len(value) == 2:
        low, high = float(value[0]), float(value[1])
    elif v2:
        raise TypeError(f"{name}={value} should be a single number or a sequence with length 2.")
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2. Got {value!r}.")
    if not bound[0] <= low <= high <= bound[1]:
        raise ValueError(f"{name} values should be between {bound}{' and increasing' * v2}, but got {[low, high]}.")
    return None if low == high == neutral else (low, high)


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

    _shown = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def _draft(self, draft: Draft, params: None) -> None:
        draft.grayscale(self.num_output_channels)

    def _packed(self) -> recipe.Packed:
        return "Grayscale", recipe.whole(self.num_output_channels)


class RandomGrayscale(RandomTransform):
    """The image in gray with probability ``p``, with as many channels as before.

    Raises:
        ValueError: when it happens to an image that has neither 1 nor 3 channels.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomGrayscale(p=1.0)(Image.new("RGB", (1, 1), (200, 100, 0))).getpixel((0, 0))
        (118, 118, 118)
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def _sample(self, draft: Draft) -> bool:
        draft.dimensions()
        return super()._sample(draft)

    def _adjust(self, draft: Draft) -> None:
        channels, _, _ = draft.dimensions()
        draft.grayscale(channels)

    def _packed(self) -> recipe.Packed:
        return recipe.happening(recipe.chance(self.p), "Grayscale", None)


class RandomColor(RandomTransform):
    """The base of single adjustments with probability ``p``. `_shown` names the number that it takes, if any, and p."""

    #: The name of the method of drafts, which is the function's too.
    _method: str
    #: The check of the number that recipes take.
    _plain: Callable[[Any], Any] = staticmethod(recipe.number)
    _separator = ","

    def _sample(self, draft: Draft) -> bool:
        # Compared in float64, as torchvision does here; its other transforms compare in float32.
        return bool(draft.call.draws.rand() < self.p)

    def _arguments(self) -> list[Any]:
        return [getattr(self, name) for name in self._shown[:-1]]

    def _adjust(self, draft: Draft) -> None:
        getattr(draft, self._method)(*self._arguments())

    # The class that has `forward` has the rule for drafts, too: see `step_of`.
    _draft = RandomTransform._draft

    def forward(self, img: Any) -> Any:
        if traced() or not is_plain(img):
            return called(self, img)
        try:
            happened = bool(DEFAULT.rand() < self.p)
        finally:
            DEFAULT.release()
        return applied(img, self._method, *self._arguments()) if happened else img

    def _packed(self) -> recipe.Packed:
        return recipe.happening(float(recipe.number(self.p)), *self._step(self))

    @classmethod
    def _step(cls, transform: Any) -> recipe.Packed:
        """Return what a recipe does where a transform of this class, or of v2's, happens."""
        number = 0 if len(cls._shown) == 1 else cls._plain(getattr(transform, cls._shown[0]))
        name = cls.__name__.removeprefix("Random").removeprefix("Adjust").replace("contrast", "Contrast")
        return "Adjustment", name, float(number), type(number) is float


class RandomInvert(RandomColor):
    """The image inverted with probability ``p``: white becomes black.

    Raises:
        TypeError: when it happens to something other than an image of 1 or 3 channels.
        OSError: when it happens to a PIL image of a mode that Pillow does not adjust.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomInvert(p=1.0)(torch.tensor([[[0, 55, 255]]], dtype=torch.uint8))
        tensor([[[255, 200,   0]]], dtype=torch.uint8)
    """

    _method = "invert"


class RandomPosterize(RandomColor):
    """The image with fewer bits per sample, with probability ``p``.

    Args:
        bits: how many of the 8 bits stay.

    Raises:
        TypeError: when it happens to something other than an image of 1 or 3 channels.
        OSError: when it happens to a PIL image of a mode that Pillow does not adjust.
        ValueError: when it happens, ``bits`` out of range.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomPosterize(2, p=1.0)(torch.tensor([[[63, 64, 255]]], dtype=torch.uint8))
        tensor([[[  0,  64, 192]]], dtype=torch.uint8)
    """

    _method = "posterize"
    _plain = staticmethod(recipe.whole)
    _shown = ("bits", "p")

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits


class RandomSolarize(RandomColor):
    """The image with all samples from a threshold on inverted, with probability ``p``.

    Args:
        threshold: smallest sample that is inverted.

    Raises:
        TypeError: when it happens to something other than an image of 1 or 3 channels.
        OSError: when it happens to a PIL image of a mode that Pillow does not adjust.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomSolarize(128, p=1.0)(torch.tensor([[[127, 128, 255]]], dtype=torch.uint8))
        tensor([[[127, 127,   0]]], dtype=torch.uint8)
    """

    _method = "solarize"
    _shown = ("threshold", "p")

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold


class RandomAdjustSharpness(RandomColor):
    """The image sharpened or smoothed with probability ``p``.

    Args:
        sharpness_factor: 0 is smooth, 1 the image itself, 2 twice as sharp.

    Raises:
        TypeError: when it happens to something that is not an image, or has neither 1 nor 3 channels.
        ValueError: when it happens, a negative factor on a tensor or array, or a PIL mode that Pillow does not filter.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomAdjustSharpness(2, p=1.0)(torch.eye(3, dtype=torch.uint8)[None] * 65)[0, 1]
        tensor([ 0, 95,  0], dtype=torch.uint8)
    """

    _method = "adjust_sharpness"
    _shown = ("sharpness_factor", "p")

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor


class RandomAutocontrast(RandomColor):
    """Each channel stretched to the full range with probability ``p``.

    Raises:
        TypeError: when it happens to something other than an image of 1 or 3 channels.
        OSError: when it happens to a PIL image of a mode that Pillow does not adjust.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomAutocontrast(p=1.0)(torch.tensor([[[10, 15, 20]]], dtype=torch.uint8))
        tensor([[[  0, 127, 255]]], dtype=torch.uint8)
    """

    _method = "autocontrast"


class RandomEqualize(RandomColor):
    """The histogram of each channel flattened with probability ``p``.

    Raises:
        TypeError: when it happens to something other than an image of 1 or 3 channels.
        OSError: when it happens to a PIL image of a mode that Pillow does not adjust.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomEqualize(p=1.0)(torch.arange(16, dtype=torch.uint8).repeat(1, 32, 1))[0, 0, :4]
        tensor([ 0, 32, 64, 96], dtype=torch.uint8)
    """

    _method = "equalize"
