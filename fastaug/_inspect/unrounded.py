"""What a chain of torchvision's transforms would give if nothing were rounded between its steps.

torchvision's own classes draw the parameters and turn them into sizes, boxes, matrices and factors. What it asks Pillow
to do with pixels is done here instead, in float64: the same filters, index rules, borders and ranges, without the
rounding to bytes at the end of each step. On tensors torchvision's own functions do that, given float64 from 0 to 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import PIL
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision.transforms import _functional_pil as functional_pil
from torchvision.transforms import _functional_tensor as functional_tensor
from torchvision.transforms import functional

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class FloatImage:
    """Samples in float64 from 0 to 255, [channels, height, width], with as much of a PIL image as torchvision uses."""

    def __init__(self, samples: Floats) -> None:
        self.samples = samples
        self.height, self.width = samples.shape[1:]
        self.size = (self.width, self.height)
        self.mode = "RGB" if len(samples) == 3 else "L"

    #: Ends in self.transpose or self.transform, with Pillow's matrix.
    rotate: Any = Image.Image.rotate

    def copy(self) -> FloatImage:
        return self

    def transpose(self, method: int) -> FloatImage:
        """The turns that Image.rotate asks for."""
        turns = {Image.Transpose.ROTATE_90: 1, Image.Transpose.ROTATE_180: 2, Image.Transpose.ROTATE_270: 3}
        return FloatImage(np.rot90(self.samples, turns[Image.Transpose(method)], axes=(1, 2)))

    def transform(
        self, size: Sequence[int], method: int, data: Sequence[float], resample: int = 0, *, fillcolor: Any = None
    ) -> FloatImage:
        """Image.transform by Pillow's Geometry.c; linear and cubic ones without its truncation."""
        fill = np.broadcast_to(0 if fillcolor is None else fillcolor, len(self.samples)).astype(np.float64)
        out = np.empty((len(self.samples), size[1], size[0]))
        out[:] = fill[:, None, None]
        if resample == Image.Resampling.NEAREST:
            numbered: Any = self._numbered()
            index = numbered.transform(size, method, data, resample, fillcolor=-1)
            source = np.asarray(index, np.int64)
            inside = source >= 0
            out[:, inside] = self.samples.reshape(len(out), -1)[:, source[inside]]
            return FloatImage(out)
        y, x = np.mgrid[: size[1], : size[0]] + 0.5
        m = [*data, 0.0, 0.0][:8]  # an affine map is a perspective without a horizon
        below = m[6] * x + m[7] * y + 1.0
        at_x, at_y = (m[0] * x + m[1] * y + m[2]) / below, (m[3] * x + m[4] * y + m[5]) / below
        inside = (at_x >= 0) & (at_x < self.width) & (at_y >= 0) & (at_y < self.height)
        out[:, inside] = self._sampled(at_x[inside] - 0.5, at_y[inside] - 0.5, resample)
        return FloatImage(out)

    def _numbered(self) -> Image.Image:
        """Where each pixel is, as pixels: whatever Pillow does to them by nearest neighbour tells its index rule."""
        return Image.fromarray(np.arange(self.height * self.width, dtype=np.int32).reshape(self.height, self.width))

    def _sampled(self, x: Floats, y: Floats, resample: int) -> Floats:
        """[channels, positions]. Borders are repeated."""
        cubic = resample == Image.Resampling.BICUBIC
        rows, down = weights_at(y, self.height, cubic)
        columns, across = weights_at(x, self.width, cubic)
        total = np.zeros((len(self.samples), len(x)))
        for row, weight in zip(rows, down):
            line = sum(self.samples[:, row, column] * share for column, share in zip(columns, across))
            total += line * weight
        return np.clip(total, 0, 255) if cubic else total


def weights_at(position: Floats, size: int, cubic: bool) -> tuple[list[Indices], list[Floats]]:
    """Indices and weights of the two or four samples around positions along an axis. Pillow's cubic has A = -1."""
    first = np.floor(position).astype(np.int64)
    d = position - first
    if cubic:
        weights = [
            d * (-1 + d * (2 - d)),
            1 + d * d * (d - 2),
            d * (1 + d * (1 - d)),
            d * d * (d - 1),
        ]
    else:
        weights = [1 - d, d]
    start = -1 if cubic else 0
    return [np.clip(first + start + k, 0, size - 1) for k in range(len(weights))], weights


