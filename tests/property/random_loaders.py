"""Random data sets for loaders: of every shape, and with every way to draw. torch's loader says what they give."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, get_worker_info

import fastaug.data
import fastaug.transforms as T
from support.outcomes import numpy_state, seed_all, snapshot

#: Data sets, each with 0 to 3 workers.
COUNT = 150

WAYS = (
    "nothing",
    "torch",
    "python",
    "numpy",
    "some",
    "transforms",
    "fork_rng",
    "manual_seed",
    "initial_seed",
    "worker",
    "own torch",
    "own python",
    "own numpy",
    "counter",
    "cache",
    "later",
    "threads",
)


class Drawing:
    """A value for an index that is drawn in one of the ways."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.torch = torch.Generator().manual_seed(3)
        self.python, self.numpy = random.Random(3), np.random.default_rng(3)
        self.calls = 0
        self.kept: dict[int, float] = {}
        self.crop = T.Compose([T.RandomCrop(2), T.RandomHorizontalFlip()])

    def value(self, index: int) -> Any:
        self.calls += 1
        way = self.way
        if way == "torch" or (way == "some" and index % 5 == 3) or (way == "later" and self.calls > 4):
            return index + float(torch.rand(1))
        if way == "python":
            return index + random.random()
        if way == "numpy":
            return index + np.random.rand()  # noqa: NPY002
        if way == "transforms":
            return self.crop(torch.arange(64, dtype=torch.uint8).view(1, 8, 8)) + float(index)
        if way == "fork_rng":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(index)
                return index + float(torch.rand(1))
        if way == "manual_seed":
            torch.manual_seed(index)
            return index + float(torch.rand(1))
        if way == "initial_seed":
            return torch.tensor([torch.initial_seed(), index])
        if way == "worker":
            info = get_worker_info()
            return torch.tensor([-1, -1] if info is None else [info.id, info.seed])
        if way == "threads":
            return index + (0 if get_worker_info() is None else torch.get_num_threads())
        return index + self._own(index)

    def _own(self, index: int) -> float:
        if self.way == "own torch":
            return float(torch.rand(1, generator=self.torch))
        if self.way == "own python":
            return self.python.random()
        if self.way == "own numpy":
            return float(self.numpy.random())
        if self.way == "cache":
            return self.kept.setdefault(index % 3, random.random())
        return 100.0 * self.calls if self.way == "counter" else 0.0


class Mapped(Drawing, Dataset[Any]):
    def __init__(self, way: str, count: int) -> None:
        super().__init__(way)
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.value(index), index


class Together(Mapped):
    """Hands out the samples of a batch at once, and draws for all of them."""

    def __getitems__(self, indices: list[int]) -> Any:
        extra = random.random() if self.way == "python" else 0.0
        return [(self.value(index) + extra, index) for index in indices]


class Nested(Mapped):
    """Samples of dictionaries and lists."""

    def __getitem__(self, index: int) -> Any:
        return {"one": [self.value(index), str(index)], "two": {"three": (self.value(index), torch.tensor(index))}}


class Streamed(Drawing, IterableDataset[Any]):
    def __init__(self, way: str, count: int) -> None:
        super().__init__(way)
        self.count = count

    def __iter__(self) -> Any:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return (self.value(index) for index in range(first, self.count, step))


def mixing(samples: list[Any]) -> Any:
    return torch.utils.data.default_collate(samples), random.random(), torch.rand(2), np.random.rand()  # noqa: NPY002


def as_they_are(samples: Any) -> Any:
    return samples


def begin(way: str, number: int) -> None:
    """What a worker begins with: it changes its copy of the data set, or draws."""
    info = get_worker_info()
    if way == "change":
        inner: Any = info.dataset  # type: ignore[union-attr]
        while isinstance(inner, (Subset, ConcatDataset)):
            inner = inner.dataset if isinstance(inner, Subset) else inner.datasets[0]
        inner.calls = 1000 * number
    else:
        random.random()
        np.random.seed(number)  # noqa: NPY002


class GlobalBatches:
    """Batches of indices that are drawn one after the other, from Python's generator."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Any:
        return ([random.randrange(self.count) for _ in range(1 + number % 3)] for number in range(5))

    def __len__(self) -> int:
        return 5


def drawn(number: int, workers: int) -> tuple[Any, dict[str, Any]]:
    """A data set that is made anew, and the arguments of a loader."""
    rng = random.Random(f"loaders {number}")
    way, count = WAYS[number % len(WAYS)], rng.choice([5, 11])
    kind = rng.choice([Mapped, Mapped, Together, Nested, Streamed])
    data: Any = kind(way, count)
    options: dict[str, Any] = {"num_workers": workers, "batch_size": rng.choice([1, 2, 4, None])}
    if kind is not Streamed:
        wrapped = rng.choice(["", "", "subset", "concat"])
        if wrapped == "subset":
            data = Subset(data, rng.sample(range(count), count - 1))
        elif wrapped == "concat":
            data = ConcatDataset([data, kind(rng.choice(WAYS), 3)])
        sampling = rng.choice(["", "", "shuffle", "batches", "generator"])
        if sampling == "batches":
            options.update(batch_size=1, batch_sampler=GlobalBatches(len(data)))
        elif sampling:
            generator = torch.Generator().manual_seed(7) if sampling == "generator" else None
            options.update(shuffle=True, generator=generator)
    options["collate_fn"] = rng.choice([None, None, mixing, as_they_are])
    if options["batch_size"] is None and options["collate_fn"] is mixing:
        options["collate_fn"] = None
    if workers:
        options["persistent_workers"] = rng.random() < 0.4
        init = rng.choice([None, None, "change", "draw"])
        options["worker_init_fn"] = None if init is None else partial(begin, init)
        options["prefetch_factor"] = rng.choice([None, 1])
    return data, options


def flat(batch: Any) -> Any:
    leaves, structure = tree_flatten(batch)
    return snapshot(leaves), str(structure)


def epochs(loader: type, number: int, workers: int, **more: Any) -> Any:
    """What two epochs give, and where the process's generators are after each batch."""
    data, options = drawn(number, workers)
    seed_all(number)
    made, given = loader(data, **options, **more), []
    for _ in range(2):
        try:
            for batch in made:
                given += [flat(batch), snapshot(torch.get_rng_state()), random.getstate(), snapshot(numpy_state())]
        except Exception as error:  # samples of two ways in one batch may not be alike
            return [*given, type(error).__name__]
        given.append(random.random())
    return given


def difference(number: int, workers: int) -> str:
    """What is wrong with the loader of a random data set; nothing is where it gives what torch's gives."""
    expected = epochs(DataLoader, number, workers)
    found = epochs(fastaug.data.DataLoader, number, workers)
    if found == expected:
        return ""
    data, options = drawn(number, workers)
    position = next((k for k, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), len(expected))
    way = getattr(data, "way", "wrapped")
    return f"data set {number} ({type(data).__name__}, {way}) with {options}: outcome {position} of {len(expected)}"
