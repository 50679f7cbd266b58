"""Geometry of torchvision's v2, where it differs from v1's.

Arguments are checked and normalized: interpolation modes are members of the enumeration, paddings have four sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.draft import Draft
from fastaug._draft.geometry import _LONGEST, _MAX_SIDE, _NEAREST_RULES, _PILLOW, _SAMPLERS
from fastaug._draft.interpolation import InterpolationMode
from fastaug._program import arguments, checks, matrices, ops, resizing, v2_arguments
from fastaug._program.borrow import is_interleaved
from fastaug._program.kinds import TENSOR

# Pillow's numbers of the filters that there are for tensors: Lanczos, bilinear, bicubic.
_FILTERS = (1, 2, 3)


class LeafGeometry(Draft):
    """A draft's methods for geometry that differ in v2."""

    __slots__ = (
        "gaps",  # the number of ops when torch's tensor became a part of a larger one, or -1
    )

    _v2 = True
    _reads_floats = False

    def reset(self, image: Any, read: bool = False) -> None:
        Draft.reset(self, image, read)
        self.gaps = -1
        if self.height * self.width == 1 and self.native and self.kind == TENSOR:
            # A single pixel is contiguous in any order, so torch decides by its strides.
            self.channel_last = is_interleaved(self.image)
        if self.channel_last and self._is_one():
            row, pixel = self.image.stride()[-2:]
            if (pixel != self.bands and self.width > 1) or (row != self.bands * self.width and self.height > 1):
                self.gaps = 0

    def _need_channels(self) -> None:
        """Raise torchvision's error for a plane without an axis of channels."""
        if self.flat or not self.bands:
            checks.need_channels(self.image)

    def _has_order(self) -> bool:
        """Return whether the axes of the tensor lie in one of the two orders that the core writes."""
        return bool(self.ops) or self.channel_last or self.image.is_contiguous()

    def _is_one(self) -> bool:
        return not self.lead or math.prod(self.lead) == 1

    def _padded_by_torch(self) -> None:
        """Choose the order of samples after a padding by torch, which keeps that of batches and single pixels."""
        if self.channel_last and self._is_one() and self.height * self.width > 1:
            self.channel_last = False

    def rot90(self, turns: int) -> None:
        """Turn a copy counter-clockwise by 0 to 3 quarters."""
        if turns:
            super().rot90(turns)
        elif self.native and self._has_order():
            self.copied = True
        else:
            self._eager("rot90", turns)  # the copy has its axes in their order

    def crop(self, top: Any, left: Any, height: Any, width: Any) -> None:
        """Cut out a box, with zeros outside of the image."""
        if self.kind != TENSOR or (self.native and not self.channel_last and not self.flat and top >= 0 and left >= 0):
            super().crop(top, left, height, width)
            return
        bottom, right = top + height, left + width
        if top >= 0 and left >= 0 and bottom <= self.height and right <= self.width:
            gaps = self.channel_last and (self.gaps == len(self.ops) or width != self.width)
            if gaps and height == 1:
                gaps = not self.ops and self.source == TENSOR and self.image.stride(-1) != self.bands
            super().crop(top, left, height, width)
            if self.channel_last:
                self.gaps = len(self.ops) if gaps else -1
            return
        if self.flat or bottom < 0 or right < 0:
            # torchvision counts negative ends from the end of the image.
            self._eager("crop", top, left, height, width)
            return
        if top >= self.height or left >= self.width or bottom == 0 or right == 0:
            self.channel_last = False
        batched = self._is_batched()
        super().crop(top, left, height, width)
        if batched and self.first is not None and self.first[0] == "window":
            self.first = None

    def _is_batched(self) -> bool:
        """Return whether torch's padding gives another memory format to torchvision's batch of the tensor."""
        return self.channel_last and (len(self.lead) > 1 or self.lead == (1,))

    def center_crop(self, size: Any) -> None:
        """Cut out the middle, of (height, width), with zeros around it if the image is too small."""
        height, width = size
        if self.kind != TENSOR:
            super().center_crop(size)
            return
        if not self.native:
            self._eager("center_crop", height, width)
            return
        rows, columns = max(height - self.height, 0), max(width - self.width, 0)
        if rows or columns:
            # torchvision does not make a batch of it first.
            kept = self.channel_last and len(self.lead) == 1
            self.pad((columns // 2, rows // 2, (columns + 1) // 2, (rows + 1) // 2), 0, "constant", flat=self.flat)
            self.channel_last = kept
            if (height, width) == (self.height, self.width):
                return
        self.crop(*v2_arguments.central_corner(height, width, (self.height, self.width)), height, width)

    def pad(self, padding: Any, fill: Any, padding_mode: str, flat: bool = False) -> None:
        """Add left, top, right and bottom, or cut off. Take a plane only if `flat`."""
        if self.kind != TENSOR:
            super().pad(padding, fill, padding_mode)
            return
        if (self.flat and not flat) or not self.bands:
            self._need_channels()
        if fill is None:
            fill = 0
        elif not isinstance(fill, (int, float)) and len(fill) == 1:
            fill = fill[0]
        colour: Any = fill
        if not isinstance(fill, (int, float)):
            if padding_mode != "constant":
                raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar, got {fill!r}")
            colour = fill if len(fill) == self.channels else None
        box = arguments.whole_sides(padding)
        if self.native and box is not None and colour is not None:
            batched = self.channel_last and self._is_batched()
            if self._pad_natively(box, colour, padding_mode):
                if batched:
                    self.first = None
                return
        self._eager("pad", padding, fill, padding_mode)

    def _torch_frames(self, box: tuple[int, int, int, int], fill: Any) -> bool:
        """Return whether the core frames as torch does with a number, or one for each channel, cut to integers."""
        left, top, right, bottom = box
        if min(box) < 0 and (
            self.height + min(top, 0) + min(bottom, 0) < 0 or self.width + min(left, 0) + min(right, 0) < 0
        ):
            return False
        if max(box) <= 0 and not self._has_order():
            return False
        # torch refuses some other numbers, and others wrap around.
        if isinstance(fill, (int, float)):
            return 0 <= fill < 256
        return all(isinstance(value, (int, float)) and 0 <= value < 256 for value in fill)

    def resize(self, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> None:
        name, is_tensor = interpolation._name_, self.kind == TENSOR
        number = _PILLOW[name]
        if is_tensor:
            self._need_channels()
            if number == 1 and not antialias:
                raise ValueError("InterpolationMode.LANCZOS requires antialias=True")
        elif antialias is False:
            checks.warn_antialias()
        height, width = v2_arguments.resized_size(self.height, self.width, size, max_size)
        if height == self.height and width == self.width:
            return
        if not self.by_torch:
            super().resize([height, width], interpolation, None, True)
            return
        smooth = number in _FILTERS
        native = self.native and (bool(antialias) if smooth else name in _NEAREST_RULES)
        if type(height) is not int or type(width) is not int:
            rows, columns = arguments.whole(height), arguments.whole(width)
            native = native and rows is not None and columns is not None
            height, width = (height, width) if rows is None or columns is None else (rows, columns)
        if native and smooth:
            # torch gives all rows of a single column of many channels the values of the first one.
            single = self.channels > 4 and width == 1
            native = not single and max(height, width, self.height, self.width) <= _LONGEST
            native = native and (number != 2 or resizing.in_bytes())
        if self.channel_last and self.gaps == len(self.ops) and self._is_one():
            self.channel_last = False
        if not (native and 0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
            self._eager("resize", height, width, number, interpolation.value, antialias)
            return
        if smooth:
            self.ops.append(ops.v2_resize(height, width, number))
        else:
            self.ops.append(ops.nearest(height, width, _NEAREST_RULES[name]))
        self.height, self.width = height, width

    def resized_crop(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Any, antialias: bool | None
    ) -> None:
        if antialias is False and self.kind != TENSOR:
            checks.warn_antialias()
            antialias = None
        self.crop(top, left, height, width)
        self.resize(size, interpolation, None, antialias)

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if not self.by_torch:
            super().rotate(angle, interpolation, expand, center, fill)
            return
        angle = angle % 360
        if center is None and angle not in (0, 180) and not expand and self.source == TENSOR and self.image.ndim < 2:
            raise IndexError(f"A tensor should have the shape (..., height, width), got {tuple(self.image.shape)}")
        if center is None and (
            angle == 0 or angle == 180 or (angle in (90, 270) and (expand or self.height == self.width))
        ):
            self.rot90(int(angle) // 90)
            return
        # Rotations of tensors are counter-clockwise, affine maps clockwise.
        matrix = self._matrix(-angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)
        size = self.height, self.width
        if expand:
            size = matrices.size_around(matrix, *size, v2=True)
        self._map_by_torch(matrix, size, interpolation, fill)

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
        shear = arguments.checked_shear(angle, translate, scale, shear, center)
        matrix = self._matrix(float(angle), translate, scale, shear, center)
        if self.by_torch:
            self._map_by_torch(matrix, (self.height, self.width), interpolation, fill)
            return
        number = _PILLOW[interpolation._name_]
        if not (self.native and self._warp_natively(ops.affine, matrix, number, interpolation.value, fill)):
            self._eager("affine_map", matrix, number, interpolation.value, fill)

    def _matrix(
        self,
        angle: float,
        translate: Sequence[float],
        scale: float,
        shear: Sequence[float],
        center: Sequence[float] | None,
    ) -> list[float]:
        """From output to input: between the middles of images for torch, and their corners for Pillow."""
        middle = self.width * 0.5, self.height * 0.5
        if not self.by_torch:
            about: Sequence[float] = middle if center is None else [float(side) for side in center]
        else:
            translate = [float(side) for side in translate]
            about = (0.0, 0.0) if center is None else [float(side) - half for side, half in zip(center, middle)]
        return matrices.affine_matrices(about, angle, translate, scale, shear)[1]

    def _map_by_torch(
        self, matrix: Sequence[float], size: tuple[int, int], interpolation: InterpolationMode, fill: Any
    ) -> None:
        mode_name = interpolation.value
        self._check_warp(mode_name, fill)
        if not (self.native and self._sample_by_torch(ops.torch_affine, matrix, size, mode_name, fill)):
            self._eager("affine_map", matrix, _PILLOW[interpolation._name_], mode_name, fill, size)

    def _check_warp(self, mode_name: str, fill: Any) -> None:
        if isinstance(fill, (tuple, list)) and self.flat and self.source == TENSOR:
            raise IndexError(f"A fill of {len(fill)} numbers needs channels, got shape {tuple(self.image.shape)}")
        self._need_channels()
        v2_arguments.check_fill(fill, self.channels)
        if mode_name not in _SAMPLERS:
            raise ValueError(f"Interpolation mode '{mode_name}' is unsupported with Tensor input")

    def project(self, coefficients: Sequence[float], interpolation: InterpolationMode, fill: Any) -> None:
        """A perspective, by the eight numbers of a map from output to input."""
        mode_name = interpolation.value
        number = _PILLOW[interpolation._name_]
        if self.by_torch:
            self._check_warp(mode_name, fill)
            size = self.height, self.width
            done = self.native and self._sample_by_torch(ops.torch_perspective, coefficients, size, mode_name, fill)
        else:
            done = self.native and self._warp_natively(ops.perspective, coefficients, number, mode_name, fill)
        if not done:
            self._eager("perspective", coefficients, number, mode_name, fill)

    def elastic_transform(self, displacement: Any, interpolation: Any, fill: Any) -> None:
        if self.kind == TENSOR and self.height and self.width:
            self._need_channels()
        if isinstance(displacement, torch.Tensor) and self.native and not self.call.traced:
            # torchvision computes in float32 for bytes.
            displacement = displacement.to(dtype=torch.float32)
        super().elastic_transform(displacement, interpolation, fill)
