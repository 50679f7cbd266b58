"""Recognises transforms: fastaug's own and those of torchvision's v1 API, as long as they behave as these do.

torchvision is never imported, and neither are the transforms of fastaug, which lie above: whoever has an object of
theirs has imported them, so both are looked up among the modules that there are.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Sequence, Set
from enum import Enum
from types import FunctionType
from typing import Any

import torch
from torch import nn

from fastaug._draft import releases
from fastaug._draft.through import replaced
from fastaug._draft.written import has_hooks

# Where torchvision defines the classes of its v1 API.
_V1 = ("torchvision.transforms.transforms", "torchvision.transforms.autoaugment")

# Where it has the functions that they call.
_FUNCTIONS = "torchvision.transforms.functional"

# Where this package has transforms that torchvision's v1 API has, or might have.
_OUR_MODULES = ("fastaug.transforms", "fastaug.pathology")

# What decides, beside the methods of a class's own, what a call of an object does.
_CALLING = {"__call__", "__getattr__", "__getattribute__", "_call_impl", "_slow_forward", "_wrapped_call_impl"}

# Methods that do not.
_HARMLESS = {"__getitem__", "__getstate__", "__init__", "__len__", "__repr__", "__setstate__", "extra_repr"}

# Those of nn.Sequential that do.
_OF_SEQUENTIAL = {"__iter__", "forward"}

# Attributes that no argument of the constructor is named after.
_FURTHER_ATTRIBUTES = {"AutoAugment": ("policies",), "AugMix": ("_PARAMETER_MAX",)}


def _ours() -> Any:
    return sys.modules.get("fastaug.transforms")


@functools.cache
def _names() -> frozenset[str]:
    """The classes that are known, by their names."""
    classes = ((name, value) for name, value in vars(_ours()).items() if inspect.isclass(value))
    return frozenset(name for name, value in classes if not issubclass(value, Enum))


def altered(transform: Any, known: type, behaviour: Set[str]) -> str | None:
    """Why an object is none that only `known` made, in words: of hooks, or of names of its `behaviour` that differ."""
    own, cls = vars(transform), type(transform)
    if has_hooks(transform):
        return "has hooks that want to see images"
    if own.get("_compiled_call_impl") is not None:
        return "is compiled by torch"
    overridden = [
        name
        for name in sorted(behaviour)
        if name in own or inspect.getattr_static(cls, name, None) is not inspect.getattr_static(known, name, None)
    ]
    return f"overrides {' and '.join(overridden)} of {known.__name__}" if overridden else None


def reason(transform: Any) -> str | None:
    """Why a callable is not read and stays the object that it is, in words; None if it is read."""
    cls = type(transform)
    known = known_class(cls)
    if known is None:
        if isinstance(transform, torch.jit.ScriptModule):
            return "a scripted module"
        if cls.__module__.startswith("torchvision.transforms.v2"):
            return releases.left("v2", cls.__name__) or "a transform of torchvision's v2 API"
        if inspect.isroutine(transform) or isinstance(transform, functools.partial):
            return "a function of yours"
        return "a callable that fastaug does not know"
    behaviour = _behaviour(known)
    if changed := altered(transform, known, behaviour):
        return changed
    if other := _replaced(known, behaviour):
        return f"{other} is not torchvision's own"
    if name := replaced(known):
        return f"{known.__name__}.{name} is a function of yours"
    if known is nn.Sequential:
        return None
    if known.__module__ in _V1 and (why := releases.left("v1", known.__name__)):
        return why
    for name in attributes_of(known.__name__):
        if hasattr(inspect.getattr_static(cls, name, None), "__get__"):
            return f"computes its {name}"
        if not hasattr(transform, name):
            return f"has no {name}"
        if name == "transforms" and not isinstance(transform.transforms, (Sequence, nn.ModuleList, nn.Sequential)):
            return "its transforms are not a sequence"
    if vars(transform).get("_parameters") or vars(transform).get("_buffers"):
        return "has parameters or buffers"
    return None


def reason_of_barrier(transform: Any) -> str:
    """Why a transform is called with an image instead of being drafted, in words."""
    cls = type(transform)
    own = getattr(transform, "__dict__", {})
    ours = next((base for base in cls.__mro__ if base.__module__.startswith(_OUR_MODULES)), None)
    if cls.__name__ == "Lambda" and ours is cls:
        return "a function of yours"
    if has_hooks(transform):
        return "has hooks that want to see images"
    if "forward" in own:
        return "has a forward of its own"
    if name := replaced(ours or cls):
        return f"its {name} is a function of yours"
    if ours is cls:
        return "hooks on all modules want to see images"
    if ours is not None and ours.__name__ != "Transform":
        over = [name for name in ("forward", "__call__") if getattr(cls, name, None) is not getattr(ours, name, None)]
        return f"a subclass of {ours.__name__} that overrides {' and '.join(over) or 'what calling it does'}"
    return reason(transform) or "is torchvision's; fastaug.compile reads it"


def known_class(cls: type[Any]) -> type[Any] | None:
    """The class that `cls` is, or is derived from, of those that are read."""
    for base in cls.__mro__:
        module = sys.modules.get(base.__module__) if base.__module__ in _V1 else _ours()
        ours_or_theirs = base.__name__ in _names() and getattr(module, base.__name__, None) is base
        if ours_or_theirs or base is nn.Sequential:
            found: type[Any] = base
            return found
    return None


def _behaviour(known: type) -> set[str]:
    """The names that decide what a call of an object of this class does."""
    if known is nn.Sequential:
        return _CALLING | _OF_SEQUENTIAL
    methods = {
        name
        for owner in known.__mro__
        if owner is not nn.Module
        for name, value in vars(owner).items()
        if isinstance(getattr(value, "__func__", value), FunctionType) or name == "forward"
    }
    return (methods | _CALLING) - _HARMLESS


def _replaced(known: type, behaviour: set[str]) -> str | None:
    """What somebody has put something else in the place of: a method of torchvision's class, or a function it calls."""
    called: set[str] = set()
    for owner in known.__mro__:
        if owner.__module__ in _V1:
            for name in sorted(behaviour & vars(owner).keys()):
                function = getattr(vars(owner)[name], "__func__", vars(owner)[name])
                if not is_own(function, owner.__module__, f"{owner.__qualname__}.{name}"):
                    return f"{owner.__name__}.{name}"
                called |= set(function.__code__.co_names)
    return replaced_function(called) if called else None


