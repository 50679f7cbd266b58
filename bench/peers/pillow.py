"""Pillow without torchvision: images in, images or float32 CHW arrays out."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, Transform
from bench.peers import P_RATIO, P_SCALE, RATIO, SCALE, around, crop_box

Triple = tuple[float, float, float]
BILINEAR = Image.Resampling.BILINEAR
ROTATIONS = {"nearest": Image.Resampling.NEAREST, "bilinear": BILINEAR, "bicubic": Image.Resampling.BICUBIC}


def normalized(image: Image.Image, mean: Triple, std: Triple) -> NDArray[np.float32]:
    array = np.asarray(image, np.float32).transpose(2, 0, 1)
    scale = np.float32(1 / 255) / np.asarray(std, np.float32)
    shift = np.asarray(mean, np.float32) / np.asarray(std, np.float32)
    return np.ascontiguousarray(array * scale[:, None, None] - shift[:, None, None])


def flipped(image: Image.Image, method: Image.Transpose) -> Image.Image:
    return image.transpose(method) if random.random() < 0.5 else image


def resized_crop(image: Image.Image, size: int, scale: tuple[float, float], ratio: tuple[float, float]) -> Image.Image:
    top, left, height, width = crop_box(image.height, image.width, scale, ratio)
    return image.resize((size, size), BILINEAR, box=(left, top, left + width, top + height))


def hue(image: Image.Image, shift: float) -> Image.Image:
    h, s, v = image.convert("HSV").split()
    turned = h.point([(value + int(shift * 255)) % 256 for value in range(256)])
    return Image.merge("HSV", (turned, s, v)).convert("RGB")


def jitter(image: Image.Image, brightness: float, contrast: float, saturation: float, turn: float) -> Image.Image:
    steps: list[Callable[[Image.Image], Image.Image]] = [
        lambda im: ImageEnhance.Brightness(im).enhance(around(1, brightness)),
        lambda im: ImageEnhance.Contrast(im).enhance(around(1, contrast)),
        lambda im: ImageEnhance.Color(im).enhance(around(1, saturation)),
        lambda im: hue(im, around(0, turn)),
    ]
    random.shuffle(steps)
    for step in steps:
        image = step(image)
    return image


def pipeline_p(size: int, rotation: str) -> Transform:
    def run(tile: NDArray[np.uint8]) -> Any:
        image = Image.fromarray(tile).rotate(around(0, 25), ROTATIONS[rotation])
        image = resized_crop(image, 1024, P_SCALE, P_RATIO).resize((size, size), BILINEAR)
        image = flipped(image, Image.Transpose.FLIP_LEFT_RIGHT)
        image = flipped(image, Image.Transpose.FLIP_TOP_BOTTOM)
        return normalized(jitter(image, 0.2, 0.1, 0.05, 0.02), HALF, HALF)

    return run


def cropped(size: int) -> Transform:
    def run(image: Image.Image) -> Any:
        image = flipped(resized_crop(image, size, SCALE, RATIO), Image.Transpose.FLIP_LEFT_RIGHT)
        return normalized(image, IMAGENET_MEAN, IMAGENET_STD)

    return run


def short_side(image: Image.Image, size: int, resample: Image.Resampling = BILINEAR) -> Image.Image:
    factor = size / min(image.size)
    return image.resize((round(image.width * factor), round(image.height * factor)), resample)


def imagenet_eval(image: Image.Image) -> Any:
    image = short_side(image, 256)
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    return normalized(image.crop((left, top, left + 224, top + 224)), IMAGENET_MEAN, IMAGENET_STD)


def patch(size: int) -> Transform:
    def run(image: Image.Image) -> Any:
        left, top = random.randint(0, image.width - size), random.randint(0, image.height - size)
        image = image.crop((left, top, left + size, top + size))
        return np.ascontiguousarray(np.asarray(image, np.float32).transpose(2, 0, 1) / np.float32(255))

    return run


def always(run: Transform) -> Callable[[], Transform]:
    return lambda: run


def resized(size: int, name: str) -> Callable[[], Transform]:
    resample = Image.Resampling[name.upper()]
    return lambda: lambda image: short_side(image, size, resample)


def rotated(name: str) -> Callable[[], Transform]:
    return lambda: lambda image: image.rotate(17.3, ROTATIONS[name])


TABLE: dict[str, Callable[[], Transform]] = {
    **{
        f"P, {size}, rotation {rotation}": partial(pipeline_p, size, rotation)
        for size in (512, 224)
        for rotation in ("nearest", "bilinear")
    },
    "ImageNet train, 500x375 to 224": lambda: cropped(224),
    "ImageNet eval, 500x375 to 224": always(imagenet_eval),
    "super-resolution crop 96 of 2040x1356": lambda: patch(96),
    "super-resolution crop 48 of 2040x1356": lambda: patch(48),
    "segmentation, 1024x1024 to 512": lambda: cropped(512),
    "CenterCrop(224)": always(lambda image: image.crop((144, 144, 368, 368))),
    "Pad(32)": always(lambda image: ImageOps.expand(image, 32)),
    **{
        f"Resize(256), {name}": resized(256, name)
        for name in ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")
    },
    "Resize(1024), bilinear": resized(1024, "bilinear"),
    "Resize(256), bilinear, RGBA": resized(256, "bilinear"),
    "RandomResizedCrop(224)": always(lambda image: resized_crop(image, 224, SCALE, RATIO)),
    "RandomHorizontalFlip(1)": always(lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)),
    "RandomVerticalFlip(1)": always(lambda image: image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)),
    "rotate(90, expand)": always(lambda image: image.transpose(Image.Transpose.ROTATE_90)),
    **{f"rotate(17), {name}": rotated(name) for name in ROTATIONS},
    "adjust_brightness": always(lambda image: ImageEnhance.Brightness(image).enhance(1.13)),
    "adjust_contrast": always(lambda image: ImageEnhance.Contrast(image).enhance(1.13)),
    "adjust_saturation": always(lambda image: ImageEnhance.Color(image).enhance(1.13)),
    "adjust_hue": always(lambda image: hue(image, 0.05)),
    "ColorJitter(0.4, 0.4, 0.4, 0.1)": always(lambda image: jitter(image, 0.4, 0.4, 0.4, 0.1)),
    "Grayscale()": always(lambda image: image.convert("L")),
    "Grayscale(3)": always(lambda image: image.convert("L").convert("RGB")),
    "ToPILImage()": always(Image.fromarray),
    "ToTensor() and Normalize": always(lambda image: normalized(image, IMAGENET_MEAN, IMAGENET_STD)),
}


def every(run: Transform) -> Callable[[Any], Transform]:
    """The same for images of all sides."""
    return lambda case: run


def window(case: Any) -> Transform:
    """Of half the side, in the middle."""
    half, quarter = case.side // 2, (case.side - case.side // 2) // 2
    return lambda image: image.crop((quarter, quarter, quarter + half, quarter + half))


def corner(case: Any) -> Transform:
    """Of half the side, a quarter in from the corner."""
    half, quarter = case.side // 2, case.side // 4
    return lambda image: image.crop((quarter, quarter, quarter + half, quarter + half))


def sized(share: float, name: str) -> Callable[[Any], Transform]:
    resample = Image.Resampling[name.upper()]
    return lambda case: lambda image: image.resize((int(case.side * share),) * 2, resample)


FLIPPED = every(lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
GRAY = every(lambda image: image.convert("L").convert("RGB"))
#: By the operation of a row of `bench.single`, where torchvision's is one call of these.
SINGLE: dict[str, Callable[[Any], Transform]] = {
    "hflip": FLIPPED,
    "RandomHorizontalFlip(1)": FLIPPED,
    "vflip": every(lambda image: image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)),
    "rotate by 90": every(lambda image: image.rotate(90, expand=True)),
    "CenterCrop": window,
    "crop": corner,
    "Pad(32)": every(lambda image: ImageOps.expand(image, 32)),
    **{
        f"resize to {word}, {name}": sized(share, name)
        for word, share in (("7/16", 7 / 16), ("1/8", 1 / 8), ("3/2", 3 / 2))
        for name in ("nearest", "bilinear", "bicubic", "box")
    },
    **{f"rotate, {name}": every(lambda image, by=ROTATIONS[name]: image.rotate(17.3, by)) for name in ROTATIONS},
    "sharpness": every(lambda image: ImageEnhance.Sharpness(image).enhance(1.5)),
    "brightness": every(lambda image: ImageEnhance.Brightness(image).enhance(1.13)),
    "contrast": every(lambda image: ImageEnhance.Contrast(image).enhance(1.13)),
    "saturation": every(lambda image: ImageEnhance.Color(image).enhance(1.13)),
    "Grayscale(1)": every(lambda image: image.convert("L")),
    "Grayscale(3)": GRAY,
    "RandomGrayscale(1)": GRAY,
    "invert": every(ImageOps.invert),
    "posterize": every(lambda image: ImageOps.posterize(image, 3)),
    "solarize": every(lambda image: ImageOps.solarize(image, 128)),
    "autocontrast": every(ImageOps.autocontrast),
    "equalize": every(ImageOps.equalize),
}
