"""Calls of torchvision.io's functions and of ours, with equal results."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
import torchvision.io

import fastaug.io


def tensor(data: bytes) -> torch.Tensor:
    return torch.tensor(np.frombuffer(data, np.uint8))


def check(name: str, *arguments: Any, strides: bool = True, **options: Any) -> None:
    theirs = getattr(torchvision.io, name)(*arguments, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = getattr(fastaug.io, name)(*arguments, **options)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if strides:
        assert ours.stride() == theirs.stride()
    assert torch.equal(ours, theirs)
