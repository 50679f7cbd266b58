"""Reads transforms into new ones, which a compiled transform keeps for itself.

Those of torchvision's v1 API, of this package and torch's nn.Sequential are read. torchvision is never imported: its
objects are recognised by their classes and read by their attributes, as these are now, and nothing is written to them.
What behaves in a way of its own stays the object that it is, and is called.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from enum import Enum
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import nn

import fastaug.transforms as T
from fastaug._draft.pipeline import Pipeline

# Where torchvision defines the classes of its v1 API.
_V1 = ("torchvision.transforms.transforms", "torchvision.transforms.autoaugment")

_NAMES = {name for name, value in vars(T).items() if inspect.isclass(value) and not issubclass(value, Enum)}

_ENUMS = (T.AutoAugmentPolicy, T.InterpolationMode)

# What decides, beside the methods of a class's own, what a call of an object does.
_CALLING = {"__call__", "__getattr__", "__getattribute__", "_call_impl", "_slow_forward", "_wrapped_call_impl"}

# Methods that do not.
_HARMLESS = {"__getitem__", "__getstate__", "__init__", "__len__", "__repr__", "__setstate__", "extra_repr"}

# Those of nn.Sequential that do.
_OF_SEQUENTIAL = {"__iter__", "forward"}

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

# Attributes that no argument of the constructor is named after.
_FURTHER_ATTRIBUTES = {"AutoAugment": ("policies",), "AugMix": ("_PARAMETER_MAX",)}


def adopt(transform: Any) -> tuple[list[Any], list[bool]]:
    """The steps that a callable is made of, and for each whether it is new: nobody else's.

    Steps of a Compose or nn.Sequential inside another are steps of the whole. An object that occurs several times stays
    one object.
    """
    reader = _Reader()
    steps = reader.steps(transform)
    return steps, [id(step) in reader.new for step in steps]


def reason(transform: Any) -> str | None:
    """Why a callable is not read and stays the object that it is, in words; None if it is read."""
    cls = type(transform)
    known = _known(cls)
    if known is None:
        if isinstance(transform, torch.jit.ScriptModule):
            return "a scripted module"
        if cls.__module__.startswith("torchvision.transforms.v2"):
            return "a transform of torchvision's v2 API"
        return "a callable that fastaug does not know"
    own = vars(transform)
    if any(own.get(hooks) for hooks in _HOOKS):
        return "has hooks that want to see images"
    if own.get("_compiled_call_impl") is not None:
        return "is compiled by torch"
    behaviour = _behaviour(known)
    overridden = [
        name
        for name in sorted(behaviour)
        if name in own or inspect.getattr_static(cls, name, None) is not inspect.getattr_static(known, name, None)
    ]
    if overridden:
        return f"overrides {' and '.join(overridden)} of {known.__name__}"
    if replaced := _replaced(known, behaviour):
        return f"{replaced} is not torchvision's own"
    if known is nn.Sequential:
        return None
    for name in _attributes(known.__name__):
        if hasattr(inspect.getattr_static(cls, name, None), "__get__"):
            return f"computes its {name}"
        if not hasattr(transform, name):
            return f"has no {name}"
        if name == "transforms" and not isinstance(transform.transforms, (Sequence, nn.ModuleList, nn.Sequential)):
            return "its transforms are not a sequence"
    if own.get("_parameters") or own.get("_buffers"):
        return "has parameters or buffers"
    return None


def _known(cls: type[Any]) -> type[Any] | None:
    """The class that `cls` is, or is derived from, of those that are read."""
    for base in cls.__mro__:
        module = sys.modules.get(base.__module__) if base.__module__ in _V1 else T
        ours_or_theirs = base.__name__ in _NAMES and getattr(module, base.__name__, None) is base
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
    """A method of torchvision's class that somebody has put something else in the place of."""
    for owner in known.__mro__:
        if owner.__module__ in _V1:
            for name in sorted(behaviour & vars(owner).keys()):
                function = getattr(vars(owner)[name], "__func__", vars(owner)[name])
                written = (getattr(function, "__module__", None), getattr(function, "__qualname__", None))
                if written != (owner.__module__, f"{owner.__qualname__}.{name}"):
                    return f"{owner.__name__}.{name}"
    return None


@cache
def _attributes(name: str) -> tuple[str, ...]:
    """The attributes that hold all that an object of the class of this name is told."""
    if name == "Compose":
        return ("transforms",)
    arguments = inspect.signature(getattr(T, name)).parameters
    return (*arguments, *_FURTHER_ATTRIBUTES.get(name, ()))


class _Reader:
    def __init__(self) -> None:
        self.new: set[int] = set()
        # By the id of what was read, which is alive as long as this is.
        self._read: dict[int, Any] = {}

    def steps(self, transform: Any) -> list[Any]:
        cls = type(transform)
        if isinstance(transform, Pipeline) and not isinstance(transform, T.Compose):
            # Compiled already; its steps are nobody else's.
            return list(transform.transforms) if transform._is_plain() else [transform]  # type: ignore[attr-defined]
        if cls is nn.Identity and not any(vars(transform).get(hooks) for hooks in _HOOKS):
            return []
        if reason(transform) is None:
            known = _known(cls)
            if known is nn.Sequential:
                return [step for child in transform._modules.values() for step in self.steps(child)]
            if known is not None and known.__name__ == "Compose":
                return [step for child in transform.transforms for step in self.steps(child)]
        return [self._one(transform)]

    def _one(self, transform: Any) -> Any:
        """As one object."""
        if id(transform) not in self._read:
            self._read[id(transform)] = self._made_of(transform)
        return self._read[id(transform)]

    def _made_of(self, transform: Any) -> Any:
        known = None if reason(transform) is not None else _known(type(transform))
        if known is None and type(transform) is not nn.Identity:
            return transform
        if known is None or known is nn.Sequential or known.__name__ == "Compose":
            made: Any = T.Compose(self.steps(transform))
        else:
            ours = getattr(T, known.__name__)
            made = ours.__new__(ours)
            if isinstance(made, nn.Module):
                nn.Module.__init__(made)
                made.training = transform.training
            for name in _attributes(known.__name__):
                value = getattr(transform, name)
                vars(made)[name] = list(map(self._one, value)) if name == "transforms" else _copied(value)
        self.new.add(id(made))
        return made


def _copied(value: Any) -> Any:
    """A copy that the owner of the original has no hand on, of this package's types."""
    if isinstance(value, Enum) and type(value).__module__.startswith("torchvision."):
        ours = next((enum for enum in _ENUMS if enum.__name__ == type(value).__name__), None)
        return value if ours is None else ours(value.value)
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if isinstance(value, torch.Tensor) and not value.requires_grad:
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value
