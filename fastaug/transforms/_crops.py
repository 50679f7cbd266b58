"""Transforms that cut boxes out of an image."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws, drawn_from
from fastaug._draft.interpolation import InterpolationMode, stored_interpolation
from fastaug._draft.replaced import TransformDraft
from fastaug.transforms import functional as F
from fastaug.transforms._base import OneMethod, Transform, check_ranges, setup_size

if TYPE_CHECKING:
    from fastaug._image.types import ImageT

__all__ = ["CenterCrop", "FiveCrop", "RandomCrop", "RandomResizedCrop", "TenCrop"]

Box = tuple[int, int, int, int]

_TORCH = TorchDraws()


class CenterCrop(OneMethod):
    """The middle of the image, with zeros around it where it is smaller than that.

    Args:
        size: (height, width), or a number or sequence of one for a square.

    Raises:
        ValueError: wrong length of ``size``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.CenterCrop(10)(Image.new("RGB", (40, 30))).size
        (10, 10)
    """

    _method, _taken = "center_crop", ("size",)
    _shown = ("size",)

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = setup_size(size)

    def _packed(self) -> recipe.Packed:
        return "CenterCrop", *recipe.lengths(self.size)


class FiveCrop(Transform):
    """The four corners and the middle of the image, as a tuple. In a :class:`Compose`, a :class:`Lambda` can follow.

    Args:
        size: (height, width), or a number or sequence of one for a square.

    Raises:
        ValueError: wrong length of ``size``; when called, a size above the image's.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> transform = T.Compose([T.FiveCrop(8), T.Lambda(torch.stack)])
        >>> transform(torch.zeros(3, 30, 40)).shape
        torch.Size([5, 3, 8, 8])
    """

    _shown = ("size",)
    _apart = True

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = setup_size(size)

    if TYPE_CHECKING:

        def __call__(self, img: ImageT) -> tuple[ImageT, ImageT, ImageT, ImageT, ImageT]: ...  # type: ignore[override]

    def _draft(self, draft: Draft, params: None) -> None:
        draft.apart(lambda draft: draft.reset(F.five_crop(draft.flush(), self.size)), ())


class TenCrop(Transform):
    """The crops of :class:`FiveCrop`, and the same five of the mirrored image.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        vertical_flip: mirror top to bottom instead of left to right.

    Raises:
        ValueError: wrong length of ``size``; when called, a size above the image's.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> len(T.TenCrop(8)(Image.new("RGB", (40, 30))))
        10
    """

    _shown = ("size", "vertical_flip")
    _apart = True

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = setup_size(size)
        self.vertical_flip = vertical_flip

    if TYPE_CHECKING:

        def __call__(self, img: ImageT) -> tuple[ImageT, ...]: ...  # type: ignore[override]

    def _draft(self, draft: Draft, params: None) -> None:
        draft.apart(lambda draft: draft.reset(F.ten_crop(draft.flush(), self.size, self.vertical_flip)), ())


class RandomCrop(Transform):
    """A box of the image at a random place.

    Draws the top row, then the left column; nothing when the image has the size already.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        padding: border to add first, as in :class:`Pad`; None for none.
        pad_if_needed: pad a smaller image, by the missing width and height on both sides.
        fill: colour of the border, as in :class:`Pad`.
        padding_mode: as in :class:`Pad`.

    Raises:
        ValueError: wrong length of ``size``; when called, an image that is smaller than ``size``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomCrop(32, padding=4)(Image.new("RGB", (32, 32))).size
        (32, 32)
    """

    _drawn = ("top", "left", "height", "width")
    _shown = ("size", "padding")

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = tuple(setup_size(size))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> Box:
        """Draws (top, left, height, width) of a box of ``output_size`` in ``img``.

        Raises:
            ValueError: the image is smaller.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> T.RandomCrop.get_params(Image.new("L", (8, 6)), (6, 8))
            (0, 0, 6, 8)
        """
        _, height, width = Draft(img).dimensions()
        return _draw_crop(_TORCH, height, width, output_size)

    def forward(self, img: Any) -> Any:
        """The transformed image, in the container of ``img``."""
        return TransformDraft(img).after(self._padded)

    def _padded(self, draft: Draft) -> None:
        self._before_drawing(draft)
        self._draft(draft, self._sample(draft))

    def _before_drawing(self, draft: Draft, params: None = None) -> None:
        """Pad the image, before parameters are drawn for it."""
        if self.padding is not None:
            draft.pad(self.padding, self.fill, self.padding_mode)
        pads: Any = self.pad_if_needed
        if pads is not False:
            _, height, width = draft.dimensions()
            if pads and width < self.size[1]:
                draft.pad((self.size[1] - width, 0), self.fill, self.padding_mode)
            if pads and height < self.size[0]:
                draft.pad((0, self.size[0] - height), self.fill, self.padding_mode)

    def _sample(self, draft: Draft) -> Box:
        _, height, width = draft.dimensions()
        if self.get_params is self._own_params:
            return _draw_crop(draft.call.draws, height, width, self.size)
        return self._asked(draft, draft.flush(), self.size)  # type: ignore[no-any-return]

    def _draft(self, draft: Draft, params: Box) -> None:
        top, left, height, width = params
        draft.crop(top, left, height, width)

    def _packed(self) -> recipe.Packed:
        padding = None if self.padding is None else recipe.sides(self.padding)
        pads = recipe.truth(self.pad_if_needed)
        return "RandomCrop", *recipe.lengths(self.size), padding, pads, recipe.filling(self.fill), self.padding_mode


def _draw_crop(draws: Draws, height: int, width: int, size: tuple[int, ...]) -> Box:
    crop_height, crop_width = size
    if height < crop_height or width < crop_width:
        raise ValueError(
            f"Required crop size {(crop_height, crop_width)} is larger than input image size {(height, width)}"
        )
    if width == crop_width and height == crop_height:
        return 0, 0, height, width
    top = draws.randint(0, height - crop_height + 1)
    return top, draws.randint(0, width - crop_width + 1), crop_height, crop_width


class RandomResizedCrop(Transform):
    """A box of random area and proportions, resized to ``size``. Pixels outside the box do not count.

    Draws area and proportions, up to ten times until the box fits, then its top row and left column. If none fits, the
    box is the middle of the image with proportions as near as possible.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        scale: range of the area, as a share of the image's.
        ratio: range of width / height.
        interpolation, antialias: as in :class:`Resize`.

    Raises:
        TypeError: ``scale`` or ``ratio`` is not a sequence.
        ValueError: wrong length of ``size``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomResizedCrop(24)(Image.new("RGB", (40, 30))).size
        (24, 24)
    """

    _drawn = ("top", "left", "height", "width")

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = setup_size(size)
        check_ranges(scale, ratio)
        self.interpolation = stored_interpolation(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> Box:
        """Draws (top, left, height, width) of a box in ``img``.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> T.RandomResizedCrop.get_params(Image.new("L", (8, 8)), (1.0, 1.0), (1.0, 1.0))
            (0, 0, 8, 8)
        """
        _, height, width = Draft(img).dimensions()
        return draw_resized_crop(_TORCH, height, width, scale, ratio, log_bounds(_TORCH, ratio, scale))

    def _sample(self, draft: Draft) -> Box:
        if self.get_params is not self._own_params:
            return self._asked(draft, draft.flush(), self.scale, self.ratio)  # type: ignore[no-any-return]
        _, height, width = draft.dimensions()
        bounds = log_bounds(draft.call.draws, self.ratio, self.scale)
        return draw_resized_crop(draft.call.draws, height, width, self.scale, self.ratio, bounds)

    def _draft(self, draft: Draft, params: Box) -> None:
        top, left, height, width = params
        draft.resized_crop(top, left, height, width, self.size, self.interpolation, self.antialias)

    def _packed(self) -> recipe.Packed:
        by = recipe.resampling(self.interpolation, self.antialias)
        scale, ratio = recipe.interval(self.scale), recipe.interval(self.ratio)
        bounds = logarithms(*ratio, torch.float32)
        return "RandomResizedCrop", recipe.size(self.size), by, scale, bounds, min(ratio), max(ratio)

    def __repr__(self) -> str:
        interpolation = self.interpolation.value
        scale = tuple(round(value, 4) for value in self.scale)
        ratio = tuple(round(value, 4) for value in self.ratio)
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, interpolation={interpolation}, "
            f"antialias={self.antialias})"
        )


def log_bounds(draws: Draws, ratio: Any, scale: Any) -> tuple[float, float]:
    """Return the logarithms in torch's default dtype."""
    if type(ratio) in (tuple, list) and len(ratio) == 2 and type(ratio[0]) is type(ratio[1]) is float:
        return logarithms(ratio[0], ratio[1], torch.get_default_dtype())
    bounds = torch.log(torch.tensor(ratio))
    if bounds.ndim != 1 or len(bounds) < 2 or bounds.is_complex():
        # Not two numbers: torchvision draws from the scale before it finds that.
        draws.release()
        draw: Any = torch.empty(1).uniform_(scale[0], scale[1], **drawn_from(draws.generator))
        draw.uniform_(bounds[0], bounds[1])
    # One by one: functorch has no tolist.
    first, second = bounds[:2]
    return first.item(), second.item()


@functools.lru_cache(maxsize=64)
def logarithms(low: float, high: float, dtype: torch.dtype) -> tuple[float, float]:
    first, second = torch.log(torch.tensor((low, high), dtype=dtype))
    return first.item(), second.item()


def draw_resized_crop(
    draws: Draws, height: int, width: int, scale: Sequence[float], ratio: Sequence[float], bounds: tuple[float, float]
) -> Box:
    sides = draws.sides(height * width, (width, height), (scale[0], scale[1]), bounds, False)
    if sides is not None:
        crop_width, crop_height = sides
        top = draws.randint(0, height - crop_height + 1)
        return top, draws.randint(0, width - crop_width + 1), crop_height, crop_width
    proportions = width / height
    crop_height, crop_width = height, width
    if proportions < min(ratio):
        crop_height = round(width / min(ratio))
    elif proportions > max(ratio):
        crop_width = round(height * max(ratio))
    return (height - crop_height) // 2, (width - crop_width) // 2, crop_height, crop_width
