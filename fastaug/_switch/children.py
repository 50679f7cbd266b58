"""Processes that a switched program starts by multiprocessing: they are switched before they import anything else.

A forked process is a copy. For a spawned one, or one of a fork server, the object of the process is pickled, and only
on its way there. So that pickle switches first.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

_NAME = "__reduce_ex__"


def _arrived(make: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, bool]) -> Any:
    """Switch this process, and return the process object."""
    from fastaug._switch import switch

    if switch.options() is None:
        switch.install(**options)
    return make(*arguments)


def _reduce_ex(self: Any, protocol: Any) -> Any:
    from fastaug._switch import switch

    reduced = object.__reduce_ex__(self, protocol)
    options = switch.options()
    if options is None or not isinstance(reduced, tuple):
        return reduced
    return (_arrived, (reduced[0], reduced[1], options), *reduced[2:])


def arm() -> None:
    """Let processes that are started from now on be switched."""
    if _NAME not in vars(BaseProcess):
        setattr(BaseProcess, _NAME, _reduce_ex)


def disarm() -> None:
    if vars(BaseProcess).get(_NAME) is _reduce_ex:
        delattr(BaseProcess, _NAME)
