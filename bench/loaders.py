"""python -m bench.loaders COLUMN: one way to load images, in a process of its own, for bench.loading."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import hashlib
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import CIFAR10, ImageFolder
from torchvision.transforms import functional as TVF

import fastaug
import fastaug.data
import fastaug.io
import fastaug.transforms as T
from bench import loaded
from bench.case import OURS, REFERENCE
from bench.loaded import BY_NAME, CALLING, COMPUTED, CORES, CPU, DRAWING, FIRST, WALL, LoadedCase
from bench.simulated import steady, threads_wait, torchs
from bench.worker import serve

#: Seconds that a training loop takes, where memory is measured.
STEP = 0.2

# Of each simulated core, beyond those that are prepared ahead.
_BATCHES = 4


@dataclass(frozen=True)
class Way:
    """`own`: with this package's loaders and batches, in the place of torch's DataLoader."""

    package: Any
    own: bool
    workers: int = 2
    threads: int | None = None
    suffix: str = "png"


WAYS = {
    REFERENCE: Way(TV, own=False),
    OURS: Way(T, own=True, suffix="npy"),
    loaded.IN_TORCHS: Way(T, own=False, suffix="npy"),
    loaded.ONE_THREAD: Way(T, own=True, threads=1),
    loaded.ONE_CALL: Way(T, own=False),
    loaded.TORCHVISION_6: Way(TV, own=False, workers=6),
    loaded.OURS_6: Way(T, own=True, workers=6),
    loaded.TORCHVISION_NPY: Way(TV, own=False, suffix="npy"),
}


class Tiles(Dataset[Any]):
    """Tiles that lie in memory, or bags of them."""

    def __init__(self, tiles: list[Any], transform: Callable[[Any], Any]) -> None:
        self.tiles, self.transform = tiles, transform

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: int) -> Any:
        return self.transform(self.tiles[index])


class PillowCrop:
    """What fastaug.data.PairedRandomCrop is, of Pillow's images."""

    def __init__(self, size: int, scale: int) -> None:
        self.size, self.scale = size, scale

    def __call__(self, pair: tuple[Any, Any]) -> list[Any]:
        width, height = pair[0].size
        top, left = (int(torch.randint(0, side - self.size + 1, (1,))) for side in (height, width))
        turns = [float(torch.rand(1)) < 0.5 for _ in range(3)]
        patches = []
        for image, scale in zip(pair, (1, self.scale)):
            patch = TVF.crop(image, scale * top, scale * left, scale * self.size, scale * self.size)
            ways = (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.TRANSPOSE)
            for turned, way in zip(turns, ways):
                patch = patch.transpose(way) if turned else patch
            patches.append(patch)
        return patches


class Pairs(Dataset[Any]):
    """Pictures of low and of high resolution."""

    def __init__(self, folder: Path, count: int, way: Way) -> None:
        names = [sorted((folder / name).glob(f"*.{way.suffix}")) for name in ("low", "high")]
        self.pairs, self.count = list(zip(*names)), count
        if way.package is T:
            self.open: Callable[[Path], Any] = fastaug.io.lazy
            self.crop: Any = fastaug.data.PairedRandomCrop(48, scale=2)
        else:
            self.open = rows_of_npy if way.suffix == "npy" else rgb
            self.crop = ArrayCrop(48, 2) if way.suffix == "npy" else PillowCrop(48, 2)
        self.tensor = way.package.ToTensor()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        low, high = self.crop([self.open(path) for path in self.pairs[index % len(self.pairs)]])
        return self.tensor(low), self.tensor(high)


def rgb(path: Path) -> Image.Image:
    return Image.open(path).convert("RGB")


def rows_of_npy(path: Path) -> Any:
    return np.load(path, mmap_mode="r")


class ArrayCrop(PillowCrop):
    """The same of mapped arrays: whoever stores these cuts before there is an image."""

    def __call__(self, pair: tuple[Any, Any]) -> list[Any]:
        height, width = pair[0].shape[:2]
        top, left = (int(torch.randint(0, side - self.size + 1, (1,))) for side in (height, width))
        turns = [float(torch.rand(1)) < 0.5 for _ in range(3)]
        patches = []
        for pixels, scale in zip(pair, (1, self.scale)):
            patch = pixels[scale * top : scale * (top + self.size), scale * left : scale * (left + self.size)]
            ways: tuple[Callable[[Any], Any], ...] = (np.fliplr, np.flipud, lambda image: image.transpose(1, 0, 2))
            for turned, turn in zip(turns, ways):
                patch = turn(patch) if turned else patch
            patches.append(np.ascontiguousarray(patch))
        return patches


