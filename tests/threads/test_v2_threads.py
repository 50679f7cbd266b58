"""Several threads call one pipeline of transforms.v2, with whole samples."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import torch
from torchvision.transforms import v2 as TV

import fastaug
from fastaug._draft.draws import drawing_from
from fastaug.transforms import v2 as T
from support.outcomes import snapshot
from tables.v2_recipes import PIPELINES, detection, instances


def fixed(v2: Any) -> Any:
    """Draws, but nothing that a result depends on."""
    steps = [v2.RandomHorizontalFlip(1.0), v2.Resize((50, 60)), v2.RandomAutocontrast(1.0), v2.Pad(3)]
    return v2.Compose([v2.ToImage(), *steps, v2.ToDtype(torch.float32, scale=True), v2.SanitizeBoundingBoxes()])


def digest(sample: Any) -> Any:
    return snapshot(torch.utils._pytree.tree_leaves(sample))


@pytest.fixture(autouse=True)
def often() -> Any:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_one_pipeline_in_many_threads() -> None:
    """Samples of different types in turn: what is planned for one is not another's."""
    numbers = list(range(40))

    def call(pipeline: Any, number: int) -> Any:
        return digest(pipeline(*(instances if number % 3 else detection)(number)))

    theirs = fixed(TV)
    expected = [call(theirs, number) for number in numbers]
    for pipeline in (fixed(T), fastaug.compile(theirs)):
        with ThreadPoolExecutor(6) as pool:
            for _ in range(3):
                assert list(pool.map(partial(call, pipeline), numbers)) == expected


@pytest.mark.parametrize("name", ["SSD, PIL", "RT-DETR, tensors", "large scale jitter, tensors", "classification, PIL"])
def test_each_thread_draws_from_its_own(name: str) -> None:
    make, draw, _ = PIPELINES[name]
    expected = []
    theirs, ours = make(TV), make(T)
    for seed in range(12):
        torch.manual_seed(seed)
        expected.append(digest(theirs(*draw(seed))))

    def work(seed: int) -> Any:
        with drawing_from(torch.Generator().manual_seed(seed), random.Random(seed)):
            return digest(ours(*draw(seed)))

    with ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            assert list(pool.map(work, range(12))) == expected


def test_draws_of_threads_stay_one_sequence() -> None:
    """Of one generator nothing is drawn twice, and nothing is lost."""
    count = 6 * 100
    pipeline = T.Compose([T.RandomHorizontalFlip(0.5)])
    image = torch.arange(12, dtype=torch.uint8).view(1, 3, 4)
    torch.manual_seed(9)
    expected = torch.cat([torch.rand(1) for _ in range(count + 1)])
    torch.manual_seed(9)

    def work(_: int) -> int:
        return sum(int(not torch.equal(pipeline(image, 3)[0], image)) for _ in range(100))

    with ThreadPoolExecutor(6) as pool:
        flipped = sum(pool.map(work, range(6)))
    assert torch.equal(torch.rand(1), expected[-1:])
    assert flipped == int((expected[:-1] < 0.5).sum())
