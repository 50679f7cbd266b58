"""Images of a batch before they are made: where their pixels come from, and the ops on them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from fastaug import _C
from fastaug._image.lazy import LazyImage
from fastaug._program import ops, pil
from fastaug._program.borrow import borrow_tensor
from fastaug._program.kinds import PIL_IMAGE, TENSOR

#: Of torch's filters for bytes Pillow's numbers, and whether it is the other one of that number. All but those of
#: number 0 are antialiased.
FILTERS = {
    "bilinear": (2, False),
    "bicubic": (3, False),
    "lanczos": (1, False),
    "nearest": (0, False),
    "nearest-exact": (0, True),
}

#: A move of pixels: the name of a method of the core's drafts, and its arguments.
Move = tuple[Any, ...]

#: What a sample is multiplied by, or None for a division by 255, and the means and deviations that it is normalised by
#: then, if any.
Store = tuple[float | None, tuple[float, ...], tuple[float, ...]]


class Photo:
    """The pixels of an image before anything is done to it: a PIL image, a tensor of bytes, or a handle."""

    __slots__ = ("_source", "image", "pillow", "shape")

    def __init__(self, image: Any, shape: tuple[int, int, int], pillow: bool = False) -> None:
        self.image, self.shape = image, shape
        #: Whether its samples follow Pillow's rules, not those of torch's tensors.
        self.pillow = pillow
        self._source: _C.Source | None = None

    def borrow(self) -> _C.Source:
        """Return the image as the core takes it. All that is made of it in a call shares that."""
        if self._source is None:
            image = self.image
            if isinstance(image, Image.Image):
                self._source = pil.borrow(image, self.shape[0])
            else:
                self._source = image.source() if isinstance(image, LazyImage) else borrow_tensor(image)
        return self._source

    def load(self) -> bool:
        """Have Pillow decode an image that the core does not. Return False if it is decoded."""
        if not isinstance(self.image, LazyImage):
            return False
        self.image, self._source = self.image.load(), None
        return True


@functools.lru_cache(4096)
def program_of(shape: tuple[int, int, int], pillow: bool, moves: tuple[Move, ...]) -> bytes | None:
    """Return the core's ops for moves of an RGB image or a tensor of bytes, or None if it does not do them."""
    draft: Any = _C.Draft()
    channels, height, width = shape
    draft.v2 = not pillow
    draft.begin(PIL_IMAGE if pillow else TENSOR, "RGB" if pillow else None, height, width, channels, ())
    draft.native = True
    if any(getattr(draft, name)(*arguments) for name, *arguments in moves):
        return None
    program: bytes = draft.program(0)
    return program


@functools.lru_cache(1024)
def _stored(store: Store) -> bytes:
    factor, mean, std = store
    scaled = ops.plain("TO_FLOAT") if factor is None else ops.by_factor("SCALE", factor)
    return scaled + ops.normalize(mean, std) if mean else scaled


@dataclass(frozen=True, slots=True)
class Window:
    """The place of an image in a larger one, and the value around it."""

    top: int
    left: int
    value: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One image of a tensor, or a blank one without a photo."""

    photo: Photo | None
    moves: tuple[Move, ...] = ()
    store: Store | None = None
    window: Window | None = None
    #: Of the image, without what its window adds.
    size: tuple[int, int] = (0, 0)
    #: Of a blank one.
    value: float = 0.0

    def moved(self, move: Move, size: tuple[int, int]) -> Cell | None:
        """Return the image after one more move, or None if the core does not do it."""
        assert self.photo is not None
        moves = (*self.moves, move)
        if program_of(self.photo.shape, self.photo.pillow, moves) is None:
            return None
        return replace(self, moves=moves, size=size)

    @property
    def program(self) -> bytes:
        assert self.photo is not None
        moved = program_of(self.photo.shape, self.photo.pillow, self.moves)
        assert moved is not None
        return moved if self.store is None else moved + _stored(self.store)


def said(cells: Iterable[Cell]) -> list[str]:
    """Return what is done to images, in words."""
    steps: dict[str, None] = {}
    for cell in cells:
        if cell.photo is None:
            continue
        steps.update(dict.fromkeys(_words(move) for move in cell.moves))
        if cell.store is not None:
            factor, mean, _ = cell.store
            steps["normalize" if mean else "/ 255" if factor is None else f"x {factor:.6g}"] = None
        if cell.window is not None:
            steps["pad"] = None
    return list(steps)


_FILTER_NAMES = {(4, False): "box", (5, False): "hamming", **{numbers: name for name, numbers in FILTERS.items()}}


def _words(move: Move) -> str:
    name, *given = move
    if name == "resize":
        return f"resize to {given[0]}x{given[1]} {_FILTER_NAMES[given[2], given[3]]}"
    if name == "crop":
        return f"crop of {given[2]}x{given[3]}"
    return f"pad by {', '.join(str(side) for side in given[0])}"
