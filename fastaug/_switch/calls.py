"""Methods in the places of torchvision's, which call twins where there are any."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from fastaug import _own
from fastaug._program.eager import compiling, traced
from fastaug._switch import times, twins

#: What torchvision's transforms of images take; of arrays only some of them.
_IMAGES = (Image.Image, torch.Tensor, np.ndarray)

_ATTRIBUTES = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__defaults__", "__kwdefaults__")

# Containers that call their transforms, and functions of the user's, are nothing by themselves.
_NOT_ALONE = ("Compose", "Lambda", "Transform", "Identity")

_ABSENT: Any = object()

# Classes and names, what they had there themselves, and what they have now.
_put_there: list[tuple[type, str, Any, Any]] = []

#: Methods that somebody else had replaced meanwhile, by name.
replaced: list[str] = []


def _elsewhere() -> bool:
    """Return whether torch traces, and has to see what torchvision does."""
    fx = sys.modules.get("torch.fx._symbolic_trace")
    flags = vars(fx) if fx is not None else {}
    symbolic = flags.get("_is_fx_tracing_flag") or flags.get("_is_fx_symbolic_tracing_flag")
    return bool(symbolic) or traced()


def _of_image(original: Callable[..., Any]) -> Callable[..., Any]:
    find = twins.find

    def __call__(self: Any, img: Any) -> Any:
        if compiling() or not isinstance(img, _IMAGES):
            return original(self, img)
        twin = find(self)
        if twin is None or _elsewhere():
            return original(self, img)
        if twin is NotImplemented:
            with _own.own():
                return original(self, img)
        return original(self, img) if type(img) is np.ndarray and not twin.takes_arrays else twin(img)

    if "pic" not in inspect.signature(original).parameters:
        return __call__
    call = __call__

    def of_picture(self: Any, pic: Any) -> Any:
        return call(self, pic)

    return of_picture


def _of_sample(original: Callable[..., Any]) -> Callable[..., Any]:
    find = twins.find

    def forward(self: Any, *inputs: Any) -> Any:
        if compiling() or not inputs:
            return original(self, *inputs)
        twin = find(self)
        if twin is None or _elsewhere():
            return original(self, *inputs)
        if twin is NotImplemented:
            with _own.own():
                return original(self, *inputs)
        return twin(*inputs)

    return forward


def _of_module(_: Any) -> Callable[..., Any]:
    """Return a method for a module whose class has no __call__ of its own."""
    find = twins.find

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Tracers replace the method of nn.Module meanwhile.
        if compiling() or kwargs or not args:
            return nn.Module.__call__(self, *args, **kwargs)
        twin = find(self)
        if twin is None or _elsewhere():
            return nn.Module.__call__(self, *args, **kwargs)
        if twin is NotImplemented:
            with _own.own():
                return nn.Module.__call__(self, *args, **kwargs)
        taken = twin.takes_samples or _is_image(twin, args)
        return twin(*args) if taken else nn.Module.__call__(self, *args, **kwargs)

    return __call__


def _is_image(twin: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a twin of a transform of images takes these arguments."""
    one = args[0]
    return len(args) == 1 and isinstance(one, _IMAGES) and (type(one) is not np.ndarray or twin.takes_arrays)


def put(owner: type, name: str, make: Callable[[Any], Any]) -> None:
    """Put a method into the place of a class's own, or of one that it inherits."""
    before = vars(owner).get(name, _ABSENT)
    original = getattr(owner, name)
    ours = make(original)
    if times.wanted:
        ours = times.timed(ours, twins.note_of)
    for attribute in _ATTRIBUTES if before is not _ABSENT else ():
        setattr(ours, attribute, getattr(original, attribute))
    if before is _ABSENT:
        ours.__module__, ours.__qualname__ = owner.__module__, f"{owner.__qualname__}.{name}"
        ours.__doc__ = original.__doc__
    _own.stands_in(ours, original)
    setattr(owner, name, ours)
    _put_there.append((owner, name, before, ours))


def compose_of_v1(module: ModuleType) -> None:
    twins.begin()
    put(module.Compose, "__call__", _of_image)


def compose_of_v2(module: ModuleType) -> None:
    twins.begin()
    put(module.Compose, "forward", _of_sample)


def alone(module: ModuleType) -> None:
    """Replace the calls of all transforms of a module that may be called by themselves."""
    for name, cls in list(vars(module).items()):
        if not inspect.isclass(cls) or cls.__module__ != module.__name__ or name in _NOT_ALONE or name[0] == "_":
            continue
        if "__call__" in vars(cls):
            put(cls, "__call__", _of_image)
        elif issubclass(cls, nn.Module) and cls.__call__ is nn.Module.__call__ and _is_concrete(cls):
            put(cls, "__call__", _of_module)


def _is_concrete(cls: type) -> bool:
    return any({"forward", "transform"} & vars(base).keys() for base in cls.__mro__[:-2] if base is not nn.Module)


def restore() -> None:
    """Take all methods back, except those that other code has replaced."""
    while _put_there:
        owner, name, before, ours = _put_there.pop()
        if vars(owner).get(name) is not ours:
            replaced.append(f"{owner.__name__}.{name}")
        elif before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
