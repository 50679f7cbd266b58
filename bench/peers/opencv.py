"""OpenCV, step by step: HWC uint8 arrays in, arrays out."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, Transform
from bench.peers import P_RATIO, P_SCALE, RATIO, SCALE, around, crop_box

cv2.setNumThreads(1)

Pixels = NDArray[np.uint8]
Triple = tuple[float, float, float]
FILTERS = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "lanczos": cv2.INTER_LANCZOS4,
}
LEVELS = np.arange(256, dtype=np.float32)


def resized(image: Pixels, height: int, width: int) -> Pixels:
    # INTER_LINEAR does not filter before reducing; INTER_AREA is what OpenCV's manual advises there.
    reduces = height < image.shape[0]
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA if reduces else cv2.INTER_LINEAR)


def normalizer(mean: Triple, std: Triple) -> Transform:
    tables = [((LEVELS / 255 - m) / s).astype(np.float32) for m, s in zip(mean, std)]

    def run(image: Pixels) -> NDArray[np.float32]:
        result = np.empty((3, *image.shape[:2]), np.float32)
        for channel, table, plane in zip(cv2.split(image), tables, result):
            cv2.LUT(channel, table, plane)
        return result

    return run


def rotated(image: Pixels, angle: float, interpolation: int) -> Pixels:
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1)
    return cv2.warpAffine(image, matrix, (width, height), flags=interpolation)


def resized_crop(image: Pixels, size: int, scale: tuple[float, float], ratio: tuple[float, float]) -> Pixels:
    top, left, height, width = crop_box(image.shape[0], image.shape[1], scale, ratio)
    return resized(image[top : top + height, left : left + width], size, size)


def flipped(image: Pixels, axis: int) -> Pixels:
    return cv2.flip(image, axis) if random.random() < 0.5 else image


def gray3(image: Pixels) -> Pixels:
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def brightness(image: Pixels, factor: float) -> Pixels:
    return cv2.convertScaleAbs(image, alpha=factor)


def contrast(image: Pixels, factor: float) -> Pixels:
    mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
    return cv2.LUT(image, np.clip(LEVELS * factor + mean * (1 - factor), 0, 255).astype(np.uint8))


def saturation(image: Pixels, factor: float) -> Pixels:
    return cv2.addWeighted(image, factor, gray3(image), 1 - factor, 0)


def hue(image: Pixels, shift: float) -> Pixels:
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    tables = np.dstack([(LEVELS + round(shift * 180)) % 180, LEVELS, LEVELS]).astype(np.uint8)
    return cv2.cvtColor(cv2.LUT(hsv, tables), cv2.COLOR_HSV2RGB)


def jitter(image: Pixels, b: float, c: float, s: float, h: float) -> Pixels:
    steps = [(brightness, 1.0, b), (contrast, 1.0, c), (saturation, 1.0, s), (hue, 0.0, h)]
    random.shuffle(steps)
    for step, centre, extent in steps:
        image = step(image, around(centre, extent))
    return image


def pipeline_p(size: int, rotation: str) -> Transform:
    normalize = normalizer(HALF, HALF)

    def run(image: Pixels) -> Any:
        image = rotated(image, around(0, 25), FILTERS[rotation])
        image = resized(resized_crop(image, 1024, P_SCALE, P_RATIO), size, size)
        return normalize(jitter(flipped(flipped(image, 1), 0), 0.2, 0.1, 0.05, 0.02))

    return run


def cropped(size: int) -> Transform:
    normalize = normalizer(IMAGENET_MEAN, IMAGENET_STD)
    return lambda image: normalize(flipped(resized_crop(image, size, SCALE, RATIO), 1))


def imagenet_eval() -> Transform:
    normalize = normalizer(IMAGENET_MEAN, IMAGENET_STD)

    def run(image: Pixels) -> Any:
        factor = 256 / min(image.shape[:2])
        image = resized(image, round(image.shape[0] * factor), round(image.shape[1] * factor))
        top, left = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
        return normalize(image[top : top + 224, left : left + 224])

    return run


def patch(size: int) -> Transform:
    scale = normalizer((0, 0, 0), (1, 1, 1))

    def run(image: Pixels) -> Any:
        top, left = random.randint(0, image.shape[0] - size), random.randint(0, image.shape[1] - size)
        return scale(image[top : top + size, left : left + size])

    return run


def always(run: Transform) -> Callable[[], Transform]:
    return lambda: run


def resize(size: int, name: str) -> Callable[[], Transform]:
    return lambda: lambda image: cv2.resize(image, (size, size), interpolation=FILTERS[name])


def rotate(name: str) -> Callable[[], Transform]:
    return lambda: lambda image: rotated(image, 17.3, FILTERS[name])


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
    "Pad(32)": always(lambda image: cv2.copyMakeBorder(image, 32, 32, 32, 32, cv2.BORDER_CONSTANT)),
    "Pad(32, reflect)": always(lambda image: cv2.copyMakeBorder(image, 32, 32, 32, 32, cv2.BORDER_REFLECT_101)),
    "Resize(256), nearest": resize(256, "nearest"),
    "Resize(256), bilinear": always(lambda image: resized(image, 256, 256)),
    "Resize(256), bicubic": resize(256, "bicubic"),
    "Resize(256), lanczos": resize(256, "lanczos"),
    "Resize(1024), bilinear": resize(1024, "bilinear"),
    "RandomResizedCrop(224)": always(lambda image: resized_crop(image, 224, SCALE, RATIO)),
    "RandomHorizontalFlip(1)": always(lambda image: cv2.flip(image, 1)),
    "RandomVerticalFlip(1)": always(lambda image: cv2.flip(image, 0)),
    "rotate(90, expand)": always(lambda image: cv2.rotate(image, cv2.ROTATE_90_COUNTERCLOCKWISE)),
    **{f"rotate(17), {name}": rotate(name) for name in ("nearest", "bilinear", "bicubic")},
    "adjust_brightness": always(lambda image: brightness(image, 1.13)),
    "adjust_contrast": always(lambda image: contrast(image, 1.13)),
    "adjust_saturation": always(lambda image: saturation(image, 1.13)),
    "adjust_hue": always(lambda image: hue(image, 0.05)),
    "ColorJitter(0.4, 0.4, 0.4, 0.1)": always(lambda image: jitter(image, 0.4, 0.4, 0.4, 0.1)),
    "Grayscale()": always(lambda image: cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)),
    "Grayscale(3)": always(gray3),
    "ToTensor()": lambda: normalizer((0, 0, 0), (1, 1, 1)),
    "ToTensor() and Normalize": lambda: normalizer(IMAGENET_MEAN, IMAGENET_STD),
}


def cut(image: Pixels, top: int, left: int, height: int, width: int) -> Pixels:
    return image[top : top + height, left : left + width].copy()


def sized(share: float, name: str) -> Callable[[Any], Transform]:
    def build(case: Any) -> Transform:
        side = int(case.side * share)
        if name == "bilinear":
            return lambda image: resized(image, side, side)
        return lambda image: cv2.resize(image, (side, side), interpolation=FILTERS[name])

    return build


def affine(name: str) -> Callable[[Any], Transform]:
    """The matrix of `bench.single`'s row is near this one; what is done with it is the same work."""

    def build(case: Any) -> Transform:
        matrix = cv2.getRotationMatrix2D(((case.side - 1) / 2, (case.side - 1) / 2), -15.0, 1.1)
        return lambda image: cv2.warpAffine(image, matrix, image.shape[1::-1], flags=FILTERS[name])

    return build


