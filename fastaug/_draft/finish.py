"""Finish drafts: by one move of Pillow or torch, or else by jobs for the core."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image.encoded import NOT_DECODED
from fastaug._program import delegate, ops, pil, placed
from fastaug._program.borrow import borrow_tensor, is_interleaved
from fastaug._program.job import DTYPES, Job
from fastaug._program.kinds import ENCODED, PIL_IMAGE, TENSOR

if TYPE_CHECKING:
    from fastaug._program.delegate import Named

Tensor = torch.Tensor
_float32 = torch.float32
_uint8 = torch.uint8
_cpu = torch.device("cpu")
_blank = pil.blank
_run = _C.run

# The axes of flips.
_FLIPS = {ops.HFLIP: -1, ops.VFLIP: -2}


def finish(draft: Any, form: tuple[torch.dtype, bool] | None = None) -> Any:
    """Return the image of a fastaug._draft.base.DraftBase after its ops, in the draft's container.

    With a form, the dtype and whether channels come last, return what the job of `one_job_as` makes, or None.
    """
    try:
        return _finish(draft, form)
    except NOT_DECODED as error:
        if draft.core.source != ENCODED:
            raise
        # The core leaves the decoding to Pillow. Without its frames, among which is this one, which has it.
        encoded, reason = draft.image, error.with_traceback(None)
    if draft.call.log is not None:
        draft.call.log.decoding(draft, f"the core does not decode it: {reason.args[0]}")
    draft.image = encoded.pil(reason)
    draft.core.source = PIL_IMAGE
    return _finish(draft, form)


def _finish(draft: Any, form: tuple[torch.dtype, bool] | None) -> Any:
    core = draft.core
    if form is not None:
        job = one_job_as(draft, *form)
        return None if job is None else _as_source(draft, _done(draft, job))
    if draft.device is not None and core.kind != TENSOR:
        draft.image, draft.device = placed.on_host(draft.image), None
    ending = core.ending
    if ending:
        done = _ENDINGS[ending](draft)
        if done is not None or ending == _UNTOUCHED:
            return done
    call = draft.call
    # Of a video some frames may be left out.
    if call.run is _run and draft.device is None and getattr(draft, "chosen", None) is None:
        made = core.done(draft.image, draft._info, call.rewrites, _blank)
        if made is not NotImplemented:
            return made
    if core.lead or core.bands > 4:
        jobs, result = _parts(draft)
        call.run(jobs, call.rewrites)
    else:
        result = _done(draft, draft.job())
    return _as_source(draft, result)


def _as_source(draft: Any, result: Any) -> Any:
    """Return the result with the metadata or the class of the draft's image."""
    core = draft.core
    if core.kind == PIL_IMAGE:
        result.info = copied_info(draft)
    elif core.source == TENSOR and type(draft.image) is not Tensor:
        result = _of_class(result, draft.image)
    return result


class Together(list[Any]):
    """Jobs of one call of the core, also of encoded images.

    If the core leaves one of these to Pillow, each draft is finished alone.
    """


def start(draft: Any, jobs: list[Any]) -> Callable[[], Any] | None:
    """Append the jobs of a draft, for one call of the core with those of others.

    Returns:
        A function that returns the result after the call; or None, with nothing appended, if the draft must be finished
        alone.
    """
    if draft.device is not None or draft.core.ending:
        return None
    if draft.core.source == ENCODED and type(jobs) is not Together:
        return None
    if draft.core.lead or draft.core.bands > 4:
        parts, result = _parts(draft)
        jobs += parts
        return lambda: _as_source(draft, result)
    job = draft.job()
    memory, target = job.allocate()
    jobs.append((job.program, job.source, target))
    return lambda: _as_source(draft, job.delivered(memory))


def _done(draft: Any, job: Job) -> Any:
    """Return the result of a draft's job, on the device of its image."""
    call = draft.call
    if draft.device is None:
        return job.execute(call.run, call.rewrites)
    from fastaug._cuda import bag

    if call.log is None:
        result = bag.run_one(job, draft.device, call.rewrites, call.family)
        if result is not None:
            return result
    # No device does it, or a log records it.
    job.source = borrow_tensor(placed.on_host(_plain(draft.image)))
    return bag.moved(job.execute(call.run, call.rewrites), draft.device)


