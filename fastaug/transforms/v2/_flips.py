"""Flips."""

from __future__ import annotations

from typing import Any

from fastaug import transforms as _v1
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import _RandomApplyTransform

__all__ = ["RandomHorizontalFlip", "RandomVerticalFlip"]


class RandomHorizontalFlip(_RandomApplyTransform):
    """The sample mirrored left to right with probability ``p``: images, videos, masks, boxes and points.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomHorizontalFlip(p=1.0)(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """

    _by_functional = True
    _v1_transform_cls = _v1.RandomHorizontalFlip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.horizontal_flip, inpt)


class RandomVerticalFlip(_RandomApplyTransform):
    """The sample mirrored top to bottom with probability ``p``: images, videos, masks, boxes and points.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.RandomVerticalFlip(p=1.0)(torch.tensor([[[1], [2]]], dtype=torch.uint8)).flatten()
        tensor([2, 1], dtype=torch.uint8)
    """

    _by_functional = True
    _v1_transform_cls = _v1.RandomVerticalFlip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.vertical_flip, inpt)
