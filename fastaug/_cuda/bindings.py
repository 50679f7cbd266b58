"""NVIDIA's Python bindings, which are imported when a device is first used."""

from __future__ import annotations

import importlib
from typing import Any


def load(name: str) -> Any:
    """Return the module `cuda.bindings.<name>`, which has no types."""
    try:
        return importlib.import_module(f"cuda.bindings.{name}")
    except ImportError as error:
        raise RuntimeError(
            f"fastaug on a CUDA device needs cuda.bindings.{name}, which cannot be imported ({error}); it is in the"
            " package cuda-bindings, which PyTorch's CUDA builds bring: pip install cuda-bindings"
        ) from error
