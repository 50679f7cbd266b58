"""A data set that threads call on the user's word: what it is told of its worker, and whether the word is kept."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data._utils import worker

from fastaug._draft.draws import DEFAULT
from fastaug._draft.generators import Generators, States, get_states, seed_all, states_now, untouched

# Seconds for which a thread waits for generators in which other states stand. It does without them after that: whoever
# has put these there may wait for the thread.
_PATIENCE = 0.5

_ALL = ["torch's", "Python's", "NumPy's"]

# Where nobody else's seeds are.
_ELSEWHERE = 0x6C6F61646572

_COLLATION = "torch.utils.data._utils.collate"


class _Here(threading.local):
    info: Any = None


_here = _Here()


def info() -> Any:
    """What get_worker_info() says in this thread.

    torch's collation asks too, and has workers put tensors into shared memory. A thread's need not be there.
    """
    asking = sys._getframe(2).f_globals.get("__name__")
    return None if asking == _COLLATION else _here.info


def initial_seed() -> int | None:
    """What torch.initial_seed() says in this thread; None where it is what it says anywhere."""
    return None if _here.info is None or DEFAULT.generator is None else int(DEFAULT.generator.initial_seed())


def _get_worker_info() -> Any:
    import sys

    return sys.modules["fastaug.data._load.promise"].info() if _worker_info is None else _worker_info  # type: ignore[name-defined]  # noqa: F821


def _initial_seed() -> Any:
    import sys

    seed = sys.modules["fastaug.data._load.promise"].initial_seed()
    return default_generator.initial_seed() if seed is None else seed  # type: ignore[name-defined]  # noqa: F821


def _teach_torch() -> None:
    """Has torch's two functions know of threads.

    Their code is exchanged, and not the functions: data sets import them by name. It runs with torch's own globals.
    """
    worker.get_worker_info.__code__ = _get_worker_info.__code__
    torch.random.initial_seed.__code__ = _initial_seed.__code__


class Promise:
    """That a data set draws by transforms of this package alone, and may be called by several threads.

    Args:
        dataset: of the user's.
        workers: how many there would be.
        base_seed: what the loader drew for them.
    """

    def __init__(self, dataset: Any, workers: int, base_seed: int) -> None:
        self._dataset = dataset
        self._workers = workers
        self._base_seed = base_seed
        self._passed = 0  # suspicions that were none
        self._skipped = 0  # of those after the last one
        _teach_torch()

    @contextlib.contextmanager
    def worker(self, batch: int, moved: list[str]) -> Iterator[None]:
        """In a thread: what a worker process is told that makes the batch of that number.

        Args:
            moved: gets the names of the process's generators that are elsewhere afterwards.
        """
        number = batch % self._workers
        before = states_now(_PATIENCE)
        _here.info = worker.WorkerInfo(
            id=number, num_workers=self._workers, seed=self._base_seed + number, dataset=self._dataset
        )
        try:
            yield
        finally:
            _here.info = None
            moved += _moved(before, states_now(_PATIENCE))

    def check(self, moved: list[str], indices: Any, settle: Callable[[], None], make: Callable[[], Any]) -> None:
        """After a batch in whose time the process's generators moved, which the training loop may have done.

        The batch is made once more while the training loop waits, and the threads are idle. Where that moves nothing
        for a few batches, the next 1, 3, 7, .. of such batches are taken as they are.

        Args:
            moved: names of generators.
            settle: waits until the threads are idle.
            make: makes the batch.

        Raises:
            RuntimeError: the data set draws by itself.
        """
        if not moved:
            return
        # One batch that breaks it comes with suspicions of those that other threads made meanwhile.
        if self._skipped < 2 ** max(self._passed - 2 * self._workers - 2, 0) - 1:
            self._skipped += 1
            return
        self._skipped = 0
        self._passed += 1
        settle()
        if names := _drawn(make):
            raise RuntimeError(
                f"threads=True promises that {type(self._dataset).__name__} draws by transforms of fastaug alone, but "
                f"for the batch of indices {indices} it draws by itself from {' and '.join(names)} random generator. "
                "Without threads=True, worker processes make its samples as torch's DataLoader does"
            )


def _moved(before: States | None, after: States | None) -> list[str]:
    if before is None or after is None:
        return []
    same = (
        torch.equal(before[0], after[0]),
        before[1] == after[1],
        before[2][2:] == after[2][2:] and np.array_equal(before[2][1], after[2][1]),
    )
    return [name for name, equal in zip(_ALL, same) if not equal]


def _drawn(make: Callable[[], Any]) -> list[str]:
    """The process's generators that making samples moves, each time; other threads of the user's may move some as well.

    So as much time passes again without making any, and what moves then is not held against it.
    """
    names = _ALL
    for number in range(2):
        with untouched(), Generators().in_thread():
            seed_all(_ELSEWHERE + number)  # a data set that seeds them may have left them as it leaves them again
            before, start = get_states(), time.perf_counter()
            with contextlib.suppress(Exception):
                make()
            between = get_states()
            names = [name for name in names if name in _moved(before, between)]
            if not names:
                break
            time.sleep(time.perf_counter() - start)
            others = _moved(between, get_states())
        names = [name for name in names if name not in others]
    return names
