"""The classes that torchvision has in a file of this name; :mod:`fastaug.transforms` has them too."""

from __future__ import annotations

from fastaug.transforms._augmix import AugMix
from fastaug.transforms._auto_augment import AutoAugment, RandAugment, TrivialAugmentWide
from fastaug.transforms._auto_augment_policies import AutoAugmentPolicy

__all__ = [
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "RandAugment",
    "TrivialAugmentWide",
]
