"""What a loader and its samplers draw from, and states as data that can be saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def samplers_of(loader: Any) -> list[Any]:
    """Its sampler, that of its batches, and the one that this has."""
    batches = loader.batch_sampler
    found = (loader.sampler, batches, getattr(batches, "sampler", None))
    return list({id(one): one for one in found if one is not None}.values())


def generators_of(loader: Any) -> list[torch.Generator]:
    """Those of the loader's own and of its samplers'."""
    found = [getattr(owner, "generator", None) for owner in (loader, *samplers_of(loader))]
    return list({id(one): one for one in found if isinstance(one, torch.Generator)}.values())


def epochs_of(loader: Any) -> list[int]:
    """Of samplers that are told which epoch it is."""
    return [sampler.epoch for sampler in _counting(loader)]


def set_epochs(loader: Any, epochs: list[int]) -> None:
    for sampler, epoch in zip(_counting(loader), epochs):
        sampler.set_epoch(epoch)


def _counting(loader: Any) -> list[Any]:
    return [
        one for one in samplers_of(loader) if hasattr(one, "set_epoch") and isinstance(getattr(one, "epoch", None), int)
    ]


def plain(value: Any) -> Any:
    """Without arrays, so that torch.load() reads it with weights_only. NumPy takes a list for an array."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(part) for part in value)
    return value.tolist() if isinstance(value, np.ndarray) else value
