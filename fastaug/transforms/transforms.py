"""The classes that torchvision has in a file of this name; :mod:`fastaug.transforms` has them all."""

from __future__ import annotations

from fastaug._draft.interpolation import InterpolationMode
from fastaug.transforms._blur import GaussianBlur
from fastaug.transforms._color import (
    ColorJitter,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from fastaug.transforms._containers import Compose, Lambda, RandomApply, RandomChoice, RandomOrder
from fastaug.transforms._convert import (
    ConvertImageDtype,
    LinearTransformation,
    Normalize,
    PILToTensor,
    ToPILImage,
    ToTensor,
)
from fastaug.transforms._crops import CenterCrop, FiveCrop, RandomCrop, RandomResizedCrop, TenCrop
from fastaug.transforms._erasing import RandomErasing
from fastaug.transforms._geometry import Pad, RandomHorizontalFlip, RandomVerticalFlip, Resize
from fastaug.transforms._warps import ElasticTransform, RandomAffine, RandomPerspective, RandomRotation

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "ElasticTransform",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "ToPILImage",
    "ToTensor",
]
