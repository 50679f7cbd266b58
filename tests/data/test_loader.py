"""A loader on threads gives the batches, and leaves the generators, of torch's DataLoader with torchvision inside."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from loader_cases import (
    COUNT,
    Drawing,
    Pairs,
    Several,
    drawing_target,
    folder_of,
    generators,
    listed,
    mixed,
    numpy_draw,
    run,
    same,
    torch_draw,
)
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import DistributedSampler, Subset, WeightedRandomSampler
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._batch.batch import Batch, Task
from fastaug._batch.threads import Crew, threads_for
from fastaug.data import DataLoader
from fastaug.data._load.flights import Flight
from fastaug.data._load.iterator import ThreadsIter
from support.garbage import left_by
from support.images import photo
from support.outcomes import seed_all
from support.processes import end_workers

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

OPTIONS: dict[str, dict[str, Any]] = {
    "no workers": {"num_workers": 0, "shuffle": True},
    "one": {"num_workers": 1, "shuffle": True},
    "three": {"num_workers": 3, "shuffle": True, "drop_last": True},
    "persistent": {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 1},
    "mixed": {"num_workers": 2, "collate_fn": mixed},
    "mixed by one": {"num_workers": 1, "collate_fn": mixed},
    "lists": {"num_workers": 2, "collate_fn": listed},
    "single": {"num_workers": 2, "batch_size": None},
}


def both(theirs: Any, ours: Any, theirs_options: dict[str, Any], **more: Any) -> None:
    """Compares both loaders: as the choice is, and by promise with several numbers of threads, where there are any."""
    options = {"batch_size": 4, **theirs_options}
    expected = run(TorchLoader, theirs, **options, **more)
    assert same(run(DataLoader, ours, **options, **more), expected)
    counts = (None, 1, 3) if DataLoader(ours, threads=True, **options).explain().threads else (None,)
    for count in counts:
        got = run(DataLoader, ours, threads=True, num_threads=count, **options, **more)
        assert same(got, expected), f"{count} threads"


@pytest.mark.parametrize("name", OPTIONS)
def test_folder(name: str, pictures: Path) -> None:
    both(folder_of(pictures, TV), folder_of(pictures, T, loader=fastaug.io.lazy), OPTIONS[name])


@pytest.mark.parametrize("name", ["no workers", "three", "mixed"])
def test_folder_with_torchvisions_loader(name: str, pictures: Path) -> None:
    both(folder_of(pictures, TV), folder_of(pictures, T), OPTIONS[name])


@pytest.mark.parametrize("kind", ["subset", "subset of a subset", "partial", "target", "gray"])
def test_kinds_of_folders(kind: str, pictures: Path) -> None:
    options: list[dict[str, Any]] = [{}, {"loader": fastaug.io.lazy}]
    if kind == "partial":
        options[1]["loader"] = functools.partial(fastaug.io.lazy, mode="RGB")
    elif kind == "target":
        for one in options:
            one["target_transform"] = drawing_target
    sets: list[Any] = [folder_of(pictures, package, **one) for package, one in zip((TV, T), options, strict=True)]
    if kind.startswith("subset"):
        sets = [Subset(one, [20, 3, 3, 7, 11, 12, 0]) for one in sets]
    if kind == "subset of a subset":
        sets = [Subset(one, [6, 1, 0, 2]) for one in sets]
    if kind == "gray":
        for package, one in zip((TV, T), sets, strict=True):
            one.transform = package.Compose([package.Grayscale(), package.RandomCrop(20), package.ToTensor()])
    both(*sets, {"num_workers": 2, "batch_size": 3})


def test_folder_is_made_by_threads(pictures: Path) -> None:
    loader = DataLoader(folder_of(pictures, T), batch_size=5, num_workers=2)
    iterator = iter(loader)
    assert type(iterator) is ThreadsIter
    next(iterator)
    assert type(iterator._flying[0]).__name__ == "ImagesFlight"


@pytest.mark.parametrize(
    ("kind", "name"),
    # The collate function takes pairs of values; and without batches nothing hands out several samples.
    [(Pairs, name) for name in OPTIONS if not name.startswith("mixed")]
    + [(Several, name) for name in OPTIONS if name != "single"],
)
def test_other_data_sets(kind: Any, name: str) -> None:
    both(kind(TV), kind(T), OPTIONS[name])


@pytest.mark.parametrize("workers", [0, 2])
def test_results_of_many_sizes_are_an_error_as_torchs(workers: int, pictures: Path) -> None:
    for cls, package in ((TorchLoader, TV), (DataLoader, T)):
        folder = ImageFolder(str(pictures), transform=package.Compose([package.ToTensor()]))
        with pytest.raises(RuntimeError):
            next(iter(cls(folder, batch_size=4, num_workers=workers)))


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_epochs_that_are_left_early(workers: int, persistent: bool, pictures: Path) -> None:
    options = {"num_workers": workers, "persistent_workers": persistent, "shuffle": True}
    both(folder_of(pictures, TV), folder_of(pictures, T), options, epochs=3, stop=2)
    both(Pairs(TV), Pairs(T), options, epochs=3, stop=2)


def samplers(name: str) -> dict[str, Any]:
    if name == "distributed":
        return {"sampler": DistributedSampler(range(COUNT), num_replicas=2, rank=1, seed=3)}
    if name == "weighted":
        return {"sampler": WeightedRandomSampler([float(k) for k in range(COUNT)], 17)}
    if name == "generator":
        return {"shuffle": True, "generator": torch.Generator().manual_seed(9)}
    return {"batch_sampler": [[1, 2], [3], [4, 5, 6]], "batch_size": 1}


class GlobalSampler:
    """Draws from Python's generator whenever it is asked for an index."""

    def __iter__(self) -> Any:
        return (random.randrange(COUNT) for _ in range(13))

    def __len__(self) -> int:
        return 13


