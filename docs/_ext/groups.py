"""Where the reference puts the classes of fastaug.transforms.v2; which of its functions are kernels of which others."""

from __future__ import annotations

import inspect

from docs._ext.examples import EXAMPLES
from fastaug.transforms import v2
from fastaug.transforms.v2 import functional

#: Classes that v1 does not have, and those that it has in another group. The others are in v1's group.
CLASSES: dict[str, tuple[str, ...]] = {
    "Geometry": (
        "ElasticTransform",
        "RandomIoUCrop",
        "RandomResize",
        "RandomShortestSize",
        "RandomZoomOut",
        "ScaleJitter",
    ),
    "Colour": ("RGB", "RandomChannelPermutation", "RandomPhotometricDistort"),
    "Filters and noise": ("GaussianNoise", "JPEG"),
    "Policies": (),
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
    "Composition": ("Identity", "Transform"),
    "Conversion": ("ToDtype", "ToImage", "ToPureTensor"),
    "Enumerations": (),
}

_LEAVES = ("image", "image_pil", "video", "mask", "bounding_boxes", "keypoints")


def public_classes() -> list[str]:
    """The classes of fastaug.transforms.v2, by its ``__all__``."""
    return sorted(name for name in v2.__all__ if inspect.isclass(getattr(v2, name)))


for _name in set(public_classes()).intersection(EXAMPLES).difference(*CLASSES.values()):
    _group = EXAMPLES[_name].group.replace("Filters", "Filters and noise")
    CLASSES[_group] = tuple(sorted([*CLASSES[_group], _name]))


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
