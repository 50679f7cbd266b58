"""Kernels that are made for the pipelines at hand.

A kernel that could do everything needs so many registers that it spills them; one for just the ops of a pipeline does
not, and takes half a second to compile. One that does is compiled again with more of them, for fewer threads at once.
So a kernel has a *spec*: what its images are, exactly, and masks of the steps,
ends, ops and flags that can occur. Its source is a few constants and the extension's device headers. All kernels give
the same pixels, so one whose masks hold more bits than are asked for serves too.

Random pipelines ask for other bits at every call: a jitter that leaves out an op, a crop that needs no filter. A
*family* belongs to one pipeline and remembers what it asked for. When something is missing, the union of that is
compiled, so that there are never more compilations than bits, and soon there are none.

A kernel is looked for among those in memory, then on disk, and then compiled; several at once in threads, since NVRTC
runs without Python's lock. Whoever asks for one that another thread is making waits for it.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeAlias

from fastaug import _C
from fastaug._cuda import cache, driver, nvrtc

#: (source, channels, dtype, steps, ends, ops, flags): three that a kernel has exactly, and four masks of what occurs.
Spec: TypeAlias = tuple[int, int, int, int, int, int, int]

#: The entry points of the two sources.
TILE = "fastaug_tile"
PREPARE = "fastaug_prepare"

_LOG = logging.getLogger("fastaug")
#: How many of a spec's numbers have to be equal; the others are masks.
_EXACT = 3
#: How many blocks a multiprocessor is to hold at least: at first, and then where registers do not suffice for that.
_BLOCKS = (3, 2, 1)


class Sources(Protocol):
    """Where the text of kernels comes from."""

    @property
    def headers(self) -> Mapping[str, str]:
        """{name: text} of what the sources include."""

    def tile(self, spec: Spec, blocks: int) -> str:
        """The source of `TILE` for a spec, of which a multiprocessor holds `blocks` blocks at least."""

    def prepare(self) -> str:
        """The source of `PREPARE`."""


class Extension:
    """The text that the native extension carries."""

    @property
    def headers(self) -> Mapping[str, str]:
        return _C.cuda_headers()

    def tile(self, spec: Spec, blocks: int) -> str:
        return _C.cuda_source(spec, blocks)

    def prepare(self) -> str:
        return _C.cuda_prepare_source()


def covers(wide: Spec, spec: Spec) -> bool:
    """Whether a kernel for `wide` does all that `spec` says.

    Example:
        >>> covers((0, 3, 1, 0b111, 1, 2, 0), (0, 3, 1, 0b101, 1, 0, 0))
        True
    """
    return wide[:_EXACT] == spec[:_EXACT] and all(bits & ~more == 0 for more, bits in zip(wide[_EXACT:], spec[_EXACT:]))


def union(first: Spec, second: Spec) -> Spec:
    """The least spec that covers both, whose first three numbers are equal.

    Example:
        >>> union((0, 3, 1, 0b100, 1, 2, 0), (0, 3, 1, 0b001, 1, 0, 4))
        (0, 3, 1, 5, 1, 2, 4)
    """
    source, channels, dtype, *masks = (a if k < _EXACT else a | b for k, (a, b) in enumerate(zip(first, second)))
    return (source, channels, dtype, masks[0], masks[1], masks[2], masks[3])


def tiles(sources: Sources, spec: Spec) -> list[str]:
    """The sources of `TILE` for a spec, as `fitting` takes them."""
    return [sources.tile(spec, blocks) for blocks in _BLOCKS]


def fitting(sources: Iterable[str], compile: Callable[[str], nvrtc.Binary]) -> nvrtc.Binary:
    """The first of several sources that keeps all in registers; else the first of those that spill least.

    Args:
        sources: of one kernel, the best first.
        compile: makes a binary of one; the later ones are compiled only where they are needed.

    Example:
        >>> fitting(["a", "b"], lambda text: nvrtc.Binary("ptx", text.encode(), "")).data
        b'a'
    """
    made: list[nvrtc.Binary] = []
    for source in sources:
        made.append(compile(source))
        if _spilled(made[-1]) == 0:
            return made[-1]
    return min(made, key=_spilled)


def _spilled(binary: nvrtc.Binary) -> int:
    """Bytes of a thread's local memory, and how often they are written and read. PTX does not say."""
    return sum(one.stack_frame + one.spill_stores + one.spill_loads for one in binary.reports)


