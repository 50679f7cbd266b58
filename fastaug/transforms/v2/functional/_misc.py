"""Normalization, filters, dtypes and what is sanitized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.at_once import Ways
from fastaug._draft.draws import drawn_from
from fastaug._draft.leaf import ImageDraft, Leaf, VideoDraft
from fastaug._fallback import v2
from fastaug._image.types import InputT
from fastaug._program.kinds import TENSOR
from fastaug._tv_tensors.meta import sanitize_bounding_boxes, sanitize_keypoints
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_pillow, on_pixels, on_videos
from fastaug.transforms.v2.functional._utils import registered

__all__: list[str] = ["convert_image_dtype", "sanitize_bounding_boxes", "sanitize_keypoints"]


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=v2.normalize))
def normalize(inpt: InputT, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> InputT:
    """(input - mean) / std for each channel, as :class:`~fastaug.transforms.v2.Normalize` does it.

    Args:
        inpt: floating point image or video of shape (..., channels, height, width).
        mean, std: one number per channel; a sequence or a tensor.
        inplace: write into the tensor that is given.

    Raises:
        TypeError: not floating point, or an input of a type that has no kernel.
        ValueError: fewer than 3 dimensions, or a standard deviation of 0.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.normalize(torch.ones(1, 1, 2), mean=[0.5], std=[0.25])
        tensor([[[2., 2.]]])
    """
    draft: Any = inpt
    if draft.kind != TENSOR:
        return inpt
    return drafted(inpt).normalize(mean, std, inplace)


normalize_image = on_images(normalize)
normalize_video = on_videos(normalize)
__all__ += ["normalize", "normalize_image", "normalize_video"]


@functional(ImageDraft, VideoDraft)
def gaussian_blur(inpt: InputT, kernel_size: Sequence[int], sigma: Sequence[float] | None = None) -> InputT:
    """The input blurred, as :class:`~fastaug.transforms.v2.GaussianBlur` does it. Borders are mirrored.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.
        kernel_size: (width, height) of the kernel in pixels, or one number for both; odd.
        sigma: (horizontal, vertical) standard deviation, or one number for both; by default 0.15 * size + 0.35.

    Raises:
        TypeError: a sigma of another type, or an input of a type that has no kernel.
        ValueError: wrong length of a sequence, an even or negative kernel size, or a sigma that is not positive.
        RuntimeError: half of the kernel is not smaller than the image.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.gaussian_blur(torch.tensor([[[0, 200, 0]] * 3], dtype=torch.uint8), [3, 3], [1.0])[0, 1]
        tensor([110,  90, 110], dtype=torch.uint8)
    """
    return drafted(inpt).gaussian_blur(kernel_size, sigma)


gaussian_blur_image, gaussian_blur_video = on_pixels(gaussian_blur)
__all__ += ["gaussian_blur", "gaussian_blur_image", "gaussian_blur_video"]


def _noisy(image: torch.Tensor, mean: float, sigma: float, clip: bool) -> torch.Tensor:
    return v2.gaussian_noise(image, mean, sigma, clip, drawn_from(None).get("generator"))


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=_noisy))
def gaussian_noise(inpt: InputT, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> InputT:
    """The input with normally distributed noise added, from torch's generator: one number for each sample.

    Args:
        inpt: uint8 or floating point image or video, of any number of channels.
        mean: of the noise, for samples in [0, 1]; those of uint8 get 255 times as much.
        sigma: standard deviation of the noise, not negative.
        clip: whether the result is kept in the range of samples. What is beyond it wraps around in uint8 else.

    Raises:
        ValueError: sigma is negative, another dtype, or a PIL image.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.gaussian_noise(torch.zeros(1, 1, 2), mean=0.5, sigma=0.0)
        tensor([[[0.5000, 0.5000]]])
    """
    return drafted(inpt).gaussian_noise(mean, sigma, clip)


gaussian_noise_image = on_images(gaussian_noise)
gaussian_noise_video = on_videos(gaussian_noise)
on_pillow(gaussian_noise, "video", name="_gaussian_noise_pil")
__all__ += ["gaussian_noise", "gaussian_noise_image", "gaussian_noise_video"]


# Up to so many samples torch scales bytes sooner than the core, which rounds to halves in a second pass.
_FEW_BYTES = {torch.float32: 1 << 16, torch.float16: 1 << 13, torch.bfloat16: 1 << 16}


def _cast(image: torch.Tensor, dtype: torch.dtype, scale: bool) -> Any:
    if image.dtype == dtype:
        return image
    if scale and image.dtype == torch.uint8 and image.numel() > _FEW_BYTES.get(dtype, math.inf):
        return NotImplemented
    return v2.to_dtype(image, dtype, scale)


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=_cast))
def to_dtype(inpt: InputT, dtype: torch.dtype = torch.float, scale: bool = False) -> InputT:
    """The input with another dtype, as :class:`~fastaug.transforms.v2.ToDtype` does it.

    Args:
        inpt: image or video of any dtype; or masks, boxes and points, which are never scaled.
        dtype: dtype of the result.
        scale: whether black stays black and white stays white: 1 in floating point, the largest value of an integer
            dtype. uint8 becomes x * (1 / 255).

    Raises:
        RuntimeError: to be scaled from float32 to int32 or int64, or from float64 to int64, where white does not fit.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.to_dtype(torch.tensor([[[0, 51, 255]]], dtype=torch.uint8), torch.float32, scale=True)
        tensor([[[0.0000, 0.2000, 1.0000]]])
    """
    draft: Any = inpt
    if draft.kind != TENSOR:
        return inpt
    return drafted(inpt).to_dtype(dtype, scale)


to_dtype_image = on_images(to_dtype, shape="any shape")
to_dtype_video = on_videos(to_dtype)
__all__ += ["to_dtype", "to_dtype_image", "to_dtype_video"]


@registered(to_dtype, "Mask", "BoundingBoxes", "KeyPoints", wrapped=False)
def _to_dtype_tensor_dispatch(inpt: torch.Tensor, dtype: torch.dtype, scale: bool = False) -> torch.Tensor:
    return inpt.to(dtype)


@registered(to_dtype, Leaf)
def _to_dtype_finished(draft: Leaf, dtype: torch.dtype, scale: bool = False) -> torch.Tensor:
    converted: torch.Tensor = draft.result().to(dtype)
    return converted


def convert_image_dtype(image: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """An image with another dtype, its samples scaled: :func:`to_dtype` with ``scale=True``, whatever its type.

    Args:
        image: tensor of any shape and dtype.
        dtype: dtype of the result.

    Raises:
        RuntimeError: as in :func:`to_dtype`.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.convert_image_dtype(torch.ones(1, 1, 2), torch.uint8)
        tensor([[[255, 255]]], dtype=torch.uint8)
    """
    return to_dtype_image(image, dtype=dtype, scale=True)
