"""``torchvision.transforms.v2`` with the same names, arguments, random draws and results, many times faster.

Example:
    >>> import torch
    >>> from fastaug.transforms import v2
    >>> transform = v2.Compose([v2.RandomResizedCrop(24), v2.ToDtype(torch.float32, scale=True)])
    >>> transform({"image": torch.zeros(3, 60, 80, dtype=torch.uint8), "label": 3})["image"].shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug._names import publish
from fastaug.transforms import AutoAugmentPolicy, InterpolationMode
from fastaug.transforms.v2 import functional as functional
from fastaug.transforms.v2._augment import JPEG, CutMix, MixUp, RandomErasing
from fastaug.transforms.v2._auto_augment import AugMix, AutoAugment, RandAugment, TrivialAugmentWide
from fastaug.transforms.v2._color import (
    RGB,
    ColorJitter,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomChannelPermutation,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPhotometricDistort,
    RandomPosterize,
    RandomSolarize,
)
from fastaug.transforms.v2._container import Compose, RandomApply, RandomChoice, RandomOrder
from fastaug.transforms.v2._deprecated import ToTensor
from fastaug.transforms.v2._geometry import (
    CenterCrop,
    ElasticTransform,
    FiveCrop,
    Pad,
    RandomAffine,
    RandomCrop,
    RandomHorizontalFlip,
    RandomIoUCrop,
    RandomPerspective,
    RandomResize,
    RandomResizedCrop,
    RandomRotation,
    RandomShortestSize,
    RandomVerticalFlip,
    RandomZoomOut,
    Resize,
    ScaleJitter,
    TenCrop,
)
from fastaug.transforms.v2._meta import ClampBoundingBoxes, ClampKeyPoints, ConvertBoundingBoxFormat, SetClampingMode
from fastaug.transforms.v2._misc import (
    ConvertImageDtype,
    GaussianBlur,
    GaussianNoise,
    Identity,
    Lambda,
    LinearTransformation,
    Normalize,
    SanitizeBoundingBoxes,
    SanitizeKeyPoints,
    ToDtype,
)
from fastaug.transforms.v2._temporal import UniformTemporalSubsample
from fastaug.transforms.v2._transform import Transform
from fastaug.transforms.v2._type_conversion import PILToTensor, ToImage, ToPILImage, ToPureTensor
from fastaug.transforms.v2._utils import (
    check_type,
    get_bounding_boxes,
    get_keypoints,
    has_all,
    has_any,
    query_chw,
    query_size,
)

__all__ = [
    "JPEG",
    "RGB",
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "CenterCrop",
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ColorJitter",
    "Compose",
    "ConvertBoundingBoxFormat",
    "ConvertImageDtype",
    "CutMix",
    "ElasticTransform",
    "FiveCrop",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "Identity",
    "InterpolationMode",
    "Lambda",
    "LinearTransformation",
    "MixUp",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomOrder",
    "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "ScaleJitter",
    "SetClampingMode",
    "TenCrop",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
    "Transform",
    "TrivialAugmentWide",
    "UniformTemporalSubsample",
    "check_type",
    "get_bounding_boxes",
    "get_keypoints",
    "has_all",
    "has_any",
    "query_chw",
    "query_size",
]

publish(globals())
