"""The pictures that are timed: real photographs, cut to the sizes of the cases.

Where a folder `../shared/images` lies beside the checkout its photographs are used (`tile1024`, `in500`, `d2k`),
otherwise those inside scikit-image's package.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]

SHARED = Path(__file__).resolve().parents[2] / "shared" / "images"
TILES = ("ihc.png", "retina.jpg")
PHOTOGRAPHS = ("astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg", "retina.jpg")


def mirrored_window(picture: Pixels, top: int, left: int, height: int, width: int) -> Pixels:
    """A window of the plane that `picture` and its mirror images tile."""

    def index(start: int, count: int, size: int) -> NDArray[np.int64]:
        position = np.arange(start, start + count) % (2 * size)
        return np.where(position < size, position, 2 * size - 1 - position)

    rows, columns = index(top, height, picture.shape[0]), index(left, width, picture.shape[1])
    return np.ascontiguousarray(picture[rows[:, None], columns[None, :]])


def read(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.array(image.convert("RGB"))


def photographs(folder: str, names: tuple[str, ...]) -> list[Pixels]:
    """The photographs of a shared folder, or the named ones of scikit-image."""
    shared = sorted((SHARED / folder).glob("*.jpg"))
    if shared:
        return [read(path) for path in shared]
    import skimage

    data = Path(skimage.__file__).parent / "data"
    return [read(data / name) for name in names]


def windows(pictures: list[Pixels], count: int, height: int, width: int) -> Pixels:
    """`count` distinct windows, the pictures in turn, as one N x height x width x 3 array."""
    generator = np.random.default_rng(0)
    corners = generator.integers(0, 4096, (count, 2)).tolist()
    return np.stack(
        [mirrored_window(pictures[i % len(pictures)], y, x, height, width) for i, (y, x) in enumerate(corners)]
    )


def scaled(pictures: list[Pixels], height: int, width: int) -> list[Pixels]:
    """Each picture (turned to landscape) fitted to height x width; the surplus is cut off the sides."""
    fitted = []
    for picture in pictures:
        image = Image.fromarray(picture if picture.shape[1] >= picture.shape[0] else np.rot90(picture).copy())
        factor = max(height / image.height, width / image.width)
        size = (max(width, round(image.width * factor)), max(height, round(image.height * factor)))
        image = image.resize(size, Image.Resampling.LANCZOS)
        left, top = (image.width - width) // 2, (image.height - height) // 2
        fitted.append(np.array(image.crop((left, top, left + width, top + height))))
    return fitted


# Every bag but the smallest is larger than a last-level cache, so that an image is cold when its turn comes.
BAGS: dict[str, Callable[[], Pixels]] = {
    "tiles 1024x1024": lambda: windows(photographs("tile1024", TILES), 64, 1024, 1024),
    "photographs 500x375": lambda: windows(scaled(photographs("in500", PHOTOGRAPHS), 375, 500), 96, 375, 500),
    "photographs 2040x1356": lambda: windows(scaled(photographs("d2k", PHOTOGRAPHS), 1356, 2040), 12, 1356, 2040),
    "photographs 640x480": lambda: windows(scaled(photographs("in500", PHOTOGRAPHS), 480, 640), 48, 480, 640),
    "frames 320x240": lambda: windows(photographs("in500", PHOTOGRAPHS), 16, 240, 320),
    "images 224x224": lambda: windows(photographs("in500", PHOTOGRAPHS), 512, 224, 224),
    **{
        f"images {side}x{side}": partial(lambda side: windows(photographs("in500", PHOTOGRAPHS), 16, side, side), side)
        for side in (1, 8, 32, 64)
    },
    "images 512x512": lambda: windows(photographs("in500", PHOTOGRAPHS), 96, 512, 512),
}


def bag_file(name: str, folder: Path) -> Path:
    """The file of a bag in this folder, written if it is not there."""
    path = folder / (name.replace(" ", "-") + ".npy")
    if not path.exists():
        np.save(path, BAGS[name]())
    return path
