"""Transforms of geometry, together as they are in torchvision."""

from __future__ import annotations

from fastaug.transforms.v2._crops import (
    CenterCrop,
    FiveCrop,
    Pad,
    RandomCrop,
    RandomIoUCrop,
    RandomResizedCrop,
    RandomZoomOut,
    TenCrop,
)
from fastaug.transforms.v2._flips import RandomHorizontalFlip, RandomVerticalFlip
from fastaug.transforms.v2._sizes import RandomResize, RandomShortestSize, Resize, ScaleJitter
from fastaug.transforms.v2._warps import ElasticTransform, RandomAffine, RandomPerspective, RandomRotation

__all__ = [
    "CenterCrop",
    "ElasticTransform",
    "FiveCrop",
    "Pad",
    "RandomAffine",
    "RandomCrop",
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
]
