"""Colours of images and videos. Those of _adjust are handed on from here, where torchvision has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug._program.kinds import TENSOR
from fastaug.transforms.v2.functional._adjust import *  # noqa: F403
from fastaug.transforms.v2.functional._adjust import (  # noqa: F401
    _adjust_brightness_image_pil,
    _adjust_contrast_image_pil,
    _adjust_gamma_image_pil,
    _adjust_hue_image_pil,
    _adjust_saturation_image_pil,
    _adjust_sharpness_image_pil,
)
from fastaug.transforms.v2.functional._utils import _get_kernel, done, registered

__all__: list[str] = [
    "autocontrast",
    "autocontrast_image",
    "autocontrast_video",
    "equalize",
    "equalize_image",
    "equalize_video",
    "grayscale_to_rgb",
    "grayscale_to_rgb_image",
    "invert",
    "invert_image",
    "invert_video",
    "permute_channels",
    "permute_channels_image",
    "permute_channels_video",
    "posterize",
    "posterize_image",
    "posterize_video",
    "rgb_to_grayscale",
    "rgb_to_grayscale_image",
    "solarize",
    "solarize_image",
    "solarize_video",
    "to_grayscale",
]


def rgb_to_grayscale(inpt: InputT, num_output_channels: int = 1) -> InputT:
    """The input's luma, as :class:`~fastaug.transforms.v2.Grayscale` does it: 0.2989 red + 0.587 green + 0.114 blue.

    Args:
        inpt: image of any dtype, of 1 or 3 channels; or a PIL image. Videos have no such kernel.
        num_output_channels: 1, or 3 for equal ones.

    Raises:
        ValueError: another number of channels, of the input or of the result.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.rgb_to_grayscale(torch.tensor([10, 20, 30], dtype=torch.uint8).view(3, 1, 1))
        tensor([[[18]]], dtype=torch.uint8)
    """
    return _get_kernel(rgb_to_grayscale, type(inpt))(inpt, num_output_channels=num_output_channels)


@registered(rgb_to_grayscale, ImageDraft)
def _rgb_to_grayscale(draft: Any, num_output_channels: int = 1) -> None:
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    draft.grayscale(num_output_channels)


@registered(rgb_to_grayscale, torch.Tensor, "Image")
def rgb_to_grayscale_image(image: torch.Tensor, num_output_channels: int = 1) -> torch.Tensor:
    """The kernel of :func:`rgb_to_grayscale` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _rgb_to_grayscale, num_output_channels)
    return changed


@registered(rgb_to_grayscale, PIL.Image.Image)
def _rgb_to_grayscale_image_pil(image: PIL.Image.Image, num_output_channels: int = 1) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(image, _rgb_to_grayscale, num_output_channels)
    return changed


to_grayscale = rgb_to_grayscale


def grayscale_to_rgb(inpt: InputT) -> InputT:
    """The input with three channels, as :class:`~fastaug.transforms.v2.RGB` does it.

    A tensor of one channel becomes three equal ones; one of three and more is returned as it is. Pillow converts PIL
    images of any mode.

    Args:
        inpt: image of any dtype, or a PIL image. Videos have no such kernel.

    Raises:
        ValueError: a tensor of two channels.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.grayscale_to_rgb(torch.zeros(1, 2, 4)).shape
        torch.Size([3, 2, 4])
    """
    return _get_kernel(grayscale_to_rgb, type(inpt))(inpt)


@registered(grayscale_to_rgb, ImageDraft)
def _grayscale_to_rgb(draft: Any) -> None:
    draft.to_rgb()


@registered(grayscale_to_rgb, torch.Tensor, "Image")
def grayscale_to_rgb_image(image: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`grayscale_to_rgb` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _grayscale_to_rgb)
    return changed


@registered(grayscale_to_rgb, PIL.Image.Image)
def grayscale_to_rgb_image_pil(image: PIL.Image.Image) -> PIL.Image.Image:
    """The kernel of :func:`grayscale_to_rgb` for PIL images."""
    changed: PIL.Image.Image = done(image, _grayscale_to_rgb)
    return changed


def posterize(inpt: InputT, bits: int) -> InputT:
    """The input with so many of the highest bits of each sample.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image. Floating point samples in [0, 1] have
            2 ** bits levels.
        bits: 0 to 8.

    Raises:
        TypeError: bits of a tensor are no int from 0 to 8, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.posterize(torch.tensor([[[255, 100]]], dtype=torch.uint8), bits=1)
        tensor([[[128,   0]]], dtype=torch.uint8)
    """
    return _get_kernel(posterize, type(inpt))(inpt, bits=bits)


@registered(posterize, ImageDraft, VideoDraft)
def _posterize(draft: Any, bits: Any) -> None:
    if draft.kind == TENSOR and not (isinstance(bits, int) and 0 <= bits <= 8):
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")
    draft.posterize(bits)


@registered(posterize, torch.Tensor, "Image")
def posterize_image(image: torch.Tensor, bits: int) -> torch.Tensor:
    """The kernel of :func:`posterize` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _posterize, bits)
    return changed


@registered(posterize, PIL.Image.Image)
def _posterize_image_pil(img: PIL.Image.Image, bits: int) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _posterize, bits)
    return changed


@registered(posterize, "Video")
def posterize_video(video: torch.Tensor, bits: int) -> torch.Tensor:
    """The kernel of :func:`posterize` for videos, of shape (..., frames, channels, height, width)."""
    return posterize_image(video, bits=bits)


def solarize(inpt: InputT, threshold: float) -> InputT:
    """The input with all samples inverted that are not below a threshold.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.
        threshold: at most the largest sample, which is 1 for floating point ones.

    Raises:
        TypeError: a larger threshold, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.solarize(torch.tensor([[[100, 200]]], dtype=torch.uint8), threshold=128)
        tensor([[[100,  55]]], dtype=torch.uint8)
    """
    return _get_kernel(solarize, type(inpt))(inpt, threshold=threshold)


@registered(solarize, ImageDraft, VideoDraft)
def _solarize(draft: Any, threshold: float) -> None:
    draft.solarize(threshold)


@registered(solarize, torch.Tensor, "Image")
def solarize_image(image: torch.Tensor, threshold: float) -> torch.Tensor:
    """The kernel of :func:`solarize` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _solarize, threshold)
    return changed


