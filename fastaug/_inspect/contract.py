"""The contract of fast mode, for one call: near to torchvision, or at least as near to the truth as torchvision is."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fastaug import _C
from fastaug._draft.generators import generator_of, seed_all
from fastaug._inspect import words
from fastaug._inspect.float64 import NoTruthError, Unrounded, planes, unrounded
from fastaug._inspect.pairs import Path, psnr, reached, samples
from fastaug._inspect.twin import copied

#: In dB, from torchvision.
LEAST_PSNR = 54.0


class Truth:
    """A call of a pipeline of images in float64, made when needed; or the reason `why` there is none, in words."""

    def __init__(self, pipeline: Any, image: Any, seed: int, why: str = "") -> None:
        self._pipeline, self._image, self._seed, self._why = pipeline, image, seed, why

    def distances(self, path: Path, ours: Any, theirs: Any, undo: Any) -> tuple[float, float]:
        """Return the PSNR of a part of our result and of torchvision's, from the truth.

        Raises:
            NoTruthError: this call has no float64 reference.
        """
        result, unrounded_samples = self._made
        try:
            truth = unrounded_samples.of(reached(result, path))
            one, two = (psnr(planes(image) - truth, np.asarray(samples(ours)), undo) for image in (ours, theirs))
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise NoTruthError(f"the float64 reference has another form: {words.failure(error)}") from None
        return one, two

    @functools.cached_property
    def _made(self) -> tuple[Any, Unrounded]:
        if self._why:
            raise NoTruthError(f"there is no float64 reference: {self._why}")
        try:
            return unrounded(self._pipeline, self._seeded())
        except Exception as error:  # user code raises anything
            what = str(error) if isinstance(error, NoTruthError) else words.failure(error)
            raise NoTruthError(f"there is no float64 reference for {words.described(self._image)}: {what}") from None

    def is_of(self, path: Path, theirs: Any, undo: Any) -> bool:
        """Return whether the truth is of torchvision's chain: exact mode is near torchvision's result."""
        call = self._pipeline._call.like(rewrites=_C.EXACT)
        exact = reached(self._pipeline._run(self._seeded(), call), path)
        return psnr(planes(exact) - planes(theirs), np.asarray(samples(theirs)), undo) >= LEAST_PSNR

    def _seeded(self) -> Any:
        """Seed the generators for a call, and return a copy of its image."""
        seed_all(self._seed, generator_of(self._pipeline))
        return copied(self._image)
