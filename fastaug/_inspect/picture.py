"""Images of any container as pictures that can be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug._image.lazy import LazyImage
from fastaug._inspect.words import encoded

# Images, and what encoded images are in.
_ONE = (Image.Image, np.ndarray, torch.Tensor, str, bytes, bytearray, memoryview)

# What may come after the normalisation: it writes over a part of the pixels, or over none.
_AFTER_NORMALIZE = (
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ConvertBoundingBoxFormat",
    "Identity",
    "RandomErasing",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "SetClampingMode",
    "ToPureTensor",
)

_SIDE = 160


def listed(images: Any, samples: bool = False) -> list[Any]:
    """One image or several, as a list; or samples, of which only a list is several.

    Raises:
        ValueError: there are none.
    """
    if samples:
        if isinstance(images, list) and not images:
            raise ValueError("samples should hold at least one sample: a list is several")
        return images if isinstance(images, list) else [images]
    one = isinstance(images, _ONE) or not hasattr(images, "__iter__")
    found = [images] if one else list(images)
    if not found:
        raise ValueError("images should hold at least one image")
    return found


def normalisation(transforms: Any) -> tuple[Any, Any] | None:
    """(mean, std) of the Normalize that some transforms end in, if they do, or what leaves pixels as they are."""
    for transform in reversed(list(transforms) if hasattr(transforms, "__iter__") else []):
        name = type(transform).__name__
        if name == "Normalize":
            return transform.mean, transform.std
        if name in ("Compose", "Sequential"):
            return normalisation(getattr(transform, "transforms", transform))
        if name not in _AFTER_NORMALIZE:
            break
    return None


def picture(image: Any, normalised: tuple[Any, Any] | None = None) -> Image.Image:
    """An image of any container as one that can be looked at; of several images, such as FiveCrop's, the first."""
    while isinstance(image, (tuple, list)) and image:
        image = image[0]
    if isinstance(image, Image.Image):
        return image.convert("RGB")
    if isinstance(image, np.ndarray):
        tensor = torch.from_numpy(np.array(image))
        tensor = tensor.permute(2, 0, 1) if tensor.ndim == 3 else tensor
    elif isinstance(image, torch.Tensor):
        tensor = image.detach().cpu()
    else:
        return Image.new("RGB", (_SIDE, _SIDE), "#d0d7de")
    while tensor.ndim > 3:
        tensor = tensor[0]
    if tensor.ndim == 2:
        tensor = tensor[None]
    if tensor.ndim < 2 or not tensor.numel():
        return Image.new("RGB", (_SIDE, _SIDE), "#d0d7de")
    if tensor.dtype is not torch.uint8:
        tensor = torch.nan_to_num(tensor.to(torch.float32))
        if normalised is not None:
            mean, std = (torch.as_tensor(values, dtype=torch.float32).reshape(-1, 1, 1) for values in normalised)
            tensor = tensor * std + mean
        low, high = float(tensor.min()), float(tensor.max())
        if low < -0.02 or high > 1.02:
            tensor = (tensor - low) / max(high - low, 1e-12)
        tensor = (tensor.clamp(0, 1) * 255).round().to(torch.uint8)
    channels = tensor.shape[0]
    tensor = tensor[:1].expand(3, -1, -1) if channels in (1, 2) else tensor[:3]
    return Image.fromarray(np.ascontiguousarray(tensor.permute(1, 2, 0).numpy()))


def decoded(image: Any) -> Any:
    """A source as an image, also where it is encoded."""
    if encoded(image):
        image = LazyImage(image)
    return image.load() if isinstance(image, LazyImage) else image
