"""Geometry of torchvision's v2, where it differs from v1's.

Arguments are checked and normalized: interpolation modes are members of the enumeration, paddings have four sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft.draft import Draft
from fastaug._draft.geometry import FILTERS
from fastaug._draft.interpolation import InterpolationMode
from fastaug._program import arguments, checks, matrices, v2_arguments
from fastaug._program.kinds import TENSOR


class LeafGeometry(Draft):
    """A draft's methods for geometry that differ in v2."""

    __slots__ = ()

    _v2 = True

    def _need_channels(self) -> None:
        """Raise torchvision's error for a plane without an axis of channels."""
        if self.core.flat or not self.core.bands:
            checks.need_channels(self.image)

    def center_crop(self, size: Any) -> None:
        """Cut out the middle, of (height, width), with zeros around it if the image is too small."""
        if self.core.kind != TENSOR:
            super().center_crop(size)
        elif self.core.center_crop(*size):
            self._eager("center_crop", *size)

    def pad(self, padding: Any, fill: Any, padding_mode: str) -> None:
        """Add left, top, right and bottom, or cut off."""
        if self.core.kind != TENSOR:
            super().pad(padding, fill, padding_mode)
        elif self.core.pad(padding, fill, padding_mode):
            self._need_channels()
            if fill is None:
                fill = 0
            elif not isinstance(fill, (int, float)) and len(fill) == 1:
                fill = fill[0]
            if not isinstance(fill, (int, float)) and padding_mode != "constant":
                raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar, got {fill!r}")
            self._eager("pad", padding, fill, padding_mode)

    def resize(self, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> None:
        if self.core.kind == TENSOR:
            self._need_channels()
            if interpolation is InterpolationMode.LANCZOS and not antialias:
                raise ValueError("InterpolationMode.LANCZOS requires antialias=True")
        elif antialias is False:
            checks.warn_antialias()
        height, width = v2_arguments.resized_size(self.core.height, self.core.width, size, max_size)
        if height != self.core.height or width != self.core.width:
            self._resize_to(height, width, interpolation, antialias if self.by_torch else True)

    def resized_crop(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Any, antialias: bool | None
    ) -> None:
        if antialias is False and self.core.kind != TENSOR:
            checks.warn_antialias()
            antialias = None
        self.crop(top, left, height, width)
        self.resize(size, interpolation, None, antialias)

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if not self.by_torch:
            super().rotate(angle, interpolation, expand, center, fill)
            return
        if not self.core.rotate(angle, *FILTERS[interpolation._name_], expand, center, fill):
            return
        angle = angle % 360
        if (
            center is None
            and angle not in (0, 180)
            and not expand
            and self.core.source == TENSOR
            and self.image.ndim < 2
        ):
            raise IndexError(f"A tensor should have the shape (..., height, width), got {tuple(self.image.shape)}")
        if center is None and (
            angle == 0 or angle == 180 or (angle in (90, 270) and (expand or self.core.height == self.core.width))
        ):
            self.rot90(int(angle) // 90)
            return
        # Rotations of tensors are counter-clockwise, affine maps clockwise.
        matrix = self._matrix(-angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)
        size = self.core.height, self.core.width
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
        number, exact = FILTERS[interpolation._name_]
        if not self.core.affine(angle, translate, scale, shear, number, exact, center, fill):
            return
        matrix = self._matrix(float(angle), translate, scale, shear, center)
        if self.by_torch:
            self._map_by_torch(matrix, (self.core.height, self.core.width), interpolation, fill)
        else:
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
        middle = self.core.width * 0.5, self.core.height * 0.5
        if not self.by_torch:
            about: Sequence[float] = middle if center is None else [float(side) for side in center]
        else:
            translate = [float(side) for side in translate]
            about = (0.0, 0.0) if center is None else [float(side) - half for side, half in zip(center, middle)]
        return matrices.affine_matrices(about, angle, translate, scale, shear)[1]

    def _map_by_torch(
        self, matrix: Sequence[float], size: tuple[int, int], interpolation: InterpolationMode, fill: Any
    ) -> None:
        self._check_warp(interpolation.value, fill)
        number, _ = FILTERS[interpolation._name_]
        self._eager("affine_map", matrix, number, interpolation.value, fill, size)

    def _check_warp(self, mode_name: str, fill: Any) -> None:
        if isinstance(fill, (tuple, list)) and self.core.flat and self.core.source == TENSOR:
            raise IndexError(f"A fill of {len(fill)} numbers needs channels, got shape {tuple(self.image.shape)}")
        self._need_channels()
        v2_arguments.check_fill(fill, self.core.channels)
        if mode_name not in ("nearest", "bilinear"):
            raise ValueError(f"Interpolation mode '{mode_name}' is unsupported with Tensor input")

    def project(self, coefficients: Sequence[float], interpolation: InterpolationMode, fill: Any) -> None:
        """A perspective, by the eight numbers of a map from output to input."""
        number, exact = FILTERS[interpolation._name_]
        if self.core.perspective(coefficients, number, exact, fill):
            if self.by_torch:
                self._check_warp(interpolation.value, fill)
            self._eager("perspective", coefficients, number, interpolation.value, fill)

    def elastic_transform(self, displacement: Any, interpolation: Any, fill: Any) -> None:
        if self.core.kind == TENSOR and self.core.height and self.core.width:
            self._need_channels()
        if isinstance(displacement, torch.Tensor) and self.core.native and not self.call.traced:
            # torchvision computes in float32 for bytes.
            displacement = displacement.to(dtype=torch.float32)
        super().elastic_transform(displacement, interpolation, fill)
