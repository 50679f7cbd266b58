"""Transforms of size and orientation."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.interpolation import InterpolationMode, stored_interpolation
from fastaug.transforms._base import OneMethod, RandomTransform, check_padding_mode

__all__ = ["Pad", "RandomHorizontalFlip", "RandomVerticalFlip", "Resize"]


class Resize(OneMethod):
    """The image in another size. The same object comes back when the size does not change.

    Args:
        size: (height, width); or an int or sequence of one for the shorter side, keeping the proportions.
        interpolation: :class:`InterpolationMode` or Pillow integer. Tensors take NEAREST, NEAREST_EXACT, BILINEAR and
            BICUBIC.
        max_size: limit of the longer side, where ``size`` is the shorter one.
        antialias: on tensors, whether BILINEAR and BICUBIC widen their filter when shrinking (None means False). PIL
            images and arrays always do.

    Raises:
        TypeError: wrong type of ``size``; when called, of ``interpolation`` or of the image.
        ValueError: wrong length of ``size``; when called, a ``max_size`` that is not above ``size``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.Resize(15)(Image.new("RGB", (40, 30))).size
        (20, 15)
    """

    _method, _taken = "resize", ("size", "interpolation", "max_size", "antialias")
    _shown = ("size", "interpolation.value", "max_size", "antialias")

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError(f"If size is a sequence, it should have 1 or 2 values. Got {size!r}")
        self.size = size
        self.max_size = max_size
        self.interpolation = stored_interpolation(interpolation)
        self.antialias = antialias

    def _packed(self) -> recipe.Packed:
        by = recipe.resampling(self.interpolation, self.antialias)
        return "Resize", recipe.size(self.size, self.max_size), by


class Pad(OneMethod):
    """The image with a border.

    Args:
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom). Negative
            ones crop.
        fill: colour of a constant border: a number, or one per channel (not on tensors).
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.

    Raises:
        TypeError: wrong type of ``padding`` or ``fill``.
        ValueError: wrong length of ``padding``, or unknown ``padding_mode``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.Pad((1, 2), padding_mode="edge")(Image.new("RGB", (40, 30))).size
        (42, 34)
    """

    _method = "pad"
    _taken = _shown = ("padding", "fill", "padding_mode")

    def __init__(
        self, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
    ) -> None:
        super().__init__()
        given: tuple[Any, Any] = (padding, fill)
        if not isinstance(given[0], (numbers.Number, tuple, list)):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}")
        if not isinstance(given[1], (numbers.Number, tuple, list)):
            raise TypeError(f"Got inappropriate fill arg: {fill!r}")
        check_padding_mode(padding_mode)
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _packed(self) -> recipe.Packed:
        return "Pad", recipe.sides(self.padding), recipe.filling(self.fill), self.padding_mode


class RandomHorizontalFlip(RandomTransform):
    """The image mirrored left to right with probability ``p``.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """

    def _adjust(self, draft: Draft) -> None:
        draft.hflip()

    def _packed(self) -> recipe.Packed:
        return recipe.happening(recipe.chance(self.p), "Flip", False)


class RandomVerticalFlip(RandomTransform):
    """The image mirrored top to bottom with probability ``p``.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomVerticalFlip(p=1.0)(torch.tensor([[[1], [2]]], dtype=torch.uint8)).flatten()
        tensor([2, 1], dtype=torch.uint8)
    """

    def _adjust(self, draft: Draft) -> None:
        draft.vflip()

    def _packed(self) -> recipe.Packed:
        return recipe.happening(recipe.chance(self.p), "Flip", True)
