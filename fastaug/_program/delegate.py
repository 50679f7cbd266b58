"""Leave single ops that are one pass over memory to Pillow or torch.

A draft keeps its first op also as (name, *arguments): "hflip", "vflip", "rotate" by 90, 180 or 270 degrees, "rot90" by
quarter turns, "window" of (top, left, height, width, fill), "nearest" to (height, width) by Pillow's rule, "invert",
"posterize" to a number of bits, and "crop" of (top, left, height, width) for all crops that a tensor begins with.
"""

from __future__ import annotations

from typing import Any

import torch
from PIL import Image

from fastaug import _C

Named = tuple[Any, ...]

# Pillow mirrors and turns pixel by pixel, but starts sooner. From this many pixels on, the core is faster.
_MANY_PIXELS = 128 * 128

_ROTATIONS = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


def by_pillow(image: Image.Image, op: Named) -> Image.Image | None:
    """Return the result, or None for an op that is not faster in Pillow."""
    name = op[0]
    if name == "vflip":
        # Pillow copies into pages that it does not have to clear first.
        return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    if name == "hflip" or name == "rotate":
        if image.width * image.height >= _MANY_PIXELS:
            return None
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT if name == "hflip" else _ROTATIONS[op[1]])
    if name == "window" or name == "crop":
        cropped = crop_by_pillow(image, op)
        if cropped is not None:
            return cropped
        _, top, left, height, width, fill = op  # no crop, which would have been one
        canvas = Image.new(image.mode, (width, height), tuple(fill[: len(image.getbands())]))
        canvas.paste(image, (-left, -top))
        return canvas
    if name == "nearest":
        return image.resize((op[2], op[1]), Image.Resampling.NEAREST)
    return None


def crop_by_pillow(image: Image.Image, op: Named | None) -> Image.Image | None:
    """Return a crop inside the image, or None for another op."""
    if op is None or (op[0] != "window" and op[0] != "crop"):
        return None
    top, left, height, width = op[1:5]
    if top < 0 or left < 0 or top + height > image.height or left + width > image.width:
        return None
    return image.crop((left, top, left + width, top + height))


def by_torch(image: torch.Tensor, op: Named) -> torch.Tensor | None:
    """Return the result, or None for an op that is not faster in torch. A crop is a view, as torchvision's is."""
    name = op[0]
    if name == "crop":
        _, top, left, height, width = op
        return image[..., top : top + height, left : left + width]
    if name == "invert":
        return image.bitwise_not()
    if name == "hflip":
        return image.flip(-1)
    if name == "vflip":
        return image.flip(-2)
    if name == "rot90":
        return torch.rot90(image, op[1], (-2, -1))
    if name == "posterize":
        return image.bitwise_and(_C.POSTERIZE_MASKS[op[1]])
    if name != "window":
        return None
    _, top, left, height, width, fill = op
    image_height, image_width = image.shape[-2:]
    bottom, right = top + height, left + width
    # torch pads with one number, and crops only what is there.
    colours = set(fill[: image.shape[-3]] if image.dim() > 2 else fill[:1])
    if len(colours) > 1 or top >= image_height or left >= image_width or bottom <= 0 or right <= 0:
        return None
    return torch.constant_pad_nd(image, (-left, right - image_width, -top, bottom - image_height), fill[0])
