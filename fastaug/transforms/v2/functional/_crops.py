"""Crops and borders of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug._program import v2_arguments
from fastaug._program.arguments import square_if_single
from fastaug._tv_tensors.choice import chosen
from fastaug.transforms.v2.functional._flips import (
    _horizontal_flip_image_pil,
    _vertical_flip_image_pil,
    horizontal_flip_image,
    vertical_flip_image,
)
from fastaug.transforms.v2.functional._kernels import Tensor, _Fill
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_masks, on_pillow, on_videos
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

__all__: list[str] = [
    "center_crop",
    "center_crop_image",
    "center_crop_mask",
    "center_crop_video",
    "crop",
    "crop_image",
    "crop_mask",
    "crop_video",
    "five_crop",
    "five_crop_image",
    "five_crop_video",
    "pad",
    "pad_image",
    "pad_mask",
    "pad_video",
    "ten_crop",
    "ten_crop_image",
    "ten_crop_video",
]


@functional(ImageDraft, VideoDraft, MaskDraft)
def pad(inpt: InputT, padding: int | Sequence[int], fill: _Fill = None, padding_mode: str = "constant") -> InputT:
    """The input with a border around it, as :class:`~fastaug.transforms.v2.Pad` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        padding: by how much on each side; left and right, top and bottom; or left, top, right and bottom. Negative
            numbers cut off.
        fill: of a constant border: a number, or one for each channel; a number for masks. None is zero.
        padding_mode: ``constant``, ``edge`` (the outermost pixels again), ``reflect`` (without them) or ``symmetric``
            (with them). Boxes and points take only the first.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type, or a padding of another type.
        ValueError: a padding of a wrong length, no such mode, a fill for each channel of a border that is not constant,
            or of a mask.

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
        v2_arguments.check_padding_mode(padding_mode)
    return drafted(inpt).pad(padding, fill, padding_mode)


def _parse_pad_padding(padding: Any) -> list[int]:
    """[left, right, top, bottom], as RandomCrop keeps them."""
    left, top, right, bottom = v2_arguments.padding_sides(padding)
    return [left, right, top, bottom]


pad_image = on_images(pad)
_pad_image_pil = on_pillow(pad, "img", fill=0)
pad_mask = on_masks(pad)
pad_video = on_videos(pad)


@functional(ImageDraft, VideoDraft, MaskDraft)
def crop(inpt: InputT, top: int, left: int, height: int, width: int) -> InputT:
    """A box of the input, with zeros where it reaches beyond, as :class:`~fastaug.transforms.v2.RandomCrop` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        top: of the box's first row.
        left: of its first column.
        height: of the box.
        width: of the box.

    Returns:
        An object of the same type; of a tensor a view, where the box lies inside.

    Raises:
        TypeError: an object of another type.
        ValueError: a box that reaches out of a plane without an axis of channels.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.crop(torch.tensor([[[1, 2, 3]]]), top=0, left=1, height=1, width=2)
        tensor([[[2, 3]]])
    """
    return drafted(inpt).crop(top, left, height, width)


crop_image = on_images(crop)
_crop_image_pil = on_pillow(crop, "img")
crop_mask = on_masks(crop)
crop_video = on_videos(crop)


@functional(ImageDraft, VideoDraft, MaskDraft)
def center_crop(inpt: InputT, output_size: int | Sequence[int]) -> InputT:
    """The middle of the input, as :class:`~fastaug.transforms.v2.CenterCrop` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., height, width) and any
            dtype, or a tv_tensor.
        output_size: (height, width); or the side of a square, as a number or a sequence of one. Where the input is
            smaller, there are zeros around it.

    Returns:
        An object of the same type; of a tensor a view, where it is large enough.

    Raises:
        TypeError: an object of another type.
        ValueError: an ``output_size`` of another length.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.center_crop(torch.tensor([[[1, 2, 3]]]), 1)
        tensor([[[2]]])
    """
    size = square_if_single(output_size)
    if len(size) != 2:
        raise ValueError(f"output_size should be a number or a sequence of one or two, got {output_size!r}")
    return drafted(inpt).center_crop(size)


