"""The result of fastaug.compile for transforms of v2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from fastaug._compile import read_samples
from fastaug._compile.adopt import Keep
from fastaug._compile.compiled import Compiled, converted
from fastaug._draft.recipe import recipe_of
from fastaug._inspect import words
from fastaug._inspect.methods import SeenSamples
from fastaug._program.job import Job
from fastaug._sample.pipeline import SamplePipeline
from fastaug._sample.sample import Sample
from fastaug.transforms.v2._recipe import FAMILY
from fastaug.transforms.v2._transform import Transform, take_all


class CompiledSamples(SeenSamples, SamplePipeline, Compiled):
    """A transform of v2 made by :func:`fastaug.compile`, in one pass over each image of a sample where possible.

    It is called like the original. Its attributes are those of :class:`Compiled`; ``dtype`` and ``memory_format`` apply
    to floating-point images and videos in the result.
    """

    def _read(self, original: Any, keep: Keep) -> str | None:
        reader = read_samples.SampleReader(keep)
        self.transforms = tuple(reader.steps(original))
        if len(self.transforms) != 1 or self.transforms[0] is not original:
            return None
        return (
            f"fastaug.compile cannot read {words.called(original)}: {read_samples.reason(original)}. It is called as "
            "it is, and is no faster than before."
        )

    def _prepare(self) -> None:
        self._call = self._own_call()

    def __call__(self, *inputs: Any) -> Any:
        return self._called(inputs)

    def forward(self, *inputs: Any) -> Any:
        """Return the transformed sample, without a call of hooks."""
        # As `_done`, with few looks at attributes.
        sample = Sample(inputs, self.__dict__["_call"])
        try:
            Compiled._draft_all(self, sample)  # type: ignore[arg-type]
            return CompiledSamples._formatted(self, sample.finish())
        finally:
            sample.call.draws.release()

    _by_python = Compiled._by_python

    def _recipe(self) -> Any:
        return recipe_of(self, self.transforms, self._format(), FAMILY)

    def _draft_some(self, draft: Sample, transforms: Iterable[Any]) -> None:
        take_all(transforms, draft)

    def _job(self, draft: Any) -> Job | None:
        return super()._job(draft) if self._format() is None else self._job_as(draft.alone)

    def _formatted(self, result: Any) -> Any:
        if Compiled._format(self) is None:
            return result
        sample = Sample((result,))
        for index, leaf in enumerate(sample.leaves):
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and _is_image(leaf, sample.leaves):
                plain = converted(leaf.as_subclass(torch.Tensor), self.dtype, self.memory_format)
                sample.leaves[index] = plain.as_subclass(type(leaf))
                sample.rebuilt = True
        return sample.finish()


def _is_image(leaf: torch.Tensor, leaves: list[Any]) -> bool:
    """Return whether transforms of v2 treat a leaf as an image or a video."""
    needs = Transform()._needs_transform_list(leaves)
    here = next(needed for needed, other in zip(needs, leaves) if other is leaf)
    return here and leaf.ndim > 2 and type(leaf).__name__ in ("Tensor", "Image", "Video")
