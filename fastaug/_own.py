"""Calls of torchvision's own, where `fastaug.install` has put other methods in the places of its."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastaug import _C

# By the functions in the places of others, these.
_originals: dict[Any, Any] = {}


@contextmanager
def own() -> Iterator[None]:
    """Let torchvision's transforms be called as torchvision wrote them, in this thread."""
    _C.want_own_calls(True)
    try:
        yield
    finally:
        _C.want_own_calls(False)


def stands_in(function: Callable[..., Any], original: Any) -> None:
    """Record that a function is called instead of another one."""
    _originals[function] = original


def original_of(method: Any) -> Any:
    """Return the method in whose place `install` has put another one; other values stay what they are."""
    return _originals.get(method, method) if callable(method) and _originals else method