center_crop_image = on_images(center_crop)
_center_crop_image_pil = on_pillow(center_crop)
center_crop_mask = on_masks(center_crop)
center_crop_video = on_videos(center_crop)


def five_crop(inpt: InputT, size: int | Sequence[int]) -> tuple[InputT, ...]:
    """The corners of the input and its middle, as :class:`~fastaug.transforms.v2.FiveCrop` does it.

    Args:
        inpt: an image or a video: a PIL image, a tensor of shape (..., channels, height, width) and any dtype, or a
            tv_tensor.
        size: (height, width); or the side of a square, as a number or a sequence of one.

    Returns:
        Top left, top right, bottom left, bottom right and middle; of a tensor they are views.

    Raises:
        TypeError: an object of another type.
        ValueError: a size of another length, or larger than the input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> [crop.item() for crop in F.five_crop(torch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4]
    """
    return _get_kernel(five_crop, type(inpt))(inpt, size=size)


def _five(image: Any, size: int | Sequence[int], height: int, width: int) -> tuple[Any, ...]:
    """Of a tensor or PIL image of that size."""
    pair = square_if_single(size)
    if len(pair) != 2:
        raise ValueError(f"Please provide only two dimensions (h, w) for size, got {size!r}")
    rows, columns = pair
    if columns > width or rows > height:
        raise ValueError(f"Requested crop size {pair} is bigger than input size {(height, width)}")
    corners = [(top, left) for top in (0, height - rows) for left in (0, width - columns)]
    return (*[crop_image(image, *corner, rows, columns) for corner in corners], center_crop_image(image, pair))


@registered(five_crop, torch.Tensor)
def five_crop_image(image: Tensor, size: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The kernel of :func:`five_crop` for images, of shape (..., channels, height, width)."""
    if image.ndim < 2:
        raise ValueError(f"A tensor should have the shape (..., height, width), got {tuple(image.shape)}")
    return _five(image, size, *image.shape[-2:])


@registered(five_crop, PIL.Image.Image)
def _five_crop_image_pil(image: PIL.Image.Image, size: int | Sequence[int]) -> tuple[PIL.Image.Image, ...]:
    return _five(image, size, image.height, image.width)


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
        inpt: an image or a video: a PIL image, a tensor of shape (..., channels, height, width) and any dtype, or a
            tv_tensor.
        size: (height, width); or the side of a square, as a number or a sequence of one.
        vertical_flip: whether it is mirrored top to bottom, not left to right.

    Returns:
        Ten of them, in the order of :func:`five_crop`.

    Raises:
        TypeError: an object of another type.
        ValueError: a size of another length, or larger than the input.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> [crop.item() for crop in F.ten_crop(torch.arange(9).reshape(1, 3, 3), 1)]
        [0, 2, 6, 8, 4, 2, 0, 8, 6, 4]
    """
    return _get_kernel(ten_crop, type(inpt))(inpt, size=size, vertical_flip=vertical_flip)


@registered(ten_crop, torch.Tensor)
def ten_crop_image(image: Tensor, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Tensor, ...]:
    """The kernel of :func:`ten_crop` for images, of shape (..., channels, height, width)."""
    crops = five_crop_image(image, size)
    mirrored = vertical_flip_image(image) if vertical_flip else horizontal_flip_image(image)
    return crops + five_crop_image(mirrored, size)


@registered(ten_crop, PIL.Image.Image)
def _ten_crop_image_pil(
    image: PIL.Image.Image, size: int | Sequence[int], vertical_flip: bool = False
) -> tuple[PIL.Image.Image, ...]:
    crops = _five_crop_image_pil(image, size)
    mirrored = _vertical_flip_image_pil(image) if vertical_flip else _horizontal_flip_image_pil(image)
    return crops + _five_crop_image_pil(mirrored, size)


def ten_crop_video(video: Tensor, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Tensor, ...]:
    """The kernel of :func:`ten_crop` for videos, of shape (..., frames, channels, height, width)."""
    return ten_crop_image(video, size, vertical_flip)


registered(ten_crop, "Image", "Video", wrapped=False)(_each_wrapped(ten_crop_image))
