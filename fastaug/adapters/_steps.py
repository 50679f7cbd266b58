"""Steps in the transforms of several packages."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from fastaug._compile import registry
from fastaug._compile.drawn import Drawn
from fastaug._draft.draft import Draft
from fastaug._draft.draws import python_random
from fastaug._draft.progress import is_tensor
from fastaug._draft.through import draft_through
from fastaug.transforms import functional as F

#: The readers of classes, by module and class.
Readers = Mapping[str, Mapping[str, Callable[[Any], Any]]]


def register_all(readers: Readers, known: Callable[[Any], bool]) -> None:
    """Register readers for those of their classes that the installed version has.

    Args:
        readers: by the names of modules and classes.
        known: returns True for an object that its reader supports.
    """
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


def center_cropped_or_padded(image: Any, size: Sequence[int], fill: Any, padding_mode: str = "constant") -> Any:
    """Crop the center of an image to (height, width), and pad smaller images, as timm and open_clip do."""
    _, *sides = F.get_dimensions(image)
    missing = [max(target - side, 0) for target, side in zip(size, sides)]
    if any(missing):
        padding = [missing[1] // 2, missing[0] // 2, (missing[1] + 1) // 2, (missing[0] + 1) // 2]
        image = F.pad(image, padding, fill=fill, padding_mode=padding_mode)
        _, *sides = F.get_dimensions(image)
        if tuple(sides) == size:
            return image
    top, left = (round((side - target) / 2.0) for target, side in zip(size, sides))
    return F.crop(image, top, left, *size)


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
