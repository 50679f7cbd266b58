"""Threads that work at one queue, and end with a call or an iterator."""

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

#: A program, its image, and the memory of its result.
NativeJob = tuple[bytes, _C.Source, _C.Target]

# More jobs than any queue holds.
_ALL = 1 << 62

# Seconds by which Ctrl-C may be delayed.
_PATIENCE = 0.05

# Seconds for which a thread does pieces of one entry before it returns to Python.
_HELPING = 0.005

#: Seconds that the end of an iterator and of the interpreter wait for user code in a thread, which may itself wait for
#: them. The interpreter waits as long as torch's DataLoader waits for a worker.
GOING, EXITING = 1.0, 5.0


# A thread that works at a queue sets the attribute `inside`.
_here = threading.local()

# torch replaces a pool of threads whenever their number is set.
_setting = threading.Lock()


def cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_for(num_threads: Any) -> int:
    """Return how many threads work at a time, including the caller's; by default one for each CPU.

    The default is one in a worker of a DataLoader, and in a thread that works at a queue already.
    """
    if num_threads is None:
        data = sys.modules.get("torch.utils.data")
        if hasattr(_here, "inside") or (data is not None and data.get_worker_info() is not None):
            return 1
        return cpus()
    return positive("num_threads", num_threads)


class Crew:
    """A queue and the threads that work at it, with the caller's thread if it helps.

    Each thread is inside one native call, which runs jobs until one needs Python. The threads are Python's and end with
    their crew, so forks need no guard.

    If it `helps`, the caller's thread is among the `count` and works while it waits. Otherwise the threads are like the
    worker processes of a DataLoader, and torch uses one thread in each.
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
        self._in_python: set[threading.Thread] = set()  # those that run Python
        self._name = name
        self._count = count
        self._threads: list[threading.Thread] = []

    def start(self, most: int | None = None) -> None:
        """Start as many of the threads as the system has, and at most so many.

        If they are too few and the caller's thread does not help, it does all work alone: a loader keeps threads for
        long, and others need them.
        """
        if self._running:
            return
        self._running = True
        if self._single:
            self._ready = threading.Semaphore(0)
        first = 1 if self._helps else 0
        self._threads = [
            threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
            for number in range(first, self._count if most is None else min(self._count, first + most))
        ]
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
        """End the threads before there is work, and let the caller's do all."""
        self._helps = True
        self.queue.cancel()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self.queue = _C.Queue()

    @property
    def forked(self) -> bool:
        """True in a child process, which has none of the threads."""
        return os.getpid() != self._pid

    def push(
        self,
        work: Callable[[], None],
        job: NativeJob | tuple[NativeJob, ...] | _C.Works | None = None,
        rewrites: int = _C.EXACT,
        then: Callable[[], None] | None = None,
        urgent: bool = False,
        label: str = "transform",
    ) -> int:
        """Add an entry, and return its number.

        Its native jobs do the same as `work`, which is called if there are none or one fails. The caller's thread
        calls `then` some time after it, again if that is interrupted. `label` is that of the time of `work`.
        """
        number = self._pushed
        self._pushed += 1
        self._works[number] = work, then, label  # before the push, after which a thread may look for it
        self.queue.push(job, rewrites, urgent)
        return number

    def _work(self) -> None:
        _here.inside = True
        if self._single:
            torch = sys.modules["torch"]
            with _setting:
                torch.get_num_threads()  # the first call in a thread sets the number that was set last in any thread
                torch.set_num_threads(1)
            self._ready.release()
        thread = threading.current_thread()
        while (number := self.queue.work(True, _ALL)) is not None:
            self._in_python.add(thread)
            # A thread outlives any exception, even one that ends a process. The caller repeats that work, or finds
            # the error where the work has put it.
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
            del work, then  # they may keep an error that leads to this frame

    def help(self) -> None:
        """Do the next entry, if one is left, or some pieces of it. Ctrl-C is handled between two calls."""
        number = self.queue.work(False, 1, _HELPING)
        if number is not None:
            self._do(number)

    def wait(self, number: int) -> None:
        """Wait for that entry, and help meanwhile."""
        self.wait_until(lambda: number not in self._works)

    def wait_until(self, met: Callable[[], bool], least: Callable[[], int] = lambda: 1) -> None:
        """Help until done entries meet a condition, for which `least` more are needed."""
        while not met():
            self.collect()
            if met():
                return  # another entry to wait for may not exist
            if self._helps and self.queue.left():
                self.help()
            else:
                self.collect(_PATIENCE, least())

    def settle(self) -> None:
        """Wait until all entries are done, and help meanwhile."""
        self.wait_until(lambda: not self._works)

    def collect(self, seconds: float = 0.0, least: int = 1) -> None:
        """Collect entries that are done, and wait for so long if they are fewer than `least`."""
        number = self.queue.take(seconds, least)
        while number is not None:
            # After an interrupt here, the same number comes again.
            _, then, _ = self._works.get(number, (None, None, ""))
            if then is not None:
                then()
            self._works.pop(number, None)
            self.queue.heard()
            number = self.queue.take(0.0)

    def seconds(self) -> dict[str, float]:
        """Return the threads' seconds so far by label: decoding, transforms, and the labels of `push`."""
        reading, decoding, jobs = self.queue.seconds()
        with self._timing:
            taken = dict(self._seconds)
        taken["read"] = taken.get("read", 0.0) + reading
        taken["decode"] = decoding
        taken["transform"] = taken.get("transform", 0.0) + jobs - decoding
        return taken

    def finish(self) -> None:
        """Do all entries that are left, and wait for those in progress."""
        self.queue.close()
        while self.queue.left():
            self.help()
        for thread in self._threads if self._running else ():
            thread.join()
        self.collect()

    def cancel(self, seconds: float | None = None) -> None:
        """Drop all entries that have not begun, and wait for the rest, one for each thread.

        The limit in seconds is for threads that run Python. Native jobs, which wait for nothing, are always waited for.
        """
        if self.forked:
            return
        self.cancelled = True
        self.queue.cancel()
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            # A garbage collection may end the owner of the crew in any thread.
            if thread is threading.current_thread():
                continue
            while thread.is_alive():
                thread.join(None if end is None else _PATIENCE)
                if end is not None and time.monotonic() >= end and thread in self._in_python:
                    break
        self._works.clear()  # an error of an entry may lead here


_started: weakref.WeakSet[Crew] = weakref.WeakSet()

_mended = os.getpid()


def _mend_torch() -> None:
    """Let torch replace its pool of threads in a forked child, before two threads do it at once.

    Each thread does it at its first operation without a lock, and one of them fails with "Invalid thread pool".
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
    """End threads before the interpreter kills those that take its lock, inside a native call."""
    end = time.monotonic() + EXITING
    for crew in list(_started):
        crew.cancel(max(end - time.monotonic(), 0.0))
