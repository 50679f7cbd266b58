"""The names of classes and functions."""

from __future__ import annotations

import inspect
from typing import Any


def publish(module: dict[str, Any], *modules: str) -> list[str]:
    """Name a public module as the home of what it exports, given its globals, and return the names.

    Without an ``__all__`` of its own it exports all that it has, of modules only these. Type checkers and editors find
    the same. Classes and functions that another public module has named keep their name.
    """
    names: list[str] = module.setdefault("__all__", sorted([*_public(module), *modules]))
    for name in names:
        value = module[name]
        if (inspect.isclass(value) or inspect.isfunction(value)) and "._" in value.__module__:
            value.__module__ = module["__name__"]
    return names


def _public(module: dict[str, Any]) -> list[str]:
    found = [name for name, value in module.items() if name[0] != "_" and not inspect.ismodule(value)]
    return [name for name in found if module[name] is not annotations]


def export_functions(module: dict[str, Any], *private: str) -> None:
    """Let a private module export the functions that it defines, except for these, given its globals."""
    functions = [name for name, value in module.items() if name[0] != "_" and inspect.isfunction(value)]
    own = {name for name in functions if module[name].__module__ == module["__name__"]}
    module["__all__"] = sorted(own.difference(private))


def is_ours(made: Any) -> bool:
    """Return whether a class or function is of this package, and not a user's, such as a subclass."""
    return str(made.__module__).partition(".")[0] == "fastaug"
