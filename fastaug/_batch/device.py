"""A batch whose results are made on a device, from images there and on the host.

Jobs are gathered into chunks, in the order of the images. For an image on the host, threads decode the pixels that its
program reads into pinned memory. A complete chunk is copied in one piece, and its jobs are launched while threads work
on the next chunk. Threads do what a device cannot do, and never call the device.
"""

from __future__ import annotations

import operator
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from fastaug import _C
from fastaug._batch.batch import Batch, Task, located
from fastaug._batch.slots import Slots
from fastaug._batch.threads import Crew
from fastaug._cuda import bag
from fastaug._draft.outline import Outline
from fastaug._program import ops
from fastaug._program.borrow import is_interleaved
from fastaug._program.job import Job
from fastaug._program.kinds import ARRAY, PIL_IMAGE, TENSOR
from fastaug._program.placed import device_of, on_host

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device, Event
    from fastaug._draft.call import Call
    from fastaug._draft.pipeline import Pipeline

# Bytes of images from the host in a chunk, and the number of images. A single larger image is a chunk. Larger chunks
# start later, smaller ones need more launches.
_BYTES = 16 << 20
_IMAGES = 64

# Alignment of images in pinned memory, without which copies to a device take longer.
_ALIGNED = 64


class _PlacedOutline(Outline):
    """An outline whose image is copied to the host for everything but jobs."""

    __slots__ = ("_host", "_there")

    _host: Any

    def reset(self, image: Any, read: bool = False) -> None:
        super().reset(image, read)
        self._host = self._there = None
        if self.device is not None:
            self._there = image
            self.origin = self.on_host
        elif isinstance(image, torch.Tensor) and device_of(image) is not None:
            super().reset(on_host(image), read)  # a job cannot begin with it

    def on_host(self) -> Any:
        """Return the image. The first call must be on a thread whose stream made it."""
        if self._host is None and self._there is not None:
            self._host = on_host(self._there)
        return self._host


class _Staged:
    """The `count` pixel bytes that a program reads of an image on the host, at `offset` of pinned memory."""

    __slots__ = ("_region", "_size", "_strides", "count", "job", "offset")

    def __init__(self, job: Job, rewrites: int, planar: bool) -> None:
        source = job.source
        self.job = job
        self.offset = 0
        height, width, channels = self._size = source.height, source.width, source.channels
        self._region = _C.needed(job.program, height, width, channels, rewrites)
        _, _, height, width = self._region
        self.count = height * width * channels
        self._strides = (width, 1, height * width) if planar else (width * channels, channels, 1)

    def copying(self, memory: torch.Tensor) -> tuple[bytes, _C.Source, _C.Target]:
        """Return the job that copies them there."""
        _, _, height, width = self._region
        address = memory.data_ptr() + self.offset
        row, pixel, channel = self._strides
        channels = self._size[2]
        target = _C.into_pointer(address, _C.DTYPES["uint8"], height, width, channels, row, pixel, channel, memory)
        return ops.window(*self._region), self.job.source, target

    def there(self, memory: torch.Tensor) -> _C.Source:
        """Return the whole image, at its address if all of it had been copied to this memory of a device."""
        top, left, _, _ = self._region
        height, width, channels = self._size
        row, pixel, channel = self._strides
        address = memory.data_ptr() + self.offset - top * row - left * pixel
        return _C.from_pointer(address, height, width, channels, row, pixel, channel, memory)


class _Chunk:
    def __init__(self) -> None:
        self.tasks: list[tuple[DeviceTask, _Staged | None]] = []
        self.open: set[int] = set()  # images that are not in pinned memory yet
        self.memory: torch.Tensor | None = None
        self.used = 0


class DeviceTask(Task):
    def _begin(self, image: Any, call: Call) -> Any:
        drawn = super()._begin(image, call)
        return _PlacedOutline(image, call) if type(drawn) is Outline else drawn

    def _takes(self, draft: Any) -> bool:
        return not draft.floats  # jobs on devices begin with bytes

    def draw(self, image: Any, call: Call) -> None:
        super().draw(image, call)
        if self._drawn is None or self.error is not None:
            return
        draft = self.draft
        if draft is not None and draft.kind in (PIL_IMAGE, ARRAY):
            self.job = None
            self.error = _no_tensor("a PIL image" if draft.kind == PIL_IMAGE else "an array")
        elif self.job is None:
            self.leave()

    def leave(self) -> None:
        """Leave it to threads, without a job."""
        if isinstance(self._drawn, _PlacedOutline):
            self._drawn.on_host()
        self.job = None

    def launched(self, memory: Any) -> None:
        assert self.job is not None
        if not self.placed:
            self.result = self.job.delivered(memory)
        self._drawn = self.job = None
        self.done = True


