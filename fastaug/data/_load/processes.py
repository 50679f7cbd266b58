"""torch's own iterators, for what is not known to be fit for threads."""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing.sharedctypes import RawArray
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, Dataset, IterableDataset, IterDataPipe, MapDataPipe
from torch.utils.data._utils import worker
from torch.utils.data.dataloader import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)

from fastaug._draft.generators import seed_all
from fastaug.data._load.report import Times
from fastaug.data._load.seeds import COLLATION, sample_seed

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device


def torchs_iterator(loader: Any, device: Device | None) -> _BaseDataLoaderIter:
    """What torch's DataLoader would have; with draws of each sample of its own, where the loader has these.

    Args:
        device: where batches are moved.
    """
    if not loader.num_workers:
        clock: Any = [0.0]
        return _Single(_wrapped(loader, clock), loader, clock, device)
    DataLoader.check_worker_number_rationality(loader)
    # Not a tensor: a process that is spawned cannot always take its memory over.
    clock = RawArray("d", loader.num_workers)
    return _Several(_wrapped(loader, clock), loader, clock, device)


class _Counted(_BaseDataLoaderIter):
    """Counts the batches of the epoch for the loader, takes the time, and moves batches to a device if there is one.

    Args:
        wrapped: the loader with its data set wrapped.
        loader: itself.
        clock: seconds that each worker has spent on samples so far, which its data set keeps.
        device: where batches are moved.
    """

    def __init__(self, wrapped: Any, loader: Any, clock: Any, device: Device | None) -> None:
        self._device = device
        self._clock = clock
        self._sizes: deque[int] = deque()  # of the batches that workers were sent
        self._progress = loader._progress
        self._progress.given = 0
        self.times = Times("processes" if loader.num_workers else "next()")
        made = f"by {loader.num_workers} worker processes" if loader.num_workers else "in next()"
        self.times.made = made if device is None else f"{made} and moved to {device.device}"
        super().__init__(wrapped)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._sizes.clear()
        self.times.begin(self._seconds())
        super()._reset(loader, first_iter)

    def _next_index(self) -> Any:
        index = super()._next_index()  # type: ignore[no-untyped-call]
        self._sizes.append(len(index) if self._auto_collation else 1)
        return index

    def _seconds(self) -> dict[str, float]:
        return {"samples": sum(self._clock)}

    def __next__(self) -> Any:
        if self._device is not None:
            with self._device.current():
                self._device.refuse_capture()
        start = time.perf_counter()
        try:
            data = super().__next__()
        except StopIteration:
            self._progress.given = None
            raise
        self._progress.given = self._num_yielded
        if self._device is not None:
            from fastaug.data._load.moving import moved

            data = moved(data, self._device)
        images = self._sizes.popleft() if self._sizes else 0
        self.times.add(start, time.perf_counter(), images, self._seconds())
        return data


class _Single(_Counted, _SingleProcessDataLoaderIter):
    pass


class _Several(_Counted, _MultiProcessingDataLoaderIter):
    pass


def _wrapped(loader: Any, clock: Any) -> Any:
    """A loader like that one, whose data set takes the time of samples, and seeds for each if they have own draws."""
    dataset = loader.dataset
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        return loader  # torch's workers ask for these by their class
    changed = copy.copy(loader)
    own = vars(changed)
    if isinstance(dataset, IterableDataset):
        own["dataset"] = _TimedStream(dataset, clock)
    elif loader.rng == "sample":
        name = "batch_sampler" if loader._auto_collation else "sampler"
        own[name] = _Numbered(getattr(loader, name), loader)
        own["dataset"] = _Seeded(dataset, clock, loader.seed)
    else:
        own["dataset"] = _Timed(dataset, clock)
    if loader.num_workers:
        own["worker_init_fn"] = _Begun(loader.worker_init_fn)
    return changed


class _Begun:
    """What a worker begins with: its info names the data set as the user knows it, for the user's own function too."""

    def __init__(self, init: Any) -> None:
        self._init = init

    def __call__(self, number: int) -> None:
        info: Any = worker._worker_info
        object.__setattr__(info, "dataset", info.dataset.dataset)  # torch's is frozen
        if self._init is not None:
            self._init(number)


class _Clock:
    """Adds up the seconds of a worker's."""

    def __init__(self, seconds: Any) -> None:
        self._seconds = seconds
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        info = worker._worker_info
        self._seconds[0 if info is None else info.id] += time.perf_counter() - self._start


class _Timed(Dataset[Any]):
    """A data set that takes the time of its samples."""

    def __init__(self, dataset: Any, seconds: Any) -> None:
        self.dataset = dataset
        self._clock = _Clock(seconds)

    def __getitem__(self, index: Any) -> Any:
        with self._clock:
            return self.dataset[index]

    def __getitems__(self, indices: Any) -> Any:
        """As torch's workers make the samples of a batch."""
        with self._clock:
            if hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
                return self.dataset.__getitems__(indices)
            return [self.dataset[index] for index in indices]

    def __len__(self) -> int:
        return len(self.dataset)


class _TimedStream(IterableDataset[Any]):
    """A data set without indices that takes the time of its samples."""

    def __init__(self, dataset: Any, seconds: Any) -> None:
        self.dataset = dataset
        self._clock = _Clock(seconds)

    def __iter__(self) -> Iterator[Any]:
        return _TimedIterator(iter(self.dataset), self._clock)


class _TimedIterator(Iterator[Any]):
    """It goes on after an error where the iterator in it does."""

    def __init__(self, iterator: Iterator[Any], clock: _Clock) -> None:
        self._iterator = iterator
        self._clock = clock

    def __next__(self) -> Any:
        with self._clock:
            return next(self._iterator)


class _Numbered:
    """A sampler whose indices come with the numbers of the epoch and the batch."""

    def __init__(self, sampler: Any, loader: Any) -> None:
        self._sampler = sampler
        self._automatic = loader._auto_collation
        # Not the loader, which may have the iterator that has this: workers end with the last reference to it.
        self._progress = loader._progress

    def __iter__(self) -> Iterator[Any]:
        for number, indices in enumerate(self._sampler):
            epoch = self._progress.epoch
            yield [(epoch, number, index) for index in indices] if self._automatic else (epoch, number, indices)

    def __len__(self) -> int:
        return len(self._sampler)


class _Seeded(_Timed):
    """Samples each of which is drawn after all generators were seeded for it; and so is what collates them."""

    def __init__(self, dataset: Any, seconds: Any, seed: int) -> None:
        super().__init__(dataset, seconds)
        self._seed = seed

    def __getitem__(self, numbers: tuple[int, int, Any]) -> Any:
        with self._clock:
            sample = self._sample(numbers)
        self._seed_collation(numbers)
        return sample

    def __getitems__(self, indices: list[tuple[int, int, Any]]) -> Any:
        with self._clock:
            samples = [self._sample(numbers) for numbers in indices]
        if indices:
            self._seed_collation(indices[-1])
        return samples

    def _sample(self, numbers: tuple[int, int, Any]) -> Any:
        epoch, _, index = numbers
        seed_all(sample_seed(self._seed, epoch, index))
        return self.dataset[index]

    def _seed_collation(self, numbers: tuple[int, int, Any]) -> None:
        epoch, batch, _ = numbers
        seed_all(sample_seed(self._seed, epoch, COLLATION + batch))
