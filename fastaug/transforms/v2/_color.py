"""Transforms of colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.recipe import Packed
from fastaug.transforms._base import happens
from fastaug.transforms._color import ADJUSTMENTS, RandomColor, draw_factors, factors_of
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import Keeping, Transform, _RandomApplyTransform
from fastaug.transforms.v2._utils import draws_of, order_of, query_chw

__all__ = [
    "RGB",
    "ColorJitter",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomSolarize",
]

_Range = tuple[float, float]


class Grayscale(Keeping):
    """Images in gray. Videos stay as they are.

    Args:
        num_output_channels: 1, or 3 equal ones.

    Raises:
        ValueError: when called, another number of channels.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.Grayscale()(Image.new("RGB", (4, 3))).mode
        'L'
    """

    _v1_transform_cls = _v1.Grayscale

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.rgb_to_grayscale, inpt, num_output_channels=self.num_output_channels)


class RandomGrayscale(_RandomApplyTransform):
    """Images in gray with probability ``p``, with as many channels as before. Videos stay as they are.

    Raises:
        ValueError: ``p`` is not between 0 and 1; when it happens to an image that has neither 1 nor 3 channels.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomGrayscale(p=1.0)(Image.new("RGB", (1, 1), (200, 100, 0))).getpixel((0, 0))
        (118, 118, 118)
    """

    _v1_transform_cls = _v1.RandomGrayscale

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p=p)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"num_input_channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.rgb_to_grayscale, inpt, num_output_channels=params["num_input_channels"])


class RGB(Keeping):
    """Gray images with three equal channels. Others, and videos, stay as they are.

    Raises:
        ValueError: when called, an image of 2 channels.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RGB()(Image.new("L", (4, 3))).mode
        'RGB'
    """

    _by_functional = True

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.grayscale_to_rgb, inpt)


class ColorJitter(Keeping):
    """Random brightness, contrast, saturation and hue of images and videos, in random order.

    Draws the order first, then one factor for each of the four that is enabled.

    Args:
        brightness: x for factors in [max(0, 1 - x), 1 + x], or (low, high).
        contrast, saturation: as ``brightness``.
        hue: x for shifts in [-x, x], or (low, high); within [-0.5, 0.5].

    Raises:
        TypeError: neither a number nor a pair.
        ValueError: negative number, or a range out of bounds or in wrong order.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.ColorJitter(brightness=0.4, hue=0.1)(Image.new("RGB", (4, 3))).size
        (4, 3)
    """

    _v1_transform_cls = _v1.ColorJitter

    def __init__(
        self,
        brightness: float | Sequence[float] | None = None,
        contrast: float | Sequence[float] | None = None,
        saturation: float | Sequence[float] | None = None,
        hue: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        given = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
        self.brightness, self.contrast, self.saturation, self.hue = (
            None if value is None else factors_of(name, value, v2=True) for name, value in given.items()
        )

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        return {name: value or 0 for name, value in super()._extract_params_for_v1_transform().items()}

    @staticmethod
    def _generate_value(left: float, right: float) -> float:
        return draws_of([]).uniform(left, right)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        order, *factors = draw_factors(draws_of(flat_inputs), self.brightness, self.contrast, self.saturation, self.hue)
        return {"fn_idx": order_of(flat_inputs, order), **dict(zip(_FACTORS, factors))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        order = params["fn_idx"]
        for which in order.tolist() if isinstance(order, torch.Tensor) else order:
            inpt = _adjusted(self, inpt, params, which)
        return inpt


_FACTORS = ("brightness_factor", "contrast_factor", "saturation_factor", "hue_factor")


def _adjusted(transform: Transform, inpt: Any, params: dict[str, Any], which: int) -> Any:
    """The leaf after one of the four adjustments, if there is a factor for it."""
    factor = params[_FACTORS[which]]
    if factor is None:
        return inpt
    return transform._call_kernel(getattr(F, ADJUSTMENTS[which]), inpt, **{_FACTORS[which]: factor})


class RandomChannelPermutation(Keeping):
    """The channels of images and videos in random order.

    Draws as ``torch.randperm`` does.

    Raises:
        TypeError: when called, a sample without images and videos.
        ValueError: when called, one of several sizes or numbers of channels.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> image = v2.RandomChannelPermutation()(torch.arange(3, dtype=torch.uint8).view(3, 1, 1))
        >>> sorted(image.flatten().tolist())
        [0, 1, 2]
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels = query_chw(flat_inputs)[0]
        return {"permutation": order_of(flat_inputs, draws_of(flat_inputs).randperm(channels))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.permute_channels, inpt, params["permutation"])

    def _packed(self) -> Packed:
        return ("PermuteChannels",)


