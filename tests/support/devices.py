"""A device without one: its memory is the host's, and its kernels are emulated. It goes by the name of cuda:0."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fastaug import _C
from fastaug._cuda import kernels, memory
from fastaug._program import placed

#: What is on the device before something is written there.
_DIRT = 0xA5


class Done:
    def synchronize(self) -> None:
        """Everything is done when it is begun."""


class HostDevice:
    """What fastaug._cuda.memory.Cuda is, on the host. Tensors whose memory it gave are on it, and no others.

    Attributes:
        launches: how many there were.
        uploaded: bytes of images that were copied to it.
        capturing: whether its stream is captured.
        left: bytes that can still be had.
    """

    def __init__(self, index: int = 0) -> None:
        self.device = torch.device("cuda", index)
        self.limits = 1 << 16, 48 << 10
        self.launches = self.uploaded = self.depth = 0
        self.capturing = False
        self.left = 1 << 40
        self.order = 2
        self.asked: list[Any] = []
        self._given: dict[int, torch.Tensor] = {}

    def owns(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == "cpu" and tensor.untyped_storage().data_ptr() in self._given

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy on the device, with the same strides."""
        storage = self._empty(tensor.untyped_storage().nbytes()).view(tensor.dtype)
        copy = storage.as_strided(tensor.shape, tensor.stride())
        return copy.copy_(tensor)

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
        # Kept, so that no other memory comes to lie there; storages begin where the device's do.
        memory = torch.full((count + 256,), _DIRT, dtype=torch.uint8)
        memory = torch.frombuffer(
            memory.numpy()[-memory.data_ptr() % 256 :][:count] if count else bytearray(1), dtype=torch.uint8
        )
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

    def kernels(self, bag: _C.Bag, family: kernels.Family) -> tuple[int, list[int]]:
        specs = family.widen(bag.specs)
        self.asked += specs
        return 1, [2 + number for number in range(len(specs))]

    def launch(self, bag: _C.Bag, kernels: tuple[int, list[int]], blob: torch.Tensor, scratch: torch.Tensor) -> None:
        assert self.depth and self.owns(blob) and self.owns(scratch)
        for launch in bag.launches:
            _C.emulate_launch(launch, blob.data_ptr(), scratch.data_ptr(), self.order)
        self.launches += 1


class HostBackend:
    """So many of them."""

    def __init__(self, count: int = 2) -> None:
        self.devices = [HostDevice(index) for index in range(count)]

    def index(self, device: torch.device) -> int:
        index = device.index or 0
        if not index < len(self.devices):
            raise ValueError(f"index is {index}, and there are {len(self.devices)} CUDA devices")
        return index

    def open(self, index: int) -> HostDevice:
        return self.devices[index]

    def device_of(self, image: torch.Tensor) -> torch.device | None:
        return next((one.device for one in self.devices if one.owns(image)), None)


def install(monkeypatch: pytest.MonkeyPatch) -> HostBackend:
    backend = HostBackend()
    monkeypatch.setattr(memory, "backend", backend)
    monkeypatch.setattr(placed, "device_of", backend.device_of)
    for module in ("fastaug._batch.device", "fastaug._batch.run", "fastaug._batch.sources"):
        monkeypatch.setattr(f"{module}.device_of", backend.device_of)
    return backend
