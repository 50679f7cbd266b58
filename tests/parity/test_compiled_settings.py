"""The settings of fastaug.compile: other generators, dtypes and memory formats; compiled pipelines inside others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from support.differences import each, grouped
from support.images import PHOTOS, noise, photo, pil, to_chw
from support.outcomes import Outcome, assert_same, clone, run, snapshot
from tables.cases import ALL_CASES, OTHER_CASES
from tables.recipes import PIPELINES

Make = Callable[[Any], Any]

#: Without those that are meant to write into their input.
CASES = {name: make for name, make in ALL_CASES.items() if "inplace" not in name}


def given(name: str) -> list[Any]:
    """Images that a case takes."""
    if name.startswith("LinearTransformation"):
        return [torch.rand(3, 4, 4, generator=torch.Generator().manual_seed(1))]
    if name.startswith("ToPIL"):
        return [noise(40, 50), to_chw(photo("ihc", 31, 20))]
    if name in OTHER_CASES:
        return [torch.rand(3, 40, 50, generator=torch.Generator().manual_seed(1))]
    return [photo("ihc", 64, 81), pil("L", 31, 37, 2)]


def outcome_with(transform: Any, image: Any, generator: torch.Generator | None = None) -> Outcome:
    return run(lambda img: transform(img), image, 9)


@pytest.mark.parametrize("name", ["ImageNet train", "SimCLR", "CIFAR", "colour before geometry", "DINO global"])
def test_generator(name: str) -> None:
    """The same draws, from elsewhere; torch's own generator stays as it is."""
    generator = torch.Generator().manual_seed(0)
    compiled = fastaug.compile(PIPELINES[name](TV), generator=generator)
    theirs, image = PIPELINES[name](TV), photo("coffee", 120, 130)
    for seed in range(5):
        generator.manual_seed(seed)
        torch.manual_seed(77)
        before = torch.get_rng_state()
        ours = compiled(clone(image))
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(seed)
        assert snapshot(theirs(image)) == snapshot(ours)
        assert torch.equal(generator.get_state(), torch.get_rng_state())


@grouped([name for name in CASES if name not in ("RandomChoice", "RandomOrder")])
def test_generator_of_each_class(name: str) -> None:
    generator = torch.Generator()
    compiled = fastaug.compile(CASES[name](TV), generator=generator)
    image = given(name)[0]
    for seed in (3, 4):
        expected = run(CASES[name](TV), image, seed)
        generator.manual_seed(seed)
        ours = run(compiled, image, seed)
        if expected.error is not None:
            assert type(ours.error) is type(expected.error)
            continue
        assert snapshot(ours.value) == snapshot(expected.value)
        assert torch.equal(generator.get_state(), expected.torch_state)
        assert torch.equal(ours.torch_state, torch.Generator().manual_seed(seed).get_state())


@pytest.mark.parametrize("name", ["ImageNet train", "ImageNet train reference", "CIFAR", "segmentation"])
@each("memory_format", [None, torch.contiguous_format, torch.channels_last])
@each("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_dtype_and_memory_format(name: str, dtype: torch.dtype, memory_format: Any) -> None:
    theirs = PIPELINES[name](TV)
    compiled = fastaug.compile(theirs, dtype=dtype, memory_format=memory_format)
    for seed in range(3):
        image = photo(PHOTOS[seed], 200, 210)
        ours, expected = run(compiled, image, seed).value, run(theirs, image, seed).value.to(dtype)
        assert ours.dtype is dtype
        assert snapshot(ours) == snapshot(expected)
        channels, _, width = ours.shape
        if memory_format is torch.channels_last:
            assert ours.stride() == (1, width * channels, channels)
        else:
            assert ours.is_contiguous()


def test_format_of_other_results() -> None:
    image = photo("coffee", 60, 70)
    levels = fastaug.compile(TV.PILToTensor(), dtype=torch.float16)(image)
    assert torch.equal(levels, TV.PILToTensor()(image).to(torch.float16))
    many = TV.Compose([TV.ToTensor(), TV.FiveCrop(20)])
    crops = fastaug.compile(many, dtype=torch.bfloat16, memory_format=torch.channels_last)(image)
    assert type(crops) is tuple
    for ours, theirs in zip(crops, many(image), strict=True):
        assert torch.equal(ours, theirs.to(torch.bfloat16)) and ours.stride(0) == 1
    batch = torch.rand(2, 3, 8, 9)
    assert fastaug.compile(TV.Pad(1), memory_format=torch.channels_last)(batch).is_contiguous(
        memory_format=torch.channels_last
    )
    with pytest.raises(TypeError, match="PIL"):
        fastaug.compile(TV.Pad(1), dtype=torch.float16)(image)


def test_compiled_inside_others() -> None:
    """The outer pipeline draws what the inner would have drawn; an inner generator and format stay its own."""
    image = photo("coffee", 80, 90)
    inner = TV.Compose([TV.RandomCrop(40), TV.ToTensor()])
    plain = fastaug.compile(inner)
    for outer in (T.Compose([T.RandomRotation(20), plain]), TV.Compose([TV.RandomRotation(20), plain])):
        assert_same(run(outer, image, 3), run(TV.Compose([TV.RandomRotation(20), inner]), image, 3))
        flat = fastaug.compile(outer)
        assert len(flat.transforms) == 3
        assert_same(run(flat, image, 3), run(TV.Compose([TV.RandomRotation(20), inner]), image, 3))
    generator = torch.Generator().manual_seed(5)
    special = fastaug.compile(inner, generator=generator, dtype=torch.float16)
    for wrap in (lambda steps: T.Compose(steps), lambda steps: fastaug.compile(TV.Compose(steps))):
        generator.manual_seed(5)
        ours = run(wrap([TV.RandomRotation(20), special, TV.RandomHorizontalFlip()]), image, 3)
        torch.manual_seed(3)
        turned = TV.RandomRotation(20)(image)
        state = torch.get_rng_state()
        torch.manual_seed(5)
        expected = inner(turned).to(torch.float16)
        torch.set_rng_state(state)
        assert torch.equal(ours.value, TV.RandomHorizontalFlip()(expected))
        assert torch.equal(ours.torch_state, torch.get_rng_state())


def test_image_is_not_kept() -> None:
    """A result is an ordinary image of its own."""
    result = fastaug.compile(TV.Compose([TV.Resize(20), TV.RandomHorizontalFlip(1.0)]))(pil("RGB", 30, 30))
    assert isinstance(result, Image.Image)
    result.putpixel((0, 0), (1, 2, 3))
    assert result.getpixel((0, 0)) == (1, 2, 3)
