"""``torchvision.tv_tensors``: classes of tensors for images, videos, masks, boxes and points.

If torchvision is installed, these are its own classes, and the first use imports it. Otherwise they are classes of the
same behaviour.

Example:
    >>> import torch
    >>> from fastaug import tv_tensors
    >>> image = tv_tensors.Image(torch.zeros(3, 60, 80))
    >>> type(image.clone()).__name__, type(image + 1).__name__
    ('Image', 'Tensor')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastaug._tv_tensors.choice import chosen

if TYPE_CHECKING:
    from fastaug._tv_tensors.own import (
        BoundingBoxes,
        BoundingBoxFormat,
        Image,
        KeyPoints,
        Mask,
        TVTensor,
        Video,
        is_rotated_bounding_format,
        set_return_type,
        wrap,
    )

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "Image",
    "KeyPoints",
    "Mask",
    "TVTensor",
    "Video",
    "is_rotated_bounding_format",
    "set_return_type",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fastaug.tv_tensors' has no attribute {name!r}")
    module = chosen()
    # All at once, so that this runs only once, and annotations that name one another resolve.
    globals().update({one: value for one, value in vars(module).items() if one in __all__})
    if name not in globals():
        raise AttributeError(f"the torchvision that is installed has no {module.__name__}.{name}: it is too old")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
