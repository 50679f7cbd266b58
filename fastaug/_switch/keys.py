"""Keys of transforms by their values, so that equal ones share a twin: some programs make a Compose for each sample."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch
from torch import nn

from fastaug import _C

#: The deepest nesting of containers and transforms that has a key.
_DEEPEST = 6

_PLAIN = (bool, int, float, str, bytes, type(None), torch.dtype, torch.device)

_OF_MODULES = frozenset(vars(nn.Module()))

#: Attributes of modules that make one differ from another if there is something in them.
_PARTS = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks")


class _NoKeyError(Exception):
    """A value is equal only to itself."""


def key_of(transform: Any) -> Any:
    """Return a key that equal transforms of torchvision have in common, or None if there is none.

    A class that has changed gives other keys.
    """
    try:
        key = _key(transform, 0)
        hash(key)
    except (_NoKeyError, TypeError):
        return None
    return key


def _key(value: Any, depth: int) -> Any:
    cls = type(value)
    if cls in _PLAIN or isinstance(value, Enum):
        # 1, 1.0 and True are equal; -0.0 equals 0.0.
        return cls, repr(value) if cls is float else value
    if depth == _DEEPEST:
        raise _NoKeyError
    if cls in (list, tuple):
        return cls, tuple(_key(one, depth + 1) for one in value)
    if cls is dict:
        return cls, tuple((_key(name, depth + 1), _key(one, depth + 1)) for name, one in value.items())
    if isinstance(value, type):
        return type, value
    if not str(cls.__module__).startswith("torchvision.transforms."):
        raise _NoKeyError
    own = vars(value)
    if any(own.get(part) for part in _PARTS):
        raise _NoKeyError
    if (version := _C.version_of(cls)) == 0:
        raise _NoKeyError
    parts = tuple((name, _key(one, depth + 1)) for name, one in own.items() if name not in _OF_MODULES)
    return cls, version, parts
