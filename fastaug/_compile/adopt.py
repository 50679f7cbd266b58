"""Read transforms of torchvision's v1 API, of this package and nn.Sequential into new ones for a compiled transform.

torchvision is never imported. Its objects are recognised by their classes and read by their present attributes, and
nothing is written to them. An object with behaviour of its own stays and is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import nn

import fastaug.transforms as T
from fastaug._compile.trace import inside
from fastaug._draft import releases
from fastaug._draft.pipeline import Pipeline
from fastaug._draft.recognise import attributes_of, known_class, reason
from fastaug._draft.through import step_of
from fastaug._draft.watch import DICTIONARIES
from fastaug._draft.written import has_hooks
from fastaug._inspect import words

_ENUMS = (T.AutoAugmentPolicy, T.InterpolationMode)


def unread(transform: Any, is_of_samples: Callable[[Any], bool]) -> str | None:
    """Return a warning about a callable that `Reader` did not read, or None if it is drafted as it is.

    Args:
        is_of_samples: whether something is a transform of v2 that is read.
    """
    cls = type(transform)
    why = reason(transform)
    if why is None or step_of(transform) is not None:
        return None
    name = words.called(transform)
    if name == cls.__name__:
        name = f"{cls.__module__}.{cls.__qualname__}"
    inside = _readable_inside(transform, lambda value: _is_readable(value) or is_of_samples(value))
    if inside:
        advice = f"Compile what is inside it instead: its {' and '.join(inside)}"
    elif releases.left("v1", cls.__name__) == why:
        advice = "A newer torchvision's is read"
    else:
        advice = "Write what it does as a Compose of transforms of fastaug or torchvision, and compile that"
        if known_class(cls) is None and "function" not in why:
            advice += "; or tell fastaug.register what its class does"
    return f"fastaug.compile cannot read {name}: {why}. It is called as it is, and is no faster than before. {advice}."


def _readable_inside(transform: Any, is_readable: Callable[[Any], bool]) -> list[str]:
    """Return the attributes of an object that hold readable transforms, or sequences of them."""
    own = dict(getattr(transform, "__dict__", {}))
    own.update(own.pop("_modules", {}))
    return [name for name, value in own.items() if any(map(is_readable, _each(value)))]


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (tuple, list, nn.ModuleList)) else (value,)  # type: ignore[return-value]


def _is_readable(value: Any) -> bool:
    return known_class(type(value)) is not None and reason(value) is None


Keep = Callable[[Any], Any]


def as_it_is(function: Any) -> Any:
    return function


class Reader:
    """A reader that makes transforms of this package from others.

    Args:
        alone: whether they are called with one image, and never with the rest of a sample.
        keep: a function of a callable that is not read, or that a read transform calls, which returns what to call in
            its place.
    """

    def __init__(self, alone: bool = True, keep: Keep = as_it_is) -> None:
        self._alone = alone
        self._keep = keep
        # By the ids of the originals, which live as long as this.
        self._read: dict[int, Any] = {}
        self._inner: dict[int, list[Any] | None] = {}
        self._reasons: dict[int, str | None] = {}
        self._kept: list[Any] = []

    def steps(self, transform: Any) -> list[Any]:
        """Return the steps of a callable, with those of inner Composes and nn.Sequentials.

        An object that occurs several times stays one object.
        """
        cls = type(transform)
        if isinstance(transform, Pipeline) and not isinstance(transform, T.Compose):
            # A compiled one, whose steps are read and its own.
            return list(transform.transforms) if transform._is_plain() else [transform]  # type: ignore[attr-defined]
        if cls is nn.Identity and not has_hooks(transform):
            return []
        if self._is_known(transform):
            known = known_class(cls)
            if known is nn.Sequential:
                return [step for child in transform._modules.values() for step in self.steps(child)]
            if known is not None and known.__name__ == "Compose":
                return [step for child in transform.transforms for step in self.steps(child)]
            if known is not None and known.__name__ == "Lambda":
                transform = transform.lambd if self._inside(transform.lambd) is not None else transform
        inside = self._inside(transform)
        return [self._one(transform)] if inside is None else inside

    def _is_known(self, transform: Any) -> bool:
        """Return whether there is no reason why a transform is not read."""
        if id(transform) not in self._reasons:
            self._reasons[id(transform)] = reason(transform)
        return self._reasons[id(transform)] is None

    def _inside(self, transform: Any) -> list[Any] | None:
        """Return the steps of an object of an unknown class, if its reader or its code defines them."""
        if self._is_known(transform) or id(transform) in self._inner:
            return self._inner.get(id(transform))
        # The answer if it holds itself.
        self._inner[id(transform)] = None
        seen, made = inside(transform), None
        if seen is not None and seen.inputs == 1 and (self._alone or not seen.optional):
            made = seen.chain
            if made is not None and not (seen.told or any(map(self.is_read, made))):
                made = None
        if made is not None:
            self._kept.append(made)
            # Nobody else holds what a registered reader has made.
            kept, self._keep = self._keep, as_it_is if seen is not None and seen.told else self._keep
            made = [step for one in made for step in self.steps(one)]
            self._keep = kept
        self._inner[id(transform)] = made
        return made

    def is_read(self, transform: Any) -> bool:
        """Return whether a transform, or one inside it, is drafted instead of called."""
        return any(step_of(step) is not None for step in self.steps(transform))

    def _one(self, transform: Any) -> Any:
        """Return the one object that a transform is read into."""
        if id(transform) not in self._read:
            self._read[id(transform)] = self._made_of(transform)
        return self._read[id(transform)]

    def _made_of(self, transform: Any) -> Any:
        known = known_class(type(transform)) if self._is_known(transform) else None
        if known is None and type(transform) is not nn.Identity:
            inside = self._inside(transform)
            if inside is None:
                return self._keep(transform)
            if len(inside) == 1:
                return inside[0]
            made: Any = T.Compose(inside)
        elif known is None or known is nn.Sequential or known.__name__ == "Compose":
            made = T.Compose(self.steps(transform))
        else:
            ours = getattr(T, known.__name__)
            made = ours.__new__(ours)
            if isinstance(made, nn.Module):
                nn.Module.__init__(made)
                made.training = transform.training
            for name in attributes_of(known.__name__):
                value = getattr(transform, name)
                vars(made)[name] = list(map(self._one, value)) if name == "transforms" else self._copied(value)
        return made

    def _copied(self, value: Any) -> Any:
        return self._keep(value) if callable(value) else copied(value)


def copied(value: Any) -> Any:
    """Return an independent copy of a value, with this package's types."""
    if isinstance(value, Enum) and type(value).__module__.startswith("torchvision."):
        ours = next((enum for enum in _ENUMS if enum.__name__ == type(value).__name__), None)
        return value if ours is None else ours(value.value)
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if type(value) in DICTIONARIES:
        # No setting has a default factory called, which might lead back to the user's objects.
        return {key: copied(one) for key, one in value.items()}
    if isinstance(value, torch.Tensor) and not value.requires_grad:
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value
