"""The bases of transforms, and their checks of arguments."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, overload

import torch
from torch import nn

from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws
from fastaug._draft.progress import applied
from fastaug._draft.replaced import called, is_plain
from fastaug._image.types import ImageT
from fastaug._inspect.methods import Shown
from fastaug._program.arguments import as_float32
from fastaug._program.kinds import TENSOR

if TYPE_CHECKING:
    from PIL import Image

    from fastaug._image.lazy import LazyImage


class Transform(Shown, nn.Module):
    """The base of transforms that are nn.Modules."""

    #: Names of the parameters that `_sample` draws. It returns a tuple of them, or the only one.
    _drawn: tuple[str, ...] = ()

    #: The attributes that the repr shows. Of "name.value" it shows the value of an enumeration.
    _shown: tuple[str, ...] = ()

    #: The values with which it shows none of these.
    _unless: ClassVar[dict[str, Any]] = {}

    _separator = ", "

    #: Whether it does the pending ops first, and no op is drafted together with them.
    _apart: ClassVar[bool] = False

    #: The class's own get_params. If a user has replaced it, the replacement is called.
    _own_params: Any = None
    get_params: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "get_params" in vars(cls) and cls.__module__.startswith("fastaug."):
            cls._own_params = vars(cls)["get_params"]

    def _drawn_by(self, draw: Callable[..., Any], draft: Draft, *arguments: Any) -> Any:
        """Return what a function of draws, or a user's get_params, draws for these arguments."""
        if self.get_params is self._own_params:
            return draw(draft.call.draws, *arguments)
        return self._asked(draft, *arguments)

    def _asked(self, draft: Draft, *arguments: Any, **named: Any) -> Any:
        """Return what a user's get_params draws, after the draws so far."""
        draft.call.draws.release()
        return self.get_params(*arguments, **named)

    def _sample(self, draft: Draft) -> Any:
        """Draw the parameters from draft.call.draws as torchvision does, and check before what it checks before.

        They depend on the size, channels, container and dtype of the draft alone, and apply to any image like it.
        """

    @abstractmethod
    def _draft(self, draft: Draft, params: Any) -> None:
        """Append the ops for these parameters, which may have been drawn for another image."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, img: ImageT) -> ImageT: ...
        @overload
        def __call__(self, img: LazyImage) -> Image.Image: ...
        def __call__(self, img: Any) -> Any: ...

    def forward(self, img: Any) -> Any:
        """The transformed image, in the container of ``img``."""
        return called(self, img)

    def __repr__(self) -> str:
        if not self._shown:
            return super().__repr__()
        found = {name: attrgetter(name)(self) for name in self._shown}
        shown = [name for name, value in found.items() if name not in self._unless or value != self._unless[name]]
        text = self._separator.join(f"{name.removesuffix('.value')}={found[name]}" for name in shown)
        return f"{type(self).__name__}({text})"


class OneMethod(Transform):
    """The base of transforms that are one method of drafts, and draw nothing."""

    _method: str

    #: The attributes that the method takes.
    _taken: tuple[str, ...]

    def _arguments(self) -> list[Any]:
        return [getattr(self, name) for name in self._taken]

    def _draft(self, draft: Draft, params: None) -> None:
        getattr(draft, self._method)(*self._arguments())

    def forward(self, img: Any) -> Any:
        return applied(img, self._method, *self._arguments()) if is_plain(img) else called(self, img)


class RandomTransform(Transform):
    """The base of transforms that do one thing with probability ``p``."""

    _drawn = ("applied",)
    _shown: tuple[str, ...] = ("p",)

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    @abstractmethod
    def _adjust(self, draft: Draft) -> None: ...

    def _sample(self, draft: Draft) -> bool:
        return happens(draft.call.draws, self.p)

    def _draft(self, draft: Draft, params: bool) -> None:
        if params:
            self._adjust(draft)


_INT64 = 1 << 63


def happens(draws: Draws, p: Any, or_equal: bool = False) -> bool:
    """Draw whether something of probability p happens: one float32, compared in float32.

    With `or_equal`, it happens at a draw of exactly p.
    """
    draw = draws.rand()
    if type(p) is not float and (type(p) is not int or not -_INT64 <= p < _INT64):
        # torch, or the type of p, decides what the comparison means.
        tensor = torch.tensor([draw])
        return not bool(p < tensor) if or_equal else bool(tensor < p)
    limit = as_float32(p)
    return not limit < draw if or_equal else draw < limit


def setup_size(size: Any, message: str = "Please provide only two dimensions (h, w) for size") -> Any:
    """Return two sides, such as (height, width) of a crop. A number or a sequence of one means a square."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)  # type: ignore[call-overload]
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(f"{message}. Got {size!r}")
    return size


def check_ranges(scale: Any, ratio: Any, pairs: bool = False) -> None:
    """Check (min, max) of areas and proportions: any sequences, or, with `pairs`, sequences of two."""
    for name, given in (("Scale", scale), ("Ratio", ratio)):
        if not isinstance(given, Sequence) or (pairs and len(given) != 2):
            raise TypeError(f"{name} should be a sequence{' of two floats' * pairs}. Got {given!r}")
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=3)


def check_padding_mode(mode: Any) -> None:
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"Padding mode should be either constant, edge, reflect or symmetric, got {mode!r}")


def fill_of(fill: Any, kind: int, channels: int) -> Any:
    """Return the fill for an image: on tensors a float for each channel, as torchvision has it."""
    if kind != TENSOR or fill is None:
        return fill
    return [float(fill)] * channels if isinstance(fill, (int, float)) else [float(value) for value in fill]


def check_fill(fill: Any, draft: Draft) -> None:
    """Check, before a transform draws, that there is an image and that the fill has numbers."""
    draft.dimensions()
    if draft.kind == TENSOR and fill is not None:
        fill_of(fill, TENSOR, draft.channels)


def need_shape(image: Any, name: str) -> None:
    """Raise an AttributeError for PIL images and the like, as torchvision does."""
    if not hasattr(image, "shape"):
        raise AttributeError(f"{name} should be Tensor Image. Got {type(image)}, which has no attribute 'shape'")


def lines(transforms: Iterable[Any]) -> str:
    """Return the repr of each transform, on its own indented line."""
    return "".join(f"\n    {transform}" for transform in transforms)
