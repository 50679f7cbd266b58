"""Images in the memory of a device, which the host cannot read."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from fastaug import _C


def device_of(image: torch.Tensor) -> torch.device | None:
    """Return the CUDA device that a tensor is on, or None."""
    # AMD's devices are also called CUDA devices.
    return image.device if image.is_cuda and torch.version.cuda is not None else None


def on_host(image: Any) -> Any:
    """Return a copy, or the image itself if it is on the host. Wait for the work that makes the image."""
    if isinstance(image, DeviceArray):
        return np.asarray(image.tensor.detach().cpu())
    return image.detach().cpu() if isinstance(image, torch.Tensor) else image


class DeviceArray:
    """A uint8 image HWC or HW on a device, with any strides, as arrays are on the host."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    dtype = np.dtype(np.uint8)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def size(self) -> int:
        return self.tensor.numel()

    def borrowed(self) -> _C.Source:
        tensor = self.tensor
        height, width = tensor.shape[:2]
        row, pixel, *channel = tensor.stride()
        channels = tensor.shape[2] if channel else 1
        return _C.from_pointer(
            tensor.data_ptr(), height, width, channels, row, pixel, channel[0] if channel else 1, tensor
        )
