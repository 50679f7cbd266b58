"""The random generators that a call may draw from: seeded, and left as they were."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


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


@contextlib.contextmanager
def untouched(*generators: Any) -> Iterator[None]:
    """Leaves the random generators of torch (on the CPU), Python and NumPy, and those given, as they are now."""
    own = [generator for generator in generators if generator is not None]
    states = states_of(own)
    try:
        yield
    finally:
        set_all(own, states)


def seed_all(seed: int, *generators: Any) -> None:
    """Seeds the generators of torch (on the CPU), Python and NumPy, and those given."""
    for generator in (torch.default_generator, *generators):
        if generator is not None:
            generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
