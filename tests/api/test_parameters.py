"""sample() and replay() of whole pipelines."""

from __future__ import annotations

import functools
import itertools

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch import nn

import fastaug
import fastaug.transforms as T
from support.images import noise, photo, to_chw
from support.outcomes import run, snapshot
from tables.cases import CONTAINERS, Stack
from tables.recipes import PIPELINES, pathology


@pytest.mark.parametrize("name", CONTAINERS)
def test_sample_of_containers(name: str) -> None:
    """It draws what a call draws."""
    image = photo("coffee", 64, 81)
    for transform in (fastaug.compile(CONTAINERS[name](TV)), T.Compose([CONTAINERS[name](T)])):
        for seed, size in itertools.product(range(8), (image, (64, 81), [64, 81])):
            expected, sampled = run(transform, image, seed), run(lambda _, t=transform, s=size: t.sample(s), None, seed)
            assert sampled.error is None
            assert torch.equal(sampled.torch_state, expected.torch_state)
            assert sampled.python_state == expected.python_state
            replayed = run(functools.partial(transform.replay, params=sampled.value), image, 99)
            assert snapshot(replayed.value) == snapshot(expected.value)
            assert torch.equal(replayed.torch_state, torch.Generator().manual_seed(99).get_state())


def test_sample_and_replay() -> None:
    compiled = fastaug.compile(PIPELINES["SimCLR"](TV), generator=torch.Generator().manual_seed(5))
    image, mask = photo("coffee", 120, 110), photo("ihc", 120, 110)
    before = torch.get_rng_state()
    params = compiled.sample((120, 110))
    compiled.generator.manual_seed(5)
    expected = compiled(image)
    assert torch.equal(compiled.replay(image, params), expected)
    assert compiled.replay(mask, params).shape == expected.shape
    assert torch.equal(torch.get_rng_state(), before)
    half = fastaug.compile(compiled, dtype=torch.float16)
    assert torch.equal(half.replay(image, params), expected.to(torch.float16))
    with pytest.raises(ValueError, match="params do not belong to this pipeline"):
        compiled.replay(image, params[:-1])
    with pytest.raises(ValueError, match="params do not belong to this pipeline"):
        compiled.replay(image, [*params, params[0]])


def test_sample_sizes() -> None:
    crop = T.Compose([T.RandomCrop(10)])
    for size in (10, (10, 10), Image.new("L", (10, 10)), torch.zeros(3, 10, 10), noise(10, 10)):
        assert len(crop.sample(size)) == 1
    for size in (0, (0, 3), (3, -1)):
        with pytest.raises(ValueError, match="positive"):
            crop.sample(size)
    with pytest.raises(ValueError):
        crop.sample((1, 2, 3))
    with pytest.raises(ValueError, match="crop size"):
        crop.sample(9)


def test_sample_of_pipelines_that_want_arrays_or_tensors() -> None:
    tile = to_chw(photo("ihc", 200, 190))
    for transform in (
        fastaug.compile(pathology(TV, 96, "BILINEAR", crop=192)),
        T.Compose([nn.Sequential(), T.Compose([T.ConvertImageDtype(torch.float32)]), T.RandomErasing(1.0)]),
        fastaug.compile(TV.Compose([TV.Normalize([0.5], [0.5]), TV.RandomErasing(1.0)])),
        fastaug.compile(nn.Sequential(TV.RandomErasing(0.9), TV.RandomCrop(20))),
    ):
        given = tile / 255 if "Normalize" in repr(transform) and "Crop" not in repr(transform) else tile
        expected = run(transform, given, 4)
        assert expected.error is None
        params = run(lambda _, transform=transform: transform.sample((200, 190)), None, 4).value
        assert snapshot(transform.replay(given, params)) == snapshot(expected.value)


def test_sample_processes_no_pixels() -> None:
    """An image of a million million pixels would be too many."""
    transform = T.Compose([T.Resize(10), T.RandomCrop(5), Stack(T.ToTensor())])
    with pytest.raises(TypeError):
        transform.sample(40)  # what fastaug does not know is called: Stack wants several images
    huge = T.Compose([T.Resize((1_000_000, 1_000_000)), T.RandomCrop(5)])
    assert len(huge.sample((4, 5))) == 1
