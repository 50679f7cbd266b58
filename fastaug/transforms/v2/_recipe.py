"""Recipes of pipelines of v2, for samples that are one image."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from fastaug._draft import recipe
from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._draft.replaced import sample_functions
from fastaug._program import resizing
from fastaug._program.arguments import v2_half_kernel
from fastaug._tv_tensors.choice import loaded
from fastaug.transforms._decode import Decode
from fastaug.transforms.v2._transform import reads_drafts


def packed(transform: Any) -> Packed:
    """Return the recipe's step of a transform.

    Raises:
        NoRecipe: a foreign class, an unsupported argument, or a hook.
    """
    if type(transform) is Decode:
        return recipe.packed(transform)
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


def _tag() -> type | None:
    classes = loaded()
    return None if classes is None else classes.Image


FAMILY = recipe.Family(
    packed, {**recipe.FUNCTIONS, "blur": partial(recipe.blur, v2_half_kernel)}, sample_functions, _tag
)
