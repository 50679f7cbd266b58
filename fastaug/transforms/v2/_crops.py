"""Crops and borders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
import torch

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.recipe import Packed
from fastaug._sample.sample import Sample
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug.transforms._base import check_padding_mode, check_ranges, setup_size
from fastaug.transforms._crops import draw_resized_crop
from fastaug.transforms._warps import check_lengths
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._arguments import _Fill, _Interpolation, _PaddingMode, _scalar_fill
from fastaug.transforms.v2._transform import Keeping, Transform, _RandomApplyTransform
from fastaug.transforms.v2._utils import (
    _check_padding_arg,
    _setup_fill_arg,
    draws_of,
    fill_for,
    get_bounding_boxes,
    has_all,
    has_any,
    query_size,
    settled,
    tv_named,
    type_of,
)
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = [
    "CenterCrop",
    "FiveCrop",
    "Pad",
    "RandomCrop",
    "RandomIoUCrop",
    "RandomResizedCrop",
    "RandomZoomOut",
    "TenCrop",
]


class CenterCrop(Keeping):
    """The middle of the sample, with zeros around it where it is smaller than that.

    Args:
        size: (height, width), or a number or sequence of one for a square.

    Raises:
        ValueError: wrong length of ``size``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.CenterCrop(10)(Image.new("RGB", (40, 30))).size
        (10, 10)
    """

    _by_functional = True
    _v1_transform_cls = _v1.CenterCrop

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = setup_size(size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.center_crop, inpt, output_size=self.size)


class RandomResizedCrop(Keeping):
    """A box of random area and proportions, resized to ``size``.

    Draws area and proportions, up to ten times until the box fits, then its top row and left column. If none fits, the
    box is the middle of the image with proportions as near as possible.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        scale: range of the area, as a share of the image's.
        ratio: range of width / height.
        interpolation, antialias: as in :class:`Resize`.

    Raises:
        TypeError: ``scale`` or ``ratio`` is not a sequence of two.
        ValueError: wrong length of ``size``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomResizedCrop(24)(Image.new("RGB", (40, 30))).size
        (24, 24)
    """

    _v1_transform_cls = _v1.RandomResizedCrop

    def __init__(
        self,
        size: int | Sequence[int],
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: _Interpolation = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = setup_size(size)
        check_ranges(scale, ratio, pairs=True)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias
        self._log_ratio = torch.log(torch.tensor(self.ratio))

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        low, high = self._log_ratio.tolist()
        box = draw_resized_crop(draws_of(flat_inputs), height, width, self.scale, self.ratio, (low, high))
        return dict(zip(("top", "left", "height", "width"), box))

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(
            F.resized_crop, inpt, **params, size=self.size, interpolation=self.interpolation, antialias=self.antialias
        )

    def _packed(self) -> Packed:
        by = _recipe.resampling(self.interpolation, self.antialias)
        scale, ratio = recipe.interval(self.scale), recipe.interval(self.ratio)
        bounds = _recipe.logarithms(self._log_ratio)
        return "RandomResizedCrop", recipe.size(self.size), by, scale, bounds, min(ratio), max(ratio)


# What nobody needs a warning of.
_PLAIN = (torch.Tensor, PIL.Image.Image)


class _Crops(Transform):
    """The base of transforms that replace an image by a tuple of crops."""

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_passing(self, inpt)
        return super()._call_kernel(functional, settled(inpt), *args, **kwargs)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raise a TypeError if there are boxes or masks in the sample."""
        if not (len(flat_inputs) == 1 and type_of(flat_inputs[0]) in _PLAIN) and has_any(
            flat_inputs, *tv_named("BoundingBoxes", "Mask")
        ):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()")

    def _change(self, sample: Sample) -> None:
        super()._change(sample)
        sample.regroup()


def warn_of_passing(transform: Any, inpt: Any) -> None:
    """Warn of boxes, points and masks that a transform of images leaves as they are."""
    cls = type_of(inpt)
    if cls not in _PLAIN and issubclass(cls, tv_named("BoundingBoxes", "KeyPoints", "Mask")):
        warnings.warn(
            f"{type(transform).__name__}() is currently passing through inputs of type tv_tensors.{cls.__name__}. "
            "This will likely change in the future.",
            stacklevel=2,
        )


class FiveCrop(_Crops):
    """The four corners and the middle of images and videos, as a tuple instead of each.

    Args:
        size: (height, width), or a number or sequence of one for a square.

    Raises:
        TypeError: when called, a sample with boxes or masks.
        ValueError: wrong length of ``size``; when called, a size above the image's.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> crops, label = v2.FiveCrop(8)(torch.zeros(3, 30, 40), "cat")
        >>> len(crops), crops[0].shape
        (5, torch.Size([3, 8, 8]))
    """

    _by_functional = True
    _v1_transform_cls = _v1.FiveCrop

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = setup_size(size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.five_crop, inpt, self.size)


