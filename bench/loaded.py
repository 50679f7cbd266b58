"""What bench.loading times: images on their way to a training loop, and what is asked of each row."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from bench.case import OURS, REFERENCE, Goal
from bench.cases import cropped, pipeline_p
from bench.encoded import HEIGHT, WIDTH, decoded_p, jpeg
from bench.images import PHOTOGRAPHS, TILES, Pixels, photographs, read, scaled, windows

#: Columns: how a library is used (bench.loaders.WAYS).
IN_TORCHS, ONE_THREAD, ONE_CALL = "fastaug in torch's DataLoader", "fastaug, 1 thread", "fastaug, one call"
TORCHVISION_6, OURS_6 = "torchvision, 6 workers", "fastaug, 6 workers"
TORCHVISION_NPY, LIMIT = "torchvision, .npy", "limit"

#: Figures of one epoch: processor time of the process and its children; from the first `iter` on, time until the
#: first batch and until the end; time that drawing took in `next`; processor time of the training loop's thread alone,
#: which bounds what one process can load, however many threads or workers it has.
CPU, FIRST, WALL, DRAWING = "CPU ms an image", "first batch, ms", "ms an image", "drawing, us an image"
CALLING = "calling thread, us an image"
#: With more cores: with CORES of them simulated (bench.simulated), and with others computed, as processor time over the
#: cores, or the calling thread's time if that is more.
SIMULATED, CORES = "16 cores, us an image", 16
COMPUTED = {"32 cores, computed, us an image": 32, "64 cores, computed, us an image": 64}
#: And of a process of its own: what it and its children hold in an epoch and did not hold before it.
MEMORY = "memory, MB"

Goals = tuple[tuple[str, Goal], ...]


@dataclass(frozen=True)
class LoadedCase:
    """Some rows of the table, one for each figure.

    `kind` is what images are read from, and `steps` what is made of them, with the module `torchvision.transforms` or
    one with the same names. `images` are those of an epoch; of a column that is in `lengths`, so many. `limit` is the
    most of the only figure.
    """

    name: str
    kind: Literal["tiles", "bags", "map", "folder", "rows", "pairs"]
    files: Literal["tiles", "small tiles", "jpeg", "jpeg tiles", "small jpeg", "png", "npy"]
    columns: tuple[str, ...]
    images: int
    batch: int
    figures: dict[str, Goals]
    steps: Callable[[Any], Any] | None = None
    lengths: dict[str, int] = field(default_factory=dict)
    limit: float | None = None


@dataclass(frozen=True)
class Measured:
    """One row: a figure of a case."""

    case: LoadedCase
    figure: str

    @property
    def name(self) -> str:
        return f"{self.case.name}: {self.figure}"

    def goals(self, label: str, isa: str) -> list[Goal]:
        return [goal for name, goal in self.case.figures[self.figure] if name == label]

    def described(self) -> dict[str, Any]:
        goals = [{"column": label, **dataclasses.asdict(goal)} for label, goal in self.case.figures[self.figure]]
        return {"figure": self.figure, "goals": goals}


def at_least(ratio: float, against: str | None = REFERENCE, label: str = OURS) -> Goals:
    return ((label, Goal(ratio, against)),)


def padded(T: Any) -> Any:
    steps = [T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.25] * 3)]
    return T.Compose(steps)


def padded_arrays(T: Any) -> Any:
    return T.Compose([T.ToPILImage(), *padded(T).transforms])


P = partial(pipeline_p, size=512, rotation="nearest")

CASES = (
    LoadedCase(
        "bag of 256 tiles, P 512, batches of 32",
        "tiles",
        "tiles",
        (REFERENCE, OURS, ONE_THREAD, IN_TORCHS),
        256,
        32,
        {CPU: at_least(12), WALL: at_least(1.9, ONE_THREAD), FIRST: ()},
        P,
    ),
    LoadedCase(
        "bag of 256 tiles, P 512, as one item",
        "bags",
        "tiles",
        (REFERENCE, OURS, IN_TORCHS),
        512,
        256,
        {CPU: (), WALL: at_least(25), FIRST: ()},
        P,
    ),
    LoadedCase(
        "stream of tiles, P 512: map",
        "map",
        "tiles",
        (REFERENCE, OURS, ONE_CALL),
        8,
        1,
        {FIRST: at_least(1 / 3, ONE_CALL)},
        P,
    ),
    LoadedCase(
        "JPEG folder, ImageNet train 224, batches of 64",
        "folder",
        "jpeg",
        (REFERENCE, OURS, IN_TORCHS, TORCHVISION_6, OURS_6),
        1024,
        64,
        {
            CPU: at_least(3),
            WALL: (),
            FIRST: at_least(4),
            CALLING: at_least(5),
            MEMORY: at_least(1 / 0.7) + at_least(1 / 0.4, TORCHVISION_6, OURS_6) + at_least(0.95, OURS, OURS_6),
        },
        partial(cropped, size=224),
    ),
    LoadedCase(
        "JPEG tiles, P 512, batches of 32",
        "folder",
        "jpeg tiles",
        (LIMIT, OURS, ONE_THREAD),
        256,
        32,
        {DRAWING: at_least(1, LIMIT)},
        decoded_p,
        limit=30.0,
    ),
    LoadedCase(
        "JPEG folder of 32x32, CIFAR train, batches of 128",
        "folder",
        "small jpeg",
        (REFERENCE, OURS, ONE_THREAD, IN_TORCHS),
        8192,
        128,
        {CPU: at_least(15), CALLING: at_least(2), WALL: (), FIRST: ()},
        padded,
    ),
    LoadedCase(
        "arrays of 32x32, CIFAR train, batches of 128",
        "tiles",
        "small tiles",
        (REFERENCE, OURS, ONE_THREAD, IN_TORCHS),
        8192,
        128,
        {CPU: at_least(30), CALLING: at_least(2), WALL: ()},
        padded_arrays,
    ),
    LoadedCase(
        "CIFAR10 in memory, train, batches of 128",
        "rows",
        "small tiles",
        (REFERENCE, OURS, ONE_THREAD, IN_TORCHS),
        8192,
        128,
        {CPU: at_least(15), CALLING: at_least(2), WALL: ()},
        padded,
    ),
    LoadedCase(
        "pairs 2040x1356 in PNG, crop 48 of half the size, batches of 16",
        "pairs",
        "png",
        (REFERENCE, OURS, IN_TORCHS),
        64,
        16,
        {CPU: at_least(5), WALL: (), FIRST: ()},
    ),
    LoadedCase(
        "pairs 2040x1356 in .npy (torchvision: PNG), crop 48 of half the size, batches of 16",
        "pairs",
        "npy",
        (REFERENCE, OURS, IN_TORCHS, TORCHVISION_NPY),
        4096,
        16,
        {CPU: at_least(100), WALL: (), FIRST: ()},
        lengths={REFERENCE: 64},
    ),
)

MANY_CORES = tuple(
    dataclasses.replace(
        case,
        name=f"{case.name}, many cores",
        columns=(REFERENCE, OURS),
        figures={CALLING: (), SIMULATED: (), **dict.fromkeys(COMPUTED, ())},
    )
    for case in CASES
    if case.kind in ("folder", "rows") and case.files != "jpeg tiles"
)
CASES += MANY_CORES
BY_NAME = {case.name: case for case in CASES}

#: How many different tiles there are; of a bag that is larger, some come again.
DISTINCT = 64


@dataclass(frozen=True)
class Pictures:
    """What files are made of: the photographs of `own`, or scikit-image's.

    Of the user's, tiles and pairs take those that are large enough, and the folder of JPEG files takes such files as
    they are, those of up to 1000 pixels; all if there are none.
    """

    own: Path | None

    def _paths(self) -> list[Path]:
        assert self.own is not None
        return sorted(path for path in self.own.rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg"))

    def _own(self, height: int, width: int) -> list[Pixels]:
        found = [read(path) for path in self._paths()]
        large = [pixels for pixels in found if sorted(pixels.shape[:2]) >= sorted((height, width))]
        return [one for one in large if min(one.shape[:2]) >= min(height, width)] or found

    def tiles(self, side: int = 1024) -> Pixels:
        pictures = photographs("tile1024", TILES) if self.own is None else self._own(1024, 1024)
        return windows(pictures, DISTINCT, side, side)

    def pairs(self) -> list[tuple[Pixels, Pixels]]:
        """Of low and of high resolution."""
        found = photographs("d2k", PHOTOGRAPHS) if self.own is None else self._own(HEIGHT, WIDTH)
        pairs = []
        for high in scaled(found[:6], HEIGHT, WIDTH):
            low = Image.fromarray(high).resize((WIDTH // 2, HEIGHT // 2), Image.Resampling.BICUBIC)
            pairs.append((np.asarray(low), high))
        return pairs

    def jpegs(self) -> list[bytes]:
        if self.own is None:
            return [jpeg(pixels, 95) for pixels in scaled(photographs("in500", PHOTOGRAPHS), 375, 500)]
        paths = [path for path in self._paths() if path.suffix.lower() != ".png"]
        small = [path for path in paths if max(Image.open(path).size) <= 1000]
        return [path.read_bytes() for path in small or paths]


def store(files: str, pictures: Pictures, folder: Path) -> Path:
    """The folder of what a case reads."""
    place = folder / files.replace(" ", "-")
    if place.exists():
        return place
    place.mkdir()
    side = 32 if files.startswith("small") else 1024
    if files.endswith("tiles") and not files.startswith("jpeg"):
        np.save(place / "tiles.npy", pictures.tiles(side))
    elif "jpeg" in files:
        encoded = pictures.jpegs() if files == "jpeg" else [jpeg(tile) for tile in pictures.tiles(side)]
        for number, data in enumerate(encoded):
            label = place / str(number % 4)
            label.mkdir(exist_ok=True)
            (label / f"{number:04}.jpg").write_bytes(data)
    else:
        # torchvision reads PNG files wherever it is asked for pairs.
        for name, index in (("low", 0), ("high", 1)):
            (place / name).mkdir()
            for number, pair in enumerate(pictures.pairs()):
                Image.fromarray(pair[index]).save(place / name / f"{number}.png")
                if files == "npy":
                    np.save(place / name / f"{number}.npy", pair[index])
    return place
