"""Functions that users put instead of those of fastaug.transforms.functional, and of that module of v2.

torchvision's transforms look a function up in its module at each call, so a test or a patch can replace it. Transforms
of images draft what the functions do, without a call. So a replacement changes the methods of the drafts that
transforms work on, and costs nothing while there is none. Transforms of samples do look functions up; only their
recipes depend on this record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import torch
from PIL import Image

from fastaug._draft.draft import Draft
from fastaug._draft.interpolation import InterpolationMode

#: The replacements of functions of images, and of samples, by their names.
functions: dict[str, Any] = {}
sample_functions: dict[str, Any] = {}

# For each module its functions as they were written, and where replacements are recorded.
_recorded: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}


class _Functional(ModuleType):
    """A module that records replacements of its functions."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        own, replacements = _recorded[self.__name__]
        if name not in own:
            return
        if value is own[name]:
            replacements.pop(name, None)
        else:
            replacements[name] = value
        if replacements is functions:
            _change_drafts(name)


def record(module: dict[str, Any], replacements: dict[str, Any]) -> None:
    """Record from now on which functions of a module are replaced; given its globals."""
    name = module["__name__"]
    own = {name: module[name] for name in module["__all__"] if isinstance(module[name], FunctionType)}
    _recorded[name] = own, replacements
    sys.modules[name].__class__ = _Functional


def is_function(name: str) -> bool:
    """Return whether fastaug.transforms.functional has a function of that name."""
    return name in _recorded["fastaug.transforms.functional"][0]


class TransformDraft(Draft):
    """A draft that transforms work on. Functions work on a plain one, so a replacement may call the original."""

    __slots__ = ()

    def _await_pixels(self) -> None:
        if not functions:
            super()._await_pixels()
            return
        # An unread draft would not be a draft of this class.
        self.image.load()
        self.reset(self.image, True)


def called(transform: Any, image: Any) -> Any:
    """Return what a transform, alone, makes of an image."""
    return TransformDraft(image).after(lambda draft: transform._draft(draft, transform._sample(draft)))


def is_plain(image: Any) -> bool:
    """Return whether the function of a transform does the same to an image as a draft, in less time."""
    return (type(image) is Image.Image or type(image) is torch.Tensor) and not functions


# The methods of drafts that are not named as their functions are.
_METHODS = {
    "convert_image_dtype": "convert_dtype",
    "pil_to_tensor": "to_uint8_tensor",
    "rgb_to_grayscale": "grayscale",
    "to_pil_image": "to_pil",
    "to_tensor": "to_float",
}

# From the arguments of a method to those with which torchvision's transforms call the function, where these differ.
_ARGUMENTS: dict[str, Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "affine": lambda angle, translate, scale, shear, interpolation, fill, center: (
        (angle, translate, scale, shear),
        {"interpolation": interpolation, "fill": fill, "center": center},
    ),
    "elastic_transform": lambda displacement, mode, fill: ((displacement, InterpolationMode(mode), fill), {}),
    "normalize": lambda mean, std, inplace, packed=None: ((mean, std, inplace), {}),
    "resized_crop": lambda *box_size_mode: (box_size_mode[:-1], {"antialias": box_size_mode[-1]}),
    "rgb_to_grayscale": lambda channels: ((), {"num_output_channels": channels}),
}


def _change_drafts(name: str) -> None:
    """Have the drafts of transforms call the replacement of a function, or do what the function does again."""
    method = _METHODS.get(name, name)
    if not hasattr(Draft, method):
        return  # the transforms that call it look it up
    if name in functions:
        setattr(TransformDraft, method, _calling(name))
    elif method in vars(TransformDraft):
        delattr(TransformDraft, method)


def _calling(name: str) -> Callable[..., Any]:
    """Return a method that calls the replacement of a function with the image so far."""

    def method(draft: Draft, *arguments: Any, **named: Any) -> Any:
        if name == "erase":
            return False  # RandomErasing calls it then
        if draft.call.log is not None:
            draft.call.log.replaced(draft, name)
        if name in _ARGUMENTS:
            arguments, named = _ARGUMENTS[name](*arguments, **named)
        draft.reset(functions[name](draft.flush(), *arguments, **named))
        return None

    return method
