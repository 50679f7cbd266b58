"""Conversions from one container to another."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import torch

from fastaug._draft.leaf import Leaf
from fastaug._image.lazy import LazyImage
from fastaug._tv_tensors.choice import chosen
from fastaug.transforms.v2.functional._utils import converted

__all__: list[str] = ["pil_to_tensor", "to_image", "to_pil_image"]


def to_image(inpt: torch.Tensor | PIL.Image.Image | np.ndarray) -> Any:
    """The input as a tv_tensor ``Image``, as :class:`~fastaug.transforms.v2.ToImage` does it.

    Args:
        inpt: tensor of shape (..., channels, height, width) or (height, width), whose memory is shared; ndarray of
            shape (height, width, channels) or (height, width); or a PIL image. Samples and dtypes stay as they are.

    Raises:
        TypeError: something else.
        ValueError: a tensor of fewer than 2 dimensions.

    Example:
        >>> from PIL import Image
        >>> from fastaug.transforms.v2 import functional as F
        >>> image = F.to_image(Image.new("RGB", (4, 3)))
        >>> type(image).__name__, tuple(image.shape), image.dtype
        ('Image', (3, 3, 4), torch.uint8)
    """
    if isinstance(inpt, torch.Tensor):
        return chosen().Image(inpt)
    if isinstance(inpt, Leaf):
        return converted(inpt, _to_image)
    if not isinstance(inpt, (np.ndarray, PIL.Image.Image, LazyImage)):
        raise TypeError(
            f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead."
        )
    return chosen().Image(converted(inpt, _to_image))


def _to_image(draft: Any) -> None:
    draft.to_image_tensor()
    draft.cls = chosen().Image


def to_pil_image(pic: torch.Tensor | np.ndarray, mode: str | None = None) -> PIL.Image.Image:
    """A tensor or array as a PIL image.

    Args:
        pic: tensor of shape (channels, height, width) or (height, width), or ndarray of shape (height, width, channels)
            or (height, width). Floating point samples are taken times 255, unless ``mode`` is "F".
        mode: mode of the image. By default L, LA, RGB, RGBA for 1, 2, 3, 4 channels of uint8; I;16, I, F for one
            channel of int16, int32, float32.

    Raises:
        TypeError: neither tensor nor ndarray, or a dtype that no mode holds.
        ValueError: not 2 or 3 dimensional, more than 4 channels, or a mode for another number of channels.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.to_pil_image(torch.zeros(3, 2, 4, dtype=torch.uint8)).size
        (4, 2)
    """

    def convert(draft: Any) -> None:
        draft.to_pil(mode)
        draft.cls = None

    image: PIL.Image.Image = converted(pic, convert)
    return image


def pil_to_tensor(pic: Any) -> torch.Tensor:
    """A PIL image as a CHW tensor of the same samples, uint8 for 8-bit modes. The result is a view of HWC memory.

    Raises:
        TypeError: not a PIL image.

    Example:
        >>> from PIL import Image
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.pil_to_tensor(Image.new("RGB", (2, 1), (255, 0, 51)))[:, 0, 0]
        tensor([255,   0,  51], dtype=torch.uint8)
    """
    tensor: torch.Tensor = converted(pic, lambda draft: draft.to_uint8_tensor())
    return tensor
