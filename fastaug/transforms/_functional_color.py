"""Functions of colour."""

from __future__ import annotations

from typing import Any

from PIL import Image

from fastaug._draft import Draft


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The image with every sample multiplied; alpha stays.

    Args:
        img: image of 1 or 3 channels, or a PIL image with alpha.
        brightness_factor: 0 is black, 1 the image itself, 2 twice as bright. Not negative on tensors and arrays.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: negative factor, or a PIL mode without brightness.

    Example:
        >>> import torch
        >>> adjust_brightness(torch.full((1, 1, 2), 100, dtype=torch.uint8), 0.5)
        tensor([[[50, 50]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.adjust_brightness(brightness_factor)
    return draft.finish()


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The image blended with its mean gray; alpha stays.

    Args:
        img: image of 1 or 3 channels, or a PIL image with alpha.
        contrast_factor: 0 is gray, 1 the image itself, 2 twice the contrast. Not negative on tensors and arrays.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: negative factor, or a PIL mode without contrast.

    Example:
        >>> import torch
        >>> adjust_contrast(torch.tensor([[[50, 150]]], dtype=torch.uint8), 0.5)
        tensor([[[ 75, 125]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.adjust_contrast(contrast_factor)
    return draft.finish()


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The image blended with its gray version; alpha stays.

    Args:
        img: image of 1 or 3 channels, or a PIL image with alpha.
        saturation_factor: 0 is black and white, 1 the image itself, 2 twice the saturation. Not negative on tensors and
            arrays.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: negative factor, or a PIL mode without saturation.

    Example:
        >>> from PIL import Image
        >>> adjust_saturation(Image.new("RGB", (1, 1), (200, 100, 0)), 0).getpixel((0, 0))
        (118, 118, 118)
    """
    draft = Draft(img)
    draft.adjust_saturation(saturation_factor)
    return draft.finish()


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The image with its hue turned, through Pillow's 8-bit HSV. Gray images come back as they are.

    Args:
        img: image of 1 or 3 channels, or a PIL image with alpha.
        hue_factor: share of the colour circle, in [-0.5, 0.5].

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: factor out of range.

    Example:
        >>> from PIL import Image
        >>> adjust_hue(Image.new("RGB", (1, 1), (255, 0, 0)), 0.5).getpixel((0, 0))
        (0, 255, 252)
    """
    draft = Draft(img)
    draft.adjust_hue(hue_factor)
    return draft.finish()


def to_grayscale(img: Image.Image, num_output_channels: int = 1) -> Image.Image:
    """A PIL image in gray: mode L, or RGB with equal bands.

    Args:
        img: PIL image.
        num_output_channels: 1 or 3.

    Raises:
        TypeError: not a PIL image.
        ValueError: another number of channels.

    Example:
        >>> from PIL import Image
        >>> to_grayscale(Image.new("RGB", (1, 1), (200, 100, 0))).getpixel((0, 0))
        118
    """
    if not isinstance(img, Image.Image):
        raise TypeError(f"Input should be PIL Image, got {type(img)}")
    return rgb_to_grayscale(img, num_output_channels)  # type: ignore[no-any-return]


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The image in gray: (299 R + 587 G + 114 B) / 1000, rounded as Pillow does.

    Args:
        img: PIL image, or tensor or array of 1 or 3 channels.
        num_output_channels: 1, or 3 equal ones.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: ``num_output_channels`` is neither 1 nor 3.

    Example:
        >>> import torch
        >>> rgb_to_grayscale(torch.tensor([[[200]], [[100]], [[0]]], dtype=torch.uint8))
        tensor([[[118]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.grayscale(num_output_channels)
    return draft.finish()