class Loading:
    """A case as one column does it."""

    def __init__(self, case: LoadedCase, way: Way, folder: Path, count: int) -> None:
        self.case, self.way, self.folder, self.count = case, way, folder, count
        self.transform = None if case.steps is None else case.steps(way.package)
        self.tiles = (
            list(np.load(folder / "tiles.npy")) if case.files.endswith("tiles") and case.kind != "folder" else []
        )
        self.loader: Any = None

    def epoch(self, count: int | None = None) -> Iterator[Any]:
        """The batches of an epoch of so many images; all by default."""
        make: Callable[[int], Iterator[Any]] = getattr(self, f"_{self.case.kind}")
        return make(self.count if count is None else count)

    def simulated(self, seconds: float) -> float:
        """Seconds that an image takes with CORES cores, of which each needs so many seconds for it."""
        count = max(self.count, 2 * CORES * self.case.batch * _BATCHES)
        if not self.way.own:
            images, _ = next(self.epoch(self.case.batch))
            return steady(torchs(count, self.case.batch, images.shape[1:], seconds, CORES))
        before, self.way = self.way, dataclasses.replace(self.way, workers=CORES, threads=CORES)
        try:
            with threads_wait(seconds):
                return steady(self.epoch(count))
        finally:
            self.way = before

    def loads(self, dataset: Dataset[Any], size: int | None, shuffle: bool = False) -> Iterator[Any]:
        kind: Any = fastaug.data.DataLoader if self.way.own else DataLoader
        # The data sets here keep the promise, which is asked for of those that are no folders.
        options: dict[str, Any] = {"threads": True} if self.way.own else {}
        if self.way.own and self.way.workers:
            options["num_threads"] = self.way.threads
        self.loader = kind(dataset, size, shuffle, num_workers=self.way.workers, **options)
        return iter(self.loader)

    def bag(self, count: int) -> list[Any]:
        return [self.tiles[number % len(self.tiles)] for number in range(count)]

    def several(self, tiles: list[Any]) -> Any:
        assert self.transform is not None
        if self.way.package is T:
            return self.transform.batch(tiles, num_threads=self.way.threads)
        return torch.stack([self.transform(tile) for tile in tiles])

    def _tiles(self, count: int) -> Iterator[Any]:
        bag, size = self.bag(count), self.case.batch
        if self.way.own:
            return (self.several(bag[start : start + size]) for start in range(0, count, size))
        assert self.transform is not None
        return self.loads(Tiles(bag, self.transform), size)

    def _bags(self, count: int) -> Iterator[Any]:
        bags = [self.bag(self.case.batch) for _ in range(0, count, self.case.batch)]
        if self.way.own:
            return map(self.several, bags)
        return self.loads(Tiles(bags, self.several), None)

    def _map(self, count: int) -> Iterator[Any]:
        assert self.transform is not None
        bag = self.bag(count)
        return iter(self.transform.map(bag)) if self.way.own else map(self.transform, bag)

    def _folder(self, count: int) -> Iterator[Any]:
        return self.loads(self._images(count), self.case.batch, shuffle=True)

    @functools.lru_cache(2)  # noqa: B019
    def _images(self, count: int) -> Any:
        """Return the data set, which is not made anew for each epoch."""
        if self.case.kind == "folder":
            folder = ImageFolder(str(self.folder), transform=self.transform)
            folder.samples = (folder.samples * -(-count // len(folder.samples)))[:count]
            return folder
        arrays = CIFAR10.__new__(CIFAR10)  # without its files
        arrays.data, arrays.targets = np.stack(self.bag(count)), [number % 10 for number in range(count)]
        arrays.transform, arrays.target_transform, arrays.transforms = self.transform, None, None
        return arrays

    def _rows(self, count: int) -> Iterator[Any]:
        return self.loads(self._images(count), self.case.batch, shuffle=True)

    def _pairs(self, count: int) -> Iterator[Any]:
        way = self.way if self.case.files == "npy" else Way(**{**vars(self.way), "suffix": "png"})
        return self.loads(Pairs(self.folder, count, way), self.case.batch, shuffle=True)

    def checked(self) -> Iterable[Any]:
        """What equals every other column's, after the same seed: some batches, or where workers have seeds, tiles."""
        if not self.tiles or self.case.kind == "rows":
            return self.epoch(min(self.count, 3 * self.case.batch))
        return [self.several(self.bag(6))]


def seconds() -> float:
    """Processor time of this process and of children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def family(pid: int) -> Iterator[int]:
    """The process, and all that come of it."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from family(int(child))


def held() -> int:
    """Bytes of memory that the process and its children hold; pages of files are the system's.

    Shared memory is that of all open files of it: batches that wait between two processes are mapped by neither.
    """
    private, mapped = 0, 0
    shared: dict[int, int] = {}
    for pid in family(os.getpid()):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        private, mapped = (
            total + 1024 * int(re.search(rf"^Pss_{kind}:\s+(\d+) kB$", text, re.MULTILINE)[1])  # type: ignore[index]
            for total, kind in ((private, "Anon"), (mapped, "Shmem"))
        )
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(descriptor).startswith("/dev/shm/"):
                    found = os.stat(descriptor)
                    shared[found.st_ino] = 512 * found.st_blocks
    return private + max(mapped, sum(shared.values()))


class Worker:
    """Answers bench.loading."""

    def __init__(self, column: str) -> None:
        torch.set_num_threads(1)
        self.column = column
        self.loading: Loading | None = None
        self.work = 0.0  # processor time of other threads and processes for an image of the last epoch, in seconds

    def hello(self) -> dict[str, Any]:
        return {"versions": {"isa": fastaug.isa(), "fastaug": fastaug.__version__}, "same_draws": True}

    def open(self, name: str, folder: Path) -> None:
        case = BY_NAME[name]
        self.loading = Loading(case, WAYS[self.column], folder, case.lengths.get(self.column, case.images))

    def result(self) -> str:
        assert self.loading is not None
        torch.manual_seed(0)
        digest = hashlib.sha256()
        for batch in self.loading.checked():
            for tensor in batch if isinstance(batch, list) else [batch]:
                digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode() + tensor.numpy().tobytes())
        return digest.hexdigest()

    def epoch(self, number: int) -> dict[str, float]:
        """What an epoch takes."""
        loading = self.loading
        assert loading is not None
        torch.manual_seed(number)
        gc.collect()
        used, here, start, first = seconds(), time.thread_time(), time.perf_counter(), 0.0
        batches = loading.epoch()
        for batch in batches:
            first = first or time.perf_counter() - start
            del batch
        wall = time.perf_counter() - start
        del batches
        here = time.thread_time() - here
        used = seconds() - used
        figures = {CPU: used / loading.count * 1e3, FIRST: first * 1e3, WALL: wall / loading.count * 1e3}
        figures[CALLING] = here / loading.count * 1e6
        self.work = (used - here) / loading.count
        for label, cores in COMPUTED.items():
            figures[label] = max(used / loading.count * 1e6 / cores, figures[CALLING])
        if isinstance(loading.loader, fastaug.data.DataLoader):
            report = loading.loader.profile()
            figures[DRAWING] = report.drawing / report.images * 1e6
        return figures

    def simulated(self) -> float:
        """Microseconds that an image takes with many cores, after an epoch."""
        assert self.loading is not None
        gc.collect()
        return 1e6 * self.loading.simulated(self.work)

    def memory(self) -> float:
        """Megabytes, the most of what is seen by a training loop that leaves time to load all that is loaded ahead."""
        loading = self.loading
        assert loading is not None
        gc.collect()
        idle, most = held(), 0
        for batch in loading.epoch(10 * loading.case.batch):
            time.sleep(STEP)
            most = max(most, held())
            del batch
        return (most - idle) / 1e6


if __name__ == "__main__":
    serve(partial(Worker, sys.argv[1]))
