"""Transforms that resize."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._program.arguments import as_float32
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._arguments import _Interpolation
from fastaug.transforms.v2._transform import Keeping
from fastaug.transforms.v2._utils import draws_of, query_size

__all__ = ["RandomResize", "RandomShortestSize", "Resize", "ScaleJitter"]


class Resize(Keeping):
    """The sample in another size: images, videos, masks, boxes and points.

    Args:
        size: (height, width); an int or sequence of one for the shorter side, keeping the proportions; or None, for a
            longer side of ``max_size``.
        interpolation: :class:`InterpolationMode`, its name, or Pillow's integer. Masks take the nearest pixel.
        max_size: limit of the longer side.
        antialias: on tensors, whether the filter is widened when shrinking (None means False). PIL images always do.

    Raises:
        ValueError: ``size`` is none of these; when called, a ``max_size`` that is not above ``size``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.Resize(15)(Image.new("RGB", (40, 30))).size
        (20, 15)
    """

    _by_functional = True
    _v1_transform_cls = _v1.Resize

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: _Interpolation = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if isinstance(size, int):
            size = [size]
        elif isinstance(size, Sequence) and len(size) in (1, 2):
            size = list(size)
        elif size is not None:
            raise ValueError(
                f"size can be an integer, a sequence of one or two integers, or None, but got {size} instead."
            )
        elif not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        self.size = size
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "max_size": self.max_size, "antialias": self.antialias}
        return self._call_kernel(F.resize, inpt, self.size, **settings)

    def _packed(self) -> Packed:
        by = _recipe.resampling(self.interpolation, self.antialias)
        return "Resize", recipe.size(self.size, self.max_size), by


class _RandomSize(Keeping):
    """The base of transforms that draw a size."""

    interpolation: _Interpolation
    antialias: bool | None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        settings = {"interpolation": self.interpolation, "antialias": self.antialias}
        return self._call_kernel(F.resize, inpt, params["size"], **settings)


class ScaleJitter(_RandomSize):
    """The sample resized by a random factor, from what fits into a target size (https://arxiv.org/abs/2012.07177).

    Args:
        target_size: (width, height) that factors are relative to.
        scale_range: (low, high) of the factor.
        interpolation, antialias: as in :class:`Resize`.

    Raises:
        TypeError: when called, a sample without a size.
        ValueError: when called, sizes that differ.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.ScaleJitter((80, 60), scale_range=(0.5, 0.5))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: _Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.target_size = target_size
        self.scale_range = scale_range
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        scale = draws_of(flat_inputs).scaled(self.scale_range[0], self.scale_range[1])
        fitting = min(self.target_size[1] / height, self.target_size[0] / width)
        # torch multiplies in float32, also when a size is taken times the factor.
        factor = as_float32(as_float32(fitting) * scale)
        return {"size": (int(as_float32(height * factor)), int(as_float32(width * factor)))}

    def _packed(self) -> Packed:
        by = _recipe.resampling(self.interpolation, self.antialias)
        return "ScaleJitter", recipe.interval(self.target_size), recipe.interval(self.scale_range), by


class RandomShortestSize(_RandomSize):
    """The sample resized so that its shorter side has one of several sizes.

    Args:
        min_size: sizes of the shorter side: an int, or several to draw from.
        max_size: limit of the longer side; None for none.
        interpolation, antialias: as in :class:`Resize`.

    Raises:
        RuntimeError: when called, without a size to draw from.
        TypeError: when called, a sample without a size.
        ValueError: when called, sizes that differ.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomShortestSize([15])(Image.new("RGB", (40, 30))).size
        (20, 15)
    """

    def __init__(
        self,
        min_size: list[int] | tuple[int] | int,
        max_size: int | None = None,
        interpolation: _Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        shorter = self.min_size[draws_of(flat_inputs).randint(0, len(self.min_size))]
        factor = shorter / min(height, width)
        if self.max_size is not None:
            factor = min(factor, self.max_size / max(height, width))
        return {"size": (int(height * factor), int(width * factor))}

    def _packed(self) -> Packed:
        most = math.inf if self.max_size is None else recipe.whole(self.max_size)
        sizes = tuple(map(recipe.whole, self.min_size))
        if not sizes:
            raise NoRecipe
        return "RandomShortestSize", sizes, most, _recipe.resampling(self.interpolation, self.antialias)


class RandomResize(_RandomSize):
    """The sample resized so that its shorter side has a random size.

    Args:
        min_size: least size of the shorter side.
        max_size: what it stays below.
        interpolation, antialias: as in :class:`Resize`.

    Raises:
        RuntimeError: when called, a ``max_size`` that is not above ``min_size``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomResize(15, 16)(Image.new("RGB", (40, 30))).size
        (20, 15)
    """

    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: _Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = min_size
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"size": [draws_of(flat_inputs).randint(self.min_size, self.max_size)]}

    def _packed(self) -> Packed:
        by = _recipe.resampling(self.interpolation, self.antialias)
        return "RandomResize", recipe.whole(self.min_size), recipe.whole(self.max_size), by
