"""Calls of batch() and map(): their arguments, the draws in their order, and errors."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from fastaug._batch.batch import Outcome, Recipes, Task, located, stacked
from fastaug._batch.sources import Ahead, as_images, common_device, is_on_device, refuse_single
from fastaug._batch.threads import GOING, Crew, threads_for
from fastaug._batch.together import REFUSED, Alone, Opening, Together
from fastaug._draft.call import Call
from fastaug._draft.draws import draws_from
from fastaug._draft.generators import Generators, set_all, states_of, untouched
from fastaug._draft.known import unknown
from fastaug._program.integers import integer, positive

if TYPE_CHECKING:
    from fastaug._batch.batch import Batch
    from fastaug._cuda.memory import Device

# Entries of the queue for each thread, beyond which the thread that draws runs some itself.
_QUEUED = 8

# Images, and pixels of each, up to which a batch is a loop.
_FEW, _SMALL = 8, 1 << 14

# Pixels of images that are worth a thread: with fewer, it takes longer to start one than to do the work.
_WORTH = 1 << 18

# Images that the core draws for in one call.
_TOGETHER = 64

# For each of several threads: the images of batch() that are read ahead, and those of map() that are begun ahead.
_READ, _BEGUN = 4, 2


class Draws:
    """The draws of many images, one after the other: those of the process's generators, or after the seed of each.

    Images with seeds have private generators of torch, Python and NumPy. If the pipeline has user callables, the
    process's generators are seeded too while an image is drawn for, and restored afterwards.
    """

    def __init__(self, pipeline: Any, call: Call, seeds: Iterable[Any] | None) -> None:
        self.call = call
        self._seeds = None if seeds is None else iter(seeds)
        self._count = 0
        if seeds is not None:
            self._generators = Generators()
            self._pipeline = pipeline
            if call.draws.generator is not None:
                self.call = call.like(draws=draws_from(self._generators.torch))

    @functools.cached_property
    def _known(self) -> bool:
        return unknown(self._pipeline, generator=True) is None

    def next(self) -> contextlib.AbstractContextManager[None]:
        """Return the context in which the next image is drawn for."""
        if self._seeds is None:
            return contextlib.nullcontext()
        try:
            seed = integer("seeds", next(self._seeds))
        except StopIteration:
            raise ValueError(f"seeds should be one for each image, got {self._count}") from None
        self._count += 1
        return self.from_seed(seed)

    def from_seed(self, seed: int) -> contextlib.AbstractContextManager[None]:
        self._generators.seed(seed)
        return self._generators.in_thread() if self._known else self._globally_from(seed)

    @contextlib.contextmanager
    def _globally_from(self, seed: int) -> Iterator[None]:
        with untouched(seed=seed):
            try:
                yield
            finally:
                self.call.draws.release()


def as_seeds(seeds: Any, count: int) -> list[int] | None:
    if seeds is None:
        return None
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds should be a list of integers, one for each image, got {type(seeds).__name__}")
    try:
        numbers = [operator.index(seed) for seed in seeds]
    except TypeError:
        raise TypeError(f"seeds should be integers, got {seeds!r}") from None
    if len(numbers) != count:
        raise ValueError(f"seeds should be one for each of the {count} images, got {len(numbers)}")
    return numbers


def run(pipeline: Any, images: Any, out: Any, num_threads: Any, seeds: Any, device: Any) -> Any:
    if out is None and seeds is None and device is None and _are_few(pipeline, images):
        if num_threads is not None:
            positive("num_threads", num_threads)
        return _one_by_one(pipeline, images)
    items = as_images(images)
    where = common_device(items, device)
    if where is None:
        return _run(pipeline, items, out, num_threads, seeds, None)
    from fastaug._cuda import memory

    on = memory.of(where)
    with on.current():
        on.refuse_capture()
        return _run(pipeline, items, out, num_threads, seeds, on)


def _are_few(pipeline: Any, images: Any) -> bool:
    """Return whether a loop over the images takes less time than to share them out to threads."""
    if type(images) is not list or not 0 < len(images) <= _FEW or pipeline._own_book().recipe is None:
        return False
    for image in images:
        kind = type(image)
        if kind is Image.Image:
            width, height = image.size
        elif kind is np.ndarray and image.ndim == 3:
            height, width, _ = image.shape
        elif kind is torch.Tensor and image.ndim == 3 and not is_on_device(image):
            _, height, width = image.shape
        else:
            return False
        if width * height > _SMALL and len(images) > 1:
            return False
    return getattr(pipeline, "memory_format", None) is None


def _one_by_one(pipeline: Any, images: list[Any]) -> Any:
    results: list[Any] = []
    failed: tuple[int, Exception] | None = None
    for number, image in enumerate(images):
        try:
            results.append(pipeline(image))
        except Exception as error:  # noqa: PERF203
            # As with threads, the others are made.
            failed = failed or (number, error)
    if failed is not None:
        number, first = failed
        try:
            raise located(first, number, images[number])
        finally:
            del first, failed  # they hold on to this frame
    result = stacked(results)
    return result.contiguous() if isinstance(result, torch.Tensor) else result


def _run(pipeline: Any, items: Sequence[Any], out: Any, num_threads: Any, seeds: Any, device: Device | None) -> Any:
    batch = made(pipeline, items, out, num_threads, seeds, device)
    if out is None:
        return batch.result()
    batch.check_places()
    return out


def made(
    pipeline: Any, items: Sequence[Any], out: Any, num_threads: Any, seeds: Any, device: Device | None = None
) -> Batch:
    """Return the batch of these images, all done, or raise the error of the first that failed."""
    threads = min(threads_for(num_threads), len(items))
    numbers = as_seeds(seeds, len(items))
    draws = Draws(pipeline, pipeline._own_book().drawing(pipeline._call), numbers)
    call = draws.call
    slots = None if out is None else pipeline._slots_of(out, len(items), None if device is None else device.device)
    batch: Batch
    if device is None:
        batch = pipeline._batch_of(call, len(items), slots)
    else:
        from fastaug._batch.device import DeviceBatch

        batch = DeviceBatch(pipeline, call, len(items), slots, device)
    own = [] if call.draws.generator is None else [call.draws.generator]
    checked = out is not None or device is not None
    before = states_of(own) if checked and seeds is None else None
    crew = Crew(threads, "fastaug-batch")
    recipes = batch.recipes() if numbers is None or are_plain(numbers) else None
    encoded = recipes is not None and any(type(item) in (bytes, str) for item in items)
    opening = Opening.of(pipeline._handle) if encoded else Opening(pipeline._handle)
    try:
        if recipes is None or opening is None:
            if device is None or not all(map(is_on_device, items)):
                crew.start()
        else:
            try:
                _draw_together(batch, recipes, opening, crew, items, draws, numbers)
                items = ()
            except ValueError:
                if batch.tasks:
                    raise
                # Python finds the same error in the first image, and says what was asked for.
                call.draws.release()
                if before is not None:
                    set_all(own, before)
                crew.start()
        for index, (item, image, error) in enumerate(Ahead(items, pipeline._handle, crew, _READ * threads)):
            with draws.next():
                number = batch.add(crew, item, image, error)
            if index == 0 and checked:
                call.draws.release()
                try:
                    batch.check_first(crew, number)
                except ValueError:
                    if before is not None:
                        set_all(own, before)  # as if nothing had been drawn
                    raise
            while crew.queue.left() > _QUEUED * threads:
                crew.help()
            crew.collect()
        call.draws.release()
        batch.close(crew)
        crew.finish()
    finally:
        call.draws.release()
        crew.cancel()
        error = None  # its traceback may lead to this frame, and so back to it
    batch.settle()
    if (task := batch.failed()) is not None:
        raise located(task.take_error(), task.index, task.item)
    return batch


def _draw_together(
    batch: Batch,
    recipes: Recipes,
    opening: Opening,
    crew: Crew,
    items: Sequence[Any],
    draws: Draws,
    seeds: list[int] | None,
) -> None:
    """Draw for all images, many of them in one call. The files for the next call are read ahead."""
    waiting: deque[tuple[Together, list[int] | None]] = deque()

    def add() -> None:
        together, own = waiting.popleft()

        def add_one(number: int, item: Any, image: Any, error: Exception | None) -> None:
            with draws.next() if own is None else draws.from_seed(own[number]):
                batch.add(crew, item, image, error)

        together.add(add_one)
        most = together.most_pixels
        threads = None if most is None else len(items) * most // _WORTH
        if threads != 0:  # later images may be larger
            crew.start(threads)

    for start in range(0, len(items), _TOGETHER):
        several = slice(start, start + _TOGETHER)
        own = None if seeds is None else seeds[several]
        waiting.append((Together(batch, recipes, opening, crew, items[several], own), own))
        if len(waiting) > 1:
            add()
        while crew.queue.left() > 2 * _TOGETHER:
            crew.help()
        crew.collect()
    add()


def are_plain(seeds: list[int]) -> bool:
    """Return whether the core starts a generator from each of these seeds as torch does."""
    return all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)


class Mapped(Iterator[Any]):
    """The iterator of fastaug._batch.methods.BatchPipeline.map.

    After an error it continues with the next image. Its threads end after the last image, with :meth:`close`, or when
    it is deleted.
    """

    def __init__(
        self, pipeline: Any, images: Iterable[Any], ordered: bool, num_threads: Any, seeds: Any = None
    ) -> None:
        refuse_single(images)
        if seeds is not None and (isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable)):
            raise TypeError(f"seeds should be an iterable of integers, one for each image, got {type(seeds).__name__}")
        threads = threads_for(num_threads)
        self._pipeline = pipeline
        self._ordered = ordered
        self._draws = Draws(pipeline, pipeline._own_book().drawing(pipeline._call), seeds)
        self._call = self._draws.call
        self._crew = Crew(threads, "fastaug-map")
        self._begun = 0
        self._most = _BEGUN * threads if threads > 1 else 1
        ahead = Ahead(images, pipeline._handle, self._crew, self._most if threads > 1 else 0)
        self._images: Iterator[tuple[Any, Any, Exception | None]] = ahead
        self._next: tuple[Any, Any, Exception | None] | None = None  # has not been drawn for
        self._waiting: dict[int, Outcome] = {}  # by number
        self._batch = pipeline._batch_of(self._call, 2, None)
        self._refused = 0  # images in a row that the core has handed back
        self._crew.start()

    def __iter__(self) -> Mapped:
        return self

    def __next__(self) -> Any:
        if self._crew.forked:
            raise RuntimeError("an iterator of map() ends at a fork: begin a new one in the child process")
        self._begin()
        if not self._waiting:
            self.close()
            raise StopIteration
        return self._next_result()

    def _next_result(self) -> Any:
        """Wait for a result. In `__next__`, errors of images that were begun there would keep it by their frame."""
        # A task is given up after the wait, during which Ctrl-C may come.
        if self._ordered:
            task = next(iter(self._waiting.values()))
            self._crew.wait_until(lambda: task.done)
        else:
            self._crew.wait_until(lambda: any(task.done for task in self._waiting.values()))
            task = next(task for task in self._waiting.values() if task.done)
        self._waiting.pop(task.index, None)
        if task.error is not None:
            raise located(task.take_error(), task.index, task.item)
        return task.result if self._ordered else (task.index, task.result)

    def _begin(self) -> None:
        try:
            while len(self._waiting) < self._most:
                self._next = self._next or next(self._images, None)
                if self._next is None:
                    break
                with self._draws.next():
                    task = self._drawn(*self._next)  # runs user code, so Ctrl-C may come
                self._next = None
                self._begun += 1
                self._add(task)
        finally:
            self._call.draws.release()

    def _drawn(self, item: Any, image: Any, error: Exception | None) -> Task | Alone:
        if error is None and self._refused < REFUSED:
            alone = Alone.drawn(self._begun, item, image, self._batch, self._pipeline._handle)
            if alone is not None:
                self._refused = 0
                return alone
            self._refused += 1
        task = Task(self._pipeline, self._begun, error, item)
        if error is None:
            task.draw(image, self._call)
        return task

    def _add(self, task: Task | Alone) -> None:
        if isinstance(task, Alone):
            task.push(self._crew)
        elif task.error is not None or task.done:
            task.finish()
        elif task.is_on_device:
            task.work()  # on this thread's stream
            task.finish()
        else:
            # Threads must not refer to this object, which ends with its last reference.
            self._crew.push(task.work, task.prepare(None), self._call.rewrites, task.finish)
        self._waiting[task.index] = task

    def close(self) -> None:
        """End the threads, each after its image. Images that were drawn for are lost."""
        self._images = iter(())
        self._next = None
        self._waiting.clear()
        self._crew.cancel()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # where __init__ raised
            self._crew.cancel(GOING)
