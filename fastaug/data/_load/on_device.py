"""Batches of images of a folder or an array that a device makes ahead of the training loop."""

from __future__ import annotations

import sys
from typing import Any

from fastaug._batch.batch import Batch
from fastaug._batch.device import DeviceBatch
from fastaug._batch.threads import Crew
from fastaug._cuda.memory import Side
from fastaug.data._load.flights import ImagesFlight


class BatchAhead(DeviceBatch):
    """A batch on a device that is made ahead, with all of its images in pinned memory."""

    _most_open = _most_copying = sys.maxsize

    def close(self, crew: Crew) -> None:
        self._end_chunk()

    def advance(self, crew: Crew) -> None:
        self._launch(crew, sys.maxsize)

    @property
    def launched(self) -> bool:
        return not self._waiting and not self._open

    @property
    def left(self) -> int:
        """The number of images before the next launch, or before the end if there is none."""
        return len(self._waiting[0].open) if self._waiting else len(self._open)


class PlacedFlight(ImagesFlight):
    """A batch whose images threads decode or borrow, for a device with a stream beside the training loop's."""

    def _begun(self) -> Batch:
        assert self._side is not None
        self._on: Side = self._side
        self._failures: list[Exception] = []  # of the device, instead of a sample
        self._over = False  # after a failure, nothing more is launched
        self._ahead = BatchAhead(self._images.transform, self._call, len(self.indices), None, self._on.device)
        return self._ahead

    @property
    def done(self) -> bool:
        return self.launched and (self._over or self._ahead.launched)

    def advance(self) -> None:
        if self.launched and not self.done:
            try:
                with self._on.active():
                    self._ahead.advance(self._crew)
            except Exception as error:
                # The batch before it may not be returned yet.
                self._failures.append(error)
                self._over = True
        super().advance()

    def _launch(self) -> None:
        with self._on.active():
            super()._launch()
            self._ahead.close(self._crew)

    def _add(self, item: Any, image: Any, error: Exception | None) -> None:
        try:
            super()._add(item, image, error)
        except Exception as failure:
            # Later samples are drawn, because other batches draw after them.
            self._ahead.tasks[-1].error = failure

    def _settle(self) -> None:
        if self._failures:
            raise self._failures.pop()
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
