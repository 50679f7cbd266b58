"""What is timed. A case is written once, for every library that has torchvision's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, Case, Transform
from bench.operations import OPERATIONS


def pipeline_p(T: Any, size: int, rotation: str) -> Transform:
    """Augmentation of histology tiles as multiple-instance learning does it: the project's reference pipeline."""
    return T.Compose(  # type: ignore[no-any-return]
        [
            T.ToPILImage(),
            T.RandomRotation(25, interpolation=T.InterpolationMode(rotation)),
            T.RandomResizedCrop(1024, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
            T.Resize(size),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            T.ToTensor(),
            T.Normalize(HALF, HALF),
        ]
    )


def cropped(T: Any, size: int) -> Transform:
    return T.Compose(  # type: ignore[no-any-return]
        [
            T.RandomResizedCrop(size),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


def imagenet_eval(T: Any) -> Transform:
    steps = [T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize(IMAGENET_MEAN, IMAGENET_STD)]
    return T.Compose(steps)  # type: ignore[no-any-return]


def normalised(T: Any) -> Transform:
    return T.Compose([T.ToTensor(), T.Normalize(IMAGENET_MEAN, IMAGENET_STD)])  # type: ignore[no-any-return]


def patch(T: Any, size: int) -> Transform:
    return T.Compose([T.RandomCrop(size), T.ToTensor()])  # type: ignore[no-any-return]


P_OPS = (
    *("AFFINE", "WINDOW", "RESIZE", "HFLIP", "VFLIP"),
    *("BRIGHTNESS", "CONTRAST", "SATURATION", "HUE", "TO_FLOAT", "NORMALIZE"),
)
CROP_OPS = ("WINDOW", "RESIZE", "HFLIP", "TO_FLOAT", "NORMALIZE")

PIPELINES = (
    *(
        Case(
            f"P, {size}, rotation {rotation}",
            "tiles 1024x1024",
            partial(pipeline_p, size=size, rotation=rotation),
            P_OPS,
            container="array",
            pipeline=True,
            goal={"avx512vbmi": 12 - less, "avx2": 10 - less, "fast avx512vbmi": fast[0], "fast avx2": fast[1]},
        )
        for size, rotation, less, fast in (
            (512, "nearest", 0, (20, 15)),
            (512, "bilinear", 0, (24, 22)),
            (224, "nearest", 1, (20, 15)),
            (224, "bilinear", 0, (24, 22)),
        )
    ),
    Case(
        "ImageNet train, 500x375 to 224",
        "photographs 500x375",
        partial(cropped, size=224),
        CROP_OPS,
        pipeline=True,
        goal={"avx512vbmi": 9, "avx2": 7},
    ),
    Case(
        "ImageNet eval, 500x375 to 224",
        "photographs 500x375",
        imagenet_eval,
        ("RESIZE", "WINDOW", "TO_FLOAT", "NORMALIZE"),
        pipeline=True,
        goal={"avx512vbmi": 12, "avx2": 10},
    ),
    *(
        Case(
            f"super-resolution crop {size} of 2040x1356",
            "photographs 2040x1356",
            partial(patch, size=size),
            ("WINDOW", "TO_FLOAT"),
            pipeline=True,
            goal={"avx512vbmi": 5, "avx2": 4},
        )
        for size in (96, 48)
    ),
    *(
        Case(
            f"ToTensor and Normalize, {size}",
            f"images {size}",
            normalised,
            ("TO_FLOAT", "NORMALIZE"),
            pipeline=True,
            goal={"avx512vbmi": goal, "avx2": goal},
        )
        for size, goal in (("224x224", 7), ("1x1", 8))
    ),
    Case(
        "segmentation, 1024x1024 to 512",
        "tiles 1024x1024",
        partial(cropped, size=512),
        CROP_OPS,
        pipeline=True,
        goal={"avx512vbmi": 8, "avx2": 11},
    ),
)


def trained(T: Any, augment: Callable[[Any], Transform], erase: float = 0.0) -> Transform:
    """torchvision's reference recipe for ImageNet, with one of its automatic augmentations."""
    steps = [
        T.RandomResizedCrop(224),
        T.RandomHorizontalFlip(),
        augment(T),
        T.PILToTensor(),
        T.ConvertImageDtype(torch.float),
        T.Normalize(IMAGENET_MEAN, IMAGENET_STD),
    ]
    return T.Compose([*steps, T.RandomErasing(erase)] if erase else steps)  # type: ignore[no-any-return]


def simclr(T: Any) -> Transform:
    return T.Compose(  # type: ignore[no-any-return]
        [
            T.RandomResizedCrop(224),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.GaussianBlur(23, (0.1, 2.0)),
            T.ToTensor(),
        ]
    )


def dino(T: Any) -> Transform:
    """A global view of DINO (https://arxiv.org/abs/2104.14294), as its second one: rarely blurred, and solarised."""
    return T.Compose(  # type: ignore[no-any-return]
        [
            T.RandomResizedCrop(224, scale=(0.4, 1.0), interpolation=T.InterpolationMode.BICUBIC),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.RandomApply([T.GaussianBlur(9, (0.1, 2.0))], p=0.1),
            T.RandomSolarize(128, p=0.2),
            T.ToTensor(),
            T.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


RECIPES = (
    *(
        Case(
            f"ImageNet train with {name}",
            "photographs 500x375",
            partial(trained, augment=augment, erase=erase),
            CROP_OPS,
            pipeline=True,
            goal=goal,
        )
        for name, augment, erase, goal in (
            ("RandAugment", lambda T: T.RandAugment(), 0.0, {"avx512vbmi": 3, "avx2": 3}),
            ("AugMix", lambda T: T.AugMix(), 0.0, {"avx512vbmi": 3, "avx2": 3}),
            ("TrivialAugmentWide, erasing", lambda T: T.TrivialAugmentWide(), 0.25, {}),
            ("AutoAugment", lambda T: T.AutoAugment(), 0.0, {}),
        )
    ),
    Case(
        "SimCLR with blur",
        "photographs 500x375",
        simclr,
        (*CROP_OPS, "BLUR"),
        pipeline=True,
        goal={"avx512vbmi": 26, "avx2": 18},
    ),
    Case("DINO, a global view", "photographs 500x375", dino, (*CROP_OPS, "BLUR"), pipeline=True),
)

CASES = PIPELINES + RECIPES + OPERATIONS
BY_NAME = {case.name: case for case in CASES}
