"""soak_loader.py [MINUTES] [FIRST]: random epochs of fastaug.data.DataLoader, for as long as one likes.

Each has its data set, workers, threads and collation, images that fail and an end before its end; some are compared
with torch's loader, and processes are forked in the midst of batches. With each goes one of the data sets of
random_loaders.py, compared with torch's loader. Memory, threads and open files must not grow.
Stops at the fifth thing that is wrong; `soak_loader.py 0 NUMBER` runs one case again. Exits with 1 if there was any.
"""

from __future__ import annotations

import gc
import io
import random
import sys
import tarfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Dataset, Subset
from torchvision.datasets import CIFAR10, ImageFolder
from tqdm import tqdm

import fastaug.data
import fastaug.io
import fastaug.transforms as T
from support.images import PHOTOS, photo
from support.outcomes import seed_all, snapshot
from support.processes import end_workers

sys.path.insert(0, str(Path(__file__).parent))

from random_loaders import COUNT, difference
from soaking import ENOUGH, HANGS, RAISES, forked, grown, left_over, main, open_files, resident

#: Forks in a minute: a thousand in half an hour.
FORKS = 1000 / 30


def train(side: int, *steps: Any) -> Any:
    crop = T.RandomResizedCrop(side)
    return T.Compose([crop, T.RandomHorizontalFlip(), *steps, T.ColorJitter(0.2, 0.2), T.ToTensor()])


def inverted(image: Any) -> Any:
    """A callable that the loader does not know."""
    return image.point(lambda value: 255 - value)


def next_label(label: int) -> int:
    return label + int(torch.randint(100, ()))


class Arrays(Dataset[Any]):
    """Arrays, some of which cannot be had; each draws with the transforms alone, or by itself too."""

    def __init__(self, count: int, transform: Any, failing: int, own: bool = False) -> None:
        self.arrays = [np.asarray(photo(PHOTOS[k % 4], 90 + k, 120)) for k in range(4)]
        self.count, self.failing, self.own = count, failing, own
        self.transform = T.Compose([T.ToPILImage(), transform])

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if self.failing and index % self.failing == 3:
            raise LookupError(f"no {index}")
        sample = self.transform(self.arrays[index % 4])
        return (sample, random.random()) if self.own else (sample, index)


class Pairs(Dataset[Any]):
    """Pairs of mapped .npy files."""

    def __init__(self, folder: Path, count: int) -> None:
        self.pairs = list(zip(sorted(folder.glob("low*.npy")), sorted(folder.glob("high*.npy"))))
        self.count = count
        self.crop, self.tensor = fastaug.data.PairedRandomCrop(24, scale=2), T.ToTensor()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        low, high = self.crop([fastaug.io.lazy(path) for path in self.pairs[index % len(self.pairs)]])
        return self.tensor(low), self.tensor(high)


def in_memory(count: int, transform: Any, target_transform: Any) -> CIFAR10:
    """A data set of torchvision's, without its files."""
    data = CIFAR10.__new__(CIFAR10)
    data.data = np.stack([np.asarray(photo(PHOTOS[k % 4], 40, 48)) for k in range(count)])
    data.targets = list(range(count))
    data.transform, data.target_transform, data.transforms = transform, target_transform, None
    return data


def shards(folder: Path, transform: Any, target_transform: Any) -> fastaug.data.TarDataset:
    return fastaug.data.TarDataset(str(folder / "{0..1}.tar"), transform, target_transform)


def as_they_are(samples: Any) -> Any:
    return samples


def with_noise(samples: Any) -> Any:
    return [torch.utils.data.default_collate(samples), torch.rand(2)]


def write(folder: Path) -> None:
    """A folder of images, one of them broken, and pairs."""
    for number in range(24):
        place = folder / "images" / str(number % 3)
        place.mkdir(parents=True, exist_ok=True)
        photo(PHOTOS[number % 4], 130 + 11 * number, 300 - 7 * number).save(place / f"{number:02}.jpg", quality=90)
    broken = folder / "images" / "1" / "13.jpg"
    broken.write_bytes(broken.read_bytes()[:900])
    for number in range(2):
        with tarfile.open(folder / f"{number}.tar", "w") as tar:
            for path in sorted((folder / "images").rglob("*.jpg"))[number::2]:
                tar.add(path, path.name)
                label = tarfile.TarInfo(f"{path.stem}.cls")
                label.size = 1
                tar.addfile(label, io.BytesIO(path.parent.name.encode()))
    for number in range(3):
        high = np.asarray(photo(PHOTOS[number], 200, 240))
        np.save(folder / f"high{number}.npy", high)
        np.save(folder / f"low{number}.npy", high[::2, ::2])


