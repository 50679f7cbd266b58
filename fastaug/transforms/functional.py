"""The functions behind the transforms, as ``torchvision.transforms.functional`` has them.

An image is a PIL image, a uint8 ndarray of shape (height, width) or (height, width, channels), or a tensor of shape
(..., channels, height, width). The result is in the same container. uint8 images give the same pixels in every
container, those that torchvision gives on a PIL image; tensors of other dtypes follow torchvision's tensor functions.
Inputs are never written to.
"""

from __future__ import annotations

from fastaug._interpolation import InterpolationMode, pil_modes_mapping
from fastaug.transforms._functional_color import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    rgb_to_grayscale,
    to_grayscale,
)
from fastaug.transforms._functional_convert import (
    convert_image_dtype,
    get_dimensions,
    get_image_num_channels,
    get_image_size,
    normalize,
    pil_to_tensor,
    to_pil_image,
    to_tensor,
)
from fastaug.transforms._functional_geometry import (
    center_crop,
    crop,
    hflip,
    pad,
    resize,
    resized_crop,
    rotate,
    vflip,
)

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
