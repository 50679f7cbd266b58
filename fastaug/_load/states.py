"""Where the generators are that a loader and its samplers draw from, as plain data that can be saved."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def generators_of(loader: Any) -> list[torch.Generator]:
    """Those of the loader's own and of its samplers'."""
    batches = loader.batch_sampler
    owners = (loader, loader.sampler, batches, getattr(batches, "sampler", None))
    found = [getattr(owner, "generator", None) for owner in owners]
    return list({id(one): one for one in found if isinstance(one, torch.Generator)}.values())


def states_of(loader: Any) -> dict[str, Any]:
    """Of the global generators, and of `generators_of`."""
    return {
        "torch": torch.default_generator.get_state(),
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002
        "own": [generator.get_state() for generator in generators_of(loader)],
    }


def set_global(states: dict[str, Any]) -> None:
    torch.default_generator.set_state(states["torch"])
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002


def set_own(loader: Any, states: dict[str, Any]) -> None:
    for generator, state in zip(generators_of(loader), states["own"]):
        generator.set_state(state)