class DeviceBatch(Batch):
    _task = DeviceTask

    # Chunks that threads work on, and chunks that are being copied. Each has a piece of pinned memory.
    _most_open = 2
    _most_copying = 2

    def __init__(self, pipeline: Pipeline, call: Call, count: int, slots: Slots | None, device: Device) -> None:
        super().__init__(pipeline, call, count, slots)
        self._device = device
        self._family = pipeline._family()
        self._chunk = _Chunk()
        self._waiting: deque[_Chunk] = deque()
        self._copying: deque[Event] = deque()
        self._moved: set[int] = set()

    def recipes(self) -> None:
        return None

    def add(self, crew: Crew, item: Any, image: Any, error: Exception | None) -> int | None:
        task = self._drawn(item, image, error)
        if task.error is not None or task.done:
            return None
        if task.job is None:
            return self._push(crew, task, None)
        if self._slots is None:
            self._slots = Slots.like(task.job, self._count, self._device.empty)
        if task.is_on_device:
            self._chunk.tasks.append((task, None))
        else:
            self._stage(crew, task, task.job)
        if len(self._chunk.tasks) >= _IMAGES:
            self._end_chunk()
        self._launch(crew, self._most_open)
        return None

    def _push(self, crew: Crew, task: Task, slots: Slots | None) -> int:
        crew.start()
        return super()._push(crew, task, slots)

    def _stage(self, crew: Crew, task: DeviceTask, job: Job) -> None:
        """Let threads put the pixels that the job reads into pinned memory."""
        planar = task.draft.source == TENSOR and not is_interleaved(task.draft.image)
        staged = _Staged(job, self._call.rewrites, planar)
        chunk = self._chunk
        if chunk.memory is not None and chunk.used + staged.count > len(chunk.memory):
            self._end_chunk()
            chunk = self._chunk
        if chunk.memory is None:
            while len(self._copying) >= self._most_copying:
                self._copying.popleft().synchronize()
            chunk.memory = self._device.pinned(max(_BYTES, staged.count))
        chunk.tasks.append((task, staged))
        staged.offset = chunk.used
        # A job that reads nothing, because all of it is fill, needs an address too.
        chunk.used += -(-max(staged.count, 1) // _ALIGNED) * _ALIGNED
        if staged.count:
            chunk.open.add(task.index)
            then = partial(chunk.open.discard, task.index)
            crew.push(task.work, staged.copying(chunk.memory), self._call.rewrites, then)

    def _end_chunk(self) -> None:
        if self._chunk.tasks:
            self._waiting.append(self._chunk)
            self._chunk = _Chunk()

    def _launch(self, crew: Crew, most: int) -> None:
        """Launch the chunks that are ready, and wait until at most so many are not."""
        while self._waiting:
            chunk = self._waiting[0]
            if chunk.open and len(self._waiting) <= most:
                return
            crew.wait_until(partial(operator.not_, chunk.open))
            self._run(crew, chunk)
            self._waiting.popleft()

    def _run(self, crew: Crew, chunk: _Chunk) -> None:
        device = self._device
        there: Any = None
        if chunk.memory is not None:
            there, copied = device.upload_ahead(chunk.memory[: chunk.used])
            self._copying.append(copied)
        tasks, jobs, memory = [], [], []
        for task, staged in chunk.tasks:
            job = task.job
            if job is None:
                # A thread has done it, because the core could not read the image.
                self._finish(task)
                continue
            if staged is None:
                source = job.source
                image = task.draft.image
                device.uses(image if isinstance(image, torch.Tensor) else image.tensor)
            else:
                source = staged.there(there)
            slots = self._slots
            if slots is not None and slots.fits(job):
                task.placed = True
                result, target = None, slots.target(task.index, job)
            else:
                result, target = job.allocate_by(device.empty)
            tasks.append(task)
            jobs.append((job.program, source, target))
            memory.append(result)
        unfit = set(bag.run(jobs, device, self._call.rewrites, self._family)) if jobs else ()
        for number, (task, result) in enumerate(zip(tasks, memory)):
            if number in unfit:
                task.placed = False
                task.leave()
                self._push(crew, task, None)
            else:
                task.launched(result)

    def check_first(self, crew: Crew, number: int | None) -> None:
        task = self.tasks[0]
        if isinstance(task.error, _NoTensor):
            raise located(task.take_error(), 0, task.item)
        if self._slots is None:
            return
        if task.job is not None:
            task.placed = self._slots.fits(task.job)
        else:
            if number is not None:
                crew.wait(number)
            self._move(task)
        self.check_places()

    def _copy(self, result: torch.Tensor) -> torch.Tensor:
        return bag.empty_like(result, self._device).copy_(result)

    def _stack(self, results: list[torch.Tensor]) -> torch.Tensor:
        whole = self._device.empty((len(results), *results[0].shape), results[0].dtype)
        return torch.stack(results, out=whole)

    def close(self, crew: Crew) -> None:
        self._end_chunk()
        self._launch(crew, 0)

    def settle(self) -> None:
        for task in self.tasks:
            self._move(task)

    def _move(self, task: Task) -> None:
        """Move a result to the device and into its slot, once."""
        if task.placed or task.error is not None or task.index in self._moved:
            return
        self._moved.add(task.index)
        try:
            task.result = _moved(task.result, self._device)
        except _NoTensor as error:
            task.error = error
        else:
            task.placed = self._slots is not None and self._slots.put(task.index, task.result)


class _NoTensor(ValueError):
    """The error of a result that cannot be on a device."""


def _no_tensor(got: str) -> _NoTensor:
    return _NoTensor(f"a pipeline for device= has to end in tensors, as with ToTensor, but this one gives {got}")


def _moved(result: Any, device: Device) -> Any:
    if isinstance(result, (tuple, list)):
        parts = [_moved(part, device) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, torch.Tensor):
        raise _no_tensor(str(type(result)))
    plain = result.detach()
    return bag.upload(plain, device) if device_of(plain) is None else plain
