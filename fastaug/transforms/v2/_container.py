"""Transforms made of transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from torch import nn

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.pipeline import Pipeline, checked_settings
from fastaug._draft.recipe import Packed
from fastaug._inspect.methods import SeenSamples
from fastaug._sample.pipeline import SamplePipeline
from fastaug._sample.sample import Sample
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2._transform import Transform, applied, checked_chance, reads_drafts, run, take, take_all

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder"]


class _Container(Transform):
    """The base of transforms that call others."""

    transforms: Any

    def forward(self, *inputs: Any) -> Any:
        """The sample, transformed. Several arguments are handed on as several."""
        return run(self._take, inputs)


def _checked(transforms: Any, accepted: tuple[type, ...] = (Sequence,)) -> Any:
    if not isinstance(transforms, accepted):
        others = " or a `nn.ModuleList`" if nn.ModuleList in accepted else ""
        raise TypeError(f"Argument transforms should be a sequence of callables{others}, got {type(transforms)}")
    if not transforms:
        raise ValueError("Pass at least one transform")
    return transforms


def _lines(transforms: Any) -> str:
    return "\n".join(f"    {transform}" for transform in transforms)


class Compose(_Container, SeenSamples, SamplePipeline):
    """Transforms, one after the other, as one pass over each image of the sample.

    Args:
        transforms: sequence of transforms, or of any callables that take a sample and return one.
        mode: "exact" for torchvision's results, bit for bit; or "fast", which may resample a chain of geometry once and
            keeps floating point between steps. Inside another Compose, that one's mode applies.
        arithmetic: of uint8 tensors: "container" for torchvision's, or "pil" for Pillow's on PIL images. Inside another
            Compose, that one's arithmetic applies.

    Raises:
        TypeError: not a sequence, or transforms as several arguments.
        ValueError: an empty one; another ``mode`` or ``arithmetic``.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> transform = v2.Compose([v2.RandomHorizontalFlip(p=1.0), v2.RandomHorizontalFlip(p=1.0)])
        >>> transform(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), "label")
        (tensor([[[1, 2, 3]]], dtype=torch.uint8), 'label')
    """

    def __init__(
        self,
        transforms: Sequence[Callable[..., Any]],
        mode: Literal["exact", "fast"] = "exact",
        arithmetic: Literal["container", "pil"] = "container",
    ) -> None:
        super().__init__()
        checked_settings(type(self).__name__, mode, arithmetic)
        self.transforms = _checked(transforms)
        if mode != "exact":
            self.mode = mode
        if arithmetic != "container":
            self.arithmetic = arithmetic

    def forward(self, *inputs: Any) -> Any:
        """The sample, transformed. Several arguments are handed on as several."""
        return self._called(inputs)

    # Without what is derived from the settings.
    __getstate__ = SamplePipeline.__getstate__

    def _recipe(self) -> Any:
        return recipe.recipe_of(self, self.transforms, family=_recipe.FAMILY)

    def _then(self, other: Pipeline) -> Pipeline | None:
        # The transforms themselves may change.
        return Compose([self, other], self.mode, self.arithmetic) if type(self) is type(other) is Compose else None

    def _take(self, sample: Sample) -> None:
        self._draft_all(sample)

    def _draft_some(self, draft: Sample, transforms: Iterable[Any]) -> None:
        take_all(transforms, draft)

    def _is_own(self) -> bool:
        return reads_drafts(self)

    def extra_repr(self) -> str:
        settings = "".join(f"    {setting}\n" for setting in self._settings())
        return settings + _lines(self.transforms)

    def __setstate__(self, state: dict[str, Any]) -> None:
        nn.Module.__setstate__(self, state)  # type: ignore[no-untyped-call]
        if self._settings():
            self._call = self._own_call()

    def _packed(self) -> Packed:
        return "Group", None, recipe.several(self.transforms, _recipe.packed), False


Transform._pipeline_of = Compose


class RandomApply(_Container):
    """All of the transforms with probability ``p``, else none.

    Args:
        transforms: sequence of transforms, or an ``nn.ModuleList``.

    Raises:
        TypeError: neither.
        ValueError: an empty one; ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomApply([v2.RandomHorizontalFlip(p=1.0)], p=1.0)(torch.tensor([[[1, 2]]], dtype=torch.uint8))
        tensor([[[2, 1]]], dtype=torch.uint8)
    """

    _v1_transform_cls = _v1.RandomApply

    def __init__(self, transforms: Sequence[Callable[..., Any]] | nn.ModuleList, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = _checked(transforms, (Sequence, nn.ModuleList))
        self.p = checked_chance(p)

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        return {"transforms": self.transforms, "p": self.p}

    def extra_repr(self) -> str:
        return _lines(self.transforms)

    def _take(self, sample: Sample) -> None:
        if applied(self, sample):
            take_all(self.transforms, sample)

    def _packed(self) -> Packed:
        return "Group", recipe.chance(self.p), recipe.several(self.transforms, _recipe.packed), False


class RandomChoice(_Container):
    """One of the transforms.

    Draws as ``torch.multinomial`` does.

    Args:
        transforms: sequence of transforms.
        p: weights; all alike by default.

    Raises:
        TypeError: ``transforms`` is not a sequence.
        ValueError: an empty one; ``p`` is not as long as ``transforms``.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomChoice([v2.RandomHorizontalFlip(p=1.0)])(torch.tensor([[[1, 2]]], dtype=torch.uint8))
        tensor([[[2, 1]]], dtype=torch.uint8)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: list[float] | None = None) -> None:
        transforms = _checked(transforms)
        if p is None:
            p = [1] * len(transforms)
        elif len(p) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(p)} != {len(transforms)}")
        super().__init__()
        self.transforms = transforms
        total = sum(p)
        self.p = [probability / total for probability in p]

    def _take(self, sample: Sample) -> None:
        take(self.transforms[sample.drawn(self, "choice", lambda: sample.call.draws.choice(self.p))], sample)

    def _packed(self) -> Packed:
        return "Chosen", self.p, recipe.several(self.transforms, _recipe.packed)


class RandomOrder(_Container):
    """All of the transforms, in random order.

    Draws as ``torch.randperm`` does.

    Args:
        transforms: sequence of transforms.

    Raises:
        TypeError: not a sequence.
        ValueError: an empty one.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomOrder([v2.RandomHorizontalFlip(p=1.0)])(torch.tensor([[[1, 2]]], dtype=torch.uint8))
        tensor([[[2, 1]]], dtype=torch.uint8)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        transforms = _checked(transforms)
        super().__init__()
        self.transforms = transforms

    def _take(self, sample: Sample) -> None:
        order = sample.drawn(self, "order", lambda: sample.call.draws.randperm(len(self.transforms)))
        take_all([self.transforms[index] for index in order], sample)

    def _packed(self) -> Packed:
        return "Shuffled", recipe.several(self.transforms, _recipe.packed)
