"""One batch: parameters drawn one after the other, pixels made by several threads, into one tensor."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from fastaug._batch.slots import Slots, described
from fastaug._batch.sources import Ahead, ahead_for, as_images, path_of
from fastaug._batch.task import Drawing, Task
from fastaug._batch.threads import Crew, threads_for
from fastaug._draft.call import Call
from fastaug._draft.draws import Draws
from fastaug._draft.generators import set_all, states_of
from fastaug._program.kinds import TENSOR

if TYPE_CHECKING:
    from fastaug._draft.pipeline import Pipeline

# Entries of the queue for each thread, beyond which the one that draws runs some itself.
_QUEUED = 8


def run(pipeline: Pipeline, images: Any, out: Any, num_threads: Any, seeds: Any) -> Any:
    """What fastaug._batch.methods.BatchPipeline.batch is."""
    items = as_images(images)
    threads = min(threads_for(num_threads), len(items))
    numbers = None if seeds is None else _as_seeds(seeds, len(items))
    call = Call(pipeline._call.draws, pipeline._call.rewrites, tape=Drawing())
    batch = Batch(pipeline, call, len(items), None if out is None else _slots_of(out, len(items)))
    own = [] if call.draws.generator is None else [call.draws.generator]
    before = None if out is None else states_of(own)
    crew = Crew(threads, "fastaug-batch")
    try:
        crew.start()
        for index, (item, image, error) in enumerate(Ahead(items, pipeline._handle, crew, ahead_for(threads))):
            if numbers is not None:
                _seed(call.draws, numbers[index])
            number = batch.add(crew, item, image, error)
            if index == 0 and before is not None:
                call.draws.release()
                if _is_unfit(batch, crew, number):
                    set_all(own, before)  # as if nothing had been drawn
                    batch.check_placed()
            while crew.queue.left() > _QUEUED * threads:
                crew.help()
            crew.collect()
        call.draws.release()
        crew.finish()
    finally:
        call.draws.release()
        crew.cancel()
    for task in batch.tasks:
        if task.error is not None:
            raise located(task.error, task.index, task.item)
    if out is None:
        return batch.result()
    batch.check_placed()
    return out


class Batch:
    """The tasks of one batch, and where their results go.

    Args:
        count: how many images there will be.
        slots: memory of the user's for the results.
    """

    def __init__(self, pipeline: Pipeline, call: Call, count: int, slots: Slots | None) -> None:
        self.tasks: list[Task] = []
        self._pipeline = pipeline
        self._call = call
        self._count = count
        self._slots = slots
        self._open: set[int] = set()
        self.drawing = 0.0  # seconds

    @property
    def left(self) -> int:
        """How many images are not done yet, of those that were added."""
        return len(self._open)

    def add(self, crew: Crew, item: Any, image: Any, error: Exception | None) -> int | None:
        """Draws for the next image, and has the rest done by whoever comes first.

        Returns:
            The number of the crew's entry; None if it is done, or after an error.
        """
        index = len(self.tasks)
        task = Task(self._pipeline, index, error, item)
        self.tasks.append(task)
        if error is None:
            start = time.perf_counter()
            task.draw(image, self._call)
            self.drawing += time.perf_counter() - start
        if task.error is not None or task.done:
            if self._slots is not None and task.done:
                task.placed = self._slots.put(index, task.result)
            return None
        if self._slots is None and index == 0 and task.job is not None and task.job.kind == TENSOR:
            # The others may be like it.
            self._slots = Slots.like(task.job, self._count)
        self._open.add(index)
        return crew.push(task.work, task.prepare(self._slots), self._call.rewrites, partial(self._finish, task))

    def _finish(self, task: Task) -> None:
        task.finish()
        self._open.discard(task.index)

    def result(self) -> Any:
        """One tensor, or a list where that cannot be."""
        slots, tasks = self._slots, self.tasks
        if slots is not None and all(task.placed or slots.put(task.index, task.result) for task in tasks):
            return slots.tensor
        if slots is not None:
            # Each gets memory of its own, as results of calls have.
            return [slots.tensor[task.index].clone() if task.placed else task.result for task in tasks]
        results = [task.result for task in tasks]
        return torch.stack(results) if _alike(results) else results

    def results(self) -> list[Any]:
        """One by one; those in slots share their memory."""
        tensor: Any = None if self._slots is None else self._slots.tensor
        return [tensor[task.index] if task.placed else task.result for task in self.tasks]

    def check_placed(self) -> None:
        """
        Raises:
            ValueError: some result does not fit into the slots.
        """
        for task in self.tasks:
            if not task.placed:
                assert self._slots is not None
                error = ValueError(
                    f"out should hold {self._slots.described()} for each image, got {described(task.result)}"
                )
                raise located(error, task.index)


def _alike(results: list[Any]) -> bool:
    first = results[0]
    return type(first) is torch.Tensor and all(
        type(result) is torch.Tensor and result.dtype is first.dtype and result.shape == first.shape
        for result in results
    )


def _is_unfit(batch: Batch, crew: Crew, number: int | None) -> bool:
    """Whether the results do not fit into `out`, as far as the first one tells."""
    task = batch.tasks[0]
    if number is not None and not task.placed:
        crew.wait(number)
    return not task.placed and task.error is None


def located(error: BaseException, index: Any, item: Any = None, what: str = "image {} of the batch") -> BaseException:
    """The error with the number, and the file, of its image."""
    path = path_of(item)
    error.index = index  # type: ignore[attr-defined]
    if path is not None:
        error.path = path  # type: ignore[attr-defined]
    if hasattr(error, "add_note"):
        error.add_note(what.format(index) + ("" if path is None else f", {path}"))
    return error


def _as_seeds(seeds: Any, count: int) -> list[int]:
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds should be a list of integers, one for each image, got {type(seeds).__name__}")
    try:
        numbers = [operator.index(seed) for seed in seeds]
    except TypeError:
        raise TypeError(f"seeds should be integers, got {seeds!r}") from None
    if len(numbers) != count:
        raise ValueError(f"seeds should be one for each of the {count} images, got {len(numbers)}")
    return numbers


def _seed(draws: Draws, seed: int) -> None:
    draws.release()
    if draws.generator is None:
        torch.manual_seed(seed)
    else:
        draws.generator.manual_seed(seed)


def _slots_of(out: Any, count: int) -> Slots:
    """The user's memory for a batch.

    Raises:
        TypeError: no tensor and no array.
        ValueError: not such as results can be written to.
    """
    if isinstance(out, np.ndarray):
        if not out.flags.writeable:
            raise ValueError("out should be writable, got a read-only array")
        if any(stride < 0 for stride in out.strides):
            raise ValueError(f"out should have no negative strides, got {out.strides}")
        if not out.flags.aligned or not out.dtype.isnative:
            raise ValueError("out should be aligned and of native byte order")
        try:
            out = torch.from_numpy(out)
        except TypeError:
            raise ValueError(f"out should be of a dtype that tensors have, got {out.dtype}") from None
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"out should be a tensor or an ndarray, got {type(out).__name__}")
    if not out.is_cpu or out.layout is not torch.strided:
        raise ValueError(f"out should be a dense tensor on the CPU, got {out.layout} on {out.device}")
    if out.requires_grad:
        raise ValueError("out should not require grad")
    if out.ndim not in (3, 4) or len(out) != count:
        raise ValueError(f"out should be of shape ({count}, ...), for that many images, got {tuple(out.shape)}")
    if any(stride == 0 and side > 1 for stride, side in zip(out.stride(), out.shape)):
        raise ValueError(f"out should have memory of its own for every sample, got strides {out.stride()}")
    return Slots(out)