class RandomPhotometricDistort(Keeping):
    """Random brightness, contrast, saturation, hue and order of channels (https://arxiv.org/abs/1512.02325).

    For brightness, contrast, saturation and hue draws whether it is done, and if so its factor; then whether contrast
    comes before saturation and hue or after them; then whether channels are permuted, and if so how.

    Args:
        brightness, contrast, saturation: (low, high) of the factor.
        hue: (low, high) of the shift, within [-0.5, 0.5].
        p: probability of each.

    Raises:
        TypeError: when called, a sample without images and videos.
        ValueError: when called, one of several sizes or numbers of channels, or a factor that is out of bounds.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomPhotometricDistort(p=1.0)(Image.new("RGB", (4, 3))).size
        (4, 3)
    """

    def __init__(
        self,
        brightness: _Range = (0.875, 1.125),
        contrast: _Range = (0.5, 1.5),
        saturation: _Range = (0.5, 1.5),
        hue: _Range = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        super().__init__()
        self.brightness = brightness
        self.contrast = contrast
        self.hue = hue
        self.saturation = saturation
        self.p = p

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels = query_chw(flat_inputs)[0]
        draws = draws_of(flat_inputs)
        params: dict[str, Any] = {}
        for name, limits in zip(_FACTORS, (self.brightness, self.contrast, self.saturation, self.hue)):
            params[name] = draws.uniform(limits[0], limits[1]) if happens(draws, self.p) else None
        params["contrast_before"] = draws.rand() < 0.5
        permuted = happens(draws, self.p)
        params["channel_permutation"] = order_of(flat_inputs, draws.randperm(channels)) if permuted else None
        return params

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        for which in (0, 1, 2, 3) if params["contrast_before"] else (0, 2, 3, 1):
            inpt = _adjusted(self, inpt, params, which)
        if params["channel_permutation"] is not None:
            inpt = self._call_kernel(F.permute_channels, inpt, permutation=params["channel_permutation"])
        return inpt

    def _packed(self) -> Packed:
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        return "PhotometricDistort", *map(recipe.interval, ranges), recipe.chance(self.p)


class _RandomColor(_RandomApplyTransform):
    """The base of single adjustments, by the function and with the number that the class of v1 names."""

    _by_functional = True
    _v1_transform_cls: type[RandomColor]

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        v1 = self._v1_transform_cls
        given = {name: getattr(self, name) for name in v1._shown[:-1]}
        return self._call_kernel(getattr(F, v1._method), inpt, **given)

    def _packed(self) -> Packed:
        return recipe.happening(recipe.chance(self.p), *self._v1_transform_cls._step(self))


class RandomEqualize(_RandomColor):
    """The histogram of each channel of images and videos flattened with probability ``p``.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomEqualize(p=1.0)(torch.arange(16, dtype=torch.uint8).repeat(1, 32, 1))[0, 0, :4]
        tensor([ 0, 32, 64, 96], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomEqualize


class RandomInvert(_RandomColor):
    """Images and videos inverted with probability ``p``: white becomes black.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomInvert(p=1.0)(torch.tensor([[[0, 55, 255]]], dtype=torch.uint8))
        tensor([[[255, 200,   0]]], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomInvert


class RandomPosterize(_RandomColor):
    """Images and videos with fewer bits per sample, with probability ``p``.

    Args:
        bits: how many bits stay.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomPosterize(2, p=1.0)(torch.tensor([[[63, 64, 255]]], dtype=torch.uint8))
        tensor([[[  0,  64, 192]]], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomPosterize

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.bits = bits


class RandomSolarize(_RandomColor):
    """Images and videos with all samples from a threshold on inverted, with probability ``p``.

    Args:
        threshold: smallest sample that is inverted.

    Raises:
        TypeError: when it happens, a ``threshold`` above what samples can be.
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomSolarize(128, p=1.0)(torch.tensor([[[127, 128, 255]]], dtype=torch.uint8))
        tensor([[[127, 127,   0]]], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomSolarize

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.threshold = threshold

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        params = super()._extract_params_for_v1_transform()
        return {**params, "threshold": float(params["threshold"])}


class RandomAutocontrast(_RandomColor):
    """Each channel of images and videos stretched to the full range with probability ``p``.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomAutocontrast(p=1.0)(torch.tensor([[[10, 15, 20]]], dtype=torch.uint8))
        tensor([[[  0, 127, 254]]], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomAutocontrast


class RandomAdjustSharpness(_RandomColor):
    """Images and videos sharpened or smoothed with probability ``p``.

    Args:
        sharpness_factor: 0 is smooth, 1 the image itself, 2 twice as sharp.

    Raises:
        ValueError: ``p`` is not between 0 and 1; when it happens, a negative factor.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomAdjustSharpness(2, p=1.0)(torch.eye(3, dtype=torch.uint8)[None] * 65)[0, 1]
        tensor([ 0, 95,  0], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomAdjustSharpness

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.sharpness_factor = sharpness_factor
