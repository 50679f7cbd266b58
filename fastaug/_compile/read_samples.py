"""Read transforms of v2, torchvision's and this package's, by the rules of fastaug._compile.adopt."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

from torch import nn

import fastaug.transforms as T
from fastaug._compile.adopt import Keep, Reader, as_it_is, copied
from fastaug._compile.of_release import of_release
from fastaug._compile.trace import inside
from fastaug._draft import releases
from fastaug._draft.recognise import altered, is_own, known_class
from fastaug._draft.recognise import reason as reason_of_v1
from fastaug._draft.written import has_hooks
from fastaug._names import is_ours
from fastaug.transforms import v2
from fastaug.transforms.v2 import _utils

_THEIRS = "torchvision.transforms.v2."

#: This package's functions that find labels, by the names of torchvision's. The last is of labels_getter=None.
_GETTERS = {
    "_find_labels_default_heuristic": _utils._find_labels_default_heuristic,
    "_parse_labels_getter.<locals>.<lambda>": _utils._no_labels,
}


@functools.cache
def _of_v2(cls: Any) -> type | None:
    """Return the class of v2 that a class is or derives from, if this package has it, or None."""
    for base in cls.__mro__:
        theirs = base.__module__.startswith(_THEIRS)
        if not theirs and not (is_ours(base) and base.__module__.startswith("fastaug.transforms.v2")):
            continue
        known = getattr(v2, base.__name__, None)
        module = sys.modules.get("torchvision.transforms.v2") if theirs else v2
        if isinstance(known, type) and issubclass(known, nn.Module) and getattr(module, base.__name__, None) is base:
            return base
    return None


def takes_samples(transform: Any, around: frozenset[int] = frozenset()) -> bool:
    """Return whether a transform is one of v2, or contains one; `around` holds the ids of its containers."""
    cls: Any = type(transform)
    if _of_v2(cls) is not None:
        return True
    if id(transform) in around:
        return False
    around |= {id(transform)}
    if type(transform) is nn.Sequential or type(transform).__name__ == "Compose":
        inner = list(transform) if isinstance(transform, nn.Sequential) else getattr(transform, "transforms", ())
        return isinstance(inner, (Sequence, nn.ModuleList)) and any(takes_samples(one, around) for one in inner)
    seen = inside(transform)
    if seen is None:
        return False
    # A transform with optional arguments is called unread, with all of them.
    called = [call[0] for call in seen.calls] if seen.optional else seen.chain
    return any(takes_samples(one, around) for one in called or ())


def parts_of(transform: Any) -> list[Any] | None:
    """Return the transforms that a container calls one after the other, or None for anything else."""
    cls: Any = type(transform)
    known = _of_v2(cls)
    if known is not None:
        return list(transform.transforms) if known.__name__ == "Compose" and reason(transform) is None else None
    if known_class(cls) is None or reason_of_v1(transform) is not None:
        return None
    if known_class(cls) is nn.Sequential:
        return list(transform._modules.values())
    return list(transform.transforms) if cls.__name__ == "Compose" else None


def reason(transform: Any) -> str | None:
    """Return why a transform of v2 is not read, in words, or None if it is."""
    cls: Any = type(transform)
    known: Any = _of_v2(cls)
    if known is None:
        return "a callable that fastaug does not know"
    if known.__name__ == "Transform":
        return "a transform of yours"
    theirs = known.__module__.startswith(_THEIRS)
    if theirs and (why := releases.left("v2", known.__name__)):
        return why
    return altered(transform, known, (_THEIRS,))


def is_read(transform: Any) -> bool:
    """Return whether something is a transform of v2 that is read."""
    cls: Any = type(transform)
    return _of_v2(cls) is not None and reason(transform) is None


class SampleReader(Reader):
    """A reader of transforms of samples."""

    def __init__(self, keep: Keep = as_it_is) -> None:
        super().__init__(keep=keep)
        self._reader = Reader(alone=False, keep=keep)

    def steps(self, transform: Any) -> list[Any]:
        cls: Any = type(transform)
        if cls is nn.Identity and not has_hooks(transform):
            return []
        known = _of_v2(cls)
        if known is not None and known.__name__ == "Compose" and reason(transform) is None:
            return [step for child in transform.transforms for step in self.steps(child)]
        if known is None and takes_samples(transform) and reason_of_v1(transform) is None:
            inner = list(transform) if isinstance(transform, nn.Sequential) else transform.transforms
            return [step for child in inner for step in self.steps(child)]
        if id(transform) not in self._inner:
            # The answer if it holds itself.
            self._inner[id(transform)] = None
            seen = inside(transform) if known is None else None
            called = None if seen is None or seen.optional else seen.chain
            if called is not None and any(map(takes_samples, called)):
                kept, self._keep = self._keep, as_it_is if seen is not None and seen.told else self._keep
                self._inner[id(transform)] = [step for one in called for step in self.steps(one)]
                self._keep = kept
                self._kept.append(called)
        inner = self._inner[id(transform)]
        return [self._one(transform)] if inner is None else inner

    def _made_of(self, transform: Any) -> Any:
        cls: Any = type(transform)
        known = _of_v2(cls)
        if known is None and takes_samples(transform) and reason_of_v1(transform) is None:
            return v2.Compose(self.steps(transform))
        if known is None:
            # A function or a transform of v1, called with the image alone.
            steps = self._reader.steps(transform)
            if not steps:
                return self._keep(transform)
            return steps[0] if len(steps) == 1 else T.Compose(steps)
        if reason(transform) is not None:
            return transform
        if known.__name__ == "Compose":
            return v2.Compose(self.steps(transform))
        ours = getattr(v2, known.__name__)
        made = ours.__new__(ours)
        nn.Module.__init__(made)
        internal = vars(nn.Module())
        for name, value in vars(transform).items():
            if name not in internal:
                setattr(made, name, self._value(name, value))
        for name, module in transform._modules.items():
            setattr(made, name, self._value(name, module))
        for name, buffer in transform._buffers.items():
            made.register_buffer(name, copied(buffer))
        made.training = transform.training
        return of_release(made, transform) if known.__module__.startswith(_THEIRS) else made

    def _value(self, name: str, value: Any) -> Any:
        if name == "_labels_getter" and (ours := _getter_of(value)) is not None:
            return ours
        return [self._one(one) for one in value] if name == "transforms" else self._copied(value)


def _getter_of(function: Any) -> Any:
    """Return this package's function for one of torchvision's that finds labels, or None for a function of the user's.

    Only their own functions may be asked before the pixels of a sample are made.
    """
    name = getattr(function, "__qualname__", "")
    return _GETTERS.get(name) if is_own(function, f"{_THEIRS}_utils", name) else None
