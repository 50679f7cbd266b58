"""Functions that torchvision has deprecated."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from fastaug._draft.draft import Draft
from fastaug.transforms.v2.functional._utils import converted

__all__: list[str] = ["get_image_size", "to_tensor"]


def to_tensor(inpt: Any) -> torch.Tensor:
    """A PIL image or HWC array as a CHW float tensor; uint8 samples become x / 255. Deprecated, and warns of that.

    Args:
        inpt: PIL image, or ndarray of shape (height, width) or (height, width, channels).

    Raises:
        TypeError: neither a PIL image nor an ndarray.
        ValueError: an array that is not 2 or 3 dimensional.

    Example:
        >>> import warnings
        >>> import numpy as np
        >>> from fastaug.transforms.v2 import functional as F
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     F.to_tensor(np.full((1, 2), 51, np.uint8))
        tensor([[[0.2000, 0.2000]]])
    """
    warnings.warn(
        "The function `to_tensor(...)` is deprecated and will be removed in a future release. "
        "Instead, please use `to_image(...)` followed by `to_dtype(..., dtype=torch.float32, scale=True)`.",
        stacklevel=2,
    )
    tensor: torch.Tensor = converted(inpt, lambda draft: draft.to_float())
    return tensor


def get_image_size(inpt: Any) -> list[int]:
    """[width, height] of an image. Deprecated, and warns of that: :func:`get_size` gives [height, width].

    Args:
        inpt: tensor or PIL image.

    Raises:
        TypeError: not an image.

    Example:
        >>> import warnings
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     F.get_image_size(torch.zeros(3, 5, 7))
        [7, 5]
    """
    warnings.warn(
        "The function `get_image_size(...)` is deprecated and will be removed in a future release. "
        "Instead, please use `get_size(...)` which returns `[h, w]` instead of `[w, h]`.",
        stacklevel=2,
    )
    _, height, width = Draft(inpt).dimensions()
    return [width, height]
