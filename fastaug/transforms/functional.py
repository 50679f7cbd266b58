"""The functions behind the transforms, as ``torchvision.transforms.functional`` has them.

An image is a PIL image, a uint8 ndarray of shape (height, width) or (height, width, channels), or a tensor of shape
(..., channels, height, width). The result is in the same container. uint8 images give the same pixels in every
container, those that torchvision gives on a PIL image; tensors of other dtypes follow torchvision's tensor functions.
Inputs are never written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fastaug import _fallback_tensor
from fastaug._draft import Draft
from fastaug._interpolation import InterpolationMode, pil_modes_mapping

__all__ = [
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "hflip",
    "normalize",
    "pad",
    "pil_modes_mapping",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "rotate",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]


def get_dimensions(img: Any) -> list[int]:
    """[channels, height, width] of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> get_dimensions(Image.new("RGB", (4, 3)))
        [3, 3, 4]
    """
    return list(Draft(img).dimensions())


def get_image_size(img: Any) -> list[int]:
    """[width, height] of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> get_image_size(torch.zeros(3, 5, 7))
        [7, 5]
    """
    _, height, width = Draft(img).dimensions()
    return [width, height]


def get_image_num_channels(img: Any) -> int:
    """The number of channels of an image.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> get_image_num_channels(Image.new("LA", (4, 3)))
        2
    """
    return Draft(img).dimensions()[0]


def to_tensor(pic: Image.Image | np.ndarray) -> Tensor:
    """A PIL image or HWC array as a CHW float tensor.

    uint8 samples become x / 255 in float32, in [0, 1]; so does mode "1". Images of mode I, I;16 and F, and arrays of
    another dtype, keep their samples and dtype.

    Args:
        pic: PIL image, or ndarray of shape (height, width) or (height, width, channels).

    Raises:
        TypeError: neither a PIL image nor an ndarray.
        ValueError: an array that is not 2 or 3 dimensional.

    Example:
        >>> from PIL import Image
        >>> to_tensor(Image.new("RGB", (2, 1), (255, 0, 51)))[:, 0, 0]
        tensor([1.0000, 0.0000, 0.2000])
    """
    draft = Draft(pic)
    draft.to_float()
    return draft.finish()  # type: ignore[no-any-return]


def pil_to_tensor(pic: Image.Image) -> Tensor:
    """A PIL image as a CHW tensor of the same samples, uint8 for 8-bit modes. The result is a view of HWC memory.

    Args:
        pic: PIL image.

    Raises:
        TypeError: not a PIL image.

    Example:
        >>> from PIL import Image
        >>> pil_to_tensor(Image.new("RGB", (2, 1), (255, 0, 51)))[:, 0, 0]
        tensor([255,   0,  51], dtype=torch.uint8)
    """
    draft = Draft(pic)
    draft.to_uint8_tensor()
    return draft.finish()  # type: ignore[no-any-return]


def convert_image_dtype(image: Tensor, dtype: torch.dtype = torch.float) -> Tensor:
    """A tensor with another dtype, its samples scaled so that black stays black and white stays white.

    Floating point images are in [0, 1], integer images in [0, largest value of the dtype].

    Args:
        image: tensor.
        dtype: dtype of the result.

    Raises:
        TypeError: not a tensor.
        RuntimeError: float32 to int32 or int64, or float64 to int64, where values would overflow.

    Example:
        >>> import torch
        >>> convert_image_dtype(torch.full((1, 1, 1), 255, dtype=torch.uint8), torch.float32)
        tensor([[[1.]]])
    """
    draft = Draft(image)
    draft.convert_dtype(dtype)
    return draft.finish()  # type: ignore[no-any-return]


def to_pil_image(pic: Tensor | np.ndarray, mode: str | None = None) -> Image.Image:
    """A tensor or array as a PIL image.

    Args:
        pic: tensor of shape (channels, height, width) or (height, width), or ndarray of shape (height, width, channels)
            or (height, width). Floating point samples are taken times 255, unless ``mode`` is "F".
        mode: mode of the image. By default L, LA, RGB, RGBA for 1, 2, 3, 4 channels of uint8; I;16, I, F for one
            channel of int16, int32, float32.

    Raises:
        TypeError: neither tensor nor ndarray, or a dtype that no mode holds.
        ValueError: not 2 or 3 dimensional, more than 4 channels, or a mode for another number of channels.

    Example:
        >>> import torch
        >>> image = to_pil_image(torch.zeros(3, 2, 4, dtype=torch.uint8))
        >>> image.mode, image.size
        ('RGB', (4, 2))
    """
    draft = Draft(pic)
    draft.to_pil(mode)
    return draft.finish()  # type: ignore[no-any-return]


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """(tensor - mean) / std for each channel.

    Args:
        tensor: float tensor of shape (..., channels, height, width).
        mean: one mean per channel; a sequence or a tensor.
        std: one standard deviation per channel; a sequence or a tensor.
        inplace: write into ``tensor`` and return it.

    Raises:
        TypeError: not a tensor, or not floating point.
        ValueError: fewer than 3 dimensions, or a standard deviation of 0.

    Example:
        >>> import torch
        >>> normalize(torch.ones(1, 1, 2), [0.5], [0.25])
        tensor([[[2., 2.]]])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    return _fallback_tensor.normalize(tensor, mean, std, inplace)


