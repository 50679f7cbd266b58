"""Transforms of an older torchvision that are read, but for samples of which that release makes something else."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

from torch import nn

from fastaug._draft import releases
from fastaug._draft.leaf import Leaf as Draft
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._draft.releases import Leaf, Rule
from fastaug._sample.sample import Sample


class OfRelease:
    """What is common to them: the original, and the rules that say of which samples it is called."""

    _theirs: Any
    _rules: Sequence[Rule]

    def _take(self, sample: Sample) -> None:
        leaves = [Leaf(cls.__name__, _value(leaf)) for cls, leaf in zip(sample.types, sample.leaves)]
        if any(rule.meets is not None and rule.meets(leaf) for rule in self._rules for leaf in leaves):
            sample.apart(self._theirs)
        else:
            super()._take(sample)  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return _again, (type(self).__mro__[2], self._theirs, self._rules, self.__dict__.copy())


def of_release(made: nn.Module, theirs: Any, op: str) -> Any:
    """A transform of this package, made of torchvision's, which hands that the samples that a rule is about.

    Where no rule is about the object, it stays what it is.
    """
    rules = [rule for rule in releases.rules("v2", op) if rule.about is None or rule.about(theirs)]
    if not rules:
        return made
    result = object.__new__(_class(type(made)))
    # Not by nn.Module's way, which would take the original for a part of the transform.
    vars(result).update(vars(made), _theirs=copy.deepcopy(theirs), _rules=tuple(rules))
    return result


@functools.cache
def _class(ours: type) -> type:
    # A recipe is for single images.
    return type(ours.__name__, (OfRelease, ours), {"__module__": __name__, "_packed": _packed})


def _packed(transform: Any) -> Packed:
    pack = type(transform).__mro__[2].__dict__.get("_packed")
    if pack is None or any(rule.of_images for rule in transform._rules):
        raise NoRecipe
    told: Packed = pack(transform)
    return told


def _again(ours: type, theirs: Any, rules: Sequence[Rule], state: dict[str, Any]) -> Any:
    result = object.__new__(_class(ours))
    vars(result).update(state)
    return result


def _value(leaf: Any) -> Any:
    return leaf.origin if isinstance(leaf, Draft) else leaf
