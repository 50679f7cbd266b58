"""The names that classes and functions go by in pickles: those of public modules, and those of earlier versions."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import ModuleType
from typing import Any

#: Modules of earlier versions, what pickles name in them, and where that is now.
_MOVED = {
    "fastaug._compiled": {"Compiled": "fastaug"},
    "fastaug._encoded": {"LazyImage": "fastaug.io"},
    "fastaug._interpolation": {"InterpolationMode": "fastaug.transforms"},
}


def publish(module: dict[str, Any]) -> None:
    """Lets the classes and functions that a public module hands out go by its name; given its globals.

    Those that another public module has given its name keep that.
    """
    for name in module["__all__"]:
        value = module[name]
        if (inspect.isclass(value) or inspect.isfunction(value)) and "._" in value.__module__:
            value.__module__ = module["__name__"]


def is_ours(cls: type) -> bool:
    """Whether a class is of this package, and not a user's that is derived from one."""
    return cls.__module__.partition(".")[0] == "fastaug"


class _Moved(ModuleType):
    """A module that is no more: unpickling imports it by its name, and takes from it what it names."""

    def __getattr__(self, name: str) -> Any:
        home = _MOVED[self.__name__].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)


def install() -> None:
    """Has the modules of earlier versions be found. Nothing is imported before a pickle names what was in one."""
    for name in _MOVED:
        sys.modules.setdefault(name, _Moved(name, "Moved."))
