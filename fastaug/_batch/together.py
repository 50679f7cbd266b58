"""Images in a row of a batch, for which the core draws, and which threads process, in a few calls for all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from types import FunctionType
from typing import Any, NamedTuple

from fastaug import _C
from fastaug._batch.batch import Batch, Outcome, Recipes
from fastaug._batch.sources import Ahead, Rows
from fastaug._batch.threads import Crew
from fastaug._image import indexes
from fastaug._image.lazy import LazyImage

#: Images in a row that the core has handed back to Python, after which it is not asked for the others.
REFUSED = 8

# Files that are read ahead for Python.
_READ = 8

# Images that threads get at once where each has something between its draws and those of the next.
_PUSHED = 16


class Opening(NamedTuple):
    """The way in which encoded images are opened."""

    #: Returns the handle of a path or bytes.
    handle: Callable[[Any], Any]
    mode: str | None = None
    exif: bool = False

    @classmethod
    def of(cls, handle: Callable[[Any], Any]) -> Opening | None:
        """Return that of a function that makes handles, or None if only these can open images."""
        # Other callables may have settings, which change.
        fixed = isinstance(handle, (type, FunctionType))
        return _opening_of(handle) if fixed else _opening_of.__wrapped__(handle)


@lru_cache(4)
def _opening_of(handle: Callable[[Any], Any]) -> Opening | None:
    example = handle("")
    plain = type(example) is LazyImage and example.is_plain
    return Opening(handle, example.modes[0] if example.modes else None, example.exif) if plain else None


class _Others:
    """Images that are Python's, whose files are read ahead as far as their numbers are known."""

    def __init__(self, items: Sequence[Any], numbers: Iterable[int], handle: Callable[[Any], Any], crew: Crew) -> None:
        self._items, self._handle, self._crew = items, handle, crew
        self._numbers = deque(numbers)
        self._ahead = Ahead([items[number] for number in self._numbers], handle, crew, _READ)

    def take(self, number: int) -> tuple[Any, Any, Exception | None]:
        """Return (item, image, error) of the image of that number. Numbers ascend."""
        if self._numbers and self._numbers[0] == number:
            self._numbers.popleft()
            return next(self._ahead)
        return next(Ahead([self._items[number]], self._handle, self._crew, 0))


class Together:
    """Images in a row of a batch.

    Threads read files meanwhile. The core draws for each image that it can do, and :class:`Batch` for the others. Jobs
    that lie side by side are one entry of the crew.
    """

    def __init__(
        self,
        batch: Batch,
        recipes: Recipes,
        opening: Opening,
        crew: Crew,
        items: Sequence[Any],
        seeds: list[int] | None = None,
    ) -> None:
        self._seeds = seeds  # one for each image
        self._batch = batch
        self._crew = crew
        self._items = items
        self._opening = opening
        self._first = 0  # number of the first image in its batch
        self._count = 0  # of images that the core draws for
        self._pushed: set[int] = set()  # numbers of images that began an entry that is not done
        self._complete = False
        self._most_pixels = 0
        self._native = _C.Flight(recipes, *opening)
        self._reading: int | None = None
        if isinstance(items, Rows):
            self._native.begin_rows(items.array, items.mode, items.numbers)
            return
        works = self._native.begin(items, indexes)
        if works is not None:
            self._reading = crew.push(_nothing, works, urgent=True, label="read")
            crew.start()

    def add(
        self,
        add: Callable[[int, Any, Any, Exception | None], object],
        between: Callable[[int], object] | None = None,
    ) -> None:
        """Draw for all images, in order, and let the threads do the rest.

        Args:
            add: called with the number, the item, the image and the error of each image that is Python's.
            between: called with the number of each image after its draws, and may draw, too.

        Raises:
            ValueError: the first result does not fit. The draws are made.
        """
        if self._reading is not None:
            self._crew.wait(self._reading)
        draws = self._batch.draws
        self._first = len(self._batch.tasks)
        native, count = self._native, len(self._items)
        others: _Others | None = None
        number = start = refused = 0  # those before `start` are pushed
        while number < count:
            most = count if between is None else number + 1
            end = number if refused == REFUSED else native.draw(number, draws, self._seeds, most)
            if end > number:
                refused = 0
                if between is not None:
                    between(number)
            if end > start and (end < most or end == count or end - start >= _PUSHED):
                self._push(start, end)
                start = end
            if end < most:
                if others is None:
                    others = self._others(native.others(end))
                add(end, *others.take(end))
                if between is not None:
                    between(end)
                if refused < REFUSED:
                    refused += 1
                    if refused == REFUSED:
                        others = self._others(range(end + 1, count))
                end = start = end + 1
            number = end
        self._batch.drawing += native.seconds()
        self._complete = True
        self._most_pixels = native.most_pixels()
        self._settle()

    @property
    def most_pixels(self) -> int | None:
        """The number of pixels of the largest image, or None if Python does some."""
        return self._most_pixels if self._count == len(self._items) else None

    def _others(self, numbers: Iterable[int]) -> _Others:
        return _Others(self._items, numbers, self._opening.handle, self._crew)

    def _push(self, number: int, end: int) -> None:
        batch, native = self._batch, self._native
        start = self._first + number
        forms = native.forms(number)
        job = None if forms is None else batch.job_of_forms(forms)
        slots = batch.slots_for(start, job)
        if slots is not None and job is not None and slots.fits(job):
            native.place(slots.places(self._first, job))
        self._count += end - number
        batch.add_together(end - number)
        self._pushed.add(start)

        mend = partial(native.mend, number, end)

        def done() -> None:
            mend()  # an interrupt may have come before it
            self._pushed.discard(start)
            batch.done_together(start)
            self._settle()

        self._crew.push(mend, native.jobs(number, end), then=done)

    def _settle(self) -> None:
        """Take over the results once all images are done."""
        # An interrupt may come in here, after which it is called again.
        if not self._complete or self._pushed:
            return
        for number, result in self._native.results():
            # Those of an array have no paths, and are made only where Python draws.
            item = None if isinstance(self._items, Rows) else self._items[number]
            if isinstance(result, Exception):
                self._batch.put(self._first + number, item, error=result)
            else:
                self._batch.put(self._first + number, item, self._batch.result_of(result))


class Alone(Outcome):
    """One image of a stream, for which the core has drawn."""

    def __init__(self, index: int, item: Any, batch: Batch, native: _C.Flight) -> None:
        super().__init__(index, item)
        self._batch = batch
        self._native = native

    @classmethod
    def drawn(cls, index: int, item: Any, image: Any, batch: Batch, handle: Callable[[Any], Any]) -> Alone | None:
        """Draw for an image that is in memory. Return None, with nothing drawn, if that is Python's."""
        recipes = batch.recipes()
        if recipes is None:
            return None
        native = _C.Flight(recipes, *Opening(handle))
        is_file = native.begin([image], indexes) is not None
        return None if is_file or not native.draw(0, batch.draws) else cls(index, item, batch, native)

    def push(self, crew: Crew) -> None:
        crew.push(self._mend, self._native.jobs(0, 1), then=self.finish)

    def _mend(self) -> None:
        self._native.mend(0, 1)

    def finish(self) -> None:
        self._mend()  # an interrupt may have come before it
        for _, result in self._native.results():
            if isinstance(result, Exception):
                self.error = result
            else:
                self.result = self._batch.result_of(result)
        self.done = True


def _nothing() -> None:
    """The work of an entry that cannot fail."""
