"""Images in progress: what functions take in place of an image, append their ops to, and return.

Those are drafts. An extension's transform (fastaug.Drawn) calls functions with the draft that it is to change.
"""

from __future__ import annotations

from typing import Any, overload

import torch
from PIL import Image

from fastaug._draft.draft import Draft
from fastaug._image.types import ImageT


def in_progress(image: Any) -> Draft | None:
    """The draft that stands for an image in progress; None for an image."""
    return image if isinstance(image, Draft) else None


def begun(image: Any, make: type[Draft] = Draft) -> Draft:
    """A draft of an image; or the draft itself that stands for an image in progress."""
    return image if isinstance(image, Draft) else make(image)


@overload
def ended(draft: Draft, image: ImageT) -> ImageT: ...
@overload
def ended(draft: Draft, image: Any) -> Any: ...
def ended(draft: Draft, image: Any) -> Any:
    """What a function returns that was called with `image`: the result, or the image in progress, still to be done."""
    return draft if draft is image else draft.finish()


@overload
def applied(image: ImageT, method: str, *arguments: Any) -> ImageT: ...
@overload
def applied(image: Any, method: str, *arguments: Any) -> Any: ...
def applied(image: Any, method: str, *arguments: Any) -> Any:
    """What a function returns that is one method of drafts, called with `image` and these arguments."""
    draft = begun(image)
    getattr(draft, method)(*arguments)
    return ended(draft, image)


def is_tensor(image: Any) -> bool:
    """Whether an image, in progress or not, is a tensor by now."""
    return image.is_tensor if isinstance(image, Draft) else isinstance(image, torch.Tensor)


def is_pil(image: Any) -> bool:
    """Whether an image, in progress or not, is one of Pillow's by now."""
    return image.is_pil if isinstance(image, Draft) else isinstance(image, Image.Image)


def pixels(image: Any) -> Any:
    """The image itself, with all that is in progress done."""
    return image.flush() if isinstance(image, Draft) else image
