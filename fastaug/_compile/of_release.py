"""Transforms of an older torchvision that are read, except for samples that its release treats differently."""

from __future__ import annotations

import copy
import functools
from typing import Any

import PIL.Image
from torch import nn

from fastaug._draft import releases
from fastaug._draft.leaf import Leaf as Draft
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._draft.releases import Leaf, Rule
from fastaug._sample.sample import Sample
from fastaug.transforms.v2 import _recipe


class OfRelease:
    """The base of such transforms, with the original and the rules for samples that it is called with."""

    _theirs: Any
    _rules: tuple[Rule, ...]

    def _take(self, sample: Sample) -> None:
        values = [leaf.origin if isinstance(leaf, Draft) else leaf for leaf in sample.leaves]
        leaves = [Leaf(_kind(cls), value) for cls, value in zip(sample.types, values)]
        if any(rule.meets is not None and rule.meets(leaf) for rule in self._rules for leaf in leaves):
            sample.apart(self._theirs)
        else:
            super()._take(sample)  # type: ignore[misc]

    def __reduce__(self) -> Any:
        state = {name: value for name, value in vars(self).items() if name not in _OWN}
        # The unpickling process may have another release of torchvision.
        return _again, (_ours(self), state, self._theirs)


#: Attributes of `OfRelease` alone.
_OWN = ("_rules", "_theirs")


def of_release(made: nn.Module, theirs: Any) -> Any:
    """Return a transform that calls torchvision's original for samples that a rule is about; without rules, `made`."""
    op = type(made).__name__
    rules = tuple(rule for rule in releases.rules("v2", op) if rule.about is None or rule.about(theirs))
    if not rules:
        return made
    cls: Any = type(made)
    result: Any = object.__new__(_class(cls))
    # nn.Module's setattr would register the original as a submodule.
    vars(result).update(vars(made), _theirs=copy.deepcopy(theirs), _rules=rules)
    return result


@functools.cache
def _class(ours: type) -> type:
    return type(ours.__name__, (OfRelease, ours), {"__module__": __name__, "_packed": _packed})


def _ours(transform: Any) -> Any:
    """Return the class of this package that the transform derives from."""
    return type(transform).__mro__[2]


def _packed(transform: Any) -> Packed:
    # A recipe is for single images.
    pack = _recipe.packer_of(_ours(transform))
    if pack is None or any(rule.of_images for rule in transform._rules):
        raise NoRecipe
    told: Packed = pack(transform)
    return told


def _again(ours: type, state: dict[str, Any], theirs: Any) -> Any:
    made: Any = object.__new__(ours)
    vars(made).update(state)
    return of_release(made, theirs)


def _kind(cls: type) -> str:
    # Pillow's class has the name of the tv_tensor.
    return "PIL" if issubclass(cls, PIL.Image.Image) else cls.__name__
