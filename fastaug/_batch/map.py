"""A stream of images: results as they are done."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from fastaug._batch.batch import located
from fastaug._batch.seeds import Seeded
from fastaug._batch.sources import Ahead, refuse_single
from fastaug._batch.task import Drawing, Task
from fastaug._batch.threads import GOING, Crew, threads_for
from fastaug._program.integers import integer

if TYPE_CHECKING:
    from fastaug._draft.pipeline import Pipeline

# Images of each thread that are begun before the result is wanted, where there is more than one thread.
_AHEAD = 2


class Mapped(Iterator[Any]):
    """What fastaug._batch.methods.BatchPipeline.map returns.

    After an error it goes on with the next image. Its threads end with it: when there are no more images, with
    :meth:`close`, or when nobody has it any longer.
    """

    def __init__(
        self, pipeline: Pipeline, images: Iterable[Any], ordered: bool, num_threads: Any, seeds: Any = None
    ) -> None:
        refuse_single(images)
        if seeds is not None and (isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable)):
            raise TypeError(f"seeds should be an iterable of integers, one for each image, got {type(seeds).__name__}")
        threads = threads_for(num_threads)
        self._pipeline = pipeline
        self._ordered = ordered
        self._call = pipeline._call.like(tape=Drawing())
        self._seeds: Iterator[Any] | None = None if seeds is None else iter(seeds)
        self._seeded: Seeded | None = None
        if self._seeds is not None:
            self._seeded = Seeded(pipeline, self._call)
            self._call = self._seeded.call
        self._crew = Crew(threads, "fastaug-map")
        self._begun = 0
        self._most = _AHEAD * threads if threads > 1 else 1
        ahead = Ahead(images, pipeline._handle, self._crew, self._most if threads > 1 else 0)
        self._images: Iterator[tuple[Any, Any, Exception | None]] = ahead
        self._next: tuple[Any, Any, Exception | None] | None = None  # what is to be drawn for
        self._more = True
        self._waiting: dict[int, Task] = {}  # by number
        self._done: deque[Task] = deque()  # where they are not ordered
        self._crew.start()

    def __iter__(self) -> Mapped:
        return self

    def __next__(self) -> Any:
        """
        Raises:
            RuntimeError: in a child of the process that began it.
            Exception: of the image, with its number as ``index``.
        """
        if self._crew.forked:
            raise RuntimeError("an iterator of map() ends at a fork: begin a new one in the child process")
        self._begin()
        if not self._waiting:
            self.close()
            raise StopIteration
        return self._next_result()

    def _next_result(self) -> Any:
        """Not in `__next__`: errors of images that were begun there refer to its frame, which would keep a result."""
        # A task is given up after the wait, during which Ctrl-C may come.
        if self._ordered:
            task = next(iter(self._waiting.values()))
            self._crew.wait_until(lambda: task.done)
        else:
            self._crew.wait_until(lambda: bool(self._done))
            task = self._done.popleft()
        self._waiting.pop(task.index, None)
        error, task.error = task.error, None
        if error is not None:
            try:
                raise located(error, task.index, task.item)
            finally:
                del error  # it holds on to this frame
        return task.result if self._ordered else (task.index, task.result)

    def _begin(self) -> None:
        """Draws for images ahead, as many as there are to be."""
        try:
            while self._more and len(self._waiting) < self._most:
                if self._next is None:
                    self._next = next(self._images, None)
                if self._next is None:
                    self._more = False
                    break
                item, image, error = self._next
                task = Task(self._pipeline, self._begun, error, item)
                with self._drawing():
                    if error is None:
                        task.draw(image, self._call)  # callables of the user's, too: Ctrl-C may come
                self._next = None
                self._begun += 1
                self._add(task)
        finally:
            self._call.draws.release()

    def _drawing(self) -> contextlib.AbstractContextManager[None]:
        """The context in which the next image is drawn.

        Raises:
            TypeError: its seed is no integer.
            ValueError: there is none for it.
        """
        if self._seeds is None or self._seeded is None:
            return contextlib.nullcontext()
        try:
            return self._seeded.drawing(integer("seeds", next(self._seeds)))
        except StopIteration:
            raise ValueError(f"seeds should be one for each image, got {self._begun}") from None

    def _add(self, task: Task) -> None:
        # Of this object the threads know nothing, or it would never be without an owner.
        finish = task.finish if self._ordered else partial(_finish, task, self._done)
        if task.error is None and not task.done and task.is_on_device:
            task.work()  # on this thread's stream
            finish()
        elif task.error is not None or task.done:
            finish()
        else:
            self._crew.push(task.work, task.prepare(None), self._call.rewrites, finish)
        self._waiting[task.index] = task

    def close(self) -> None:
        """Ends the threads, each after the image that it works on. Images that were drawn for are lost."""
        self._more = False
        self._next = None
        self._waiting.clear()
        self._done.clear()
        self._crew.cancel()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # where __init__ raised
            self._crew.cancel(GOING)


def _finish(task: Task, done: deque[Task]) -> None:
    task.finish()
    done.append(task)
