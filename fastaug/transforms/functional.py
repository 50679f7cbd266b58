"""The functions behind the transforms, as ``torchvision.transforms.functional`` has them.

An image is a PIL image, a uint8 ndarray of shape (height, width) or (height, width, channels), or a tensor of shape
(..., channels, height, width). The result is in the same container, and is torchvision's for it, bit for bit for uint8;
arrays follow PIL images. Inputs are never written to.
"""

from __future__ import annotations

from fastaug._draft.interpolation import InterpolationMode, pil_modes_mapping
from fastaug._draft.replaced import functions, record
from fastaug._names import publish
from fastaug.transforms._functional_color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast,
    equalize,
    invert,
    posterize,
    rgb_to_grayscale,
    solarize,
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
    affine,
    center_crop,
    crop,
    elastic_transform,
    erase,
    five_crop,
    gaussian_blur,
    hflip,
    pad,
    perspective,
    resize,
    resized_crop,
    rotate,
    ten_crop,
    vflip,
)

__all__ = [
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "autocontrast",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "elastic_transform",
    "equalize",
    "erase",
    "five_crop",
    "gaussian_blur",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "hflip",
    "invert",
    "normalize",
    "pad",
    "perspective",
    "pil_modes_mapping",
    "pil_to_tensor",
    "posterize",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "rotate",
    "solarize",
    "ten_crop",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]

publish(globals())

record(globals(), functions)