def resize(
    img: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The image in another size. The same object comes back when the size does not change.

    Args:
        img: image.
        size: (height, width); or an int or sequence of one for the shorter side, keeping the proportions.
        interpolation: any mode on PIL images and arrays; NEAREST, NEAREST_EXACT, BILINEAR or BICUBIC on tensors.
            NEAREST on tensors follows torch's rule for the source pixel, elsewhere Pillow's.
        max_size: limit of the longer side, where ``size`` is the shorter one.
        antialias: on tensors, whether BILINEAR and BICUBIC widen their filter when shrinking (None means False). PIL
            images and arrays always do.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``, or a ``max_size`` that is not above it.

    Example:
        >>> from PIL import Image
        >>> resize(Image.new("RGB", (40, 30)), 15).size
        (20, 15)
    """
    draft = Draft(img)
    draft.resize(size, interpolation, max_size, antialias)
    return draft.finish()


def pad(
    img: Any, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
) -> Any:
    """The image with a border.

    Args:
        img: image.
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom). Negative
            ones crop.
        fill: colour of a constant border: a number, or one per channel (not on tensors).
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``padding`` or ``fill``, or unknown ``padding_mode``.
        RuntimeError: on tensors, reflection of more pixels than there are.

    Example:
        >>> from PIL import Image
        >>> pad(Image.new("L", (4, 3)), (1, 2)).size
        (6, 7)
    """
    draft = Draft(img)
    draft.pad(padding, fill, padding_mode)
    return draft.finish()


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A box of the image, with zeros where it reaches beyond. A box inside a tensor is a view of it.

    Args:
        img: image.
        top: first row.
        left: first column.
        height: rows.
        width: columns.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20).size
        (20, 10)
    """
    if isinstance(img, Tensor):
        return _fallback_tensor.crop(img, top, left, height, width)
    draft = Draft(img)
    draft.crop(top, left, height, width)
    return draft.finish()


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the image, with zeros around it where it is smaller than that.

    Args:
        img: image.
        output_size: (height, width), or an int or sequence of one for a square.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> center_crop(Image.new("RGB", (40, 30)), (50, 20)).size
        (20, 50)
    """
    draft = Draft(img)
    draft.center_crop(output_size)
    return draft.finish()


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """A box of the image, resized. Pixels outside the box do not count.

    Args:
        img: image.
        top: first row.
        left: first column.
        height: rows.
        width: columns.
        size: as in :func:`resize`.
        interpolation: as in :func:`resize`.
        antialias: as in :func:`resize`.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``.

    Example:
        >>> from PIL import Image
        >>> resized_crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20, (5, 5)).size
        (5, 5)
    """
    draft = Draft(img)
    draft.crop(top, left, height, width)
    draft.resize(size, interpolation, None, antialias)
    return draft.finish()


def hflip(img: Any) -> Any:
    """The image mirrored left to right.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> hflip(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.hflip()
    return draft.finish()


def vflip(img: Any) -> Any:
    """The image turned upside down, as a mirror does.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> vflip(torch.tensor([[[1], [2]]], dtype=torch.uint8))
        tensor([[[2],
                 [1]]], dtype=torch.uint8)
    """
    draft = Draft(img)
    draft.vflip()
    return draft.finish()


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: float | Sequence[float] | None = None,
) -> Any:
    """The image rotated.

    Args:
        img: image.
        angle: degrees, counter-clockwise.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors).
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners: a number, one per channel, or None for 0.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``fill``, or an interpolation that rotation does not have.

    Example:
        >>> from PIL import Image
        >>> rotate(Image.new("RGB", (40, 30)), 90, expand=True).size
        (30, 40)
    """
    draft = Draft(img)
    draft.rotate(angle, interpolation, expand, center, fill)
    return draft.finish()


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
