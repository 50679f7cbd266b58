"""The native call: borrows a draft's source, allocates the result and runs the program."""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C, _ops
from fastaug._borrow import borrow_tensor

if TYPE_CHECKING:
    from fastaug._draft_base import DraftBase

# As fastaug._draft_base names them; plain numbers here, where every call passes.
_PIL_IMAGE, _ARRAY, _TENSOR = 1, 2, 3

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
    kind = draft.kind
    ops = draft.ops
    if kind == draft.source and not ops and not draft.store:
        return _untouched(draft)
    if kind == draft.source == _TENSOR and len(ops) == 1 and not draft.store:
        done = _done_by_torch(draft.image, ops[0])
        if done is not None:
            return done
    if draft.lead or draft.bands > 4:
        return _finish_parts(draft)
    if kind == draft.source == _PIL_IMAGE and len(ops) == 1 and draft.mode == draft.image.mode:
        moved = _moved_by_pillow(draft.image, ops[0])
        if moved is not None:
            moved.info = _copied_info(draft)
            return moved
    program = b"".join((*ops, *draft.store)) if draft.store else b"".join(ops)  # type: ignore[arg-type]
    if draft.source == _PIL_IMAGE:
        try:
            source = _C.from_pil(draft.image, draft.bands)
        except ValueError:
            source, program = _borrow_blocks(draft, program)
    elif draft.source == _TENSOR:
        source = borrow_tensor(draft.image)
    else:
        source = _C.from_array(draft.image)
    height, width, channels = draft.height, draft.width, draft.channels
    if kind == _TENSOR:
        plane = height * width
        if draft.store:
            # Sizes one by one: torch parses them faster than a tuple.
            if draft.flat:
                result = _empty(height, width, dtype=_float32, device=_cpu)
            else:
                result = _empty(channels, height, width, dtype=_float32, device=_cpu)
            _C.run(program, source, result.data_ptr(), True, height, width, channels, 4 * width, 4, 4 * plane)
            return result
        if draft.channel_last:
            result = _empty(height, width, channels, dtype=_uint8, device=_cpu)
            _C.run(program, source, result.data_ptr(), False, height, width, channels, width * channels, channels, 1)
            return result.permute(2, 0, 1)
        result = _empty((height, width) if draft.flat else (channels, height, width), dtype=_uint8, device=_cpu)
        _C.run(program, source, result.data_ptr(), False, height, width, channels, width, 1, plane)
        return result
    if kind == _PIL_IMAGE:
        assert draft.mode is not None
        image = _run_into_pil(program, source, draft.mode, height, width, channels)
        image.info = _copied_info(draft)
        return image
    array = np.empty((height, width) if draft.flat else (height, width, channels), np.uint8)
    address = array.__array_interface__["data"][0]
    _C.run(program, source, address, False, height, width, channels, width * channels, channels, 1)
    return array


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
        return torch.constant_pad_nd(image, (-left, right - image_width, -top, bottom - image_height), fill[0])
    mask = _ops.mask_of(op)
    return image.bitwise_and(mask) if mask is not None else None


def _run_into_pil(program: bytes, source: _C.Source, mode: str, height: int, width: int, channels: int) -> Image.Image:
    # Uninitialised; the program writes every pixel, in place.
    image = Image.new(mode, (width, height), None)
    try:
        _C.run_pil(program, source, image, channels)
    except ValueError:
        # Pillow splits large images into blocks: these alone are copied once.
        array = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
        address = array.__array_interface__["data"][0]
        _C.run(program, source, address, False, height, width, channels, width * channels, channels, 1)
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


def _borrow_blocks(draft: DraftBase, program: bytes) -> tuple[_C.Source, bytes]:
    """Pillow splits large images into blocks: a first crop is left to Pillow, which copies only that; else all is."""
    image = draft.image
    box = _ops.window_of(program[: _ops.OP_BYTES]) if program else None
    if box is not None:
        top, left, height, width, _ = box
        if top >= 0 and left >= 0 and top + height <= image.height and left + width <= image.width:
            image = image.crop((left, top, left + width, top + height))
            program = program[_ops.OP_BYTES :]
            try:
                return _C.from_pil(image, draft.bands), program
            except ValueError:
                pass  # still too large
    return _C.from_array(np.asarray(image)), program


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
        _C.run(
            program,
            borrow(part),
            address + index * item + first * strides[2],
            bool(draft.store),
            height,
            width,
            count,
            *strides,
        )
    return result
