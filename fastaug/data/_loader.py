"""torch's DataLoader, with threads instead of worker processes where these are known to give the same."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.utils.data import IterableDataset, MapDataPipe

from fastaug._batch.threads import threads_for
from fastaug._draft.generators import get_states, set_all, set_own, set_states, states_of, untouched
from fastaug._load.choice import PROMISE, LoaderChoice, choice_of, unknown_data
from fastaug._load.flights import flights_of_folder, flights_of_items
from fastaug._load.iterator import Plan, ThreadsIter
from fastaug._load.probe import is_drafted
from fastaug._load.processes import torchs_iterator
from fastaug._load.rebuilt import dataset_for
from fastaug._load.report import LoaderReport, Times
from fastaug._load.seeds import word
from fastaug._load.sources import Folder
from fastaug._load.states import epochs_of, generators_of, plain, samplers_of, set_epochs
from fastaug._views.views import Views

if TYPE_CHECKING:
    from fastaug._cuda.memory import Side

_POLICIES = ("torch", "sample")

_T_co = TypeVar("_T_co", covariant=True)

_TAKES_IN_ORDER = "in_order" in inspect.signature(torch.utils.data.DataLoader.__init__).parameters


class _Progress:
    """How far an iterator of torch's is."""

    epoch = 0  # of the loader's
    given: int | None = None  # batches of the epoch; None between epochs
    epochs = 0  # that were before this one, of the same iterator


