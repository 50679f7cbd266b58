"""Drafts of the leaves of a sample: images, videos and masks."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import PIL.Image
import torch

from fastaug._draft import finish
from fastaug._draft.base import DraftBase
from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.leaf_color import LeafColor
from fastaug._draft.leaf_geometry import LeafGeometry
from fastaug._draft.replaced import TransformDraft
from fastaug._fallback import color, v2, warp
from fastaug._program.borrow import is_interleaved
from fastaug._program.kinds import PIL_IMAGE, TENSOR

_Tensor = torch.Tensor


class Leaf:
    """A stand-in for a leaf. Kernels of functionals append ops to it instead of computing."""

    __slots__ = ()

    #: The leaf that it stands for.
    origin: Any

    #: Whether a kernel was called. torchvision's kernels return new objects, except for no-ops.
    touched: bool

    @property
    @abstractmethod
    def type(self) -> type:
        """The present class of the leaf."""

    def start(self, jobs: list[Any]) -> Callable[[], Any]:
        """Append jobs for one call of the core, and return a function that returns the leaf after it."""
        return self.result

    @abstractmethod
    def result(self) -> Any:
        """Return the leaf after its ops."""

    def choose_order(self) -> None:
        """Choose the faster order in memory for the user's result."""


class PixelDraft(LeafGeometry, LeafColor, Leaf):
    """A draft of a leaf of pixels, with the arithmetic of torchvision's v2.

    Args:
        image: the leaf, or a plain tensor.
        call: the settings of the pipeline's call.
        cls: the tv_tensor class of the result; None for a plain tensor or a PIL image.
        plain: a tv_tensor without its class, if that exists already.
    """

    __slots__ = ("cls", "origin", "touched")

    _torch_functions: ClassVar[dict[str, Any]] = {
        **LeafGeometry._torch_functions,
        **vars(v2),
        **color.V2,
        **warp.V2,
    }

    def __init__(self, image: Any, call: Call | None = None, cls: type | None = None, plain: Any = None) -> None:
        self.cls = cls
        self.origin = image
        self.touched = False
        if plain is None:
            plain = image if cls is None else image.as_subclass(_Tensor)
        super().__init__(plain, call)

    def _await_pixels(self) -> None:
        self.image.load()
        self.reset(self.image, True)

    @property
    def type(self) -> type:
        if self.core.kind == TENSOR:
            return self.cls or _Tensor
        # Tensors and arrays may be drafted as images of Pillow's without an op.
        made = self.core.count or self.core.copied or (self.core.kind == PIL_IMAGE and self.core.source != PIL_IMAGE)
        return PIL.Image.Image if made else type(self.image)

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype of a tensor; None for PIL images."""
        if self.core.kind != TENSOR:
            return None
        if self.core.stored:
            return torch.float32
        dtype: torch.dtype = self.image.dtype if self.core.source == TENSOR else torch.uint8
        return dtype

    def start(self, jobs: list[Any]) -> Callable[[], Any]:
        if not self.touched:
            return lambda: self.origin
        self.call.draws.release()
        later = finish.start(self, jobs)
        if later is None:
            later = self.handed
        return lambda: self._restored(later())

    def result(self) -> Any:
        return self._restored(self.handed()) if self.touched else self.origin

    def _restored(self, result: Any) -> Any:
        """Return the result in the class and form of the leaf."""
        return result if self.cls is None else result.as_subclass(self.cls)


class ImageDraft(PixelDraft):
    """A draft of a PIL image, a plain tensor, or a tv_tensor."""

    __slots__ = ()

    def as_plain(self) -> TransformDraft:
        """Return a draft of the same image, with the same ops, for transforms of single images."""
        draft = TransformDraft.__new__(TransformDraft)
        _hand_over(self, draft)
        return draft

    def go_on_from(self, draft: Draft) -> None:
        """Take over the present state of the draft that `as_plain` returned."""
        _hand_over(draft, self)
        self.touched = True

    def unclass(self) -> None:
        """Make the result a plain tensor."""
        if self.cls is not None:
            self.cls = None
            if not self.touched and isinstance(self.origin, _Tensor):
                self.origin = self.origin.as_subclass(_Tensor)


# Only encoded images set `decoded`.
_ALWAYS_SET = tuple(name for name in DraftBase.__slots__ if name != "decoded")
_all_of = attrgetter(*_ALWAYS_SET)


def _hand_over(draft: DraftBase, other: DraftBase) -> None:
    for name, value in zip(_ALWAYS_SET, _all_of(draft)):
        setattr(other, name, value)
    if hasattr(draft, "decoded"):
        other.decoded = draft.decoded
    other.core.v2 = other._v2


class VideoDraft(PixelDraft):
    """A draft of frames with one set of parameters, the leading dimensions of a tensor."""

    __slots__ = (
        "chosen",  # the only frames that jobs read, or None for all
    )

    def reset(self, image: Any, read: bool = False) -> None:
        self.chosen: Sequence[int] | None = None
        super().reset(image, read)

    def _choose(self, numbers: Sequence[int]) -> None:
        before = self.chosen
        self.chosen = numbers if before is None else [before[number] for number in numbers]

    def handed(self) -> Any:
        if self.chosen is not None and self.core.ending:
            super()._choose(self.chosen)
            self.chosen = None
        return super().handed()

    def places(self) -> list[int]:
        """Return the positions of the result's frames among all frames of the image."""
        every = self.image.shape[-4]
        chosen = range(every) if self.chosen is None else self.chosen
        return [first + number for first in range(0, math.prod(self.image.shape[:-3]), every) for number in chosen]