@pytest.mark.parametrize("name", ["distributed", "weighted", "generator", "batches"])
@pytest.mark.parametrize("workers", [0, 2])
def test_samplers(name: str, workers: int, pictures: Path) -> None:
    expected = run(TorchLoader, folder_of(pictures, TV), num_workers=workers, **{"batch_size": 4, **samplers(name)})
    got = run(DataLoader, folder_of(pictures, T), num_workers=workers, **{"batch_size": 4, **samplers(name)})
    assert same(got, expected)


@pytest.mark.parametrize("workers", [0, 2])
def test_sampler_that_draws_from_the_global_generator(workers: int, pictures: Path) -> None:
    both(folder_of(pictures, TV), folder_of(pictures, T), {"num_workers": workers, "sampler": GlobalSampler()})


def test_out_of_order_gives_the_same_batches(pictures: Path) -> None:
    loader = DataLoader(folder_of(pictures, T), batch_size=3, num_workers=3, in_order=False)
    seed_all(5)
    got = list(loader)
    seed_all(5)
    expected = list(DataLoader(folder_of(pictures, T), batch_size=3, num_workers=3))
    assert len(got) == len(expected)
    assert all(any(same(one, batch) for one in got) for batch in expected)


class Slow(Pairs):
    """Whose first batch takes long."""

    def __getitem__(self, index: int) -> Any:
        if index == 0:
            self.gate.wait(10)
        return index


def test_out_of_order_does_not_wait() -> None:
    data = Slow(T)
    data.gate = threading.Event()
    subset = Subset(data, [1, 0, 2, 3, 4])
    loader = DataLoader(subset, batch_size=1, num_workers=2, in_order=False, threads=True)
    iterator = iter(loader)
    given = [int(next(iterator)) for _ in range(2)]
    data.gate.set()
    given += [int(one) for one in iterator]
    assert given[:2] == [1, 2]
    assert sorted(given) == [0, 1, 2, 3, 4]


# Data sets that are not known to be fit for threads


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("draw", [torch_draw, random.random, numpy_draw])
def test_data_set_that_draws_by_itself(draw: Callable[[], float], persistent: bool) -> None:
    options = {"num_workers": 2, "shuffle": True, "persistent_workers": persistent, "batch_size": 4}
    loader = DataLoader(Drawing(T, draw), **options)
    assert str(loader.explain()) == (
        "worker processes make the samples: Drawing is not known to draw nothing by itself"
    )
    assert same(run(DataLoader, Drawing(T, draw), **options), run(TorchLoader, Drawing(TV, draw), **options))


def test_data_set_that_draws_by_itself_without_workers() -> None:
    assert same(run(DataLoader, Drawing(T), batch_size=4), run(TorchLoader, Drawing(TV), batch_size=4))


def noisy(image: Any) -> Any:
    return image.point(lambda value: int(value * random.random()))


def turned(image: Any) -> Any:
    return image.transpose(0)


