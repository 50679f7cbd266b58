"""Batches of a DataLoader that are on their way: from indices to what the training loop gets."""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from torch.utils.data import default_collate, default_convert

from fastaug._batch.batch import located
from fastaug._batch.sources import Ahead
from fastaug._batch.task import Drawing, Task
from fastaug._batch.threads import Crew
from fastaug._draft.draws import draws_from
from fastaug.data._load.sources import Folder
from fastaug.data._load.streams import Stream

if TYPE_CHECKING:
    from fastaug._batch.batch import Batch
    from fastaug._cuda.memory import Side
    from fastaug.data._load.moving import Sent
    from fastaug.data._load.promise import Promise

_SAMPLE = "sample {} of the data set"


class Flight:
    """One batch.

    Args:
        number: of the batch in its epoch.
        indices: of its samples.
        stream: what they are drawn from.
        crew: the threads.
        collate: what makes a batch of a list of samples.
        side: of the device that it is to be on; None for the CPU.
    """

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
        self.before: Any = None  # the stream's state when its first sample was about to be drawn
        self.launched = False
        self.drawing = 0.0  # seconds
        self.collating = 0.0
        self._crew = crew
        self._collate = collate
        self._side = side
        self._sent: Sent | None = None
        # torch's own draw nothing.
        self._plain = collate is default_collate or collate is default_convert

    @property
    @abstractmethod
    def waits(self) -> bool:
        """Whether the stream is in use until the batch has been collated; else until it was launched."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether all samples are made."""

    @property
    def left(self) -> int:
        """How much of what the threads do is to be done at least."""
        return 1

    @abstractmethod
    def read(self) -> None:
        """Has the threads read what is needed to draw."""

    @abstractmethod
    def _launch(self) -> None: ...

    @abstractmethod
    def _data(self) -> Any:
        """What the training loop gets.

        Raises:
            Exception: of the first sample that could not be made.
        """

    def rewind(self) -> bool:
        """After an error: has the stream be where a worker process left it when it came upon the error.

        Returns:
            Whether that is elsewhere than where it was, so that what was drawn after it has to be drawn again.
        """
        return False

    def forget(self) -> None:
        """It is drawn again by another, as only flights that rewind are: drops errors, whose frames lead back to it."""

    def launch(self) -> None:
        """Draws, and has the threads do the rest."""
        self.before = self.stream.state()
        self.launched = True
        self._launch()

    def advance(self) -> None:
        """Has a device begin with what can be begun by now. Errors wait until the batch is wanted."""
        if self._side is not None and self._plain and self.done and self._sent is None:
            from fastaug.data._load.moving import Sent

            self._sent = Sent(self._data, self._side)

    def data(self) -> Any:
        start = time.perf_counter()
        try:
            return self._data() if self._side is None else self._received(self._side)
        finally:
            self.collating = time.perf_counter() - start

    def _received(self, side: Side) -> Any:
        """The data on a device, for work on its current stream."""
        from fastaug.data._load.moving import moved

        if not self._plain:
            return moved(self._data(), side.device)
        self.advance()
        assert self._sent is not None
        return self._sent.received()

    def _collated(self, samples: Any) -> Any:
        if self._plain:
            return self._collate(samples)
        with self.stream.as_global():
            self.stream.begin_collation(self.number)
            return self._collate(samples)


#: Makes a flight of its arguments.
Flights = Callable[[int, Any, Stream, Crew, Callable[[Any], Any], "Side | None"], Flight]


