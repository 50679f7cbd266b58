"""Lend images to the native core as sources, and tensors as targets."""

from __future__ import annotations

from typing import Any

import torch
from PIL import Image

from fastaug import _C
from fastaug._program import pil

_float32 = torch.float32


def borrow_tensor(image: torch.Tensor) -> _C.Source:
    """Borrow a CHW or HW tensor of uint8, or a CHW tensor of float32."""
    shape, strides = image.shape, image.stride()
    if image.dtype is _float32:
        channels, height, width = shape
        channel_stride, row_stride, pixel_stride = strides
        return _C.from_pointer(
            image.data_ptr(),
            height,
            width,
            channels,
            4 * row_stride,
            4 * pixel_stride,
            4 * channel_stride,
            image,
            _C.DTYPES["float32"],
        )
    if len(shape) == 2:
        height, width = shape
        row_stride, pixel_stride = strides
        return _C.from_pointer(image.data_ptr(), height, width, 1, row_stride, pixel_stride, 1, image)
    channels, height, width = shape
    channel_stride, row_stride, pixel_stride = strides
    return _C.from_pointer(image.data_ptr(), height, width, channels, row_stride, pixel_stride, channel_stride, image)


def sources_of(image: Any) -> list[_C.Source]:
    """Borrow uint8 RGB images: a PIL image, array (H, W, 3) or tensor (..., 3, H, W)."""
    if isinstance(image, torch.Tensor):
        tensor = image.detach().as_subclass(torch.Tensor).cpu()
        return [borrow_tensor(one) for one in tensor.reshape(-1, *tensor.shape[-3:])]
    if isinstance(image, Image.Image):
        image.load()
        return [pil.borrow(image, 3)]
    return [_C.from_array(image)]


def is_interleaved(image: torch.Tensor) -> bool:
    """Return True if the channels of a pixel lie side by side, as in channels_last."""
    strides = image.stride()
    return len(strides) > 2 and image.shape[-3] > 1 and 0 < strides[-3] < strides[-1] <= strides[-2]


def tensor_target(result: torch.Tensor) -> _C.Target:
    """Borrow a contiguous uint8 tensor, CHW or HW."""
    *lead, height, width = result.shape
    channels = lead[0] if lead else 1
    return _C.into_pointer(
        result.data_ptr(), _C.DTYPES["uint8"], height, width, channels, width, 1, height * width, result
    )
