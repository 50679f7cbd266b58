"""Calls of torchvision's own, where `fastaug.install` has put other methods in the places of its."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_thread = threading.local()

# By the functions in the places of others, these.
_originals: dict[Any, Any] = {}


@contextmanager
def own() -> Iterator[None]:
    """Let torchvision's transforms be called as torchvision wrote them, in this thread."""
    _thread.depth = getattr(_thread, "depth", 0) + 1
    try:
        yield
    finally:
        _thread.depth -= 1


def is_own() -> bool:
    """Return whether torchvision's own calls are wanted in this thread."""
    return bool(getattr(_thread, "depth", 0))


def stands_in(function: Callable[..., Any], original: Any) -> None:
    """Record that a function is in the place of another one."""
    _originals[function] = original


def original_of(method: Any) -> Any:
    """Return the method in whose place `install` has put another one; other values stay what they are."""
    return _originals.get(method, method) if callable(method) and _originals else method
