"""The random numbers of a loader: streams for its samples, and the states of its generators and samplers."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch.utils.data._utils.worker import _generate_state

from fastaug import _C
from fastaug._draft.generators import Generators, get_states, seed_all, set_states, untouched
from fastaug.data._load.seeds import COLLATION, sample_seed


class Stream:
    """A source of random numbers for samples. This one is the process's generators, as without workers.

    The calling thread draws with it as the global generators. In other threads, transforms of this package draw from
    it.
    """

    #: Whether the draws of a batch depend on those of the batch before it.
    ordered = True

    def as_global(self) -> AbstractContextManager[None]:
        """Replace the generators of torch, Python and NumPy by this stream in a context."""
        return contextlib.nullcontext()

    def in_thread(self) -> AbstractContextManager[None]:
        """Let transforms of this thread draw from this stream in a context, without the process's generators."""
        return contextlib.nullcontext()

    def begin_sample(self, index: Any) -> None:
        """Called in one of the contexts before the draws for a sample."""

    def seeds(self, indices: Sequence[Any]) -> list[int] | None:
        """Return the seeds of samples that each begin with one, if they do and their indices are plain."""
        return None

    def begin_collation(self, batch: int) -> None:
        """Called in `as_global` before the draws for the collation of the batch of that number."""

    def own(self, generator: torch.Generator) -> torch.Generator:
        return generator

    def state(self) -> Any:
        return get_states(), None

    def set_state(self, state: Any) -> None:
        set_states(state[0])


class WorkerStream(Stream):
    """The generators of one of torch's worker processes, by the DataLoader's seed and the number of the worker."""

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

    def own(self, generator: torch.Generator) -> torch.Generator:
        # A worker seeds its copy of the transform's generator as a compiled transform does in a worker.
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


class SampleStream(Stream):
    """Draws for the samples of one batch, which depend only on the seed, the epoch and the index of each."""

    ordered = False

    def __init__(self, seed: int, epoch: int) -> None:
        self._seed = seed
        self._epoch = epoch
        self._owned = torch.Generator()
        self._own: Generators | None = None  # those of the last context, if that was one of `in_thread`

    def as_global(self) -> AbstractContextManager[None]:
        self._own = None
        return untouched()

    def in_thread(self) -> AbstractContextManager[None]:
        self._own = Generators()
        return self._own.in_thread()

    def begin_sample(self, index: Any) -> None:
        seed = sample_seed(self._seed, self._epoch, index)
        if self._own is None:
            seed_all(seed, self._owned)
        else:
            self._own.seed(seed)
            self._owned.manual_seed(seed)

    def seeds(self, indices: Sequence[Any]) -> list[int] | None:
        if set(map(type, indices)) != {int} or min(indices) < 0:
            return None
        return _C.sample_seeds(self._seed, self._epoch, indices)

    def begin_collation(self, batch: int) -> None:
        self.begin_sample(COLLATION + batch)

    def own(self, generator: torch.Generator) -> torch.Generator:
        return self._owned

    def state(self) -> Any:
        return None

    def set_state(self, state: Any) -> None:
        """Do nothing, because the samples have no common state."""


def samplers_of(loader: Any) -> list[Any]:
    """Return its sampler, its batch sampler, and the sampler of that."""
    batches = loader.batch_sampler
    found = (loader.sampler, batches, getattr(batches, "sampler", None))
    return list({id(one): one for one in found if one is not None}.values())


def generators_of(loader: Any) -> list[torch.Generator]:
    found = [getattr(owner, "generator", None) for owner in (loader, *samplers_of(loader))]
    return list({id(one): one for one in found if isinstance(one, torch.Generator)}.values())


def epochs_of(loader: Any) -> list[int]:
    return [sampler.epoch for sampler in _counting(loader)]


def set_epochs(loader: Any, epochs: list[int]) -> None:
    for sampler, epoch in zip(_counting(loader), epochs):
        sampler.set_epoch(epoch)


def _counting(loader: Any) -> list[Any]:
    return [
        one for one in samplers_of(loader) if hasattr(one, "set_epoch") and isinstance(getattr(one, "epoch", None), int)
    ]


def plain(value: Any) -> Any:
    """Replace arrays by lists, which torch.load() reads with weights_only and NumPy accepts."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(part) for part in value)
    return value.tolist() if isinstance(value, np.ndarray) else value
