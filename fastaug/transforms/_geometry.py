"""Transforms of geometry."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from fastaug._draft import Draft
from fastaug._draft_base import TENSOR
from fastaug._interpolation import InterpolationMode, stored_interpolation
from fastaug.transforms._base import Transform, check_pair, happens, setup_size

__all__ = [
    "CenterCrop",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
]

Box = tuple[int, int, int, int]


class Resize(Transform):
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

    def _draft(self, draft: Draft) -> None:
        draft.resize(self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(Transform):
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

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = setup_size(size)

    def _draft(self, draft: Draft) -> None:
        draft.center_crop(self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(Transform):
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

    def __init__(
        self, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
    ) -> None:
        super().__init__()
        given: tuple[Any, Any] = (padding, fill)
        if not isinstance(given[0], (numbers.Number, tuple, list)):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}")
        if not isinstance(given[1], (numbers.Number, tuple, list)):
            raise TypeError(f"Got inappropriate fill arg: {fill!r}")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError(
                f"Padding mode should be either constant, edge, reflect or symmetric, got {padding_mode!r}"
            )
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _draft(self, draft: Draft) -> None:
        draft.pad(self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class RandomCrop(Transform):
    """A box of the image at a random place.

    Draws the top row, then the left column; nothing when the image has the size already.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        padding: border to add first, as in :class:`Pad`; None for none.
        pad_if_needed: pad an image that is smaller than ``size``, by the missing width and height on both sides.
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
        return _draw_crop(height, width, output_size)

    def _draft(self, draft: Draft) -> None:
        if self.padding is not None:
            draft.pad(self.padding, self.fill, self.padding_mode)
        _, height, width = draft.dimensions()
        if self.pad_if_needed:
            if width < self.size[1]:
                draft.pad((self.size[1] - width, 0), self.fill, self.padding_mode)
            if height < self.size[0]:
                draft.pad((0, self.size[0] - height), self.fill, self.padding_mode)
            _, height, width = draft.dimensions()
        if self.get_params is RandomCrop.get_params:
            box = _draw_crop(height, width, self.size)
        else:
            box = self.get_params(draft.flush(), self.size)
        draft.crop(*box)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


def _draw_crop(height: int, width: int, size: tuple[int, ...]) -> Box:
    crop_height, crop_width = size
    if height < crop_height or width < crop_width:
        raise ValueError(
            f"Required crop size {(crop_height, crop_width)} is larger than input image size {(height, width)}"
        )
    if width == crop_width and height == crop_height:
        return 0, 0, height, width
    top = int(torch.randint(0, height - crop_height + 1, (1,)).item())
    left = int(torch.randint(0, width - crop_width + 1, (1,)).item())
    return top, left, crop_height, crop_width


class RandomResizedCrop(Transform):
    """A box of random area and proportions, resized to ``size``. Pixels outside the box do not count.

    Draws area and proportions, up to ten times until the box fits, then its top row and left column. If none fits, the
    box is the middle of the image with proportions as near as possible.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        scale: range of the area, as a share of the image's.
        ratio: range of width / height.
        interpolation: as in :class:`Resize`.
        antialias: as in :class:`Resize`.

    Raises:
        TypeError: ``scale`` or ``ratio`` is not a sequence.
        ValueError: wrong length of ``size``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomResizedCrop(24)(Image.new("RGB", (40, 30))).size
        (24, 24)
    """

    # The ratio that `_log_bounds` are the logarithms of, and the dtype they were taken in.
    _log_key: Any = None
    _log_bounds: tuple[float, float] = (0.0, 0.0)

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
        if not isinstance(scale, Sequence):
            raise TypeError(f"Scale should be a sequence. Got {scale!r}")
        if not isinstance(ratio, Sequence):
            raise TypeError(f"Ratio should be a sequence. Got {ratio!r}")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
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
        return _draw_resized_crop(height, width, scale, ratio, _log_bounds(ratio))

    def _draft(self, draft: Draft) -> None:
        if self.get_params is RandomResizedCrop.get_params:
            ratio = self.ratio if type(self.ratio) is tuple else tuple(self.ratio)
            key = (ratio, torch.get_default_dtype())
            if self._log_key != key:
                self._log_bounds = _log_bounds(ratio)
                self._log_key = key
            _, height, width = draft.dimensions()
            box = _draw_resized_crop(height, width, self.scale, self.ratio, self._log_bounds)
        else:
            box = self.get_params(draft.flush(), self.scale, self.ratio)
        draft.crop(*box)
        draft.resize(self.size, self.interpolation, None, self.antialias)

    def __repr__(self) -> str:
        scale = tuple(round(value, 4) for value in self.scale)
        ratio = tuple(round(value, 4) for value in self.ratio)
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


