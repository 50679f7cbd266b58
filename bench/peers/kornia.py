"""kornia-rs: HWC uint8 arrays in, arrays out. Rotation about the centre is bilinear only."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from kornia_rs import augmentations, imgproc
from kornia_rs.image import Image
from numpy.typing import NDArray

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, Transform
from bench.peers import P_RATIO, P_SCALE, RATIO, SCALE, around, crop_box

Pixels = NDArray[np.uint8]


def cropped(image: Image, scale: tuple[float, float], ratio: tuple[float, float]) -> Image:
    height, width = image.shape[:2]
    top, left, h, w = crop_box(height, width, scale, ratio)
    return image.crop(left, top, w, h)


def flipped(image: Image) -> Image:
    return image.flip_horizontal() if random.random() < 0.5 else image


def tensor(image: Image, size: int, mean: tuple[float, ...], std: tuple[float, ...]) -> Any:
    return image.resize_normalize_to_tensor(size, size, mean, std).numpy()


def p_bilinear(size: int) -> Transform:
    jitter = augmentations.ColorJitter(0.2, 0.1, 0.05, 0.02)

    def run(tile: Pixels) -> Any:
        image = cropped(Image(tile).rotate(around(0, 25)), P_SCALE, P_RATIO).resize(1024, 1024).resize(size, size)
        image = flipped(image)
        image = image.flip_vertical() if random.random() < 0.5 else image
        return tensor(jitter(image), size, HALF, HALF)

    return run


def crop_train(size: int) -> Transform:
    return lambda tile: tensor(flipped(cropped(Image(tile), SCALE, RATIO)), size, IMAGENET_MEAN, IMAGENET_STD)


def imagenet_eval() -> Transform:
    def run(tile: Pixels) -> Any:
        image = Image(tile)
        height, width = image.shape[:2]
        factor = 256 / min(height, width)
        image = image.resize(round(width * factor), round(height * factor))
        height, width = image.shape[:2]
        image = image.crop((width - 224) // 2, (height - 224) // 2, 224, 224)
        return tensor(image, 224, IMAGENET_MEAN, IMAGENET_STD)

    return run


def patch(size: int) -> Transform:
    def run(tile: Pixels) -> Any:
        top, left = random.randint(0, tile.shape[0] - size), random.randint(0, tile.shape[1] - size)
        return tensor(Image(tile).crop(left, top, size, size), size, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

    return run


def always(run: Transform) -> Callable[[], Transform]:
    return lambda: run


def resize(size: int, name: str) -> Callable[[], Transform]:
    return lambda: lambda tile: imgproc.resize(tile, (size, size), name)


def jitter() -> Transform:
    run = augmentations.ColorJitter(0.4, 0.4, 0.4, 0.1)
    return lambda tile: run(Image(tile)).numpy()


TABLE: dict[str, Callable[[], Transform]] = {
    "P, 512, rotation bilinear": lambda: p_bilinear(512),
    "P, 224, rotation bilinear": lambda: p_bilinear(224),
    "ImageNet train, 500x375 to 224": lambda: crop_train(224),
    "ImageNet eval, 500x375 to 224": imagenet_eval,
    "super-resolution crop 96 of 2040x1356": lambda: patch(96),
    "super-resolution crop 48 of 2040x1356": lambda: patch(48),
    "segmentation, 1024x1024 to 512": lambda: crop_train(512),
    "CenterCrop(224)": always(lambda tile: imgproc.crop(tile, 144, 144, 224, 224)),
    "Resize(256), nearest": resize(256, "nearest"),
    "Resize(256), bilinear": resize(256, "bilinear"),
    "Resize(256), bicubic": resize(256, "bicubic"),
    "Resize(256), lanczos": resize(256, "lanczos"),
    "Resize(1024), bilinear": resize(1024, "bilinear"),
    "RandomHorizontalFlip(1)": always(imgproc.horizontal_flip),
    "RandomVerticalFlip(1)": always(imgproc.vertical_flip),
    "rotate(17), bilinear": always(lambda tile: Image(tile).rotate(17.3).numpy()),
    "adjust_brightness": always(lambda tile: imgproc.adjust_brightness(tile, 0.13)),
    "adjust_contrast": always(lambda tile: Image(tile).adjust_contrast(1.13).numpy()),
    "adjust_saturation": always(lambda tile: Image(tile).adjust_saturation(1.13).numpy()),
    "adjust_hue": always(lambda tile: Image(tile).adjust_hue(0.05).numpy()),
    "ColorJitter(0.4, 0.4, 0.4, 0.1)": jitter,
    "Grayscale()": always(imgproc.gray_from_rgb),
    "ToTensor() and Normalize": always(lambda tile: tensor(Image(tile), 512, IMAGENET_MEAN, IMAGENET_STD)),
}


def every(run: Transform) -> Callable[[Any], Transform]:
    """The same for images of all sides."""
    return lambda case: run


def window(start: Callable[[int], int]) -> Callable[[Any], Transform]:
    """Of half the side."""

    def build(case: Any) -> Transform:
        half, first = case.side // 2, start(case.side)
        return lambda tile: imgproc.crop(tile, first, first, half, half)

    return build


def sized(share: float, name: str) -> Callable[[Any], Transform]:
    return lambda case: lambda tile: imgproc.resize(tile, (int(case.side * share),) * 2, name)


#: By the operation of a row of `bench.single`, which they get.
SINGLE: dict[str, Callable[[Any], Transform]] = {
    "hflip": every(imgproc.horizontal_flip),
    "RandomHorizontalFlip(1)": every(imgproc.horizontal_flip),
    "vflip": every(imgproc.vertical_flip),
    "CenterCrop": window(lambda side: (side - side // 2) // 2),
    "crop": window(lambda side: side // 4),
    **{
        f"resize to {word}, {name}": sized(share, name)
        for word, share in (("7/16", 7 / 16), ("1/8", 1 / 8), ("3/2", 3 / 2))
        for name in ("nearest", "bilinear", "bicubic")
    },
    "rotate, bilinear": every(lambda tile: Image(tile).rotate(17.3).numpy()),
    **{
        f"blur by {side}": every(lambda tile, side=side, by=by: imgproc.gaussian_blur(tile, (side, side), (by, by)))
        for side, by in ((3, 1.2), (9, 1.2), (23, 2.0))
    },
    "brightness": every(lambda tile: imgproc.adjust_brightness(tile, 0.13)),
    "contrast": every(lambda tile: Image(tile).adjust_contrast(1.13).numpy()),
    "saturation": every(lambda tile: Image(tile).adjust_saturation(1.13).numpy()),
    "hue": every(lambda tile: Image(tile).adjust_hue(0.05).numpy()),
    "Grayscale(1)": every(imgproc.gray_from_rgb),
    "ToTensor": lambda case: lambda tile: tensor(Image(tile), case.side, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
}
