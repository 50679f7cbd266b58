"""Batches of views: a tensor for each view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from fastaug._batch import run as batches
from fastaug._batch.batch import Batch, located, stacked
from fastaug._batch.seeds import Seeded, as_seeds, drawing
from fastaug._batch.slots import Slots, described, slots_of
from fastaug._batch.sources import as_images, common_device, is_on_device
from fastaug._image.lazy import LazyImage
from fastaug._program import placed
from fastaug._views.program import built, is_collated_by_parts, taken

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device
    from fastaug._views.drawn import Jobs


class Unopened:
    """Encoded bytes that several views open in several ways, in the place of a handle."""

    def __init__(self, source: Any) -> None:
        self._handle = LazyImage(source)

    def in_memory(self) -> Any:
        """The bytes."""
        return self._handle.encoded()[0]


class SlotGroup(Slots):
    """Slots of several views.

    Args:
        result: of the program.
        slots: of each value in it.
    """

    def __init__(self, result: Any, slots: dict[int, Slots]) -> None:
        self._result = result
        self.slots = slots

    @classmethod
    def of_jobs(cls, result: Any, jobs: Jobs, count: int) -> SlotGroup:
        """For results such as those of these jobs."""
        return cls(result, {value: Slots.like(job, count) for value, job in zip(jobs.values, jobs.parts)})

    @classmethod
    def of_user(cls, values: Sequence[int], result: Any, out: Any, count: int, device: Any) -> SlotGroup:
        """The user's memory, for each value.

        Raises:
            TypeError: no sequence.
            ValueError: another number of them.
        """
        if isinstance(out, dict) or not isinstance(out, Sequence):
            raise TypeError(f"out should be a list of tensors, one for each view, got {type(out).__name__}")
        if len(out) != len(values):
            raise ValueError(f"out should be one tensor for each of {len(values)} views, got {len(out)}")
        return cls(result, {value: slots_of(one, count, device) for value, one in zip(values, out)})

    def tensors(self) -> dict[int, torch.Tensor]:
        return {value: slots.tensor for value, slots in self.slots.items()}

    def row(self, index: int) -> dict[int, torch.Tensor]:
        return {value: slots.tensor[index] for value, slots in self.slots.items()}

    def fits(self, job: Any) -> bool:
        if set(job.values) != self.slots.keys():
            return False
        return all(self.slots[value].fits(part) for value, part in zip(job.values, job.parts))

    def job(self, index: int, job: Any) -> Any:
        return tuple([self.slots[value].job(index, part) for value, part in zip(job.values, job.parts)])

    def put(self, index: int, result: Any) -> bool:
        values: dict[int, Any] = {}
        taken(self._result, result, values)
        if not all(slots.takes(values[value]) for value, slots in self.slots.items()):
            return False
        for value, slots in self.slots.items():
            slots.put(index, values[value])
        return True

    def misfit(self, result: Any) -> str:
        """What does not fit of a result, in words."""
        values: dict[int, Any] = {}
        taken(self._result, result, values)
        for number, (value, slots) in enumerate(self.slots.items()):
            if not slots.takes(values[value]):
                return f"out[{number}] should hold {slots.described()} for each image, got {described(values[value])}"
        raise AssertionError("it fits")


class ViewsBatch(Batch):
    """A batch of views of images. Its slots, if there are any, are of all views."""

    _slots: SlotGroup | None

    def _slots_like(self, job: Any) -> Slots | None:
        outputs = self._pipeline._program.outputs  # type: ignore[attr-defined]
        return SlotGroup.of_jobs(self._result, job, self._count) if set(job.values) == set(outputs) else None

    @property
    def _result(self) -> Any:
        return self._pipeline.result  # type: ignore[attr-defined]

    def _columns(self) -> dict[int, Any]:
        """For each value a tensor of those of all images, or a list."""
        slots, tasks = self._slots, self.tasks
        if slots is not None and all(task.placed or slots.put(task.index, task.result) for task in tasks):
            return dict(slots.tensors())
        rows = self.rows()
        for task, row in zip(tasks, rows):
            if task.placed:
                row.update({value: self._copy(one) for value, one in row.items()})
        return {value: stacked([row[value] for row in rows]) for value in rows[0]}

    def rows(self) -> list[dict[int, Any]]:
        rows = []
        for task in self.tasks:
            row: dict[int, Any] = {}
            if task.placed:
                assert self._slots is not None
                row.update(self._slots.row(task.index))
            else:
                taken(self._result, task.result, row)
            rows.append(row)
        return rows

    def result(self) -> Any:
        return built(self._result, self._columns())

    def collated(self) -> Any:
        if not is_collated_by_parts(self._result):
            return None
        columns = self._columns()
        tensors = all(isinstance(column, torch.Tensor) for column in columns.values())
        return built(self._result, columns) if tensors else None

    def results(self) -> list[Any]:
        return [built(self._result, row) if task.placed else task.result for task, row in zip(self.tasks, self.rows())]

    def misplaced(self) -> BaseException | None:
        for task in self.tasks:
            if not task.placed and task.error is None:
                assert self._slots is not None
                return located(ValueError(self._slots.misfit(task.result)), task.index)
        return None


def run(views: Any, images: Any, out: Any, num_threads: Any, seeds: Any, device: Any) -> Any:
    """What fastaug._views.views.Views.batch is."""
    items = as_images(images)
    where = common_device(items, device)
    if where is None:
        return batches.run(views, items, out, num_threads, seeds, "cpu")
    from fastaug._cuda import memory

    there = memory.of(where)
    with there.current():
        there.refuse_capture()
        slots = None if out is None else views._slots_of(out, len(items), where)
        if any(map(is_on_device, items)):
            rows = _one_by_one(views, items, seeds)
        else:
            batch = batches.made(views, items, None, num_threads, seeds)
            assert isinstance(batch, ViewsBatch)
            rows = batch.rows()
        columns = {value: _there(stacked([row[value] for row in rows]), there) for value in rows[0]}
        if slots is None:
            return built(views.result, columns)
        for number, (value, own) in enumerate(slots.slots.items()):
            column = columns[value]
            if column.dtype is not own.tensor.dtype or column.shape != own.tensor.shape:
                raise ValueError(
                    f"out[{number}] should hold {own.described()} for each image, got {described(column[0])}"
                )
            own.tensor.copy_(column)
        return out


def _one_by_one(views: Any, items: Sequence[Any], seeds: Any) -> list[dict[int, Any]]:
    numbers = None if seeds is None else as_seeds(seeds, len(items))
    seeded = None if numbers is None else Seeded(views, views._call)
    rows = []
    for index, image in enumerate(items):
        row: dict[int, Any] = {}
        try:
            with drawing(seeded, numbers, index):
                taken(views.result, views(image), row)
        except Exception as error:
            raise located(error, index, image) from None
        rows.append(row)
    return rows


def _there(column: Any, device: Device) -> torch.Tensor:
    """A batch of one view, on a device, which is the current one.

    Raises:
        ValueError: no tensor.
    """
    from fastaug._cuda import bag

    if not isinstance(column, torch.Tensor):
        name = device.device
        raise ValueError(f"results on {name} should be tensors of one shape and dtype, got {described(column[0])}")
    return bag.upload(column, device) if placed.device_of(column) is None else column