class DataLoader(torch.utils.data.DataLoader[_T_co]):
    """``torch.utils.data.DataLoader`` with threads for what is known to be fit for them: the same batches, faster.

    Takes torch's arguments, with torch's meanings and defaults. Batches, their order and all random numbers are those
    of torch's loader. ``num_workers=n`` means n streams of random numbers, as n worker processes have them.

    Threads make the samples only where nothing draws but transforms of this package. That is known of torchvision's
    ``ImageFolder``, ``DatasetFolder`` and the like, of a ``TensorDataset``, of lists, arrays and tensors, and of a
    ``Subset`` or ``ConcatDataset`` of these. It needs transforms of this package alone, and no ``loader``,
    ``target_transform`` or ``collate_fn`` of your own. Everything else is done as torch's ``DataLoader`` does it, by
    its worker processes; so is an ``IterableDataset``, and whatever has a ``worker_init_fn``,
    ``multiprocessing_context`` or ``timeout``. Nothing is tried out to find that out. :meth:`explain` says what makes
    the samples, and why.

    With ``threads=True`` you promise that a data set of your own draws by transforms of this package alone, and may be
    called by several threads. Each thread then makes a batch. A data set that is seen to draw by itself is a
    RuntimeError. A ``collate_fn`` of your own is called in ``next()``, with the random numbers that it has in a worker.

    Threads make the images of a folder several at a time, straight into the tensor of the batch. Two batches are on
    their way while one is used, or as many as there are threads where each makes one. Memory of batches is used again
    when nothing refers to it.

    If threads cannot make a sample, they make the others of its batch. Then the error is raised by its own type, with
    the number of the sample as ``index`` and the path of a file as ``path``. What ends a process, such as SystemExit,
    is a RuntimeError, as it is of torch's workers. The next call gives the next batch. In a forked child, an iterator
    of the parent raises a RuntimeError.

    With ``device="cuda"`` batches are on that device, with everything else as it is without. Threads read and decode
    the images of a folder; the device does the rest of the pipeline, on a stream of the loader's own, as
    ``transform.batch(..., device=)`` does it. Any other batch is made on the CPU and moved when it has been collated.
    Tensors that go with the images, such as labels, are moved as well, as is whatever has a method ``to``, in
    dictionaries, lists and tuples of any depth. A ``collate_fn`` of your own is given images that are on the device
    where these are made there; what it returns is moved. A batch is for work on the stream that is current where
    ``next()`` is called. That stream waits for it, and the process does not; but ``next()`` waits until the stream is
    no more than two batches behind. :meth:`profile` says where batches are made.

    Args:
        num_threads: how many threads work; by default ``num_workers``, but no more than the CPUs that the process may
            use, and all of these where ``num_workers`` is 0.
        rng: ``"torch"``; or ``"sample"``, where the random numbers of a sample depend on ``seed``, the number of the
            epoch and the index of the sample alone, for any number of workers, batch size, rank or resumption. A sample
            is what the data set gives after ``torch.manual_seed(sample_seed(seed, epoch, index))``, and the same for
            Python's and NumPy's generators. Epochs are counted from 0, or from what :meth:`set_epoch` says.
        seed: of ``rng="sample"``, not negative; by default 0.
        device: where batches are to be: ``"cuda"``, ``"cuda:1"``, ``"cpu"`` or a torch.device; by default the CPU.
        threads: None for threads where they are known to be right; True for your promise that they are; False for
            torch's iterators.

    All other arguments are torch's. With a ``device``, ``pin_memory`` concerns the batches of worker processes alone,
    which torch's thread then puts into pinned memory; all others go through it anyway.

    Raises:
        TypeError, ValueError: as torch's; ``num_threads`` or ``seed`` that is not such an integer; ``num_threads``
            where threads are not used; another ``rng`` or ``threads``; ``rng="sample"`` or ``threads=True`` with a data
            set that has no indices; ``seed`` without ``rng="sample"``; an unknown ``device``.
        RuntimeError: no CUDA device can be used; also in ``iter()``, in a fork of a process that had used CUDA, and in
            ``next()`` while the current stream is captured, which takes no batch.

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
        self.device = _as_device(device)
        self.threads = threads
        if num_threads is not None and not (choice := choice_of(self)).threads:
            raise ValueError(
                f"num_threads is of threads, which are not used here: {choice.reason}. With workers, {PROMISE}. Got "
                f"num_threads={num_threads}"
            )
        self._warned = False  # of what a library that builds another loader loses
        self._side: Side | None = None  # of the device
        self._next_epoch = 0
        self._epoch = 0
        self._times: Times | None = None
        self._begin: dict[str, Any] | None = None
        self._progress = _Progress()
        self._current: Any = None  # a reference to the iterator of threads of this epoch
        self._latest: Any = None
        self._left: dict[str, Any] | None = None  # the state of one that is gone
        self._resume: dict[str, Any] | None = None

    def __iter__(self) -> Any:
        if self._resume is not None:
            self._iterator = None
        iterator: Any = self._iterator if self.persistent_workers else None
        if isinstance(iterator, ThreadsIter) and not choice_of(self).threads:
            self._iterator = iterator = None
        if iterator is not None and not isinstance(iterator, ThreadsIter):
            self._progress.epoch = self._begin_epoch()
            self._begin = states_of(generators_of(self))
            self._progress.given = 0
            self._progress.epochs += 1
        iterator = super().__iter__()
        self._times = iterator.times
        by_threads = isinstance(iterator, ThreadsIter)
        self._current = weakref.ref(iterator) if by_threads else None
        self._latest = iterator._begin if by_threads else None
        self._left = None
        return iterator

    # mypy takes the data set for an attribute, as torch has it.
    def _dataset_asked(self) -> Any:
        return dataset_for(self, vars(self)["dataset"], 2)

    def _set_dataset(self, dataset: Any) -> None:
        vars(self)["dataset"] = dataset

    dataset = property(_dataset_asked, _set_dataset)

    def explain(self) -> LoaderChoice:
        """What makes the samples of this loader, and why, without making any. Print it.

        It is decided for each iterator, by the arguments and the data set as they are then.
        """
        return choice_of(self)

    def _begin_epoch(self) -> int:
        self._epoch = self._next_epoch
        self._next_epoch += 1
        return self._epoch

    def _get_iterator(self) -> Any:
        side = self._beside()
        resume, self._resume = self._resume, None
        self._progress = _Progress()
        self._progress.epoch = self._begin_epoch()
        self._begin = states_of(generators_of(self))
        return ThreadsIter(self, self._epoch, side, resume) if self._has_threads() else self._torchs(resume)

    def _has_threads(self) -> bool:
        """Whether its iterator is that of threads, which makes samples with draws of their own in ``next()`` too."""
        alone = self.rng == "sample" and not self.num_workers and not isinstance(self.dataset, MapDataPipe)
        return alone or choice_of(self).threads

    def _beside(self) -> Side | None:
        """The stream on which batches are made ahead.

        Raises:
            RuntimeError: the device cannot be used, such as in a fork.
        """
        if self.device is None:
            return None
        from fastaug._cuda import memory

        device = memory.of(self.device)
        if self._side is None:
            # One for all epochs: torch keeps memory by streams.
            self._side = device.side()
        return self._side

    def _folder(self) -> Folder | None:
        return Folder.of(self.dataset) if self._auto_collation else None

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
        """How batches are made, where these are the indices of the first one, and workers are seeded by that."""
        workers, cpus = self.num_workers, threads_for(None)
        threads = self.num_threads or min(cpus, workers or cpus)
        first = indices[0] if self._auto_collation and indices else indices
        made = "on the CPU" if self.device is None else f"on the CPU and moved to {self.device}"
        folder = self._folder() if choice_of(self).threads else None
        known = unknown_data(self.dataset, folder is not None) is None
        if folder is not None and is_drafted(folder, first):
            # Views are made by the threads, and moved.
            if self.device is None or isinstance(folder.transform, Views):
                return Plan(flights_of_folder(folder, known), threads, False, made)
            from fastaug._load.on_device import flights_on_device

            return Plan(flights_on_device(folder, known), threads, False, f"on {self.device}")
        if self.rng == "torch":
            # Those of a stream come one after the other.
            threads = min(threads, max(workers, 1))
        promise = None
        if workers and not known:
            from fastaug._load.promise import Promise

            promise = Promise(self.dataset, workers, base_seed)
        flights = flights_of_items(self.dataset, self._auto_collation, not workers, known, promise)
        return Plan(flights, threads if workers else 1, True, made)

    def check_worker_number_rationality(self) -> None:
        """Warns of nothing: threads are no processes. Where there are these, torch's warning comes when they begin."""

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch comes next, for ``rng="sample"``; and tells the sampler, if it wants to know.

        Args:
            epoch: its number, not negative.

        Raises:
            TypeError, ValueError: no such integer.
        """
        self._next_epoch = word("epoch", epoch)
        for sampler in samplers_of(self):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: plain data, from which :meth:`load_state_dict` goes on with the batches that are left.

        After an epoch it is where the next one begins; in an epoch, or after one that was left early, behind the last
        batch that was given out. It has the generators of the loader, of its samplers and of its workers, and the epoch
        that samplers were told. Of the global
        ones, whose state is the training loop's to save, it has what was drawn for the epoch, and without workers what
        they are now.
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
        """Has the next iterator go on from where :meth:`state_dict` was called, in this or another process.

        The data set and its sampler have to be the same. With ``rng="torch"`` so has ``num_workers``; without workers
        the global generators go where they were. Where torch's processes do the work, batches that were given out are
        made again, and dropped; a warning says where that is not enough, for persistent workers in a later epoch.

        Raises:
            TypeError: no dictionary.
            ValueError: not what ``state_dict`` returns; of another ``rng``, or of another number of streams; in the
                midst of an epoch, of threads where this loader has none, or the other way round.
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
        """Where the time of this epoch, or of the last one, has gone so far. Print it."""
        return (self._times or Times()).report()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_current": None, "_latest": None, "_side": None}


def _as_device(device: Any) -> torch.device | None:
    """None for the CPU."""
    if device is None:
        return None
    from fastaug._cuda import memory

    given = memory.as_device(device)
    return None if given.type == "cpu" else given
