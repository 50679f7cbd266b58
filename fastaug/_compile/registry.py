"""The registry of readers for transforms of other packages."""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from torch import nn

from fastaug._compile import functions
from fastaug._compile.adapters import ADAPTERS
from fastaug._draft.recognise import known_class
from fastaug._draft.written import has_hooks
from fastaug._own import original_of

#: A reader returns a transform, or a list of them, that do the same as a given one; or None if it cannot.
Reader = Callable[[Any], Any]


# Held while an adapter registers its readers, which may compile something themselves.
_loading = threading.RLock()

# What a call of an object does.
_CALLS = ("__call__", "forward")

# For each class or function its reader, and the methods that the class had when it was registered.
_readers: dict[Any, tuple[Reader, dict[str, Any]]] = {}

#: Classes and functions that users were warned about.
_told: set[Any] = set()

_quiet = threading.local()


def _methods_of(cls: Any) -> dict[str, Any]:
    """Return what a call of an object of a class may call of its own; nothing of a function."""
    if not inspect.isclass(cls):
        return {}
    members = {name: original_of(inspect.getattr_static(cls, name, None)) for name in {*_CALLS, *dir(cls)}}
    return {name: value for name, value in members.items() if name in _CALLS or _is_method(name, value)}


def _is_method(name: str, value: Any) -> bool:
    """Return whether a call may come to an attribute of a class. It does not to Python's own, and to nn.Module's."""
    of_python = name.startswith("__") and name.endswith("__")
    is_method = isinstance(value, (FunctionType, classmethod, staticmethod, property))
    return is_method and not of_python and value is not vars(nn.Module).get(name)


def name_of(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def register(cls: Any, reader: Any = None) -> Any:
    """Implement fastaug.register."""
    if reader is None:
        return functools.partial(register, cls)
    if not inspect.isclass(cls) and not isinstance(cls, FunctionType):
        raise TypeError(f"cls should be a class of transforms, or a function that is one. Got {cls!r}")
    if not callable(reader):
        raise TypeError(
            f"reader of {name_of(cls)} should be a function of a transform, or a class that is made of one. Got "
            f"{reader!r}"
        )
    if inspect.isclass(cls) and known_class(cls) is cls:
        raise ValueError(f"{name_of(cls)} is read by fastaug itself, and takes no reader")
    if cls in _readers:
        raise ValueError(f"{name_of(cls)} has a reader already: {_readers[cls][0]!r}")
    _readers[cls] = reader, _methods_of(cls)
    return reader


def read(transform: Any) -> list[Any] | None:
    """Return the transforms that one of another package is made of, in order, or None if it has no reader."""
    function = isinstance(transform, FunctionType)
    cls: Any = transform if function else type(transform)
    registered = _found(cls)
    if registered is None:
        if function:
            converting = functions.read(transform)
            return None if converting is None else [converting]
        if base := next((one for one in cls.__mro__[1:] if _found(one) is not None), None):
            tell(cls, f"a subclass of {name_of(base)}, whose reader knows that class alone")
        return None
    reader, methods = registered
    if why := _altered(transform, cls, methods):
        tell(cls, why)
        return None
    made = reader(transform)
    if made is None:
        tell(cls, "its reader does not know it as it is here")
        return None
    steps = list(made) if isinstance(made, (list, tuple)) else [made]
    for step in steps:
        if not callable(step) or isinstance(step, type):
            raise TypeError(
                f"the reader of {name_of(cls)} should return a transform, a list of transforms, or None. Got {made!r}"
            )
        if step is transform:
            raise TypeError(f"the reader of {name_of(cls)} returned the object that it was to read")
    return steps


def tell(cls: Any, why: str) -> None:
    """Warn, once for each class or function, that it is called as it is, and why."""
    if getattr(_quiet, "depth", 0) or cls in _told:
        return
    _told.add(cls)
    warnings.warn(
        f"fastaug.compile calls {name_of(cls)} as it is, and no faster than before: {why}.", UserWarning, stacklevel=2
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Read without warnings in this thread."""
    _quiet.depth = getattr(_quiet, "depth", 0) + 1
    try:
        yield
    finally:
        _quiet.depth -= 1


def _altered(transform: Any, cls: Any, methods: dict[str, Any]) -> str | None:
    """Return why an object may do something else than its class did when it was registered, in words, or None."""
    if not isinstance(transform, FunctionType):
        if has_hooks(transform):
            return "it has hooks that want to see images"
        own = getattr(transform, "__dict__", {})
        if name := next((name for name in own if name in methods), None):
            return f"it has a {name} of its own"
        if own.get("_compiled_call_impl") is not None:
            return "it is compiled by torch"
    now = _methods_of(cls)
    if name := next((name for name in {**methods, **now} if now.get(name) is not methods.get(name)), None):
        return f"somebody has put another function in the place of its {name}"
    return None


def _found(cls: Any) -> tuple[Reader, dict[str, Any]] | None:
    if cls not in _readers:
        _load_adapter(getattr(cls, "__module__", None) or "")
    return _readers.get(cls)


def _load_adapter(module: str) -> None:
    """Register the readers of an imported package."""
    package = module.partition(".")[0]
    if package not in ADAPTERS:
        return
    with _loading:
        # Another thread may have registered them meanwhile.
        if (adapter := ADAPTERS.get(package)) is not None:
            try:
                importlib.import_module(adapter).install()
            finally:
                del ADAPTERS[package]
