"""Colours of images and videos. Those of _adjust are handed on from here, where torchvision has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_pillow, on_videos

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


@functional(ImageDraft)
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
_rgb_to_grayscale_image_pil = on_pillow(rgb_to_grayscale)


to_grayscale = rgb_to_grayscale


@functional(ImageDraft)
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
grayscale_to_rgb_image_pil = on_pillow(grayscale_to_rgb, name="grayscale_to_rgb_image_pil")


@functional(ImageDraft, VideoDraft)
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
    draft: Any = inpt
    if draft.kind == TENSOR and not (isinstance(bits, int) and 0 <= bits <= 8):  # type: ignore[redundant-expr]
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")
    return drafted(inpt).posterize(bits)


posterize_image = on_images(posterize)
_posterize_image_pil = on_pillow(posterize, "img")
posterize_video = on_videos(posterize)


@functional(ImageDraft, VideoDraft)
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


solarize_image = on_images(solarize)
_solarize_image_pil = on_pillow(solarize, "img")
solarize_video = on_videos(solarize)


@functional(ImageDraft, VideoDraft)
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
    return drafted(inpt).autocontrast()


autocontrast_image = on_images(autocontrast)
_autocontrast_image_pil = on_pillow(autocontrast, "img")
autocontrast_video = on_videos(autocontrast)


@functional(ImageDraft, VideoDraft)
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


equalize_image = on_images(equalize)
_equalize_image_pil = on_pillow(equalize, "img")
equalize_video = on_videos(equalize)


@functional(ImageDraft, VideoDraft)
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


invert_image = on_images(invert)
_invert_image_pil = on_pillow(invert, "img")
invert_video = on_videos(invert)


@functional(ImageDraft, VideoDraft)
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


permute_channels_image = on_images(permute_channels)
_permute_channels_image_pil = on_pillow(permute_channels)
permute_channels_video = on_videos(permute_channels)
