"""One row for each class and function, timed on one 512x512 image, RGB unless the name says otherwise.

The name of a row begins with that of its class or function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from PIL import ImageFilter

from bench.case import IMAGENET_MEAN, IMAGENET_STD, Case, Transform

#: What an operation that computes its pixels is to reach; those that only move them must not lose.
TWICE = {"avx512vbmi": 2.0, "avx2": 2.0}
LEVEL = {"avx512vbmi": 1.0, "avx2": 1.0}


def one(name: str, build: Callable[[Any], Transform], *ops: str, **more: Any) -> Case:
    return Case(name, "images 512x512", build, ops, **{"goal": TWICE, **more})


def blurred_by_pillow(T: Any) -> Transform:
    """fastaug.pillow's gaussian_blur, against Pillow's own."""
    if T.__name__.startswith("fastaug"):
        from fastaug import pillow

        return partial(pillow.gaussian_blur, radius=2.0)
    return lambda image: image.filter(ImageFilter.GaussianBlur(2.0))


def mode(T: Any, interpolation: str) -> Any:
    return T.InterpolationMode(interpolation)


def resize(size: int, interpolation: str = "bilinear") -> Callable[[Any], Transform]:
    return lambda T: T.Resize(size, interpolation=mode(T, interpolation))


def function(name: str, **arguments: Any) -> Callable[[Any], Transform]:
    """The function of that name; an interpolation may be given by name."""

    def build(T: Any) -> Transform:
        interpolation = arguments.get("interpolation")
        given = arguments | ({"interpolation": mode(T, interpolation)} if interpolation else {})
        return partial(getattr(T.functional, name), **given)

    return build


def moves(name: str, build: Callable[[Any], Transform], *ops: str, **more: Any) -> Case:
    """A row that only moves or converts pixels."""
    return one(name, build, *ops, goal=LEVEL, **more)


AFFINE = {"angle": 15.0, "translate": [20, 10], "scale": 1.1, "shear": [8.0, 0.0]}
CORNERS = {
    "startpoints": [[0, 0], [511, 0], [511, 511], [0, 511]],
    "endpoints": [[60, 40], [480, 30], [470, 500], [20, 450]],
}
IMAGENET = (IMAGENET_MEAN, IMAGENET_STD)


def whitening(T: Any) -> Transform:
    size = 3 * 16 * 16
    matrix = T.LinearTransformation(torch.eye(size), torch.zeros(size))
    return T.Compose([T.CenterCrop(16), T.Lambda(torch.Tensor.contiguous), matrix])  # type: ignore[no-any-return]


def displaced(T: Any, interpolation: str = "bilinear") -> Transform:
    field = torch.sin(torch.arange(512 * 512 * 2, dtype=torch.float32)).view(1, 512, 512, 2) * 0.02
    return partial(T.functional.elastic_transform, displacement=field, interpolation=mode(T, interpolation))


def erased(T: Any) -> Transform:
    return partial(T.functional.erase, i=100, j=90, h=200, w=150, v=torch.zeros(3, 1, 1, dtype=torch.uint8))


MOVES = (
    moves("CenterCrop(224)", lambda T: T.CenterCrop(224), "WINDOW"),
    moves("RandomCrop(224, padding=16)", lambda T: T.RandomCrop(224, padding=16), "WINDOW"),
    moves("Pad(32)", lambda T: T.Pad(32), "WINDOW"),
    moves("Pad(32, reflect)", lambda T: T.Pad(32, padding_mode="reflect"), "PAD"),
    moves("RandomHorizontalFlip(1)", lambda T: T.RandomHorizontalFlip(1), "HFLIP"),
    moves("RandomVerticalFlip(1)", lambda T: T.RandomVerticalFlip(1), "VFLIP"),
    moves("FiveCrop(224)", lambda T: T.FiveCrop(224)),
    moves("TenCrop(224)", lambda T: T.TenCrop(224), "HFLIP"),
    moves("crop", function("crop", top=100, left=90, height=224, width=224), "WINDOW"),
    moves("pad", function("pad", padding=[10, 20], fill=7), "WINDOW"),
    moves("hflip", function("hflip"), "HFLIP"),
    moves("vflip", function("vflip"), "VFLIP"),
    moves("rotate(90, expand)", function("rotate", angle=90.0, expand=True), "ROT90"),
    moves("ToPILImage()", lambda T: T.ToPILImage(), container="array"),
    moves("PILToTensor()", lambda T: T.PILToTensor()),
    moves("ConvertImageDtype(float)", lambda T: T.Compose([T.PILToTensor(), T.ConvertImageDtype(torch.float)])),
    moves("Normalize", lambda T: T.Normalize(*IMAGENET), container="tensor"),
    moves("RandomErasing(1)", lambda T: T.RandomErasing(1.0), container="tensor"),
    moves("LinearTransformation, 16x16", whitening, container="tensor"),
    moves("Lambda", lambda T: T.Lambda(lambda image: image)),
)

GEOMETRY = (
    one("Resize(256), nearest", resize(256, "nearest"), "NEAREST"),
    one("Resize(256), bilinear", resize(256), "RESIZE"),
    one("Resize(256), bicubic", resize(256, "bicubic"), "RESIZE"),
    one("Resize(256), lanczos", resize(256, "lanczos"), "RESIZE"),
    one("Resize(256), box", resize(256, "box"), "RESIZE"),
    one("Resize(256), hamming", resize(256, "hamming"), "RESIZE"),
    one("Resize(1024), bilinear", resize(1024), "RESIZE"),
    one("Resize(256), bilinear, RGBA", resize(256), "PREMULTIPLY", "RESIZE", "UNPREMULTIPLY", mode="RGBA"),
    one("RandomResizedCrop(224)", lambda T: T.RandomResizedCrop(224), "WINDOW", "RESIZE"),
    one("rotate(17), nearest", function("rotate", angle=17.3), "AFFINE"),
    one("rotate(17), bilinear", function("rotate", angle=17.3, interpolation="bilinear"), "AFFINE"),
    one("rotate(17), bicubic", function("rotate", angle=17.3, interpolation="bicubic"), "AFFINE"),
    one("RandomRotation(30)", lambda T: T.RandomRotation(30), "AFFINE"),
    *(one(f"affine, {m}", function("affine", interpolation=m, **AFFINE), "AFFINE") for m in ("nearest", "bilinear")),
    one("RandomAffine", lambda T: T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10), "AFFINE"),
    *(
        one(f"perspective, {m}", function("perspective", interpolation=m, **CORNERS), "PERSPECTIVE")
        for m in ("nearest", "bilinear", "bicubic")
    ),
    one("RandomPerspective(0.5, 1)", lambda T: T.RandomPerspective(0.5, 1.0), "PERSPECTIVE"),
    one("elastic_transform", displaced),
    one("ElasticTransform()", lambda T: T.ElasticTransform()),
)

COLOUR = (
    one("adjust_brightness", function("adjust_brightness", brightness_factor=1.13), "BRIGHTNESS"),
    one("adjust_contrast", function("adjust_contrast", contrast_factor=1.13), "CONTRAST"),
    one("adjust_saturation", function("adjust_saturation", saturation_factor=1.13), "SATURATION"),
    one("adjust_hue", function("adjust_hue", hue_factor=0.05), "HUE"),
    one("adjust_gamma", function("adjust_gamma", gamma=1.7), "GAMMA"),
    one("adjust_sharpness", function("adjust_sharpness", sharpness_factor=1.5), "SHARPNESS"),
    one(
        "ColorJitter(0.4, 0.4, 0.4, 0.1)",
        lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        *("BRIGHTNESS", "CONTRAST", "SATURATION", "HUE"),
    ),
    one("Grayscale()", lambda T: T.Grayscale(), "LUMA"),
    one("Grayscale(3)", lambda T: T.Grayscale(3), "LUMA", "REPLICATE"),
    one("RandomGrayscale(1)", lambda T: T.RandomGrayscale(1.0), "LUMA", "REPLICATE"),
    one("RandomInvert(1)", lambda T: T.RandomInvert(1.0), "INVERT"),
    one("RandomPosterize(3, 1)", lambda T: T.RandomPosterize(3, 1.0), "POSTERIZE"),
    one("RandomSolarize(128, 1)", lambda T: T.RandomSolarize(128, 1.0), "SOLARIZE"),
    one("RandomAdjustSharpness(2, 1)", lambda T: T.RandomAdjustSharpness(2, 1.0), "SHARPNESS"),
    one("RandomAutocontrast(1)", lambda T: T.RandomAutocontrast(1.0), "AUTOCONTRAST"),
    one("RandomEqualize(1)", lambda T: T.RandomEqualize(1.0), "EQUALIZE"),
    *(one(f"GaussianBlur({k})", lambda T, k=k: T.GaussianBlur(k), "BLUR") for k in (5, 23)),
    one("gaussian_blur", function("gaussian_blur", kernel_size=[9, 5], sigma=[1.5, 0.8]), "BLUR"),
    one("pillow.gaussian_blur", blurred_by_pillow, "BOX_BLUR", goal={"avx512vbmi": 5.0, "avx2": 5.0}),
    one("AutoAugment()", lambda T: T.AutoAugment()),
    one("RandAugment()", lambda T: T.RandAugment()),
    one("TrivialAugmentWide()", lambda T: T.TrivialAugmentWide()),
    one("AugMix()", lambda T: T.AugMix()),
)

CONVERT = (
    one("ToTensor()", lambda T: T.ToTensor(), "TO_FLOAT"),
    one(
        "ToTensor() and Normalize",
        lambda T: T.Compose([T.ToTensor(), T.Normalize(*IMAGENET)]),
        *("TO_FLOAT", "NORMALIZE"),
    ),
    one(
        "ToTensor() and RandomErasing(1)",
        lambda T: T.Compose([T.ToTensor(), T.RandomErasing(1.0)]),
        *("TO_FLOAT", "ERASE"),
    ),
)

OPERATIONS = MOVES + GEOMETRY + COLOUR + CONVERT
