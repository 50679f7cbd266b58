"""Kernels for the ops of pipelines.

A kernel for all ops would spill registers. One for the ops of a pipeline compiles in half a second. If it spills, it is
compiled again with more registers, for fewer threads at once. A kernel has a *spec*: the exact form of its images, and
masks of the steps, ends, ops and flags that can occur. All kernels give the same pixels, so one with more bits serves
too.

Random pipelines need other bits at every call. A *family* holds the specs of one pipeline. If a kernel is missing,
their union is compiled, so there are never more compilations than bits.

Kernels come from memory, from disk, or from NVRTC, which runs in several threads without Python's lock. Threads wait
for a kernel that another one is making.
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
from typing import NamedTuple, TypeAlias

from fastaug import _C
from fastaug._cuda import cache, driver, nvrtc

#: (source, channels, dtype, steps, ends, ops, flags): three that a kernel has exactly, and four masks of what occurs.
Spec: TypeAlias = tuple[int, int, int, int, int, int, int]

#: The entry points of the two sources.
TILE = "fastaug_tile"
PREPARE = "fastaug_prepare"

_LOG = logging.getLogger("fastaug")
#: The number of exact numbers of a spec, before its masks.
_EXACT = 3
#: The least number of blocks of a multiprocessor: at first, and then if registers spill.
_BLOCKS = (3, 2, 1)


class Sources:
    """The source texts of kernels, in the native extension."""

    @property
    def headers(self) -> Mapping[str, str]:
        """{name: text} of included files."""
        return _C.cuda_headers()

    def tile(self, spec: Spec, blocks: int) -> str:
        """Return the source of `TILE`, of which a multiprocessor holds at least `blocks` blocks."""
        return _C.cuda_source(spec, blocks)

    def prepare(self) -> str:
        """Return the source of `PREPARE`."""
        return _C.cuda_prepare_source()


def covers(wide: Spec, spec: Spec) -> bool:
    """Return True if a kernel for `wide` also runs `spec`."""
    return wide[:_EXACT] == spec[:_EXACT] and all(bits & ~more == 0 for more, bits in zip(wide[_EXACT:], spec[_EXACT:]))


def union(first: Spec, second: Spec) -> Spec:
    """Return the least spec that covers both, whose exact numbers are equal."""
    source, channels, dtype, *masks = (a if k < _EXACT else a | b for k, (a, b) in enumerate(zip(first, second)))
    return (source, channels, dtype, masks[0], masks[1], masks[2], masks[3])


def tiles(sources: Sources, spec: Spec) -> list[str]:
    return [sources.tile(spec, blocks) for blocks in _BLOCKS]


def fitting(sources: Iterable[str], compile: Callable[[str], nvrtc.Binary]) -> nvrtc.Binary:
    """Compile sources of one kernel until one does not spill. Otherwise return the first that spills least."""
    made: list[nvrtc.Binary] = []
    for source in sources:
        made.append(compile(source))
        if _spilled(made[-1]) == 0:
            return made[-1]
    return min(made, key=_spilled)


def _spilled(binary: nvrtc.Binary) -> int:
    """Return bytes of a thread's stack, and bytes spilled and read back. For PTX this is 0."""
    return sum(one.stack_frame + one.spill_stores + one.spill_loads for one in binary.reports)


