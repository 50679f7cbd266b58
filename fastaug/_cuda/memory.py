"""Memory, streams and events of devices, all of them torch's, and checks of `device` arguments.

Work goes to the current stream of the device. Images are copied from the host on a stream of their own, so that copies
overlap with kernels. The current stream waits for them, but the host does not, unless a docstring says so.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import torch

from fastaug import _C
from fastaug._cuda import driver, kernels, nvrtc

#: Blocks that share a multiprocessor's memory, and the bytes that each reserves ("reserved shared memory" in NVIDIA's
#: tables of compute capabilities).
_BLOCKS = 3
_RESERVED = 1 << 10
#: The least share in bytes. With less, tiles would be too small, so two blocks run.
_SHARED = 31 << 10

#: The number of `give`s that a stream may be behind.
_GIVEN = 2


#: A point of a stream.
Event: TypeAlias = torch.cuda.Event


class Device:
    """A CUDA device as bags use it, through torch and the driver. Call most methods inside `current()`.

    Attributes:
        limits: bytes that stay cached between two parts of an image, and bytes of shared memory of a block.
    """

    def __init__(self, index: int) -> None:
        about = driver.device(index)
        nvrtc.version()  # raises without NVRTC, before anything is drawn
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
        """Make it the current device of this thread."""
        with torch.cuda.device(self._index):
            yield

    def refuse_capture(self) -> None:
        """Raise a RuntimeError if work on the current stream is recorded."""
        driver.refuse_capture(torch.cuda.current_stream().cuda_stream, self._index)

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Return memory on the device, aligned to 256 bytes."""
        return torch.empty(shape, dtype=dtype, device=self.device)

    def pinned(self, count: int) -> torch.Tensor:
        """Return pinned bytes on the host, aligned to 16."""
        # torch reuses it only after the copies from it are done.
        return torch.empty(count, dtype=torch.uint8, device="cpu", pin_memory=True)

    def upload(self, pinned: torch.Tensor) -> torch.Tensor:
        """Copy pinned bytes to the device, on the current stream. They may be freed at once."""
        there = self.empty(tuple(pinned.shape), pinned.dtype)
        there.copy_(pinned, non_blocking=True)
        return there

    def upload_ahead(self, pinned: torch.Tensor) -> tuple[torch.Tensor, Event]:
        """Upload on another stream, which the current one waits for. Also return the end of the copy."""
        copies, current = self._copying(), torch.cuda.current_stream()
        with torch.cuda.stream(copies):
            # This stream's own memory does not wait for the work of the current one.
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
        """Keep memory of torch for the work of the current stream so far."""
        image.record_stream(torch.cuda.current_stream())

    def side(self) -> Side:
        """Return a new one. Call this and its methods outside of `current()`."""
        return Side(self)

    def kernels(self, bag: _C.Bag, family: kernels.Family) -> tuple[int, list[int]]:
        """Return the kernel that makes tables, or 0 if the bag needs none, and one for each of its specs."""
        tiles = self._kernels.get(bag.specs, family)
        tables = any(kernel < 0 for kernel, *_ in bag.launches)
        return self._kernels.prepare_kernel() if tables else 0, tiles

    def launch(self, bag: _C.Bag, kernels: tuple[int, list[int]], blob: torch.Tensor, scratch: torch.Tensor) -> None:
        """Launch all kernels of a bag on the current stream."""
        prepare, tiles = kernels
        stream = torch.cuda.current_stream().cuda_stream
        address = driver.launch_address()
        # The driver's current context may be another than the runtime's, which torch sets on demand.
        with driver.current(self._index):
            code = bag.launch(address, stream, prepare, tiles, blob.data_ptr(), scratch.data_ptr())
        if code:
            raise driver.failed("cuLaunchKernel", code)


class Side:
    """A stream beside the current ones."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._stream: Any = torch.cuda.Stream(device.device.index)  # type: ignore[no-untyped-call]
        self._given: deque[Any] = deque()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Make its device and the stream the current ones of this thread."""
        with torch.cuda.stream(self._stream):
            yield

    def mark(self) -> Event:
        """Return the point where the stream is now."""
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(self._stream)
        return event

    def give(self, event: Event, tensors: Sequence[torch.Tensor]) -> None:
        """Let the current stream wait for the event, and then own the memory of tensors made before it.

        Wait for the current stream's work of some calls before, so that no unlimited work is queued.
        """
        with self.device.current():
            current = torch.cuda.current_stream()
            # A blocking event sleeps while it waits.
            before: Any = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            before.record(current)
            current.wait_event(event)
            for tensor in tensors:
                tensor.record_stream(current)
        self._given.append(before)
        if len(self._given) > _GIVEN:
            self._given.popleft().synchronize()


class Backend:
    """All devices."""

    def index(self, device: torch.device) -> int:
        """Return the index of a device, or the current one if it has none.

        Raises:
            RuntimeError: there is no device, or this process cannot use it.
            ValueError: there is none of that index.
        """
        if torch.version.cuda is None:  # where there are none, or AMD's
            raise RuntimeError(f"device is {device}, but PyTorch {torch.__version__} is built without CUDA")
        index: Any = device.index
        if index is not None:
            return driver.device(index).index
        driver.device(0)  # has better errors than torch
        return torch.cuda.current_device()

    def open(self, index: int) -> Device:
        # A child cannot use the locks and streams of its parent.
        return _opened(index, os.getpid())


@functools.cache
def _opened(index: int, process: int) -> Device:
    return Device(index)


#: Tests replace it by one that needs no GPU.
backend = Backend()


def of(device: torch.device) -> Device:
    return backend.open(backend.index(device))


def as_device(device: Any) -> torch.device:
    """Return the device of an argument `device`, with its index, or the CPU.

    Raises:
        TypeError: neither a string nor a torch.device.
        ValueError: no such device, or neither the CPU nor a CUDA device.
        RuntimeError: CUDA cannot be used.
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
