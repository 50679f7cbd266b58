"""numpy: HWC uint8 arrays in, arrays of memory of their own out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.case import Transform

Pixels = NDArray[np.uint8]
LEVELS = np.arange(256)


def every(run: Transform) -> Callable[[Any], Transform]:
    """The same for images of all sides."""
    return lambda case: run


def window(start: Callable[[int], int]) -> Callable[[Any], Transform]:
    """Of half the side."""

    def build(case: Any) -> Transform:
        half, first = case.side // 2, start(case.side)
        return lambda image: image[first : first + half, first : first + half].copy()

    return build


def bordered(image: Pixels, width: int, **given: str) -> Any:
    return np.pad(image, [(width, width), (width, width), (0, 0)][: image.ndim], **given)  # type: ignore[call-overload]


def floats(image: Pixels) -> Any:
    planes = image.transpose(2, 0, 1) if image.ndim == 3 else image[None]
    return np.multiply(planes, np.float32(1 / 255), order="C")


#: By the operation of a row of `bench.single`, which they get.
SINGLE: dict[str, Callable[[Any], Transform]] = {
    "hflip": every(lambda image: image[:, ::-1].copy()),
    "RandomHorizontalFlip(1)": every(lambda image: image[:, ::-1].copy()),
    "vflip": every(lambda image: image[::-1].copy()),
    "rotate by 90": every(lambda image: np.rot90(image).copy()),
    "CenterCrop": window(lambda side: (side - side // 2) // 2),
    "crop": window(lambda side: side // 4),
    "Pad(32)": every(lambda image: bordered(image, 32)),
    "Pad(16, reflect)": every(lambda image: bordered(image, 16, mode="reflect")),
    "brightness": every(lambda image: np.take(np.clip(LEVELS * 1.13, 0, 255).astype(np.uint8), image)),
    "gamma": every(lambda image: np.take((255 * (LEVELS / 255) ** 1.7).astype(np.uint8), image)),
    "invert": every(np.invert),
    "posterize": every(lambda image: image & np.uint8(0xE0)),
    "solarize": every(lambda image: np.where(image < 128, image, ~image)),
    "ToTensor": every(floats),
    "PILToTensor": every(lambda image: image.transpose(2, 0, 1).copy()),
}
