"""Images for the tests: noise of any mode and size, and photographs out of scikit-image's wheel."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

#: Every mode that torchvision's PIL path meets.
MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB", "I", "I;16", "F")

#: (height, width): single pixels, lines, odd primes, more than one SIMD block, both orientations.
SIZES = ((1, 1), (1, 17), (23, 1), (7, 5), (31, 37), (101, 67), (64, 64))

PHOTOS = ("astronaut", "chelsea", "coffee", "ihc")


@functools.cache
def _data_folder() -> Path:
    spec = importlib.util.find_spec("skimage")
    assert spec is not None and spec.origin is not None, "the tests need scikit-image for its photographs"
    return Path(spec.origin).parent / "data"


@functools.cache
def _photo(name: str) -> Image.Image:
    return Image.open(_data_folder() / f"{name}.png").convert("RGB")


def photo(name: str = "astronaut", height: int | None = None, width: int | None = None) -> Image.Image:
    """A real photograph in RGB, whole or its top-left part; mirrored where it is too small."""
    whole = _photo(name)
    if height is None or width is None:
        return whole.copy()
    pixels = np.asarray(whole)
    missing = ((0, max(0, height - whole.height)), (0, max(0, width - whole.width)), (0, 0))
    return Image.fromarray(np.ascontiguousarray(np.pad(pixels, missing, mode="symmetric")[:height, :width]))


def noise(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Random bytes in HWC order, a third of them at the ends of the range, where clipping shows."""
    rng = np.random.default_rng([seed, height, width, channels])
    pixels = rng.integers(0, 256, (height, width, channels), dtype=np.uint8)
    ends = rng.integers(0, 6, pixels.shape)
    pixels[ends == 0] = 0
    pixels[ends == 1] = 255
    return pixels


def pil(mode: str, height: int, width: int, seed: int = 0) -> Image.Image:
    """Noise in the given mode."""
    size = (width, height)
    if mode == "1":
        return Image.fromarray(noise(height, width, 1, seed)[:, :, 0]).convert("1", dither=Image.Dither.NONE)
    if mode == "I":
        values = np.random.default_rng(seed).integers(-70000, 70000, (height, width), dtype=np.int32)
        return Image.frombytes("I", size, values.tobytes())
    if mode == "I;16":
        values = np.random.default_rng(seed).integers(0, 65536, (height, width), dtype=np.uint16)
        return Image.frombytes("I;16", size, values.astype("<u2").tobytes())
    if mode == "F":
        values = np.random.default_rng(seed).normal(100, 80, (height, width)).astype(np.float32)
        return Image.frombytes("F", size, values.tobytes())
    channels = len(Image.new(mode, (1, 1)).getbands())
    image = Image.frombytes(mode, size, noise(height, width, channels, seed).tobytes())
    if mode in ("P", "PA"):
        image.putpalette(np.random.default_rng(seed + 1).integers(0, 256, 768, dtype=np.uint8).tobytes())
    return image


def to_chw(image: Image.Image) -> torch.Tensor:
    """A PIL image as a contiguous uint8 CHW tensor."""
    pixels = np.asarray(image)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


def undated(info: dict[Any, Any]) -> dict[Any, Any]:
    """An image's info without the second in which the profile that Pillow makes for LAB was made.

    The header of an ICC profile holds it in bytes 24 to 35 (ICC.1:2022, section 7.2.8).
    """
    profile = info.get("icc_profile")
    return {**info, "icc_profile": profile[:24] + bytes(12) + profile[36:]} if profile else info
