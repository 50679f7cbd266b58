"""Ops on PIL images whose mode the native core does not read (1, P, PA, I, I;16, F, LAB, ...), by Pillow itself.

Each function makes torchvision's calls of Pillow, so that results and errors are the same. Anything that is not an
image also gets torchvision's TypeError here.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps

from fastaug._fallback import tensor as tensor_fallback
from fastaug._program import arguments, matrices
from fastaug._program.checks import need_gamma, need_pil

# Pillow's modes that do not become uint8 in to_tensor. I;16 is read as int16 there: values above 32767 wrap.
_TENSOR_DTYPES: dict[str, Any] = {
    "I": np.int32,
    ("I;16" if sys.byteorder == "little" else "I;16B"): np.int16,
    "F": np.float32,
}


def dimensions(image: Any) -> tuple[int, int, int]:
    if not isinstance(image, Image.Image):
        raise TypeError(f"Unexpected type {type(image)}")
    width, height = image.size
    return len(image.getbands()), height, width


def transpose(image: Any) -> Image.Image:
    return need_pil(image).transpose(Image.Transpose.TRANSPOSE)


def rot90(image: Any, turns: int) -> Image.Image:
    turned = (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)
    return need_pil(image).transpose(turned[turns - 1])


def crop(image: Any, top: int, left: int, height: int, width: int) -> Image.Image:
    return need_pil(image).crop((left, top, left + width, top + height))


def resize(image: Any, height: int, width: int, interpolation: int, mode_name: str, antialias: bool) -> Image.Image:
    return need_pil(image).resize((width, height), interpolation)


def colour(image: Image.Image, fill: Any) -> Any:
    """Return `fill` as the colour argument of a Pillow call on this image."""
    channels = len(image.getbands())
    if fill is None:
        fill = 0
    if isinstance(fill, (int, float)) and channels > 1:
        fill = (fill,) * channels
    convert = (lambda value: value) if image.mode == "F" else int
    if not isinstance(fill, (list, tuple)):
        return convert(fill)
    if len(fill) == 1:
        fill = tuple(fill) * channels
    elif len(fill) != channels:
        raise ValueError(
            "The number of elements in 'fill' does not match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    return tuple(convert(value) for value in fill)


def rotate(
    image: Any, angle: float, interpolation: Any, mode_name: str, expand: bool, center: Any, fill: Any
) -> Image.Image:
    pil = need_pil(image)
    return pil.rotate(angle, interpolation, expand, center, fillcolor=colour(pil, fill))


def affine(
    image: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: Any,
    mode_name: str,
    fill: Any,
    center: Any,
) -> Image.Image:
    width, height = need_pil(image).size
    matrix = matrices.inverse_affine_matrix(
        (width * 0.5, height * 0.5) if center is None else center, angle, translate, scale, shear
    )
    return affine_map(image, matrix, interpolation, mode_name, fill)


def affine_map(image: Any, matrix: Sequence[float], interpolation: Any, mode_name: str, fill: Any) -> Image.Image:
    pil = need_pil(image)
    return pil.transform(pil.size, Image.Transform.AFFINE, matrix, interpolation, fillcolor=colour(pil, fill))


def perspective(
    image: Any, coefficients: Sequence[float], interpolation: Any, mode_name: str, fill: Any
) -> Image.Image:
    pil = need_pil(image)
    return pil.transform(
        pil.size, Image.Transform.PERSPECTIVE, coefficients, interpolation, fillcolor=colour(pil, fill)
    )


def pad(image: Any, padding: Any, fill: Any, padding_mode: str) -> Image.Image:
    image = need_pil(image)
    if isinstance(padding, (list, tuple)):
        padding = padding[0] if len(padding) == 1 else tuple(padding)
    border: Any = colour(image, fill) if padding_mode == "constant" else None
    palette = image.getpalette() if image.mode == "P" else None
    if padding_mode == "constant":
        result = ImageOps.expand(image, border=padding, fill=border)
    else:
        if not isinstance(padding, (int, tuple)):
            # torchvision accepts numbers of every type, and then fails like this.
            raise UnboundLocalError(f"padding should be an int or a sequence for {padding_mode!r}, got {padding!r}")
        box = arguments.sides(padding)
        cropped = np.minimum(box, 0)
        if cropped.any():
            left, top, right, bottom = cropped
            image = image.crop((-left, -top, image.width + right, image.height + bottom))
        left, top, right, bottom = np.maximum(box, 0)
        around: list[tuple[int, int]] = [(top, bottom), (left, right)]
        pixels = np.asarray(image)
        mode: Any = padding_mode
        result = Image.fromarray(np.pad(pixels, around + [(0, 0)] * (pixels.ndim - 2), mode=mode))
    if palette is not None:
        result.putpalette(palette)
    return result


def _enhanced_by(enhancer: Callable[[Image.Image], Any]) -> Callable[[Any, float], Image.Image]:
    return lambda image, factor: enhancer(need_pil(image)).enhance(factor)


adjust_brightness = _enhanced_by(ImageEnhance.Brightness)
adjust_contrast = _enhanced_by(ImageEnhance.Contrast)
adjust_saturation = _enhanced_by(ImageEnhance.Color)
adjust_sharpness = _enhanced_by(ImageEnhance.Sharpness)


def adjust_hue(image: Any, factor: float) -> Image.Image:
    pil = need_pil(image)
    if pil.mode in ("L", "1", "I", "F"):
        return pil
    hue, saturation, value = pil.convert("HSV").split()
    shifted = np.asarray(hue) + np.int32(factor * 255).astype(np.uint8)
    return Image.merge("HSV", (tensor_fallback.from_array(shifted, "L"), saturation, value)).convert(pil.mode)


_SHARES = [value / 255.0 for value in range(256)]


def adjust_gamma(image: Any, gamma: float, gain: float) -> Image.Image:
    pil = need_pil(image)
    need_gamma(gamma)
    white = (255 + 1 - 1e-3) * gain
    table = [int(white * pow(share, gamma)) for share in _SHARES]
    return pil.convert("RGB").point(table * 3).convert(pil.mode)


def _done_by(function: Callable[..., Image.Image]) -> Callable[..., Image.Image]:
    return lambda image, *arguments: function(need_pil(image), *arguments)


def hflip(image: Any) -> Image.Image:
    return need_pil(image).transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(image: Any) -> Image.Image:
    return need_pil(image).transpose(Image.Transpose.FLIP_TOP_BOTTOM)


autocontrast = _done_by(ImageOps.autocontrast)
equalize = _done_by(ImageOps.equalize)
invert = _done_by(ImageOps.invert)
posterize = _done_by(ImageOps.posterize)
solarize = _done_by(ImageOps.solarize)


def grayscale(image: Any, channels: int) -> Image.Image:
    pil = need_pil(image)
    if channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")
    gray = pil.convert("L")
    if channels == 1:
        return gray
    samples = np.asarray(gray)
    return tensor_fallback.from_array(np.dstack([samples, samples, samples]), "RGB")


def to_rgb(image: Any) -> Image.Image:
    return need_pil(image).convert("RGB")


def jpeg(image: Any, quality: int) -> Image.Image:
    """Return the image as read back from a JPEG file."""
    file = io.BytesIO()
    need_pil(image).save(file, format="JPEG", quality=quality)
    return Image.open(file).copy()


@functools.cache
def _jpeg_info() -> dict[Any, Any]:
    return jpeg(Image.new("L", (1, 1)), 75).info


def jpeg_info() -> dict[Any, Any]:
    """Return the `info` of an image that Pillow has read from a JPEG file, as a new dictionary."""
    return dict(_jpeg_info())


def to_tensor(image: Any) -> torch.Tensor:
    """Return a float tensor in [0, 1] for 8-bit and bilevel images, else the samples."""
    samples = torch.from_numpy(np.array(image, _TENSOR_DTYPES.get(image.mode, np.uint8), copy=True))
    if image.mode == "1":
        samples = 255 * samples
    channels, height, width = dimensions(image)
    samples = samples.view(height, width, channels).permute((2, 0, 1)).contiguous()
    return samples.to(torch.get_default_dtype()).div(255) if samples.dtype == torch.uint8 else samples


def pil_to_tensor(image: Any) -> torch.Tensor:
    samples = torch.as_tensor(np.array(image, copy=True))
    channels, height, width = dimensions(image)
    return samples.view(height, width, channels).permute((2, 0, 1))
