"""The random generators that a call may draw from: seeded, and left as they were; and generators of one's own."""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from fastaug._draft.draws import drawing_from


def generator_of(pipeline: Any) -> Any:
    """The generator that a pipeline draws from; None is torch's."""
    return getattr(pipeline._call.draws, "generator", None)


#: Where the generators of torch (on the CPU), Python and NumPy are: user callables may draw from any of them.
States = tuple[torch.Tensor, tuple[Any, ...], Any]


def get_states() -> States:
    return torch.default_generator.get_state(), random.getstate(), np.random.get_state()  # noqa: NPY002


def set_states(states: States) -> None:
    torch.default_generator.set_state(states[0])
    random.setstate(states[1])
    np.random.set_state(states[2])  # noqa: NPY002


def states_of(own: list[torch.Generator]) -> dict[str, Any]:
    """Where these are, and the global ones."""
    return {"global": get_states(), "own": [generator.get_state() for generator in own]}


def set_all(own: list[torch.Generator], states: dict[str, Any]) -> None:
    """Has all be where they were for `states_of`."""
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
    """In a forked child, which lacks the thread that may have had it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def untouched(*generators: Any) -> Iterator[None]:
    """Leaves the random generators of torch (on the CPU), Python and NumPy, and those given, as they are now.

    One thread at a time. What may draw in another thread meanwhile, without this, draws from whatever is in them: so
    this is for callables of the user's, which know no other generators.
    """
    own = [generator for generator in generators if generator is not None]
    with _lock:
        states = states_of(own)
        try:
            yield
        finally:
            set_all(own, states)


def states_now(seconds: float) -> States | None:
    """Where the process's generators are, and not what stands in them for a while; None if it stands for longer."""
    if not _lock.acquire(timeout=seconds):
        return None
    try:
        return get_states()
    finally:
        _lock.release()


def seed_all(seed: int, *generators: Any) -> None:
    """Seeds the generators of torch (on the CPU), Python and NumPy, and those given."""
    for generator in (torch.default_generator, *generators):
        if generator is not None:
            generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


class Generators:
    """Generators of torch, Python and NumPy of one's own, in the place of the process's."""

    def __init__(self) -> None:
        self.torch, self.python, self.numpy = torch.Generator(), random.Random(), np.random.RandomState()

    def seed(self, seed: int) -> None:
        """As `seed_all` seeds the process's."""
        self.torch.manual_seed(seed)
        self.python.seed(seed)
        self.numpy.seed(seed % 2**32)

    def states(self) -> States:
        return self.torch.get_state(), self.python.getstate(), self.numpy.get_state()

    def set_states(self, states: States) -> None:
        self.torch.set_state(states[0])
        self.python.setstate(states[1])
        self.numpy.set_state(states[2])

    def in_thread(self) -> contextlib.AbstractContextManager[None]:
        """Transforms of this package draw from these in this thread, for the length of the context."""
        return drawing_from(self.torch, self.python, self.numpy)

    @contextlib.contextmanager
    def as_global(self) -> Iterator[None]:
        """The process's generators are these, for the length of the context, for callables that know no others."""
        with untouched():
            set_states(self.states())
            try:
                yield
            finally:
                self.set_states(get_states())
