"""Recipes of pipelines of v2, for samples of one image, with boxes, points and what stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import PIL.Image
import torch
from torch.utils._pytree import SUPPORTED_NODES

from fastaug._draft import recipe
from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._draft.replaced import sample_functions
from fastaug._image.lazy import LazyImage
from fastaug._program import resizing
from fastaug._program.arguments import v2_half_kernel
from fastaug._tv_tensors.choice import loaded
from fastaug._tv_tensors.formats import PLAIN
from fastaug.transforms.v2._transform import reads_drafts, run, take_all


def packed(transform: Any) -> Packed:
    """Return the recipe's step of a transform.

    Raises:
        NoRecipe: a foreign class, an unsupported argument, or a hook.
    """
    pack = type(transform).__dict__.get("_packed")
    if pack is None or not reads_drafts(transform):
        raise NoRecipe
    return recipe.agreed(pack(transform))


def happening(transforms: Any, p: Any) -> Packed:
    """Return the step of several transforms that happen if a draw is below `p`: at most the number before it."""
    limit = torch.tensor(recipe.chance(p), dtype=torch.float32)
    return recipe.group(transforms, torch.nextafter(limit, torch.tensor(-torch.inf)).item(), packed)


def as_mode(interpolation: Any) -> Any:
    """Return the interpolation mode of a name, or another value itself."""
    return InterpolationMode(interpolation) if type(interpolation) is str else interpolation


def resampling(interpolation: Any, antialias: Any) -> tuple[int, int, bool, bool, bool]:
    number, flags, exact, smooth, warns = recipe.resampling(as_mode(interpolation), antialias)
    return number, flags, exact, smooth and (number != 2 or resizing.in_bytes()), warns


def filling(transform: Any) -> tuple[bytes | None, bytes | None, bool]:
    """Return the fill that a transform was made with. As in torchvision, a later `fill` changes nothing."""
    fill = transform._fill
    if fill is transform.fill or fill.keys() != {"others"}:
        raise NoRecipe  # a user's dictionary
    return recipe.filling(fill["others"])


def logarithms(bounds: torch.Tensor) -> tuple[float, float]:
    """Return the logarithms of proportions that a transform keeps."""
    if bounds.shape != (2,) or bounds.dtype is not torch.float32:
        raise NoRecipe
    low, high = bounds.tolist()
    return low, high


def _leaves() -> tuple[Any, ...]:
    found = loaded()
    image, boxes, points = (getattr(found, name, None) for name in ("Image", "BoundingBoxes", "KeyPoints"))
    formats = () if found is None else tuple(found.BoundingBoxFormat[name] for name in PLAIN)
    others = torch.Tensor, PIL.Image.Image, np.ndarray, LazyImage
    return PIL.Image.Image, image, torch.Tensor, boxes, points, formats, SUPPORTED_NODES, others


def _split(transforms: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    count = len(transforms)
    while count and getattr(transforms[count - 1], "_spares_images", False):
        count -= 1
    while count < len(transforms) and "_packed" in vars(type(transforms[count])):
        count += 1
    if count == len(transforms):
        return transforms, None
    rest = partial(take_all, transforms[count:])
    return transforms[:count], lambda result: run(rest, (result,))


FAMILY = recipe.Family(
    packed, {**recipe.FUNCTIONS, "blur": partial(recipe.blur, v2_half_kernel)}, sample_functions, _leaves, _split
)
