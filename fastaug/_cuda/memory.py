"""Memory, streams and events of devices, all of them torch's; and the one place that tells devices from what is none.

Work goes to the current stream of the device. Copies of images from the host go to a stream of their own, so that they
overlap with kernels; the current stream waits for them. Nothing here waits for a device, but where it says so.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from fastaug import _C
from fastaug._cuda import driver, kernels, nvrtc

#: Blocks of a multiprocessor at a time, which share its memory; each takes so many bytes for itself
#: ("reserved shared memory" in NVIDIA's tables of compute capabilities).
_BLOCKS = 3
_RESERVED = 1 << 10
#: Where a share is less than this, tiles would be too small: two blocks have to do.
_SHARED = 31 << 10

#: Things given to another stream before which that one may still be.
_GIVEN = 2


class Event(Protocol):
    """A point of a stream."""

    def synchronize(self) -> None:
        """Waits until the device is there."""


class Side(Protocol):
    """A stream beside those that work is waited for on."""

    @property
    def device(self) -> Device: ...

    def active(self) -> AbstractContextManager[None]:
        """Makes its device this thread's current one, and the stream that one's current stream."""

    def mark(self) -> Event:
        """Where the stream is now."""

    def give(self, event: Event, tensors: Sequence[torch.Tensor]) -> None:
        """Has the current stream wait for the event, and then have the memory of tensors that were made before it.

        Waits until the current stream has done what it had to do some calls of this before, so that nobody can ask
        for ever more while the device is still at what came first.
        """


class Device(Protocol):
    """What a bag needs of a device. All but the first two lines belong inside of `current()`."""

    @property
    def device(self) -> torch.device: ...
    @property
    def limits(self) -> tuple[int, int]:
        """Bytes that stay in a cache between two parts of an image, and of shared memory that a block may have."""

    def current(self) -> AbstractContextManager[None]:
        """Makes it the current device of this thread."""

    def refuse_capture(self) -> None:
        """
        Raises:
            RuntimeError: work on the current stream is recorded.
        """

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Memory on the device, aligned to 256 bytes."""

    def pinned(self, count: int) -> torch.Tensor:
        """So many bytes on the host that a device copies from by itself, aligned to 16."""

    def upload(self, pinned: torch.Tensor) -> torch.Tensor:
        """A copy of pinned bytes on the device, on the current stream. They may be given up at once."""

    def upload_ahead(self, pinned: torch.Tensor) -> tuple[torch.Tensor, Event]:
        """As `upload`, as soon as the device gets to it; and when that is done. The current stream waits for it."""

    def uses(self, image: torch.Tensor) -> None:
        """Has memory of torch's be kept for the work that the current stream has so far."""

    def side(self) -> Side:
        """A new one. Outside of `current()`, as all of its own methods."""

    def kernels(self, bag: _C.Bag, family: kernels.Family) -> tuple[int, list[int]]:
        """The kernel that makes tables, 0 if the bag needs none, and one for each of its specs."""

    def launch(self, bag: _C.Bag, kernels: tuple[int, list[int]], blob: torch.Tensor, scratch: torch.Tensor) -> None:
        """All that a bag has to do, on the current stream."""


class Backend(Protocol):
    """The devices that there are."""

    def index(self, device: torch.device) -> int:
        """Of this or, where it has no index, of the current one.

        Raises:
            RuntimeError: there is none, or this process cannot use it.
            ValueError: there is none of that index.
        """

    def open(self, index: int) -> Device: ...


