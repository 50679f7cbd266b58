"""Flips, crops and borders of images, videos and masks; those of boxes and points are in _geometry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
from torch import Tensor

from fastaug._draft.at_once import Ways, pillow_center_crop, pillow_pad
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import v2
from fastaug._image.lazy import LazyImage
from fastaug._image.types import InputT
from fastaug._names import export_functions
from fastaug._program import v2_arguments
from fastaug._program.arguments import two_sides
from fastaug._tv_tensors.choice import chosen
from fastaug.transforms._base import check_padding_mode
from fastaug.transforms.v2.functional._make import drafted, functional, on_masks, on_pixels
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

_Fill = int | float | Sequence[float] | None


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(pil_fallback.hflip, v2.hflip))
def horizontal_flip(inpt: InputT) -> InputT:
    """The input mirrored left to right, as :class:`~fastaug.transforms.v2.RandomHorizontalFlip` does it.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., height, width), or tv_tensor.

    Raises:
        TypeError: another type of input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.horizontal_flip(torch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """
    return drafted(inpt).hflip()


horizontal_flip_image, horizontal_flip_video = on_pixels(horizontal_flip)
horizontal_flip_mask = on_masks(horizontal_flip, as_images=True)
hflip = horizontal_flip


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(pil_fallback.vflip, v2.vflip, pixels=math.inf))
def vertical_flip(inpt: InputT) -> InputT:
    """The input mirrored top to bottom, as :class:`~fastaug.transforms.v2.RandomVerticalFlip` does it.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., height, width), or tv_tensor.

    Raises:
        TypeError: another type of input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.vertical_flip(torch.tensor([[[1], [2]]]))
        tensor([[[2],
                 [1]]])
    """
    return drafted(inpt).vflip()


vertical_flip_image, vertical_flip_video = on_pixels(vertical_flip)
vertical_flip_mask = on_masks(vertical_flip, as_images=True)
vflip = vertical_flip


def _pad(image: Tensor, padding: int | Sequence[int], fill: _Fill, padding_mode: str) -> Any:
    plain = type(padding_mode) is str and padding_mode == "constant"
    if not plain or not (fill is None or type(fill) is int or type(fill) is float):
        return NotImplemented
    return v2.pad(image, v2_arguments.padding_sides(padding), fill or 0, padding_mode)


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(pillow_pad, _pad, pixels=math.inf))
def pad(inpt: InputT, padding: int | Sequence[int], fill: _Fill = None, padding_mode: str = "constant") -> InputT:
    """The input with a border around it, as :class:`~fastaug.transforms.v2.Pad` does it.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        padding: pixels on all sides, (left and right, top and bottom), or (left, top, right, bottom). Negative: crop.
        fill: of a constant border: a number, or one per channel (not for masks). None is 0.
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.
            Boxes and points take only the first.

    Raises:
        TypeError: another type of input or ``padding``.
        ValueError: wrong length of ``padding``, unknown mode, or several fills of a mask or of another border.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.pad(torch.tensor([[[1, 2]]]), [1, 0], fill=7)
        tensor([[[7, 1, 2, 7]]])
    """
    draft: Any = inpt
    if isinstance(draft, MaskDraft):
        if isinstance(fill, (tuple, list)):
            raise ValueError(f"Non-scalar fill value is not supported, got {fill!r}")
        fill = draft.fill_of(fill, False)
    if draft.mode is None:
        padding = v2_arguments.padding_sides(padding)
        check_padding_mode(padding_mode)
    return drafted(inpt).pad(padding, fill, padding_mode)


def _parse_pad_padding(padding: Any) -> list[int]:
    """Return [left, right, top, bottom], as RandomCrop keeps them."""
    left, top, right, bottom = v2_arguments.padding_sides(padding)
    return [left, right, top, bottom]


pad_image, pad_video = on_pixels(pad, "img")
pad_mask = on_masks(pad)


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(pil_fallback.crop, v2.crop, pixels=math.inf))
def crop(inpt: InputT, top: int, left: int, height: int, width: int) -> InputT:
    """A box of the input, with zeros where it reaches beyond, as :class:`~fastaug.transforms.v2.RandomCrop` does it.

    A box inside a tensor is a view of it.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        top, left: first row and column.
        height, width: rows and columns.

    Raises:
        TypeError: another type of input.
        ValueError: a box that reaches out of a plane without an axis of channels.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.crop(torch.tensor([[[1, 2, 3]]]), top=0, left=1, height=1, width=2)
        tensor([[[2, 3]]])
    """
    return drafted(inpt).crop(top, left, height, width)


crop_image, crop_video = on_pixels(crop, "img")
crop_mask = on_masks(crop)


def _center_crop(image: Tensor, output_size: int | Sequence[int]) -> Tensor:
    return v2.center_crop(image, *two_sides(output_size))


@functional(ImageDraft, VideoDraft, MaskDraft, at_once=Ways(pillow_center_crop, _center_crop, pixels=math.inf))
def center_crop(inpt: InputT, output_size: int | Sequence[int]) -> InputT:
    """The middle of the input, as :class:`~fastaug.transforms.v2.CenterCrop` does it; of a tensor a view, if it fits.

    Args:
        inpt: PIL image, tensor of any dtype and shape (..., height, width), or tv_tensor.
        output_size: (height, width), or a number or sequence of one for a square. A smaller input gets zeros around it.

    Raises:
        TypeError: another type of input.
        ValueError: an ``output_size`` of another length.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.center_crop(torch.tensor([[[1, 2, 3]]]), 1)
        tensor([[[2]]])
    """
    return drafted(inpt).center_crop(two_sides(output_size))


center_crop_image, center_crop_video = on_pixels(center_crop)
center_crop_mask = on_masks(center_crop)


def five_crop(inpt: InputT, size: int | Sequence[int]) -> tuple[InputT, ...]:
    """The corners of the input and its middle, as :class:`~fastaug.transforms.v2.FiveCrop` does it; of a tensor, views.

    Their order is top left, top right, bottom left, bottom right, middle.

    Args:
        inpt: image or video: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        size: (height, width), or a number or sequence of one for a square.

    Raises:
        TypeError: another type of input.
        ValueError: a size of another length, or larger than the input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> [crop.item() for crop in F.five_crop(torch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4]
    """
    return _get_kernel(five_crop, type(inpt))(inpt, size=size)


@registered(five_crop, Tensor, PIL.Image.Image)
def five_crop_image(image: Tensor, size: int | Sequence[int]) -> tuple[Tensor, ...]:
    pair = rows, columns = two_sides(size)
    given: Any = image
    if isinstance(given, Tensor) and given.ndim < 2:
        raise ValueError(f"A tensor should have the shape (..., height, width), got {tuple(image.shape)}")
    height, width = given.shape[-2:] if isinstance(given, Tensor) else (given.height, given.width)
    if columns > width or rows > height:
        raise ValueError(f"Requested crop size {pair} is bigger than input size {(height, width)}")
    corners = [(top, left) for top in (0, height - rows) for left in (0, width - columns)]
    corners.append(v2_arguments.central_corner(rows, columns, (height, width)))
    if isinstance(given, Tensor):
        return tuple([image[..., top : top + rows, left : left + columns] for top, left in corners])
    if isinstance(given, LazyImage):
        return tuple([crop_image(image, top, left, rows, columns) for top, left in corners])
    return tuple([given.crop((left, top, left + columns, top + rows)) for top, left in corners])


def five_crop_video(video: Tensor, size: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The kernel of :func:`five_crop` for videos, of shape (..., frames, channels, height, width)."""
    return five_crop_image(video, size)


def _each_wrapped(kernel: Callable[..., tuple[Tensor, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Make the kernel for tv_tensors of one for tensors."""

    def wrapper(inpt: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        wrap = chosen().wrap
        return tuple([wrap(crop, like=inpt) for crop in kernel(inpt.as_subclass(Tensor), *args, **kwargs)])

    return wrapper


registered(five_crop, "Image", "Video", wrapped=False)(_each_wrapped(five_crop_image))


def ten_crop(inpt: InputT, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[InputT, ...]:
    """The crops of :func:`five_crop`, and those of the mirrored input, as :class:`~fastaug.transforms.v2.TenCrop`.

    Args:
        inpt: image or video: PIL image, tensor of any dtype and shape (..., channels, height, width), or tv_tensor.
        size: (height, width), or a number or sequence of one for a square.
        vertical_flip: mirror top to bottom instead of left to right.

    Raises:
        TypeError: another type of input.
        ValueError: a size of another length, or larger than the input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> [crop.item() for crop in F.ten_crop(torch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4, 2, 0, 8, 6, 4]
    """
    return _get_kernel(ten_crop, type(inpt))(inpt, size=size, vertical_flip=vertical_flip)


@registered(ten_crop, Tensor, PIL.Image.Image)
def ten_crop_image(image: Tensor, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Tensor, ...]:
    crops = five_crop_image(image, size)
    mirrored = vertical_flip_image(image) if vertical_flip else horizontal_flip_image(image)
    return crops + five_crop_image(mirrored, size)


def ten_crop_video(video: Tensor, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Tensor, ...]:
    """The kernel of :func:`ten_crop` for videos, of shape (..., frames, channels, height, width)."""
    return ten_crop_image(video, size, vertical_flip)


registered(ten_crop, "Image", "Video", wrapped=False)(_each_wrapped(ten_crop_image))
_five_crop_image_pil, _ten_crop_image_pil = five_crop_image, ten_crop_image

export_functions(globals())
