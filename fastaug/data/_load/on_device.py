"""Batches of a folder of images that a device makes, ahead of the training loop."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from fastaug._batch.batch import Batch
from fastaug._batch.device import DeviceBatch
from fastaug._batch.threads import Crew
from fastaug._cuda.memory import Side
from fastaug.data._load.flights import Flights, FolderFlight
from fastaug.data._load.sources import Folder


class BatchAhead(DeviceBatch):
    """A batch on a device that nobody waits for; what it takes of pinned memory is all of its images'."""

    _most_open = _most_copying = sys.maxsize

    def close(self, crew: Crew) -> None:
        self._end_chunk()

    def advance(self, crew: Crew) -> None:
        """Launches what threads have decoded by now."""
        self._launch(crew, sys.maxsize)

    @property
    def launched(self) -> bool:
        """Whether all is done, but for what the device has been told to do."""
        return not self._waiting and not self._open

    @property
    def left(self) -> int:
        """How many images are to come before anything can be launched; or are left, if nothing can."""
        return len(self._waiting[0].open) if self._waiting else len(self._open)


class PlacedFlight(FolderFlight):
    """A batch of a folder of images: threads decode, a device does the rest, on a stream beside the training loop's."""

    def _begun(self) -> Batch:
        assert self._side is not None
        self._on: Side = self._side
        self._failure: Exception | None = None  # of the device, not of a sample
        self._over = False  # nothing more is launched, after one
        self._ahead = BatchAhead(self._folder.transform, self._call, len(self.indices), None, self._on.device)
        return self._ahead

    @property
    def done(self) -> bool:
        return self.launched and (self._over or self._ahead.launched)

    def advance(self) -> None:
        if self.launched and not self.done:
            with self._kept(), self._on.active():
                self._ahead.advance(self._crew)
        super().advance()

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Keeps an error until the batch is wanted: the one before it may be on its way to the training loop."""
        try:
            yield
        except Exception as error:
            self._failure, self._over = error, True

    def _launch(self) -> None:
        with self._on.active():
            super()._launch()
            self._ahead.close(self._crew)

    def _add(self, item: Any, image: Any, error: Exception | None) -> None:
        try:
            super()._add(item, image, error)
        except Exception as failure:
            # Samples after it are drawn all the same, as other batches draw after them.
            self._ahead.tasks[-1].error = failure

    def _settle(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # it holds on to this frame
        super()._settle()

    def _data(self) -> Any:
        if self._plain:
            return super()._data()
        with self._on.active():
            self._settle()
            images = self._ahead.results()
            event = self._on.mark()
        self._on.give(event, images)
        return self._collated(list(zip(images, self._targets)))


def flights_on_device(folder: Folder, known: bool) -> Flights:
    return partial(PlacedFlight, folder, known)