@pytest.mark.parametrize("function", [noisy, turned])
@pytest.mark.parametrize("workers", [0, 2])
def test_folder_with_a_function_of_the_users(function: Any, workers: int, pictures: Path) -> None:
    """It is made by processes, whether the function draws or not; by promise, by a thread for each batch."""
    sets = [
        ImageFolder(
            str(pictures),
            transform=package.Compose(
                [package.RandomCrop(30), function, package.RandomRotation(9), package.ToTensor()]
            ),
        )
        for package in (TV, T)
    ]
    options: dict[str, Any] = {"num_workers": workers, "batch_size": 4}
    expected = run(TorchLoader, sets[0], **options)
    assert same(run(DataLoader, sets[1], **options), expected)
    choice = DataLoader(sets[1], **options).explain()
    assert not choice.threads and f"the function {function.__name__}" in choice.reason
    if function is turned:
        assert same(run(DataLoader, sets[1], threads=True, **options), expected)


def first(image: Any) -> Any:
    return image


@pytest.mark.parametrize(
    "option",
    [{"worker_init_fn": first}, {"multiprocessing_context": "fork"}, {"timeout": 60}],
    ids=lambda one: next(iter(one)),
)
def test_what_needs_processes_has_torchs(option: dict[str, Any], pictures: Path) -> None:
    loader = DataLoader(folder_of(pictures, T), num_workers=1, **option)
    assert not isinstance(iter(loader), ThreadsIter)
    got = run(DataLoader, folder_of(pictures, T), num_workers=2, batch_size=6, **option)
    assert same(got, run(TorchLoader, folder_of(pictures, TV), num_workers=2, batch_size=6, **option))


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(5))


def test_iterable_data_set_has_torchs() -> None:
    assert same(run(DataLoader, Stream(), num_workers=1), run(TorchLoader, Stream(), num_workers=1))


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_transform_with_a_generator_of_its_own(workers: int, pictures: Path) -> None:
    """As in torch's DataLoader: each worker has a copy, which it seeds; without workers it goes on."""
    given = []
    for cls in (TorchLoader, DataLoader):
        generator = torch.Generator().manual_seed(4)
        pipeline = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()])
        folder = ImageFolder(str(pictures), transform=fastaug.compile(pipeline, generator=generator))
        given.append((run(cls, folder, batch_size=4, num_workers=workers), generator.get_state()))
    assert same(*given)


def test_other_data_set_with_a_generator_of_its_own_has_processes() -> None:
    """By promise too: threads would share it."""
    data = Pairs(T)
    data.jitter = fastaug.compile(data.jitter, generator=torch.Generator())
    for threads in (None, True):
        choice = DataLoader(data, num_workers=1, threads=threads).explain()
        assert not choice.threads
    assert "generator of its own" in choice.reason


# What else users see