@registered(solarize, PIL.Image.Image)
def _solarize_image_pil(img: PIL.Image.Image, threshold: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _solarize, threshold)
    return changed


@registered(solarize, "Video")
def solarize_video(video: torch.Tensor, threshold: float) -> torch.Tensor:
    """The kernel of :func:`solarize` for videos, of shape (..., frames, channels, height, width)."""
    return solarize_image(video, threshold=threshold)


def autocontrast(inpt: InputT) -> InputT:
    """Each channel stretched, so that its darkest sample is black and its brightest one white.

    Integers are cut off, as torchvision does it: white may be one less than the largest sample.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image.

    Raises:
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.autocontrast(torch.tensor([[[0.25, 0.5, 0.75]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    return _get_kernel(autocontrast, type(inpt))(inpt)


@registered(autocontrast, ImageDraft, VideoDraft)
def _autocontrast(draft: Any) -> None:
    draft.autocontrast()


@registered(autocontrast, torch.Tensor, "Image")
def autocontrast_image(image: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`autocontrast` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _autocontrast)
    return changed


@registered(autocontrast, PIL.Image.Image)
def _autocontrast_image_pil(img: PIL.Image.Image) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _autocontrast)
    return changed


@registered(autocontrast, "Video")
def autocontrast_video(video: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`autocontrast` for videos, of shape (..., frames, channels, height, width)."""
    return autocontrast_image(video)


def equalize(inpt: InputT) -> InputT:
    """Each channel's histogram made as flat as can be.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image. Samples of other dtypes than uint8
            are made uint8 on the way.

    Raises:
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> ramp = torch.arange(128, 138, dtype=torch.uint8).repeat(1, 60, 1)
        >>> F.equalize(ramp)[0, 0].tolist()
        [0, 30, 60, 90, 120, 150, 180, 210, 240, 255]
    """
    return _get_kernel(equalize, type(inpt))(inpt)


@registered(equalize, ImageDraft, VideoDraft)
def _equalize(draft: Any) -> None:
    draft.equalize()


@registered(equalize, torch.Tensor, "Image")
def equalize_image(image: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`equalize` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _equalize)
    return changed


@registered(equalize, PIL.Image.Image)
def _equalize_image_pil(img: PIL.Image.Image) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _equalize)
    return changed


@registered(equalize, "Video")
def equalize_video(video: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`equalize` for videos, of shape (..., frames, channels, height, width)."""
    return equalize_image(video)


def invert(inpt: InputT) -> InputT:
    """The input with black and white exchanged.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.

    Raises:
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.invert(torch.tensor([[[0, 200]]], dtype=torch.uint8))
        tensor([[[255,  55]]], dtype=torch.uint8)
    """
    return _get_kernel(invert, type(inpt))(inpt)


@registered(invert, ImageDraft, VideoDraft)
def _invert(draft: Any) -> None:
    draft.invert()


@registered(invert, torch.Tensor, "Image")
def invert_image(image: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`invert` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _invert)
    return changed


@registered(invert, PIL.Image.Image)
def _invert_image_pil(img: PIL.Image.Image) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _invert)
    return changed


@registered(invert, "Video")
def invert_video(video: torch.Tensor) -> torch.Tensor:
    """The kernel of :func:`invert` for videos, of shape (..., frames, channels, height, width)."""
    return invert_image(video)


def permute_channels(inpt: InputT, permutation: Sequence[int]) -> InputT:
    """The input with its channels in another order: channel k of the result is channel ``permutation[k]`` of the input.

    Args:
        inpt: image or video of any dtype, or a PIL image of 8 bits, which becomes L, LA, RGB or RGBA.
        permutation: of the indices of the channels.

    Raises:
        ValueError: not as many indices as channels.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.permute_channels(torch.tensor([10, 20, 30]).view(3, 1, 1), [2, 1, 0]).flatten()
        tensor([30, 20, 10])
    """
    return _get_kernel(permute_channels, type(inpt))(inpt, permutation=permutation)


@registered(permute_channels, ImageDraft, VideoDraft)
def _permute_channels(draft: Any, permutation: Sequence[int]) -> None:
    draft.permute_channels(permutation)


@registered(permute_channels, torch.Tensor, "Image")
def permute_channels_image(image: torch.Tensor, permutation: Sequence[int]) -> torch.Tensor:
    """The kernel of :func:`permute_channels` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _permute_channels, permutation)
    return changed


@registered(permute_channels, PIL.Image.Image)
def _permute_channels_image_pil(image: PIL.Image.Image, permutation: Sequence[int]) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(image, _permute_channels, permutation)
    return changed


@registered(permute_channels, "Video")
def permute_channels_video(video: torch.Tensor, permutation: Sequence[int]) -> torch.Tensor:
    """The kernel of :func:`permute_channels` for videos, of shape (..., frames, channels, height, width)."""
    return permute_channels_image(video, permutation=permutation)
