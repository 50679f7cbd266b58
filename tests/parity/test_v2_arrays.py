"""Arrays at the start of a pipeline of v2, which ToImage turns into images: the core does what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms.v2 as TV2

import fastaug
from fastaug.transforms import v2
from support.differences import each
from support.images import noise
from support.v2_outcomes import run_v2, v2_difference

MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.3, 0.4)

PIPELINES: dict[str, Callable[[Any], Any]] = {
    "CIFAR": lambda p: p.Compose(
        [
            p.ToImage(),
            p.RandomCrop(32, padding=4),
            p.RandomHorizontalFlip(),
            p.ToDtype(torch.float32, scale=True),
            p.Normalize(MEAN, STD),
        ]
    ),
    "alone": lambda p: p.Compose([p.ToImage()]),
    "nothing happens": lambda p: p.Compose([p.ToImage(), p.RandomHorizontalFlip(0.0)]),
    "colours": lambda p: p.Compose([p.ToImage(), p.ColorJitter(0.4, 0.4), p.ToPureTensor()]),
    "nested": lambda p: p.Compose([p.Compose([p.ToImage(), p.RandomVerticalFlip()]), p.Resize(20)]),
    "perhaps": lambda p: p.Compose([p.RandomApply([p.ToImage()], p=0.5), p.RandomHorizontalFlip()]),
    "one of two": lambda p: p.Compose([p.RandomChoice([p.ToImage(), p.Identity()]), p.RandomHorizontalFlip()]),
    "another first": lambda p: p.Compose([p.RandomHorizontalFlip(), p.ToImage(), p.CenterCrop(20)]),
}


def arrays() -> Iterator[np.ndarray]:
    """Of bytes and others, of several channels, with gaps, turned, and some that nobody may write to."""
    image = noise(40, 44)
    yield image
    yield image[:, :, :1].copy()
    yield image[:, :, 0].copy()
    yield image[:, :, :2].copy()
    yield np.concatenate([image, image], 2)
    yield image[::2, 1:]
    yield image.astype(np.float32)
    yield image.astype(np.int16)


@each("name", PIPELINES, whole=True)
@pytest.mark.filterwarnings("ignore")
def test_results_and_draws_are_torchvisions(name: str) -> None:
    theirs = PIPELINES[name](TV2)
    for ours in (PIPELINES[name](v2), fastaug.compile(PIPELINES[name](TV2))):
        for number, array in enumerate(arrays()):
            for seed in range(8):
                before = array.copy()
                outcomes = run_v2(ours, (array,), seed), run_v2(theirs, (array,), seed)
                found = v2_difference(*outcomes, exact=array.dtype == np.uint8, strides=False)
                assert found is None, (number, seed, found)
                assert np.array_equal(array, before)


@pytest.mark.filterwarnings("ignore:The given NumPy array")
def test_arrays_that_nobody_may_write_to() -> None:
    array = noise(40, 44)
    array.flags.writeable = False
    ours, theirs = PIPELINES["CIFAR"](v2), PIPELINES["CIFAR"](TV2)
    for seed in range(8):
        one, other = run_v2(ours, (array,), seed), run_v2(theirs, (array,), seed)
        one.warned = other.warned  # torchvision warns, and fastaug writes to no array
        found = v2_difference(one, other, strides=False)
        assert found is None, found


def test_the_core_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = PIPELINES["CIFAR"](v2)
    array = noise(40, 44)
    for _ in range(8):
        pipeline(array)
    monkeypatch.setattr(type(pipeline), "_by_python", lambda self, *inputs: pytest.fail("Python does it"))
    pipeline(array)


def test_a_replaced_method_gets_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = PIPELINES["CIFAR"](v2)
    array = noise(40, 44)
    for _ in range(8):
        pipeline(array)
    seen: list[Any] = []
    own = v2.ToImage.transform

    def transform(self: Any, inpt: Any, params: Any) -> Any:
        seen.append(inpt)
        return own(self, inpt, params)

    monkeypatch.setattr(v2.ToImage, "transform", transform)
    pipeline(array)
    assert len(seen) == 1
    assert seen[0] is array


def test_results_are_in_memory_of_their_own() -> None:
    array = noise(40, 44)
    pipeline = PIPELINES["nothing happens"](v2)
    for _ in range(8):
        result = pipeline(array)
        result.zero_()
    assert array.any()
