"""Functions of one plain image by one call: of Pillow, of torch, or of the core without a draft of Python's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.interpolation import InterpolationMode
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import tensor as tensor_fallback
from fastaug._program import pil
from fastaug._program.arguments import as_size_list, resized_size, square_if_single
from fastaug._program.eager import compiling, modes, recording
from fastaug._program.v2_arguments import central_corner

_Image = Image.Image
_Tensor = torch.Tensor
_uint8 = torch.uint8

# Up to here Pillow moves and converts images sooner than the core, which begins 4 us later. On Zen 3 the core is the
# faster one from 100x100 pixels on where it makes RGB gray, and from 200x200 on where it mirrors.
FEW_PIXELS = 64 * 64


class Ways(NamedTuple):
    """The ways to do a function, with its arguments. Each may return NotImplemented."""

    #: For PIL images of at most `pixels`, where torchvision's function is a call of Pillow.
    pillow: Callable[..., Any] | None = None
    #: For tensors, where torchvision's function is a call of torch.
    torch: Callable[..., Any] | None = None
    #: The core's op, for images that the core reads.
    core: str = ""
    #: For tensors of other dtypes than uint8, and for others of at most `few` samples: 0 of v1 and 4 of v2 for None.
    otherwise: Callable[..., Any] | None = None
    few: int | None = None
    pixels: float = FEW_PIXELS
    v2: bool = False


def done_at_once(ways: Ways, image: Any, arguments: Iterable[Any]) -> Any:
    """Return the result, or NotImplemented for a draft to do it."""
    cls = type(image)
    if cls is _Tensor:
        done = NotImplemented if ways.torch is None else ways.torch(image, *arguments)
        if done is not NotImplemented:
            return done
        if ways.otherwise is not None and image.dtype is not _uint8:
            return ways.otherwise(image, *arguments)
    elif cls is not _Image:
        return NotImplemented
    elif ways.pillow is not None:
        width, height = image.size
        if width * height <= ways.pixels:
            return ways.pillow(image, *arguments)
    if not ways.core or compiling() or recording() or modes():
        return NotImplemented
    if ways.otherwise is not None and cls is _Tensor and image.numel() <= (ways.few or 0):
        return ways.otherwise(image, *arguments)
    core: Any = _C.Draft()
    core.v2 = ways.v2
    # What the core declines, a draft finds out again, with the reason.
    if not core.begin_with(image) or getattr(core, ways.core)(*arguments):
        return NotImplemented
    core.choose_order()
    return core.done(image, (image.info or None) if cls is _Image else None, _C.EXACT, pil.blank)


def _is_plain_border(padding: Any, fill: Any, padding_mode: Any, *fills: type) -> bool:
    """Return whether a border has one colour, which is None or of these types."""
    if type(padding_mode) is not str or padding_mode != "constant" or not (fill is None or type(fill) in fills):
        return False
    sides = padding if type(padding) in (list, tuple) and len(padding) in (1, 2, 4) else (padding,)
    return all(type(side) is int for side in sides)


def pillow_pad(image: Image.Image, padding: Any, fill: Any, padding_mode: Any) -> Any:
    """Add a plain border of one colour."""
    if not _is_plain_border(padding, fill, padding_mode, int, float, list, tuple):
        return NotImplemented
    return pil_fallback.pad(image, padding, fill, padding_mode)


def torch_pad(image: torch.Tensor, padding: Any, fill: Any, padding_mode: Any) -> Any:
    """Do the same to a tensor."""
    if not _is_plain_border(padding, fill, padding_mode, int, float):
        return NotImplemented
    return tensor_fallback.pad(image, padding, fill, padding_mode)


def pillow_resize(
    image: Image.Image, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None
) -> Any:
    """Take the nearest pixels. Filters take their time for each sample, so the core makes up for its later start."""
    if interpolation is not InterpolationMode.NEAREST or antialias is False:
        return NotImplemented
    width, height = image.size
    rows, columns = resized_size(height, width, as_size_list(size, max_size), max_size)
    if rows == height and columns == width:
        return image
    if type(rows) is not int or type(columns) is not int:
        return NotImplemented
    return image.resize((columns, rows), Image.Resampling.NEAREST)


def torch_convert_dtype(image: torch.Tensor, dtype: Any) -> Any:
    """Scale samples to a dtype to which the core converts none."""
    if type(dtype) is not torch.dtype or dtype is torch.float32 or dtype is _uint8:
        return NotImplemented
    return tensor_fallback.convert_image_dtype(image, dtype)


def pillow_center_crop(image: Image.Image, size: Any) -> Any:
    """Cut out the middle of an image that is not smaller than that."""
    rows, columns = square_if_single(size)
    width, height = image.size
    if rows > height or columns > width:
        return NotImplemented
    top, left = central_corner(rows, columns, (height, width))
    return pil_fallback.crop(image, top, left, rows, columns)


def torch_center_crop(image: torch.Tensor, size: Any) -> Any:
    """Do the same to a tensor, of which the middle is a view."""
    rows, columns = square_if_single(size)
    if image.dim() < 2:
        return NotImplemented
    height, width = image.shape[-2:]
    if rows > height or columns > width:
        return NotImplemented
    top, left = central_corner(rows, columns, (height, width))
    return image[..., top : top + rows, left : left + columns]
