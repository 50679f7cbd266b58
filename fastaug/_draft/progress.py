"""Images in progress: drafts that functions take instead of an image, append their ops to, and return.

The transform of an extension (fastaug.Drawn) calls functions with the draft that it changes.
"""

from __future__ import annotations

import math
from typing import Any, overload

import torch
from PIL import Image

from fastaug._draft.at_once import (
    Ways,
    done_at_once,
    pillow_center_crop,
    pillow_pad,
    pillow_resize,
    torch_center_crop,
    torch_convert_dtype,
    torch_pad,
)
from fastaug._draft.direct import DirectDraft, directly
from fastaug._draft.draft import Draft
from fastaug._fallback import color
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image.types import ImageT

_COLOUR = (
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "solarize",
)

_GEOMETRY = (
    "affine",
    "crop",
    "elastic_transform",
    "gaussian_blur",
    "pad",
    "perspective",
    "resize",
    "resized_crop",
    "rotate",
)

# By methods whose arguments are those of each way.
_WAYS = {
    **{name: Ways(otherwise=directly(getattr(Draft, name), DirectDraft)) for name in _GEOMETRY},
    **{name: Ways(core=name, otherwise=Draft._torch_functions[name]) for name in _COLOUR},
    "center_crop": Ways(pillow_center_crop, torch_center_crop, pixels=math.inf),
    "convert_dtype": Ways(torch=torch_convert_dtype),
    "grayscale": Ways(pil_fallback.grayscale, core="grayscale", otherwise=color.grayscale),
    "hflip": Ways(pil_fallback.hflip, tensor_fallback.hflip),
    "invert": Ways(torch=color.invert),
    "posterize": Ways(torch=color.posterize),
    "to_float": Ways(core="to_float"),
    "to_uint8_tensor": Ways(core="to_uint8_tensor"),
    "vflip": Ways(pil_fallback.vflip, tensor_fallback.vflip, pixels=math.inf),
}

# Of few samples torch has the powers sooner than the core has those of a table.
_WAYS["adjust_gamma"] = _WAYS["adjust_gamma"]._replace(few=512)
_WAYS["crop"] = _WAYS["crop"]._replace(pillow=pil_fallback.crop, pixels=math.inf)
_WAYS["pad"] = _WAYS["pad"]._replace(pillow=pillow_pad, torch=torch_pad, pixels=math.inf)
_WAYS["resize"] = _WAYS["resize"]._replace(pillow=pillow_resize, pixels=math.inf)


def in_progress(image: Any) -> Draft | None:
    """Return the draft of an image in progress, or None for an image."""
    return image if isinstance(image, Draft) else None


def begun(image: Any, make: type[Draft] = Draft) -> Draft:
    """Return a new draft of an image, or the draft that is an image in progress."""
    return image if isinstance(image, Draft) else make(image)


@overload
def ended(draft: Draft, image: ImageT) -> ImageT: ...
@overload
def ended(draft: Draft, image: Any) -> Any: ...
def ended(draft: Draft, image: Any) -> Any:
    """Return what a function of an image returns: the result, or the image that is still in progress."""
    return draft if draft is image else draft.finish()


@overload
def applied(image: ImageT, method: str, *arguments: Any) -> ImageT: ...
@overload
def applied(image: Any, method: str, *arguments: Any) -> Any: ...
def applied(image: Any, method: str, *arguments: Any) -> Any:
    """Return what a function of an image returns that is one method of drafts."""
    ways = _WAYS.get(method)
    if ways is not None:
        made = done_at_once(ways, image, arguments)
        if made is not NotImplemented:
            return made
    draft = begun(image)
    getattr(draft, method)(*arguments)
    return ended(draft, image)


def by_pillow(image: Any, method: str, *arguments: Any) -> Any:
    """Return the same for a method that is one of Pillow's operations."""
    draft = begun(image)
    draft.need_pillow()
    getattr(draft, method)(*arguments)
    return ended(draft, image)


def dimensions(image: Any) -> tuple[int, int, int]:
    """Return (channels, height, width) of an image, in progress or not."""
    if isinstance(image, torch.Tensor):
        return tensor_fallback.dimensions(image)
    if isinstance(image, Image.Image):
        return pil_fallback.dimensions(image)
    return begun(image).dimensions()


def is_tensor(image: Any) -> bool:
    """Return whether an image, in progress or not, is a tensor by now."""
    return image.is_tensor if isinstance(image, Draft) else isinstance(image, torch.Tensor)


def is_pil(image: Any) -> bool:
    """Return whether an image, in progress or not, is a PIL image by now."""
    return image.is_pil if isinstance(image, Draft) else isinstance(image, Image.Image)


def pixels(image: Any) -> Any:
    """Return the image after all of its pending ops."""
    return image.flush() if isinstance(image, Draft) else image
