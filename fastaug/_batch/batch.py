"""One batch: parameters are drawn one after the other, then threads make pixels in one tensor."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from fastaug import _C
from fastaug._batch.slots import Slots
from fastaug._batch.sources import path_of
from fastaug._batch.threads import Crew
from fastaug._draft.call import Call, Drawn
from fastaug._program.job import Job
from fastaug._program.kinds import TENSOR
from fastaug._tv_tensors.choice import classes

if TYPE_CHECKING:
    from fastaug._draft.pipeline import Pipeline


#: Recipes with their transforms, one for each view of an image.
Recipes: TypeAlias = "list[tuple[_C.Recipe, Any]]"


class Outcome:
    """The result or the error of one image, by its number."""

    done = False
    placed = False  # the result is in its slot
    result: Any = None
    error: Exception | None = None

    def __init__(self, index: int, item: Any) -> None:
        self.index = index
        self.item = item  # from which the image was made

    def take_error(self) -> Any:
        """Return the error and forget it, because its frames lead back to its owner and its batch."""
        error, self.error = self.error, None
        return error


class _Placed(Outcome):
    done = placed = True


#: What all images share whose results are in their slots. It has neither a number nor an item.
PLACED = _Placed(-1, None)


class Task(Outcome):
    """The work for one image, and its result or error.

    It is a job if the native core does all of it in one run. Otherwise, and if the job fails, `work` does it as a call
    of the pipeline would, with the parameters that were drawn.
    """

    def __init__(self, pipeline: Pipeline, index: int, error: Exception | None = None, item: Any = None) -> None:
        super().__init__(index, item)
        self.error = error
        self.owed = False  # `work` has to do it, and has not done it
        self._pipeline = pipeline
        self._drawn: Drawn | None = None
        self._memory: Any = None
        self.job: Job | None = None
        self.slots: Slots | None = None

    def draw(self, image: Any, call: Call) -> None:
        """Draw the parameters. The caller releases the generator."""
        pipeline = self._pipeline
        try:
            if not pipeline._is_own():
                self.result = pipeline(image)
                self.done = True
                return
            drawn = self._drawn = self._begin(image, call)
            pipeline._draft_all(drawn)
            if drawn.complete and self._takes(drawn.alone):
                self.job = pipeline._job(drawn)
        except Exception as error:
            self.error = error

    def _begin(self, image: Any, call: Call) -> Any:
        return self._pipeline._begin(image, call)

    def _takes(self, draft: Any) -> bool:
        """Return whether this task does the job of a draft as a job."""
        return draft is None or draft.device is None

    @property
    def draft(self) -> Any:
        """The draft of the only image; None if there is more than that, or nothing is drawn yet."""
        return None if self._drawn is None else self._drawn.alone

    @property
    def is_on_device(self) -> bool:
        """True if the image is drawn for, and on a device that processes it."""
        draft = self.draft
        return draft is not None and draft.device is not None

    def prepare(self, slots: Slots | None) -> Any:
        """Return the native job, or several, with the slot as its target if it fits there."""
        self.slots = slots
        job = self.job
        if job is None:
            self.owed = True
            return None
        if slots is not None and slots.fits(job):
            self.placed = True
            return slots.job(self.index, job)
        self._memory, native = job.begin()
        return native

    def work(self) -> None:
        """Do it in Python, as any call does."""
        self.owed = True
        self.placed = False
        self.job = None
        drawn: Any = self._drawn
        try:
            result = self._pipeline._delivered(drawn.drafted())
            if self.slots is not None and self.slots.put(self.index, result):
                self.placed = True
            else:
                self.result = result
        except Exception as error:
            self.error = error
        self.owed = False
        del self  # an error leads to this frame

    def finish(self) -> None:
        if self.owed:
            self.work()  # Ctrl-C interrupted it
        elif self.job is not None and not self.placed and self.error is None:
            self.result = self._pipeline._presented(self._drawn, self.job.delivered(self._memory))
        self._drawn = self._memory = self.job = None
        self.done = True


class Batch:
    """The tasks of one batch of `count` images, and the memory for their results."""

    _task = Task

    def __init__(self, pipeline: Pipeline, call: Call, count: int, slots: Slots | None) -> None:
        self.tasks: list[Any] = []
        self._pipeline = pipeline
        self._call = call
        self._count = count
        self._slots = slots
        self._open: set[int] = set()
        self.drawing = 0.0  # seconds

    @property
    def left(self) -> int:
        """The number of images that were added and are not done."""
        return len(self._open)

    def add(self, crew: Crew, item: Any, image: Any, error: Exception | None) -> int | None:
        """Draw for the next image, and return the number of the crew's entry for the rest, if there is one."""
        task = self._drawn(item, image, error)
        index = task.index
        if task.error is not None or task.done:
            if self._slots is not None and task.done:
                task.placed = self._slots.put(index, task.result)
            return None
        if self._slots is None and index == 0 and task.job is not None and task.job.kind == TENSOR:
            # The others may be like it.
            self._slots = self._slots_like(task.job)
        return self._push(crew, task, self._slots)

    def _slots_like(self, job: Any) -> Slots | None:
        """Return memory for results like that of a job, if they can lie side by side."""
        return Slots.like(job, self._count)

    def _drawn(self, item: Any, image: Any, error: Exception | None) -> Any:
        task = self._task(self._pipeline, len(self.tasks), error, item)
        self.tasks.append(task)
        if error is None:
            start = time.perf_counter()
            task.draw(image, self._call)
            self.drawing += time.perf_counter() - start
        return task

    @property
    def draws(self) -> Any:
        return self._call.draws

    def recipes(self) -> Recipes | None:
        """Return the recipes by which the core draws for images, or None if Python draws."""
        call, pipeline = self._call, self._pipeline
        plain = isinstance(call.draws, _C.Draws) and call.log is None and pipeline._is_own()
        recipe = pipeline._own_book().of_many(pipeline, self._count) if plain else None
        return None if recipe is None else [(recipe, pipeline.transforms)]

    def job_of_forms(self, forms: list[Any]) -> Any:
        """Return a job for the forms of its results alone, as the core has them."""
        return Job.of_form(*forms[0])

    def result_of(self, results: list[Any]) -> Any:
        """Return the result of an image from those of the recipes."""
        return results[0]

    def slots_for(self, number: int, job: Any) -> Slots | None:
        """Return the slots for image `number` and those after it, if the first result is that of such a job.

        Without a job it is not a tensor. ValueError is raised if the first result is not what is asked for.
        """
        if number == 0 and self._slots is None and job is not None:
            self._slots = self._slots_like(job)
        elif number == 0 and self._slots is not None and (job is None or not self._slots.fits(job)):
            raise ValueError("the first result does not fit")
        return self._slots

    def add_together(self, count: int) -> None:
        """Add the next images, for which the core has drawn in one call, and which are one entry of the crew.

        They are PLACED until `put` says otherwise.
        """
        self._open.add(len(self.tasks))
        self.tasks += [PLACED] * count

    def put(self, number: int, item: Any, result: Any = None, error: Exception | None = None) -> None:
        """Keep the result of an image that is not in its slot, or its error."""
        outcome = self.tasks[number] = Outcome(number, item)
        outcome.done = True
        outcome.result, outcome.error = result, error

    def done_together(self, number: int) -> None:
        """Called when the images that were added with image `number` are done."""
        self._open.discard(number)

    def _push(self, crew: Crew, task: Task, slots: Slots | None) -> int:
        self._open.add(task.index)
        return crew.push(task.work, task.prepare(slots), self._call.rewrites, partial(self._finish, task))

    def _finish(self, task: Task) -> None:
        task.finish()
        self._open.discard(task.index)

    def check_first(self, crew: Crew, number: int | None) -> None:
        """Raise ValueError if the first image, which is that entry, shows that results are not what is asked for."""
        if self._slots is None:
            return
        if number is not None and not self.tasks[0].placed:
            crew.wait(number)
        self.check_places()

    def close(self, crew: Crew) -> None:
        """Called after the last image was added."""

    def settle(self) -> None:
        """Called when the threads are done."""

    def result(self) -> Any:
        slots, tasks = self._slots, self.tasks
        if slots is not None and self.is_placed(slots):
            return slots.tensor
        if slots is not None:
            # Each gets its own memory, as results of calls have.
            return [self._copy(slots.tensor[k]) if task.placed else task.result for k, task in enumerate(tasks)]
        results = [task.result for task in tasks]
        return stacked(results, self._stack)

    def is_placed(self, slots: Slots) -> bool:
        """Return whether all results are in their slots, or can be put there."""
        tasks = self.tasks
        return tasks.count(PLACED) == len(tasks) or all(
            task.placed or slots.put(task.index, task.result) for task in tasks
        )

    def collated(self) -> Any:
        """Return what torch's default_collate makes of the results, if that is at hand."""
        result = self.result()
        return None if isinstance(result, list) else result

    def _copy(self, result: torch.Tensor) -> torch.Tensor:
        return result.clone()

    def _stack(self, results: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(results)

    def results(self) -> list[Any]:
        """Return a list of the results. Those in slots share their memory."""
        tensor: Any = None if self._slots is None else self._slots.tensor
        return [tensor[k] if task.placed else task.result for k, task in enumerate(self.tasks)]

    def failed(self) -> Task | None:
        """Return the first task that failed. All others forget their errors.

        Otherwise threads and pixels would stay until a garbage collection.
        """
        if self.tasks.count(PLACED) == len(self.tasks):
            return None
        failed = [task for task in self.tasks if task.error is not None]
        for task in failed[1:]:
            task.error = None
        return failed[0] if failed else None

    def check_places(self) -> None:
        """Raise ValueError for the first result that does not fit into the slots."""
        for task in self.tasks:
            if not task.placed and task.error is None:
                assert self._slots is not None
                raise located(ValueError(self._slots.misfit(task.result)), task.index)


def stacked(results: list[Any], stack: Callable[[list[Any]], torch.Tensor] = torch.stack) -> Any:
    """Stack tensors of one type, dtype and shape; return other results as they are."""
    first = results[0]
    kind = type(first)
    if kind is not torch.Tensor and kind not in classes("Image", "Video"):
        return results
    if len(results) > 1:
        dtype, shape = first.dtype, first.shape
        if not all(type(result) is kind and result.dtype is dtype and result.shape == shape for result in results):
            return results
    return stack(results)


def located(error: BaseException, index: Any, item: Any = None, what: str = "image {} of the batch") -> BaseException:
    """Return the error with the number of its image as `index`, and the `path` of its file."""
    path = path_of(item)
    error.index = index  # type: ignore[attr-defined]
    if path is not None:
        error.path = path  # type: ignore[attr-defined]
    if hasattr(error, "add_note"):
        error.add_note(what.format(index) + ("" if path is None else f", {path}"))
    return error
