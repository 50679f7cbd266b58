"""One batch: parameters drawn one after the other, pixels made by several threads, into one tensor."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from fastaug._batch.slots import Slots, described
from fastaug._batch.sources import path_of
from fastaug._batch.task import Task
from fastaug._batch.threads import Crew
from fastaug._draft.call import Call
from fastaug._program.kinds import TENSOR
from fastaug._tv_tensors.choice import loaded

if TYPE_CHECKING:
    from fastaug._draft.pipeline import Pipeline

_Kind = TypeVar("_Kind", bound=Task)


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
        task = self._drawn(Task, item, image, error)
        index = task.index
        if task.error is not None or task.done:
            if self._slots is not None and task.done:
                task.placed = self._slots.put(index, task.result)
            return None
        if self._slots is None and index == 0 and task.job is not None and task.job.kind == TENSOR:
            # The others may be like it.
            self._slots = self._slots_like(task.job)
        self._open.add(index)
        return crew.push(task.work, task.prepare(self._slots), self._call.rewrites, partial(self._finish, task))

    def _slots_like(self, job: Any) -> Slots | None:
        """Memory for results such as a job's, if they can lie side by side."""
        return Slots.like(job, self._count)

    def _drawn(self, kind: type[_Kind], item: Any, image: Any, error: Exception | None) -> _Kind:
        """The next task, with its parameters."""
        task = kind(self._pipeline, len(self.tasks), error, item)
        self.tasks.append(task)
        if error is None:
            start = time.perf_counter()
            task.draw(image, self._call)
            self.drawing += time.perf_counter() - start
        return task

    def _finish(self, task: Task) -> None:
        task.finish()
        self._open.discard(task.index)

    def refused(self, crew: Crew, number: int | None) -> BaseException | None:
        """Why results cannot be what is asked for, as far as the first image tells, whose entry that is."""
        task = self.tasks[0]
        if self._slots is None:
            return None
        if number is not None and not task.placed:
            crew.wait(number)
        return self.misplaced()

    def close(self, crew: Crew) -> None:
        """No more images come."""

    def settle(self) -> None:
        """The threads are done."""

    def result(self) -> Any:
        """One tensor, or a list where that cannot be."""
        slots, tasks = self._slots, self.tasks
        if slots is not None and all(task.placed or slots.put(task.index, task.result) for task in tasks):
            return slots.tensor
        if slots is not None:
            # Each gets memory of its own, as results of calls have.
            return [self._copy(slots.tensor[task.index]) if task.placed else task.result for task in tasks]
        results = [task.result for task in tasks]
        return self._stack(results) if _alike(results) else results

    def collated(self) -> Any:
        """What torch's default_collate makes of the results, where that is at hand; else None."""
        result = self.result()
        return None if isinstance(result, list) else result

    def _copy(self, result: torch.Tensor) -> torch.Tensor:
        return result.clone()

    def _stack(self, results: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(results)

    def results(self) -> list[Any]:
        """One by one; those in slots share their memory."""
        tensor: Any = None if self._slots is None else self._slots.tensor
        return [tensor[task.index] if task.placed else task.result for task in self.tasks]

    def take_error(self) -> tuple[Task, Exception] | None:
        """The first task that failed, and why. All forget their errors, whose frames lead back to the batch.

        It would stay until a collection of garbage otherwise, and its threads and pixels with it.
        """
        found = None
        for task in self.tasks:
            if task.error is not None and found is None:
                found = task, task.error
            task.error = None
        return found

    def misplaced(self) -> BaseException | None:
        """What is wrong with the first result that does not fit into the slots."""
        for task in self.tasks:
            if not task.placed and task.error is None:
                assert self._slots is not None
                error = ValueError(
                    f"out should hold {self._slots.described()} for each image, got {described(task.result)}"
                )
                return located(error, task.index)
        return None


def stacked(results: list[Any]) -> Any:
    """One tensor of several, or the list where that cannot be."""
    return torch.stack(results) if _alike(results) else results


def _alike(results: list[Any]) -> bool:
    first = results[0]
    classes = loaded()
    kinds = (torch.Tensor,) if classes is None else (torch.Tensor, classes.Image, classes.Video)
    return type(first) in kinds and all(
        type(result) is type(first) and result.dtype is first.dtype and result.shape == first.shape
        for result in results
    )


def located(error: BaseException, index: Any, item: Any = None, what: str = "image {} of the batch") -> BaseException:
    """The error with the number, and the file, of its image."""
    path = path_of(item)
    error.index = index  # type: ignore[attr-defined]
    if path is not None:
        error.path = path  # type: ignore[attr-defined]
    if hasattr(error, "add_note"):
        error.add_note(what.format(index) + ("" if path is None else f", {path}"))
    return error
