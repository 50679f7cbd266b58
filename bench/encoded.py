"""What bench.decode times: encoded images, and what is made of them."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from bench.case import FASTEST, OURS, Goal
from bench.cases import cropped, patch, pipeline_p
from bench.images import PHOTOGRAPHS, SHARED, TILES, Pixels, photographs, scaled, windows

REFERENCE = "Pillow"
TWO_THREADS = "fastaug, 2 threads"
BY_REGION, CODES = "libjpeg-turbo by region", "codes alone"

#: Of the large images, and the rows of a region of theirs.
HEIGHT, WIDTH, REGION_ROWS = 1356, 2040, 256
FILES = 1000


@dataclass(frozen=True)
class EncodedCase:
    """One row of the table.

    `makes` "array": the whole image, HWC uint8; "rows": REGION_ROWS full rows of it, from a random one on; "tensor":
    what the Compose of `steps` makes of it, which get the module `torchvision.transforms` or one with the same names;
    "arrays": as "array", of a list of files in one call. `asked` are goals by the label of a column.
    """

    name: str
    bag: str
    makes: Literal["array", "rows", "tensor", "arrays"] = "array"
    steps: Callable[[Any], Any] | None = None
    asked: tuple[tuple[str, Goal], ...] = ()

    @property
    def format(self) -> str:
        return self.bag.split()[0]

    @property
    def peers(self) -> str | None:
        """The name of the steps in the modules of `bench.peers` that have them, which take their keywords."""
        return self.steps.func.__name__ if isinstance(self.steps, partial) else None

    def compose(self, T: Any) -> Any:
        assert self.steps is not None
        return self.steps(T)

    def goals(self, label: str, isa: str) -> list[Goal]:
        return [goal for name, goal in self.asked if name == label]

    def described(self) -> dict[str, Any]:
        return {"goals": [{"column": label, **dataclasses.asdict(goal)} for label, goal in self.asked]}


def decoded_p(T: Any) -> Any:
    """Pipeline P behind a decoder, which makes an image already."""
    steps: Any = pipeline_p(T, 512, "nearest")
    return T.Compose(steps.transforms[1:])


def ours(*goals: tuple[float, str]) -> tuple[tuple[str, Goal], ...]:
    return tuple((OURS, Goal(least, against)) for least, against in goals)


CASES = (
    EncodedCase("JPEG 500 pixels, whole", "JPEG 500", asked=ours((1.4, FASTEST))),
    EncodedCase("JPEG 1024x1024, whole", "JPEG 1024x1024", asked=ours((1.35, FASTEST))),
    EncodedCase("JPEG 2040x1356, whole", "JPEG 2040x1356", asked=ours((1.4, FASTEST))),
    EncodedCase(
        "JPEG 500 pixels, ImageNet train to 224",
        "JPEG 500",
        "tensor",
        partial(cropped, size=224),
        ours((4, "torchvision"), (5, "Pillow"), (1, BY_REGION)),
    ),
    EncodedCase(
        "JPEG 1024x1024, crop 224",
        "JPEG 1024x1024",
        "tensor",
        partial(patch, size=224),
        ours((4, "torchvision"), (4, "Pillow"), (1, BY_REGION)),
    ),
    EncodedCase("JPEG 1024x1024, P, 512, rotation nearest", "JPEG 1024x1024 windows", "tensor", decoded_p),
    EncodedCase("PNG 2040x1356, whole", "PNG 2040x1356", asked=ours((3, "Pillow"), (1.9, FASTEST))),
    EncodedCase("PNG 2040x1356, 256 of 1356 rows", "PNG 2040x1356", "rows", asked=ours((6, "Pillow"))),
    EncodedCase("PNG 256x256, whole", "PNG 256x256"),
    EncodedCase("PNG 2040x1356, crop 96", "PNG 2040x1356", "tensor", partial(patch, size=96)),
    EncodedCase(
        f"{FILES} JPEG files, 500 pixels",
        "JPEG files",
        "arrays",
        asked=((TWO_THREADS, Goal(1.9, OURS)),),
    ),
)
BY_NAME = {case.name: case for case in CASES}


def jpeg(pixels: Pixels, quality: int = 90) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return file.getvalue()


def png(pixels: Pixels) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def stored(folder: str, size: tuple[int, int] | None = None) -> list[bytes]:
    """The JPEG files of a shared folder, those of one size (height, width) if it is given; none without the folder."""
    found = []
    for path in sorted((SHARED / folder).glob("*.jpg")):
        with Image.open(path) as image:
            if size is None or image.size == size[::-1]:
                found.append(path.read_bytes())
    return found


@cache
def photographs_500() -> list[bytes]:
    return stored("in500") or [jpeg(pixels, 95) for pixels in scaled(photographs("in500", PHOTOGRAPHS), 375, 500)]


@cache
def photographs_2040() -> list[Pixels]:
    return scaled(photographs("d2k", PHOTOGRAPHS), HEIGHT, WIDTH)


def tiles(count: int) -> list[Pixels]:
    return list(windows(photographs("tile1024", TILES), count, 1024, 1024))


# Encoded as they come; where there is no shared folder, by Pillow.
BAGS: dict[str, Callable[[], list[bytes]]] = {
    "JPEG 500": photographs_500,
    "JPEG 1024x1024": lambda: stored("tile1024", (1024, 1024)) or [jpeg(tile) for tile in tiles(4)],
    "JPEG 2040x1356": lambda: stored("d2k", (HEIGHT, WIDTH)) or [jpeg(pixels, 92) for pixels in photographs_2040()],
    "JPEG 1024x1024 windows": lambda: [jpeg(tile) for tile in tiles(32)],
    "PNG 2040x1356": lambda: [png(pixels) for pixels in photographs_2040()],
    "PNG 256x256": lambda: [png(pixels) for pixels in windows(photographs_2040(), 64, 256, 256)],
    "JPEG files": lambda: (photographs_500() * FILES)[:FILES],
}


def bag_file(case: EncodedCase, folder: Path) -> tuple[Path, int]:
    """A pickled list of the images' bytes, or of the lists of paths of their files; and how many results to compare."""
    path = folder / (case.bag.replace(" ", "-") + ".pickle")
    if not path.exists():
        images: list[Any] = BAGS[case.bag]()
        if case.makes == "arrays":
            names = [folder / f"{number:04}.jpg" for number in range(len(images))]
            for name, data in zip(names, images):
                name.write_bytes(data)
            images = [[str(name) for name in names]]
        path.write_bytes(pickle.dumps(images))
    return path, 12 if case.makes in ("rows", "tensor") else len(pickle.loads(path.read_bytes()))
