"""The iterator of a DataLoader on threads."""

from __future__ import annotations

import contextlib
import itertools
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from torch.utils.data._utils.pin_memory import pin_memory
from torch.utils.data.dataloader import _BaseDataLoaderIter

from fastaug._batch.threads import GOING, Crew, torch_with_one_thread
from fastaug._draft.generators import set_all, set_own, states_of, untouched
from fastaug.data._load.flights import Flight
from fastaug.data._load.report import Times
from fastaug.data._load.streams import SampleStream, Stream, WorkerStream, generators_of, plain

if TYPE_CHECKING:
    from fastaug._cuda.memory import Side

# Batches in progress while the training loop has one; of small batches, as many as have so many images for each thread.
_AHEAD, _IMAGES = 2, 4


class Plan(NamedTuple):
    flight: Callable[..., Flight]
    threads: int
    spread: bool  # whether each thread makes a batch, instead of images of one
    made: str  # in words


class ThreadsIter(_BaseDataLoaderIter):
    """An iterator that draws as torch's does, and for batches in threads as torch's workers do.

    `side` is a stream of the device of the batches. With a result of `state` as `resume` it continues from there.
    """

    def __init__(self, loader: Any, epoch: int, side: Side | None = None, resume: dict[str, Any] | None = None) -> None:
        self.epoch = epoch
        self._side = side
        self.times = Times()
        self._loader = weakref.ref(loader)  # it may have this iterator
        self._own = generators_of(loader)
        self._crew: Crew | None = None
        if resume is None:
            super().__init__(loader)
        else:
            # Its draws were made when the epoch began.
            with untouched(*self._own):
                super().__init__(loader)
            self._base_seed = resume["base_seed"]
        workers, base_seed = range(self._num_workers), int(self._base_seed)
        self._streams: list[Stream] = [WorkerStream(base_seed, number) for number in workers] or [Stream()]
        if resume is None or resume["begin"] is None:
            self._reset(loader, first_iter=True)
        else:
            with untouched(*self._own):
                set_all(self._own, resume["begin"])
                self._reset(loader, True, resume)
            set_own(self._own, resume["now"])
        if resume is not None:
            for stream, state in zip(self._streams, resume["streams"]):
                stream.set_state(state)

    def _reset(self, loader: Any, first_iter: bool = False, resume: dict[str, Any] | None = None) -> None:
        if not first_iter:
            self._end_epoch()
            self.epoch = loader._begin_epoch()
        self._by_sample = loader.rng == "sample"
        self._seed = loader.seed
        self._in_order = loader.in_order or not self._num_workers
        self._begin = states_of(self._own)
        super()._reset(loader, first_iter)
        self._indices: deque[Any] = deque()  # of later batches
        self._flying: deque[Flight] = deque()  # in the order of their numbers
        self._number = 0  # of the next batch that is begun
        self._plan: Plan | None = None
        self._planning = loader  # until there is a plan
        self._first = 0  # number of the first batch that was not returned
        self._given: set[int] = set()  # numbers of later ones that were
        self._broken = False  # an interrupt came during draws, or launches on a device
        self.finished = False
        self.times.begin({} if self._crew is None else self._crew.seconds())
        for _ in range(self._num_workers * (loader.prefetch_factor or 0)):
            self._fetch()
        if resume is not None:
            self._first, self._given = resume["first"], set(resume["given"])
            for _ in range(self._first + len(self._given)):
                self._fetch()
        self._read_ahead()

    def _fetch(self) -> None:
        with contextlib.suppress(StopIteration):
            self._indices.append(next(self._sampler_iter))

    def _read_ahead(self) -> None:
        """Read the next batches, so that drawing does not wait for files."""
        while self._indices and len(self._flying) <= self._ahead:
            if self._plan is None:
                self._make_plan()
            indices, number = self._indices.popleft(), self._number
            self._number += 1
            if number >= self._first and number not in self._given:
                stream = self._streams[number % len(self._streams)]
                if self._by_sample:
                    stream = SampleStream(self._seed, self.epoch)
                self._flying.append(self._flight(number, indices, stream))

    def _flight(self, number: int, indices: Any, stream: Stream) -> Flight:
        assert self._plan is not None
        assert self._crew is not None
        flight = self._plan.flight(number, indices, stream, self._crew, self._collate_fn, self._side)
        flight.read()
        return flight

    def _make_plan(self) -> None:
        with self._single_threaded():
            indices = self._indices[0]
            self._plan = self._planning._planned(indices, int(self._base_seed))
            self._size = max(len(indices), 1) if self._auto_collation else 1  # of a batch
        self._planning = None
        self.times.made = self._plan.made
        if self._crew is None:
            self._crew = Crew(self._plan.threads, "fastaug-loader", helps=not self._num_workers)
            self._crew.start()

    def _single_threaded(self) -> contextlib.AbstractContextManager[None]:
        """Give torch as many threads as in a worker process, which some draws depend on."""
        return torch_with_one_thread(self._num_workers > 0)

    @property
    def _ahead(self) -> int:
        plan = self._plan
        if plan is None:
            return _AHEAD
        if plan.spread:
            return max(_AHEAD, plan.threads)
        # Images on a device take pinned memory.
        return _AHEAD if self._side is not None else max(_AHEAD, -(-_IMAGES * plan.threads // self._size))

    def _launch(self, most: int) -> None:
        """Launch as many of the next `most` batches as possible."""
        self._read_ahead()
        for flight in list(itertools.islice(self._flying, most)):
            if not flight.launched and self._is_next(flight):
                with self._unbroken(), self._single_threaded():
                    flight.launch()
                self.times.drawing += flight.drawing

    def _is_next(self, flight: Flight) -> bool:
        """Return whether all draws before it in its stream are made."""
        if not flight.stream.ordered:
            return True
        earlier = itertools.takewhile(lambda other: other is not flight, self._flying)
        return not any(other.stream is flight.stream and (other.waits or not other.launched) for other in earlier)

    @contextlib.contextmanager
    def _unbroken(self) -> Iterator[None]:
        """Set `_broken` if this context is interrupted."""
        self._broken = True
        try:
            yield
        except Exception:
            self._broken = False
            raise
        self._broken = False

    def _next_data(self) -> Any:
        if self._crew is not None and self._crew.forked:
            raise RuntimeError("an iterator of a DataLoader ends at a fork: begin a new one in the child process")
        if self._broken:
            raise RuntimeError("the iterator was interrupted while it drew or launched: begin a new one")
        if self._side is not None:
            with self._side.device.current():
                self._side.device.refuse_capture()
        if self.finished:
            raise StopIteration
        start = time.perf_counter()
        if not self._num_workers:
            self._fetch()
        flight = self._awaited()
        if flight is None:
            self.finished = True
            if not self._persistent_workers:
                self.close()
            raise StopIteration
        self._given.add(flight.number)
        while self._first in self._given:
            self._given.remove(self._first)
            self._first += 1
        if self._num_workers:
            self._fetch()
        try:
            data = self._data(flight)
        finally:
            self.times.collating += flight.collating
            if not self._broken:
                self._launch(self._ahead)
                self._advance()
        if self._pin_memory and self._side is None:
            data = pin_memory(data, self._pin_memory_device)  # type: ignore[no-untyped-call]
        seconds = {} if self._crew is None else self._crew.seconds()
        images = len(flight.indices) if self._auto_collation else 1
        self.times.add(start, time.perf_counter(), images, seconds)
        return data

    def _data(self, flight: Flight) -> Any:
        """Return its batch, or raise the error of a sample. Either way draws go on as in a worker process."""
        try:
            with self._unbroken():
                return flight.data()
        except Exception:
            with self._unbroken():
                self._rewind(flight)
            raise

    def _rewind(self, flight: Flight) -> None:
        """After an error, continue to draw where a worker process does."""
        if not flight.rewind():
            return
        for position, other in enumerate(self._flying):
            if other.stream is flight.stream and other.launched:
                self._flying[position] = self._flight(other.number, other.indices, other.stream)
                other.forget()

    def _awaited(self) -> Flight | None:
        """Wait for the next batch and return it, or None after the last one."""
        self._launch(self._ahead + 1)
        crew, flying = self._crew, self._flying
        if not flying:
            return None
        assert crew is not None
        if self._in_order:
            crew.wait_until(lambda: self._is_done(flying[0]), lambda: flying[0].left)
            return flying.popleft()
        crew.wait_until(lambda: any(self._is_done(flight) for flight in flying))
        flight = next(flight for flight in flying if flight.done)
        flying.remove(flight)
        return flight

    def _is_done(self, flight: Flight) -> bool:
        """Start its work on the device, and return whether it is done."""
        if self._side is not None:
            start = time.perf_counter()
            with self._unbroken():
                flight.advance()
            self.times.launching += time.perf_counter() - start
        return flight.done

    def _advance(self) -> None:
        if self._side is not None and self._crew is not None:
            self._crew.collect()
            for flight in self._flying:
                self._is_done(flight)

    def _end_epoch(self) -> None:
        """Make all batches that were begun, because workers do so, and draw for them, if an epoch is left early."""
        if self._by_sample or self._broken:
            self.close()
        while self._crew is not None and (flight := self._awaited()) is not None:
            with contextlib.suppress(Exception):
                self._data(flight)

    def state(self) -> Any:
        """Return the state from which another iterator continues with the batches that were not returned."""
        streams: list[Any] = [] if self._by_sample else [stream.state() for stream in self._streams]
        if self.finished:
            # Another epoch continues with the same workers.
            return plain({"base_seed": self._base_seed, "begin": None, "streams": streams})
        for flight in reversed(self._flying):
            if flight.launched and not self._by_sample:
                streams[flight.number % len(streams)] = flight.before
        return plain(
            {
                "base_seed": self._base_seed,
                "begin": self._begin,
                "now": states_of(self._own),
                "streams": streams,
                "first": self._first,
                "given": sorted(self._given),
            }
        )

    def close(self, seconds: float | None = None) -> None:
        """End the threads, each after its entry, and wait for user code at most so long."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.cancel(seconds)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # where __init__ raised
            loader = self._loader()
            if loader is not None and loader._latest is self._begin and not self.finished and not self._broken:
                loader._left = self.state()
            self.close(GOING)
