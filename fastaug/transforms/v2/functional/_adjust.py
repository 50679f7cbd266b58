"""Colours, sharpness and gamma changed by a factor, of images and videos."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._utils import _get_kernel, done, registered

__all__: list[str] = [
    "adjust_brightness",
    "adjust_brightness_image",
    "adjust_brightness_video",
    "adjust_contrast",
    "adjust_contrast_image",
    "adjust_contrast_video",
    "adjust_gamma",
    "adjust_gamma_image",
    "adjust_gamma_video",
    "adjust_hue",
    "adjust_hue_image",
    "adjust_hue_video",
    "adjust_saturation",
    "adjust_saturation_image",
    "adjust_saturation_video",
    "adjust_sharpness",
    "adjust_sharpness_image",
    "adjust_sharpness_video",
]


def adjust_brightness(inpt: InputT, brightness_factor: float) -> InputT:
    """The input times a factor.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image. Floating point samples are in [0, 1].
        brightness_factor: 0 gives black, 1.0 the same image. An int is multiplied in the dtype of the
            samples, which wrap around.

    Raises:
        ValueError: the factor is negative.
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_brightness(torch.full((1, 1, 2), 100, dtype=torch.uint8), 1.5)
        tensor([[[150, 150]]], dtype=torch.uint8)
    """
    return _get_kernel(adjust_brightness, type(inpt))(inpt, brightness_factor=brightness_factor)


@registered(adjust_brightness, ImageDraft, VideoDraft)
def _adjust_brightness(draft: Any, brightness_factor: float) -> None:
    draft.adjust_brightness(brightness_factor)


@registered(adjust_brightness, torch.Tensor, "Image")
def adjust_brightness_image(image: torch.Tensor, brightness_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_brightness` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_brightness, brightness_factor)
    return changed


@registered(adjust_brightness, PIL.Image.Image)
def _adjust_brightness_image_pil(image: PIL.Image.Image, brightness_factor: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(image, _adjust_brightness, brightness_factor)
    return changed


@registered(adjust_brightness, "Video")
def adjust_brightness_video(video: torch.Tensor, brightness_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_brightness` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_brightness_image(video, brightness_factor=brightness_factor)


def adjust_saturation(inpt: InputT, saturation_factor: float) -> InputT:
    """The input blended with its luma.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image. Floating point samples are in [0, 1].
        saturation_factor: 0 gives gray, 1 the same image, 2 twice the distance from gray.

    Raises:
        ValueError: the factor is negative.
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_saturation(torch.tensor([10, 20, 30], dtype=torch.uint8).view(3, 1, 1), 0.0).flatten()
        tensor([18, 18, 18], dtype=torch.uint8)
    """
    return _get_kernel(adjust_saturation, type(inpt))(inpt, saturation_factor=saturation_factor)


@registered(adjust_saturation, ImageDraft, VideoDraft)
def _adjust_saturation(draft: Any, saturation_factor: float) -> None:
    draft.adjust_saturation(saturation_factor)


@registered(adjust_saturation, torch.Tensor, "Image")
def adjust_saturation_image(image: torch.Tensor, saturation_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_saturation` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_saturation, saturation_factor)
    return changed


@registered(adjust_saturation, PIL.Image.Image)
def _adjust_saturation_image_pil(img: PIL.Image.Image, saturation_factor: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _adjust_saturation, saturation_factor)
    return changed


@registered(adjust_saturation, "Video")
def adjust_saturation_video(video: torch.Tensor, saturation_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_saturation` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_saturation_image(video, saturation_factor=saturation_factor)


def adjust_contrast(inpt: InputT, contrast_factor: float) -> InputT:
    """The input blended with the mean of its luma.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image. Floating point samples are in [0, 1].
        contrast_factor: 0 gives an image of one gray, 1 the same image.

    Raises:
        ValueError: the factor is negative.
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_contrast(torch.tensor([[[0, 100]]], dtype=torch.uint8), 0.5)
        tensor([[[25, 75]]], dtype=torch.uint8)
    """
    return _get_kernel(adjust_contrast, type(inpt))(inpt, contrast_factor=contrast_factor)


@registered(adjust_contrast, ImageDraft, VideoDraft)
def _adjust_contrast(draft: Any, contrast_factor: float) -> None:
    draft.adjust_contrast(contrast_factor)


@registered(adjust_contrast, torch.Tensor, "Image")
def adjust_contrast_image(image: torch.Tensor, contrast_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_contrast` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_contrast, contrast_factor)
    return changed


@registered(adjust_contrast, PIL.Image.Image)
def _adjust_contrast_image_pil(img: PIL.Image.Image, contrast_factor: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _adjust_contrast, contrast_factor)
    return changed


@registered(adjust_contrast, "Video")
def adjust_contrast_video(video: torch.Tensor, contrast_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_contrast` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_contrast_image(video, contrast_factor=contrast_factor)


def adjust_sharpness(inpt: InputT, sharpness_factor: float) -> InputT:
    """The input blended with itself smoothed, but for its border.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image. Floating point samples are in [0, 1].
        sharpness_factor: 0 gives the smoothed image, 1 the same image, 2 twice the distance from the smoothed one.

    Raises:
        ValueError: the factor is negative.
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_sharpness(torch.eye(3)[None], 0.0)[0, 1, 1]
        tensor(0.5385)
    """
    return _get_kernel(adjust_sharpness, type(inpt))(inpt, sharpness_factor=sharpness_factor)


@registered(adjust_sharpness, ImageDraft, VideoDraft)
def _adjust_sharpness(draft: Any, sharpness_factor: float) -> None:
    draft.adjust_sharpness(sharpness_factor)


@registered(adjust_sharpness, torch.Tensor, "Image")
def adjust_sharpness_image(image: torch.Tensor, sharpness_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_sharpness` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_sharpness, sharpness_factor)
    return changed


@registered(adjust_sharpness, PIL.Image.Image)
def _adjust_sharpness_image_pil(img: PIL.Image.Image, sharpness_factor: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _adjust_sharpness, sharpness_factor)
    return changed


@registered(adjust_sharpness, "Video")
def adjust_sharpness_video(video: torch.Tensor, sharpness_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_sharpness` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_sharpness_image(video, sharpness_factor=sharpness_factor)


def adjust_hue(inpt: InputT, hue_factor: float) -> InputT:
    """The input with all hues shifted.

    Args:
        inpt: image or video of any dtype, of 1 or 3 channels; or a PIL image. Floating point samples are in [0, 1].
        hue_factor: share of the circle of hues, from -0.5 to 0.5; 0 gives the same image.

    Raises:
        ValueError: the factor is not in [-0.5, 0.5].
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_hue(torch.tensor([255, 0, 0], dtype=torch.uint8).view(3, 1, 1), 0.5).flatten()
        tensor([  0, 255, 255], dtype=torch.uint8)
    """
    return _get_kernel(adjust_hue, type(inpt))(inpt, hue_factor=hue_factor)


@registered(adjust_hue, ImageDraft, VideoDraft)
def _adjust_hue(draft: Any, hue_factor: float) -> None:
    draft.adjust_hue(hue_factor)


@registered(adjust_hue, torch.Tensor, "Image")
def adjust_hue_image(image: torch.Tensor, hue_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_hue` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_hue, hue_factor)
    return changed


@registered(adjust_hue, PIL.Image.Image)
def _adjust_hue_image_pil(img: PIL.Image.Image, hue_factor: float) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _adjust_hue, hue_factor)
    return changed


@registered(adjust_hue, "Video")
def adjust_hue_video(video: torch.Tensor, hue_factor: float) -> torch.Tensor:
    """The kernel of :func:`adjust_hue` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_hue_image(video, hue_factor=hue_factor)


