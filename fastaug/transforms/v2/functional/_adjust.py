"""Colours, sharpness and gamma changed by a factor, of images and videos."""

from __future__ import annotations

from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_pillow, on_videos

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


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).adjust_brightness(brightness_factor)


adjust_brightness_image = on_images(adjust_brightness)
_adjust_brightness_image_pil = on_pillow(adjust_brightness)
adjust_brightness_video = on_videos(adjust_brightness)


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).adjust_saturation(saturation_factor)


adjust_saturation_image = on_images(adjust_saturation)
_adjust_saturation_image_pil = on_pillow(adjust_saturation, "img")
adjust_saturation_video = on_videos(adjust_saturation)


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).adjust_contrast(contrast_factor)


adjust_contrast_image = on_images(adjust_contrast)
_adjust_contrast_image_pil = on_pillow(adjust_contrast, "img")
adjust_contrast_video = on_videos(adjust_contrast)


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).adjust_sharpness(sharpness_factor)


adjust_sharpness_image = on_images(adjust_sharpness)
_adjust_sharpness_image_pil = on_pillow(adjust_sharpness, "img")
adjust_sharpness_video = on_videos(adjust_sharpness)


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).adjust_hue(hue_factor)


adjust_hue_image = on_images(adjust_hue)
_adjust_hue_image_pil = on_pillow(adjust_hue, "img")
adjust_hue_video = on_videos(adjust_hue)


@functional(ImageDraft, VideoDraft)
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


adjust_gamma_image = on_images(adjust_gamma, gain=1.0)
_adjust_gamma_image_pil = on_pillow(adjust_gamma, "img", gain=1.0)
adjust_gamma_video = on_videos(adjust_gamma)
