"""torch's DataLoader, on threads instead of worker processes where the results are known to be the same."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.utils.data import IterableDataset, MapDataPipe

from fastaug._batch.sources import common_device
from fastaug._batch.threads import threads_for
from fastaug._draft.generators import get_states, set_all, set_own, set_states, states_of, untouched
from fastaug._views.views import Views
from fastaug.data._load.choice import PROMISE, LoaderChoice, choice_of, unknown_data
from fastaug.data._load.flights import ImagesFlight, ItemsFlight
from fastaug.data._load.iterator import Plan, ThreadsIter
from fastaug.data._load.processes import dataset_for, torchs_iterator
from fastaug.data._load.promise import Promise
from fastaug.data._load.report import LoaderReport, Times
from fastaug.data._load.seeds import word
from fastaug.data._load.sources import Images, is_drafted
from fastaug.data._load.streams import epochs_of, generators_of, plain, samplers_of, set_epochs

if TYPE_CHECKING:
    from fastaug._cuda.memory import Side

_POLICIES = ("torch", "sample")

_T_co = TypeVar("_T_co", covariant=True)

_TAKES_IN_ORDER = "in_order" in inspect.signature(torch.utils.data.DataLoader.__init__).parameters


class _Progress:
    epoch = 0  # the loader's number of it
    given: int | None = None  # batches returned in the epoch; None between epochs
    epochs = 0  # earlier epochs of the same iterator


class DataLoader(torch.utils.data.DataLoader[_T_co]):
    """A ``torch.utils.data.DataLoader`` that uses threads where they are known to give the same batches.

    It takes torch's arguments, with torch's meanings and defaults. Batches, their order and all random numbers equal
    those of torch's loader. ``num_workers=n`` means n streams of random numbers, as with n worker processes.

    Threads make the samples only if all random draws are known to come from transforms of this package, as in
    torchvision's ``ImageFolder`` with one of these. User code in the data set or in ``collate_fn``, an
    ``IterableDataset``, and arguments for processes such as ``worker_init_fn`` lead to torch's worker processes. The
    data set is not called for this. :meth:`explain` returns the choice and its reason.

    If a sample fails, the rest of its batch is still made. Then its error is raised, with the number of the sample as
    ``index`` and the ``path`` of a file. Exceptions that end a process, such as SystemExit, become a RuntimeError, as
    with torch's workers. The next call returns the next batch. In a forked child, an iterator of the parent raises a
    RuntimeError. The memory of a batch is reused when nothing refers to it.

    With ``device="cuda"``, threads read and decode the images of a folder, and the device runs the rest of the pipeline
    on a stream of the loader. Other batches are made on the CPU, and then moved: tensors and all objects with a method
    ``to``, in dictionaries, lists and tuples of any depth. A ``collate_fn`` receives images on the device if they are
    made there. Use a batch on the stream that is current at ``next()``, which waits for it instead of the process.

    Args:
        num_threads: number of threads. By default ``num_workers``, but at most the CPUs that the process may use, and
            all of these if ``num_workers`` is 0.
        rng: ``"torch"``; or ``"sample"``, with which the random numbers of a sample depend only on ``seed``, the epoch
            and the index of the sample, for any number of workers, batch size, rank or resumption. A sample is then the
            one after ``torch.manual_seed(sample_seed(seed, epoch, index))`` and the same for Python's and NumPy's
            generators. Epochs count from 0, or from the number that :meth:`set_epoch` sets.
        seed: for ``rng="sample"``, not negative; by default 0.
        device: device of the batches, ``"cuda"``, ``"cuda:1"``, ``"cpu"`` or a torch.device; by default the CPU.
        threads: None for threads where they are known to be right; False for torch's iterators; True for your promise
            that the data set draws only by transforms of this package, and may be called from several threads. Each
            thread then makes a batch, and a data set that visibly draws by itself raises a RuntimeError.

    All other arguments are torch's. With a ``device``, ``pin_memory`` applies only to batches of worker processes,
    which torch's thread then copies to pinned memory. Other batches always use pinned memory.

    Raises:
        TypeError, ValueError: as torch's; ``num_threads`` or ``seed`` is not such an integer; ``num_threads`` was given
            where threads are not used; ``rng``, ``threads`` or ``device`` is unknown; the data set has no indices, but
            ``rng="sample"`` or ``threads=True`` was given; or ``seed`` was given without ``rng="sample"``.
        RuntimeError: no CUDA device can be used. ``iter()`` raises it too in a fork of a process that used CUDA, and
            ``next()`` while the current stream is captured, which consumes no batch.

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
        seed: int | None = None,
        device: str | torch.device | None = None,
        threads: bool | None = None,
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
        if rng not in _POLICIES:
            raise ValueError(f"rng should be 'torch' or 'sample', got {rng!r}")
        if rng == "sample" and isinstance(dataset, IterableDataset):
            raise ValueError("rng='sample' is for data sets with indices, got an IterableDataset")
        if threads is not None and not isinstance(threads, bool):
            raise TypeError(f"threads should be True, False or None, got {threads!r}")
        if threads and isinstance(dataset, (IterableDataset, MapDataPipe)):
            raise ValueError(f"threads=True is for data sets with indices, got a {type(dataset).__name__}")
        if seed is not None:
            seed = word("seed", seed)
            if rng != "sample":
                raise ValueError(f"seed is of rng='sample', got seed={seed} with rng={rng!r}")
        self.rng = rng
        self.seed = 0 if seed is None and rng == "sample" else seed
        self.device = common_device((), device)
        self.threads = threads
        if num_threads is not None and not (choice := choice_of(self)).threads:
            raise ValueError(
                f"num_threads is of threads, which are not used here: {choice.reason}. With workers, {PROMISE}. Got "
                f"num_threads={num_threads}"
            )
        self._warned = False  # that a library builds another loader without these arguments
        self._side: Side | None = None  # the device's
        self._next_epoch = 0
        self._epoch = 0
        self._times: Times | None = None
        self._begin: dict[str, Any] | None = None
        self._progress = _Progress()
        self._current: Any = None  # a reference to the iterator of threads of this epoch
        self._latest: Any = None
        self._left: dict[str, Any] | None = None  # the state of a deleted iterator
        self._resume: dict[str, Any] | None = None

    def __iter__(self) -> Any:
        if self._resume is not None:
            self._iterator = None
        iterator: Any = self._iterator if self.persistent_workers else None
        if isinstance(iterator, ThreadsIter) and not choice_of(self).threads:
            self._iterator = iterator = None
        if iterator is not None and not isinstance(iterator, ThreadsIter):
            self._begin_progress()
            self._progress.given = 0
            self._progress.epochs += 1
        iterator = super().__iter__()
        self._times = iterator.times
        by_threads = isinstance(iterator, ThreadsIter)
        self._current = weakref.ref(iterator) if by_threads else None
        self._latest = iterator._begin if by_threads else None
        self._left = None
        return iterator

    # vars(), because mypy sees torch's attribute `dataset`.
    def _dataset_asked(self) -> Any:
        return dataset_for(self, vars(self)["dataset"], 2)

    def _set_dataset(self, dataset: Any) -> None:
        vars(self)["dataset"] = dataset

    dataset = property(_dataset_asked, _set_dataset)

    def explain(self) -> LoaderChoice:
        """Return what makes the samples of this loader, and why, without making any. Print it.

        The choice is made anew for each iterator, from the arguments and the data set at that time.
        """
        return choice_of(self)

    def _begin_epoch(self) -> int:
        self._epoch = self._next_epoch
        self._next_epoch += 1
        return self._epoch

    def _begin_progress(self) -> None:
        self._progress.epoch = self._begin_epoch()
        self._begin = states_of(generators_of(self))

    def _get_iterator(self) -> Any:
        side = self._beside()
        resume, self._resume = self._resume, None
        self._progress = _Progress()
        self._begin_progress()
        return ThreadsIter(self, self._epoch, side, resume) if self._has_threads() else self._torchs(resume)

    def _has_threads(self) -> bool:
        """Return whether its iterator is a ThreadsIter, which also serves ``rng="sample"`` without workers."""
        alone = self.rng == "sample" and not self.num_workers and not isinstance(self.dataset, MapDataPipe)
        return alone or choice_of(self).threads

    def _beside(self) -> Side | None:
        """Return the stream on which batches are made ahead."""
        if self.device is None:
            return None
        from fastaug._cuda import memory

        device = memory.of(self.device)
        if self._side is None:
            # One for all epochs, because torch caches memory per stream.
            self._side = device.side()
        return self._side

    def _torchs(self, resume: dict[str, Any] | None) -> Any:
        if resume is None:
            return self._begin_torchs()
        own = generators_of(self)
        with untouched():
            set_all(own, resume["begin"])
            self._begin = states_of(own)
            iterator = self._begin_torchs()
            for _ in range(resume["first"]):
                next(iterator)
            after = get_states()
        if not self.num_workers:
            set_states(after)
        return iterator

    def _begin_torchs(self) -> Any:
        side = self._beside()
        return torchs_iterator(self, None if side is None else side.device)

    def _planned(self, indices: Any, base_seed: int) -> Plan:
        """Return how to make batches, given the indices of the first one and the seed of the workers."""
        workers, cpus = self.num_workers, threads_for(None)
        threads = self.num_threads or min(cpus, workers or cpus)
        first = indices[0] if self._auto_collation and indices else indices
        made = "on the CPU" if self.device is None else f"on the CPU and moved to {self.device}"
        chosen = choice_of(self).threads
        images = Images.of(self.dataset) if self._auto_collation and chosen else None
        # Without a promise, threads are chosen for what is known, but for targets without workers.
        by_kind = chosen and self.threads is None and workers > 0
        known = by_kind or unknown_data(self.dataset, images is not None) is None
        if images is not None and is_drafted(images, first):
            # Threads make views, which are then moved.
            if self.device is None or isinstance(images.transform, Views):
                return Plan(partial(ImagesFlight, images, known), threads, False, made)
            from fastaug.data._load.on_device import PlacedFlight

            return Plan(partial(PlacedFlight, images, known), threads, False, f"on {self.device}")
        if self.rng == "torch":
            # The samples of one stream are made one after the other.
            threads = min(threads, max(workers, 1))
        promise = Promise(self.dataset, workers, base_seed) if workers and not known else None
        flight = partial(ItemsFlight, self.dataset, self._auto_collation, not workers, known, promise)
        return Plan(flight, threads if workers else 1, True, made)

    def check_worker_number_rationality(self) -> None:
        """Do nothing, because threads are not processes. torch warns when worker processes start."""

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch for ``rng="sample"``, and call ``set_epoch`` of the samplers that have it.

        Args:
            epoch: its number, not negative.

        Raises:
            TypeError, ValueError: not such an integer.
        """
        self._next_epoch = word("epoch", epoch)
        for sampler in samplers_of(self):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the loader as plain data, from which :meth:`load_state_dict` continues.

        The position is after the last batch returned, or at the start of the next epoch after a complete one. The
        state has the generators of the loader, its samplers and its workers. The training loop should save the global
        generators, which the state has only without workers.
        """
        iterator = None if self._current is None else self._current()
        inner, epoch = None, self._next_epoch
        if iterator is not None and (self.persistent_workers or not iterator.finished):
            inner = iterator.state()
            epoch = epoch if iterator.finished else iterator.epoch
        elif self._left is not None:
            inner, epoch = self._left, self._epoch
        elif self._progress.given is not None:
            inner, epoch = plain({"begin": self._begin, "first": self._progress.given}), self._epoch
            inner["exact"] = not (self.persistent_workers and self._progress.epochs)
        return {
            "rng": self.rng,
            "seed": self.seed,
            "num_workers": self.num_workers,
            "epoch": epoch,
            "threads": inner is not None and "streams" in inner,
            "own": states_of(generators_of(self))["own"],
            "samplers": epochs_of(self),
            "iterator": inner,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Make the next iterator continue from :meth:`state_dict`, called in this or another process.

        The data set and its sampler must be the same, and with ``rng="torch"`` also ``num_workers``. Without workers,
        this restores the global generators. torch's processes make the batches up to there again and drop them. For
        persistent workers in a later epoch that is not enough, and a warning is issued.

        Raises:
            TypeError: not a dictionary.
            ValueError: not from ``state_dict``; another ``rng`` or number of streams; or, within an epoch, a state of
                threads for a loader without threads, or the reverse.
        """
        if not isinstance(state, dict):
            raise TypeError(f"state should be a dictionary, as state_dict() returns it, got {type(state).__name__}")
        missing = {"rng", "seed", "num_workers", "epoch", "threads", "own", "samplers", "iterator"} - state.keys()
        if missing:
            raise ValueError(f"state should be what state_dict() returns, it lacks {', '.join(sorted(missing))}")
        for name in ("rng", "num_workers") if self.rng == "torch" else ("rng", "seed"):
            if state[name] != getattr(self, name):
                raise ValueError(
                    f"state is of a loader with {name}={state[name]!r}, this one has {getattr(self, name)!r}"
                )
        threads = self._has_threads()
        if state["iterator"] is not None and state["threads"] != threads:
            made = ["torch's own iterator", "threads"]
            raise ValueError(
                f"state is of a loader whose samples {made[state['threads']]} made, this one has {made[threads]}: "
                f"{choice_of(self).reason}"
            )
        if not (state["iterator"] or {}).get("exact", True):
            warnings.warn(
                "fastaug.data.DataLoader: worker processes of several epochs cannot be brought to where they were, so "
                "their random numbers begin anew",
                stacklevel=2,
            )
        self._next_epoch = state["epoch"]
        self._resume = state["iterator"]
        self._current, self._left = None, None
        set_own(generators_of(self), state)
        set_epochs(self, state["samplers"])

    def profile(self) -> LoaderReport:
        """Return where the time of this epoch, or of the last one, has gone so far. Print it."""
        return (self._times or Times()).report()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_current": None, "_latest": None, "_side": None}
