"""Batches of views, with a tensor for each view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from fastaug import _C
from fastaug._batch import run as batches
from fastaug._batch.batch import Batch, Recipes, located, stacked
from fastaug._batch.slots import Slots, described, slots_of
from fastaug._batch.sources import as_images, common_device, is_on_device
from fastaug._image.lazy import LazyImage
from fastaug._program import placed
from fastaug._program.job import Job
from fastaug._views.drawn import Jobs
from fastaug._views.program import built, is_collated_by_parts, taken

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device


class Unopened:
    """Encoded bytes that several views open in different ways, used as a handle."""

    def __init__(self, source: Any) -> None:
        self._handle = LazyImage(source)

    def in_memory(self) -> Any:
        return self._handle.encoded()[0]


class SlotGroup(Slots):
    """The slots of each value in the result of views."""

    def __init__(self, result: Any, slots: dict[int, Slots]) -> None:
        self._result = result
        self.slots = slots

    @classmethod
    def of_user(cls, values: Sequence[int], result: Any, out: Any, count: int, device: Any) -> SlotGroup:
        """Check the user's memory for each value."""
        if isinstance(out, dict) or not isinstance(out, Sequence):
            raise TypeError(f"out should be a list of tensors, one for each view, got {type(out).__name__}")
        if len(out) != len(values):
            raise ValueError(f"out should be one tensor for each of {len(values)} views, got {len(out)}")
        return cls(result, {value: slots_of(one, count, device) for value, one in zip(values, out)})

    def fits(self, job: Any) -> bool:
        if set(job.values) != self.slots.keys():
            return False
        return all(self.slots[value].fits(part) for value, part in zip(job.values, job.parts))

    def job(self, index: int, job: Any) -> Any:
        return tuple([self.slots[value].job(index, part) for value, part in zip(job.values, job.parts)])

    def places(self, index: int, job: Any) -> list[tuple[_C.Target, int]]:
        return [place for value, part in zip(job.values, job.parts) for place in self.slots[value].places(index, part)]

    def put(self, index: int, result: Any) -> bool:
        values = taken(self._result, result)
        if not all(slots.takes(values[value]) for value, slots in self.slots.items()):
            return False
        for value, slots in self.slots.items():
            slots.put(index, values[value])
        return True

    def misfit(self, result: Any, number: int | None = None) -> str:
        values = taken(self._result, result)
        for number, (value, slots) in enumerate(self.slots.items()):
            if not slots.takes(values[value]):
                return slots.misfit(values[value], number)
        raise AssertionError("it fits")


class ViewsBatch(Batch):
    _slots: SlotGroup | None

    # Of the recipes.
    _values: list[int]

    def recipes(self) -> Recipes | None:
        views: Any = self._pipeline
        program, call = views._program, self._call
        chains = program.chains()
        # Jobs do not make value 0, the image itself, nor take what another one makes.
        if chains is None or {chain.value for chain in chains} != set(program.outputs) or len(program.decoders) > 1:
            return None
        if not isinstance(call.draws, _C.Draws) or not views._is_own():
            return None
        recipes = []
        for chain in chains:
            pipeline = chain.pipeline
            own = pipeline._call
            recipe = None
            if (
                chain.source == 0
                and pipeline._is_own()
                and own.draws.generator is None
                and own.rewrites == call.rewrites
            ):
                recipe = pipeline._own_book().of_many(pipeline, self._count)
            if recipe is None:
                return None
            recipes.append((recipe, pipeline.transforms))
        self._values = [chain.value for chain in chains]
        return recipes

    def job_of_forms(self, forms: list[Any]) -> Jobs:
        return Jobs(self._values, [Job.of_form(*form) for form in forms])

    def result_of(self, results: list[Any]) -> Any:
        return built(self._result, dict(zip(self._values, results)))

    def _slots_like(self, job: Any) -> Slots | None:
        if set(job.values) != set(self._pipeline._program.outputs):  # type: ignore[attr-defined]
            return None
        return SlotGroup(
            self._result, {value: Slots.like(part, self._count) for value, part in zip(job.values, job.parts)}
        )

    @property
    def _result(self) -> Any:
        return self._pipeline.result  # type: ignore[attr-defined]

    def _columns(self) -> dict[int, Any]:
        """Return for each value the tensor of all images, or a list."""
        slots, tasks = self._slots, self.tasks
        if slots is not None and self.is_placed(slots):
            return {value: one.tensor for value, one in slots.slots.items()}
        rows = self.rows()
        for task, row in zip(tasks, rows):
            if task.placed:
                row.update({value: self._copy(one) for value, one in row.items()})
        return {value: stacked([row[value] for row in rows]) for value in rows[0]}

    def rows(self) -> list[dict[int, Any]]:
        slots = {} if self._slots is None else self._slots.slots
        return [
            {value: one.tensor[number] for value, one in slots.items()}
            if task.placed
            else taken(self._result, task.result)
            for number, task in enumerate(self.tasks)
        ]

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


def run(views: Any, images: Any, out: Any, num_threads: Any, seeds: Any, device: Any) -> Any:
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
                raise ValueError(own.misfit(column[0], number))
            own.tensor.copy_(column)
        return out


def _one_by_one(views: Any, items: Sequence[Any], seeds: Any) -> list[dict[int, Any]]:
    draws = batches.Draws(views, views._call, batches.as_seeds(seeds, len(items)))
    rows: list[dict[int, Any]] = []
    try:
        for image in items:
            with draws.next():
                rows.append(taken(views.result, views(image)))
    except Exception as error:
        raise located(error, len(rows), items[len(rows)]) from None
    return rows


def _there(column: Any, device: Device) -> torch.Tensor:
    """Return the tensor of one view on the current device."""
    from fastaug._cuda import bag

    if not isinstance(column, torch.Tensor):
        name = device.device
        raise ValueError(f"results on {name} should be tensors of one shape and dtype, got {described(column[0])}")
    return bag.upload(column, device) if placed.device_of(column) is None else column