class TenCrop(_Crops):
    """The crops of :class:`FiveCrop`, and the same five of the mirrored image.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        vertical_flip: mirror top to bottom instead of left to right.

    Raises:
        TypeError: when called, a sample with boxes or masks.
        ValueError: wrong length of ``size``; when called, a size above the image's.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> len(v2.TenCrop(8)(Image.new("RGB", (40, 30))))
        10
    """

    _by_functional = True
    _v1_transform_cls = _v1.TenCrop

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = setup_size(size)
        self.vertical_flip = vertical_flip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.ten_crop, inpt, self.size, vertical_flip=self.vertical_flip)


class Pad(Keeping):
    """The sample with a border: images, videos, masks, boxes and points.

    Args:
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom). Negative
            ones crop.
        fill: colour of a constant border: a number, one per channel, None for 0; or a dictionary of these by types of
            leaves, with "others" for all other types.
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.

    Raises:
        TypeError: wrong type of ``fill``.
        ValueError: wrong type or length of ``padding``, or unknown ``padding_mode``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.Pad((1, 2), padding_mode="edge")(Image.new("RGB", (40, 30))).size
        (42, 34)
    """

    _by_functional = True
    _v1_transform_cls = _v1.Pad

    def __init__(self, padding: int | Sequence[int], fill: _Fill = 0, padding_mode: _PaddingMode = "constant") -> None:
        super().__init__()
        _check_padding_arg(padding)
        check_padding_mode(padding_mode)
        self.padding = padding if isinstance(padding, int) else list(padding)
        self.fill = fill
        self._fill = _setup_fill_arg(fill)
        self.padding_mode = padding_mode

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        return _scalar_fill(self, super()._extract_params_for_v1_transform())

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        mode = self.padding_mode
        return self._call_kernel(F.pad, inpt, padding=self.padding, fill=fill_for(self, inpt), padding_mode=mode)

    def _packed(self) -> Packed:
        return "Pad", recipe.sides(self.padding), _recipe.filling(self), self.padding_mode


class RandomZoomOut(_RandomApplyTransform):
    """The sample at a random place of a larger canvas, with probability ``p``.

    Draws whether it happens, then the size of the canvas, then the left and the top border.

    Args:
        fill: colour of the canvas, as in :class:`Pad`.
        side_range: (low, high) of the canvas's sides, in sides of the image.

    Raises:
        TypeError: wrong type of ``fill`` or ``side_range``.
        ValueError: ``p`` is not between 0 and 1, or ``side_range`` not two numbers from 1 on in order.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomZoomOut(side_range=(2.0, 2.0), p=1.0)(Image.new("RGB", (40, 30))).size
        (80, 60)
    """

    def __init__(self, fill: _Fill = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5) -> None:
        super().__init__(p=p)
        self.fill = fill
        self._fill = _setup_fill_arg(fill)
        check_lengths(side_range, "side_range", (2,))
        self.side_range = side_range
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        low, high = self.side_range
        return {"padding": list(draws_of(flat_inputs).zoom_out(height, width, low, high))}

    def _packed(self) -> Packed:
        step = "ZoomOut", recipe.interval(self.side_range), _recipe.filling(self)
        return recipe.happening(recipe.chance(self.p), *step)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.pad, inpt, **params, fill=fill_for(self, inpt))


class RandomCrop(Keeping):
    """A box of the sample at a random place.

    Draws the top row, then the left column; neither for an axis that fits.

    Args:
        size: (height, width), or a number or sequence of one for a square.
        padding: border to add first, as in :class:`Pad`; None for none.
        pad_if_needed: pad a sample that is smaller than ``size``, by what is missing on both sides.
        fill: colour of the border, as in :class:`Pad`.
        padding_mode: as in :class:`Pad`.

    Raises:
        TypeError: wrong type of ``fill``.
        ValueError: wrong ``size``, ``padding`` or ``padding_mode``; when called, a sample smaller than ``size``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandomCrop(32, padding=4)(Image.new("RGB", (32, 32))).size
        (32, 32)
    """

    _v1_transform_cls = _v1.RandomCrop

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: _Fill = 0,
        padding_mode: _PaddingMode = "constant",
    ) -> None:
        super().__init__()
        self.size = setup_size(size)
        if pad_if_needed or padding is not None:
            if padding is not None:
                _check_padding_arg(padding)
            check_padding_mode(padding_mode)
        self.padding = F._crops._parse_pad_padding(padding) if padding else None
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self._fill = _setup_fill_arg(fill)
        self.padding_mode = padding_mode

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        params = _scalar_fill(self, super()._extract_params_for_v1_transform())
        if self.padding is not None:
            left, right, top, bottom = self.padding
            params["padding"] = [left, top, right, bottom]
        return params

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        left, right, top, bottom = self.padding or (0, 0, 0, 0)
        height += top + bottom
        width += left + right
        crop_height, crop_width = self.size
        if self.pad_if_needed:
            missing = max(crop_height - height, 0)
            top, bottom, height = top + missing, bottom + missing, height + 2 * missing
            missing = max(crop_width - width, 0)
            left, right, width = left + missing, right + missing, width + 2 * missing
        if height < crop_height or width < crop_width:
            raise ValueError(
                f"Required crop size {(crop_height, crop_width)} is larger than "
                f"{'padded ' if self.padding is not None else ''}input image size {(height, width)}."
            )
        draws = draws_of(flat_inputs)
        return {
            "needs_crop": height > crop_height or width > crop_width,
            "top": draws.randint(0, height - crop_height + 1) if height > crop_height else 0,
            "left": draws.randint(0, width - crop_width + 1) if width > crop_width else 0,
            "height": crop_height,
            "width": crop_width,
            "needs_pad": any((left, top, right, bottom)),
            "padding": [left, top, right, bottom],
        }

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if params["needs_pad"]:
            fill = fill_for(self, inpt)
            inpt = self._call_kernel(F.pad, inpt, padding=params["padding"], fill=fill, padding_mode=self.padding_mode)
        if params["needs_crop"]:
            inpt = self._call_kernel(
                F.crop, inpt, top=params["top"], left=params["left"], height=params["height"], width=params["width"]
            )
        return inpt

    def _packed(self) -> Packed:
        padding = None
        if self.padding is not None:
            left, right, top, bottom = self.padding
            padding = recipe.sides((left, top, right, bottom))
        size, pads = recipe.lengths(self.size), recipe.truth(self.pad_if_needed)
        return "RandomCropByAxis", *size, padding, pads, _recipe.filling(self), self.padding_mode