class Family:
    """All that one pipeline has asked for. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._widest: dict[tuple[int, ...], Spec] = {}

    def widen(self, specs: Iterable[Spec]) -> list[Spec]:
        """For each spec the union of it with all of the same first three numbers, now and before."""
        specs = list(specs)
        with self._lock:
            for spec in specs:
                exact = spec[:_EXACT]
                self._widest[exact] = union(self._widest.get(exact, spec), spec)
            return [self._widest[spec[:_EXACT]] for spec in specs]


class _Promise(NamedTuple):
    """A kernel that a thread has set out to make."""

    #: Of its sources, as `fitting` takes them.
    texts: Callable[[], Sequence[str]]
    entry: str
    #: The spec, or `PREPARE`.
    name: Hashable
    future: Future[int]


class Kernels:
    """The kernels of one device. Threads may share it.

    Args:
        index: the device.
        sources: where their text comes from; the native extension by default.
        disk: where compiled ones are kept; the user's cache by default.
        compile: as `nvrtc.compile`.

    Raises:
        RuntimeError: there is no driver, no GPU, or no NVRTC.
        ValueError: there is no such device.
    """

    def __init__(
        self,
        index: int,
        sources: Sources | None = None,
        disk: cache.Cache | None = None,
        compile: Callable[[str, Mapping[str, str], str], nvrtc.Binary] = nvrtc.compile,
    ) -> None:
        self.device = driver.device(index)
        self._sources = sources or Extension()
        folder = cache.folder()
        self._disk = disk or cache.Cache(folder and folder / "kernels")
        self._compile = compile
        self._lock = threading.Lock()
        #: What is there or being made, by spec; that of `PREPARE` by its name.
        self._made: dict[Hashable, Future[int]] = {}
        #: What has been asked for, and its kernel: the way of all calls but the first ones.
        self._known: dict[Spec, int] = {}
        self._modules: list[driver.Module] = []

    def get(self, specs: Sequence[Spec], family: Family) -> list[int]:
        """A kernel (the address of a CUfunction) for each spec; those that no kernel covers are compiled first.

        The driver may refuse to load while a stream is captured; `driver.refuse_capture` comes before this.

        Args:
            specs: what is to be done.
            family: of the pipeline that asks.

        Raises:
            torch.cuda.OutOfMemoryError: the device's memory is full.
            RuntimeError: a kernel cannot be compiled or loaded; a later call tries again.

        Example:
            >>> kernels.get([(0, 3, 1, 0b11, 1, 0b100, 0)], Family())  # doctest: +SKIP
            [94034187212352]
        """
        known = self._known
        try:
            return [known[spec] for spec in specs]
        except KeyError:
            pass
        wide = dict(zip(specs, family.widen(specs)))
        missing: list[_Promise] = []
        futures: dict[Spec, Future[int]] = {}
        with self._keeping(missing):
            with self._lock:
                for spec in specs:
                    futures[spec] = self._covering(spec) or self._promise(
                        functools.partial(tiles, self._sources, wide[spec]), TILE, wide[spec], missing
                    )
            self._make(missing)
        found = {spec: future.result() for spec, future in futures.items()}
        self._known.update(found)
        return [found[spec] for spec in specs]

    def prepare_kernel(self) -> int:
        """The one kernel that has no spec; raises as `get` does."""
        missing: list[_Promise] = []
        with self._keeping(missing):
            with self._lock:
                future = self._made.get(PREPARE) or self._promise(
                    lambda: [self._sources.prepare()], PREPARE, PREPARE, missing
                )
            self._make(missing)
        return future.result()

    def close(self) -> None:
        """Unloads all kernels, none of which may be running; what is asked for later is loaded again."""
        with self._lock:
            modules, self._modules = self._modules, []
            self._made.clear()
            self._known.clear()
        for module in modules:
            module.unload()

    def _covering(self, spec: Spec) -> Future[int] | None:
        """The kernel with the fewest bits, of those that cover a spec; the lock is held."""
        wide = [one for one in self._made if isinstance(one, tuple) and covers(one, spec)]
        if not wide:
            return None
        return self._made[min(wide, key=lambda one: sum(bits.bit_count() for bits in one[_EXACT:]))]

    def _promise(
        self, texts: Callable[[], Sequence[str]], entry: str, name: Hashable, missing: list[_Promise]
    ) -> Future[int]:
        """Lets others know that this thread makes a kernel; the lock is held."""
        promise = _Promise(texts, entry, name, Future())
        missing.append(promise)
        self._made[name] = promise.future
        return promise.future

    @contextlib.contextmanager
    def _keeping(self, missing: list[_Promise]) -> Iterator[None]:
        """Ends all promises, whatever happens, since others wait for them. What failed is tried again when needed."""
        try:
            yield
        except BaseException as error:
            reason = error if isinstance(error, Exception) else RuntimeError("making a kernel was interrupted")
            with self._lock:
                for promise in missing:
                    if not promise.future.done():
                        # Another may have taken the name after `close`.
                        if self._made.get(promise.name) is promise.future:
                            del self._made[promise.name]
                        promise.future.set_exception(reason)
            raise

    def _make(self, missing: list[_Promise]) -> None:
        """Makes kernels, at once if there are several."""
        if len(missing) == 1:
            self._make_one(missing[0])
        elif missing:
            with ThreadPoolExecutor(min(len(missing), len(os.sched_getaffinity(0))), "fastaug-nvrtc") as pool:
                list(pool.map(self._make_one, missing))

    def _make_one(self, promise: _Promise) -> None:
        promise.future.set_result(self._load(self._binary(promise.texts(), promise.name), promise.entry))

    def _binary(self, sources: Sequence[str], name: Hashable) -> nvrtc.Binary:
        """From disk, or else compiled."""
        arch, headers = self.device.arch, self._sources.headers
        # Which of the sources it was made of follows from all of them.
        key = cache.key("".join(sources), {**nvrtc.SHIMS, **headers}, nvrtc.OPTIONS, arch, nvrtc.version())
        binary = self._disk.get(key)
        if binary is not None:
            _LOG.debug("fastaug: kernel %s for %s was compiled before", name, arch)
            return binary
        start = time.perf_counter()
        binary = fitting(sources, lambda source: self._compile(source, headers, arch))
        seconds = time.perf_counter() - start
        _LOG.info("fastaug: compiled kernel %s for %s in %.2f s: %s", name, arch, seconds, _words(binary))
        self._disk.put(key, binary)
        return binary

    def _load(self, binary: nvrtc.Binary, entry: str) -> int:
        module = driver.Module(self.device.index, binary.data)
        try:
            function = module.function(entry)
        except BaseException:
            module.unload()
            raise
        with self._lock:
            self._modules.append(module)
        return function


_shared = functools.cache(Kernels)
_SHARING = threading.Lock()


def of(index: int) -> Kernels:
    """The kernels of a device that all pipelines of this process share; raises as `Kernels` does."""
    # In a fork of a process that had used the driver this raises, before a lock that a lost thread may hold.
    driver.device(index)
    with _SHARING:
        return _shared(index)


def _words(binary: nvrtc.Binary) -> str:
    """What a user may want to know of a compiled kernel."""
    if binary.kind == "ptx":
        return f"{len(binary.data)} bytes of PTX, since this GPU is newer than NVRTC; the driver compiles them"
    taken = [
        f"{one.registers} registers, {one.stack_frame} bytes of stack, {one.spill_stores} bytes spilled"
        for one in binary.reports
    ]
    return "; ".join([f"{len(binary.data)} bytes", *taken])
