"""Times of batches on a device: whole calls, their kernels alone, and what the host has to do."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

import fastaug
import fastaug.transforms as T
from bench.gpu import cases, machine, rivals
from bench.gpu.cases import GpuCase
from bench.gpu.clock import Clock
from bench.gpu.compare import differs, far, needs_gpu, seeded
from bench.gpu.machine import Machine
from bench.gpu.parts import so_far
from bench.gpu.report import Check, Rates, Report, Row, Work, mean_work, spread
from fastaug import _C
from fastaug._batch.device import DeviceTask
from fastaug._cuda.kernels import Family
from fastaug._draft.call import Call, Drawing

#: Images that are planned together, as batches do it.
CHUNK = 64
#: Images of which bytes are counted.
COUNTED = 64
#: Calls after which nothing is compiled any more: what random pipelines ask for settles slowly.
WARM = 8

#: Images whose results are compared with the CPU's, before a case is timed.
CHECKED = 16

Job = tuple[bytes, _C.Source, _C.Target]


def repeated(once: Callable[[], float], seconds: float, least: int = 7, most: int = 200) -> list[float]:
    """What a measurement gives, again and again for so long."""
    found: list[float] = []
    start = time.perf_counter()
    while len(found) < least or (len(found) < most and time.perf_counter() - start < seconds):
        found.append(once())
    return found


def drawn(transform: Any, images: Sequence[torch.Tensor]) -> list[Any]:
    """The tasks of images with parameters that are drawn here, as a batch draws them."""
    call = Call(transform._call.draws, transform._call.rewrites, tape=Drawing())
    tasks = [DeviceTask(transform, index) for index in range(len(images))]
    for task, image in zip(tasks, images):
        task.draw(image, call)
        if task.error is not None:
            raise task.error
    call.draws.release()
    return tasks


class Planned:
    """Bags that can be launched again and again, of images on the device."""

    def __init__(self, machine: Machine, transform: Any, images: Sequence[torch.Tensor], family: Family) -> None:
        self._device, self._rewrites = machine.bags, transform._call.rewrites
        tasks = drawn(transform, images)
        assert all(task.job is not None for task in tasks), "an image of the bag is no job"
        with self._device.current():
            self._held = [task.job.allocate_by(self._device.empty) for task in tasks]
            self.jobs: list[Job] = [
                (task.job.program, task.job.source, target) for task, (_, target) in zip(tasks, self._held)
            ]
            self._launches = []
            for start in range(0, len(self.jobs), CHUNK):
                bag = _C.Bag(self.jobs[start : start + CHUNK], self._rewrites, *self._device.limits)
                kernels = self._device.kernels(bag, family)
                pinned = self._device.pinned(bag.blob_bytes)
                bag.write(pinned.data_ptr())
                blob = self._device.upload(pinned)
                scratch = self._device.empty((max(bag.scratch_bytes, 1),), torch.uint8)
                self._launches.append((bag, kernels, blob, scratch))

    def launch(self) -> None:
        with self._device.current():
            for launched in self._launches:
                self._device.launch(*launched)

    def plan(self) -> None:
        """Plans the bags anew, as a batch does."""
        with self._device.current():
            for start in range(0, len(self.jobs), CHUNK):
                bag = _C.Bag(self.jobs[start : start + CHUNK], self._rewrites, *self._device.limits)
                pinned = self._device.pinned(bag.blob_bytes)
                bag.write(pinned.data_ptr())

    def work(self) -> Work:
        """Bytes of an image: what its program reads, its result, and what a bag of it alone keeps on the device."""
        works = []
        for program, source, target in self.jobs[:COUNTED]:
            size = source.height, source.width, source.channels
            _, _, height, width = _C.needed(program, *size, self._rewrites)
            samples = target.height * target.width * target.channels
            kept = _C.Bag([(program, source, target)], self._rewrites, *self._device.limits).scratch_bytes
            works.append(Work(height * width * source.channels, samples * (4, 1, 2, 2)[_order(target.dtype)], kept))
        return mean_work(works)


def _order(dtype: int) -> int:
    """The place of a dtype's bytes: float32, uint8, and those of 16 bits."""
    return {_C.DTYPES["float32"]: 0, _C.DTYPES["uint8"]: 1}.get(dtype, 2)


