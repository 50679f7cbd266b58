"""The native call: borrows a draft's source, allocates the result and runs the program."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C, _ops
from fastaug._borrow import borrow_tensor

if TYPE_CHECKING:
    from fastaug._call import Call
    from fastaug._draft_base import DraftBase

# As fastaug._draft_base names them; plain numbers here, where every call passes.
_PIL_IMAGE, _ARRAY, _TENSOR, _ENCODED = 1, 2, 3, 4

# The native core's numbers of the dtypes that a store writes.
_FLOATS = {getattr(torch, name): number for name, number in _C.DTYPES.items() if name != "uint8"}

_empty = torch.empty
_float32 = torch.float32
_uint8 = torch.uint8
_cpu = torch.device("cpu")


def warn_antialias() -> None:
    warnings.warn(
        "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.", stacklevel=4
    )


def finish(draft: DraftBase) -> Any:
    """The draft's image with all its ops done, in the draft's container."""
    return _decoding(draft, _finish) if draft.source == _ENCODED else _finish(draft)


def _decoding(draft: DraftBase, work: Callable[..., Any], *arguments: Any) -> Any:
    """Does `work` on a draft of an encoded image; with Pillow's pixels, if the core leaves the decoding to Pillow."""
    try:
        return work(draft, *arguments)
    except _C.Refused as error:
        raise draft.image.error(draft.image.encoded()[0], error) from None
    except _C.Deferred as error:
        encoded, deferred = draft.image, error
    if draft.call.log is not None:
        draft.call.log.decoding(draft, f"the core does not decode it: {deferred.args[0]}")
    draft.image = encoded.pil(deferred)
    draft.source = _PIL_IMAGE
    return work(draft, *arguments)


def _finish(draft: DraftBase) -> Any:
    call = draft.call
    kind = draft.kind
    ops = draft.ops
    if kind == draft.source and not ops and not draft.store:
        return _untouched(draft)
    if kind == draft.source == _TENSOR and len(ops) == 1 and not draft.store:
        done = _done_by_torch(draft.image, ops[0])
        if done is not None:
            if draft.call.log is not None:
                draft.call.log.delegated(draft, "torch")
            return done
    if draft.lead or draft.bands > 4:
        return _finish_parts(draft)
    if kind == draft.source == _PIL_IMAGE and len(ops) == 1 and draft.mode == draft.image.mode:
        moved = _moved_by_pillow(draft.image, ops[0])
        if moved is not None:
            if draft.call.log is not None:
                draft.call.log.delegated(draft, "Pillow")
            moved.info = _copied_info(draft)
            return moved
    program, source = _borrowed(draft)
    height, width, channels = draft.height, draft.width, draft.channels
    if kind == _TENSOR:
        plane = height * width
        if draft.store:
            # Sizes one by one: torch parses them faster than a tuple.
            if draft.flat:
                result = _empty(height, width, dtype=_float32, device=_cpu)
            else:
                result = _empty(channels, height, width, dtype=_float32, device=_cpu)
            call.run(
                program, source, result.data_ptr(), 1, height, width, channels, 4 * width, 4, 4 * plane, call.rewrites
            )
            return result
        if draft.channel_last:
            result = _empty(height, width, channels, dtype=_uint8, device=_cpu)
            row = width * channels
            call.run(program, source, result.data_ptr(), 0, height, width, channels, row, channels, 1, call.rewrites)
            return result.permute(2, 0, 1)
        result = _empty((height, width) if draft.flat else (channels, height, width), dtype=_uint8, device=_cpu)
        call.run(program, source, result.data_ptr(), 0, height, width, channels, width, 1, plane, call.rewrites)
        return result
    if kind == _PIL_IMAGE:
        assert draft.mode is not None
        image = _run_into_pil(call, program, source, draft.mode, height, width, channels)
        image.info = _copied_info(draft)
        return image
    array = np.empty((height, width) if draft.flat else (height, width, channels), np.uint8)
    address = array.__array_interface__["data"][0]
    row = width * channels
    call.run(program, source, address, 0, height, width, channels, row, channels, 1, call.rewrites)
    return array


