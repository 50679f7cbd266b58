"""Streams of random numbers: those of torch's worker processes, and one for each sample."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch.utils.data._utils.worker import _generate_state

from fastaug._draft.generators import Generators, get_states, seed_all, set_states, untouched
from fastaug.data._load.seeds import COLLATION, sample_seed


class Stream(Protocol):
    """What the samples of a batch are drawn from.

    The calling thread has it in the place of the global generators; any other thread draws from it what transforms of
    this package draw.
    """

    ordered: bool  # whether what one batch draws hangs on what the batch before it drew

    def as_global(self) -> AbstractContextManager[None]:
        """The generators of torch, Python and NumPy are this stream, for the length of the context."""

    def in_thread(self) -> AbstractContextManager[None]:
        """Transforms of this thread draw from this stream, for the length of the context.

        The process's generators are left alone.
        """

    def begin_sample(self, index: Any) -> None:
        """The next draws, in one of the contexts, are for that sample."""

    def begin_collation(self, batch: int) -> None:
        """The next draws, in `as_global`, are for the collation of the batch of that number."""

    def own(self, generator: torch.Generator) -> torch.Generator:
        """What is drawn in the place of what a transform has as a generator of its own."""

    def state(self) -> Any:
        """To go back to with `set_state`; None where there is nothing to go back to."""

    def set_state(self, state: Any) -> None: ...


class WorkerStream:
    """The generators of one of torch's worker processes.

    Args:
        base_seed: what the DataLoader drew.
        number: of the worker.
    """

    ordered = True

    def __init__(self, base_seed: int, number: int) -> None:
        self._seed = base_seed + number
        self._generators = Generators()
        self._generators.seed(self._seed)
        self._generators.numpy.seed(_generate_state(base_seed, number))  # type: ignore[no-untyped-call]
        self._owned: torch.Generator | None = None

    def as_global(self) -> AbstractContextManager[None]:
        return self._generators.as_global()

    def in_thread(self) -> AbstractContextManager[None]:
        return self._generators.in_thread()

    def begin_sample(self, index: Any) -> None:
        """Samples are drawn one after the other."""

    def begin_collation(self, batch: int) -> None:
        """It is drawn after the samples."""

    def own(self, generator: torch.Generator) -> torch.Generator:
        # A worker has a copy of the one transform's, and seeds it as a compiled transform does in a worker.
        if self._owned is None:
            self._owned = torch.Generator()
            self._owned.set_state(generator.get_state())
            drawn = int(torch.empty((), dtype=torch.int64).random_(generator=self._owned))
            self._owned.manual_seed((drawn + self._seed) % 2**63)
        return self._owned

    def state(self) -> Any:
        return self._generators.states(), None if self._owned is None else self._owned.get_state()

    def set_state(self, state: Any) -> None:
        self._generators.set_states(state[0])
        if state[1] is not None:
            self._owned = torch.Generator()
            self._owned.set_state(state[1])


class GlobalStream:
    """The global generators themselves, as without workers."""

    ordered = True

    def as_global(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def in_thread(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def begin_sample(self, index: Any) -> None:
        """Samples are drawn one after the other."""

    def begin_collation(self, batch: int) -> None:
        """It is drawn after the samples."""

    def own(self, generator: torch.Generator) -> torch.Generator:
        return generator

    def state(self) -> Any:
        return get_states(), None

    def set_state(self, state: Any) -> None:
        set_states(state[0])


class SampleStream:
    """Draws of each sample of one batch that hang on nothing but its number.

    Args:
        seed: of the run.
        epoch: its number.
    """

    ordered = False

    def __init__(self, seed: int, epoch: int) -> None:
        self._seed = seed
        self._epoch = epoch
        self._owned = torch.Generator()
        self._own: Generators | None = None  # while they are in the place of the process's

    def as_global(self) -> AbstractContextManager[None]:
        return untouched()

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[None]:
        self._own = Generators()
        try:
            with self._own.in_thread():
                yield
        finally:
            self._own = None

    def begin_sample(self, index: Any) -> None:
        self._begin(sample_seed(self._seed, self._epoch, index))

    def begin_collation(self, batch: int) -> None:
        self._begin(sample_seed(self._seed, self._epoch, COLLATION + batch))

    def _begin(self, seed: int) -> None:
        if self._own is None:
            seed_all(seed, self._owned)
        else:
            self._own.seed(seed)
            self._owned.manual_seed(seed)

    def own(self, generator: torch.Generator) -> torch.Generator:
        return self._owned

    def state(self) -> Any:
        return None

    def set_state(self, state: Any) -> None:
        """There is nothing to go back to."""
