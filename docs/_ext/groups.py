"""Where the reference puts the classes of fastaug.transforms.v2; which of its functions are kernels of which others."""

from __future__ import annotations

import inspect

from fastaug.transforms import v2
from fastaug.transforms.v2 import functional

CLASSES: dict[str, tuple[str, ...]] = {
    "Geometry": (
        "CenterCrop",
        "ElasticTransform",
        "FiveCrop",
        "Pad",
        "RandomAffine",
        "RandomCrop",
        "RandomErasing",
        "RandomHorizontalFlip",
        "RandomIoUCrop",
        "RandomPerspective",
        "RandomResize",
        "RandomResizedCrop",
        "RandomRotation",
        "RandomShortestSize",
        "RandomVerticalFlip",
        "RandomZoomOut",
        "Resize",
        "ScaleJitter",
        "TenCrop",
    ),
    "Colour": (
        "ColorJitter",
        "Grayscale",
        "RGB",
        "RandomAutocontrast",
        "RandomChannelPermutation",
        "RandomEqualize",
        "RandomGrayscale",
        "RandomInvert",
        "RandomPhotometricDistort",
        "RandomPosterize",
        "RandomSolarize",
    ),
    "Filters and noise": ("GaussianBlur", "GaussianNoise", "JPEG", "RandomAdjustSharpness"),
    "Policies": ("AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"),
    "Boxes and points": (
        "ClampBoundingBoxes",
        "ClampKeyPoints",
        "ConvertBoundingBoxFormat",
        "SanitizeBoundingBoxes",
        "SanitizeKeyPoints",
        "SetClampingMode",
    ),
    "Videos": ("UniformTemporalSubsample",),
    "Batches": ("CutMix", "MixUp"),
    "Composition": ("Compose", "Identity", "Lambda", "RandomApply", "RandomChoice", "RandomOrder", "Transform"),
    "Conversion": (
        "ConvertImageDtype",
        "LinearTransformation",
        "Normalize",
        "PILToTensor",
        "ToDtype",
        "ToImage",
        "ToPILImage",
        "ToPureTensor",
        "ToTensor",
    ),
    "Enumerations": ("AutoAugmentPolicy", "InterpolationMode"),
}

_LEAVES = ("image", "image_pil", "video", "mask", "bounding_boxes", "keypoints")


def public_classes() -> list[str]:
    """The classes of fastaug.transforms.v2, by its ``__all__``."""
    return sorted(name for name in v2.__all__ if inspect.isclass(getattr(v2, name)))


def helpers() -> list[str]:
    """The functions of fastaug.transforms.v2: what a transform asks of leaves."""
    return sorted(name for name in v2.__all__ if inspect.isfunction(getattr(v2, name)))


def ungrouped() -> list[str]:
    """Public classes that are in no group, and names in groups that are no public class."""
    return sorted(set(public_classes()) ^ {name for names in CLASSES.values() for name in names})


def kernels() -> list[str]:
    """The names of functions that are each one functional for leaves of one type."""
    names = set(functional.__all__)
    return sorted(f"{name}_{leaf}" for name in names for leaf in _LEAVES if f"{name}_{leaf}" in names)


def functionals() -> list[str]:
    """The names of the other functions."""
    others = set(functional.__all__) - set(kernels())
    return sorted(name for name in others if not inspect.isclass(getattr(functional, name)))
