"""Functions of colour."""

from __future__ import annotations

from PIL import Image

from fastaug._draft.progress import applied
from fastaug._image.types import ImageT
from fastaug._names import export_functions


def adjust_brightness(img: ImageT, brightness_factor: float) -> ImageT:
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
    return applied(img, "adjust_brightness", brightness_factor)


def adjust_contrast(img: ImageT, contrast_factor: float) -> ImageT:
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
    return applied(img, "adjust_contrast", contrast_factor)


def adjust_saturation(img: ImageT, saturation_factor: float) -> ImageT:
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
    return applied(img, "adjust_saturation", saturation_factor)


def adjust_hue(img: ImageT, hue_factor: float) -> ImageT:
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
    return applied(img, "adjust_hue", hue_factor)


def to_grayscale(img: Image.Image, num_output_channels: int = 1) -> Image.Image:
    """A PIL image in gray: mode L, or RGB with equal bands.

    Args:
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
    return rgb_to_grayscale(img, num_output_channels)


def rgb_to_grayscale(img: ImageT, num_output_channels: int = 1) -> ImageT:
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
    return applied(img, "grayscale", num_output_channels)


def adjust_gamma(img: ImageT, gamma: float, gain: float = 1) -> ImageT:
    """The image with every sample v as gain * v ** gamma, for v in [0, 1].

    Args:
        img: image of 1 or 3 channels, or a PIL image of any mode that converts to RGB and back.
        gamma: above 1 makes shadows darker, below 1 lighter. Not negative.
        gain: multiplier of the result.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: negative ``gamma``.

    Example:
        >>> import torch
        >>> adjust_gamma(torch.tensor([[[0, 64, 255]]], dtype=torch.uint8), 0.5)
        tensor([[[  0, 128, 255]]], dtype=torch.uint8)
    """
    return applied(img, "adjust_gamma", gamma, gain)


def adjust_sharpness(img: ImageT, sharpness_factor: float) -> ImageT:
    """The image blended with a smoothed one; alpha stays.

    Args:
        img: image of 1 or 3 channels, or a PIL image with alpha.
        sharpness_factor: 0 is smooth, 1 the image itself, 2 twice as sharp. Not negative on tensors and arrays.

    Raises:
        TypeError: not an image, or another number of channels.
        ValueError: negative factor, or a PIL mode that Pillow does not filter.

    Example:
        >>> import torch
        >>> adjust_sharpness(torch.eye(3, dtype=torch.uint8)[None] * 65, 0)[0, 1]
        tensor([ 0, 35,  0], dtype=torch.uint8)
    """
    return applied(img, "adjust_sharpness", sharpness_factor)


def invert(img: ImageT) -> ImageT:
    """The image with every sample subtracted from white.

    Args:
        img: image of 1 or 3 channels; PIL images in modes 1, P, L or RGB.

    Raises:
        TypeError: not an image, or another number of channels.
        OSError: another PIL mode.

    Example:
        >>> import torch
        >>> invert(torch.tensor([[[0, 55, 255]]], dtype=torch.uint8))
        tensor([[[255, 200,   0]]], dtype=torch.uint8)
    """
    return applied(img, "invert")


def posterize(img: ImageT, bits: int) -> ImageT:
    """The image with fewer bits per sample: the lower ones become 0.

    Args:
        img: uint8 image of 1 or 3 channels; PIL images in modes P, L or RGB.
        bits: how many of the 8 bits stay.

    Raises:
        TypeError: not an image, or another dtype or number of channels.
        ValueError: ``bits`` out of range, which is 0 to 8 on tensors and 1 to 8 on PIL images.
        OSError: another PIL mode.

    Example:
        >>> import torch
        >>> posterize(torch.tensor([[[63, 64, 255]]], dtype=torch.uint8), 2)
        tensor([[[  0,  64, 192]]], dtype=torch.uint8)
    """
    return applied(img, "posterize", bits)


def solarize(img: ImageT, threshold: float) -> ImageT:
    """The image with all samples from a threshold on inverted.

    Args:
        img: image of 1 or 3 channels; PIL images in modes P, L or RGB.
        threshold: smallest sample that is inverted.

    Raises:
        TypeError: not an image, another number of channels, or, on tensors, a threshold above white.
        OSError: another PIL mode.

    Example:
        >>> import torch
        >>> solarize(torch.tensor([[[127, 128, 255]]], dtype=torch.uint8), 128)
        tensor([[[127, 127,   0]]], dtype=torch.uint8)
    """
    return applied(img, "solarize", threshold)


def autocontrast(img: ImageT) -> ImageT:
    """The image with each channel stretched, so that its darkest sample becomes black and its lightest white.

    Args:
        img: image of 1 or 3 channels; PIL images in modes L or RGB.

    Raises:
        TypeError: not an image, or another number of channels.
        OSError: another PIL mode (for some, NotImplementedError).

    Example:
        >>> import torch
        >>> autocontrast(torch.tensor([[[10, 15, 20]]], dtype=torch.uint8))
        tensor([[[  0, 127, 255]]], dtype=torch.uint8)
    """
    return applied(img, "autocontrast")


def equalize(img: ImageT) -> ImageT:
    """The image with the histogram of each channel flattened.

    Args:
        img: uint8 image of 1 or 3 channels, tensors with at most one leading dimension; PIL images in modes P, L or
            RGB.

    Raises:
        TypeError: not an image, or another dtype or number of channels or dimensions.
        OSError: another PIL mode.

    Example:
        >>> import torch
        >>> equalize(torch.arange(16, dtype=torch.uint8).repeat(1, 32, 1))[0, 0, :4]
        tensor([ 0, 32, 64, 96], dtype=torch.uint8)
    """
    return applied(img, "equalize")


export_functions(globals())