# ---- geometry


def _cubic(x: Floats) -> Floats:
    a = -0.5
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _hamming(x: Floats) -> Floats:
    return np.where(x < 1, np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x)), 0.0)


PILLOW_13 = int(PIL.__version__.split(".")[0]) >= 13

#: Pillow's filters of the distance from the centre, and their reach. BOX has one of its two ends.
FILTERS: dict[int, tuple[Callable[[Floats], Floats], float]] = {
    Image.Resampling.BOX: (lambda x: np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0), 0.5),
    Image.Resampling.HAMMING: (_hamming, 1.0),
    Image.Resampling.BILINEAR: (lambda x: np.maximum(1 - x, 0), 1.0),
    Image.Resampling.BICUBIC: (_cubic, 2.0),
    Image.Resampling.LANCZOS: (lambda x: np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0), 3.0),
}


@functools.lru_cache(maxsize=64)
def resampling(before: int, after: int, kind: int) -> Floats:
    """The matrix [after, before] of a resize along one axis (Pillow, Resample.c, precompute_coeffs)."""
    filter_, reach = FILTERS[kind]
    scale = before / after
    stretch = max(scale, 1.0)
    centre = (np.arange(after) + 0.5)[:, None] * scale
    first = np.maximum(np.trunc(centre - reach * stretch + 0.5), 0)
    last = np.minimum(np.trunc(centre + reach * stretch + 0.5), before)
    index = np.arange(before)[None, :]
    away = (index - centre + 0.5) / stretch
    taps = filter_(away if kind == Image.Resampling.BOX else np.abs(away)) * ((index >= first) & (index < last))
    return np.asarray(taps / taps.sum(axis=1, keepdims=True), np.float64)


def resize(img: FloatImage, size: Sequence[int], interpolation: int) -> FloatImage:
    height, width = size
    if interpolation == Image.Resampling.NEAREST:
        index = np.asarray(img._numbered().resize((width, height), interpolation), np.int64)
        return FloatImage(img.samples.reshape(len(img.samples), -1)[:, index])
    samples = img.samples
    for down in (True, False) if height_first(img.height - height, img.width - width) else (False, True):
        if down and height != img.height:
            samples = np.clip(resampling(img.height, height, interpolation) @ samples, 0, 255)
        if not down and width != img.width:
            samples = np.clip(samples @ resampling(img.width, width, interpolation).T, 0, 255)
    return FloatImage(samples)


def height_first(lost_height: int, lost_width: int) -> bool:
    """The order of Pillow's passes, which matters where they clip (Resample.c of Pillow 13)."""
    return PILLOW_13 and lost_height > 0 and lost_height > 2 * lost_width


def crop(img: FloatImage, top: int, left: int, height: int, width: int) -> FloatImage:
    """Zero outside of the image."""
    out = np.zeros((len(img.samples), height, width))
    y0, x0, y1, x1 = max(top, 0), max(left, 0), min(top + height, img.height), min(left + width, img.width)
    if y0 < y1 and x0 < x1:
        out[:, y0 - top : y1 - top, x0 - left : x1 - left] = img.samples[:, y0:y1, x0:x1]
    return FloatImage(out)


