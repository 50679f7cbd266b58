"""Which transforms of other packages are read, and by whom."""

from __future__ import annotations

import importlib
import inspect
import threading
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch import nn

from fastaug._draft.recognise import known_class
from fastaug._draft.written import has_hooks
from fastaug._extend import functions

#: What reads a transform: it gives one, or a list of them, that do the same; or None where it does not know this one.
Reader = Callable[[Any], Any]

#: Packages whose transforms are read, and the modules that register readers for them.
_ADAPTERS = {
    "dinov2": "fastaug.adapters.dinov2",
    "lightly": "fastaug.adapters.lightly",
    "open_clip": "fastaug.adapters.open_clip",
    "timm": "fastaug.adapters.timm",
    "torchvision": "fastaug.adapters.torchvision",
}

# Methods, as a class has them.
_FUNCTIONS = (FunctionType, classmethod, staticmethod)

# Held while an adapter registers its readers, which may compile something themselves.
_loading = threading.RLock()

# What a call of an object does, where it is not put in its place later.
_CALLS = ("__call__", "forward")


class _Registered:
    """A reader, and what calling an object of the class was when it was registered."""

    def __init__(self, cls: Any, reader: Reader) -> None:
        self.reader = reader
        self._calls = _calls_of(cls)

    def changed(self, cls: Any) -> str | None:
        """The name of what somebody has put another function in the place of since."""
        now = _calls_of(cls)
        return next((name for name in {**self._calls, **now} if now.get(name) is not self._calls.get(name)), None)


_readers: dict[Any, _Registered] = {}

#: Classes and functions that somebody was told are not read.
_told: set[Any] = set()


def _calls_of(cls: Any) -> dict[str, Any]:
    """What a call of an object of a class does, and all that it may call of the object's own; nothing of a function."""
    if not inspect.isclass(cls):
        return {}
    calls = {name: inspect.getattr_static(cls, name, None) for name in _CALLS}
    for owner in reversed(cls.__mro__):
        if owner is not object and owner is not nn.Module:
            calls.update({name: value for name, value in vars(owner).items() if _is_called(name, value)})
    return calls


def _is_called(name: str, value: Any) -> bool:
    """Whether a call may come to an attribute of a class; those of Python's own names are for other ends."""
    return isinstance(value, (*_FUNCTIONS, property)) and not (name.startswith("__") and name.endswith("__"))


def name_of(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def register(cls: Any, reader: Any = None) -> Any:
    """What fastaug.register is."""
    if reader is None:

        def decorate(function: Reader) -> Reader:
            register(cls, function)
            return function

        return decorate
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
        raise ValueError(f"{name_of(cls)} has a reader already: {_readers[cls].reader!r}")
    _readers[cls] = _Registered(cls, reader)
    return reader


def read(transform: Any) -> list[Any] | None:
    """The transforms that one of another package is made of, one after the other; None where nobody reads it."""
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
    if why := _altered(transform, cls, registered):
        tell(cls, why)
        return None
    made = registered.reader(transform)
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
    """Says once of a class, or a function, that it is called as it is, and why."""
    if cls in _told:
        return
    _told.add(cls)
    warnings.warn(
        f"fastaug.compile calls {name_of(cls)} as it is, and no faster than before: {why}.", UserWarning, stacklevel=2
    )


def _altered(transform: Any, cls: Any, registered: _Registered) -> str | None:
    """Why an object may do something else than its class does, in words."""
    own = getattr(transform, "__dict__", {})
    if not isinstance(transform, FunctionType):
        if has_hooks(transform):
            return "it has hooks that want to see images"
        if name := next((name for name in own if name in _CALLS or _hides_method(cls, name)), None):
            return f"it has a {name} of its own"
        if own.get("_compiled_call_impl") is not None:
            return "it is compiled by torch"
    if name := registered.changed(cls):
        return f"somebody has put another function in the place of its {name}"
    return None


def _hides_method(cls: Any, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name, None), _FUNCTIONS)


def _found(cls: Any) -> _Registered | None:
    if cls not in _readers:
        _load_adapter(getattr(cls, "__module__", None) or "")
    return _readers.get(cls)


def _load_adapter(module: str) -> None:
    """Has the readers of a package's transforms registered, of whom an object is here, so that it is imported."""
    package = module.partition(".")[0]
    if package not in _ADAPTERS:
        return
    with _loading:
        # Another thread may have done it meanwhile.
        if (adapter := _ADAPTERS.get(package)) is not None:
            try:
                importlib.import_module(adapter).install()
            finally:
                del _ADAPTERS[package]
