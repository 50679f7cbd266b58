"""Bags of jobs on a device: planned by the host, their kernels found or made, and launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug import _C
from fastaug._cuda import memory
from fastaug._cuda.kernels import Family
from fastaug._program.job import Job

#: Of calls that have no pipeline: of one transform, or a function.
_SHARED = Family()


def run(
    jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], device: memory.Device, rewrites: int, family: Family
) -> list[int]:
    """Has a device do jobs, whose sources and targets lie on it, on its current stream.

    Kernels that are missing are compiled first. The device is the current one.

    Returns:
        The numbers of jobs that no device does: nothing was done of them.

    Raises:
        torch.cuda.OutOfMemoryError: the device's memory is full.
        RuntimeError: a kernel cannot be made or launched.
    """
    bag = _C.Bag(jobs, rewrites, *device.limits)
    if bag.launches:
        kernels = device.kernels(bag, family)
        pinned = device.pinned(bag.blob_bytes)
        bag.write(pinned.data_ptr())
        blob = device.upload(pinned)
        scratch = device.empty((max(bag.scratch_bytes, 1),), torch.uint8)
        # Both may be given up at once: whoever gets their memory next gets it on the same stream.
        device.launch(bag, kernels, blob, scratch)
    return bag.unfit


def run_one(job: Job, where: torch.device, rewrites: int, family: Family | None) -> Any:
    """The result of a job whose source lies on a device; None if no device does it.

    Raises:
        RuntimeError: the current stream is captured; or as `run` does.
    """
    device = memory.of(where)
    with device.current():
        device.refuse_capture()
        result, target = job.allocate_by(device.empty)
        unfit = run([(job.program, job.source, target)], device, rewrites, _SHARED if family is None else family)
    return None if unfit else job.delivered(result)


def moved(result: torch.Tensor, where: torch.device) -> torch.Tensor:
    """A tensor of the host's on a device, in the same memory format; on its current stream."""
    device = memory.of(where)
    with device.current():
        return upload(result, device)


def upload(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """As `moved`; the device is the current one. What is in pinned memory is copied from where it is."""
    if result.is_pinned() and result.stride() == torch.empty_like(result, device="meta").stride():
        flat = result.as_strided((result.numel(),), (1,)).view(torch.uint8)
        return _like(result, device.upload(flat))
    pinned = device.pinned(max(result.numel() * result.element_size(), 1))
    _like(result, pinned).copy_(result)
    return _like(result, device.upload(pinned))


def pin(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """A copy in pinned memory, dense; the device is the current one."""
    copy = _like(result, device.pinned(max(result.numel() * result.element_size(), 1)))
    return copy.copy_(result)


def empty_like(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """Memory on a device, the current one, for another tensor of this shape, dtype and memory format."""
    return _like(result, device.empty((max(result.numel() * result.element_size(), 1),), torch.uint8))


def _like(tensor: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    """Bytes as a dense tensor, with the axes in the order that they have in another one."""
    dense = torch.empty_like(tensor, device="meta")
    return memory[: dense.numel() * dense.element_size()].view(dense.dtype).as_strided(dense.shape, dense.stride())
