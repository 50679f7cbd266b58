"""What a Compose and a compiled transform share: one call over many transforms."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.call import PLAIN, Call
from fastaug._draft.draft import Draft
from fastaug._draft.tape import Recording, Replaying

#: The rewrites of programs that each mode allows.
REWRITES = {"exact": _C.EXACT, "fast": _C.FAST}

_FAST = Call(rewrites=_C.FAST)


def checked_mode(mode: Any) -> str:
    """
    Raises:
        ValueError: there is no such mode.
    """
    if not isinstance(mode, str) or mode not in REWRITES:
        raise ValueError(f"mode should be 'exact' or 'fast', got {mode!r}")
    return mode


class Pipeline:
    """Transforms, one after the other, in one call."""

    transforms: Sequence[Any]

    # Only a pipeline that is not exact keeps its own: a subclass need not call __init__, as with torchvision's.
    _mode: Any = "exact"
    _call = PLAIN

    @property
    def mode(self) -> Any:
        """``"exact"`` or ``"fast"``."""
        return self._mode

    @mode.setter
    def mode(self, mode: Any) -> None:
        # A subclass may mean something of its own by the name, and stays exact.
        self._mode = mode
        self._call = self._call_for(mode)

    def _call_for(self, mode: Any) -> Call:
        return _FAST if mode == "fast" else PLAIN

    @abstractmethod
    def _draft_all(self, draft: Draft) -> None:
        """Drafts all transforms."""

    def _delivered(self, draft: Draft) -> Any:
        """What the user gets."""
        return draft.finish()

    def _formatted(self, result: Any) -> Any:
        """The result of the transforms in the format that the user gets."""
        return result

    # Whatever happens, torch's generator is torch's again after a call: `finish` hands it back, or the handler does.

    def __call__(self, img: Any) -> Any:
        draft = Draft(img, self._call)
        try:
            self._draft_all(draft)
            return draft.finish()
        except BaseException:
            draft.call.draws.release()
            raise

    def _run(self, img: Any, call: Call) -> Any:
        """As a call of the pipeline, with other settings."""
        draft = Draft(img, call)
        try:
            self._draft_all(draft)
            return self._delivered(draft)
        finally:
            call.draws.release()

    def sample(self, size: Any) -> Any:
        """Draws the parameters for one image, as a call would, and processes no pixels.

        The random generators go on as in a call. A callable of your own, and whatever else fastaug does not know, is
        called, with a black image that the transforms before it were applied to.

        Args:
            size: (height, width), or an int for a square: of an RGB image, or whatever else the first transform takes;
                or an image, which is not changed.

        Returns:
            The parameters as plain data, in lists and dictionaries of strings and numbers. :meth:`replay` takes them.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> transform = T.Compose([T.RandomCrop(24), T.RandomHorizontalFlip()])
            >>> params = transform.sample((60, 80))
            >>> image = Image.effect_noise((80, 60), 90)
            >>> transform.replay(image, params) == transform.replay(image, params)
            True
        """
        image = blank(self.transforms, size) if isinstance(size, (int, tuple, list)) else size
        tape = Recording()
        call = Call(self._call.draws, self._call.rewrites, tape=tape)
        try:
            self._draft_all(Draft(image, call))
        finally:
            call.draws.release()
        return tape.params

    def replay(self, image: Any, params: Any) -> Any:
        """The transformed image, with parameters that :meth:`sample` has drawn. Draws nothing.

        Callables of your own are called, and draw what they draw.

        Args:
            image: as in a call; of any size that the parameters fit.
            params: what :meth:`sample` returned, unchanged or edited.

        Raises:
            ValueError: ``params`` are of another pipeline.
        """
        tape = Replaying(params)
        result = self._run(image, Call(self._call.draws, self._call.rewrites, tape=tape))
        tape.end()
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_call"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._mode != "exact":
            self._call = self._call_for(self._mode)


def blank(transforms: Iterable[Any], size: Any) -> Any:
    """A black image of `size`, (height, width) or an int, that the first of the transforms takes.

    Raises:
        ValueError: wrong length, or a size that is not positive.
    """
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if height < 1 or width < 1:
        raise ValueError(f"size should be positive, got {size!r}")
    first = _first(transforms)
    if first == "Decode":
        file = io.BytesIO()
        Image.new("RGB", (width, height)).save(file, "PNG")
        return file.getvalue()
    if first == "ToPILImage":
        return np.zeros((height, width, 3), np.uint8)
    if first in ("ConvertImageDtype", "LinearTransformation", "Normalize", "RandomErasing"):
        return torch.zeros(3, height, width)
    return Image.new("RGB", (width, height))


def _first(transforms: Iterable[Any]) -> str:
    """The name of the class that sees the image first."""
    for transform in transforms:
        inner = getattr(transform, "transforms", None)
        if isinstance(transform, torch.nn.Sequential):
            inner = list(transform)
        if not isinstance(inner, (Sequence, torch.nn.ModuleList)):
            return type(transform).__name__
        if name := _first(inner):
            return name
    return ""