def pad(img: FloatImage, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> FloatImage:
    sides = [padding] if isinstance(padding, int) else list(padding)
    left, top, right, bottom = sides * (4 // len(sides))
    border = ((0, 0), (top, bottom), (left, right))
    if padding_mode != "constant":
        return FloatImage(np.pad(img.samples, border, padding_mode))  # type: ignore[call-overload]
    out = np.pad(img.samples, border)
    outside = np.ones(out.shape[1:], bool)
    outside[top : top + img.height, left : left + img.width] = False
    out[:, outside] = np.broadcast_to(fill, len(out))[:, None]
    return FloatImage(out)


def rotate(
    img: FloatImage, angle: float, interpolation: int, expand: bool, center: Any = None, fill: Any = 0
) -> FloatImage:
    return img.rotate(angle, interpolation, expand, center, fillcolor=fill)  # type: ignore[no-any-return]


def affine(img: FloatImage, matrix: Sequence[float], interpolation: int, fill: Any = 0) -> FloatImage:
    return img.transform(img.size, Image.Transform.AFFINE, matrix, interpolation, fillcolor=fill)


def perspective(img: FloatImage, perspective_coeffs: Sequence[float], interpolation: int, fill: Any = 0) -> FloatImage:
    return img.transform(img.size, Image.Transform.PERSPECTIVE, perspective_coeffs, interpolation, fillcolor=fill)


# ---- colour


def luma(samples: Floats) -> Floats:
    """ITU-R 601-2, [1, height, width]."""
    return np.tensordot([0.299, 0.587, 0.114], samples, 1)[None] if len(samples) == 3 else samples


def blend(first: Any, img: FloatImage, factor: float) -> FloatImage:
    return FloatImage(np.clip(first + factor * (img.samples - first), 0, 255))


def adjust_hue(img: FloatImage, hue_factor: float) -> FloatImage:
    """The hue turned by a share of the circle, saturation and value as they were."""
    if len(img.samples) != 3:
        return img
    red, green, blue = img.samples
    value = img.samples.max(axis=0)
    chroma = value - img.samples.min(axis=0)
    divisor = np.where(chroma == 0, 1, chroma)
    hue = np.where(
        value == red,
        (green - blue) / divisor,
        np.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    turned = hue + 6 * hue_factor
    channels = []
    for start in (5, 3, 1):
        k = (start + turned) % 6
        channels.append(value - chroma * np.clip(np.minimum(k, 4 - k), 0, 1))
    return FloatImage(np.stack(channels))


def autocontrast(img: FloatImage) -> FloatImage:
    low, high = (end(img.samples, axis=(1, 2), keepdims=True) for end in (np.min, np.max))
    range_ = np.where(high > low, high - low, 255)
    return FloatImage((img.samples - np.where(high > low, low, 0)) * (255 / range_))


def solarize(img: FloatImage, threshold: float) -> FloatImage:
    return FloatImage(np.where(img.samples < threshold, img.samples, 255 - img.samples))


def _of_bytes(name: str) -> Callable[..., FloatImage]:
    """What torchvision has Pillow do to bytes, which is exact, of an image whose samples are bytes."""

    def of_bytes(img: FloatImage, *arguments: Any) -> FloatImage:
        if not (img.samples == np.rint(img.samples)).all():
            raise NoModelError(f"{name} has no model in float64 but of bytes")
        return FloatImage(samples_of(getattr(functional_pil, name)(rounded(img), *arguments)))

    return of_bytes


def adjust_sharpness(img: FloatImage, factor: float) -> FloatImage:
    """Pillow's ImageFilter.SMOOTH, which leaves the border alone, is what a factor of 0 gives."""
    height, width = img.height, img.width
    smooth = img.samples.copy()
    if height > 2 and width > 2:
        shifted = [img.samples[:, y : y + height - 2, x : x + width - 2] for y in range(3) for x in range(3)]
        smooth[:, 1:-1, 1:-1] = (sum(shifted) + 4 * shifted[4]) / 13
    return blend(smooth, img, factor)


def to_grayscale(img: FloatImage, num_output_channels: int) -> FloatImage:
    return FloatImage(np.repeat(luma(img.samples), num_output_channels, axis=0))


# ---- in torchvision's place


class NoModelError(AttributeError):
    """An op that is not known here."""


class _Models(SimpleNamespace):
    """Ops in float64, by their names."""

    def __getattr__(self, name: str) -> Any:
        raise NoModelError(f"{name} has no model in float64")


_IN_PLACE_OF_PILLOW = _Models(
    _is_pil_image=lambda img: isinstance(img, FloatImage),
    get_dimensions=lambda img: [len(img.samples), img.height, img.width],
    get_image_size=lambda img: list(img.size),
    get_image_num_channels=lambda img: len(img.samples),
    resize=resize,
    crop=crop,
    pad=pad,
    hflip=lambda img: FloatImage(img.samples[:, :, ::-1]),
    vflip=lambda img: FloatImage(img.samples[:, ::-1]),
    rotate=rotate,
    affine=affine,
    perspective=perspective,
    adjust_brightness=lambda img, factor: blend(0.0, img, factor),
    adjust_contrast=lambda img, factor: blend(luma(img.samples).mean(), img, factor),
    adjust_saturation=lambda img, factor: blend(luma(img.samples), img, factor),
    adjust_hue=adjust_hue,
    adjust_sharpness=adjust_sharpness,
    autocontrast=autocontrast,
    solarize=solarize,
    posterize=_of_bytes("posterize"),
    equalize=_of_bytes("equalize"),
    to_grayscale=to_grayscale,
    invert=lambda img: FloatImage(255 - img.samples),
)


def _to_image(pic: Any, mode: Any = None) -> FloatImage:
    if isinstance(pic, FloatImage):
        return pic
    return FloatImage(samples_of(pic) * (255 if isinstance(pic, torch.Tensor) else 1))


def _to_tensor(pic: FloatImage) -> torch.Tensor:
    return torch.from_numpy(pic.samples / 255)


def _share(fill: Any) -> Any:
    """A fill in bytes, or one for each channel, for tensors from 0 to 1."""
    return [value / 255 for value in fill] if isinstance(fill, (list, tuple)) else fill and fill / 255


_grid_transform, _pad, _resize, _solarize = (
    getattr(functional_tensor, name) for name in ("_apply_grid_transform", "pad", "resize", "solarize")
)


def _of_byte_tensors(name: str) -> Callable[..., torch.Tensor]:
    """torchvision's function of bytes, which is exact, of a tensor whose samples are bytes."""
    function = getattr(functional_tensor, name)

    def of_bytes(img: torch.Tensor, *arguments: Any) -> torch.Tensor:
        levels = img * 255
        if (levels - levels.round()).abs().max() > 1e-9:
            raise NoModelError(f"{name} has no model in float64 but of bytes")
        result: torch.Tensor = function(levels.round().to(torch.uint8), *arguments)
        return result.to(torch.float64) / 255

    return of_bytes


_posterize, _equalize = map(_of_byte_tensors, ("posterize", "equalize"))


@contextmanager
def _unrounded() -> Iterator[None]:
    """torchvision, as long as this lasts, takes FloatImages for PIL images. Tensors are float64 from 0 to 1."""
    with (
        mock.patch.multiple(
            functional,
            F_pil=_IN_PLACE_OF_PILLOW,
            to_pil_image=_to_image,
            pil_to_tensor=_to_tensor,
            to_tensor=_to_tensor,
            convert_image_dtype=lambda image, dtype=None: image,
        ),
        mock.patch.multiple(
            functional_tensor,
            _apply_grid_transform=lambda img, grid, mode, fill: _grid_transform(img, grid, mode, _share(fill)),
            pad=lambda img, padding, fill=0, padding_mode="constant": _pad(img, padding, _share(fill), padding_mode),
            resize=lambda *arguments, **named: _resize(*arguments, **named).clamp(0, 1),
            solarize=lambda img, threshold: _solarize(img, threshold / 255),
            posterize=_posterize,
            equalize=_equalize,
        ),
    ):
        yield


def samples_of(value: Any) -> Floats:
    """Any container's samples, [channels, height, width]."""
    if isinstance(value, FloatImage):
        return value.samples
    if isinstance(value, torch.Tensor):
        return value.numpy().astype(np.float64)
    return np.ascontiguousarray(np.moveaxis(np.atleast_3d(np.asarray(value, np.float64)), 2, 0))


def rounded(image: FloatImage) -> Image.Image:
    """The nearest image in bytes."""
    samples = np.clip(np.rint(image.samples), 0, 255).astype(np.uint8)
    return Image.fromarray(samples[0] if len(samples) == 1 else np.ascontiguousarray(np.moveaxis(samples, 0, 2)))


def unrounded(transform: Callable[[Any], Any], image: Any) -> Any:
    """`transform`, one of torchvision's, of an RGB or L image, or of a uint8 tensor, in float64.

    Draws from torch's generator as `transform` does. Samples of a FloatImage are from 0 to 255, those of a tensor from
    0 to 1, or what Normalize makes of them.

    Raises:
        NoModelError: for an op that has no model here.
    """
    with _unrounded():
        if isinstance(image, torch.Tensor):
            return transform(image.to(torch.float64) / 255)
        return transform(FloatImage(samples_of(image)))