class FolderFlight(Flight):
    """A batch of a folder of images: drawn in the calling thread, sample by sample; then its samples are made at once.

    Nothing but what is drawn needs Python's lock, and pixels go straight into the tensor of the batch.

    Args:
        known: whether nothing is drawn but by transforms of this package, for which the process's generators need not
            be put aside.
    """

    def __init__(self, folder: Folder, known: bool, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._folder = folder
        self._known = known
        transform = folder.transform
        own = transform._call.draws.generator
        draws = transform._call.draws if own is None else draws_from(self.stream.own(own))
        self._call = transform._call.like(draws=draws, tape=Drawing())
        self._batch = self._begun()
        self._targets: list[Any] = []
        self._errors: dict[int, Exception] = {}
        self._failed: int | None = None  # position of the first sample that could not be made
        self._reader: Ahead | None = None

    def _begun(self) -> Batch:
        return self._folder.transform._batch_of(self._call, len(self.indices), None)

    @property
    def waits(self) -> bool:
        return not self._plain

    @property
    def done(self) -> bool:
        return self.launched and not self._batch.left

    @property
    def left(self) -> int:
        return max(self._batch.left, 1)

    def read(self) -> None:
        items = []
        for position, index in enumerate(self.indices):
            item = None
            try:
                item, target = self._folder[index]
                self._targets.append(target)
            except Exception as error:
                self._errors[position] = error
            items.append(item)
        self._reader = Ahead(items, self._folder.transform._handle, self._crew, len(items))
        self._reader.begin()

    def _launch(self) -> None:
        if self._reader is None:
            self.read()
        assert self._reader is not None
        draws, target_transform = self._call.draws, self._folder.target_transform
        with self._drawing():
            try:
                for position, (item, image, error) in enumerate(self._reader):
                    if not self.stream.ordered:
                        draws.release()
                        self.stream.begin_sample(self.indices[position])
                    self._add(item, image, self._errors.get(position, error))
                    if target_transform is not None and not self._errors:
                        draws.release()
                        try:
                            self._targets[position] = target_transform(self._targets[position])
                        except Exception as failure:
                            self._errors[position] = failure
            finally:
                draws.release()
                error = None  # whose traceback may lead to this frame, and so back to it
        self._reader = None
        self.drawing = self._batch.drawing

    def _drawing(self) -> AbstractContextManager[None]:
        return self.stream.in_thread() if self._known else self.stream.as_global()

    def _add(self, item: Any, image: Any, error: Exception | None) -> None:
        self._batch.add(self._crew, item, image, error)

    def _settle(self) -> None:
        """
        Raises:
            Exception: of the first sample that could not be made.
        """
        self._batch.settle()
        if (failed := self._take_error()) is not None:
            task, error = failed
            self._failed = task.index
            try:
                raise located(error, self.indices[task.index], task.item, _SAMPLE)
            finally:
                del failed, error  # it holds on to this frame, and so to the batch

    def _take_error(self) -> tuple[Task, Exception] | None:
        """What Batch.take_error is, with errors of items and targets among the others."""
        for position, error in self._errors.items():
            task = self._batch.tasks[position]
            task.error = task.error or error
        self._errors.clear()
        return self._batch.take_error()

    def forget(self) -> None:
        self._take_error()

    def _data(self) -> Any:
        self._settle()
        if self._collate is default_collate:
            images = self._batch.collated()
            if images is not None:
                return [images, default_collate(self._targets)]
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
        """Draws as a loop does: for samples up to that position, and for this one as far as it comes."""
        transform, target_transform = self._folder.transform, self._folder.target_transform
        for position in range(failed + 1):
            with contextlib.suppress(Exception):
                image, target = self._folder[self.indices[position]]
                if position == failed:
                    image.load()
                task = Task(transform, position)
                task.draw(image, self._call)
                drawn = task.error is None
                task.error = None  # its frames lead back to the task
                if drawn and target_transform is not None:
                    self._call.draws.release()
                    target_transform(target)


class ItemsFlight(Flight):
    """A batch of any data set with indices: made by one thread, as a worker process makes it.

    Args:
        automatic: whether it has several samples, which are collated.
        here: whether the calling thread makes it, at once.
        known: whether nothing is drawn but by transforms of this package; what the calling thread makes draws in the
            place of the process's generators otherwise.
        promise: the user's, where threads make it on that.
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
        self._moved: list[str] = []  # generators of the process's, while a thread made the samples
        self._done = False
        self._samples: Any = None
        self._error: BaseException | None = None

    @property
    def waits(self) -> bool:
        return True

    @property
    def done(self) -> bool:
        return self._done

    def read(self) -> None:
        """Whoever makes the samples reads them."""

    def _launch(self) -> None:
        if self._here:
            self._work()
            self._finish()
        else:
            self._crew.push(self._work, then=self._finish, label="samples")

    def _work(self) -> None:
        try:
            with self.stream.as_global() if self._here and not self._known else self.stream.in_thread():
                if self._promise is None:
                    samples = self._made()
                else:
                    with self._promise.worker(self.number, self._moved):
                        samples = self._made()
            self._samples = self._ready(self._collate(samples)) if self._plain else samples
        except Exception as error:
            self._error = error
        except BaseException as error:
            if self._here:
                raise
            self._error = error

    def _ready(self, data: Any) -> Any:
        if self._side is None:
            return data
        from fastaug.data._load.moving import pinned

        return pinned(data, self._side.device)

    def _finish(self) -> None:
        self._done = True

    def _made(self) -> Any:
        if not self._automatic:
            return self._sample(self.indices)
        several = getattr(self._dataset, "__getitems__", None)
        if several and self.stream.ordered:
            return several(self.indices)
        return [self._sample(index) for index in self.indices]

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
                # It ends a worker process of torch's, and so becomes this error.
                raise RuntimeError(
                    f"DataLoader worker (thread of batch {self.number}) exited unexpectedly: {error!r} was raised for "
                    f"samples {self.indices} of {type(self._dataset).__name__}"
                ) from error
            finally:
                del error  # it holds on to this frame
        if self._promise is not None:
            self._promise.check(self._moved, self.indices, self._crew.settle, self._made_again)
        return self._samples if self._plain else self._collated(self._samples)

    def _made_again(self) -> Any:
        if not self._automatic:
            return self._dataset[self.indices]
        several = getattr(self._dataset, "__getitems__", None)
        return several(self.indices) if several else [self._dataset[index] for index in self.indices]


def flights_of_folder(folder: Folder, known: bool) -> Flights:
    return partial(FolderFlight, folder, known)


def flights_of_items(
    dataset: Any, automatic: bool, here: bool = False, known: bool = False, promise: Promise | None = None
) -> Flights:
    return partial(ItemsFlight, dataset, automatic, here, known, promise)
