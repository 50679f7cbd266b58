"""A device without one: its memory is the host's, and its kernels are emulated. It goes by the name of cuda:0."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from fastaug import _C
from fastaug._batch.together import Alone
from fastaug._cuda import kernels, memory
from fastaug._draft.pipeline import Pipeline
from fastaug._program import placed

#: What is on the device before something is written there.
_DIRT = 0xA5


class Done:
    def synchronize(self) -> None:
        """Everything is done when it is begun."""


class HostSide:
    """What fastaug._cuda.memory.Side is. What is made on it is not to be used before it is given.

    Attributes:
        given: for each time that something was, how many launches there had been when it was marked, and where the
            memory of its tensors begins.
    """

    def __init__(self, device: HostDevice) -> None:
        self.device = device
        self.given: list[tuple[int, list[int]]] = []

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with self.device.current():
            outer, self.device.aside = self.device.aside, self
            try:
                yield
            finally:
                self.device.aside = outer

    def mark(self) -> Mark:
        assert self.device.aside is self
        return Mark(self.device.launches)

    def give(self, event: Any, tensors: Sequence[torch.Tensor]) -> None:
        assert self.device.aside is None
        assert all(map(self.device.owns, tensors))
        self.given.append((event.launches, [tensor.untyped_storage().data_ptr() for tensor in tensors]))


class Mark(Done):
    """How many launches there were when it was made."""

    def __init__(self, launches: int) -> None:
        self.launches = launches


class HostDevice:
    """What fastaug._cuda.memory.Device is, on the host. Tensors whose memory it gave are on it, and no others.

    Attributes:
        launches: how many there were.
        ahead: how many of them were on a stream of a loader's.
        aside: the stream that is current, if it is a loader's.
        sides: all of these that there are.
        uploaded: bytes of images that were copied to it.
        capturing: whether its stream is captured.
        left: bytes that can still be had.
    """

    def __init__(self, index: int = 0) -> None:
        self.device = torch.device("cuda", index)
        self.limits = 1 << 16, 48 << 10
        self.launches = self.ahead = self.uploaded = self.depth = 0
        self.aside: HostSide | None = None
        self.sides: list[HostSide] = []
        self.capturing = False
        self.left = 1 << 40
        self.order = 2
        self.asked: list[Any] = []
        self._given: dict[int, torch.Tensor] = {}

    def owns(self, tensor: torch.Tensor) -> bool:
        if tensor.device.type != "cpu":
            return False
        start = tensor.untyped_storage().data_ptr()
        # Of a copy: a loader's thread may be given memory meanwhile.
        return any(begin <= start < begin + len(memory) for begin, memory in list(self._given.items()))

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy on the device, with the same strides."""
        storage = self._empty(tensor.untyped_storage().nbytes()).view(tensor.dtype)
        return storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).copy_(tensor)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def refuse_capture(self) -> None:
        assert self.depth
        if self.capturing:
            raise RuntimeError("fastaug cannot be captured into a CUDA graph")

    def _empty(self, count: int) -> torch.Tensor:
        self.left -= count
        if self.left < 0:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        # Kept, so that no other memory comes to lie there; a storage begins at an aligned address.
        whole = np.full(count + 256, _DIRT, np.uint8)
        start = -whole.ctypes.data % 256
        memory = torch.from_numpy(whole[start : start + max(count, 1)])
        self._given[memory.untyped_storage().data_ptr()] = memory
        return memory[:count]

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        assert self.depth
        return self._empty(torch.Size(shape).numel() * dtype.itemsize).view(dtype).view(shape)

    def pinned(self, count: int) -> torch.Tensor:
        assert self.depth
        return torch.full((count,), _DIRT, dtype=torch.uint8)

    def upload(self, pinned: torch.Tensor) -> torch.Tensor:
        assert not self.owns(pinned)
        there = self.empty(tuple(pinned.shape), pinned.dtype)
        return there.copy_(pinned)

    def upload_ahead(self, pinned: torch.Tensor) -> tuple[torch.Tensor, memory.Event]:
        self.uploaded += len(pinned)
        return self.upload(pinned), Done()

    def uses(self, image: torch.Tensor) -> None:
        assert self.owns(image)

    def side(self) -> HostSide:
        self.sides.append(HostSide(self))
        return self.sides[-1]

    def kernels(self, bag: _C.Bag, family: kernels.Family) -> tuple[int, list[int]]:
        specs = family.widen(bag.specs)
        self.asked += specs
        return 1, [2 + number for number in range(len(specs))]

    def launch(self, bag: _C.Bag, kernels: tuple[int, list[int]], blob: torch.Tensor, scratch: torch.Tensor) -> None:
        assert self.depth and self.owns(blob) and self.owns(scratch)
        for launch in bag.launches:
            _C.emulate_launch(launch, blob.data_ptr(), scratch.data_ptr(), self.order)
        self.launches += 1
        self.ahead += self.aside is not None


class HostBackend:
    """So many of them.

    Attributes:
        fetched: how many images were copied back to the host.
    """

    def __init__(self, count: int = 2) -> None:
        self.devices = [HostDevice(index) for index in range(count)]
        self.fetched = 0

    def index(self, device: torch.device) -> int:
        index: Any = device.index
        if index is not None and index >= len(self.devices):
            raise ValueError(f"index is {index}, and there are {len(self.devices)} CUDA devices")
        return index or 0

    def open(self, index: int) -> HostDevice:
        return self.devices[index]

    def device_of(self, image: torch.Tensor) -> torch.device | None:
        return next((one.device for one in self.devices if one.owns(image)), None)

    def holds(self, image: Any) -> bool:
        return isinstance(image, torch.Tensor) and self.device_of(image) is not None

    def on_host(self, image: Any) -> Any:
        if isinstance(image, placed.DeviceArray):
            self.fetched += 1
            return image.tensor.numpy().copy()
        if self.holds(image):
            self.fetched += 1
            return image.clone()
        return image


def install(monkeypatch: pytest.MonkeyPatch) -> HostBackend:
    """Has fastaug believe that these are the CUDA devices of this machine."""
    backend = HostBackend()
    monkeypatch.setattr(memory, "backend", backend)
    for name in ("fastaug._program.placed", "fastaug._batch.device", "fastaug._batch.slots", "fastaug._batch.sources"):
        module = importlib.import_module(name)
        for function in ("device_of", "on_host"):
            if hasattr(module, function):
                monkeypatch.setattr(module, function, getattr(backend, function))
    at_once = Pipeline._at_once

    def unless_on_device(pipeline: Pipeline, image: Any, unpacked: bool = False) -> Any:
        """The core takes tensors that torch says are on the CPU, as these are."""
        return NotImplemented if backend.holds(image) else at_once(pipeline, image, unpacked)

    monkeypatch.setattr(Pipeline, "_at_once", unless_on_device)
    drawn = Alone.drawn

    def drawn_unless_on_device(index: int, item: Any, image: Any, *more: Any) -> Any:
        return None if backend.holds(image) else drawn(index, item, image, *more)

    monkeypatch.setattr(Alone, "drawn", drawn_unless_on_device)
    return backend
