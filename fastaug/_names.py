"""The names of classes and functions."""

from __future__ import annotations

import inspect
from typing import Any


def publish(module: dict[str, Any]) -> None:
    """Name a public module as the home of what it exports, given its globals.

    Classes and functions that another public module has named keep their name.
    """
    for name in module["__all__"]:
        value = module[name]
        if (inspect.isclass(value) or inspect.isfunction(value)) and "._" in value.__module__:
            value.__module__ = module["__name__"]


def is_ours(made: Any) -> bool:
    """Return whether a class or function is of this package, and not a user's, such as a subclass."""
    return str(made.__module__).partition(".")[0] == "fastaug"
