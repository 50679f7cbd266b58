"""Threads that work at one queue, for as long as a call or an iterator lasts."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from fastaug import _C
from fastaug._program.integers import positive

#: A program, the image that it runs on, and where the result goes.
NativeJob = tuple[bytes, _C.Source, _C.Target]

# More jobs than any queue holds.
_ALL = 1 << 62

# In the place of works that have been heard of.
_HEARD = None, None, ""

# Seconds for which Ctrl-C may go unheard.
_PATIENCE = 0.05

#: Seconds that the end of an iterator and of the interpreter wait for code of the user's that a thread is in: it may
#: itself wait for them. At its end the interpreter waits as long as torch's DataLoader does for a worker.
GOING, EXITING = 1.0, 5.0


class _Here(threading.local):
    inside = False


_here = _Here()

# torch replaces a pool of threads whenever their number is set.
_setting = threading.Lock()


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_for(num_threads: Any) -> int:
    """How many threads work at a time, the caller's with them; by default one for each CPU that the process may use.

    One in a worker of a DataLoader, and in a thread that works at a queue already: there are others beside it.

    Raises:
        TypeError: no integer.
        ValueError: less than one.
    """
    if num_threads is None:
        data = sys.modules.get("torch.utils.data")
        if _here.inside or (data is not None and data.get_worker_info() is not None):
            return 1
        return cpus()
    return positive("num_threads", num_threads)


class Crew:
    """A queue, and the threads that work at it. The caller's is one of them, whenever it waits, unless it only waits.

    Each thread is inside one native call, which runs jobs until it meets one that needs Python. As the threads are
    Python's, and end with what they were made for, there is nothing to guard at a fork.

    Args:
        count: how many threads there are, the caller's with them if that helps.
        name: of the threads.
        helps: whether the caller's thread works while it waits. Where it does not, the threads stand for the worker
            processes of a DataLoader: torch uses one thread in each.
    """

    def __init__(self, count: int, name: str, helps: bool = True) -> None:
        self.queue = _C.Queue()
        self.cancelled = False
        self._helps = helps
        self._single = not helps
        self._running = False
        self._seconds: dict[str, float] = {}
        self._timing = threading.Lock()
        self._works: dict[int, tuple[Callable[[], None], Callable[[], None] | None, str]] = {}
        self._pushed = 0
        self._pid = os.getpid()
        self._in_python: set[threading.Thread] = set()  # those that do what needs Python's lock
        self._ready = threading.Semaphore(0)
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(1 if helps else 0, count)
        ]

    def start(self) -> None:
        """Starts the threads; where the system has no more of them, the work is done by those that there are.

        That is the caller's alone where it would only wait: a loader keeps threads for long, and others need them.
        """
        if self._running:
            return
        self._running = True
        if self._threads:
            _mend_torch()
        threads = sys.modules["torch"].get_num_threads() if self._single else 0
        _started.add(self)
        for number, thread in enumerate(self._threads):
            try:
                thread.start()
            except RuntimeError:  # noqa: PERF203
                del self._threads[number:]
                if not self._helps:
                    self._work_alone()
                break
        if self._single:
            for _ in self._threads:
                self._ready.acquire()
            sys.modules["torch"].set_num_threads(threads)

    def _work_alone(self) -> None:
        """Before there is work: ends the threads, and has the caller's do all."""
        self._helps = True
        self.queue.cancel()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self.queue = _C.Queue()

    @property
    def forked(self) -> bool:
        """Whether this is a copy in a child, which has none of the threads."""
        return os.getpid() != self._pid

    def push(
        self,
        work: Callable[[], None],
        job: NativeJob | tuple[NativeJob, ...] | None = None,
        rewrites: int = _C.EXACT,
        then: Callable[[], None] | None = None,
        urgent: bool = False,
        label: str = "transform",
    ) -> int:
        """Adds what `work` does; `job`, or several, do it without Python's lock, and if one fails, `work` says why.

        Args:
            then: called by the caller's thread, at its leisure, once it is done; again if that is interrupted.
            urgent: whether it comes before all that is not.
            label: what `seconds` counts the time of `work` under.

        Returns:
            The number of the entry.
        """
        number = self._pushed
        self._pushed += 1
        self._works[number] = work, then, label  # before it is pushed: as soon as it is, some thread may want it
        self.queue.push(job, rewrites, urgent)
        return number

    def _work(self) -> None:
        _here.inside = True
        if self._single:
            torch = sys.modules["torch"]
            with _setting:
                torch.get_num_threads()  # a thread's first question sets the number that was set last in any thread
                torch.set_num_threads(1)
            self._ready.release()
        thread = threading.current_thread()
        while (number := self.queue.work(True, _ALL)) is not None:
            self._in_python.add(thread)
            # A thread outlives whatever is raised in it, also what ends a process: the caller does that work again, or
            # finds the error where the work has put it.
            with contextlib.suppress(BaseException):
                self._do(number)
            self._in_python.discard(thread)

    def _do(self, number: int) -> None:
        work, then, label = self._works[number]
        start = time.perf_counter()
        try:
            work()
        finally:
            taken = time.perf_counter() - start
            with self._timing:
                self._seconds[label] = self._seconds.get(label, 0.0) + taken
            self.queue.done(number)
            del work, then  # an error that they keep may lead to this frame

    def help(self) -> None:
        """Does what comes next, if anything is left: one thing, so that Ctrl-C is heard between two."""
        number = self.queue.work(False, 1)
        if number is not None:
            self._do(number)

    def wait(self, number: int) -> None:
        """Until that entry is done, and helps meanwhile."""
        self.wait_until(lambda: number not in self._works)

    def wait_until(self, met: Callable[[], bool], least: Callable[[], int] = lambda: 1) -> None:
        """Until a condition is met, which entries that are done meet; and helps meanwhile.

        Args:
            least: how many entries are to be done at least before it can be met.
        """
        while not met():
            self.collect()
            if met():
                return  # to wait now would be to wait for something else, which may be nothing
            if self._helps and self.queue.left():
                self.help()
            else:
                self.collect(_PATIENCE, least())

    def settle(self) -> None:
        """Waits until all that was pushed is done, and helps meanwhile."""
        self.wait_until(lambda: not self._works)

    def collect(self, seconds: float = 0.0, least: int = 1) -> None:
        """Hears what has been done; if that is less than so many entries, waits for so long."""
        number = self.queue.take(seconds, least)
        while number is not None:
            # After an interrupt in here, the same number comes once more.
            _, then, _ = self._works.get(number, _HEARD)
            if then is not None:
                then()
            self._works.pop(number, None)
            self.queue.heard()
            number = self.queue.take(0.0)

    def seconds(self) -> dict[str, float]:
        """What the threads have been busy with so far, by labels: decoding, transforms, and what was pushed as work."""
        decoding, jobs = self.queue.seconds()
        with self._timing:
            taken = dict(self._seconds)
        taken["decode"] = decoding
        taken["transform"] = taken.get("transform", 0.0) + jobs - decoding
        return taken

    def finish(self) -> None:
        """Does all that is left, and waits for what others do."""
        self.queue.close()
        while self.queue.left():
            self.help()
        for thread in self._threads if self._running else ():
            thread.join()
        self.collect()

    def cancel(self, seconds: float | None = None) -> None:
        """Drops what nobody has begun, and waits for the rest: one image a thread.

        Args:
            seconds: for how long at most, where a thread does what needs Python's lock; None has no limit. What a
                thread does without that lock waits for nothing, and is always waited for.
        """
        if self.forked:
            return
        self.cancelled = True
        self.queue.cancel()
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            # A collection of garbage may end what has the crew in any thread.
            if thread is threading.current_thread():
                continue
            while thread.is_alive():
                thread.join(None if end is None else _PATIENCE)
                if end is not None and time.monotonic() >= end and thread in self._in_python:
                    break
        self._works.clear()  # an error of what was done meanwhile may lead here


_started: weakref.WeakSet[Crew] = weakref.WeakSet()

_mended = os.getpid()


def _mend_torch() -> None:
    """Has torch replace its pool of threads, of which a child has none, before two threads do it at a time.

    Each thread does it at its first operation, without a lock: one of them fails with "Invalid thread pool".
    """
    global _mended
    torch = sys.modules.get("torch")  # decoding alone does without it
    if os.getpid() != _mended and torch is not None:
        _mended = os.getpid()
        torch.set_num_threads(torch.get_num_threads())


@contextlib.contextmanager
def torch_with_one_thread(wanted: bool = True) -> Iterator[None]:
    """Give torch one thread in this thread, as a worker process of a DataLoader does, until the end of the block."""
    torch = sys.modules["torch"]
    threads = torch.get_num_threads()
    if not wanted or threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@atexit.register
def _cancel_all() -> None:
    """Ends threads before the interpreter does: one that would take its lock then is killed inside of a native call."""
    end = time.monotonic() + EXITING
    for crew in list(_started):
        crew.cancel(max(end - time.monotonic(), 0.0))