def perspective(name: str) -> Callable[[Any], Transform]:
    def build(case: Any) -> Transform:
        given = case.corners()
        corners = [np.array(given[key], np.float32) for key in ("startpoints", "endpoints")]
        matrix = cv2.getPerspectiveTransform(*corners)
        return lambda image: cv2.warpPerspective(image, matrix, image.shape[1::-1], flags=FILTERS[name])

    return build


def blurred(side: int, sigma: float) -> Callable[[Any], Transform]:
    return every(lambda image: cv2.GaussianBlur(image, (side, side), sigma, borderType=cv2.BORDER_REFLECT_101))


def every(run: Transform) -> Callable[[Any], Transform]:
    """The same for images of all sides."""
    return lambda case: run


def window(case: Any) -> Transform:
    """Of half the side, in the middle."""
    half, quarter = case.side // 2, (case.side - case.side // 2) // 2
    return lambda image: cut(image, quarter, quarter, half, half)


def through_jpeg(image: Pixels) -> Pixels:
    _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 75])
    return cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


#: By the operation of a row of `bench.single`, which they get.
SINGLE: dict[str, Callable[[Any], Transform]] = {
    "hflip": every(lambda image: cv2.flip(image, 1)),
    "RandomHorizontalFlip(1)": every(lambda image: cv2.flip(image, 1)),
    "vflip": every(lambda image: cv2.flip(image, 0)),
    "rotate by 90": every(lambda image: cv2.rotate(image, cv2.ROTATE_90_COUNTERCLOCKWISE)),
    "CenterCrop": window,
    "Pad(32)": every(lambda image: cv2.copyMakeBorder(image, 32, 32, 32, 32, cv2.BORDER_CONSTANT)),
    "Pad(16, reflect)": every(lambda image: cv2.copyMakeBorder(image, 16, 16, 16, 16, cv2.BORDER_REFLECT_101)),
    **{
        f"resize to {word}, {name}": sized(share, name)
        for word, share in (("7/16", 7 / 16), ("1/8", 1 / 8), ("3/2", 3 / 2))
        for name in ("nearest", "bilinear", "bicubic")
    },
    **{f"rotate, {name}": lambda case, name=name: rotate(name)() for name in ("nearest", "bilinear")},
    **{f"affine, {name}": affine(name) for name in ("nearest", "bilinear")},
    **{f"perspective, {name}": perspective(name) for name in ("nearest", "bilinear")},
    **{f"blur by {side}": blurred(side, sigma) for side, sigma in ((3, 1.2), (9, 1.2), (23, 2.0))},
    "brightness": every(lambda image: brightness(image, 1.13)),
    "contrast": every(lambda image: contrast(image, 1.13)),
    "saturation": every(lambda image: saturation(image, 1.13)),
    "hue": every(lambda image: hue(image, 0.05)),
    "gamma": every(lambda image: cv2.LUT(image, (255 * (LEVELS / 255) ** 1.7).astype(np.uint8))),
    "Grayscale(1)": every(lambda image: cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)),
    "Grayscale(3)": every(gray3),
    "RandomGrayscale(1)": every(gray3),
    "invert": every(cv2.bitwise_not),
    "ToTensor": lambda case: normalizer((0, 0, 0), (1, 1, 1)),
    "JPEG(75)": every(through_jpeg),
}
