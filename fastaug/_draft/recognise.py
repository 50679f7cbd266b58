"""Recognise transforms: fastaug's own and those of torchvision's v1 API, while they behave as these do.

Neither torchvision nor the transforms of fastaug, which lie above, are imported here. An object of theirs shows that
they are imported already, so both are looked up in sys.modules.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Sequence
from enum import Enum
from types import FunctionType
from typing import Any

import torch
from torch import nn

from fastaug._draft import releases
from fastaug._draft.replaced import is_function
from fastaug._draft.through import replaced
from fastaug._draft.written import global_hooks, global_pre_hooks, has_hooks, other_methods

# The modules in which torchvision defines the classes of its v1 API, and the functions that they call.
_V1 = ("torchvision.transforms.transforms", "torchvision.transforms.autoaugment")
_FUNCTIONS = "torchvision.transforms.functional"

# The modules of this package with transforms that torchvision's v1 API has, or might have.
_OUR_MODULES = ("fastaug.transforms", "fastaug.pathology")

# The attributes that decide what a call of an object does, besides the functions of its class.
_CALLING = {"__call__", "__getattr__", "__getattribute__", "_call_impl", "_slow_forward", "_wrapped_call_impl"}

# The functions that do not decide on it.
_HARMLESS = {
    "__getitem__",
    "__getstate__",
    "__init__",
    "__init_subclass__",
    "__len__",
    "__prepare_scriptable__",
    "__repr__",
    "__setstate__",
    "_extract_params_for_v1_transform",
    "extra_repr",
}

# Attributes that no argument of the constructor is named after.
_FURTHER_ATTRIBUTES = {"AutoAugment": ("policies",), "AugMix": ("_PARAMETER_MAX",)}


def _ours() -> Any:
    return sys.modules.get("fastaug.transforms")


@functools.cache
def _names() -> frozenset[str]:
    """Return the names of the known classes."""
    classes = ((name, value) for name, value in vars(_ours()).items() if inspect.isclass(value))
    return frozenset(name for name, value in classes if not issubclass(value, Enum))


def _static(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, None)


def altered(transform: Any, known: type, theirs: tuple[str, ...]) -> str | None:
    """Return why an object may do something else than a class was written to do, in words, or None.

    Args:
        transform: an object of the class, or of a class derived from it.
        known: the class.
        theirs: the modules whose methods must be torchvision's own.
    """
    own, cls = vars(transform), type(transform)
    if has_hooks(transform):
        return "has hooks that want to see images"
    if own.get("_compiled_call_impl") is not None:
        return "is compiled by torch"
    behaviour = _behaviour(known)
    overridden = behaviour & own.keys()
    if cls is not known:
        overridden |= {name for name in behaviour if _static(cls, name) is not _static(known, name)}
    if overridden:
        return f"overrides {' and '.join(sorted(overridden))} of {known.__name__}"
    called: set[str] = set()
    for owner in known.__mro__:
        if owner.__module__.startswith(theirs):
            for name in sorted(behaviour & vars(owner).keys() - {"_transformed_types"}):
                function = getattr(vars(owner)[name], "__func__", vars(owner)[name])
                if not is_own(function, owner.__module__, f"{owner.__qualname__}.{name}"):
                    return f"{owner.__name__}.{name} is not torchvision's own"
                if owner.__module__ in _V1:
                    called |= set(function.__code__.co_names)
    other = replaced_function(called) if called else None
    return None if other is None else f"{other} is not torchvision's own"


def reason(transform: Any) -> str | None:
    """Return why a callable is not read and stays the object that it is, in words, or None if it is read."""
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
    if changed := altered(transform, known, _V1):
        return changed
    if name := replaced(known):
        return f"{known.__name__}.{name} is a function of yours"
    if known is nn.Sequential:
        return None
    if known.__module__ in _V1 and (why := releases.left("v1", known.__name__)):
        return why
    for name in attributes_of(known.__name__):
        if hasattr(_static(cls, name), "__get__"):
            return f"computes its {name}"
        if not hasattr(transform, name):
            return f"has no {name}"
        if name == "transforms" and not isinstance(transform.transforms, (Sequence, nn.ModuleList, nn.Sequential)):
            return "its transforms are not a sequence"
    if vars(transform).get("_parameters") or vars(transform).get("_buffers"):
        return "has parameters or buffers"
    return None


def reason_of_barrier(transform: Any) -> str:
    """Return why a transform is called with an image instead of being drafted, in words."""
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
        hooked = global_hooks or global_pre_hooks
        return "hooks on all modules want to see images" if hooked else "a transform of images, called with the sample"
    if ours is not None and ours.__name__ != "Transform":
        over = " and ".join(other_methods(cls, ours))
        return f"a subclass of {ours.__name__} that overrides {over or 'what calling it does'}"
    return reason(transform) or "is torchvision's; fastaug.compile reads it"


def known_class(cls: type[Any]) -> type[Any] | None:
    """Return the class that a class is, or is derived from, among those that are read, or None."""
    for base in cls.__mro__:
        module = sys.modules.get(base.__module__) if base.__module__ in _V1 else _ours()
        ours_or_theirs = base.__name__ in _names() and getattr(module, base.__name__, None) is base
        if ours_or_theirs or base is nn.Sequential:
            found: type[Any] = base
            return found
    return None


@functools.cache
def _behaviour(known: type) -> frozenset[str]:
    """Return the names that decide what a call of an object of a class does."""
    if known is nn.Sequential:
        return frozenset(_CALLING | {"__iter__", "forward"})
    functions = {
        name
        for owner in known.__mro__
        if owner is not nn.Module
        for name, value in vars(owner).items()
        if isinstance(getattr(value, "__func__", value), FunctionType) or name == "forward"
    }
    # Classes of v2 have those of v1 draw by get_params, which no call comes to.
    harmless = _HARMLESS | {"get_params"} if hasattr(known, "_v1_transform_cls") else _HARMLESS
    return frozenset((functions | _CALLING | {"_transformed_types"}) - harmless)


def is_own(function: Any, module: str, name: str) -> bool:
    """Return whether a function was written in a module by that name, and is not wrapped."""
    written = getattr(function, "__module__", None) == module and getattr(function, "__qualname__", None) == name
    return written and isinstance(function, FunctionType) and not hasattr(function, "__wrapped__")


def replaced_function(called: set[str]) -> str | None:
    """Return one of torchvision's functions of these names, or of those that they call, that is not its own."""
    functions, apply_op = vars(sys.modules[_FUNCTIONS]), vars(sys.modules[_V1[1]]).get("_apply_op")
    seen: set[str] = set()
    while names := called - seen:
        seen |= names
        called = set()
        for name in sorted(names):
            function = apply_op if name == "_apply_op" else functions.get(name)
            if is_function(name) and not is_own(function, _FUNCTIONS, name):
                return f"functional.{name}"
            if isinstance(function, FunctionType):
                called |= set(function.__code__.co_names)
    return None


@functools.cache
def attributes_of(name: str) -> tuple[str, ...]:
    """Return the attributes that hold all settings of an object of the class of this name."""
    if name == "Compose":
        return ("transforms",)
    arguments = inspect.signature(getattr(_ours(), name)).parameters
    return (*arguments, *_FURTHER_ATTRIBUTES.get(name, ()))