class Family:
    """The specs of one pipeline so far. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._widest: dict[tuple[int, ...], Spec] = {}

    def widen(self, specs: Iterable[Spec]) -> list[Spec]:
        """Return for each spec the union of all with its exact numbers, now and before."""
        specs = list(specs)
        with self._lock:
            for spec in specs:
                exact = spec[:_EXACT]
                self._widest[exact] = union(self._widest.get(exact, spec), spec)
            return [self._widest[spec[:_EXACT]] for spec in specs]


class _Promise(NamedTuple):
    """A kernel that a thread is making."""

    #: Returns its sources, for `fitting`.
    texts: Callable[[], Sequence[str]]
    entry: str
    #: The spec, or `PREPARE`.
    name: Hashable
    future: Future[int]


class Kernels:
    """The kernels of one device. Threads may share it.

    Args:
        index: the device.
        sources: the text of kernels; the native extension by default.
        disk: compiled kernels; the user's cache by default.
        compile: replaces `nvrtc.compile`.
    """

    def __init__(
        self,
        index: int,
        sources: Sources | None = None,
        disk: cache.Cache | None = None,
        compile: Callable[[str, Mapping[str, str], str], nvrtc.Binary] = nvrtc.compile,
    ) -> None:
        self.device = driver.device(index)
        self._sources = sources or Sources()
        folder = cache.folder()
        self._disk = disk or cache.Cache(folder and folder / "kernels")
        self._compile = compile
        self._lock = threading.Lock()
        #: All kernels that exist or are being made, by spec; that of `PREPARE` by its name.
        self._made: dict[Hashable, Future[int]] = {}
        #: The kernels of all specs so far, for all calls but the first ones.
        self._known: dict[Spec, int] = {}
        self._modules: list[driver.Module] = []

    def get(self, specs: Sequence[Spec], family: Family) -> list[int]:
        """Return a kernel (the address of a CUfunction) for each spec. Compile those that no kernel covers.

        Call `driver.refuse_capture` first, as the driver may not load while a stream is captured. After an error, a
        later call tries again.
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
        """Return the kernel without a spec."""
        missing: list[_Promise] = []
        with self._keeping(missing):
            with self._lock:
                future = self._made.get(PREPARE) or self._promise(
                    lambda: [self._sources.prepare()], PREPARE, PREPARE, missing
                )
            self._make(missing)
        return future.result()

    def close(self) -> None:
        """Unload all kernels, none of which may be running. They are loaded again on demand."""
        with self._lock:
            modules, self._modules = self._modules, []
            self._made.clear()
            self._known.clear()
        for module in modules:
            module.unload()

    def _covering(self, spec: Spec) -> Future[int] | None:
        """Return the kernel with the fewest bits that covers a spec. The lock is held."""
        wide = [one for one in self._made if isinstance(one, tuple) and covers(one, spec)]
        if not wide:
            return None
        return self._made[min(wide, key=lambda one: sum(bits.bit_count() for bits in one[_EXACT:]))]

    def _promise(
        self, texts: Callable[[], Sequence[str]], entry: str, name: Hashable, missing: list[_Promise]
    ) -> Future[int]:
        """Record that this thread makes a kernel. The lock is held."""
        promise = _Promise(texts, entry, name, Future())
        missing.append(promise)
        self._made[name] = promise.future
        return promise.future

    @contextlib.contextmanager
    def _keeping(self, missing: list[_Promise]) -> Iterator[None]:
        """End all promises in any case, because others wait for them. Forget those that failed."""
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
        if len(missing) == 1:
            self._make_one(missing[0])
        elif missing:
            with ThreadPoolExecutor(min(len(missing), len(os.sched_getaffinity(0))), "fastaug-nvrtc") as pool:
                list(pool.map(self._make_one, missing))

    def _make_one(self, promise: _Promise) -> None:
        promise.future.set_result(self._load(self._binary(promise.texts(), promise.name), promise.entry))

    def _binary(self, sources: Sequence[str], name: Hashable) -> nvrtc.Binary:
        arch, headers = self.device.arch, self._sources.headers
        # All sources decide which one the kernel was made of.
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
    """Return the kernels of a device that all pipelines of this process share."""
    # This raises in a fork of a process that used the driver, where a lost thread may hold the lock below.
    driver.device(index)
    with _SHARING:
        return _shared(index)


def _words(binary: nvrtc.Binary) -> str:
    if binary.kind == "ptx":
        return f"{len(binary.data)} bytes of PTX, since this GPU is newer than NVRTC; the driver compiles them"
    taken = [
        f"{one.registers} registers, {one.stack_frame} bytes of stack, {one.spill_stores} bytes spilled"
        for one in binary.reports
    ]
    return "; ".join([f"{len(binary.data)} bytes", *taken])