def _log_bounds(ratio: Sequence[float]) -> tuple[float, float]:
    """The logarithms in torch's default dtype, as torchvision takes them."""
    low, high = torch.log(torch.tensor(ratio))[:2].tolist()
    return low, high


def _draw_resized_crop(
    height: int, width: int, scale: Sequence[float], ratio: Sequence[float], log_bounds: tuple[float, float]
) -> Box:
    area = height * width
    low, high = log_bounds
    # One buffer for all draws: on one element torch spends more on allocation than on drawing.
    draw = torch.empty(1)
    for _ in range(10):
        target = area * draw.uniform_(scale[0], scale[1]).item()
        aspect = draw.uniform_(low, high).exp_().item()
        crop_width = round(math.sqrt(target * aspect))
        crop_height = round(math.sqrt(target / aspect))
        if 0 < crop_width <= width and 0 < crop_height <= height:
            # random_ on floats is exact below 2^24 and consumes the generator as randint does.
            top = int(draw.random_(0, height - crop_height + 1).item())
            left = int(draw.random_(0, width - crop_width + 1).item())
            return top, left, crop_height, crop_width
    proportions = width / height
    crop_height, crop_width = height, width
    if proportions < min(ratio):
        crop_height = round(width / min(ratio))
    elif proportions > max(ratio):
        crop_width = round(height * max(ratio))
    return (height - crop_height) // 2, (width - crop_width) // 2, crop_height, crop_width


class RandomHorizontalFlip(Transform):
    """The image mirrored left to right with probability ``p``.

    Args:
        p: probability.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def _draft(self, draft: Draft) -> None:
        if happens(self.p):
            draft.hflip()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(Transform):
    """The image mirrored top to bottom with probability ``p``.

    Args:
        p: probability.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.RandomVerticalFlip(p=1.0)(torch.tensor([[[1], [2]]], dtype=torch.uint8)).flatten()
        tensor([2, 1], dtype=torch.uint8)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def _draft(self, draft: Draft) -> None:
        if happens(self.p):
            draft.vflip()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomRotation(Transform):
    """The image rotated by a random angle.

    Args:
        degrees: x for angles in [-x, x], or (low, high); counter-clockwise.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors); or Pillow's integer.
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners: a number, or one per channel.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: negative ``degrees``, or a pair that is none.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomRotation((90, 90), expand=True)(Image.new("RGB", (40, 30))).size
        (30, 40)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] | None = 0,
    ) -> None:
        super().__init__()
        if isinstance(degrees, numbers.Number):
            number: Any = degrees
            if number < 0:
                raise ValueError(f"If degrees is a single number, it must be positive. Got {degrees}")
            degrees = [-number, number]
        else:
            check_pair(degrees, "degrees")
        pair: Any = degrees
        self.degrees = [float(value) for value in pair]
        if center is not None:
            check_pair(center, "center")
        self.center = center
        self.interpolation = stored_interpolation(interpolation)
        self.expand = expand
        if fill is None:
            fill = 0
        elif not isinstance(fill, (Sequence, numbers.Number)):
            raise TypeError(f"Fill should be either a sequence or a number. Got {fill!r}")
        self.fill = fill

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draws an angle in degrees.

        Example:
            >>> import fastaug.transforms as T
            >>> T.RandomRotation.get_params((30, 30))
            30.0
        """
        return torch.empty(1).uniform_(float(degrees[0]), float(degrees[1])).item()

    def _draft(self, draft: Draft) -> None:
        channels, _, _ = draft.dimensions()
        fill: Any = self.fill
        if draft.kind == TENSOR:
            fill = [float(fill)] * channels if isinstance(fill, (int, float)) else [float(value) for value in fill]
        draft.rotate(self.get_params(self.degrees), self.interpolation, self.expand, self.center, fill)

    def __repr__(self) -> str:
        text = f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}"
        text += f", expand={self.expand}"
        if self.center is not None:
            text += f", center={self.center}"
        if self.fill is not None:
            text += f", fill={self.fill}"
        return text + ")"
