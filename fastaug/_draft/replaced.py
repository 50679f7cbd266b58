"""Functions that a user has put in the place of those of fastaug.transforms.functional.

torchvision's transforms look a function up in its module whenever they call it, so that one put there, by a test or a
patch, is called. Transforms of this package draft what the functions do, and call none. So putting one there changes
the drafts that transforms work on: nothing has to be asked while there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastaug._draft.draft import Draft
from fastaug._draft.interpolation import InterpolationMode

#: What stands in the place of functions, by their names.
functions: dict[str, Any] = {}


class TransformDraft(Draft):
    """A draft that transforms work on; a function works on a plain one, and so may be called by what stands for it."""

    __slots__ = ()

    def _await_pixels(self) -> None:
        if not functions:
            super()._await_pixels()
            return
        # An unread draft would be no draft of this class.
        self.image.load()
        self.reset(self.image, True)


def called(transform: Any, image: Any) -> Any:
    """What a transform that draws, and is no part of a pipeline, makes of an image."""
    draft = TransformDraft(image)
    try:
        transform._draft(draft, transform._sample(draft))
        return draft.finish()
    finally:
        draft.call.draws.release()


def _calling(name: str) -> Callable[..., None]:
    """A method that calls what stands in the place of a function, with the image so far."""

    def method(draft: Draft, *arguments: Any, **named: Any) -> None:
        if draft.call.log is not None:
            draft.call.log.replaced(draft, name)
        draft.reset(functions[name](draft.flush(), *arguments, **named))

    return method


def _methods(name: str) -> tuple[str, Callable[..., Any]]:
    """The method of a draft that does what a function does; and one that calls what stands in its place.

    Its arguments are handed on as torchvision's transforms hand them.
    """
    call = _calling(name)
    if name == "resized_crop":
        return name, lambda draft, *box_size_mode: call(draft, *box_size_mode[:-1], antialias=box_size_mode[-1])
    if name == "affine":
        return name, lambda draft, angle, translate, scale, shear, interpolation, fill, center: call(
            draft, angle, translate, scale, shear, interpolation=interpolation, fill=fill, center=center
        )
    if name == "elastic_transform":
        return name, lambda draft, displacement, mode, fill: call(draft, displacement, InterpolationMode(mode), fill)
    if name == "rgb_to_grayscale":
        return "grayscale", lambda draft, channels: call(draft, num_output_channels=channels)
    if name == "normalize":
        return name, lambda draft, mean, std, inplace, packed=None: call(draft, mean, std, inplace)
    if name == "erase":
        return name, lambda draft, *box: False  # RandomErasing calls it then
    return {
        "convert_image_dtype": "convert_dtype",
        "pil_to_tensor": "to_uint8_tensor",
        "to_pil_image": "to_pil",
        "to_tensor": "to_float",
    }.get(name, name), call


def replace(name: str, function: Any) -> None:
    """Lets transforms call `function` in the place of the function of that name; None gives that one back."""
    if function is None:
        functions.pop(name, None)
    else:
        functions[name] = function
    method, calling = _methods(name)
    if not hasattr(Draft, method):
        return  # no transform drafts it: those that call it look it up
    if function is not None:
        setattr(TransformDraft, method, calling)
    elif method in vars(TransformDraft):
        delattr(TransformDraft, method)
