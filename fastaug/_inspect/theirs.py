"""Torchvision's objects, made of this package's: the result of fastaug.to_torchvision, and twins for comparisons."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from enum import Enum
from types import ModuleType
from typing import Any

from torch import nn

from fastaug._draft.pipeline import Pipeline
from fastaug._draft.through import replaced
from fastaug._draft.written import has_hooks, other_methods
from fastaug._names import is_ours

#: What users derive transforms of v2 from.
BASES = ("Transform", "_RandomApplyTransform")

# The modules that torchvision has too, by the same names.
_MODULES = (
    *("transforms.v2.functional", "transforms.v2._utils", "transforms.v2", "transforms.functional", "transforms"),
    *("tv_tensors", "io"),
)

# Attributes of pipelines that torchvision's do not have.
_OF_PIPELINES = ("_arithmetic", "_call", "_kernels", "_mode")

# The attributes of a module with nothing in it.
_OF_MODULES = frozenset(vars(nn.Module()))

# A module that torch has compiled, which does not pickle.
_COMPILED = "_compiled_call_impl"


class NotTheirsError(TypeError):
    """A transform, a function or an argument that torchvision does not have."""


def library() -> ModuleType:
    """Return torchvision.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module("torchvision")
    except ImportError as error:
        if error.name != "torchvision":
            raise
        raise ImportError("torchvision is not installed", name="torchvision") from None


def of(transform: Any) -> Any:
    """Implement fastaug.to_torchvision."""
    if not callable(transform):
        hint = "; a Compose takes it" if isinstance(transform, (list, tuple)) else ""
        raise TypeError(f"transform should be a transform or another callable. Got {type(transform)}{hint}")
    library()
    return Translation().of(transform)


class Translation:
    """A translation of objects of this package to torchvision's, in which one object stays one object.

    Args:
        strict: whether nothing of the result may need this package.
        by_name: replacements for classes of this package that torchvision does not have.
    """

    def __init__(self, strict: bool = True, by_name: dict[str, Callable[[Any], Any]] | None = None) -> None:
        self._strict = strict
        self._by_name = by_name or {}
        # By the ids of the originals, which live as long as this.
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """Return torchvision's object for one of this package, or another value itself if it holds none of these."""
        if id(value) not in self._made:
            made = self._of(value)
            self._made[id(value)] = value, made
        return self._made[id(value)][1]

    def _of(self, value: Any) -> Any:
        cls = type(value)
        if isinstance(value, type) or inspect.isroutine(value):
            return self._function(value)
        if cls in (list, tuple):
            parts = [self.of(part) for part in value]
            return value if _same(parts, value) else cls(parts)
        if cls is dict:
            pairs = [(self.of(key), self.of(part)) for key, part in value.items()]
            return value if all(_same(*both) for both in zip(pairs, value.items())) else dict(pairs)
        if cls is functools.partial:
            parts = [self.of(part) for part in (value.func, value.args, value.keywords)]
            same = _same(parts, (value.func, value.args, value.keywords))
            return value if same else functools.partial(parts[0], *parts[1], **parts[2])
        if is_ours(cls):
            return self._ours(value)
        if cls in (nn.Sequential, nn.ModuleList) or cls.__module__.startswith("torchvision.transforms"):
            return self._rebuilt(value)
        self._check_foreign(value)
        return value

    def _function(self, value: Any) -> Any:
        """Return torchvision's function or class for one of this package's."""
        if not is_ours(value):
            return value
        if value.__name__ == "_no_labels":
            return importlib.import_module("torchvision.transforms.v2._utils")._parse_labels_getter(None)
        try:
            return _counterpart(value)
        except NotTheirsError:
            if self._strict:
                raise
            return value

    def _ours(self, value: Any) -> Any:
        cls = type(value)
        if isinstance(value, Enum):
            return _counterpart(cls)(value.value)
        if (made := self._by_name.get(cls.__name__)) is not None:
            return made(value)
        if isinstance(value, Pipeline):
            if self._strict:
                _check_settings(value)
            if "original" in vars(value):
                return self.of(vars(value)["original"])
            if "calls" in vars(value):
                raise NotTheirsError(
                    "torchvision has no Views, which are several transforms of one image. Convert each of them: "
                    "[fastaug.to_torchvision(one) for one in views.transforms]"
                )
        own = getattr(value, "__dict__", {})
        if "_theirs" in own:
            return own["_theirs"]  # an older torchvision does it in its own way, and this object calls it
        known = _counterpart(cls)
        if self._strict:
            _check_class(cls)
            _check_arguments(value, cls, known)
        made = known.__new__(known)
        self._made[id(value)] = value, made
        for name, held in own.items():
            if name not in _OF_PIPELINES and name != _COMPILED:
                vars(made)[name] = self._attribute(name, held)
        return made

    def _attribute(self, name: str, held: Any) -> Any:
        """Return an attribute of a new object. It does not share lists, dictionaries and sets with the old one."""
        if name == "transforms" and type(held) not in (list, tuple, nn.ModuleList, nn.Sequential):
            return [self.of(one) for one in held]
        if name in _OF_MODULES and isinstance(held, dict):
            return type(held)((key, self.of(one)) for key, one in held.items())
        found = self.of(held)
        return copy.copy(held) if found is held and isinstance(held, (list, dict, set)) else found

    def _rebuilt(self, value: Any) -> Any:
        """Return a container of torch's, or a transform of torchvision's, with what it holds translated."""
        self._made[id(value)] = value, value  # the answer if it holds itself
        own = getattr(value, "__dict__", {})
        found = {name: self.of(held) for name, held in own.items() if name != "_modules"}
        modules = {name: self.of(held) for name, held in own.get("_modules", {}).items()}
        changed = {name: one for name, one in found.items() if one is not own[name]}
        if not changed and _same(modules.values(), own.get("_modules", {}).values()):
            return value
        made = copy.copy(value)
        vars(made).update(changed)
        if "_modules" in own:
            vars(made)["_modules"] = type(own["_modules"])(modules)
        return made

    def _check_foreign(self, value: Any) -> None:
        """Raise an error for an object of user code, or of another package, that needs this package."""
        cls = type(value)
        ours = next((base for base in cls.__mro__ if is_ours(base)), None)
        if ours is not None and (self._strict or ours.__name__ not in BASES):
            hint = ". Derive it from torchvision's class" if self._strict else ""
            raise NotTheirsError(f"{cls.__name__} is a subclass of fastaug's {ours.__name__}{hint}")
        if not self._strict:
            return
        own = dict(getattr(value, "__dict__", {}))
        own.update(own.pop("_modules", {}))
        for name, held in own.items():
            if (inner := _first_of_ours(held)) is not None:
                raise NotTheirsError(
                    f"{cls.__name__} is kept as it is, and its {name} holds fastaug's {inner}. Set that attribute to "
                    "what fastaug.to_torchvision makes of it, and try again"
                )