class RandomIoUCrop(Keeping):
    """A random box of the sample that overlaps enough with one of its boxes (https://arxiv.org/abs/1512.02325).

    Boxes with a centre outside become zeros, which :class:`SanitizeBoundingBoxes` removes. Draws the least overlap,
    then up to ``trials`` times a size, and a place if its proportions are allowed; again until a box has the overlap,
    or an option of at least 1 is drawn, which leaves the sample as it is.

    Args:
        min_scale, max_scale: least and greatest share of the sides.
        min_aspect_ratio, max_aspect_ratio: least and greatest width / height.
        sampler_options: least overlaps (intersection over union) to draw from; by default 0, .1, .3, .5, .7, .9, 1.
        trials: how often a box is drawn for one of them.

    Raises:
        TypeError: when called, a sample without boxes, or without an image.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[5.0, 5.0, 20.0, 20.0]], format="XYXY", canvas_size=(30, 40))
        >>> image, boxes = v2.RandomIoUCrop()(torch.zeros(3, 30, 40, dtype=torch.uint8), boxes)
        >>> image.shape[-2:] == boxes.canvas_size
        True
    """

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: list[float] | None = None,
        trials: int = 40,
    ) -> None:
        super().__init__()
        self.min_scale = min_scale
        self.max_scale = max_scale
        self.min_aspect_ratio = min_aspect_ratio
        self.max_aspect_ratio = max_aspect_ratio
        self.options = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] if sampler_options is None else sampler_options
        self.trials = trials

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raise a TypeError if there are no boxes in the sample, or no image."""
        boxes = tv_named("BoundingBoxes")
        images: tuple[Any, ...] = (PIL.Image.Image, *tv_named("Image"), is_pure_tensor)
        if not (boxes and has_all(flat_inputs, *boxes) and has_any(flat_inputs, *images)):
            raise TypeError(
                f"{type(self).__name__}() requires input sample to contain tensor or PIL images "
                "and bounding boxes. Sample can also contain masks."
            )

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        height, width = query_size(flat_inputs)
        boxes = get_bounding_boxes(flat_inputs)
        draft = boxes if isinstance(boxes, BoxesDraft) else BoxesDraft(boxes)
        scales, ratios = (self.min_scale, self.max_scale), (self.min_aspect_ratio, self.max_aspect_ratio)
        draws = draws_of(flat_inputs)
        drawn = draws.iou_crop(draft.for_draws(), height, width, scales, ratios, self.options, self.trials)
        if drawn is None:
            return {}
        *box, inside = drawn
        return {
            **dict(zip(("top", "left", "height", "width"), box)),
            "is_within_crop_area": torch.frombuffer(inside, dtype=torch.bool).reshape(boxes.shape[:-1]),
        }

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if not params:
            return inpt
        output: Any = self._call_kernel(
            F.crop, inpt, top=params["top"], left=params["left"], height=params["height"], width=params["width"]
        )
        kept = params["is_within_crop_area"]
        if isinstance(output, BoxesDraft):
            output.clear_but(kept)
        elif issubclass(type_of(output), tv_named("BoundingBoxes")):
            output[~kept] = 0
        return output

    def _packed(self) -> Packed:
        scales = recipe.interval((self.min_scale, self.max_scale))
        ratios = recipe.interval((self.min_aspect_ratio, self.max_aspect_ratio))
        options = tuple(float(recipe.number(option)) for option in recipe.several(self.options, recipe.number))
        return "RandomIoUCrop", scales, ratios, options, recipe.whole(self.trials)
