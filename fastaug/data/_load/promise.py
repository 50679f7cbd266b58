"""A data set that threads call on the user's promise: its worker info, and the check of the promise."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data._utils import worker

from fastaug._draft.draws import DEFAULT
from fastaug._draft.generators import Generators, get_states, moved, seed_all, states_now, untouched

# Seconds for which a thread waits while the generators have other states. Then it does without them, because the thread
# that put these there may wait for this one.
_PATIENCE = 0.5

# An unlikely seed.
_ELSEWHERE = 0x6C6F61646572

_COLLATION = "torch.utils.data._utils.collate"


class _Here(threading.local):
    info: Any = None


_here = _Here()


def info() -> Any:
    """Return the result of get_worker_info() in this thread.

    For torch's collation that is None, or it would put tensors into shared memory.
    """
    asking = sys._getframe(2).f_globals.get("__name__")
    return None if asking == _COLLATION else _here.info


def initial_seed() -> int | None:
    """Return the result of torch.initial_seed() in this thread; None for torch's own."""
    return None if _here.info is None or DEFAULT.generator is None else int(DEFAULT.generator.initial_seed())


def _get_worker_info() -> Any:
    import sys

    return sys.modules["fastaug.data._load.promise"].info() if _worker_info is None else _worker_info  # type: ignore[name-defined]  # noqa: F821


def _initial_seed() -> Any:
    import sys

    seed = sys.modules["fastaug.data._load.promise"].initial_seed()
    return default_generator.initial_seed() if seed is None else seed  # type: ignore[name-defined]  # noqa: F821


def _teach_torch() -> None:
    """Make torch's two functions work in threads.

    Data sets import the functions by name, so their code is replaced. It runs with torch's globals.
    """
    worker.get_worker_info.__code__ = _get_worker_info.__code__
    torch.random.initial_seed.__code__ = _initial_seed.__code__


class Promise:
    """The promise that a data set draws only by transforms of this package, and may be called by several threads."""

    def __init__(self, dataset: Any, workers: int, base_seed: int) -> None:
        self._dataset = dataset
        self._workers = workers
        self._base_seed = base_seed
        self._passed = 0  # suspicions that were wrong
        self._skipped = 0  # later ones that were not checked
        _teach_torch()

    @contextlib.contextmanager
    def worker(self, batch: int, changed: list[str]) -> Iterator[None]:
        """Set the info of the worker of a batch in this thread. Append generators of the process that `changed`."""
        number = batch % self._workers
        before = states_now(_PATIENCE)
        _here.info = worker.WorkerInfo(
            id=number, num_workers=self._workers, seed=self._base_seed + number, dataset=self._dataset
        )
        try:
            yield
        finally:
            _here.info = None
            after = states_now(_PATIENCE)
            if before is not None and after is not None:
                changed += moved(before, after)

    def check(self, changed: list[str], indices: Any, settle: Callable[[], None], make: Callable[[], Any]) -> None:
        """Check a batch during which the process's generators moved, perhaps because of the training loop.

        The batch is made again while the training loop waits and the threads are idle. If nothing moves for a few
        batches, the next 1, 3, 7, .. such batches are not checked.
        """
        if not changed:
            return
        # A batch that breaks the promise makes those of other threads at that time suspicious.
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


def _drawn(make: Callable[[], Any]) -> list[str]:
    """Return the process's generators that move each time that samples are made.

    Other threads of the user may move some too. So the same time passes again without samples, and generators that move
    then are ignored.
    """
    names = ["torch's", "Python's", "NumPy's"]
    for number in range(2):
        with untouched(), Generators().in_thread():
            seed_all(_ELSEWHERE + number)  # a data set that seeds them may leave the same state again
            before, start = get_states(), time.perf_counter()
            with contextlib.suppress(Exception):
                make()
            between = get_states()
            names = [name for name in names if name in moved(before, between)]
            if not names:
                break
            time.sleep(time.perf_counter() - start)
            others = moved(between, get_states())
        names = [name for name in names if name not in others]
    return names
