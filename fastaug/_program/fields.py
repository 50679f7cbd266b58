"""Blur float planes, and sample images along a grid of positions, by the native core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fastaug import _C
from fastaug._program.borrow import borrow_tensor, tensor_target
from fastaug._program.eager import addressable, kept, traced


def blurs(image: Tensor, kernel: Tensor) -> bool:
    """Return True if `blurred` takes this image and kernel."""
    return (
        image.dtype is torch.float32
        and image.is_cpu
        and image.is_contiguous()
        and not image.requires_grad
        and not traced()
        and addressable(image)
        and image.numel() > 0
        and kernel.shape[0] // 2 < image.shape[-2]
        and kernel.shape[1] // 2 < image.shape[-1]
    )


def blurred(image: Tensor, kernel: Tensor, fused: bool) -> Tensor:
    """Convolve every plane of a float32 image with a kernel of odd sides, as torchvision's gaussian_blur does.

    If `fused`, torch fuses multiplications and additions.
    """
    result = torch.empty_like(image)
    kernel = kernel.contiguous()
    rows, columns = kernel.shape
    height, width = image.shape[-2:]
    step = height * width * image.element_size()
    for offset in range(0, image.numel() * image.element_size(), step):
        source, target = image.data_ptr() + offset, result.data_ptr() + offset
        _C.blur_field(source, height, width, kernel.data_ptr(), rows, columns, fused, target)
    return result


def places(size: int, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Tensor:
    """Return where the pixels along an axis lie, in grid_sample's units."""
    return torch.linspace((1 - size) / size, (size - 1) / size, size, dtype=dtype, device=device)


@kept
def identity_grid(height: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return where the pixels of an image lie: (1, height, width, 2), x first."""
    down, across = torch.meshgrid(places(height, dtype, device), places(width, dtype, device), indexing="ij")
    return torch.stack((across, down), -1).unsqueeze(0)


def displaced(
    image: Any, displacement: Tensor, nearest: bool, fill: bytes | Sequence[float] | None, v2: bool = False
) -> Any:
    """Sample a uint8 image where a float32 field of its size displaces each pixel to.

    torch's default dtype must be float32. PIL images and arrays have at most four channels. The images of a batch share
    the field. Outside is `fill`, a number from 0 to 255 for each channel, at least four, or zero. With `v2`, it is
    blended as in v2. Return None if a PIL image does not lie in one block of memory.
    """
    displacement = displacement.contiguous()
    height, width = displacement.shape[1:3]
    rows, columns = places(height), places(width)
    where = columns.data_ptr(), rows.data_ptr(), displacement.data_ptr()
    if isinstance(image, Image.Image):
        bands = len(image.getbands())
        result: Any = Image.new(image.mode, image.size, None)
        try:
            parts = [(_C.from_pil(image, bands), _C.into_pil(result, bands), 0)]
        except ValueError:
            return None
    elif isinstance(image, Tensor):
        result = image.new_empty(image.shape)  # of the class that a result of torch's has
        pairs = zip(image, result) if image.ndim > 3 else [(image, result)]
        parts = [
            (borrow_tensor(one[first : first + 4]), tensor_target(other[first : first + 4]), first)
            for one, other in pairs
            for first in range(0, image.shape[-3], 4)
        ]
    else:
        result = np.empty(image.shape, np.uint8)
        parts = [(_C.from_array(image), _C.into_array(result), 0)]
    for source, target, first in parts:
        colour = None if fill is None else [*fill[first : first + 4], 0.0, 0.0, 0.0][:4]
        _C.displace(source, *where, nearest, colour, v2, target)
    return result
