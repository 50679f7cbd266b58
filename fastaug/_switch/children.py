"""Processes that a switched program starts by multiprocessing: they are switched before they import anything else.

A forked process is a copy. For a spawned one, or one of a fork server, the object of the process is pickled, and only
on its way there. So that pickle switches first.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

from fastaug._switch import options

_NAME = "__reduce_ex__"


# Set while the switch is on; it pickles by its name.
_install: Callable[..., Any] | None = None


def _arrived(
    make: Callable[..., Any], arguments: tuple[Any, ...], install: Callable[..., Any], given: dict[str, bool]
) -> Any:
    """Switch this process, and return the process object."""
    if not options.current:
        install(**given)
    return make(*arguments)


def _reduce_ex(self: Any, protocol: Any) -> Any:
    reduced = object.__reduce_ex__(self, protocol)
    if _install is None or not isinstance(reduced, tuple):
        return reduced
    return (_arrived, (reduced[0], reduced[1], _install, dict(options.current)), *reduced[2:])


def arm(install: Callable[..., Any]) -> None:
    """Let processes that are started from now on be switched by this function."""
    global _install
    _install = install
    if _NAME not in vars(BaseProcess):
        setattr(BaseProcess, _NAME, _reduce_ex)


def disarm() -> None:
    global _install
    _install = None
    if vars(BaseProcess).get(_NAME) is _reduce_ex:
        delattr(BaseProcess, _NAME)