def _borrowed(draft: DraftBase) -> tuple[bytes, _C.Source]:
    """The program, and the image for it."""
    ops: Any = draft.ops
    store: Any = draft.store
    program = b"".join((*ops, *store, *draft.erases)) if store else b"".join(ops)
    if draft.source == _ENCODED:
        return program, draft.image.source()
    if draft.source == _PIL_IMAGE:
        try:
            return program, _C.from_pil(draft.image, draft.bands)
        except ValueError:
            return _borrow_blocks(draft, program)
    return program, borrow_tensor(draft.image) if draft.source == _TENSOR else _C.from_array(draft.image)


def finish_as(draft: DraftBase, dtype: torch.dtype, channels_last: bool) -> torch.Tensor | None:
    """The result as a tensor of another dtype, or with the channels of a pixel side by side; None if not natively."""
    if draft.source == _ENCODED:
        result: torch.Tensor | None = _decoding(draft, _finish_as, dtype, channels_last)
        return result
    return _finish_as(draft, dtype, channels_last)


def _finish_as(draft: DraftBase, dtype: torch.dtype, channels_last: bool) -> torch.Tensor | None:
    number = _FLOATS.get(dtype)
    if number is None or not draft.store or draft.lead or draft.flat or draft.bands > 4:
        return None
    height, width, channels = draft.height, draft.width, draft.channels
    program, source = _borrowed(draft)
    if channels_last:
        result = _empty(height, width, channels, dtype=dtype, device=_cpu).permute(2, 0, 1)
    else:
        result = _empty(channels, height, width, dtype=dtype, device=_cpu)
    size = result.element_size()
    channel, row, pixel = result.stride()
    strides = (size * row, size * pixel, size * channel)
    draft.call.run(program, source, result.data_ptr(), number, height, width, channels, *strides, draft.call.rewrites)
    return result


def _copied_info(draft: DraftBase) -> dict[Any, Any]:
    info = draft.info or {}
    return {key: value.copy() if isinstance(value, list) else value for key, value in info.items()}


# One copy of memory is all that these moves are. Pillow makes it into pages that it does not have to clear first.
_TRANSPOSITIONS = {
    _ops.HFLIP: Image.Transpose.FLIP_LEFT_RIGHT,
    _ops.VFLIP: Image.Transpose.FLIP_TOP_BOTTOM,
    _ops.ROT90[90]: Image.Transpose.ROTATE_90,
    _ops.ROT90[180]: Image.Transpose.ROTATE_180,
    _ops.ROT90[270]: Image.Transpose.ROTATE_270,
}


def _moved_by_pillow(image: Image.Image, op: Any) -> Image.Image | None:
    transposition = _TRANSPOSITIONS.get(op)
    if transposition is not None:
        return image.transpose(transposition)
    box = _ops.window_of(op)
    if box is not None:
        top, left, height, width, fill = box
        if top >= 0 and left >= 0 and top + height <= image.height and left + width <= image.width:
            return image.crop((left, top, left + width, top + height))
        canvas = Image.new(image.mode, (width, height), tuple(fill[: len(image.getbands())]))
        canvas.paste(image, (-left, -top))
        return canvas
    size = _ops.pillow_nearest_of(op)
    return image.resize((size[1], size[0]), Image.Resampling.NEAREST) if size else None


def _done_by_torch(image: torch.Tensor, op: Any) -> torch.Tensor | None:
    """What is one pass over memory for torch, without rows or planes; for a part of an image, a view."""
    if isinstance(op, tuple):
        return None
    if op == _ops.INVERT:
        return image.bitwise_not()
    if op == _ops.HFLIP:
        return image.flip(-1)
    if op == _ops.VFLIP:
        return image.flip(-2)
    box = _ops.window_of(op)
    if box is not None:
        top, left, height, width, fill = box
        image_height, image_width = image.shape[-2:]
        bottom, right = top + height, left + width
        if top >= 0 and left >= 0 and bottom <= image_height and right <= image_width:
            return image[..., top:bottom, left:right]
        # torch pads with one number, and crops only what is there.
        colours = set(fill[: image.shape[-3]] if image.dim() > 2 else fill[:1])
        if len(colours) > 1 or top >= image_height or left >= image_width or bottom <= 0 or right <= 0:
            return None
        return torch.constant_pad_nd(image, (-left, right - image_width, -top, bottom - image_height), fill[0])
    mask = _ops.mask_of(op)
    return image.bitwise_and(mask) if mask is not None else None


