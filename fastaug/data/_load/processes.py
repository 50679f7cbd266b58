"""torch's own iterators, where threads are not known to be right."""

from __future__ import annotations

import contextlib
import copy
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterator
from multiprocessing.sharedctypes import RawArray
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, Dataset, IterableDataset, IterDataPipe, MapDataPipe, get_worker_info
from torch.utils.data._utils import worker
from torch.utils.data.dataloader import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)

from fastaug._draft.generators import seed_all, untouched
from fastaug.data._load.report import Times
from fastaug.data._load.seeds import COLLATION, sample_seed

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device


def torchs_iterator(loader: Any, device: Device | None) -> _BaseDataLoaderIter:
    """Return torch's iterator, with draws for each sample if ``rng="sample"``, and batches on a device."""
    if not loader.num_workers:
        clock: Any = [0.0]
        return _Single(_wrapped(loader, clock), loader, clock, device)
    DataLoader.check_worker_number_rationality(loader)
    # A spawned process cannot always receive the memory of a tensor.
    clock = RawArray("d", loader.num_workers)
    return _Several(_wrapped(loader, clock), loader, clock, device)


class _Counted(_BaseDataLoaderIter):
    """An iterator of torch that counts batches for the loader, measures time, and moves batches to a device.

    It iterates over the `wrapped` loader, whose data set adds the seconds of each worker to `clock`.
    """

    def __init__(self, wrapped: Any, loader: Any, clock: Any, device: Device | None) -> None:
        self._device = device
        self._clock = clock
        self._sizes: deque[int] = deque()  # of the batches that were sent to workers
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
    """Copy a loader, with a data set that measures time and, for ``rng="sample"``, seeds for each sample."""
    dataset = loader.dataset
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        return loader  # torch's workers check for these classes
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
    """A worker_init_fn that puts the user's data set into the worker's info, before the user's own function."""

    def __init__(self, init: Any) -> None:
        self._init = init

    def __call__(self, number: int) -> None:
        info: Any = worker._worker_info
        object.__setattr__(info, "dataset", info.dataset.dataset)  # torch's is frozen
        if self._init is not None:
            self._init(number)


class _Clock:
    def __init__(self, seconds: Any) -> None:
        self._seconds = seconds
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        info = worker._worker_info
        self._seconds[0 if info is None else info.id] += time.perf_counter() - self._start


class _Timed(Dataset[Any]):
    def __init__(self, dataset: Any, seconds: Any) -> None:
        self.dataset = dataset
        self._clock = _Clock(seconds)

    def __getitem__(self, index: Any) -> Any:
        with self._clock:
            return self.dataset[index]

    def __getitems__(self, indices: Any) -> Any:
        with self._clock:
            if hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
                return self.dataset.__getitems__(indices)
            return [self.dataset[index] for index in indices]

    def __len__(self) -> int:
        return len(self.dataset)


class _TimedStream(IterableDataset[Any]):
    def __init__(self, dataset: Any, seconds: Any) -> None:
        self.dataset = dataset
        self._clock = _Clock(seconds)

    def __iter__(self) -> Iterator[Any]:
        return _TimedIterator(iter(self.dataset), self._clock)


class _TimedIterator(Iterator[Any]):
    """An iterator that continues after an error if the one in it does."""

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
        # A reference to the loader could form a cycle, and workers end with the last reference to the iterator.
        self._progress = loader._progress

    def __iter__(self) -> Iterator[Any]:
        for number, indices in enumerate(self._sampler):
            epoch = self._progress.epoch
            yield [(epoch, number, index) for index in indices] if self._automatic else (epoch, number, indices)

    def __len__(self) -> int:
        return len(self._sampler)


class _Seeded(_Timed):
    """A data set that seeds all generators before each sample, and before the collation."""

    def __init__(self, dataset: Any, seconds: Any, seed: int) -> None:
        super().__init__(dataset, seconds)
        self._seed = seed

    def __getitem__(self, numbers: tuple[int, int, Any]) -> Any:
        return self.__getitems__([numbers])[0]

    def __getitems__(self, indices: list[tuple[int, int, Any]]) -> Any:
        samples = []
        with self._clock:
            for epoch, _, index in indices:
                seed_all(sample_seed(self._seed, epoch, index))
                samples.append(self.dataset[index])
        if indices:
            epoch, batch, _ = indices[-1]
            seed_all(sample_seed(self._seed, epoch, COLLATION + batch))
        return samples


# Lightning builds a loader of the same class, with all of its arguments.
_LIBRARIES = ("accelerate",)

_LOST = ("threads", "num_threads", "device")


class OwnDraws(Dataset[Any]):
    """A data set with the draws of ``rng="sample"`` in any loader, which may call its ``set_epoch``."""

    def __init__(self, dataset: Any, seed: int, epoch: int) -> None:
        self.dataset = dataset
        self._seed = seed
        self._epoch = RawArray("Q", [epoch])  # persistent workers see the next one

    def set_epoch(self, epoch: int) -> None:
        self._epoch[0] = epoch
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    def __getitem__(self, index: Any) -> Any:
        seed = sample_seed(self._seed, self._epoch[0], index)
        with untouched() if get_worker_info() is None else contextlib.nullcontext():
            seed_all(seed)
            return self.dataset[index]

    def __len__(self) -> int:
        return len(self.dataset)


def dataset_for(loader: Any, dataset: Any, depth: int) -> Any:
    """Return the data set of a loader, or one with the loader's draws if a known library asks, `depth` frames above.

    A warning names the arguments that are lost.
    """
    asking = str(sys._getframe(depth).f_globals.get("__name__")).partition(".")[0]
    if asking not in _LIBRARIES:
        return dataset
    given = {name: getattr(loader, name, None) for name in _LOST}
    lost = [
        f"{name}={str(value) if name == 'device' else value!r}" for name, value in given.items() if value is not None
    ]
    if lost and not loader._warned:
        loader._warned = True
        warnings.warn(
            f"fastaug.data.DataLoader: {asking} builds a loader of torch's around the data set, which does not keep "
            f"{', '.join(lost)}",
            stacklevel=depth + 1,
        )
    if loader.rng != "sample" or isinstance(dataset, OwnDraws):
        return dataset
    return OwnDraws(dataset, loader.seed, loader._next_epoch)
