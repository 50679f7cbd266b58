"""Albumentations 2.0: HWC uint8 arrays in, arrays or tensors out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import albumentations as A
import cv2
from albumentations.pytorch import ToTensorV2

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, Transform

cv2.setNumThreads(1)

FILTERS = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "lanczos": cv2.INTER_LANCZOS4,
}


def composed(*steps: A.BasicTransform) -> Transform:
    compose = A.Compose(list(steps))
    return lambda image: compose(image=image)["image"]


def tensor(mean: tuple[float, float, float], std: tuple[float, float, float]) -> tuple[A.BasicTransform, ...]:
    return A.Normalize(mean, std), ToTensorV2()


def resized(size: int) -> A.BasicTransform:
    return A.Resize(size, size, interpolation=cv2.INTER_AREA)


def jitter(b: float, c: float, s: float, h: float) -> A.BasicTransform:
    return A.ColorJitter((1 - b, 1 + b), (1 - c, 1 + c), (1 - s, 1 + s), (-h, h), p=1)


def pipeline_p(size: int, rotation: str) -> Transform:
    return composed(
        A.Rotate((-25, 25), interpolation=FILTERS[rotation], border_mode=cv2.BORDER_CONSTANT, p=1),
        # Scales above 1 are refused here; torchvision falls back to a centre crop for most of them.
        A.RandomResizedCrop((1024, 1024), scale=(0.5, 1.0), ratio=(0.8, 1.2)),
        resized(size),
        A.HorizontalFlip(),
        A.VerticalFlip(),
        jitter(0.2, 0.1, 0.05, 0.02),
        *tensor(HALF, HALF),
    )


def cropped(size: int) -> Transform:
    return composed(A.RandomResizedCrop((size, size)), A.HorizontalFlip(), *tensor(IMAGENET_MEAN, IMAGENET_STD))


def imagenet_eval() -> Transform:
    return composed(
        A.SmallestMaxSize(256, interpolation=cv2.INTER_AREA),
        A.CenterCrop(224, 224),
        *tensor(IMAGENET_MEAN, IMAGENET_STD),
    )


def patch(size: int) -> Transform:
    return composed(A.RandomCrop(size, size), *tensor((0, 0, 0), (1, 1, 1)))


def row(step: Callable[[], A.BasicTransform]) -> Callable[[], Transform]:
    return lambda: composed(step())


def resize(size: int, name: str) -> Callable[[], Transform]:
    return row(lambda: A.Resize(size, size, interpolation=FILTERS[name]))


def rotate(name: str) -> Callable[[], Transform]:
    return row(lambda: A.Rotate((17.3, 17.3), FILTERS[name], border_mode=cv2.BORDER_CONSTANT, p=1))


TABLE: dict[str, Callable[[], Transform]] = {
    **{
        f"P, {size}, rotation {rotation}": partial(pipeline_p, size, rotation)
        for size in (512, 224)
        for rotation in ("nearest", "bilinear")
    },
    "ImageNet train, 500x375 to 224": lambda: cropped(224),
    "ImageNet eval, 500x375 to 224": imagenet_eval,
    "super-resolution crop 96 of 2040x1356": lambda: patch(96),
    "super-resolution crop 48 of 2040x1356": lambda: patch(48),
    "segmentation, 1024x1024 to 512": lambda: cropped(512),
    "CenterCrop(224)": row(lambda: A.CenterCrop(224, 224)),
    "Pad(32)": row(lambda: A.Pad(32, p=1)),
    "Pad(32, reflect)": row(lambda: A.Pad(32, border_mode=cv2.BORDER_REFLECT_101, p=1)),
    "Resize(256), nearest": resize(256, "nearest"),
    "Resize(256), bilinear": row(lambda: resized(256)),
    "Resize(256), bicubic": resize(256, "bicubic"),
    "Resize(256), lanczos": resize(256, "lanczos"),
    "Resize(1024), bilinear": resize(1024, "bilinear"),
    "RandomResizedCrop(224)": row(lambda: A.RandomResizedCrop((224, 224))),
    "RandomHorizontalFlip(1)": row(lambda: A.HorizontalFlip(p=1)),
    "RandomVerticalFlip(1)": row(lambda: A.VerticalFlip(p=1)),
    **{f"rotate(17), {name}": rotate(name) for name in ("nearest", "bilinear", "bicubic")},
    "adjust_brightness": row(lambda: A.ColorJitter((1.13, 1.13), (1, 1), (1, 1), (0, 0), p=1)),
    "adjust_contrast": row(lambda: A.ColorJitter((1, 1), (1.13, 1.13), (1, 1), (0, 0), p=1)),
    "adjust_saturation": row(lambda: A.ColorJitter((1, 1), (1, 1), (1.13, 1.13), (0, 0), p=1)),
    "adjust_hue": row(lambda: A.ColorJitter((1, 1), (1, 1), (1, 1), (0.05, 0.05), p=1)),
    "ColorJitter(0.4, 0.4, 0.4, 0.1)": row(lambda: jitter(0.4, 0.4, 0.4, 0.1)),
    "Grayscale()": row(lambda: A.ToGray(num_output_channels=1, p=1)),
    "Grayscale(3)": row(lambda: A.ToGray(num_output_channels=3, p=1)),
    "ToTensor()": lambda: composed(*tensor((0, 0, 0), (1, 1, 1))),
    "ToTensor() and Normalize": lambda: composed(*tensor(IMAGENET_MEAN, IMAGENET_STD)),
}


def step(make: Callable[[Any], A.BasicTransform]) -> Callable[[Any], Transform]:
    return lambda case: composed(make(case))


def every(make: Callable[[], A.BasicTransform]) -> Callable[[Any], Transform]:
    """The same for images of all sides."""
    return lambda case: composed(make())


def sized(share: float, name: str) -> Callable[[Any], Transform]:
    reduces = share < 1 and name == "bilinear"
    interpolation = cv2.INTER_AREA if reduces else FILTERS[name]
    return step(lambda case: A.Resize(*[int(case.side * share)] * 2, interpolation=interpolation))


def factors(**given: tuple[float, float]) -> Callable[[Any], Transform]:
    keep = {"brightness": (1, 1), "contrast": (1, 1), "saturation": (1, 1), "hue": (0, 0)}
    return every(lambda: A.ColorJitter(**keep | given, p=1))


def quarter_crop(case: Any) -> A.BasicTransform:
    start = case.side // 4
    end = start + case.side // 2
    return A.Crop(start, start, end, end)


GRAY = every(lambda: A.ToGray(num_output_channels=3, p=1))
#: By the operation of a row of `bench.single`, which they get.
SINGLE: dict[str, Callable[[Any], Transform]] = {
    "hflip": every(lambda: A.HorizontalFlip(p=1)),
    "RandomHorizontalFlip(1)": every(lambda: A.HorizontalFlip(p=1)),
    "vflip": every(lambda: A.VerticalFlip(p=1)),
    "CenterCrop": step(lambda case: A.CenterCrop(case.side // 2, case.side // 2)),
    "crop": step(quarter_crop),
    "Pad(32)": every(lambda: A.Pad(32, p=1)),
    "Pad(16, reflect)": every(lambda: A.Pad(16, border_mode=cv2.BORDER_REFLECT_101, p=1)),
    **{
        f"resize to {word}, {name}": sized(share, name)
        for word, share in (("7/16", 7 / 16), ("1/8", 1 / 8), ("3/2", 3 / 2))
        for name in ("nearest", "bilinear", "bicubic")
    },
    **{
        f"rotate, {name}": every(
            lambda by=FILTERS[name]: A.Rotate((17.3, 17.3), by, border_mode=cv2.BORDER_CONSTANT, p=1)
        )
        for name in ("nearest", "bilinear")
    },
    **{
        f"affine, {name}": every(
            lambda by=FILTERS[name]: A.Affine((1.1, 1.1), rotate=(15, 15), shear=(8, 8), interpolation=by, p=1)
        )
        for name in ("nearest", "bilinear")
    },
    "ElasticTransform()": every(lambda: A.ElasticTransform(alpha=50, sigma=5, p=1)),
    **{
        f"blur by {side}": every(lambda side=side, sigma=sigma: A.GaussianBlur((side, side), (sigma, sigma), p=1))
        for side, sigma in ((3, 1.2), (9, 1.2), (23, 2.0))
    },
    "brightness": factors(brightness=(1.13, 1.13)),
    "contrast": factors(contrast=(1.13, 1.13)),
    "saturation": factors(saturation=(1.13, 1.13)),
    "hue": factors(hue=(0.05, 0.05)),
    "gamma": every(lambda: A.RandomGamma((170, 170), p=1)),
    "Grayscale(1)": every(lambda: A.ToGray(num_output_channels=1, p=1)),
    "Grayscale(3)": GRAY,
    "RandomGrayscale(1)": GRAY,
    "invert": every(lambda: A.InvertImg(p=1)),
    "posterize": every(lambda: A.Posterize(3, p=1)),
    "solarize": every(lambda: A.Solarize((128 / 255, 128 / 255), p=1)),
    "autocontrast": every(lambda: A.AutoContrast(method="pil", p=1)),
    "equalize": every(lambda: A.Equalize(mode="pil", p=1)),
    "ToTensor": lambda case: composed(*tensor((0, 0, 0), (1, 1, 1))),
    "JPEG(75)": every(lambda: A.ImageCompression(quality_range=(75, 75), p=1)),
}
