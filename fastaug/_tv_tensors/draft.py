"""Drafts of boxes and points: tv_tensors that transforms are done to, in the core where it can, without one in between.

Their methods take the arguments that the functions for images take, and pass over what is about pixels.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from fastaug import _C
from fastaug._draft.leaf import Leaf
from fastaug._program.eager import traced
from fastaug._tv_tensors import boxes as kernels
from fastaug._tv_tensors import maps, moves
from fastaug._tv_tensors import points as point_kernels
from fastaug._tv_tensors.choice import is_builtin
from fastaug._tv_tensors.formats import clamping_mode_of, converted, format_name
from fastaug._tv_tensors.maps import Canvas
from fastaug._tv_tensors.moves import Clamping, Places

_Draft = TypeVar("_Draft", bound="PlacesDraft")


class PlacesDraft(Leaf):
    """What is common to boxes and points.

    The numbers are the core's, in `held`, or else a plain tensor; both are copies as soon as anything changes.
    """

    __slots__ = ("_canvas", "_changed", "_given", "_held", "_shape", "_tensor", "original", "untouched")

    #: What is still to be done: each op is done at once.
    ops: Sequence[Any] = ()

    #: Whether nothing was asked for, so that the original is the result.
    untouched: bool

    def __init__(self, original: Any) -> None:
        self.original = original
        self.untouched = True
        self._changed = False
        self._held: Places | None = None
        self._tensor: Tensor | None = None
        self._canvas: Canvas = original.canvas_size
        # It takes a tv_tensor longer to answer.
        self._given: Tensor = original.as_subclass(Tensor)
        self._shape: Sequence[int] = self._given.shape

    @property
    def type(self) -> type:
        return type(self.original)

    @property
    def origin(self) -> Any:
        return self.original

    @property
    def touched(self) -> bool:
        return not self.untouched

    @touched.setter
    def touched(self, value: bool) -> None:
        self.untouched = not value

    def result(self) -> Any:
        return self.finish()

    # What differs.

    @abstractmethod
    def _hold(self, tensor: Tensor) -> Places | None:
        """The numbers as the core holds them; None where it does not."""

    @abstractmethod
    def _clamping(self) -> Clamping:
        """How what is moved beyond the canvas is clamped."""

    @abstractmethod
    def _attributes(self) -> dict[str, Any]:
        """What the tv_tensor carries now."""

    @abstractmethod
    def _by_torch(self, op: str, arguments: dict[str, Any]) -> None:
        """Does what the core does not, by torch."""

    # What is common.

    @property
    def canvas_size(self) -> Canvas:
        """(height, width) of the image so far."""
        return self._canvas if self._held is None else self._held.canvas

    @property
    def shape(self) -> Sequence[int]:
        """Of the tensor of numbers so far."""
        return self._shape

    @property
    def height(self) -> int:
        return self.canvas_size[0]

    @property
    def width(self) -> int:
        return self.canvas_size[1]

    @property
    def held(self) -> Places | None:
        """The numbers in the core, to be read; None where the core does not take them."""
        if self._held is None:
            self._held = self._hold(self.plain())
            if self._held is not None:
                self._tensor = None if self._changed else self._tensor
        return self._held

    def plain(self) -> Tensor:
        """The numbers so far, as a plain tensor."""
        if not self._changed:
            return self._given
        if self._tensor is None:
            return moves.tensor_of(self._held, self._shape)
        return self._tensor

    def copy(self: _Draft) -> _Draft:
        """A draft of the same state, which does not change with this one."""
        other = copy.copy(self)
        other._held = None if self._held is None else self._held.copy()
        return other

    def finish(self) -> Any:
        """The tv_tensor: of the class of the original, with what it carries; the original itself if untouched."""
        if self.untouched:
            return self.original
        cls = type(self.original)
        plain = self.plain()
        if is_builtin(cls) and not traced():
            # As tv_tensors.wrap does it, which asks again what is known here.
            places = plain.as_subclass(cls)
            vars(places).update(self._attributes())
            return places
        wrap = getattr(cls, "wrap", None)
        return plain.as_subclass(cls) if wrap is None else wrap(plain, self.original, **self._attributes())

    def _become(self, tensor: Tensor, canvas_size: Canvas | None = None) -> None:
        self._canvas = self.canvas_size if canvas_size is None else canvas_size
        self._held, self._tensor, self._shape = None, tensor, tensor.shape
        self.untouched, self._changed = False, True

    def _touch(self) -> None:
        """Something was asked for that leaves the numbers as they are: the result is another object of their memory."""
        self.untouched = False

    def _do(self, op: str, move: Callable[..., bool], *given: Any, **arguments: Any) -> None:
        """An op by the core, by its name and arguments by torch where the core leaves it."""
        held = self.held
        if held is not None and move(held, *given):
            self.untouched, self._changed = False, True
        else:
            self._by_torch(op, arguments)

    def horizontal_flip(self) -> None:
        self._do("horizontal_flip", _horizontal_flip)

    def vertical_flip(self) -> None:
        self._do("vertical_flip", _vertical_flip)

    def resize(self, size: Any, interpolation: Any = None, max_size: int | None = None, antialias: Any = True) -> None:
        new = maps.resized_canvas(self.canvas_size, size, max_size)
        if new == tuple(self.canvas_size):
            return self._touch()
        self._do("resize", moves.resize_to, *new, size=size, max_size=max_size)

    def crop(self, top: int, left: int, height: int, width: int) -> None:
        self._do(
            "crop", moves.crop, self._clamping(), top, left, height, width,
            top=top, left=left, height=height, width=width,
        )  # fmt: skip

    def pad(self, padding: Any, fill: Any = None, padding_mode: str = "constant") -> None:
        if padding_mode != "constant":
            return self._by_torch("pad", {"padding": padding, "padding_mode": padding_mode})
        self._do("pad", moves.pad, self._clamping(), padding, padding=padding)

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
        self._do(
            "resized_crop", moves.resized_crop, self._clamping(), top, left, height, width, size,
            top=top, left=left, height=height, width=width, size=size,
        )  # fmt: skip

    def center_crop(self, output_size: Any) -> None:
        self._do("center_crop", moves.center_crop, self._clamping(), output_size, output_size=output_size)

    def rotate(
        self,
        angle: float,
        interpolation: Any = None,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = None,
    ) -> None:
        self._do(
            "rotate", moves.rotate, self._clamping(), angle, expand, center,
            angle=angle, expand=expand, center=center,
        )  # fmt: skip

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
        self._do(
            "affine", moves.affine, self._clamping(), angle, translate, scale, shear, center,
            angle=angle, translate=translate, scale=scale, shear=shear, center=center,
        )  # fmt: skip

    def perspective(
        self,
        startpoints: Any,
        endpoints: Any,
        interpolation: Any = None,
        fill: Any = None,
        coefficients: Sequence[float] | None = None,
    ) -> None:
        self._do(
            "perspective", moves.perspective, self._clamping(), startpoints, endpoints, coefficients, self._plural,
            startpoints=startpoints, endpoints=endpoints, coefficients=coefficients,
        )  # fmt: skip

    def elastic(self, displacement: Tensor, interpolation: Any = None, fill: Any = None) -> None:
        self._do("elastic", moves.elastic, self._clamping(), displacement, displacement=displacement)

    #: What error messages call them.
    _plural: str


def _horizontal_flip(places: Places) -> bool:
    places.hflip()
    return True


def _vertical_flip(places: Places) -> bool:
    places.vflip()
    return True


class BoxesDraft(PlacesDraft):
    """Boxes under transforms.

    Args:
        original: BoundingBoxes of any format. Those that the core does not take (`moves.held_boxes`) go by torch.
    """

    __slots__ = ("_format", "_mode")

    _plural = "bounding boxes"

    def __init__(self, original: Any) -> None:
        super().__init__(original)
        self._format = format_name(original.format)
        self._mode: str | None = clamping_mode_of(original)

    @property
    def format(self) -> Any:
        """The BoundingBoxFormat so far."""
        format = self.original.format
        return format if format.name == self._format else type(format)[self._format]

    @property
    def clamping_mode(self) -> str | None:
        return self._mode

    @clamping_mode.setter
    def clamping_mode(self, mode: str | None) -> None:
        # A copy, as torchvision makes one.
        if self.held is None:
            self._become(self.plain().clone())
        self._mode = mode
        self.untouched, self._changed = False, True

    def _hold(self, tensor: Tensor) -> _C.Boxes | None:
        return moves.held_boxes(tensor, self._format, self._canvas)

    def _clamping(self) -> tuple[bool]:
        return kernels.clamps(self._mode)

    def _attributes(self) -> dict[str, Any]:
        return {"format": self.format, "canvas_size": self.canvas_size, "clamping_mode": self._mode}

    def _by_torch(self, op: str, arguments: dict[str, Any]) -> None:
        also: dict[str, Any] = {"format": self._format}
        if op not in ("crop", "resized_crop"):
            also["canvas_size"] = self.canvas_size
        if op not in ("horizontal_flip", "vertical_flip"):
            also["clamping_mode"] = self._mode
        result = getattr(kernels, f"{op}_bounding_boxes")(self.plain(), **arguments, **also)
        self._become(*result) if isinstance(result, tuple) else self._become(result)

    def convert_bounding_box_format(self, new_format: Any) -> None:
        name = format_name(new_format)
        if name == self._format:
            return self._touch()
        held = self.held
        if held is not None and moves.convert(held, name):
            self.untouched, self._changed = False, True
        else:
            self._become(converted(self.plain(), self._format, name))
        self._format = name

    def clamp(self, clamping_mode: str | None = "auto") -> None:
        """ClampBoundingBoxes."""
        mode = self._mode if clamping_mode == "auto" else clamping_mode
        (clamping,) = kernels.clamps(mode)
        held = self.held
        if held is None or not clamping:
            return self._become(kernels.clamped(self.plain(), self._format, self.canvas_size, mode))
        held.clamp()
        self.untouched, self._changed = False, True

    def sanitize(self, min_size: float = 1.0, min_area: float = 1.0) -> Tensor:
        """Which boxes are large enough and wholly on the canvas, a bool for each; none is removed."""
        held = self.held
        valid = None if held is None else moves.valid_boxes(held, min_size, min_area)
        if valid is None:
            valid = kernels.valid_boxes(self.plain(), self._format, self.canvas_size, min_size, min_area)
        return valid

    def keep(self, kept: Tensor) -> None:
        """Removes all boxes but these, a bool for each."""
        held = self.held
        if held is None or not moves.readable_mask(kept, held.count):
            return self._become(self.plain()[kept])
        held.keep(kept.data_ptr())
        self._shape = (held.count, 4)
        self.untouched, self._changed = False, True

    def clear_but(self, kept: Tensor) -> None:
        """Makes all boxes but these zeros, a bool for each: what RandomIoUCrop does to those outside of it."""
        held = self.held
        if held is None or not moves.readable_mask(kept, held.count):
            tensor = self.plain().clone()
            tensor[~kept] = 0
            return self._become(tensor)
        held.clear_but(kept.data_ptr())
        self.untouched, self._changed = False, True

    def for_draws(self) -> _C.Boxes | Callable[[], Tensor]:
        """The boxes as `Draws.iou_crop` takes them."""
        held = self.held
        return held if held is not None else lambda: converted(self.plain(), self._format, "XYXY")


class PointsDraft(PlacesDraft):
    """Points under transforms.

    Args:
        original: KeyPoints. Those that the core does not take (`moves.held_points`) go by torch.
    """

    __slots__ = ()

    _plural = "keypoints"

    def _hold(self, tensor: Tensor) -> _C.Points | None:
        return moves.held_points(tensor, self._canvas)

    def _clamping(self) -> tuple[()]:
        return ()

    def _attributes(self) -> dict[str, Any]:
        return {"canvas_size": self.canvas_size}

    def _by_torch(self, op: str, arguments: dict[str, Any]) -> None:
        also = {} if op in ("crop", "resized_crop") else {"canvas_size": self.canvas_size}
        result = getattr(point_kernels, f"{op}_keypoints")(self.plain(), **arguments, **also)
        self._become(*result) if isinstance(result, tuple) else self._become(result)

    def clamp(self) -> None:
        """ClampKeyPoints."""
        held = self.held
        if held is None:
            return self._become(point_kernels.clamped(self.plain(), self.canvas_size))
        held.clamp()
        self.untouched, self._changed = False, True

    def sanitize(self) -> Tensor:
        """Which points, or groups of points, are wholly on the canvas, a bool for each; none is removed."""
        held = self.held
        if held is not None and len(self._shape) > 1:
            return moves.valid_points(held, self._shape)
        return point_kernels.valid_points(self.plain(), self.canvas_size)

    def keep(self, kept: Tensor) -> None:
        """Removes all points, or groups of points, but these, a bool for each."""
        held = self.held
        groups = self._shape[0]
        if held is None or len(self._shape) < 2 or not moves.readable_mask(kept, groups) or not held.count:
            return self._become(self.plain()[kept])
        held.keep(kept.data_ptr(), held.count // groups)
        self._shape = torch.Size((int(kept.sum()), *self._shape[1:]))
        self.untouched, self._changed = False, True