def _of_class(result: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
    """Return `result` in the class of torch's results for `image`, which is of a subclass of Tensor."""
    return result.as_subclass(type(image[..., :0]))


def _mapped(draft: Any) -> Image.Image | None:
    """Return a tensor or array as a PIL image of the same memory, or None if Pillow must copy it."""
    image = draft.image
    if draft.core.source == ENCODED:
        return None
    if draft.core.views:
        image = delegate.by_torch(image, draft.core.first)
    if draft.core.source == TENSOR:
        image = (image.permute((1, 2, 0)) if image.dim() == 3 else image).detach().numpy()
    return tensor_fallback.to_pil_image(image, draft.core.mode) if image.flags.c_contiguous else None


def one_job(draft: Any) -> Job | None:
    """Return the only job of a draft, or None if it has none or several, or does not make a new image."""
    if draft.core.lead or draft.core.bands > 4 or (draft.core.source == TENSOR and type(draft.image) is not Tensor):
        return None
    if draft.device is None and draft.core.ending:
        return None
    draft.choose_order()
    job: Job = draft.job()
    return job


def one_job_as(draft: Any, dtype: torch.dtype, channels_last: bool) -> Job | None:
    """Return the only job of a draft for a tensor of this dtype, with or without channels side by side."""
    if dtype not in DTYPES or draft.core.lead or draft.core.flat or draft.core.bands > 4:
        return None
    if draft.core.floats:
        # A view may stay one; and pixels that lie together stay together, unless another order is asked for.
        if not draft.made or (draft.core.channel_last and not channels_last):
            return None
    elif not draft.core.stored:
        return None
    job: Job = draft.job()
    job.dtype, job.interleaved = dtype, channels_last
    return job


def borrowed(draft: Any) -> tuple[bytes, _C.Source]:
    """Return the program, and the image for it."""
    core, image = draft.core, draft.image
    program: bytes = core.program(0)
    source = core.source
    if source == ENCODED:
        return program, _encoded_source(draft)
    if source == TENSOR:
        return program, borrow_tensor(_plain(image))
    if source != PIL_IMAGE:
        return program, _C.from_array(image) if draft.device is None else image.borrowed()
    return program, pil.borrow(image, core.bands)


def _plain(image: Any) -> Any:
    """Return a tensor without its own class, or any other image unchanged."""
    return image.as_subclass(Tensor) if isinstance(image, Tensor) and type(image) is not Tensor else image


def _encoded_source(draft: Any) -> _C.Source:
    image, log = draft.image, draft.call.log
    before = log is not None and image.keeps
    source: _C.Source = image.source()
    if log is not None and image.keeps:
        log.kept(draft, before)
    return source


def _delegated(draft: Any) -> Any:
    """Return the result of a draft's only op, if it is one move for Pillow or torch."""
    core = draft.core
    op: Named = core.first
    if core.kind == TENSOR:
        if core.copied:
            return None  # the copy of a crop is no view, and the copy may have another memory format
        done: Any = delegate.by_torch(draft.image, op)
    elif core.kind == PIL_IMAGE and core.mode == draft.image.mode and core.bands <= 4:
        done = delegate.by_pillow(draft.image, op)
        if done is not None:
            done.info = copied_info(draft)
    else:
        return None
    if done is not None and draft.call.log is not None:
        draft.call.log.delegated(draft, "torch" if core.kind == TENSOR else "Pillow")
    return done


def _flipped(draft: Any) -> torch.Tensor:
    """Flip a view of floats by torch, which is one pass, too."""
    image: Any = draft.image if draft.core.first is None else delegate.by_torch(draft.image, draft.core.first)
    if draft.call.log is not None:
        draft.call.log.delegated(draft, "torch")
    flipped: torch.Tensor = image.flip(_FLIPS[draft.core.ops[-1]])
    return flipped


def copied_info(draft: Any) -> dict[Any, Any]:
    info = draft.info or {}
    return {key: value.copy() if isinstance(value, list) else value for key, value in info.items()}


def _untouched(draft: Any) -> Any:
    """Return the source itself, or a copy if torchvision makes one."""
    image = draft.image
    if draft.core.kind == PIL_IMAGE and draft.core.mode != image.mode:
        # Only read as another mode.
        return Image.frombuffer(draft.core.mode or "", image.size, image.tobytes(), "raw", draft.core.mode, 0, 1)
    if not draft.core.copied:
        return image if draft.core.first is None else delegate.by_torch(image, draft.core.first)
    if draft.core.kind == TENSOR:
        plain = _plain(image)
        if not draft.core.channel_last:
            copy = plain.clone(memory_format=torch.contiguous_format)
        elif is_interleaved(plain):
            copy = plain.clone()
        else:
            copy = torch.empty_like(plain.movedim(-3, -1), memory_format=torch.contiguous_format).movedim(-1, -3)
            copy.copy_(plain)
        return copy if plain is image else _of_class(copy, image)
    copy = image.copy()
    if draft.core.kind == PIL_IMAGE and not draft.info:
        copy.info = {}
    return copy


def _parts(draft: Any) -> tuple[list[tuple[bytes, _C.Source, _C.Target]], Any]:
    """Return a job for each image of a batch and every four of its channels, and the result."""
    height, width, channels = draft.core.height, draft.core.width, draft.core.channels
    bands, lead = draft.core.bands, draft.core.lead
    if draft.core.kind == TENSOR:
        dtype = _float32 if draft.core.stored else _uint8
        number, size = DTYPES[dtype]
        if draft.core.channel_last:
            whole = torch.empty((*lead, height, width, channels), dtype=dtype, device=_cpu)
            result: Any = whole.movedim(-1, -3)
            strides = (size * width * channels, size * channels, size)
        else:
            result = torch.empty((*lead, channels, height, width), dtype=dtype, device=_cpu)
            strides = (size * width, size, size * height * width)
        address = result.data_ptr()
    else:
        result = np.empty((height, width, channels), np.uint8)
        number, _ = DTYPES[_uint8]
        address = result.__array_interface__["data"][0]
        size = 1
        strides = (width * channels, channels, 1)
    image = _plain(draft.image)
    borrow: Any
    if draft.core.source == TENSOR:
        images, borrow = image.reshape(-1, bands, *image.shape[-2:]), borrow_tensor
    else:
        images, borrow = np.moveaxis(image, 2, 0)[None], lambda part: _C.from_array(np.moveaxis(part, 0, 2))
    jobs = []
    # Of a video some frames may be left out.
    places = draft.places() if draft.core.lead and hasattr(draft, "places") else range(images.shape[0])
    for (index, place), first in itertools.product(enumerate(places), range(0, bands, 4)):
        part = images[place, first : first + 4]
        count = min(4, channels - first) if bands > 4 else channels
        program = draft.core.program(first // 4)
        at = address + index * size * height * width * channels + first * strides[2]
        target = _C.into_pointer(at, number, height, width, count, *strides, result)
        jobs.append((program, borrow(part), target))
    return jobs, result


_UNTOUCHED = 1

#: What each ending of csrc/draft/draft.h does, but for a job: its result, or None where a job is needed after all.
_ENDINGS: tuple[Any, ...] = (None, _untouched, _delegated, _flipped, _mapped)
