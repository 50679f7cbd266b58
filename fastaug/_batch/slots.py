"""The tensor of a batch, which is memory for results of one shape."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from fastaug import _C
from fastaug._program.job import DTYPES, Job
from fastaug._program.kinds import TENSOR
from fastaug._program.placed import device_of

# Smaller memory comes from the allocator's free lists.
_SMALL = 1 << 20

# Bytes that are kept for later batches, enough for a bag of some hundred tiles.
_KEPT = 1 << 30


class _Recycled:
    """The memory of deleted batches. Fresh pages cost more than many transforms when they are first touched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[np.ndarray] = []

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Return an uninitialised tensor whose memory returns here with its last view."""
        count = dtype.itemsize
        for side in shape:
            count *= side
        if not _SMALL <= count <= _KEPT:
            return torch.empty(shape, dtype=dtype)
        memory = self._take(count)
        view = memory.view()  # only the tensor keeps it
        weakref.finalize(view, self._give, memory).atexit = False
        return torch.from_numpy(view).view(dtype).view(shape)

    def _take(self, count: int) -> np.ndarray:
        with self._lock:
            for position in reversed(range(len(self._free))):
                if self._free[position].nbytes == count:
                    return self._free.pop(position)
        return np.empty(count, np.uint8)

    def _give(self, memory: np.ndarray) -> None:
        # This thread has the lock if a garbage collection inside `_take` ends a view.
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._free.append(memory)
            kept = 0
            for position in reversed(range(len(self._free))):
                kept += self._free[position].nbytes
                if kept > _KEPT:
                    del self._free[: position + 1]  # the oldest
                    break
        finally:
            self._lock.release()


recycled = _Recycled()

if hasattr(os, "register_at_fork"):
    # Another thread may hold the lock at a fork. Free memory in the child is a copy, and is released.
    os.register_at_fork(after_in_child=recycled.__init__)  # type: ignore[misc]


class Slots:
    """Memory for results of one shape and dtype: a tensor (count, ...) in any layout."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self._address = tensor.data_ptr()
        size = tensor.element_size()
        self._strides = tuple(size * stride for stride in tensor.stride())

    @classmethod
    def like(
        cls,
        job: Job,
        count: int,
        empty: Callable[[tuple[int, ...], torch.dtype], torch.Tensor] = recycled.empty,
    ) -> Slots:
        """Make slots for results like that of a job, in memory from `empty`."""
        height, width, channels = job.size
        if job.flat:
            return cls(empty((count, height, width), job.dtype))
        if job.interleaved and job.dtype is not torch.uint8:
            # Bytes are interleaved only because their image was.
            return cls(empty((count, height, width, channels), job.dtype).permute(0, 3, 1, 2))
        return cls(empty((count, channels, height, width), job.dtype))

    def places(self, index: int, job: Any) -> list[tuple[_C.Target, int]]:
        """Return a target for the result of image `index`, and the bytes from it to that of the next one."""
        return [(self.target(index, job), self._strides[0])]

    def fits(self, job: Job) -> bool:
        if job.kind != TENSOR or job.dtype is not self.tensor.dtype:
            return False
        height, width, channels = job.size
        shape = (height, width) if job.flat else (channels, height, width)
        return shape == tuple(self.tensor.shape[1:])

    def target(self, index: int, job: Job) -> _C.Target:
        height, width, channels = job.size
        number, size = DTYPES[job.dtype]
        first, *channel, row, pixel = self._strides
        step = channel[0] if channel else size
        address = self._address + index * first
        return _C.into_pointer(address, number, height, width, channels, row, pixel, step, self.tensor)

    def job(self, index: int, job: Job) -> Any:
        return job.program, job.source, self.target(index, job)

    def put(self, index: int, result: Any) -> bool:
        if not self.takes(result):
            return False
        self.tensor[index].copy_(result)
        return True

    def takes(self, result: Any) -> bool:
        own = self.tensor
        return isinstance(result, torch.Tensor) and result.dtype is own.dtype and result.shape == own.shape[1:]

    def misfit(self, result: Any, number: int | None = None) -> str:
        out = "out" if number is None else f"out[{number}]"
        return f"{out} should hold {described(self.tensor[0])} for each image, got {described(result)}"


def described(result: Any) -> str:
    if isinstance(result, torch.Tensor):
        return f"a tensor of {result.dtype} and shape {tuple(result.shape)}"
    return f"{type(result)}"


def slots_of(out: Any, count: int, device: torch.device | None) -> Slots:
    """Check the user's memory, which must be on the device, or on the CPU for None."""
    if isinstance(out, np.ndarray) and device is None:
        if not out.flags.writeable:
            raise ValueError("out should be writable, got a read-only array")
        if any(stride < 0 for stride in out.strides):
            raise ValueError(f"out should have no negative strides, got {out.strides}")
        if not out.flags.aligned or not out.dtype.isnative:
            raise ValueError("out should be aligned and of native byte order")
        try:
            out = torch.from_numpy(out)
        except TypeError:
            raise ValueError(f"out should be of a dtype that tensors have, got {out.dtype}") from None
    if not isinstance(out, torch.Tensor):
        accepted = "a tensor or an ndarray" if device is None else f"a tensor on {device}"
        raise TypeError(f"out should be {accepted}, got {type(out).__name__}")
    fits = out.is_cpu if device is None else device_of(out) == device
    if not fits or out.layout is not torch.strided:
        where = "the CPU" if device is None else str(device)
        raise ValueError(f"out should be a dense tensor on {where}, got {out.layout} on {out.device}")
    if out.requires_grad:
        raise ValueError("out should not require grad")
    if out.ndim not in (3, 4) or len(out) != count:
        raise ValueError(f"out should be of shape ({count}, ...), for that many images, got {tuple(out.shape)}")
    if any(stride == 0 and side > 1 for stride, side in zip(out.stride(), out.shape)):
        raise ValueError(f"out should have memory of its own for every sample, got strides {out.stride()}")
    return Slots(out)
