"""Batches of a DataLoader in progress, from indices to the data of the training loop."""

from __future__ import annotations

import contextlib
import operator
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import default_collate, default_convert
from torch.utils.data._utils import collate

from fastaug import _C
from fastaug._batch.batch import Task, located
from fastaug._batch.sources import Ahead
from fastaug._batch.threads import Crew
from fastaug._batch.together import Opening, Together
from fastaug._draft.draws import draws_from
from fastaug.data._load.sources import Images
from fastaug.data._load.streams import Stream

if TYPE_CHECKING:
    from fastaug._batch.batch import Batch
    from fastaug._cuda.memory import Side
    from fastaug.data._load.moving import Sent
    from fastaug.data._load.promise import Promise

_SAMPLE = "sample {} of the data set"


class Flight:
    """One batch in progress, by its number in the epoch. `side` is a stream of its device; None for the CPU."""

    def __init__(
        self,
        number: int,
        indices: Any,
        stream: Stream,
        crew: Crew,
        collate: Callable[[Any], Any],
        side: Side | None,
    ) -> None:
        self.number = number
        self.indices = indices
        self.stream = stream
        self.before: Any = None  # the stream's state before the first draw
        self.launched = False
        self.waits = True  # the stream is in use until the batch is collated, instead of until it is launched
        self.drawing = 0.0  # seconds
        self.collating = 0.0
        self._crew = crew
        self._collate = collate
        self._side = side
        self._sent: Sent | None = None
        # torch's own collation draws nothing.
        self._plain = collate is default_collate or collate is default_convert

    @property
    @abstractmethod
    def done(self) -> bool:
        """All samples are made."""

    @property
    def left(self) -> int:
        """The number of entries that the threads must do at least."""
        return 1

    @abstractmethod
    def read(self) -> None:
        """Let the threads read what is needed to draw."""

    @abstractmethod
    def _launch(self) -> None: ...

    @abstractmethod
    def _data(self) -> Any:
        """Return the collated batch, or raise the error of the first sample that failed."""

    def rewind(self) -> bool:
        """Rewind the stream to where a worker process stops at an error. Return whether later draws are void."""
        return False

    def forget(self) -> None:
        """Drop the errors of a batch that is drawn again, because their frames lead back to it."""

    def launch(self) -> None:
        """Draw, and let the threads do the rest."""
        self.before = self.stream.state()
        self.launched = True
        self._launch()

    def advance(self) -> None:
        """Start the work on a device that is possible now. Errors wait until the batch is due."""
        if self._side is not None and self._plain and self.done and self._sent is None:
            from fastaug.data._load.moving import Sent

            self._sent = Sent(self._data, self._side)

    def data(self) -> Any:
        start = time.perf_counter()
        try:
            if self._side is None:
                return self._data()
            if self._plain:
                self.advance()
                assert self._sent is not None
                return self._sent.received()
            from fastaug.data._load.moving import moved

            return moved(self._data(), self._side.device)
        finally:
            self.collating = time.perf_counter() - start

    def _collated(self, samples: Any) -> Any:
        if self._plain:
            return self._collate(samples)
        with self.stream.as_global():
            self.stream.begin_collation(self.number)
            return self._collate(samples)


