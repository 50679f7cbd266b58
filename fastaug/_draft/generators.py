"""The random generators of a process, seeded or left as they were, and separate generators."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from fastaug._draft.draws import drawing


def generator_of(pipeline: Any) -> Any:
    """Return the generator that a pipeline draws from; None is torch's."""
    return getattr(pipeline._call.draws, "generator", None)


#: The states of the generators of torch (on the CPU), Python and NumPy. User code may draw from any of them.
States = tuple[torch.Tensor, tuple[Any, ...], Any]


class Generators:
    """Generators of torch, Python and NumPy that can be used instead of the process's."""

    def __init__(self) -> None:
        self.torch = torch.Generator()
        self._seed: int | None = None
        # The states of Python's and NumPy's, which take long to get, until one of them is asked for.
        self._states: tuple[Any, Any] | None = None

    # These two are made when they are asked for, which takes much longer than torch's.
    @functools.cached_property
    def _python(self) -> Any:
        return random.Random(self._seed)

    @functools.cached_property
    def _numpy(self) -> Any:
        return np.random.RandomState(None if self._seed is None else self._seed % 2**32)

    @property
    def python(self) -> Any:
        self._states = None
        return self._python

    @property
    def numpy(self) -> Any:
        self._states = None
        return self._numpy

    def seed(self, seed: int) -> None:
        self._states = None
        self._seed = seed
        self.torch.manual_seed(seed)
        if "_python" in vars(self):
            self._python.seed(seed)
        if "_numpy" in vars(self):
            self._numpy.seed(seed % 2**32)

    def states(self) -> States:
        if self._states is None:
            self._states = self._python.getstate(), self._numpy.get_state()
        return (self.torch.get_state(), *self._states)

    def set_states(self, states: States) -> None:
        self.torch.set_state(states[0])
        self.python.setstate(states[1])
        self.numpy.set_state(states[2])

    def in_thread(self) -> contextlib.AbstractContextManager[None]:
        """Have transforms of this package draw from these in this thread, within the context."""
        return drawing(self.torch, self)

    @contextlib.contextmanager
    def as_global(self) -> Iterator[None]:
        """Put these states into the process's generators, within the context, for user code."""
        with untouched():
            set_states(self.states())
            try:
                yield
            finally:
                self.set_states(get_states())


class _Process(Generators):
    def states(self) -> States:
        self._states = None  # anyone may draw from them
        return super().states()


_process: Any = _Process()
_process.torch, _process._python, _process._numpy = torch.default_generator, random, np.random

#: Of the process's own generators.
get_states: Callable[[], States] = _process.states
set_states: Callable[[States], None] = _process.set_states


def states_of(own: list[torch.Generator]) -> dict[str, Any]:
    """Return the states of these generators and of the global ones."""
    return {"global": get_states(), "own": [generator.get_state() for generator in own]}


def set_all(own: list[torch.Generator], states: dict[str, Any]) -> None:
    """Set the states that `states_of` returned."""
    set_states(states["global"])
    set_own(own, states)


def set_own(own: list[torch.Generator], states: dict[str, Any]) -> None:
    for generator, state in zip(own, states["own"]):
        generator.set_state(state)


def moved(before: States, after: States) -> list[str]:
    """Return the names of the generators whose states differ."""
    same = {
        "torch's": torch.equal(before[0], after[0]),
        "Python's": before[1] == after[1],
        "NumPy's": before[2][2:] == after[2][2:] and np.array_equal(before[2][1], after[2][1]),
    }
    return [name for name, equal in same.items() if not equal]


# While a thread has other states in the process's generators: two at a time would get each other's.
_lock = threading.RLock()


def _renew_lock() -> None:
    """Replace the lock in a forked child, which lacks the thread that may have held it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def untouched(*generators: Any, seed: int | None = None) -> Iterator[None]:
    """Leave the random generators of torch (on the CPU), Python and NumPy, and those given, as they are now.

    With a seed, they all start from it within the context.

    One thread at a time. Other threads that draw meanwhile, without this, draw from these states. So this is only for
    user code, which has no other generators.
    """
    own = [generator for generator in generators if generator is not None]
    with _lock:
        states = states_of(own)
        try:
            if seed is not None:
                seed_all(seed, *own)
            yield
        finally:
            set_all(own, states)


def states_now(seconds: float) -> States | None:
    """Return the states of the process's generators, or None if others replace them for longer than so many seconds."""
    if not _lock.acquire(timeout=seconds):
        return None
    try:
        return get_states()
    finally:
        _lock.release()


def seed_all(seed: int, *generators: Any) -> None:
    """Seed the generators of torch (on the CPU), Python and NumPy, and those given."""
    _process.seed(seed)
    for generator in generators:
        if generator is not None:
            generator.manual_seed(seed)
