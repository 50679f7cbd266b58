"""Colours of images and videos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import PIL.Image

from fastaug._draft.at_once import Ways
from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._fallback import color
from fastaug._fallback import pil as pil_fallback
from fastaug._image.types import InputT
from fastaug._names import export_functions
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_pillow, on_pixels


@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_brightness"))
def adjust_brightness(inpt: InputT, brightness_factor: float) -> InputT:
    """The input times a factor.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image. Floating point samples are in [0, 1].
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
    return drafted(inpt).adjust_brightness(brightness_factor)


adjust_brightness_image, adjust_brightness_video = on_pixels(adjust_brightness)


@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_saturation"))
def adjust_saturation(inpt: InputT, saturation_factor: float) -> InputT:
    """The input blended with its luma.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image. Floating point samples are in [0, 1].
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
    return drafted(inpt).adjust_saturation(saturation_factor)


adjust_saturation_image, adjust_saturation_video = on_pixels(adjust_saturation, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_contrast"))
def adjust_contrast(inpt: InputT, contrast_factor: float) -> InputT:
    """The input blended with the mean of its luma.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image. Floating point samples are in [0, 1].
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
    return drafted(inpt).adjust_contrast(contrast_factor)


adjust_contrast_image, adjust_contrast_video = on_pixels(adjust_contrast, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_sharpness", few=12))
def adjust_sharpness(inpt: InputT, sharpness_factor: float) -> InputT:
    """The input blended with itself smoothed, but for its border.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image. Floating point samples are in [0, 1].
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
    return drafted(inpt).adjust_sharpness(sharpness_factor)


adjust_sharpness_image, adjust_sharpness_video = on_pixels(adjust_sharpness, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_hue"))
def adjust_hue(inpt: InputT, hue_factor: float) -> InputT:
    """The input with all hues shifted.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image. Floating point samples are in [0, 1].
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
    return drafted(inpt).adjust_hue(hue_factor)


adjust_hue_image, adjust_hue_video = on_pixels(adjust_hue, "img")


# The core first finds out, for all samples that there may be, whether it rounds as torch does.
@functional(ImageDraft, VideoDraft, at_once=Ways(core="adjust_gamma", few=2048))
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
    return drafted(inpt).adjust_gamma(gamma, gain)


adjust_gamma_image, adjust_gamma_video = on_pixels(adjust_gamma, "img", gain=1.0)


def _gray(image: PIL.Image.Image, channels: int) -> Any:
    return pil_fallback.grayscale(image, channels) if channels in (1, 3) else NotImplemented


@functional(ImageDraft, at_once=Ways(_gray, core="grayscale"))
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
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    return drafted(inpt).grayscale(num_output_channels)


rgb_to_grayscale_image = on_images(rgb_to_grayscale)
on_pillow(rgb_to_grayscale)
to_grayscale = rgb_to_grayscale


@functional(ImageDraft, at_once=Ways(pil_fallback.to_rgb, color.to_rgb, "to_rgb"))
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
    return drafted(inpt).to_rgb()


grayscale_to_rgb_image = on_images(grayscale_to_rgb)
on_pillow(grayscale_to_rgb, name="grayscale_to_rgb_image_pil")


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=color.v2_posterize))
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
    return drafted(inpt).posterize(bits)


posterize_image, posterize_video = on_pixels(posterize, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="solarize"))
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
    return drafted(inpt).solarize(threshold)


solarize_image, solarize_video = on_pixels(solarize, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="autocontrast"))
def autocontrast(inpt: InputT) -> InputT:
    """Each channel stretched, so that its darkest sample is black and its brightest one white.

    Integers are cut off, as torchvision does it: white may be one less than the largest sample.

    Args:
        inpt: image or video of any dtype, 1 or 3 channels, or a PIL image.

    Raises:
        TypeError: another number of channels, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.autocontrast(torch.tensor([[[0.25, 0.5, 0.75]]]))
        tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    return drafted(inpt).autocontrast()


autocontrast_image, autocontrast_video = on_pixels(autocontrast, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="equalize"))
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
    return drafted(inpt).equalize()


equalize_image, equalize_video = on_pixels(equalize, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=color.v2_invert))
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
    return drafted(inpt).invert()


invert_image, invert_video = on_pixels(invert, "img")


@functional(ImageDraft, VideoDraft, at_once=Ways(core="permute_channels"))
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
    return drafted(inpt).permute_channels(permutation)


permute_channels_image, permute_channels_video = on_pixels(permute_channels)

export_functions(globals(), "grayscale_to_rgb_image_pil")
