"""Resizes of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from collections.abc import Sequence

from fastaug._draft.interpolation import InterpolationMode, named_interpolation
from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._kernels import _NEAREST, Tensor, _Interpolation, is_mask
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_masks, on_pillow, on_videos

__all__: list[str] = [
    "resize",
    "resize_image",
    "resize_mask",
    "resize_video",
    "resized_crop",
    "resized_crop_image",
    "resized_crop_mask",
    "resized_crop_video",
]


@functional(ImageDraft, VideoDraft, MaskDraft)
def resize(
    inpt: InputT,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> InputT:
    """The input in another size, as :class:`~fastaug.transforms.v2.Resize` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        size: (height, width); or the short side, as an int or a sequence of one; or None.
        interpolation: a mode, its name, or Pillow's integer. Tensors take nearest, nearest-exact, bilinear, bicubic
            and lanczos; masks nearest-exact, and nearest in the place of any other; boxes and points need none.
        max_size: the most that the long side may have, where `size` is the short one; its length, where `size` is None.
        antialias: whether the filter of a bilinear or bicubic resize is as wide as a pixel of the result. PIL images'
            always is.

    Returns:
        An object of the same type; ``inpt`` itself, if it is a tensor or a PIL image that has that size.

    Raises:
        TypeError: an object of another type.
        ValueError: no such mode; lanczos without antialias; a plane without an axis of channels; ``max_size`` where it
            has no meaning, or not above the short side.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resize(torch.zeros(3, 20, 40, dtype=torch.uint8), 10).shape
        torch.Size([3, 10, 20])
    """
    mode = named_interpolation(interpolation)
    if is_mask(inpt):
        mode, antialias = mode if mode is InterpolationMode.NEAREST_EXACT else _NEAREST, None
    return drafted(inpt).resize(size, mode, max_size, antialias)


resize_image = on_images(resize)
_resize_image_pil = on_pillow(resize)
_resize_mask = on_masks(resize)
resize_video = on_videos(resize)


def resize_mask(
    mask: Tensor,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> Tensor:
    """The kernel of :func:`resize` for masks, of shape (..., height, width)."""
    return _resize_mask(mask, size, interpolation, max_size)


@functional(ImageDraft, VideoDraft, MaskDraft)
def resized_crop(
    inpt: InputT,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    interpolation: _Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> InputT:
    """A box of the input in another size, as :class:`~fastaug.transforms.v2.RandomResizedCrop` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., channels, height, width)
            and any dtype, or a tv_tensor.
        top: of the box's first row.
        left: of its first column.
        height: of the box.
        width: of the box.
        size: as :func:`resize` takes it.
        interpolation: as :func:`resize` takes it; masks are always sampled by the nearest.
        antialias: as :func:`resize` takes it.

    Returns:
        An object of the same type.

    Raises:
        TypeError: an object of another type.
        ValueError: as of :func:`resize`.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.resized_crop(torch.tensor([[[1, 2, 3]]]), 0, 1, 1, 2, [1, 4], "nearest")
        tensor([[[2, 2, 3, 3]]])
    """
    if is_mask(inpt):
        interpolation, antialias = _NEAREST, None
    return drafted(inpt).resized_crop(top, left, height, width, size, named_interpolation(interpolation), antialias)


resized_crop_image = on_images(resized_crop)
_resized_crop_image_pil = on_pillow(resized_crop)
_resized_crop_mask = on_masks(resized_crop)
resized_crop_video = on_videos(resized_crop)


def resized_crop_mask(
    mask: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None
) -> Tensor:
    """The kernel of :func:`resized_crop` for masks, of shape (..., height, width)."""
    return _resized_crop_mask(mask, top, left, height, width, size)
