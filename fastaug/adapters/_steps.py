"""Steps in the transforms of several packages."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from fastaug._compile import registry
from fastaug._compile.drawn import Drawn
from fastaug._draft.draft import Draft
from fastaug._draft.draws import python_random
from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.progress import is_tensor
from fastaug._draft.through import draft_through
from fastaug.transforms import functional as F

#: The readers of classes, by module and class.
Readers = Mapping[str, Mapping[str, Callable[[Any], Any]]]


def register_all(readers: Readers, known: Callable[[Any], bool]) -> None:
    """Register readers of the installed classes, for objects that are `known`."""
    for name, of_module in readers.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for cls, reader in of_module.items():
            if inspect.isclass(theirs := getattr(module, cls, None)):
                registry.register(theirs, partial(_read, reader, known))


def _read(reader: Callable[[Any], Any], known: Callable[[Any], bool], transform: Any) -> Any:
    return reader(transform) if known(transform) else None


class ToTensorUnlessTensor(Drawn):
    """A ToTensor that leaves tensors unchanged."""

    _drawn = ()

    def apply(self, image: Any, params: None) -> Any:
        return image if is_tensor(image) else F.to_tensor(image)


class PILToTensorUnlessTensor(Drawn):
    """A PILToTensor that leaves tensors unchanged."""

    _drawn = ()

    def apply(self, image: Any, params: None) -> Any:
        return image if is_tensor(image) else F.pil_to_tensor(image)


def mode_names(interpolation: Any) -> str | tuple[str, ...]:
    """Return the name of torchvision's interpolation, or the names of several to choose from."""
    if isinstance(interpolation, (tuple, list)):
        return tuple(mode.value for mode in interpolation)
    name: str = interpolation.value
    return name


def chosen(interpolation: Any) -> Any:
    """Return the interpolation, drawn if there are several."""
    return python_random().choice(interpolation) if isinstance(interpolation, tuple) else interpolation


class CenterCropOrPad(Drawn):
    """A center crop that pads smaller images with a fill."""

    _drawn: tuple[str, ...] = ()

    # open_clip has no other, and earlier pickles of its transforms have none.
    padding_mode = "constant"

    def __init__(self, theirs: Any) -> None:
        self.size = tuple(theirs.size)
        self.fill = tuple(theirs.fill) if isinstance(theirs.fill, (tuple, list)) else theirs.fill
        self.padding_mode = getattr(theirs, "padding_mode", self.padding_mode)

    def apply(self, image: Any, params: Any) -> Any:
        _, *sides = F.get_dimensions(image)
        missing = [max(target - side, 0) for target, side in zip(self.size, sides)]
        if any(missing):
            padding = [missing[1] // 2, missing[0] // 2, (missing[1] + 1) // 2, (missing[0] + 1) // 2]
            image = F.pad(image, padding, fill=self.fill, padding_mode=self.padding_mode)
            _, *sides = F.get_dimensions(image)
            if tuple(sides) == self.size:
                return image
        top, left = (round((side - target) / 2.0) for target, side in zip(self.size, sides))
        return F.crop(image, top, left, *self.size)


class ResizeKeepRatio(Drawn):
    """A resize to the target's shorter side, its longer side, or between, with random scale and aspect ratio."""

    # As above.
    random_scale_area = False

    def __init__(self, theirs: Any) -> None:
        self.size, self.longest = tuple(theirs.size), theirs.longest
        self.interpolation = mode_names(theirs.interpolation)
        self.random_scale_prob, self.random_scale_range = theirs.random_scale_prob, tuple(theirs.random_scale_range)
        self.random_scale_area = getattr(theirs, "random_scale_area", self.random_scale_area)
        self.random_aspect_prob, self.random_aspect_range = theirs.random_aspect_prob, tuple(theirs.random_aspect_range)

    def draw(self, image: Any) -> Any:
        """Return (height, width) of the result, and the interpolation."""
        sides = F.get_dimensions(image)[1:]
        ratios = [side / target for side, target in zip(sides, self.size)]
        ratio = max(ratios) * self.longest + min(ratios) * (1.0 - self.longest)
        random = python_random()
        down = across = 1.0
        if self.random_scale_prob > 0 and random.random() < self.random_scale_prob:
            down = random.uniform(*self.random_scale_range)
            if self.random_scale_area:
                down = 1.0 / math.sqrt(down)
            across = down
        if self.random_aspect_prob > 0 and random.random() < self.random_aspect_prob:
            aspect = self._aspect()
            down, across = down / aspect, across * aspect
        size = [round(side * factor / ratio) for side, factor in zip(sides, (down, across))]
        return size, chosen(self.interpolation)

    def _aspect(self) -> Any:
        return python_random().uniform(*self.random_aspect_range)

    def apply(self, image: Any, params: Any) -> Any:
        size, mode = params
        return F.resize(image, size, InterpolationMode(mode))


class SometimesByRandom(Drawn):
    """A transform that applies all of ``transforms`` with probability ``p``, drawn from Python's ``random``."""

    def __init__(self, transforms: Sequence[Any], p: float) -> None:
        self.transforms = list(transforms)
        self.p = p

    def draw(self, image: Any) -> bool:
        return bool(python_random().random() < self.p)

    def _draft(self, draft: Draft, params: bool) -> None:
        if params:
            draft_through(self.transforms, draft)
