"""A call of batch(): its arguments, the draws in their order, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastaug._batch.batch import located
from fastaug._batch.seeds import Seeded, as_seeds, drawing
from fastaug._batch.sources import Ahead, ahead_for, as_images, common_device, is_on_device
from fastaug._batch.task import Drawing
from fastaug._batch.threads import Crew, threads_for
from fastaug._draft.generators import set_all, states_of

if TYPE_CHECKING:
    from fastaug._batch.batch import Batch
    from fastaug._cuda.memory import Device

# Entries of the queue for each thread, beyond which the one that draws runs some itself.
_QUEUED = 8


def run(pipeline: Any, images: Any, out: Any, num_threads: Any, seeds: Any, device: Any) -> Any:
    """What fastaug._batch.methods.BatchPipeline.batch is."""
    items = as_images(images)
    where = common_device(items, device)
    if where is not None:
        from fastaug._cuda import memory

        on = memory.of(where)
        with on.current():
            on.refuse_capture()
            return _run(pipeline, items, out, num_threads, seeds, on)
    return _run(pipeline, items, out, num_threads, seeds, None)


def _run(pipeline: Any, items: Sequence[Any], out: Any, num_threads: Any, seeds: Any, device: Device | None) -> Any:
    """On a device, which is the current one, or by the threads alone."""
    batch = made(pipeline, items, out, num_threads, seeds, device)
    if out is None:
        return batch.result()
    if (unfit := batch.misplaced()) is not None:
        try:
            raise unfit
        finally:
            del unfit
    return out


def made(
    pipeline: Any, items: Sequence[Any], out: Any, num_threads: Any, seeds: Any, device: Device | None = None
) -> Batch:
    """The batch of these images, with all of them done.

    Raises:
        Exception: of the first image that it raises for.
    """
    threads = min(threads_for(num_threads), len(items))
    numbers = None if seeds is None else as_seeds(seeds, len(items))
    call = pipeline._call.like(tape=Drawing())
    seeded = None if numbers is None else Seeded(pipeline, call)
    if seeded is not None:
        call = seeded.call
    slots = None if out is None else pipeline._slots_of(out, len(items), None if device is None else device.device)
    batch: Batch
    if device is None:
        batch = pipeline._batch_of(call, len(items), slots)
    else:
        from fastaug._batch.device import DeviceBatch

        batch = DeviceBatch(pipeline, call, len(items), slots, device)
    own = [] if call.draws.generator is None else [call.draws.generator]
    checked = out is not None or device is not None
    before = states_of(own) if checked and seeded is None else None
    crew = Crew(threads, "fastaug-batch")
    try:
        if device is None or not all(map(is_on_device, items)):
            crew.start()
        for index, (item, image, error) in enumerate(Ahead(items, pipeline._handle, crew, ahead_for(threads))):
            with drawing(seeded, numbers, index):
                number = batch.add(crew, item, image, error)
            if index == 0 and checked:
                call.draws.release()
                if (unfit := batch.refused(crew, number)) is not None:
                    if before is not None:
                        set_all(own, before)  # as if nothing had been drawn
                    try:
                        raise unfit
                    finally:
                        del unfit
            while crew.queue.left() > _QUEUED * threads:
                crew.help()
            crew.collect()
        call.draws.release()
        batch.close(crew)
        crew.finish()
    finally:
        call.draws.release()
        crew.cancel()
        error = None  # whose traceback may lead to this frame, and so back to it
    batch.settle()
    if (failed := batch.take_error()) is not None:
        task, error = failed
        try:
            raise located(error, task.index, task.item)
        finally:
            del failed, error
    return batch
