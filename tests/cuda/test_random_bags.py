"""Random pipelines over ragged bags: a device's bodies, emulated on the CPU, give the executor's bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import fastaug.transforms as T
from fastaug import _C
from fastaug._batch.batch import Task
from fastaug._draft.call import Call, Drawing
from fastaug._program.job import Job
from property.pipeline_steps import ANY, BYTES, FLOATS, TO_TENSOR, draw_steps
from support.scale import blocks

CASES, BLOCK = 2000, 250
#: The smallest of shared memory in which every program fits, one in which tiles are small, and a device's.
SHARED = (12 << 10, 24 << 10, 48 << 10)
WAVES = (1, 200_000, 32 << 20)


def jobs_of(pipeline: Any, images: Sequence[Any]) -> list[Job]:
    """Those of the images whose pipeline is one program, with parameters that are drawn here."""
    call = Call(pipeline._call.draws, pipeline._call.rewrites, tape=Drawing())
    tasks = [Task(pipeline, index) for index in range(len(images))]
    for task, image in zip(tasks, images):
        task.draw(image, call)
    call.draws.release()
    return [task.job for task in tasks if task.error is None and task.job is not None]


def samples(memory: Any) -> np.ndarray:
    """The bytes of a result, without the padding of its memory."""
    if isinstance(memory, torch.Tensor):
        return memory.contiguous().reshape(-1).view(torch.uint8).numpy()
    return np.ascontiguousarray(memory).reshape(-1).view(np.uint8)


def dirty(memory: Any) -> None:
    if isinstance(memory, torch.Tensor):
        memory.view(torch.uint8).fill_(0xA5)
    else:
        memory.view(np.uint8).fill(0xA5)


def difference(jobs: Sequence[Job], order: int, **options: int) -> tuple[int, str]:
    """How many of the jobs a device does, and what it does differently."""
    ours, expected = ([job.allocate() for job in jobs] for _ in range(2))
    for memory, _ in (*ours, *expected):
        dirty(memory)
    bag = _C.Bag([(job.program, job.source, to) for job, (_, to) in zip(jobs, ours)], _C.EXACT, **options)
    _C.run([(job.program, job.source, to) for job, (_, to) in zip(jobs, expected)], _C.EXACT)
    bag.emulate(order)
    for index, (job, (got, _), (wanted, _)) in enumerate(zip(jobs, ours, expected)):
        if index in bag.unfit or np.array_equal(samples(got), samples(wanted)):
            continue
        count = np.count_nonzero(samples(got) != samples(wanted))
        program = _C.describe(job.program)
        return 0, f"image {index}: {count} of {samples(wanted).size} bytes differ, order {order}, {options}\n{program}"
    return len(jobs) - len(bag.unfit), ""


def draw_images(rng: random.Random, container: str, channels: int) -> list[Any]:
    most = rng.choice([16, 64, 64, 160])
    shapes = [(rng.randint(1, most), rng.randint(1, most), channels) for _ in range(rng.randint(1, 5))]
    draw = np.random.default_rng(rng.getrandbits(32))
    arrays = [draw.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    if container == "array":
        return arrays
    interleaved = rng.random() < 0.3
    tensors = [torch.from_numpy(array).permute(2, 0, 1) for array in arrays]
    return tensors if interleaved else [tensor.contiguous() for tensor in tensors]


def draw_case(number: int) -> tuple[str, Callable[[], Any], list[Any], int, dict[str, int]]:
    """The source of a pipeline, what makes it, images, an order and the options of a bag."""
    rng = random.Random(number)
    container, channels = rng.choice(["tensor", "tensor", "array"]), rng.choice([1, 3, 3, 3])
    steps = draw_steps(rng, container, channels)
    steps = [step for step in steps if not any(name in step.source for name in ("ToPILImage", "PILToTensor"))]
    source = f"T.Compose([{', '.join(step.source for step in steps)}])"
    if container == "tensor":
        source = source.replace(TO_TENSOR.source, "T.ConvertImageDtype(torch.float32)")
    images = draw_images(rng, container, channels)
    options = {"wave_bytes": rng.choice(WAVES), "shared_bytes": rng.choice(SHARED)}
    return source, lambda: eval(source, {"T": T, "torch": torch}), images, rng.choice([0, 1, number + 2]), options


def draw_jobs(number: int) -> tuple[str, list[Job], int, dict[str, int]]:
    source, make, images, order, options = draw_case(number)
    torch.manual_seed(number)
    random.seed(number)
    try:
        return source, jobs_of(make(), images), order, options
    except (ValueError, TypeError):
        return source, [], order, options  # arguments that torchvision refuses, too


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_bags(first: int) -> None:
    images = 0
    for number in range(first, first + BLOCK):
        source, jobs, order, options = draw_jobs(number)
        count, found = difference(jobs, order, **options)
        assert not found, f"case {number}: {found}\n{source}"
        images += count
    assert images > BLOCK // 2


@pytest.mark.main
def test_the_cases_are_worth_running() -> None:
    """Every transform that is a program takes part, and many pipelines are one program."""
    drawn = [draw_jobs(number)[:2] for number in range(CASES)]
    done = [source for source, jobs in drawn if jobs]
    assert len(done) > CASES // 3
    text = "\n".join(done)
    for name in {*ANY, *BYTES, *FLOATS} - {"AugMix", "ElasticTransform", "LinearTransformation"}:
        assert f"T.{name}(" in text, name


def the_pipeline(size: int) -> Any:
    return T.Compose(
        [
            T.RandomRotation(180, T.InterpolationMode.BILINEAR),
            T.RandomCrop(size * 3 // 4, pad_if_needed=True),
            T.Resize(size // 2),
            T.ColorJitter(0.4, 0.4, 0.4, 0.1),
            T.ConvertImageDtype(torch.float32),
            T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )


@pytest.mark.parametrize("order", [0, 1, 5])
def test_pipeline_of_rotation_crop_resize_jitter(order: int) -> None:
    generator = torch.Generator().manual_seed(order)
    images = [
        torch.randint(0, 256, (3, *shape), dtype=torch.uint8, generator=generator)
        for shape in [(256, 256), (256, 341), (200, 256), (300, 223)]
    ]
    torch.manual_seed(order)
    jobs = jobs_of(the_pipeline(256), images)
    assert len(jobs) == 4
    assert difference(jobs, order) == (4, "")


def test_another_program_is_found() -> None:
    """The comparison can fail: a job whose program says something else gives other bytes."""
    torch.manual_seed(3)
    image = torch.randint(0, 256, (3, 50, 60), dtype=torch.uint8)
    (job,) = jobs_of(T.Compose([T.Resize(20), T.RandomHorizontalFlip(1.0)]), [image])
    (other,) = jobs_of(T.Compose([T.Resize(20)]), [image])
    assert difference([job], 0) == (1, "")
    memory, target = job.allocate()
    bag = _C.Bag([(other.program, job.source, target)])
    bag.emulate()
    wanted, into = job.allocate()
    _C.run([(job.program, job.source, into)])
    assert not np.array_equal(samples(memory), samples(wanted))
