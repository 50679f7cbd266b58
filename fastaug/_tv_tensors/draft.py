"""The base of drafts of boxes and of points, which the core moves where it can.

Methods have the arguments of functions of images, and ignore those about pixels.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from fastaug._draft.leaf import Leaf
from fastaug._program.arguments import square_if_single
from fastaug._program.eager import traced
from fastaug._program.matrices import checked_coefficients, size_around
from fastaug._program.v2_arguments import central_corner, padding_sides, resized_size
from fastaug._tv_tensors import maps, moves
from fastaug._tv_tensors.choice import is_builtin
from fastaug._tv_tensors.maps import Canvas
from fastaug._tv_tensors.moves import Places

_Draft = TypeVar("_Draft", bound="PlacesDraft")


class PlacesDraft(Leaf):
    """The base of drafts of boxes and of points.

    The numbers are the core's, in `held`, or else a plain tensor; both are copies as soon as anything changes.

    Args:
        original: a tv_tensor; None for a plain tensor.
        given: the numbers of a plain tensor.
        canvas_size: (height, width) of the image of a plain tensor.
    """

    __slots__ = ("_canvas", "_changed", "_given", "_held", "_shape", "_tensor", "origin", "touched")

    #: Each op runs at once, so that none is pending.
    ops: Sequence[Any] = ()

    #: The noun of error messages.
    _plural: str

    def __init__(self, original: Any, given: Tensor | None = None, canvas_size: Any = None) -> None:
        self.origin = original
        self.touched = False
        self._changed = False
        self._held: Places | None = None
        self._tensor: Tensor | None = None
        # Attributes of a plain tensor are faster to read.
        self._given: Tensor = original.as_subclass(Tensor) if given is None else given
        self._canvas: Canvas = original.canvas_size if given is None else canvas_size
        self._shape: Sequence[int] = self._given.shape

    @property
    def type(self) -> type:
        return type(self.origin)

    def result(self) -> Any:
        return self.finish()

    # Subclasses define these. Methods that use torch return new numbers, and change nothing.

    @abstractmethod
    def _hold(self, tensor: Tensor) -> Places | None:
        """Copy the numbers for the core; return None where it does not take them."""

    @abstractmethod
    def _clamping(self) -> bool:
        """Return whether the core cuts boxes to the canvas where it moves them."""

    @abstractmethod
    def _attributes(self) -> dict[str, Any]:
        """Return the present attributes of the tv_tensor."""

    @abstractmethod
    def _flipped(self, axis: int) -> Tensor:
        """Mirror along x, axis 0, or along y, axis 1, by torch."""

    @abstractmethod
    def _scaled(self, across: float, down: float, canvas_size: Canvas) -> Tensor:
        """Multiply by the ratios of a resize to a canvas, by torch."""

    @abstractmethod
    def _shifted(self, by: Callable[..., Tensor], left: Any, top: Any, canvas_size: Canvas) -> Tensor:
        """Pad by torch.add or crop by torch.sub."""

    @abstractmethod
    def _mapped(
        self, real: Tensor, move: Callable[[Tensor], Tensor], canvas_size: Canvas, corner: Tensor | None = None
    ) -> Tensor:
        """Map points of (points, 2) by a function, and subtract a corner from them, by torch."""

    @abstractmethod
    def _displaced(self, displacement: Tensor) -> Tensor:
        """Move by a displacement of the canvas's size, by torch."""

    @property
    def canvas_size(self) -> Canvas:
        return self._canvas if self._held is None else self._held.canvas

    @property
    def shape(self) -> Sequence[int]:
        return self._shape

    @property
    def height(self) -> int:
        return self.canvas_size[0]

    @property
    def width(self) -> int:
        return self.canvas_size[1]

    @property
    def held(self) -> Places | None:
        """The numbers in the core, or None if it does not support them."""
        if self._held is None:
            self._held = self._hold(self.plain())
            if self._held is not None and self._changed:
                self._tensor = None
        return self._held

    def plain(self) -> Tensor:
        if not self._changed:
            return self._given
        if self._tensor is None:
            return moves.tensor_of(self._held, self._shape)
        return self._tensor

    def copy(self: _Draft) -> _Draft:
        other = copy.copy(self)
        other._held = None if self._held is None else self._held.copy()
        return other

    def finish(self) -> Any:
        if not self.touched:
            return self.origin
        cls = type(self.origin)
        plain = self.plain()
        if is_builtin(cls) and not traced():
            # Like tv_tensors.wrap, without its checks.
            places = plain.as_subclass(cls)
            vars(places).update(self._attributes())
            return places
        wrap = getattr(cls, "wrap", None)
        return plain.as_subclass(cls) if wrap is None else wrap(plain, self.origin, **self._attributes())

    def _become(self, tensor: Tensor, canvas_size: Canvas | None = None) -> None:
        self._canvas = self.canvas_size if canvas_size is None else canvas_size
        self._held, self._tensor, self._shape = None, tensor, tensor.shape
        self._moved()

    def _moved(self) -> None:
        """Record that the numbers are new."""
        self.touched = self._changed = True

    def _touch(self) -> None:
        """Record an op that changes no numbers: the result is another object with their memory."""
        self.touched = True

    def horizontal_flip(self) -> None:
        self._flip(0)

    def vertical_flip(self) -> None:
        self._flip(1)

    def _flip(self, axis: int) -> None:
        held = self.held
        if held is None:
            return self._become(self._flipped(axis))
        (held.vflip if axis else held.hflip)()
        self._moved()

    def resize(self, size: Any, interpolation: Any = None, max_size: int | None = None, antialias: Any = True) -> None:
        self._resize_to(resized_size(*self.canvas_size, size, max_size))

    def _resize_to(self, canvas_size: Canvas) -> None:
        if canvas_size == tuple(self.canvas_size):
            return self._touch()
        held = self.held
        if held is None or not moves.whole(*canvas_size):
            ratios = canvas_size[1] / self.width, canvas_size[0] / self.height
            return self._become(self._scaled(*ratios, canvas_size), canvas_size)
        held.resize(*canvas_size)
        self._moved()

    def crop(self, top: int, left: int, height: int, width: int) -> None:
        held = self.held
        if held is None or not moves.whole(top, left, height, width):
            return self._become(self._shifted(torch.sub, left, top, (height, width)), (height, width))
        held.crop(top, left, height, width, self._clamping())
        self._moved()

    def pad(self, padding: Any, fill: Any = None, padding_mode: str = "constant") -> None:
        if padding_mode != "constant":
            raise ValueError(f"Padding mode '{padding_mode}' is not supported with {self._plural}, only 'constant' is")
        left, top, right, bottom = padding_sides(padding)
        held = self.held
        if held is None or not moves.whole(left, top, right, bottom):
            canvas_size = self.height + top + bottom, self.width + left + right
            return self._become(self._shifted(torch.add, left, top, canvas_size), canvas_size)
        held.pad(left, top, right, bottom, self._clamping())
        self._moved()

    def resized_crop(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: Any,
        interpolation: Any = None,
        antialias: Any = True,
    ) -> None:
        canvas_size = resized_size(height, width, size, None)
        self.crop(top, left, height, width)
        self._resize_to(canvas_size)

    def center_crop(self, output_size: Any) -> None:
        height, width = square_if_single(output_size)
        self.crop(*central_corner(height, width, self.canvas_size), height, width)

    def rotate(
        self,
        angle: float,
        interpolation: Any = None,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = None,
    ) -> None:
        self._map(-angle, [0.0, 0.0], 1.0, [0.0, 0.0], center, expand)

    def affine(
        self,
        angle: float,
        translate: Sequence[float],
        scale: float,
        shear: Any,
        interpolation: Any = None,
        fill: Any = None,
        center: Sequence[float] | None = None,
    ) -> None:
        self._map(angle, translate, scale, shear, center, False)

    def _map(self, angle: Any, translate: Any, scale: Any, shear: Any, center: Any, expand: bool) -> None:
        if 0 in self._shape:
            # The canvas stays the same, even if images expand.
            return self._touch()
        canvas_size = self.canvas_size
        forth, back = maps.affine_matrices(canvas_size, angle, translate, scale, shear, center)
        held = self.held
        if held is not None and held.affine(forth, back if expand else None, self._clamping()):
            return self._moved()
        plain, corner = self.plain(), None
        real = plain if plain.is_floating_point() else plain.float()
        if expand:
            corner = maps.corner_of(canvas_size, forth, real)
            canvas_size = size_around(back, *canvas_size, v2=True)
        self._become(self._mapped(real, partial(maps.mapped, matrix=forth), canvas_size, corner), canvas_size)

    def perspective(
        self,
        startpoints: Any,
        endpoints: Any,
        interpolation: Any = None,
        fill: Any = None,
        coefficients: Sequence[float] | None = None,
    ) -> None:
        if 0 in self._shape:
            return self._touch()
        numbers = checked_coefficients(startpoints, endpoints, coefficients)
        inverse = maps.inverse_perspective(numbers, self._plural)
        held = self.held
        if held is None or not held.perspective(inverse, self._clamping()):
            move = partial(maps.projected, inverse=inverse)
            return self._become(self._mapped(self.plain(), move, self.canvas_size))
        self._moved()

    def elastic(self, displacement: Tensor, interpolation: Any = None, fill: Any = None) -> None:
        maps.check_displacement(displacement, self.canvas_size)
        if 0 in self._shape:
            return self._touch()
        held = self.held
        if held is None or not moves.elastic(held, self._clamping(), displacement):
            return self._become(self._displaced(displacement))
        self._moved()
