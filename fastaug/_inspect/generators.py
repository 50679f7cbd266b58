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


@contextlib.contextmanager
def untouched(*generators: Any) -> Iterator[None]:
    """Leaves the random generators of torch (on the CPU), Python and NumPy, and those given, as they are now."""
    chosen = [torch.default_generator, *(generator for generator in generators if generator is not None)]
    states = [generator.get_state() for generator in chosen]
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  # user callables may draw from it
    try:
        yield
    finally:
        for generator, state in zip(chosen, states):
            generator.set_state(state)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def seed_all(seed: int, *generators: Any) -> None:
    """Seeds the generators of torch (on the CPU), Python and NumPy, and those given."""
    for generator in (torch.default_generator, *generators):
        if generator is not None:
            generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
