"""The contract of fast mode, for one call: near to torchvision, or at least as near to the truth as torchvision is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug._draft.generators import seed_all
from fastaug._inspect import words
from fastaug._inspect.pairs import Path, psnr, reached, samples
from fastaug._inspect.twin import Decode, Twin, pillow_image

#: In dB, from torchvision.
LEAST_PSNR = 54.0


class NoTruthError(RuntimeError):
    """Why there is no float64 reference of a call, in words."""


class Truth:
    """One call of torchvision's chain in float64, rounded nowhere; made when it is first asked for.

    Functions of the user's are called with images in bytes.

    Args:
        twin: the chain; or why there is none, in words.
        image: what the chain is called with.
        seed: of its draws.
    """

    def __init__(self, twin: Twin | str, image: Any, seed: int) -> None:
        self._twin, self._image, self._seed = twin, image, seed
        self._result: Any = None
        self._why: str | None = None
        self._made = False

    def distances(self, path: Path, ours: Any, theirs: Any, undo: Any) -> tuple[float, float]:
        """PSNR of a part of our result and of torchvision's, from the truth.

        Raises:
            NoTruthError: there is no reference of this call.
        """
        if not self._made:
            self._made = True
            try:
                self._result = self._computed()
            except NoTruthError as reason:
                self._why = str(reason)
            except Exception as error:  # what has no model raises whatever it likes
                what = str(error) if type(error).__name__ == "NoModelError" else words.failure(error)
                self._why = f"there is no float64 reference: {what}"
        if self._why is not None:
            raise NoTruthError(self._why)
        like = samples(ours)
        try:
            part = reached(self._result, path)
            truth = _planes(part)
            if isinstance(part, torch.Tensor) and isinstance(ours, torch.Tensor) and ours.dtype is torch.uint8:
                truth = truth * 255  # which is from 0 to 1 there
            gaps = [_planes(image) - truth for image in (ours, theirs)]
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise NoTruthError(f"the float64 reference has another form: {words.failure(error)}") from None
        assert like is not None
        one, two = (psnr(gap, like, undo) for gap in gaps)
        return one, two

    def _computed(self) -> Any:
        if isinstance(self._twin, str):
            raise NoTruthError(f"there is no float64 reference: {self._twin}")
        from fastaug._inspect.unrounded import FloatImage, rounded, samples_of, unrounded

        steps: list[Callable[[Any], Any]] = list(self._twin.steps)
        image = pillow_image(self._image)
        if steps and isinstance(steps[0], Decode):
            image = steps.pop(0)(image)
        known = isinstance(image, Image.Image) and image.mode in ("RGB", "L")
        known = known or (isinstance(image, np.ndarray) and image.dtype == np.uint8)
        if not known and not (isinstance(image, torch.Tensor) and image.dtype is torch.uint8):
            raise NoTruthError(f"there is no float64 reference for {words.described(image)}")

        def chain(value: Any) -> Any:
            for step in steps:
                theirs = type(step).__module__.startswith("torchvision.") and type(step).__name__ != "Lambda"
                if theirs and isinstance(value, Image.Image):
                    value = FloatImage(samples_of(value))
                elif not theirs and isinstance(value, FloatImage):
                    value = rounded(value)
                elif not theirs and isinstance(value, torch.Tensor) and value.dtype is torch.float64:
                    raise NoTruthError("there is no float64 reference: a function of yours takes a tensor")
                value = step(value)
            return value

        seed_all(self._seed)
        return unrounded(chain, image)


def _planes(image: Any) -> np.ndarray[Any, Any]:
    """In float64; channels first, where an image of another container has them last."""
    from fastaug._inspect.unrounded import samples_of

    return np.asarray(samples(image), np.float64) if isinstance(image, torch.Tensor) else samples_of(image)