class Cuda:
    """A CUDA device, through torch and the driver.

    Raises:
        RuntimeError: there is no NVRTC.
    """

    def __init__(self, index: int) -> None:
        about = driver.device(index)
        nvrtc.version()  # without which there are no kernels, before anything is drawn
        self._index = index
        self._kernels = kernels.of(index)
        self.device = torch.device("cuda", index)
        share = about.shared_per_multiprocessor // _BLOCKS - _RESERVED
        shared = min(about.shared_per_block_most, max(share, _SHARED))
        self.limits = max(about.l2 // 2, 1 << 20), shared
        self._copies: torch.cuda.Stream | None = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        with torch.cuda.device(self._index):
            yield

    def refuse_capture(self) -> None:
        driver.refuse_capture(torch.cuda.current_stream().cuda_stream, self._index)

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def pinned(self, count: int) -> torch.Tensor:
        # torch keeps it for others, but not before the copies that it has seen of it are done.
        return torch.empty(count, dtype=torch.uint8, device="cpu", pin_memory=True)

    def upload(self, pinned: torch.Tensor) -> torch.Tensor:
        there = self.empty(tuple(pinned.shape), pinned.dtype)
        there.copy_(pinned, non_blocking=True)
        return there

    def upload_ahead(self, pinned: torch.Tensor) -> tuple[torch.Tensor, Event]:
        copies, current = self._copying(), torch.cuda.current_stream()
        with torch.cuda.stream(copies):
            # Of this stream's memory: what the current one has to do does not hold the copy up.
            there = self.upload(pinned)
            done: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
            done.record(copies)
        current.wait_event(done)
        there.record_stream(current)
        return there, done

    def _copying(self) -> torch.cuda.Stream:
        with self._lock:
            if self._copies is None:
                self._copies = torch.cuda.Stream(self._index)  # type: ignore[no-untyped-call]
            return self._copies

    def uses(self, image: torch.Tensor) -> None:
        image.record_stream(torch.cuda.current_stream())

    def side(self) -> Side:
        return CudaSide(self)

    def kernels(self, bag: _C.Bag, family: kernels.Family) -> tuple[int, list[int]]:
        tiles = self._kernels.get(bag.specs, family)
        tables = any(kernel < 0 for kernel, *_ in bag.launches)
        return self._kernels.prepare_kernel() if tables else 0, tiles

    def launch(self, bag: _C.Bag, kernels: tuple[int, list[int]], blob: torch.Tensor, scratch: torch.Tensor) -> None:
        prepare, tiles = kernels
        stream = torch.cuda.current_stream().cuda_stream
        address = driver.launch_address()
        # torch makes its context this thread's when it first needs it, and driver and runtime need not agree on it.
        with driver.current(self._index):
            code = bag.launch(address, stream, prepare, tiles, blob.data_ptr(), scratch.data_ptr())
        if code:
            raise driver.failed("cuLaunchKernel", code)


class CudaSide:
    """A stream of torch's.

    Args:
        device: where.
    """

    def __init__(self, device: Cuda) -> None:
        self.device = device
        self._stream: Any = torch.cuda.Stream(device.device.index)  # type: ignore[no-untyped-call]
        self._given: deque[Any] = deque()  # where other streams were

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with torch.cuda.stream(self._stream):
            yield

    def mark(self) -> Event:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(self._stream)
        mark: Event = event
        return mark

    def give(self, event: Any, tensors: Sequence[torch.Tensor]) -> None:
        with self.device.current():
            current = torch.cuda.current_stream()
            # It sleeps while it waits: others need the processor.
            before: Any = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            before.record(current)
            current.wait_event(event)
            for tensor in tensors:
                tensor.record_stream(current)
        self._given.append(before)
        if len(self._given) > _GIVEN:
            self._given.popleft().synchronize()


class _Cudas:
    """All CUDA devices."""

    def index(self, device: torch.device) -> int:
        if torch.version.cuda is None:  # where there are none, or AMD's
            raise RuntimeError(f"device is {device}, but PyTorch {torch.__version__} is built without CUDA")
        index: Any = device.index
        if index is not None:
            return driver.device(index).index
        driver.device(0)  # says what is wrong where torch would say something else
        return torch.cuda.current_device()

    def open(self, index: int) -> Device:
        # The locks and streams of a parent are no good in a child.
        return _opened(index, os.getpid())


@functools.cache
def _opened(index: int, process: int) -> Cuda:
    return Cuda(index)


#: Tests put another in its place, which needs no GPU.
backend: Backend = _Cudas()


def of(device: torch.device) -> Device:
    """A device; raises as `Backend.index` and `Cuda` do."""
    return backend.open(backend.index(device))


def as_device(device: Any) -> torch.device:
    """What an argument `device` says: a device with its index, or the CPU.

    Raises:
        TypeError: no string and no torch.device.
        ValueError: no such device, or one that is neither the CPU nor CUDA's.
        RuntimeError: no CUDA device can be used.
    """
    if not isinstance(device, (str, torch.device)):
        raise TypeError(f"device should be a string, such as 'cuda' or 'cuda:1', or a torch.device, got {device!r}")
    try:
        parsed = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device should be 'cuda', 'cuda:' and a number, or 'cpu', got {device!r}") from None
    if parsed.type == "cpu":
        return parsed
    if parsed.type != "cuda":
        raise ValueError(f"device should be a CUDA device or the CPU, got {device!r}")
    try:
        return torch.device("cuda", backend.index(parsed))
    except ValueError as error:
        raise ValueError(f"device is {str(device)!r}, but {error}") from None
