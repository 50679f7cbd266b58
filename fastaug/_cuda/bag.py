"""Run bags of jobs on a device: plan them, find or make their kernels, and launch them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fastaug import _C
from fastaug._cuda import memory
from fastaug._cuda.kernels import Family
from fastaug._program.job import Job

#: The family of calls without a pipeline: of one transform, or a function.
_SHARED = Family()


def run(
    jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], device: memory.Device, rewrites: int, family: Family
) -> list[int]:
    """Run jobs, whose sources and targets lie on the current device, on its current stream.

    Returns:
        The numbers of jobs that no device can run, and which were not started.
    """
    bag = _C.Bag(jobs, rewrites, *device.limits)
    if bag.launches:
        kernels = device.kernels(bag, family)
        pinned = device.pinned(bag.blob_bytes)
        bag.write(pinned.data_ptr())
        blob = device.upload(pinned)
        scratch = device.empty((max(bag.scratch_bytes, 1),), torch.uint8)
        # Both may be freed at once, because their memory is used next on the same stream.
        device.launch(bag, kernels, blob, scratch)
    return bag.unfit


def run_one(job: Job, where: torch.device, rewrites: int, family: Family | None) -> Any:
    """Return the result of a job whose source lies on a device, or None if no device can run it."""
    device = memory.of(where)
    with device.current():
        device.refuse_capture()
        result, target = job.allocate_by(device.empty)
        unfit = run([(job.program, job.source, target)], device, rewrites, _SHARED if family is None else family)
    return None if unfit else job.delivered(result)


def moved(result: torch.Tensor, where: torch.device) -> torch.Tensor:
    """Copy a tensor of the host to a device, in the same memory format, on its current stream."""
    device = memory.of(where)
    with device.current():
        return upload(result, device)


def upload(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """Copy a tensor to the current device. Pinned memory is copied directly."""
    if result.is_pinned() and result.stride() == torch.empty_like(result, device="meta").stride():
        flat = result.as_strided((result.numel(),), (1,)).view(torch.uint8)
        return _like(result, device.upload(flat))
    pinned = device.pinned(max(result.numel() * result.element_size(), 1))
    _like(result, pinned).copy_(result)
    return _like(result, device.upload(pinned))


def pin(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """Return a dense copy in pinned memory of the current device."""
    copy = _like(result, device.pinned(max(result.numel() * result.element_size(), 1)))
    return copy.copy_(result)


def empty_like(result: torch.Tensor, device: memory.Device) -> torch.Tensor:
    """Return memory on the current device with the shape, dtype and memory format of a tensor."""
    return _like(result, device.empty((max(result.numel() * result.element_size(), 1),), torch.uint8))


def _like(tensor: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    """View bytes as a dense tensor, with the axes in the order of another one."""
    dense = torch.empty_like(tensor, device="meta")
    return memory[: dense.numel() * dense.element_size()].view(dense.dtype).as_strided(dense.shape, dense.stride())