def cpu_time(call: Callable[[], Any]) -> float:
    """Seconds that this thread computed."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def compiled(case: GpuCase) -> Any:
    return fastaug.compile(case.build(T), mode=case.mode, dtype=case.dtype)


def measured(machine: Machine, case: GpuCase, given: Sequence[torch.Tensor], seconds: float) -> Row:
    """Times a case, once its results are known to be right.

    Args:
        given: its images, in their place.
        seconds: about so many are spent.

    Raises:
        AssertionError: results of exact mode are not the CPU's, or those of fast mode too far away.
    """
    row, transform = Row(case.title, len(given), case.place), compiled(case)
    got, _ = seeded(lambda: transform.batch(list(given[:CHECKED]), device="cuda"))
    wanted, _ = seeded(lambda: transform.batch([image.cpu() for image in given[:CHECKED]]))
    wrong = (differs if case.mode == "exact" else far)(got.cpu(), wanted)
    assert not wrong, f"{case.title}: {wrong}"
    del got, wanted

    def call() -> Any:
        return transform.batch(given, device="cuda")

    for seed in range(2 if machine.emulated else WARM):
        seeded(call, seed)
    machine.synchronize()
    count, share = len(given), seconds / 4
    row.batch = spread(repeated(lambda: machine.time(call), 2 * share), 1 / count)
    # The queue of the device is empty whenever a call begins, so that nothing waits for room in it.
    row.host = spread(repeated(lambda: _host(machine, call), share / 2), 1 / count)
    if case.place != cases.DEVICE:
        return row
    planned = Planned(machine, transform, given, transform._family())
    row.work = planned.work()
    planned.launch()
    row.kernels = spread(repeated(lambda: machine.time(planned.launch), share), 1 / count)
    drawing = repeated(lambda: cpu_time(lambda: drawn(transform, given)), share / 6, 3)
    planning = repeated(lambda: cpu_time(planned.plan), share / 6, 3)
    launching = repeated(lambda: _host(machine, planned.launch), share / 6, 3)
    parts = [spread(found, 1 / count).median for found in (drawing, planning, launching)]
    row.parts = parts[0], parts[1], parts[2]
    return row


def _host(machine: Machine, call: Callable[[], Any]) -> float:
    machine.synchronize()
    seconds = cpu_time(call)
    machine.synchronize()
    return seconds


def rates(device: Machine, kept: Report) -> str:
    """Measure what the device copies and issues at most."""
    needs_gpu(device)
    kept.rates = Rates(machine.copy_rate())
    kept.about["copies from the host"] = ", ".join(
        f"{'pinned' if pinned else 'pageable'} {machine.upload_rate(pinned) / 1e9:.1f} GB/s" for pinned in (True, False)
    )
    kept.write()
    kept.rates = Rates(kept.rates.copy, machine.issue_rate())
    torch.cuda.empty_cache()
    return f"{kept.rates}; copies from the host: {kept.about['copies from the host']}"


def times(device: Machine, chosen: Sequence[GpuCase], kept: Report, clock: Clock) -> str:
    """Add a row for each case, and a failed check for each whose results were wrong."""
    # Kernels are to be those that the cases ask for, and none that does more.
    device.forget_kernels()
    bag, images, done, longest = None, [], 0, 0.0
    for number, case in enumerate(chosen):
        if clock.left <= longest:
            break
        done += 1
        what = f"{case.title}, {case.count} on the {case.place}"
        if case.place == cases.DEVICE and cases.bytes_of(case) > device.free():
            kept.add(Check(what, "skipped", 0.0, "not enough memory on the device"))
            continue
        # Half of what is left goes into setting up and into calls that are not timed.
        share = 0.1 if device.emulated else min(6.0, 0.5 * clock.left / (len(chosen) - number))
        print(f"  {what} ...", end=" ", flush=True)
        start = time.perf_counter()
        try:
            if bag != case.bag:
                images = []
                torch.cuda.empty_cache()
                bag, images = case.bag, cases.images_for(device, case)
            row = measured(device, case, images, share)
            if case.rivals:
                ours = compiled(case).batch(images)
                row.others, row.absent = rivals.measured(case, images, ours, partial(_rounds, device, share / 2))
                del ours
        except Exception as error:
            said = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
            print(f"failed: {said}", flush=True)
            kept.add(Check(what, "failed", time.perf_counter() - start, said))
        else:
            longest = max(longest, time.perf_counter() - start)
            print(f"{1e6 * row.batch.median:.2f} us an image ({time.perf_counter() - start:.1f} s)", flush=True)
            for name, reason in row.absent.items():
                print(f"    {name}: {reason}")
            kept.add(row)
    return so_far(done, len(chosen), "cases")


def _rounds(device: Machine, seconds: float, work: Callable[[], Any]) -> list[float]:
    work()
    return repeated(lambda: device.time(work), seconds, 3, 30)