def is_own(function: Any, module: str, name: str | None) -> bool:
    """Whether a function was written in a module, by that name if one is given, and stands there by itself."""
    if name is not None and getattr(function, "__qualname__", None) != name:
        return False
    written = getattr(function, "__module__", None) == module
    return isinstance(function, FunctionType) and written and not hasattr(function, "__wrapped__")


def replaced_function(called: set[str]) -> str | None:
    """Of torchvision's functions of these names, and of those that these call in turn, one that is not its own."""
    functions, apply_op = vars(sys.modules[_FUNCTIONS]), vars(sys.modules[_V1[1]]).get("_apply_op")
    seen: set[str] = set()
    while names := called - seen:
        seen |= names
        called = set()
        for name in sorted(names):
            function = apply_op if name == "_apply_op" else functions.get(name)
            if name in _ours().functional._FUNCTIONS and not is_own(function, _FUNCTIONS, name):
                return f"functional.{name}"
            if isinstance(function, FunctionType):
                called |= set(function.__code__.co_names)
    return None


@functools.cache
def attributes_of(name: str) -> tuple[str, ...]:
    """The attributes that hold all that an object of the class of this name is told."""
    if name == "Compose":
        return ("transforms",)
    arguments = inspect.signature(getattr(_ours(), name)).parameters
    return (*arguments, *_FURTHER_ATTRIBUTES.get(name, ()))
