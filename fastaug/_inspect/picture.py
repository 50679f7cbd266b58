"""Images and samples of any container as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from fastaug._image.lazy import LazyImage
from fastaug._inspect.words import encoded
from fastaug._sample.sample import flatten
from fastaug._tv_tensors import formats
from fastaug._tv_tensors.choice import classes

#: Told apart by people with colour-blindness too, as far as ten colours can be.
COLOURS = (
    "#3b6fb6", "#d9822b", "#2f9e63", "#b5485d", "#7d5bb0", "#8a6d3b", "#cf6fa8", "#4fa3b8", "#98a23a", "#5d6a7a",
)  # fmt: skip
_EMPTY = "#d0d7de"

# Images, and what encoded images are in.
_ONE = (Image.Image, np.ndarray, torch.Tensor, str, bytes, bytearray, memoryview)

# Transforms that may follow the normalisation: they write over a part of the pixels, or over none.
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

# Pixels of an empty picture; of the longer side of a sample's picture, at least; and of lines and dots in that.
_SIDE, _LONGER_SIDE, _LINE, _DOT = 160, 640, 5, 9


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def listed(images: Any, samples: bool = False) -> list[Any]:
    """Return one image or several as a list; or samples, of which only a list is several.

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
    """Return (mean, std) of the Normalize that transforms end in, or that only _AFTER_NORMALIZE follow."""
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
    """Return an image of any container as a PIL image; of several images, such as FiveCrop's, the first."""
    while isinstance(image, (tuple, list)) and image:
        image = image[0]
    if isinstance(image, Image.Image):
        return image.convert("RGB")
    tensor = torch.empty(0)
    if isinstance(image, np.ndarray):
        tensor = torch.from_numpy(np.array(image))
        tensor = tensor.permute(2, 0, 1) if tensor.ndim == 3 else tensor
    elif isinstance(image, torch.Tensor):
        tensor = image.detach().cpu()
    while tensor.ndim > 3:
        tensor = tensor[0]
    if tensor.ndim < 2 or not tensor.numel():
        return Image.new("RGB", (_SIDE, _SIDE), _EMPTY)
    tensor = tensor[None] if tensor.ndim == 2 else tensor
    if tensor.dtype is not torch.uint8:
        tensor = torch.nan_to_num(tensor.to(torch.float32))
        if normalised is not None:
            mean, std = (torch.as_tensor(values, dtype=torch.float32).reshape(-1, 1, 1) for values in normalised)
            tensor = tensor * std + mean
        low, high = float(tensor.min()), float(tensor.max())
        if low < -0.02 or high > 1.02:
            tensor = (tensor - low) / max(high - low, 1e-12)
        tensor = (tensor.clamp(0, 1) * 255).round().to(torch.uint8)
    tensor = tensor[:1].expand(3, -1, -1) if len(tensor) in (1, 2) else tensor[:3]
    return Image.fromarray(np.ascontiguousarray(tensor.permute(1, 2, 0).numpy()))


def decoded(image: Any) -> Any:
    """Return a source as an image, also where it is encoded."""
    if encoded(image):
        image = LazyImage(image)
    return image.load() if isinstance(image, LazyImage) else image


# ---- samples


def sample_picture(sample: Any, normalised: tuple[Any, Any] | None = None) -> Image.Image:
    """Return the first image of a sample, or frame of a video, with everything else drawn on it.

    Boxes are lines, key points dots, and masks translucent, by objects or by labels above 0. An object has one colour.
    """
    leaves: list[Any] = []
    flatten(sample, leaves)
    masks = [leaf for leaf in leaves if isinstance(leaf, classes("Mask")) and leaf.ndim > 1 and leaf.numel()]
    marks = [leaf for leaf in leaves if isinstance(leaf, classes("BoundingBoxes", "KeyPoints"))]
    shown = _image_of(leaves, normalised)
    if shown is None:
        sizes = [mask.shape[-2:] for mask in masks] + [mark.canvas_size for mark in marks]
        shown = Image.new("RGB", (int(sizes[0][1]), int(sizes[0][0])), _EMPTY) if sizes else picture(None)
    if not masks and not marks:
        return shown
    scale = max(1.0, _LONGER_SIDE / max(shown.size))
    if scale > 1:
        size = [max(1, round(side * scale)) for side in shown.size]
        shown = shown.resize(size, Image.Resampling.NEAREST)
    for mask in masks:
        for number, layer in _layers(mask.detach().cpu().as_subclass(torch.Tensor)):
            # Half of the colour is mixed in.
            share = Image.fromarray(layer.astype(np.uint8) * 128).resize(shown.size, Image.Resampling.NEAREST)
            shown.paste(colour(number), mask=share)
    pen = ImageDraw.Draw(shown)
    for mark in marks:
        height, width = mark.canvas_size
        plain = mark.detach().cpu().as_subclass(torch.Tensor).to(torch.float64)
        fit = np.array([shown.width / max(1, width), shown.height / max(1, height)])
        box = hasattr(mark, "format")
        if box:
            objects = corners_of(plain, formats.format_name(mark.format)) * fit
        else:
            # Points of objects have the object's colour, others each their own.
            each = plain[0].numel() // 2 if plain.ndim > 2 and plain.numel() else 1
            objects = plain.reshape(-1, each, 2).numpy() * fit
        for number, points in enumerate(objects):
            if box and np.isfinite(points).all():
                pen.line([tuple(points[k % 4]) for k in range(6)], colour(number), _LINE, "curve")
            for x, y in () if box else points[np.isfinite(points).all(axis=1)]:
                pen.ellipse((x - _DOT, y - _DOT, x + _DOT, y + _DOT), colour(number), "white", 2)
    return shown


def _image_of(leaves: list[Any], normalised: Any) -> Image.Image | None:
    """Return the first image or video; a plain tensor only if there is no other."""
    others = classes("Mask", "BoundingBoxes", "KeyPoints")
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not isinstance(leaf, others)]
    found: list[Any] = [leaf for leaf in tensors if type(leaf) is not torch.Tensor]
    found += [leaf for leaf in leaves if isinstance(leaf, (Image.Image, LazyImage))]
    found += [leaf for leaf in tensors if type(leaf) is torch.Tensor and leaf.ndim > 1]
    found += [leaf for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.ndim > 1]
    if not found:
        return None
    return picture(found[0].load() if isinstance(found[0], LazyImage) else found[0], normalised)


def corners_of(boxes: torch.Tensor, name: str) -> NDArray[np.float64]:
    """Return the four corners [boxes, 4, 2] of boxes (..., numbers) in floating point, of the format of that name."""
    if name in formats.ROTATED:
        corners = formats.converted(boxes, name, "XYXYXYXY")
    else:
        corners = formats.converted(boxes, name, "XYXY")[..., [0, 1, 2, 1, 2, 3, 0, 3]]
    return np.asarray(corners.reshape(-1, 4, 2).numpy(), np.float64)


def _layers(mask: torch.Tensor) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return masks of objects with their numbers, or one mask of each label with the label's number."""
    while mask.ndim > 3:
        mask = mask[0]
    planes = mask.numpy()
    if planes.ndim == 3 and (len(planes) > 1 or planes.max() <= 1):
        return [(number, plane != 0) for number, plane in enumerate(planes)]
    labels = planes.reshape(planes.shape[-2:])
    return [(int(label) - 1, labels == label) for label in np.unique(labels) if label]