def _run_into_pil(
    call: Call, program: bytes, source: _C.Source, mode: str, height: int, width: int, channels: int
) -> Image.Image:
    # Uninitialised; the program writes every pixel, in place.
    image = Image.new(mode, (width, height), None)
    try:
        call.run_pil(program, source, image, channels, call.rewrites)
    except ValueError:
        # Pillow splits large images into blocks: these alone are copied once.
        array = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
        address = array.__array_interface__["data"][0]
        row = width * channels
        call.run(program, source, address, 0, height, width, channels, row, channels, 1, call.rewrites)
        image = Image.frombuffer(mode, (width, height), array, "raw", mode, 0, 1).copy()
    return image


def _untouched(draft: DraftBase) -> Any:
    """The source itself, or a copy of it where torchvision makes one."""
    image = draft.image
    if draft.kind == _PIL_IMAGE and draft.mode != image.mode:
        # Only read as another mode.
        return Image.frombuffer(draft.mode or "", image.size, image.tobytes(), "raw", draft.mode, 0, 1)
    if not draft.copied:
        return image
    if draft.kind == _TENSOR:
        return image.clone()
    copy = image.copy()
    if draft.kind == _PIL_IMAGE and not draft.info:
        copy.info = {}
    return copy


def _borrow_blocks(draft: DraftBase, program: bytes) -> tuple[bytes, _C.Source]:
    """Pillow splits large images into blocks: a first crop is left to Pillow, which copies only that; else all is."""
    image = draft.image
    box = _ops.window_of(program[: _ops.OP_BYTES]) if program else None
    if box is not None:
        top, left, height, width, _ = box
        if top >= 0 and left >= 0 and top + height <= image.height and left + width <= image.width:
            image = image.crop((left, top, left + width, top + height))
            program = program[_ops.OP_BYTES :]
            try:
                return program, _C.from_pil(image, draft.bands)
            except ValueError:
                pass  # still too large
    return program, _C.from_array(np.asarray(image))


def _finish_parts(draft: DraftBase) -> Any:
    """Batches, and images of more than four channels: one run for each image and every four channels."""
    height, width, channels = draft.height, draft.width, draft.channels
    bands, lead = draft.bands, draft.lead
    if draft.kind == _TENSOR:
        dtype = _float32 if draft.store else _uint8
        result: Any = _empty((*lead, channels, height, width), dtype=dtype, device=_cpu)
        address, size = result.data_ptr(), result.element_size()
        strides = (size * width, size, size * height * width)
    else:
        result = np.empty((height, width, channels), np.uint8)
        address, size = result.__array_interface__["data"][0], 1
        strides = (width * channels, channels, 1)
    image = draft.image
    borrow: Any
    if draft.source == _TENSOR:
        images, borrow = image.reshape(-1, bands, *image.shape[-2:]), borrow_tensor
    else:
        images, borrow = np.moveaxis(image, 2, 0)[None], lambda part: _C.from_array(np.moveaxis(part, 0, 2))
    item = strides[2] * channels
    for index, first in itertools.product(range(images.shape[0]), range(0, bands, 4)):
        part = images[index, first : first + 4]
        count = min(4, channels - first) if bands > 4 else channels
        program = b"".join(op[first // 4] if isinstance(op, tuple) else op for op in (*draft.ops, *draft.store))
        at = address + index * item + first * strides[2]
        dtype_number = 1 if draft.store else 0
        draft.call.run(program, borrow(part), at, dtype_number, height, width, count, *strides, draft.call.rewrites)
    return result
