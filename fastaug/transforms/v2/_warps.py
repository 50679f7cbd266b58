"""Rotations and other warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.draws import drawn_from
from fastaug._draft.recipe import Packed
from fastaug._program.matrices import perspective_coefficients
from fastaug.transforms._warps import (
    angles,
    check_affine,
    check_lengths,
    draw_affine,
    draw_corners,
    kernel_size,
    packed_affine,
)
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._arguments import _Fill, _Interpolation
from fastaug.transforms.v2._transform import Keeping, _RandomApplyTransform
from fastaug.transforms.v2._utils import _setup_fill_arg, _setup_number_or_seq, draws_of, fill_for, query_size

__all__ = ["ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation"]


class RandomRotation(Keeping):
    """The sample rotated by a random angle.

    Args:
        degrees: x for angles in [-x, x], or (low, high); counter-clockwise.
        interpolation: :class:`InterpolationMode` or its name; on tensors "nearest" or "bilinear"; or Pillow's integer.
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners, as in :class:`Pad`.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: negative ``degrees``, or a pair that is none.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomRotation((90, 90), expand=True)(Image.new("RGB", (40, 30))).size
        (30, 40)
    """

    _v1_transform_cls = _v1.RandomRotation

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: _Interpolation = "nearest",
        expand: bool = False,
        center: list[float] | None = None,
        fill: _Fill = 0,
    ) -> None:
        super().__init__()
        self.degrees = angles(degrees, "degrees", (2,))
        self.interpolation = interpolation
        self.expand = expand
        self.fill = fill
        self._fill = _setup_fill_arg(fill)
        if center is not None:
            check_lengths(center, "center", (2,))
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"angle": draws_of(flat_inputs).uniform(self.degrees[0], self.degrees[1])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "expand": self.expand, "center": self.center}
        return self._call_kernel(F.rotate, inpt, **params, **settings, fill=fill_for(self, inpt))

    def _packed(self) -> Packed:
        mode = _recipe.resampling(self.interpolation)
        fill, expand = _recipe.filling(self), recipe.truth(self.expand)
        return "RandomRotation", recipe.interval(self.degrees), mode, expand, recipe.centre(self.center), fill


class RandomAffine(Keeping):
    """The sample rotated, moved, scaled and sheared at random, about its middle.

    Draws the angle, then, for those that are given, the horizontal and the vertical shift, the scale, and the shears.

    Args:
        degrees: x for angles in [-x, x], or (low, high); clockwise.
        translate: greatest shift, (share of the width, share of the height); shifts are whole pixels.
        scale: (low, high) of the scale.
        shear: degrees; x for [-x, x] along x, or (low, high) along x, or (low, high, low, high) along x and y.
        interpolation: as in :class:`RandomRotation`.
        fill: colour of what lies outside the image, as in :class:`Pad`.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of a sequence, or a number out of range.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomAffine(10, translate=(0.1, 0.1), scale=(0.9, 1.1))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.RandomAffine

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: int | float | Sequence[float] | None = None,
        interpolation: _Interpolation = "nearest",
        fill: _Fill = 0,
        center: list[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees = angles(degrees, "degrees", (2,))
        check_affine(translate, scale, center)
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.interpolation = interpolation
        self.fill = fill
        self._fill = _setup_fill_arg(fill)
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        draws = draws_of(flat_inputs)
        drawn = draw_affine(draws, self.degrees, self.translate, self.scale, self.shear, (width, height))
        return dict(zip(("angle", "translate", "scale", "shear"), drawn))

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "center": self.center}
        return self._call_kernel(F.affine, inpt, **params, **settings, fill=fill_for(self, inpt))

    def _packed(self) -> Packed:
        return packed_affine(self, _recipe.resampling(self.interpolation), _recipe.filling(self))


class RandomPerspective(_RandomApplyTransform):
    """The sample as seen from a random side, with probability ``p``.

    Draws whether it happens, then x and y of the new top left, top right, bottom right and bottom left corner.

    Args:
        distortion_scale: how far corners move: in [0, 1], as a share of half the image's sides.
        interpolation: as in :class:`RandomRotation`.
        fill: colour of what lies outside the image, as in :class:`Pad`.

    Raises:
        TypeError: wrong type of ``fill``.
        ValueError: ``p`` or ``distortion_scale`` is not between 0 and 1.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomPerspective(p=1.0)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.RandomPerspective

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: _Interpolation = "bilinear",
        fill: _Fill = 0,
    ) -> None:
        super().__init__(p=p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError(f"Argument distortion_scale value should be between 0 and 1. Got {distortion_scale}")
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill
        self._fill = _setup_fill_arg(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        startpoints, endpoints = draw_corners(draws_of(flat_inputs), width, height, self.distortion_scale)
        return {"coefficients": perspective_coefficients(startpoints, endpoints)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "fill": fill_for(self, inpt)}
        return self._call_kernel(F.perspective, inpt, startpoints=None, endpoints=None, **settings, **params)

    def _packed(self) -> Packed:
        mode, fill = _recipe.resampling(self.interpolation), _recipe.filling(self)
        scale = float(recipe.number(self.distortion_scale))
        return recipe.happening(recipe.chance(self.p), "Perspective", scale, mode, fill)


class ElasticTransform(Keeping):
    """The sample moved along a smooth random field, as seen through moving water.

    Draws one number per pixel for the horizontal and then one for the vertical displacement, and blurs both.

    Args:
        alpha: strength: a number, or two for horizontal and vertical.
        sigma: standard deviation of the blur in pixels: a number, or two for horizontal and vertical.
        interpolation: as in :class:`RandomRotation`.
        fill: colour of what lies outside the image, as in :class:`Pad`.

    Raises:
        TypeError: ``alpha`` or ``sigma`` is neither a number nor a sequence, or wrong type of ``fill``.
        ValueError: wrong length of ``alpha`` or ``sigma``, or not of numbers.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.ElasticTransform(alpha=20.0)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.ElasticTransform

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: _Interpolation = "bilinear",
        fill: _Fill = 0,
    ) -> None:
        super().__init__()
        self.alpha = _setup_number_or_seq(alpha, "alpha")
        self.sigma = _setup_number_or_seq(sigma, "sigma")
        self.interpolation = interpolation
        self.fill = fill
        self._fill = _setup_fill_arg(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        draws = draws_of(flat_inputs)
        draws.release()
        moved = []
        for axis, extent in enumerate((width, height)):
            noise = torch.rand(1, 1, height, width, **drawn_from(draws.generator)) * 2 - 1
            if self.sigma[axis] > 0.0:
                size = kernel_size(self.sigma[axis])
                noise = self._call_kernel(F.gaussian_blur, noise, [size, size], list(self.sigma))
            moved.append(noise * self.alpha[axis] / extent)
        return {"displacement": torch.concat(moved, 1).permute([0, 2, 3, 1])}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "fill": fill_for(self, inpt)}
        return self._call_kernel(F.elastic, inpt, **params, **settings)