def _same(ones: Any, others: Any) -> bool:
    return all(one is other for one, other in zip(ones, others))


def _first_of_ours(held: Any) -> str | None:
    """Return the name of the first class or function of this package that a value is, or holds directly."""
    if isinstance(held, (list, tuple, nn.ModuleList, nn.Sequential)):
        return next(filter(None, map(_first_of_ours, held)), None)
    if isinstance(held, dict):
        return next(filter(None, map(_first_of_ours, held.values())), None)
    named = held if isinstance(held, type) or inspect.isroutine(held) else type(held)
    return named.__name__ if is_ours(named) else None


def _counterpart(value: Any) -> Any:
    """Return torchvision's class or function for one of this package's."""
    name = value.__name__
    for module in _MODULES:
        if getattr(sys.modules.get(f"fastaug.{module}"), name, None) is value:
            break
    else:
        raise NotTheirsError(_told(f"torchvision has no {_public(value)}"))
    try:
        theirs = getattr(importlib.import_module(f"torchvision.{module}"), name, None)
    except ImportError:
        theirs = None  # an older release has no v2
    if theirs is not None:
        return theirs
    if name == "Decode" or not module.startswith("transforms"):
        raise NotTheirsError(_told(f"torchvision has no {'' if name == 'Decode' else f'{module}.'}{name}"))
    raise NotTheirsError(f"torchvision {library().__version__} has no {module}.{name}. A newer release has it")


def _public(value: Any) -> str:
    inner = str(value.__module__).removeprefix("fastaug").lstrip(".")
    return value.__qualname__ if not inner or inner.startswith("_") else f"{inner}.{value.__qualname__}"


def _told(problem: str) -> str:
    return (
        f"{problem}. fastaug.to_torchvision takes transforms and functions that torchvision has too, containers of "
        "them, and your own callables"
    )


def _check_settings(pipeline: Any) -> None:
    """Raise a ValueError for settings that torchvision's pipelines do not have."""
    settings = [
        *pipeline._settings(),
        *(name for name in ("generator", "dtype", "memory_format") if getattr(pipeline, name, None) is not None),
    ]
    if settings:
        raise ValueError(
            f"torchvision has no {' and no '.join(settings)}, as this {type(pipeline).__name__} has. Convert a "
            "pipeline without it"
        )
    if "original" in vars(pipeline) and has_hooks(pipeline):
        raise ValueError(f"the hooks of a {type(pipeline).__name__} cannot be moved to what it was compiled from")


def _check_class(cls: Any) -> None:
    """Raise an error for a class in which user code has replaced a method."""
    own = getattr(cls, "_own_params", None)
    name = "get_params" if own is not None and cls.get_params is not own else replaced(cls)
    if name is None and issubclass(cls, nn.Module):
        name = next(iter(other_methods(cls, cls)), None)
    if name is not None:
        raise NotTheirsError(f"{cls.__name__}.{name} is a function of yours, which torchvision's class does not have")


def _check_arguments(value: Any, ours: Any, theirs: Any) -> None:
    """Raise an error for an argument that the class of an older torchvision does not have."""
    known = inspect.signature(theirs).parameters
    for name, parameter in inspect.signature(ours).parameters.items():
        if name in known or name in ("mode", "arithmetic") or not hasattr(value, name):
            continue
        given = getattr(value, name)
        if given != parameter.default:
            release = library().__version__
            raise NotTheirsError(f"{ours.__name__} of torchvision {release} has no {name}, which is {given!r}")
