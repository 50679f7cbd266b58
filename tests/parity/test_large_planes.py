"""Planes of 2^31 pixels and more, of which a crop comes first: little of them is ever in memory."""

from __future__ import annotations

import mmap
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.images import noise
from support.outcomes import run, seed_all, snapshot

HEIGHT, WIDTH = 60_000, 40_000
#: A side of a plane of more than 2^31 pixels, and of one of less, which has more bytes than that.
MORE, LESS = 46_400, 46_300
CORNER = 80


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Fails where a test has made a copy of a plane."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024


def one_row(channels: int = 3) -> torch.Tensor:
    """(H, W, C) of one row of noise again and again."""
    return torch.from_numpy(noise(1, WIDTH, channels)).expand(HEIGHT, WIDTH, channels)


def with_a_corner(side: int, channels: int = 3) -> np.ndarray:
    """(H, W, C) of zeros, of which nothing is in memory but noise at the end."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    image = np.frombuffer(mmap.mmap(-1, side * side * channels, flags=flags), np.uint8).reshape(side, side, channels)
    image[-CORNER:, -CORNER:] = noise(CORNER, CORNER, channels)
    return image


def as_tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array).permute(2, 0, 1)


TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "CHW": lambda: one_row()[:, :, 0].expand(3, HEIGHT, WIDTH),
    "HWC": lambda: one_row().permute(2, 0, 1),
    "HW": lambda: one_row(1)[:, :, 0],
    "column": lambda: torch.from_numpy(noise(HEIGHT, 1, 3)).expand(HEIGHT, WIDTH, 3).permute(2, 0, 1),
    "batch": lambda: one_row().permute(2, 0, 1).expand(2, 3, HEIGHT, WIDTH),
    "five channels": lambda: one_row(5).permute(2, 0, 1),
    "corner": lambda: as_tensor(with_a_corner(MORE)),
    "corner of a plane": lambda: as_tensor(with_a_corner(MORE, 1)).expand(3, -1, -1),
    "corner of less": lambda: as_tensor(with_a_corner(LESS)),
}

FIRST: dict[str, Callable[[Any], Any]] = {
    "CenterCrop": lambda package: package.CenterCrop(48),
    "RandomCrop": lambda package: package.RandomCrop((40, 50)),
    "two crops": lambda package: package.Compose([package.CenterCrop(20_000), package.RandomCrop(48)]),
    "FiveCrop": lambda package: package.Compose([package.FiveCrop(CORNER), package.Lambda(lambda crops: crops[3])]),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("first", FIRST)
def test_tensors(name: str, first: str) -> None:
    """Moves and masks of bytes, which are the same for Pillow and for torch."""
    image = TENSORS[name]()

    def pipeline(package: Any) -> Any:
        steps = [FIRST[first](package), package.RandomHorizontalFlip(1.0), package.Pad(2), package.RandomVerticalFlip()]
        if name not in ("HW", "five channels"):
            steps.append(package.RandomPosterize(3, p=1.0))
        return package.Compose([*steps, package.ConvertImageDtype(torch.float32)])

    theirs = run(pipeline(TV), image, 3, untouched=True)
    for transform in (pipeline(T), fastaug.compile(pipeline(TV))):
        ours = run(transform, image, 3, untouched=True)
        assert ours.error is None and theirs.error is None, (ours.error, theirs.error)
        assert snapshot(ours.value) == snapshot(theirs.value)
        assert torch.equal(ours.torch_state, theirs.torch_state)


class LastCorner(T.RandomCrop):
    """Where the image ends."""

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        _, height, width = F.get_dimensions(img)
        return height - output_size[0], width - output_size[1], *output_size


THEN: dict[str, Callable[[], Any]] = {
    "nothing": lambda: T.Compose([]),
    "Resize": lambda: T.Resize(20),
    "GaussianBlur": lambda: T.GaussianBlur(5),
    "ColorJitter": lambda: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "RandomRotation": lambda: T.RandomRotation(30, T.InterpolationMode.BILINEAR),
    "ElasticTransform": lambda: T.ElasticTransform(sigma=2.0),
    "AugMix": lambda: T.AugMix(),
    "ToPILImage": lambda: T.Compose([T.ToPILImage(), T.RandomRotation(30), T.ToTensor()]),
}


@pytest.mark.parametrize("side", [MORE, LESS])
@pytest.mark.parametrize("then", THEN)
def test_what_follows_sees_the_part_alone(then: str, side: int) -> None:
    """As for a copy of that part, whose pixels are compared with torchvision's elsewhere."""
    array = with_a_corner(side)
    part = array[-CORNER:, -CORNER:].copy()
    for image, copied in ((array, part), (as_tensor(array), as_tensor(part))):
        seed_all(1)
        result = T.Compose([LastCorner(CORNER), THEN[then]()])(image)
        seed_all(1)
        assert snapshot(result) == snapshot(THEN[then]()(copied))


def test_random_resized_crop() -> None:
    image = TENSORS["HWC"]()
    transform = T.RandomResizedCrop(20, scale=(1e-6, 2e-6))
    seed_all(2)
    result = transform(image)
    seed_all(2)
    part = TV.functional.crop(image, *TV.RandomResizedCrop.get_params(image, transform.scale, transform.ratio))
    assert snapshot(result) == snapshot(T.Resize((20, 20))(part.clone()))


def test_the_plan_says_why() -> None:
    text = str(T.Compose([T.CenterCrop(20), T.RandomInvert(1.0)]).explain(one_row().permute(2, 0, 1)))
    assert "the core does not read images of 2^31 pixels and more" in text
