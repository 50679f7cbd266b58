"""The ops of geometry: flips, boxes, paddings, sizes and warps."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import PIL

from fastaug._draft.base import DraftBase, rule
from fastaug._draft.interpolation import InterpolationMode, as_interpolation, pil_modes_mapping
from fastaug._program import arguments, checks, matrices, ops
from fastaug._program.kinds import OTHER, TENSOR

# Pillow 13 may shrink the height first; until then it was always the width.
RESIZE_FLAGS = ops.WIDTH_FIRST if int(PIL.__version__.partition(".")[0]) < 13 else 0

_NUMBERS = {mode.name: number for mode, number in pil_modes_mapping.items()}
#: Pillow's number of a filter, and whether it is torch's other one of that number; by the names of modes.
FILTERS = {name: (number, name == "NEAREST_EXACT") for name, number in _NUMBERS.items()}


class GeometryDraft(DraftBase):
    """A draft's methods for geometry."""

    __slots__ = ()

    hflip = rule("hflip")
    vflip = rule("vflip")
    transpose = rule("transpose")
    rot90 = rule("rot90")
    crop = rule("crop")

    def center_crop(self, size: Any) -> None:
        """Cut out the middle of the image, with zeros around it if it is too small."""
        size = arguments.square_if_single(size)
        _, height, width = self.dimensions()
        crop_height, crop_width = size
        if crop_height > height or crop_width > width:
            missing_rows = crop_height - height if crop_height > height else 0
            missing_columns = crop_width - width if crop_width > width else 0
            near = (missing_columns // 2, missing_rows // 2)
            self.pad((*near, (missing_columns + 1) // 2, (missing_rows + 1) // 2), 0, "constant")
            _, height, width = self.dimensions()
            if crop_height == height and crop_width == width:
                return
        self.crop(round((height - crop_height) / 2.0), round((width - crop_width) / 2.0), crop_height, crop_width)

    def resized_crop(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Any, antialias: bool | None
    ) -> None:
        self.crop(top, left, height, width)
        self.resize(size, interpolation, None, antialias)

    pad = rule("pad", lambda draft, *given: draft._check_padding(*given))

    def _check_padding(self, padding: Any, fill: Any, padding_mode: str) -> None:
        if self.core.kind == OTHER:
            checks.need_pil(self.image)
        if not self.core.native:
            self.dimensions()
        if self.core.kind == TENSOR:
            paddings: Any = (int, tuple, list)
            fills: Any = (int, float)
        else:
            paddings = fills = (numbers.Number, tuple, list)
        if type(padding) is not int and not isinstance(padding, paddings):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}, accepted are an int or a sequence of ints")
        if fill is not None and type(fill) is not int and not isinstance(fill, fills):
            accepted = "a number" if self.core.kind == TENSOR else "a number or a sequence of numbers"
            raise TypeError(f"Got inappropriate fill arg: {fill!r}, accepted is {accepted}")
        if not isinstance(padding_mode, str):
            raise TypeError(f"Got inappropriate padding_mode arg: {padding_mode!r}")
        if isinstance(padding, (tuple, list)) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError(
                f"Padding mode should be either constant, edge, reflect or symmetric, got {padding_mode!r}"
            )

    def resize(self, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        size = arguments.as_size_list(size, max_size)
        if not self.core.native:
            self.dimensions()
        height, width = arguments.resized_size(self.core.height, self.core.width, size, max_size)
        if height == self.core.height and width == self.core.width:
            return
        if antialias is False and self.core.kind != TENSOR:
            checks.warn_antialias()
        self._resize_to(height, width, interpolation, antialias)

    def _resize_to(self, height: Any, width: Any, interpolation: InterpolationMode, antialias: Any) -> None:
        """Resize to another size."""
        number, exact = FILTERS[interpolation._name_]
        if self.core.resize(height, width, number, exact, antialias):
            if type(height) is not int or type(width) is not int:
                rows, columns = arguments.whole(height), arguments.whole(width)
                height, width = (height, width) if rows is None or columns is None else (rows, columns)
            self._eager("resize", height, width, number, interpolation.value, antialias)

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        if not isinstance(angle, (int, float)):
            raise TypeError(f"Argument angle should be int or float, got {angle!r}")
        if center is not None and not isinstance(center, (list, tuple)):
            raise TypeError(f"Argument center should be a sequence, got {center!r}")
        number, exact = FILTERS[interpolation._name_]
        if self.core.rotate(angle, number, exact, expand, center, fill):
            self._eager("rotate", angle, number, interpolation.value, expand, center, fill)

    def affine(
        self,
        angle: float,
        translate: Sequence[float],
        scale: float,
        shear: Any,
        interpolation: Any,
        fill: Any,
        center: Sequence[float] | None,
    ) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        shear = arguments.checked_shear(angle, translate, scale, shear, center)
        self.dimensions()
        number, exact = FILTERS[interpolation._name_]
        if self.core.affine(angle, translate, scale, shear, number, exact, center, fill):
            self._eager("affine", angle, translate, scale, shear, number, interpolation.value, fill, center)

    def perspective(self, startpoints: Any, endpoints: Any, interpolation: Any, fill: Any) -> None:
        coefficients = matrices.perspective_coefficients(startpoints, endpoints)
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        number, exact = FILTERS[interpolation._name_]
        if self.core.perspective(coefficients, number, exact, fill):
            self._eager("perspective", coefficients, number, interpolation.value, fill)
