"""Flips of images, videos and masks; boxes and points: _geometry."""

from __future__ import annotations

from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._make import drafted, functional, on_images, on_masks, on_pillow, on_videos

__all__: list[str] = [
    "hflip",
    "horizontal_flip",
    "horizontal_flip_image",
    "horizontal_flip_mask",
    "horizontal_flip_video",
    "vertical_flip",
    "vertical_flip_image",
    "vertical_flip_mask",
    "vertical_flip_video",
    "vflip",
]


@functional(ImageDraft, VideoDraft, MaskDraft)
def horizontal_flip(inpt: InputT) -> InputT:
    """The input mirrored left to right, as :class:`~fastaug.transforms.v2.RandomHorizontalFlip` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., height, width) and any
            dtype, or a tv_tensor.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.horizontal_flip(torch.tensor([[[1, 2, 3]]]))
        tensor([[[3, 2, 1]]])
    """
    return drafted(inpt).hflip()


horizontal_flip_image = on_images(horizontal_flip)
_horizontal_flip_image_pil = on_pillow(horizontal_flip)
horizontal_flip_mask = on_masks(horizontal_flip, as_images=True)
horizontal_flip_video = on_videos(horizontal_flip)


@functional(ImageDraft, VideoDraft, MaskDraft)
def vertical_flip(inpt: InputT) -> InputT:
    """The input mirrored top to bottom, as :class:`~fastaug.transforms.v2.RandomVerticalFlip` does it.

    Args:
        inpt: an image, a video, a mask, boxes or points: a PIL image, a tensor of shape (..., height, width) and any
            dtype, or a tv_tensor.

    Returns:
        A new object of the same type.

    Raises:
        TypeError: an object of another type.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.vertical_flip(torch.tensor([[[1], [2]]]))
        tensor([[[2],
                 [1]]])
    """
    return drafted(inpt).vflip()


vertical_flip_image = on_images(vertical_flip)
_vertical_flip_image_pil = on_pillow(vertical_flip)
vertical_flip_mask = on_masks(vertical_flip, as_images=True)
vertical_flip_video = on_videos(vertical_flip)


hflip = horizontal_flip
vflip = vertical_flip
