"""Functions between PIL images, arrays and tensors, and between dtypes; and what an image measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from fastaug._draft.progress import applied, dimensions, ended, in_progress
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image.types import Array
from fastaug._names import export_functions


def get_dimensions(img: Any) -> list[int]:
    """[channels, height, width] of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> get_dimensions(Image.new("RGB", (4, 3)))
        [3, 3, 4]
    """
    return list(dimensions(img))


def get_image_size(img: Any) -> list[int]:
    """[width, height] of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> get_image_size(torch.zeros(3, 5, 7))
        [7, 5]
    """
    _, height, width = dimensions(img)
    return [width, height]


def get_image_num_channels(img: Any) -> int:
    """The number of channels of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> get_image_num_channels(Image.new("LA", (4, 3)))
        2
    """
    return dimensions(img)[0]


def to_tensor(pic: Image.Image | Array) -> Tensor:
    """A PIL image or HWC array as a CHW float tensor.

    uint8 samples become x / 255 in float32, in [0, 1]; so does mode "1". Images of mode I, I;16 and F, and arrays of
    another dtype, keep their samples and dtype.

    Args:
        pic: PIL image, or ndarray of shape (height, width) or (height, width, channels).

    Raises:
        TypeError: neither a PIL image nor an ndarray.
        ValueError: an array that is not 2 or 3 dimensional.

    Example:
        >>> from PIL import Image
        >>> to_tensor(Image.new("RGB", (2, 1), (255, 0, 51)))[:, 0, 0]
        tensor([1.0000, 0.0000, 0.2000])
    """
    return applied(pic, "to_float")  # type: ignore[return-value]


def pil_to_tensor(pic: Image.Image) -> Tensor:
    """A PIL image as a CHW tensor of the same samples, uint8 for 8-bit modes. The result is a view of HWC memory.

    Raises:
        TypeError: not a PIL image.

    Example:
        >>> from PIL import Image
        >>> pil_to_tensor(Image.new("RGB", (2, 1), (255, 0, 51)))[:, 0, 0]
        tensor([255,   0,  51], dtype=torch.uint8)
    """
    return applied(pic, "to_uint8_tensor")  # type: ignore[return-value]


def convert_image_dtype(image: Tensor, dtype: torch.dtype = torch.float) -> Tensor:
    """A tensor with another dtype, its samples scaled so that black stays black and white stays white.

    Floating point images are in [0, 1], integer images in [0, largest value of the dtype].

    Args:
        dtype: dtype of the result.

    Raises:
        TypeError: not a tensor.
        RuntimeError: float32 to int32 or int64, or float64 to int64, where values would overflow.

    Example:
        >>> import torch
        >>> convert_image_dtype(torch.full((1, 1, 1), 255, dtype=torch.uint8), torch.float32)
        tensor([[[1.]]])
    """
    return applied(image, "convert_dtype", dtype)


def to_pil_image(pic: Tensor | Array, mode: str | None = None) -> Image.Image:
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
        >>> image = to_pil_image(torch.zeros(3, 2, 4, dtype=torch.uint8))
        >>> image.mode, image.size
        ('RGB', (4, 2))
    """
    return applied(pic, "to_pil", mode)  # type: ignore[return-value]


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """(tensor - mean) / std for each channel.

    Args:
        tensor: float tensor of shape (..., channels, height, width).
        mean, std: one number per channel; a sequence or a tensor.
        inplace: write into ``tensor`` and return it.

    Raises:
        TypeError: not a tensor, or not floating point.
        ValueError: fewer than 3 dimensions, or a standard deviation of 0.

    Example:
        >>> import torch
        >>> normalize(torch.ones(1, 1, 2), [0.5], [0.25])
        tensor([[[2., 2.]]])
    """
    if (draft := in_progress(tensor)) is not None:
        draft.normalize(mean, std, inplace)
        return ended(draft, tensor)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    return tensor_fallback.normalize(tensor, mean, std, inplace)


export_functions(globals())
