"""Erased boxes, JPEG."""

from __future__ import annotations

from typing import Any

import torch

from fastaug._draft.at_once import Ways
from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image.types import InputT
from fastaug._names import export_functions
from fastaug.transforms.v2.functional._make import drafted, functional, on_pixels


@functional(ImageDraft, VideoDraft, at_once=Ways(torch=tensor_fallback.erase))
def erase(inpt: InputT, i: int, j: int, h: int, w: int, v: torch.Tensor, inplace: bool = False) -> InputT:
    """The input with a box overwritten, as :class:`~fastaug.transforms.v2.RandomErasing` does it.

    Args:
        inpt: image or video of any dtype and number of channels, or a PIL image.
        i, j: first row and column.
        h, w: rows and columns.
        v: what is written, of a shape that broadcasts to that of the box.
        inplace: write into the tensor that is given.

    Raises:
        RuntimeError: ``v`` does not broadcast.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.erase(torch.ones(1, 1, 4), i=0, j=1, h=1, w=2, v=torch.zeros(1, 1, 1))
        tensor([[[1., 0., 0., 1.]]])
    """
    return drafted(inpt).erase_box(i, j, h, w, v, inplace)


erase_image, erase_video = on_pixels(erase)


@functional(ImageDraft, VideoDraft, at_once=Ways(core="jpeg", few=0))
def jpeg(image: Any, quality: int) -> Any:
    """The input compressed as a JPEG file and decoded again, as :class:`~fastaug.transforms.v2.JPEG` does it.

    Args:
        image: uint8 image or video of 1 or 3 channels, or a PIL image of a mode that JPEG files have.
        quality: of the file, 1 to 100; libjpeg's number.

    Raises:
        ValueError: quality is not from 1 to 100.
        RuntimeError: another dtype or number of channels.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.jpeg(torch.full((1, 1, 2), 100, dtype=torch.uint8), quality=90)
        tensor([[[100, 100]]], dtype=torch.uint8)
    """
    return drafted(image).jpeg(quality)


jpeg_image, jpeg_video = on_pixels(jpeg)

export_functions(globals())
