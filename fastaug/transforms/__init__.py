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
from fastaug.transforms import functional
from fastaug.transforms._color import ColorJitter, Grayscale, RandomGrayscale
from fastaug.transforms._containers import Compose, Lambda, RandomApply, RandomChoice, RandomOrder
from fastaug.transforms._convert import ConvertImageDtype, Normalize, PILToTensor, ToPILImage, ToTensor
from fastaug.transforms._geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomChoice",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "functional",
]
