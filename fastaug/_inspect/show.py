"""show(): what a pipeline makes of images, on one sheet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug._draft.generators import generator_of, seed_all, untouched
from fastaug._image.lazy import LazyImage
from fastaug._inspect.canvas import GREY, INK, Canvas
from fastaug._inspect.words import encoded

# Images, and what encoded images are in.
_ONE = (Image.Image, np.ndarray, torch.Tensor, str, bytes, bytearray, memoryview)

_SIDE, _GAP, _LABEL, _MARGIN = 160, 8, 20, 16


def listed(images: Any) -> list[Any]:
    """One image or several, as a list.

    Raises:
        ValueError: there are none.
    """
    one = isinstance(images, _ONE) or not hasattr(images, "__iter__")
    found = [images] if one else list(images)
    if not found:
        raise ValueError("images should hold at least one image")
    return found


def normalisation(transforms: Any) -> tuple[Any, Any] | None:
    """(mean, std) of the Normalize that some transforms end in, if they do; boxes may be erased after it."""
    for transform in reversed(list(transforms) if hasattr(transforms, "__iter__") else []):
        name = type(transform).__name__
        if name == "Normalize":
            return transform.mean, transform.std
        if name in ("Compose", "Sequential"):
            return normalisation(getattr(transform, "transforms", transform))
        if name != "RandomErasing":
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


def show(pipeline: Any, images: Any, n: int = 16, seed: int | None = None) -> Image.Image:
    """A sheet of ``n`` results beside the image or images that they are of.

    Tensors are shown without their normalisation if Normalize is the last step, else spread over the range if they
    exceed it. The random generators are afterwards as they were before.

    Args:
        pipeline: of this package.
        images: an image, or several, which take turns.
        n: number of results.
        seed: of the first draw; by default the draws are those of the next calls.

    Raises:
        ValueError: no images, or ``n`` below 1.
    """
    if n < 1:
        raise ValueError(f"n should be at least 1, got {n}")
    originals = listed(images)[:n]
    undo = normalisation(pipeline.transforms)
    generator = generator_of(pipeline)
    with untouched(generator):
        if seed is not None:
            seed_all(seed, generator)
        results = [picture(pipeline(originals[k % len(originals)]), undo) for k in range(n)]
    # A row for each image, or, of one image, as square a sheet as there is.
    rows: list[list[Image.Image]]
    if len(originals) == 1:
        columns = min(range(1, n + 1), key=lambda columns: _ugliness(n, columns))
        rows = [results[k : k + columns] for k in range(0, n, columns)]
        sources = [originals[0]] + [None] * (len(rows) - 1)
    else:
        rows = [results[k :: len(originals)] for k in range(len(originals))]
        sources = originals
    return _sheet(sources, rows)


def _decoded(image: Any) -> Any:
    """A source as an image, also where it is encoded."""
    if encoded(image):
        image = LazyImage(image)
    return image.load() if isinstance(image, LazyImage) else image


def _ugliness(count: int, columns: int) -> float:
    """Of a sheet: empty cells, and proportions far from a screen's."""
    rows = math.ceil(count / columns)
    return (rows * columns - count) / count + 0.2 * abs(columns / rows - 1.6)


def _sheet(sources: list[Any], rows: list[list[Image.Image]]) -> Image.Image:
    columns = max(map(len, rows))
    step = _SIDE + _GAP
    first = _MARGIN + step + _GAP
    canvas = Canvas(first + columns * step - _GAP + _MARGIN, _MARGIN + _LABEL + len(rows) * step - _GAP + _MARGIN)
    canvas.text(_MARGIN, _MARGIN + 6, "original" if sources[-1] is None else "originals", 12, GREY)
    count = sum(map(len, rows))
    canvas.text(first, _MARGIN + 6, f"{count} draws" if count > 1 else "1 draw", 12, INK)
    for number, (source, results) in enumerate(zip(sources, rows)):
        top = _MARGIN + _LABEL + number * step
        if source is not None:
            canvas.picture(_MARGIN, top, picture(_decoded(source)), _SIDE)
        for column, result in enumerate(results):
            canvas.picture(first + column * step, top, result, _SIDE)
    return canvas.finished()
