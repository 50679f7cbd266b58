"""Images as a JPEG file leaves them, made by the core without a file where its pixels are Pillow's."""

from __future__ import annotations

import functools
import io
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._program import borrow, pil
from fastaug._program.eager import addressable

_CHANNELS = {"L": 1, "RGB": 3}


def through_file(image: Image.Image, quality: int) -> Image.Image:
    """Return the image as Pillow reads it back from a JPEG file."""
    file = io.BytesIO()
    image.save(file, format="JPEG", quality=quality)
    return Image.open(file).copy()


def through_jpeg(image: Image.Image, quality: Any) -> Image.Image:
    """Return the same as `through_file`, without a file where the core makes it.

    What Pillow refuses, or writes in another way, is left to it: other modes, comments and odd qualities.
    """
    channels = _CHANNELS.get(image.mode, 0)
    native = type(quality) is int and 1 <= quality <= 100 and "comment" not in image.info
    if not native or not _C.jpeg_filters(image.height, image.width, channels) or not _is_pillows():
        return through_file(image, quality)
    image.load()
    result = _filtered(image, channels, quality)
    result.info = dict(_info(image.mode))
    return result


def tensors_through_jpeg(images: torch.Tensor, quality: int) -> torch.Tensor | None:
    """Return uint8 tensors (N, C, H, W) of as many files; None where the core does not make them."""
    channels, height, width = images.shape[1:]
    native = images.is_cpu and addressable(images) and _C.jpeg_filters(height, width, channels)
    if not native or not _is_pillows():
        return None
    results = torch.empty(images.shape, dtype=torch.uint8)
    for image, result in zip(images, results):
        _C.jpeg_filter(borrow.borrow_tensor(image), quality, borrow.tensor_target(result))
    return results


def _filtered(image: Image.Image, channels: int, quality: int) -> Image.Image:
    size = image.height, image.width, channels
    memory, target = pil.allocate(image.mode, size)
    _C.jpeg_filter(pil.borrow(image, channels), quality, target)
    return pil.delivered(memory, image.mode, size)


@functools.cache
def _info(mode: str) -> dict[Any, Any]:
    """Return the `info` of what Pillow reads from a JPEG of this mode."""
    return through_file(Image.new(mode, (1, 1)), 75).info


@functools.cache
def _is_pillows() -> bool:
    """Return True if the installed Pillow's encoder and decoder make the core's pixels of noise and of edges."""
    samples = np.random.default_rng(0).integers(0, 256, (35, 37, 3), np.uint8)
    samples[:, 12:] //= 64
    samples[:, 12:] *= 85
    pictures = [(Image.fromarray(samples), 3), (Image.fromarray(samples[..., 0]), 1)]
    return all(
        through_file(picture, quality).tobytes() == _filtered(picture, channels, quality).tobytes()
        for picture, channels in pictures
        for quality in (1, 30, 75, 100)
    )
