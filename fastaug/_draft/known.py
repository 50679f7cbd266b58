"""Find out what draws only by transforms of this package, so that a thread can have its own generators."""

from __future__ import annotations

import enum
import functools
import pathlib
import sys
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug._draft.computes import only_computes
from fastaug._draft.pipeline import Pipeline
from fastaug._draft.replaced import functions
from fastaug._draft.written import global_hooks, global_pre_hooks
from fastaug._names import is_ours

# Values that call nothing.
_PLAIN = (
    bool, int, float, complex, str, bytes, bytearray, types.NoneType, types.EllipsisType, range, slice,
    torch.Tensor, torch.nn.Parameter, torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format,
)  # fmt: skip
_PLAIN_BASES = (np.generic, np.dtype, enum.Enum, pathlib.PurePath)

_LISTS = (list, tuple, set, frozenset, deque)
_DICTS = (dict, OrderedDict, defaultdict, types.MappingProxyType)

_MODULES = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Identity)

# Functions of other packages that read a file or make one value of another, by their modules.
_FUNCTIONS = {
    "torchvision.datasets.folder": ("accimage_loader", "default_loader", "pil_loader"),
    "torchvision.io.image": ("decode_image", "decode_jpeg", "decode_png", "read_file", "read_image"),
    "torch": ("as_tensor", "eye", "from_numpy", "full", "ones", "tensor", "zeros"),
    "torch.nn.functional": ("one_hot",),
    "torch.utils.data._utils.collate": ("default_collate", "default_convert"),
    "numpy": ("array", "asarray", "load"),
    "PIL.Image": ("fromarray", "open"),
    "builtins": ("abs", "divmod", "float", "int", "len", "list", "max", "min", "pow", "round", "str", "sum", "tuple"),
}

# Methods of lists and dictionaries that look up what is in there.
_LOOKING_UP = ("__getitem__", "get")

# Attributes with which a user's subclass does not change what an object does.
_HARMLESS = frozenset([
    "__abstractmethods__", "__annotations__", "__annotate_func__", "__annotations_cache__", "__dict__", "__doc__",
    "__firstlineno__", "__init__", "__module__", "__orig_bases__", "__parameters__", "__qualname__", "__repr__",
    "__slots__", "__static_attributes__", "__str__", "__weakref__", "_abc_impl",
])  # fmt: skip

# Methods of a class that a draft would call, and a user may have replaced.
_CALLED = ("__call__", "forward", "get_params", "make_params", "transform", "_sample", "_draft", "sample")

# Attributes that are derived from others, and what was compiled, which is not called.
_DERIVED = frozenset(("_book", "_call", "_kernels", "_fastaug_pipeline", "_program", "original"))


def unknown(value: Any, generator: bool = False) -> str | None:
    """Return which part of a transform or function is not known to draw nothing by itself, in words, or None.

    Functions of other libraries are known by their identity. Transforms of this package are known by their class, if
    all that they are made of is known.

    Args:
        value: the transform or function.
        generator: whether a pipeline with its own generator is known as well.
    """
    if functions:
        return f"something is put in the place of fastaug.transforms.functional.{next(iter(functions))}"
    if global_hooks or global_pre_hooks:
        return "there are hooks on all modules"
    return _unknown(value, set(), generator)


def draws_nothing(function: Any) -> bool:
    """Return whether a function is known to draw nothing, also not by transforms of this package. None does nothing.

    Of small functions of the user's, the code is read.
    """
    if type(function) is functools.partial:
        return draws_nothing(function.func) and is_plain([*function.args, *function.keywords.values()])
    if isinstance(function, type):
        return function.__module__ in ("builtins", "numpy")
    called = type(function) in (types.FunctionType, types.BuiltinFunctionType) and not is_ours(function)
    return function is None or (called and (unknown(function) is None or only_computes(function, _is_named)))


def _is_named(value: Any) -> bool:
    """Return whether the code of a function that draws nothing may name a value."""
    # A function of the user's that it calls is not read, since it may call this one.
    by_code = type(value) is types.FunctionType and unknown(value) is not None
    return is_plain([value]) or (not by_code and draws_nothing(value))