@dataclass
class Case:
    """A data set, and the arguments of a loader; how many batches of how many epochs are taken."""

    number: int
    kind: str
    dataset: Any
    options: dict[str, Any]
    own: dict[str, Any]  # arguments that torch's has not
    epochs: int
    stop: int | None

    def __str__(self) -> str:
        arguments = {**self.options, **self.own}
        return f"loader {self.number}: {self.kind}, {arguments}, {self.epochs} epochs of {self.stop or 'all'} batches"


def drawn(number: int, folder: Path) -> Case:
    rng = random.Random(f"loader {number}")
    side, count = rng.choice([32, 96]), rng.choice([24, 48])
    failing = rng.choice([0, 0, 7])
    kinds = ["folder", "folder", "part", "callable", "arrays", "rows", "tar", "several", "pairs"]
    kind = rng.choice(kinds * 3 + ["draws"])
    dataset: Any
    if kind in ("folder", "part", "callable"):
        dataset = ImageFolder(str(folder / "images"), train(side, *([inverted] if kind == "callable" else [])))
        dataset.samples = [sample for sample in dataset.samples * 2 if failing or not sample[0].endswith("13.jpg")]
        if kind == "part":
            dataset.target_transform = rng.choice([None, float, next_label])
            dataset = Subset(dataset, rng.sample(range(len(dataset)), count - 4))
    elif kind == "rows":
        dataset = in_memory(count, train(side), rng.choice([None, None, float, next_label]))
    elif kind == "tar":
        dataset = shards(folder, train(side), rng.choice([None, float, next_label]))
    elif kind == "several":
        transform, change = train(side), rng.choice([None, float, next_label])
        parts = [in_memory(8, transform, change), shards(folder, transform, rng.choice([change, float]))]
        dataset = ConcatDataset([*parts, ImageFolder(str(folder / "images"), transform)])
    elif kind == "pairs":
        dataset = Pairs(folder, count)
    else:
        dataset = Arrays(count, train(side), failing, own=kind == "draws")
    workers = rng.choice([0, 1, 2, 3, 5])
    options = {
        "batch_size": rng.choice([1, 5, 16]),
        "shuffle": rng.random() < 0.6,
        "num_workers": workers,
        "drop_last": rng.random() < 0.3,
        "persistent_workers": workers > 0 and rng.random() < 0.4,
        "collate_fn": rng.choice([None, None, as_they_are, with_noise]),
    }
    own = {"num_threads": rng.choice([None, 1, 2, 4]), "rng": rng.choice(["torch", "torch", "sample"])}
    own["threads"] = rng.choice([None, True]) if kind != "draws" else None
    if not fastaug.data.DataLoader(dataset, **options, threads=own["threads"]).explain().threads:
        own["num_threads"] = None
    return Case(number, kind, dataset, options, own, rng.choice([1, 2]), rng.choice([None, None, 1, 2]))


def outcomes(case: Case, loader: Any, between: Callable[[Any], None]) -> list[Any]:
    """What each epoch gives, batch by batch, errors by their type; and where the generators are after it."""
    found: list[Any] = []
    for _ in range(case.epochs):
        iterator = iter(loader)
        taken = 0
        while case.stop is None or taken < case.stop:
            taken += 1
            try:
                batch = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                # torchvision's images fail where they are loaded, by other errors of that kind.
                found.append(OSError if isinstance(error, OSError) else type(error))
                continue
            found.append(snapshot(batch))
            del batch
            between(iterator)
        if not case.options["persistent_workers"]:
            end_workers(iterator)
        del iterator
        found.append((torch.get_rng_state().numpy().tobytes(), random.getstate()))
    end_workers(loader._iterator)
    return found


