"""torch's DataLoader with threads in the place of worker processes."""

from __future__ import annotations

import inspect
import operator
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils.data import IterableDataset, MapDataPipe

from fastaug._batch.threads import threads_for
from fastaug._inspect.generators import untouched
from fastaug._load.flights import flights_of_folder, flights_of_items
from fastaug._load.iterator import ThreadsIter
from fastaug._load.probe import is_drafted, moved
from fastaug._load.processes import TakenOver, torchs_iterator
from fastaug._load.report import LoaderReport, Times
from fastaug._load.sources import Folder, has_generator
from fastaug._load.states import generators_of, set_global, set_own, states_of

_POLICIES = ("torch", "sample")

_TAKES_IN_ORDER = "in_order" in inspect.signature(torch.utils.data.DataLoader.__init__).parameters


class _Progress:
    """How many batches of the epoch an iterator of torch's has given; None between epochs."""

    given: int | None = None


class DataLoader(torch.utils.data.DataLoader[Any]):
    """``torch.utils.data.DataLoader`` whose workers are threads: same batches, same order, same random numbers.

    Takes torch's arguments, with torch's meanings and defaults. ``num_workers=n`` means n streams of random numbers, as
    n worker processes have them; how many threads work is no matter of the result.

    Images of torchvision's ``ImageFolder`` or ``DatasetFolder``, and of a ``Subset`` of one, whose ``transform`` is of
    this package, are made several at a time, straight into the tensor of the batch; their random parameters are drawn
    in ``next()``, so that nothing takes Python's lock from training. Of any other data set with indices each thread
    makes a batch: its ``__getitem__`` has to be fit for threads, and the transforms of this package in it draw from the
    stream of the batch. If it draws from a global random generator itself, there is a warning, and torch's worker
    processes do the work; as they do for an ``IterableDataset``, and where ``worker_init_fn``,
    ``multiprocessing_context`` or ``timeout`` is given. A ``collate_fn`` of your own is called in ``next()``.

    Two batches are on their way while one is used. Memory of batches is used again when nothing refers to it.

    Args:
        dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, collate_fn, pin_memory, drop_last, timeout,
        worker_init_fn, multiprocessing_context, generator, prefetch_factor, persistent_workers, pin_memory_device,
        in_order: as torch's.
        num_threads: how many threads work; by default ``num_workers``, but no more than the CPUs that the process may
            use, and all of these where ``num_workers`` is 0.
        rng: ``"torch"``; or ``"sample"``, where the random numbers of a sample hang on nothing but ``seed``, the number
            of the epoch and the index of the sample, for any number of workers, batch size, rank or resumption: it is
            what the data set gives after ``torch.manual_seed(sample_seed(seed, epoch, index))``, and the same for
            Python's and NumPy's generators. Epochs are counted from 0, or from what :meth:`set_epoch` says.
        seed: of ``rng="sample"``, not negative.

    Raises:
        TypeError, ValueError: as torch's; ``num_threads`` or ``seed`` that is no such integer; another ``rng``, or
            ``rng="sample"`` with a data set that has no indices.

    While iterating:
        Exception: of the first sample of a batch that could not be made, by its own type. Its number is in ``index``,
            and the path of a file in ``path``. The next call gives the next batch.
        RuntimeError: in a forked child, an iterator of its parent.

    Example:
        >>> import torch
        >>> from fastaug.data import DataLoader
        >>> loader = DataLoader(torch.utils.data.TensorDataset(torch.arange(6.0)), batch_size=4, num_workers=2)
        >>> [batch for batch, in loader]
        [tensor([0., 1., 2., 3.]), tensor([4., 5.])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        num_threads: int | None = None,
        rng: str = "torch",
        seed: int = 0,
    ) -> None:
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            num_workers,
            collate_fn,
            pin_memory,
            drop_last,
            timeout,
            worker_init_fn,
            multiprocessing_context,
            generator,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,
            **({"in_order": in_order} if _TAKES_IN_ORDER else {}),
        )
        self.in_order = in_order
        if num_threads is not None:
            num_threads = threads_for(num_threads)
        self.num_threads = num_threads
        if not isinstance(rng, str) or rng not in _POLICIES:
            raise ValueError(f"rng should be 'torch' or 'sample', got {rng!r}")
        if rng == "sample" and isinstance(dataset, IterableDataset):
            raise ValueError("rng='sample' is for data sets with indices, got an IterableDataset")
        self.rng = rng
        self.seed = _checked_seed("seed", seed)
        self._next_epoch = 0
        self._epoch = 0
        self._refused = False  # the data set has been found to be nothing for threads
        self._begin: dict[str, Any] | None = None
        self._progress = _Progress()
        self._current: Any = None  # a reference to the iterator of threads of this epoch
        self._latest: Any = None
        self._left: dict[str, Any] | None = None  # the state of one that is gone
        self._resume: dict[str, Any] | None = None

    def __iter__(self) -> Any:
        if self._resume is not None:
            self._iterator = None
        iterator = self._iterator if self.persistent_workers else None
        if iterator is not None and not isinstance(iterator, ThreadsIter):
            self._begin_epoch()
            self._begin = states_of(self)
        iterator = super().__iter__()
        self._current = weakref.ref(iterator) if isinstance(iterator, ThreadsIter) else None
        self._latest = iterator._begin if isinstance(iterator, ThreadsIter) else None
        self._left = None
        return iterator

    def _begin_epoch(self) -> int:
        self._epoch = self._next_epoch
        self._next_epoch += 1
        return self._epoch

    def _get_iterator(self) -> Any:
        resume, self._resume = self._resume, None
        self._begin_epoch()
        self._progress = _Progress()
        if self._needs_torch():
            return self._torchs(resume)
        folder = Folder.of(self.dataset) if self._auto_collation else None
        if not self.num_workers and folder is None and self.rng == "torch":
            return self._torchs(resume)
        return self._threads(folder, resume)

    def _needs_torch(self) -> bool:
        """Whether it is nothing for threads, as far as the arguments tell."""
        if isinstance(self.dataset, (IterableDataset, MapDataPipe)):
            return True
        if not self.num_workers:
            return False
        needed = self.worker_init_fn is not None or self.multiprocessing_context is not None or self.timeout > 0
        return needed or self._refused

    def _torchs(self, resume: dict[str, Any] | None) -> Any:
        if resume is None:
            self._begin = states_of(self)
            return torchs_iterator(self)
        with untouched():
            set_global(resume["begin"])
            set_own(self, resume["begin"])
            self._begin = resume["begin"]
            iterator = torchs_iterator(self)
            for _ in range(resume["first"]):
                next(iterator)
            after = states_of(self)
        if not self.num_workers:
            set_global(after)
        return iterator

    def _threads(self, folder: Folder | None, resume: dict[str, Any] | None) -> Any:
        count = self.num_workers
        threads = self.num_threads or min(threads_for(None), count or threads_for(None))
        if folder is not None:
            flights, spread = flights_of_folder(folder), False
        else:
            here = not count
            threads = 1 if here else threads if self.rng == "sample" else min(threads, count)
            flights, spread = flights_of_items(self.dataset, self._auto_collation, here), True
        iterator = ThreadsIter(self, flights, threads, spread, self._epoch, resume)
        return iterator


def _checked_seed(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} should be an integer, got {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{name} should not be negative, got {number}")
    return number
