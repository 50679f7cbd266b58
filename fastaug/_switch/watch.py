"""Descriptions of what a twin was read from: torchvision's transforms, and objects whose code or reader is known."""

from __future__ import annotations

import sys
import weakref
from enum import Enum
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import nn

from fastaug._compile.trace import inside
from fastaug._draft import watch
from fastaug._draft.watch import Described

#: The most values that are compared at a call.
_MOST = 2000

_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, Enum, type, slice, range)

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.Identity)

#: Modules with the functions that torchvision's transforms call.
MODULES = (
    "torchvision.transforms.functional",
    "torchvision.transforms._functional_pil",
    "torchvision.transforms._functional_tensor",
    "torchvision.transforms.transforms",
    "torchvision.transforms.autoaugment",
    "torchvision.transforms.v2.functional",
)


class UnwatchableError(Exception):
    """A value cannot be watched, for the reason in the message."""


class Theirs(watch.Watch):
    """Describes transforms that are not this package's.

    Values that may lead back to the transforms, such as a data set's methods, are not kept alive.

    Raises:
        UnwatchableError: there is no weak reference to a value, or there are too many values.
    """

    internal = ("_parameters", "_buffers", "_modules")

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self._packages = {"torchvision", "fastaug"}

    def of(self, value: Any) -> Described:
        self._count += 1
        if self._count > _MOST:
            raise UnwatchableError("it holds very many values")
        return super().of(value)

    def looks_into(self, value: Any) -> bool:
        if not watch.is_object(value):
            return False
        cls = type(value)
        # A subclass of the user's may be read like its base.
        if cls in _CONTAINERS or not self._packages.isdisjoint(map(_package_of, cls.__mro__)):
            return True
        seen = inside(value)
        if seen is not None and seen.told:
            self._packages.add(_package_of(cls))  # a reader may look at all of its package's objects
        return seen is not None

    def leaf(self, value: Any) -> Described:
        if isinstance(value, (*_PLAIN, tuple)):  # a tuple of numbers
            return watch.SAME, value
        if isinstance(value, FunctionType) and is_free(value):
            return watch.SAME, value
        try:
            reference = weakref.ref(value)
        except TypeError:
            raise UnwatchableError(f"it holds a {type(value).__name__}") from None
        if isinstance(value, torch.Tensor):
            return watch.CALLED, lambda found: (found is reference(), found._version), (True, value._version)
        if isinstance(value, np.ndarray):
            return watch.CALLED, lambda found: (found is reference(), found.tobytes()), (True, value.tobytes())
        return watch.REFERENT, reference


def _package_of(cls: type) -> str:
    return str(cls.__module__).partition(".")[0]


def is_free(function: FunctionType) -> bool:
    """Return whether a function holds no values but those of its module."""
    return not (function.__closure__ or function.__defaults__ or function.__kwdefaults__ or vars(function))


class Borrowed:
    """A callable of the user's that a twin calls, and does not keep alive: it may lead back to the original."""

    def __init__(self, function: Any) -> None:
        try:
            self._reference = weakref.ref(function)
        except TypeError:
            raise UnwatchableError(f"it calls a {type(function).__name__}") from None
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *inputs: Any) -> Any:
        function = self._reference()
        if function is None:
            raise ReferenceError("a transform was removed while it was being called")
        return function(*inputs)

    def __repr__(self) -> str:
        return repr(self._reference())


def borrowed(value: Any) -> Any:
    """Return what stands in a twin for a callable that is called as it is."""
    if isinstance(value, (type, Borrowed)) or (isinstance(value, FunctionType) and is_free(value)):
        return value
    return Borrowed(value) if callable(value) or isinstance(value, MethodType) else value


def roots(transform: Any) -> tuple[Any, ...]:
    """Describe a transform that is to have a twin."""
    described = Theirs()
    return ((None, watch.attributes(transform, described.of, *_internal(transform))), *watch.NO_HOOKS)


def _internal(transform: Any) -> tuple[str, ...]:
    return Theirs.internal if isinstance(transform, nn.Module) else ()


def modules() -> tuple[Any, ...]:
    """Describe the modules of torchvision's functions, with what other packages put there."""
    found = [vars(sys.modules[name]) for name in _written]
    return tuple((own, watch.entries(own, lambda value: (watch.SAME, value), own)) for own in found)


# Of these modules the functions that torchvision has written.
_written: dict[str, dict[str, Any]] = {}


def remember() -> None:
    """Remember torchvision's functions as they are now, of modules that are new."""
    for name in MODULES:
        if name in sys.modules and name not in _written:
            own = vars(sys.modules[name])
            _written[name] = {key: value for key, value in own.items() if _is_theirs(value)}


def _is_theirs(value: Any) -> bool:
    return isinstance(value, FunctionType) and str(value.__module__).startswith("torchvision.")


def replaced() -> str | None:
    """Return the name of a function of torchvision's in whose place there is another one, or None."""
    for name, functions in _written.items():
        own = vars(sys.modules[name])
        for key, function in functions.items():
            if own.get(key) is not function:
                return f"{name.removeprefix('torchvision.transforms.')}.{key}"
    return None