def adjust_gamma(inpt: InputT, gamma: float, gain: float = 1) -> InputT:
    """Gamma correction: gain * sample ** gamma, of samples in [0, 1].

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.
        gamma: larger than 1 makes shadows darker, smaller than 1 lighter. Not negative.
        gain: factor.

    Raises:
        ValueError: gamma is negative.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.adjust_gamma(torch.full((1, 1, 1), 0.5), gamma=2.0)
        tensor([[[0.2500]]])
    """
    return _get_kernel(adjust_gamma, type(inpt))(inpt, gamma=gamma, gain=gain)


@registered(adjust_gamma, ImageDraft, VideoDraft)
def _adjust_gamma(draft: Any, gamma: float, gain: float = 1) -> None:
    draft.adjust_gamma(gamma, gain)


@registered(adjust_gamma, torch.Tensor, "Image")
def adjust_gamma_image(image: torch.Tensor, gamma: float, gain: float = 1.0) -> torch.Tensor:
    """The kernel of :func:`adjust_gamma` for images, of shape (..., channels, height, width)."""
    changed: torch.Tensor = done(image, _adjust_gamma, gamma, gain)
    return changed


@registered(adjust_gamma, PIL.Image.Image)
def _adjust_gamma_image_pil(img: PIL.Image.Image, gamma: float, gain: float = 1.0) -> PIL.Image.Image:
    changed: PIL.Image.Image = done(img, _adjust_gamma, gamma, gain)
    return changed


@registered(adjust_gamma, "Video")
def adjust_gamma_video(video: torch.Tensor, gamma: float, gain: float = 1) -> torch.Tensor:
    """The kernel of :func:`adjust_gamma` for videos, of shape (..., frames, channels, height, width)."""
    return adjust_gamma_image(video, gamma=gamma, gain=gain)
