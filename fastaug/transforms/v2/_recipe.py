"""Recipes of pipelines of v2, for samples of one image, with masks, boxes, points and what stays as it is."""

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
from fastaug._draft.recipe import Apart, NoRecipe, Packed, apart_of
from fastaug._draft.replaced import sample_functions
from fastaug._draft.through import step_of
from fastaug._image.lazy import LazyImage
from fastaug._names import is_ours
from fastaug._tv_tensors.choice import loaded
from fastaug._tv_tensors.formats import PLAIN
from fastaug.transforms._decode import Decode
from fastaug.transforms.v2._misc import Lambda
from fastaug.transforms.v2._transform import reads_drafts, run, take_all
from fastaug.transforms.v2._utils import _get_fill


def packed(transform: Any) -> Packed:
    """Return the recipe's step of a transform.

    Raises:
        NoRecipe: a foreign class, an unsupported argument, or a hook.
    """
    if type(transform) is Decode:
        return recipe.packed(transform)
    pack = packer_of(type(transform))
    if pack is None or not reads_drafts(transform):
        raise NoRecipe
    return pack(transform)


def _apart(transform: Any, exact: bool) -> Apart | None:
    cls = type(transform)
    if cls is Decode:
        return None
    if not reads_drafts(transform):
        # Transforms of single images may take drafts.
        return Apart.CALLED if step_of(transform) is None else None
    if cls is Lambda:
        return Apart.DRAFTED if transform._takes_images() else None
    return apart_of(getattr(cls, "_v1_transform_cls", None), exact)


def packer_of(cls: Any) -> Callable[[Any], Packed] | None:
    """Return the `_packed` of a class of this package, which is that of v1's class if it has none itself."""
    classes: tuple[Any, ...] = (cls, getattr(cls, "_v1_transform_cls", None)) if is_ours(cls) else ()
    return next((one._packed for one in classes if hasattr(one, "_packed")), None)


def as_mode(interpolation: Any) -> Any:
    """Return the interpolation mode of a name, or another value itself."""
    return InterpolationMode(interpolation) if type(interpolation) is str else interpolation


def resampling(interpolation: Any, antialias: Any = None) -> tuple[int, bool, bool, bool]:
    return recipe.resampling(as_mode(interpolation), antialias)


def filling(transform: Any) -> Any:
    """Return the fill that a transform was made with, or a dictionary of those of each kind of pixels.

    As in torchvision, a later `fill` changes nothing.
    """
    fill = transform._fill
    if fill.keys() == {"others"}:
        return recipe.filling(fill["others"])
    kinds = PIL.Image.Image, torch.Tensor, *_named("Image", "Video", "Mask")
    return {number: recipe.filling(_get_fill(fill, kind)) for number, kind in enumerate(kinds)}


def casts(dtypes: Any) -> tuple[bool, bool, bool, bool, bool, str]:
    """Return the arguments of the step of a dtype, or of dtypes by types, for transforms that scale."""
    *images, mask_class, boxes, points = torch.Tensor, *_named("Image", "Video", "Mask", "BoundingBoxes", "KeyPoints")
    given = dtypes if type(dtypes) is dict else {**dict.fromkeys(images, dtypes), "others": None}
    kinds = [given.get(cls, given.get("others", ())) for cls in images]
    mask, *places = [given.get(cls, given.get("others", ())) for cls in (mask_class, boxes, points)]
    dtype = next((one for one in (torch.float32, torch.uint8) if any(kind is one for kind in kinds)), None)
    if dtype is None:
        raise NoRecipe
    of_places = any(one is not None for one in places) or type(mask) not in (type(None), torch.dtype)
    name = "" if mask is None else str(mask).removeprefix("torch.")
    plain, tagged, video = (kind is dtype for kind in kinds)
    return dtype is torch.float32, of_places, plain, tagged, video, name


def logarithms(bounds: torch.Tensor) -> tuple[float, float]:
    """Return the logarithms of proportions that a transform keeps."""
    if bounds.shape != (2,) or bounds.dtype is not torch.float32:
        raise NoRecipe
    low, high = bounds.tolist()
    return low, high


def _named(*names: str) -> list[Any]:
    """Return the classes of tv_tensors of these names: None for each before their first use."""
    return [getattr(loaded(), name, None) for name in names]


def _leaves() -> tuple[Any, ...]:
    found = loaded()
    image, video, *places = _named("Image", "Video", "BoundingBoxes", "KeyPoints", "Mask")
    formats = () if found is None else tuple(found.BoundingBoxFormat[name] for name in PLAIN)
    others = torch.Tensor, PIL.Image.Image, np.ndarray, LazyImage
    return PIL.Image.Image, image, video, torch.Tensor, *places, formats, SUPPORTED_NODES, others


def _is_packed(transform: Any) -> bool:
    try:
        packed(transform)
    except NoRecipe:
        return False
    return True


def _split(transforms: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    count = len(transforms)
    while count and getattr(transforms[count - 1], "_spares_images", False):
        count -= 1
    while count < len(transforms) and _is_packed(transforms[count]):
        count += 1
    if count == len(transforms):
        return transforms, None
    rest = partial(take_all, transforms[count:])
    return transforms[:count], lambda result: run(rest, (result,))


FAMILY = recipe.Family(packed, sample_functions, _apart, _leaves, _split)
