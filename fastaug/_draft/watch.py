"""Descriptions of objects as they are now, for the guards of the core (csrc/bind/guard.cpp).

A description is a tuple of its kind and of what the kind needs:

- (SAME, value): this very object, which the guard keeps alive;
- (REFERENT, reference): the object of a weak reference;
- (ITEMS, type, descriptions): a list or tuple with these items;
- (ENTRIES, keys, length, descriptions): a dictionary of this length with these entries, among others;
- (OBJECT, reference, description): the object of a weak reference, with these attributes and its class unchanged;
- (CALLED, function, result): an object of which a function returns this result.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from enum import Enum
from types import FunctionType, MethodType
from typing import Any

from torch import nn

from fastaug._draft.written import CALL_HOOKS, global_hooks, global_pre_hooks
from fastaug._names import is_ours

Described = tuple[Any, ...]

SAME, REFERENT, ITEMS, ENTRIES, OBJECT, CALLED = range(6)

#: The classes of dictionaries whose entries are all that counts of them.
DICTIONARIES = (dict, OrderedDict, defaultdict)

# The attributes of every module. Only its hooks are watched.
_OF_MODULES = frozenset(vars(nn.Module()))

_NOTHING: Described = (ENTRIES, (), 0, ())

#: Hooks on all modules, of which there should be none.
NO_HOOKS = (global_hooks, _NOTHING), (global_pre_hooks, _NOTHING)


def entries(dictionary: dict[Any, Any], each: Callable[[Any], Described], names: Iterable[Any]) -> Described:
    """Describe a dictionary by some of its entries."""
    keys = tuple(names)
    return ENTRIES, keys, len(dictionary), tuple(each(dictionary[key]) for key in keys)


def attributes(one: Any, each: Callable[[Any], Described], *internal: str) -> Described:
    """Describe an object by its attributes; those of every nn.Module count only if they are hooks or named."""
    own = vars(one)
    if not isinstance(one, nn.Module):
        return OBJECT, weakref.ref(one), entries(own, each, own)
    names = [*(name for name in own if name not in _OF_MODULES), *CALL_HOOKS, *internal]
    return OBJECT, weakref.ref(one), entries(own, each, names)


class Watch:
    """Describes values, each object once: where it occurs again, it should only be the same one."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, value: Any) -> Described:
        """Describe a value."""
        cls = type(value)
        if cls is list or (cls is tuple and not all(map(_is_number, value))):
            return ITEMS, cls, tuple(map(self.of, value))
        if cls in DICTIONARIES:
            return entries(value, self.of, value)
        if not self.looks_into(value):
            return self.leaf(value)
        if id(value) in self._seen:
            return REFERENT, weakref.ref(value)
        self._seen.add(id(value))
        return attributes(value, self.of, *self.internal)

    #: Attributes of every nn.Module that are described, besides hooks.
    internal: tuple[str, ...] = ()

    def looks_into(self, value: Any) -> bool:
        """Return whether the attributes of an object count."""
        return is_object(value) and is_ours(type(value))

    def leaf(self, value: Any) -> Described:
        """Describe a value whose insides do not count."""
        return SAME, value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def is_object(value: Any) -> bool:
    """Return whether a value is called by the method of its class, with attributes of its own."""
    plain = isinstance(value, (type, FunctionType, MethodType, Enum))
    return not plain and callable(value) and hasattr(value, "__dict__")


class _Own(Watch):
    """Describes transforms of this package."""

    def __init__(self) -> None:
        super().__init__()
        #: The only mutable attribute of a class.
        self.spaces: list[dict[Any, Any]] = []

    def of(self, value: Any) -> Described:
        space = getattr(value, "_AUGMENTATION_SPACE", None)
        if type(space) is dict:
            self.spaces.append(space)
        return super().of(value)


def roots(transforms: Any, *empty: dict[Any, Any]) -> tuple[Any, ...]:
    """Describe what the recipe of a pipeline depends on: its transforms, hooks on all modules, empty dictionaries."""
    watch = _Own()
    described = [(transforms, watch.of(transforms))]
    described += [(space, watch.of(space)) for space in watch.spaces]
    return (*described, *NO_HOOKS, *((one, _NOTHING) for one in empty))