class ImagesFlight(Flight):
    """A batch of images of a folder or an array. The calling thread draws for all, and threads make several at a time.

    If it is `known` that only transforms of this package draw, the process's generators stay as they are.
    """

    def __init__(self, images: Images, known: bool, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waits = not self._plain
        self._images = images
        self._known = known
        transform = images.transform
        own = transform._call.draws.generator
        self._call = transform._own_book().drawing(transform._call)
        if own is not None:
            self._call = self._call.like(draws=draws_from(self.stream.own(own)))
        self._batch = self._begun()
        self._targets: list[Any] = []
        self._errors: dict[int, Exception] = {}
        self._failed: int | None = None  # position of the first sample that failed
        self._reader: Ahead | None = None
        self._together: Together | None = None

    def _begun(self) -> Batch:
        return self._images.transform._batch_of(self._call, len(self.indices), None)

    @property
    def done(self) -> bool:
        return self.launched and not self._batch.left

    @property
    def left(self) -> int:
        return max(self._batch.left, 1)

    def read(self) -> None:
        images = self._images
        seeds = self.stream.seeds(self.indices)
        # With seeds, a target is changed after nothing else was drawn.
        alone = self.stream.ordered or (seeds is not None and images.is_quiet)
        recipes = self._batch.recipes() if alone else None
        opening = None if recipes is None else Opening.of(images.handle)
        items, self._targets = images.items(self.indices, opening is None, self._errors)
        self._items: Sequence[Any] = items
        if recipes is not None and opening is not None:
            self._together = Together(self._batch, recipes, opening, self._crew, items, seeds)
        else:
            self._reader = Ahead(items, images.handle, self._crew, len(items))
            self._reader.begin()

    def _launch(self) -> None:
        draws = self._call.draws
        with self._drawing():
            try:
                if self._together is not None:
                    quiet = self._images.is_quiet
                    self._together.add(self._add_at, None if quiet else self._change_target)
                    for position in range(len(self._targets) if quiet and self._images.target_transform else 0):
                        self._change_target(position)
                else:
                    self._add_all()
            finally:
                draws.release()
        self._reader = self._together = None
        self.drawing = self._batch.drawing

    def _add_all(self) -> None:
        assert self._reader is not None
        try:
            for position, (item, image, error) in enumerate(self._reader):
                self._add_at(position, item, image, error)
                self._change_target(position)
        finally:
            error = None  # its traceback may lead to this frame, and so back to it

    def _change_target(self, position: int) -> None:
        """Transform a target, unless a loop over the samples has stopped."""
        change = self._images.target_transform
        if change is None or any(failed <= position for failed in self._errors):
            return
        self._call.draws.release()
        try:
            self._targets[position] = change(self._targets[position])
        except Exception as failure:
            self._errors[position] = failure

    def _add_at(self, position: int, item: Any, image: Any, error: Exception | None) -> None:
        if not self.stream.ordered:
            self._call.draws.release()
            self.stream.begin_sample(self.indices[position])
        self._add(item, image, self._errors.get(position, error))

    def _drawing(self) -> AbstractContextManager[None]:
        return self.stream.in_thread() if self._known else self.stream.as_global()

    def _add(self, item: Any, image: Any, error: Exception | None) -> None:
        self._batch.add(self._crew, item, image, error)

    def _settle(self) -> None:
        """Raise the error of the first sample that failed."""
        self._batch.settle()
        if (task := self._failed_task()) is not None:
            self._failed = task.index
            raise located(task.take_error(), self.indices[task.index], task.item, _SAMPLE)

    def _failed_task(self) -> Task | None:
        """Return the first task that failed, also by an error of its item or target."""
        for position, error in self._errors.items():
            if self._batch.tasks[position].error is None:
                self._batch.put(position, self._items[position], error=error)
        self._errors.clear()
        return self._batch.failed()

    def forget(self) -> None:
        if (task := self._failed_task()) is not None:
            task.error = None

    def _data(self) -> Any:
        self._settle()
        if self._collate is default_collate:
            images = self._batch.collated()
            if images is not None:
                return [images, _collated_targets(self._targets)]
        return self._collated(list(zip(self._batch.results(), self._targets)))

    def rewind(self) -> bool:
        if self._failed is None or not self.stream.ordered:
            return False
        self.stream.set_state(self.before)
        with self._drawing():
            try:
                self._draw_again(self._failed)
            finally:
                self._call.draws.release()
        return True

    def _draw_again(self, failed: int) -> None:
        """Draw for the samples up to that position as a loop does, which stops there."""
        transform, target_transform = self._images.transform, self._images.target_transform
        for position in range(failed + 1):
            with contextlib.suppress(Exception):
                image, target = self._images.item(self.indices[position])
                if position == failed:
                    image.load()
                task = Task(transform, position)
                task.draw(image, self._call)
                if task.take_error() is None and target_transform is not None:
                    self._call.draws.release()
                    target_transform(target)


def _collated_targets(targets: list[Any]) -> Any:
    """Return what torch's default_collate makes of the targets of samples. The core makes a tensor of integers."""
    if type(targets[0]) is int and collate.default_collate_fn_map.get(int) is collate.collate_int_fn:
        tensor = torch.empty(len(targets), dtype=torch.int64)
        if tensor.is_cpu and _C.put_integers(targets, tensor.data_ptr()):
            return tensor
    columns: Any = tuple(targets)  # as torch has them: strings stay a tuple
    return default_collate(columns)


class ItemsFlight(Flight):
    """A batch of any data set with indices, which one thread makes as a worker process does.

    It has several samples if `automatic`. The calling thread makes it immediately if `here`.
    """

    def __init__(
        self, dataset: Any, automatic: bool, here: bool, known: bool, promise: Promise | None, *arguments: Any
    ) -> None:
        super().__init__(*arguments)
        self._dataset = dataset
        self._automatic = automatic
        self._here = here
        self._known = known
        self._promise = promise
        self._moved: list[str] = []  # generators of the process that changed while a thread made the samples
        self._done = False
        self._samples: Any = None
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self._done

    def read(self) -> None:
        """Do nothing, because the thread that makes the samples reads them."""

    def _launch(self) -> None:
        if self._here:
            self._work()
            self._finish()
        else:
            self._crew.push(self._work, then=self._finish, label="samples")

    def _work(self) -> None:
        try:
            promise = self._promise
            worker = contextlib.nullcontext() if promise is None else promise.worker(self.number, self._moved)
            with self.stream.as_global() if self._here and not self._known else self.stream.in_thread(), worker:
                samples = self._made(self._sample, self.stream.ordered)
            if self._plain:
                samples = self._collate(samples)
                if self._side is not None:
                    from fastaug.data._load.moving import pinned

                    samples = pinned(samples, self._side.device)
            self._samples = samples
        except Exception as error:
            self._error = error
        except BaseException as error:
            if self._here:
                raise
            self._error = error

    def _finish(self) -> None:
        self._done = True

    def _made(self, sample: Callable[[Any], Any], together: bool = True) -> Any:
        if not self._automatic:
            return sample(self.indices)
        several = getattr(self._dataset, "__getitems__", None)
        return several(self.indices) if several and together else [sample(index) for index in self.indices]

    def _sample(self, index: Any) -> Any:
        if self._crew.cancelled:
            raise RuntimeError("the iterator of this batch is gone")
        self.stream.begin_sample(index)
        try:
            return self._dataset[index]
        except Exception as error:
            located(error, index, what=_SAMPLE)
            raise

    def _data(self) -> Any:
        error, self._error = self._error, None
        if error is not None:
            try:
                if isinstance(error, Exception):
                    raise error
                # torch raises this error when it ends a worker process.
                raise RuntimeError(
                    f"DataLoader worker (thread of batch {self.number}) exited unexpectedly: {error!r} was raised for "
                    f"samples {self.indices} of {type(self._dataset).__name__}"
                ) from error
            finally:
                del error  # it holds on to this frame
        if self._promise is not None:
            again = partial(self._made, partial(operator.getitem, self._dataset))
            self._promise.check(self._moved, self.indices, self._crew.settle, again)
        return self._samples if self._plain else self._collated(self._samples)