def test_arguments_are_torchs_and_kept(pictures: Path) -> None:
    ours, theirs = (inspect.signature(cls.__init__).parameters for cls in (DataLoader, TorchLoader))
    assert list(ours)[: len(theirs)] == list(theirs)
    assert [one.default for one in ours.values()][: len(theirs)] == [one.default for one in theirs.values()]
    loader = DataLoader(folder_of(pictures, T), 4, num_workers=2, num_threads=3, rng="sample", seed=8)
    kept = {
        name: getattr(loader, name)
        for name in ours
        if hasattr(loader, name) and name not in ("sampler", "batch_sampler")
    }
    again = DataLoader(**kept)
    assert (again.batch_size, again.num_workers, again.num_threads, again.rng, again.seed) == (4, 2, 3, "sample", 8)
    assert len(again) == len(loader) == 6


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"num_threads": 0}, ValueError, "num_threads should be at least 1"),
        ({"num_threads": 1.5}, TypeError, "num_threads"),
        ({"rng": "torchvision"}, ValueError, "rng should be 'torch' or 'sample', got 'torchvision'"),
        ({"seed": -1}, ValueError, "seed should be at least 0"),
        ({"seed": "1"}, TypeError, "seed should be an integer"),
        ({"seed": 3}, ValueError, "seed is of rng='sample', got seed=3 with rng='torch'"),
        ({"threads": 2}, TypeError, "threads should be True, False or None, got 2"),
        ({"num_threads": 2}, ValueError, "there are no workers.* threads=True is the promise .* num_threads=2"),
        (
            {"num_threads": 2, "num_workers": 1, "threads": False},
            ValueError,
            "num_threads is of threads.*threads=False",
        ),
        ({"num_threads": 2, "num_workers": 1, "timeout": 5}, ValueError, "timeout is for processes"),
        ({"num_threads": 2, "num_workers": 1, "collate_fn": listed}, ValueError, "of collate_fn, the function listed"),
        ({"num_workers": -1}, ValueError, "num_workers"),
    ],
)
def test_bad_arguments(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        DataLoader(range(4), **options)


def test_samples_with_draws_of_their_own_need_indices() -> None:
    with pytest.raises(ValueError, match="rng='sample'"):
        DataLoader(Stream(), rng="sample")
    with pytest.raises(ValueError, match="threads=True"):
        DataLoader(Stream(), threads=True)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_bad_image_is_named_and_the_next_batch_comes(workers: int, pictures: Path, tmp_path: Path) -> None:
    folder = folder_of(pictures, T, loader=fastaug.io.lazy)
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(Path(folder.samples[5][0]).read_bytes()[:300])
    folder.samples[5] = str(bad), 0
    folder.samples[6] = str(tmp_path / "none.jpg"), 0
    iterator = iter(DataLoader(folder, batch_size=4, num_workers=workers))
    next(iterator)
    with pytest.raises(fastaug.io.DecodeError) as raised:
        next(iterator)
    assert (raised.value.index, raised.value.path) == (5, str(bad))  # type: ignore[attr-defined]
    assert [len(targets) for _, targets in iterator] == [4, 4, 4, 2]


def fail_or_draw(target: int) -> float:
    if target > 1:
        raise KeyError(target)
    return float(torch.rand(1))


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", ["truncated", "missing", "transform", "target", "items"])
def test_draws_after_an_error(kind: str, workers: int, pictures: Path, tmp_path: Path) -> None:
    """What comes after a batch that failed is what it is after torch's, however far the threads were."""
    given = []
    for cls, package in ((TorchLoader, TV), (DataLoader, T)):
        folder = folder_of(pictures, package, target_transform=fail_or_draw)
        bad = tmp_path / "bad.jpg"
        if kind == "truncated":
            bad.write_bytes(Path(folder.samples[5][0]).read_bytes()[:700])
        if kind in ("truncated", "missing"):
            folder.samples[5] = str(bad), 0
        elif kind == "transform":
            folder.transform.transforms.insert(1, package.RandomCrop(24))
            folder.transform.transforms[0] = package.RandomRotation(3)
            photo("ihc", 20, 80).save(bad)
            folder.samples[5] = str(bad), 0
        elif kind == "target":
            folder.samples[5] = folder.samples[5][0], 2
        data: Any = Failing(package) if kind == "items" else folder
        seed_all(5)
        options: dict[str, Any] = {"threads": True} if cls is DataLoader else {}
        collate = mixed if kind == "missing" else None
        iterator = iter(cls(data, batch_size=4, num_workers=workers, collate_fn=collate, **options))
        batches: list[Any] = []
        for _ in range(6):
            try:
                batches.append(next(iterator))
            except (OSError, ValueError, KeyError):
                batches.append("error")
            batches.append(generators())
        end_workers(iterator)
        given.append(batches)
    assert given[0][2] == "error"
    assert same(given[1], given[0])


@pytest.mark.parametrize("kind", ["truncated", "target"])
def test_draws_after_an_error_that_nobody_met(kind: str, pictures: Path, tmp_path: Path) -> None:
    """Workers that stay make all batches that were begun, and stop in them at the sample that fails."""
    given = []
    for cls, package in ((TorchLoader, TV), (DataLoader, T)):
        folder = folder_of(pictures, package, target_transform=fail_or_draw)
        folder.samples = [(path, 0) for path, _ in folder.samples]
        bad = tmp_path / "bad.jpg"
        bad.write_bytes(Path(folder.samples[9][0]).read_bytes()[:700])
        folder.samples[9] = (str(bad), 0) if kind == "truncated" else (folder.samples[9][0], 2)
        seed_all(5)
        options: dict[str, Any] = {"threads": True} if cls is DataLoader else {}
        loader = cls(folder, batch_size=4, num_workers=2, persistent_workers=True, **options)
        for _ in range(3):
            iterator = iter(loader)
            given.append([next(iterator), next(iterator), generators()])
        end_workers(iterator)
    assert same(given[3:], given[:3])


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", ["truncated", "transform", "target", "items", "collation"])
def test_an_iterator_goes_with_its_errors(kind: str, workers: int, pictures: Path, tmp_path: Path) -> None:
    """Not with the next collection of garbage: its threads and batches would stay for as long."""
    folder = folder_of(pictures, T, target_transform=fail_or_draw)
    if kind == "transform":
        folder.transform = T.Compose([T.RandomCrop(70), T.ToTensor()])
    for position in (1, 2, 5):
        if kind == "truncated":
            bad = tmp_path / f"{position}.jpg"
            bad.write_bytes(Path(folder.samples[position][0]).read_bytes()[:700])
            folder.samples[position] = str(bad), 0
        elif kind == "target":
            folder.samples[position] = folder.samples[position][0], 2
    data: Any = Failing(T) if kind == "items" else folder
    collate = fail_or_draw if kind == "collation" else None
    given: list[int] = []

    def fail() -> None:
        iterator = iter(DataLoader(data, batch_size=4, num_workers=workers, collate_fn=collate, threads=True))
        for _ in range(6):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                next(iterator, None)
                given.append(0)

    assert not left_by(fail, ThreadsIter, Flight, Batch, Task, Crew)
    assert len(given) < 6


class Failing(Pairs):
    def __getitem__(self, index: int) -> Any:
        image = super().__getitem__(index)["image"]
        if index == 5:
            raise KeyError("five")
        return image


def test_an_error_of_another_data_set() -> None:
    iterator = iter(DataLoader(Failing(T), batch_size=4, num_workers=2, threads=True))
    next(iterator)
    with pytest.raises(KeyError, match="five") as raised:
        next(iterator)
    assert raised.value.index == 5  # type: ignore[attr-defined]
    assert len(list(iterator)) == 4


class Asking(Pairs):
    """How many threads `batch` would have, and what torch would have transforms draw from."""

    def __getitem__(self, index: int) -> Any:
        return threads_for(None), self.jitter.batch([np.zeros((4, 4, 3), np.uint8)]) is not None


def test_batch_in_a_thread_of_a_loader_has_no_threads_of_its_own() -> None:
    data = Asking(T)
    data.jitter = T.Compose([T.ToTensor()])
    counts, _ = next(iter(DataLoader(data, batch_size=3, num_workers=2, threads=True)))
    assert counts.tolist() == [1, 1, 1]


def test_profile(pictures: Path) -> None:
    loader = DataLoader(folder_of(pictures, T), batch_size=4, num_workers=2)
    assert str(loader.profile()) == "no batches yet"
    before = generators()
    for _ in loader:
        report = loader.profile()
        assert report.waited <= report.steps
    assert same(before[1:], generators()[1:])
    report = loader.profile()
    assert (report.batches, report.images) == (6, COUNT)
    assert min(report.drawing, report.collate, report.read, report.decode, report.transform) > 0
    assert "threads: decode" in str(report)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("data", [Pairs(T), Several(T), Stream()], ids=lambda data: type(data).__name__)
def test_profile_of_torchs_iterators(data: Any, workers: int) -> None:
    loader = DataLoader(data, batch_size=4, num_workers=workers)
    for _ in range(2):
        count = len(list(loader))
        report = loader.profile()
        assert report.batches == count
        assert isinstance(data, Stream) or report.images == COUNT
        assert report.waited > 0 and report.samples > 0
        assert report.workers == ("processes" if workers else "next()")
        assert f"{report.workers}: samples" in str(report)
        assert ("2 worker processes" if workers else "in next()") in str(report)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_folder_whose_transform_begins_to_draw_by_itself(persistent: bool, pictures: Path) -> None:
    folder = folder_of(pictures, T)
    loader = DataLoader(folder, batch_size=4, num_workers=2, persistent_workers=persistent)
    assert len(list(loader)) == 6
    assert loader.explain().threads
    folder.transform = T.Compose([T.RandomCrop(20), noisy, T.ToTensor()])
    assert not loader.explain().threads
    iterator = iter(loader)
    assert not isinstance(iterator, ThreadsIter)
    assert next(iterator)[0].shape == (4, 3, 20, 20)
    assert len(list(loader)) == 6


@pytest.mark.parametrize("persistent", [False, True])
def test_threads_end_with_the_loader(persistent: bool, pictures: Path) -> None:
    others = set(threading.enumerate())  # of a loader of another test, perhaps, which nobody has collected yet

    def names() -> list[str]:
        threads = set(threading.enumerate()) - others
        return [thread.name for thread in threads if thread.name.startswith("fastaug-loader")]

    loader = DataLoader(folder_of(pictures, T), batch_size=4, num_workers=2, persistent_workers=persistent)
    iterator = iter(loader)
    next(iterator)
    assert len(names()) == min(2, len(os.sched_getaffinity(0)))
    del iterator
    assert bool(names()) == persistent
    del loader
    assert not names()
    assert len(list(iter(DataLoader(folder_of(pictures, T), batch_size=4)))) == 6
