"""Compile the kernels of a pipeline before the first image."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from PIL import Image

from fastaug import _C
from fastaug._batch.batch import Task
from fastaug._batch.threads import NativeJob
from fastaug._cuda import memory
from fastaug._draft.call import Call, Drawing
from fastaug._draft.draws import draws_from
from fastaug._draft.generators import generator_of, untouched
from fastaug._draft.pipeline import Pipeline, checked_size
from fastaug._program.kinds import TENSOR

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device

# From small images, which crops enlarge, to photographs.
_SIZES = (32, 224, (375, 500), (500, 375), (1000, 1500))

# Number of draws. Kernels needed in less than one of a hundred calls are compiled on their first use.
_DRAWS = 400

# An address for images and results, which nothing reads.
_NOWHERE = 1 << 20


def prepare(pipeline: Pipeline, device: Any, sizes: Iterable[Any] | None) -> int:
    """Implement fastaug.Compiled.prepare."""
    where = memory.as_device(device)
    if where.type == "cpu":
        raise ValueError("device should be a CUDA device, got 'cpu', which needs no kernels")
    sides = [checked_size(size) for size in (_SIZES if sizes is None else sizes)]
    if not sides:
        raise ValueError("sizes should be at least one size, got none")
    with untouched(generator_of(pipeline)):
        jobs = _drawn(pipeline, sides, sizes is None)
    if not jobs:
        return 0
    on = memory.of(where)
    with on.current():
        return _compiled(pipeline, jobs, on)


def _compiled(pipeline: Pipeline, jobs: list[Any], device: Device) -> int:
    bag = _C.Bag(jobs, pipeline._call.rewrites, *device.limits)
    if not bag.launches:
        return 0
    tables, tiles = device.kernels(bag, pipeline._family())
    return len({tables, *tiles} - {0})


def _drawn(pipeline: Pipeline, sizes: list[tuple[int, int]], lenient: bool) -> list[NativeJob]:
    """Return jobs of images of these sizes or, if lenient, of the sizes that the pipeline accepts."""
    generator = torch.Generator()
    generator.manual_seed(0)
    call = pipeline._call.like(draws=draws_from(generator), tape=Drawing())
    try:
        return _drawn_for(pipeline, [Image.new("RGB", (width, height)) for height, width in sizes], call, lenient)
    except TypeError:
        # The pipeline may need tensors.
        images = [torch.zeros((3, height, width), dtype=torch.uint8) for height, width in sizes]
        return _drawn_for(pipeline, images, call, lenient)


def _drawn_for(pipeline: Pipeline, images: list[Any], call: Call, lenient: bool) -> list[NativeJob]:
    jobs = []
    for number in range(_DRAWS):
        task = Task(pipeline, number)
        image = images[number % len(images)]
        try:
            task.draw(image, call)
        finally:
            call.draws.release()
        if task.error is not None:
            if not lenient or isinstance(task.error, TypeError) or len(images) == 1:
                raise task.error
            images = [one for one in images if one is not image]
            continue
        job = task.job
        if job is None or job.source.floats:
            continue
        if job.kind != TENSOR:
            raise ValueError("a pipeline for a device has to end in tensors, as with ToTensor")
        # A batch stores the channels last on a device.
        height, width, channels = job.source.height, job.source.width, job.source.channels
        strides = width * channels, channels, 1
        source = _C.from_pointer(_NOWHERE, height, width, channels, *strides, None)
        jobs.append((job.program, source, job.target(_NOWHERE, None)))
    return jobs