def run(case: Case, between: Callable[[Any], None]) -> list[Any]:
    seed_all(case.number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loader = fastaug.data.DataLoader(case.dataset, **case.options, **case.own)
        return outcomes(case, loader, between)


def compared(case: Case, found: list[Any]) -> str:
    """Whether another loader gives the same: torch's; where samples have seeds of their own, one of other workers."""
    seed_all(case.number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loader: Any
        if case.own["rng"] == "torch":
            loader = torch.utils.data.DataLoader(case.dataset, **case.options)
        else:
            options = {**case.options, "num_workers": 4 - case.options["num_workers"] // 2}
            options["persistent_workers"] = options["persistent_workers"] and options["num_workers"] > 0
            loader = fastaug.data.DataLoader(case.dataset, **options, threads=case.own["threads"], rng="sample")
        expected = outcomes(case, loader, lambda iterator: None)
    if found == expected:
        return ""
    differing = [number for number, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]]
    return f"{len(found)} and {len(expected)} outcomes, the first that differs is number {differing[:1]}"


class Forks:
    """Children that are forked in the midst of batches, as many as there are to be by now."""

    def __init__(self, folder: Path, wanted: int, seconds: float) -> None:
        self.done = 0
        self.wrong: list[str] = []
        self._wanted, self._seconds, self._start = wanted, seconds, time.monotonic()
        self._image = photo("coffee", 120, 150)
        self._dataset = Subset(ImageFolder(str(folder / "images"), train(32)), range(8))
        self._expected = self._image_result(), self._loader_result()

    def _image_result(self) -> Any:
        torch.manual_seed(5)
        return snapshot(train(48)(self._image))

    def _loader_result(self) -> Any:
        torch.manual_seed(5)
        return snapshot(list(fastaug.data.DataLoader(self._dataset, 3, True, num_workers=2, num_threads=2)))

    def __call__(self, iterator: Any) -> None:
        due = self._wanted * min(1.0, (time.monotonic() - self._start) / max(self._seconds, 1e-9))
        if self.done < due:
            self._fork(iterator)

    def _fork(self, iterator: Any) -> None:
        self.done += 1
        status = forked(lambda: self._child(iterator))
        if status:
            what = {HANGS: "hangs", 2: "has another result", 3: "goes on with its parent's iterator", RAISES: "raises"}
            self.wrong.append(f"child {self.done} {what.get(status, f'ends with {status}')}")

    def _child(self, iterator: Any) -> int:
        if self.done % 3 == 0 and type(iterator).__name__ == "ThreadsIter":
            try:
                next(iterator)
            except RuntimeError:
                return 0
            return 3
        if self.done % 2:
            return 0 if self._image_result() == self._expected[0] else 2
        return 0 if self._loader_result() == self._expected[1] else 2


def _difference(number: int, workers: int) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return difference(number, workers)


def soak(minutes: float, first: int, folder: Path) -> list[str]:
    """What is wrong; shows how far it is."""
    write(folder)
    seconds = 60 * minutes
    forks = Forks(folder, round(FORKS * minutes), seconds)
    # What processes leave open for all that come later is there before files are counted.
    run(drawn(first, folder), lambda iterator: None)
    _difference(0, 2)
    gc.collect()
    files, sizes, wrong, equal = open_files(), [], [], 0
    start, number = time.monotonic(), first
    with tqdm(total=round(seconds), unit="s", mininterval=1) as progress:
        while len(wrong) < ENOUGH and (number == first or time.monotonic() < start + seconds):
            case = drawn(number, folder)
            found = run(case, forks)
            shape = number % COUNT, number // COUNT % 4
            compare = number == first or number % 4 == 0
            texts = [compared(case, found) if compare else "", _difference(*shape)]
            # Tar files stay open as long as what reads them: the data set, and the last image of this thread.
            case.dataset = None
            _ = fastaug.io.lazy(folder / "images" / "0" / "00.jpg").size
            texts += [left_over(files), *forks.wrong]
            forks.wrong.clear()
            for text in filter(None, texts):
                wrong.append(f"{case}: {text}")
                tqdm.write(wrong[-1])
            equal += compare
            sizes.append(resident())
            number += 1
            progress.set_postfix(cases=number - first, equal=equal, forks=forks.done, MB=sizes[-1] // 10**6)
            progress.update(min(round(seconds), int(time.monotonic() - start)) - progress.n)
    if text := grown(sizes):
        wrong.append(text)
    print(
        f"{number - first} cases, {equal} compared, {forks.done} forks; memory {sizes[len(sizes) // 5] / 1e6:.0f} MB "
        f"after a fifth, {sizes[-1] / 1e6:.0f} MB at the end"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main(soak, 30.0))
