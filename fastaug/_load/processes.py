"""torch's own iterators, for what threads cannot do."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, Dataset
from torch.utils.data.dataloader import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)

from fastaug._draft.generators import seed_all, untouched
from fastaug._load.seeds import sample_seed
from fastaug._load.states import generators_of

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device


def torchs_iterator(loader: Any, device: Device | None) -> _BaseDataLoaderIter:
    """What torch's DataLoader would have; with draws of each sample of its own, where the loader has these.

    Args:
        device: where batches are moved.
    """
    if not loader.num_workers:
        return _Single(loader, device)
    DataLoader.check_worker_number_rationality(loader)
    return _Several(_seeding(loader), device)


class _Counted(_BaseDataLoaderIter):
    """Has the loader know how many batches of the epoch it gave, and moves them to a device if there is one."""

    def __init__(self, loader: Any, device: Device | None) -> None:
        self._device = device
        self._progress = loader._progress
        self._progress.given = 0
        super().__init__(loader)

    def __next__(self) -> Any:
        if self._device is not None:
            with self._device.current():
                self._device.refuse_capture()
        try:
            data = super().__next__()
        except StopIteration:
            self._progress.given = None
            raise
        self._progress.given = self._num_yielded
        if self._device is None:
            return data
        from fastaug._load.moving import moved

        return moved(data, self._device)


class _Single(_Counted, _SingleProcessDataLoaderIter):
    pass


class _Several(_Counted, _MultiProcessingDataLoaderIter):
    pass


class TakenOver(_Several):
    """torch's iterator, for an epoch that another one has begun.

    Args:
        base_seed: what that one drew.
        fetched: what the sampler has said so far.
        rest: an iterator of what it will say.
        device: where batches are moved.
    """

    def __init__(
        self, loader: Any, base_seed: int, fetched: Iterable[Any], rest: Iterator[Any], device: Device | None
    ) -> None:
        self._drawn = base_seed
        changed = copy.copy(_seeding(loader))
        name = "batch_sampler" if loader._auto_collation else "sampler"
        sampler = _Begun(getattr(loader, name), itertools.chain(fetched, rest))
        if loader.rng == "sample":
            sampler = _Numbered(sampler, loader)  # type: ignore[assignment]
        vars(changed)[name] = sampler
        DataLoader.check_worker_number_rationality(loader)
        with untouched(*generators_of(loader)):
            super().__init__(changed, device)

    @property
    def _base_seed(self) -> int:
        return self._drawn

    @_base_seed.setter
    def _base_seed(self, seed: int) -> None:
        """torch's would draw another one."""


class _Begun:
    """A sampler of batches whose first iteration has begun."""

    def __init__(self, sampler: Any, left: Iterator[Any]) -> None:
        self._sampler = sampler
        self._left: Iterator[Any] | None = left

    def __iter__(self) -> Iterator[Any]:
        # As a generator, since torch makes two iterators for the first epoch, and uses one.
        left, self._left = self._left, None
        yield from self._sampler if left is None else left

    def __len__(self) -> int:
        return len(self._sampler)


def _seeding(loader: Any) -> Any:
    """The loader, or one like it whose samples have draws of their own."""
    if loader.rng != "sample":
        return loader
    changed = copy.copy(loader)
    name = "batch_sampler" if loader._auto_collation else "sampler"
    vars(changed)[name] = _Numbered(getattr(loader, name), loader)
    vars(changed)["dataset"] = _Seeded(loader.dataset, loader.seed)
    return changed


class _Numbered:
    """A sampler whose indices come with the number of the epoch."""

    def __init__(self, sampler: Any, loader: Any) -> None:
        self._sampler = sampler
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        automatic = self._loader._auto_collation
        for indices in self._sampler:
            epoch = self._loader._epoch
            yield [(epoch, index) for index in indices] if automatic else (epoch, indices)

    def __len__(self) -> int:
        return len(self._sampler)


class _Seeded(Dataset[Any]):
    """Samples each of which is drawn after all generators were seeded for it."""

    def __init__(self, dataset: Any, seed: int) -> None:
        self._dataset = dataset
        self._seed = seed

    def __getitem__(self, numbers: tuple[int, Any]) -> Any:
        epoch, index = numbers
        seed_all(sample_seed(self._seed, epoch, index))
        return self._dataset[index]

    def __len__(self) -> int:
        return len(self._dataset)
