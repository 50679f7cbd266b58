"""``torchvision.transforms`` with the same names, arguments, random draws and pixels, many times faster.

Example:
    >>> import fastaug.transforms as T
    >>> from PIL import Image
    >>> transform = T.Compose(
    ...     [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.25] * 3)]
    ... )
    >>> transform(Image.new("RGB", (80, 60))).shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug._interpolation import InterpolationMode
from fastaug.transforms import autoaugment as autoaugment
from fastaug.transforms import functional
from fastaug.transforms import transforms as transforms
from fastaug.transforms._augmix import AugMix
from fastaug.transforms._auto_augment import AutoAugment, RandAugment, TrivialAugmentWide
from fastaug.transforms._auto_augment_policies import AutoAugmentPolicy
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
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
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
    "RandAugment",
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
    "TrivialAugmentWide",
    "functional",
]
