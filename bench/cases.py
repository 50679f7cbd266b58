"""What is timed. A case is written once, for every library that has torchvision's names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

Transform = Callable[[Any], Any]

HALF = (0.5, 0.5, 0.5)
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `build` gets the module `torchvision.transforms`, or one with the same names, and returns the transform.
    `ops` names the native ops that the row exercises. `goal` is the least ratio asked of an instruction set.
    """

    name: str
    bag: str
    build: Callable[[Any], Transform]
    ops: tuple[str, ...]
    container: Literal["pil", "array"] = "pil"
    mode: str = "RGB"
    pipeline: bool = False
    goal: dict[str, float] = field(default_factory=dict)


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
            goal={"avx512": 10, "avx2": 7},
        )
        for size in (512, 224)
        for rotation in ("nearest", "bilinear")
    ),
    Case(
        "ImageNet train, 500x375 to 224",
        "photographs 500x375",
        partial(cropped, size=224),
        CROP_OPS,
        pipeline=True,
        goal={"avx512": 4, "avx2": 4},
    ),
    Case(
        "ImageNet eval, 500x375 to 224",
        "photographs 500x375",
        imagenet_eval,
        ("RESIZE", "WINDOW", "TO_FLOAT", "NORMALIZE"),
        pipeline=True,
        goal={"avx512": 8, "avx2": 8},
    ),
    *(
        Case(
            f"super-resolution crop {size} of 2040x1356",
            "photographs 2040x1356",
            partial(patch, size=size),
            ("WINDOW", "TO_FLOAT"),
            pipeline=True,
            goal={"avx512": 2, "avx2": 2},
        )
        for size in (96, 48)
    ),
    Case(
        "segmentation, 1024x1024 to 512",
        "tiles 1024x1024",
        partial(cropped, size=512),
        CROP_OPS,
        pipeline=True,
    ),
)


def one(name: str, build: Callable[[Any], Transform], *ops: str, **more: Any) -> Case:
    """A row for one operation at 512x512."""
    return Case(name, "images 512x512", build, ops, **more)


def resize(size: int, interpolation: str = "bilinear") -> Callable[[Any], Transform]:
    return lambda T: T.Resize(size, interpolation=T.InterpolationMode(interpolation))


def rotate(angle: float, interpolation: str = "nearest", expand: bool = False) -> Callable[[Any], Transform]:
    return lambda T: partial(
        T.functional.rotate, angle=angle, interpolation=T.InterpolationMode(interpolation), expand=expand
    )


def functional(name: str, **arguments: Any) -> Callable[[Any], Transform]:
    return lambda T: partial(getattr(T.functional, name), **arguments)


# Timed on one 512x512 image, RGB unless the name says otherwise.
OPERATIONS = (
    one("CenterCrop(224)", lambda T: T.CenterCrop(224), "WINDOW"),
    one("RandomCrop(224, padding=16)", lambda T: T.RandomCrop(224, padding=16), "WINDOW"),
    one("Pad(32)", lambda T: T.Pad(32), "WINDOW"),
    one("Pad(32, reflect)", lambda T: T.Pad(32, padding_mode="reflect"), "PAD"),
    one("Resize(256), nearest", resize(256, "nearest"), "NEAREST"),
    one("Resize(256), bilinear", resize(256), "RESIZE"),
    one("Resize(256), bicubic", resize(256, "bicubic"), "RESIZE"),
    one("Resize(256), lanczos", resize(256, "lanczos"), "RESIZE"),
    one("Resize(256), box", resize(256, "box"), "RESIZE"),
    one("Resize(256), hamming", resize(256, "hamming"), "RESIZE"),
    one("Resize(1024), bilinear", resize(1024), "RESIZE"),
    one("Resize(256), bilinear, RGBA", resize(256), "PREMULTIPLY", "RESIZE", "UNPREMULTIPLY", mode="RGBA"),
    one("RandomResizedCrop(224)", lambda T: T.RandomResizedCrop(224), "WINDOW", "RESIZE"),
    one("RandomHorizontalFlip(1)", lambda T: T.RandomHorizontalFlip(1), "HFLIP"),
    one("RandomVerticalFlip(1)", lambda T: T.RandomVerticalFlip(1), "VFLIP"),
    one("rotate(90, expand)", rotate(90, expand=True), "ROT90"),
    one("rotate(17), nearest", rotate(17.3), "AFFINE"),
    one("rotate(17), bilinear", rotate(17.3, "bilinear"), "AFFINE"),
    one("rotate(17), bicubic", rotate(17.3, "bicubic"), "AFFINE"),
    one("adjust_brightness", functional("adjust_brightness", brightness_factor=1.13), "BRIGHTNESS"),
    one("adjust_contrast", functional("adjust_contrast", contrast_factor=1.13), "CONTRAST"),
    one("adjust_saturation", functional("adjust_saturation", saturation_factor=1.13), "SATURATION"),
    one("adjust_hue", functional("adjust_hue", hue_factor=0.05), "HUE"),
    one(
        "ColorJitter(0.4, 0.4, 0.4, 0.1)",
        lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        *("BRIGHTNESS", "CONTRAST", "SATURATION", "HUE"),
    ),
    one("Grayscale()", lambda T: T.Grayscale(), "LUMA"),
    one("Grayscale(3)", lambda T: T.Grayscale(3), "LUMA", "REPLICATE"),
    one("ToPILImage()", lambda T: T.ToPILImage(), container="array"),
    one("PILToTensor()", lambda T: T.PILToTensor()),
    one("ToTensor()", lambda T: T.ToTensor(), "TO_FLOAT"),
    one(
        "ToTensor() and Normalize",
        lambda T: T.Compose([T.ToTensor(), T.Normalize(IMAGENET_MEAN, IMAGENET_STD)]),
        *("TO_FLOAT", "NORMALIZE"),
    ),
)

CASES = PIPELINES + OPERATIONS
BY_NAME = {case.name: case for case in CASES}


def covered_ops() -> frozenset[str]:
    """The native ops that some row exercises; every name of `fastaug._C.OPS` must be among them."""
    return frozenset(op for case in CASES for op in case.ops)