class MaskDraft(PixelDraft):
    """A draft of masks of one byte a pixel, which are channels without colours. Bools are bytes meanwhile."""

    __slots__ = (
        "given",
        "is_bool",
        "rank",  # of the mask, because tv_tensors compute it slowly
    )

    def __init__(self, mask: Any, call: Call | None = None, cls: type | None = None, plain: Any = None) -> None:
        if plain is None:
            plain = mask if cls is None else mask.as_subclass(_Tensor)
        is_bool = plain.dtype is torch.bool
        if is_bool:
            plain = plain.view(torch.uint8)
        self.rank = plain.ndim
        if self.rank < 3:
            plain = plain.unsqueeze(0)
        super().__init__(mask, call, cls, plain)
        self.is_bool = is_bool
        self.given = plain

    def fill_of(self, fill: Any, rounds: bool) -> Any:
        """Return a fill for the bytes of the mask. Bools become 0 and 1, rounded or truncated first."""
        if not self.is_bool or fill is None:
            return fill
        if isinstance(fill, (tuple, list)):
            return [self.fill_of(value, rounds) for value in fill]
        if not isinstance(fill, (int, float)):
            return fill
        return int(not -0.5 <= fill <= 0.5 if rounds else bool(fill))

    def _restored(self, result: Any) -> Any:
        if result is self.given and self.rank > 2:
            result = self.origin if self.cls is None else self.origin.as_subclass(_Tensor)
        else:
            if self.is_bool:
                result = result.view(torch.bool)
            if self.rank < 3:
                result = result.squeeze(0)
        return super()._restored(result)

    def select(self, valid: torch.Tensor) -> bool:
        """Keep the masks of a boolean vector, before their ops. Return False, with nothing done, for a wrong length."""
        if valid.ndim != 1 or self.rank != 3 or self.core.bands != len(valid) or not self.core.native:
            return False
        self.touched = True
        if valid.all():
            self.core.copied = True
            return True
        # Selecting by numbers is much faster than by bools.
        planes = self.image.index_select(0, valid.nonzero()[:, 0])
        if not len(planes):
            self.reset(planes.new_empty((0, self.core.height, self.core.width)))
            return True
        self.image = planes
        self.core.keep_channels(len(planes))
        self.core.channel_last = is_interleaved(planes)
        self.core.unview()
        return True