def _unknown(value: Any, seen: set[int], generator: bool = False) -> str | None:
    cls = type(value)
    if cls in _PLAIN or (cls in _DICTS and not value) or id(value) in seen or isinstance(value, _PLAIN_BASES):
        return None
    seen.add(id(value))
    if cls in _LISTS:
        return _first(value, seen)
    if cls in _DICTS:
        return _first(value.keys(), seen) or _first(value.values(), seen)
    if cls is np.ndarray:
        return _first(value.tolist(), seen) if value.dtype.hasobject else None
    if isinstance(value, Image.Image):
        return None if cls.__module__.startswith("PIL.") else named(value)
    if isinstance(value, type):
        known = value.__module__.partition(".")[0] in ("fastaug", "torch", "torchvision", "numpy", "builtins")
        return None if known else named(value)
    if cls is functools.partial:
        return _first((value.func, value.args, value.keywords), seen)
    if cls is types.MethodType:
        return _first((value.__func__, value.__self__), seen)
    if cls in (types.FunctionType, types.BuiltinFunctionType):
        return _unknown_function(value, seen)
    return _unknown_object(value, seen, generator)


def _first(values: Any, seen: set[int]) -> str | None:
    return next((found for value in values if (found := _unknown(value, seen)) is not None), None)


def _unknown_function(function: Any, seen: set[int]) -> str | None:
    module = getattr(function, "__module__", None)
    if type(function) is types.FunctionType and isinstance(module, str) and module.partition(".")[0] == "fastaug":
        return _first((cell.cell_contents for cell in function.__closure__ or ()), seen)
    for name, names in _FUNCTIONS.items():
        loaded = sys.modules.get(name)
        if any(function is getattr(loaded, one, None) for one in names):
            return None
    owner = getattr(function, "__self__", None)
    if type(owner) in (list, dict) and function.__name__ in _LOOKING_UP and is_plain(owner):
        return None
    return named(function)


def _unknown_object(value: Any, seen: set[int], generator: bool) -> str | None:
    cls = type(value)
    if cls in _MODULES or cls.__module__.startswith("torch.distributions."):
        return _first(vars(value).values(), seen)
    for base in cls.__mro__:
        if is_ours(base):
            break
        if not vars(base).keys() <= _HARMLESS or base is object:
            return named(value)
    if not _has_own(cls):
        return f"{cls.__name__} has a function of the user's in the place of its own"
    if isinstance(value, Pipeline):
        if not value._is_own():
            return named(value)
        if value._call.draws.generator is not None and not generator:
            return f"{cls.__name__} draws from a generator of its own"
    own: dict[str, Any] = getattr(value, "__dict__", {})
    return _first(
        (part for name, part in own.items() if name not in _DERIVED and not isinstance(part, torch.Generator)), seen
    )


def _has_own(cls: type) -> bool:
    """Return whether what a draft calls of a class is this package's or torch's, or is not there."""
    seen: set[str] = set()
    for base in cls.__mro__:
        own = vars(base)
        for name in _CALLED:
            if name in own and name not in seen:
                seen.add(name)
                module = getattr(getattr(own[name], "__func__", own[name]), "__module__", None)
                if own[name] is not None and str(module).partition(".")[0] not in ("fastaug", "torch"):
                    return False
    return True


def named(value: Any) -> str:
    """Return that a value is not known, in words, by its name or that of its class."""
    name = getattr(value, "__name__", None)
    what = f"the function {name}" if isinstance(value, types.FunctionType) else str(name or type(value).__name__)
    return f"{what} is not known to draw nothing by itself"


def is_plain(values: Any) -> bool:
    """Return whether a container holds only numbers, strings, arrays and images, or lists of them."""
    if type(values) in _DICTS:
        values = [*values.keys(), *values.values()]
    kinds = set(map(type, values))
    deeper = [kind for kind in kinds if kind in (list, tuple, dict)]
    for kind in kinds.difference(_PLAIN, deeper):
        if not issubclass(kind, _PLAIN_BASES) and kind is not np.ndarray and not kind.__module__.startswith("PIL."):
            return False
    inner = [value for value in values if type(value) in deeper] if len(kinds) > len(deeper) else values
    return not deeper or is_plain([part for value in inner for part in _parts(value)])


def _parts(value: Any) -> Any:
    return [*value.keys(), *value.values()] if isinstance(value, dict) else value
