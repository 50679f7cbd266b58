"""Pairs of patches: torchvision's draws and pixels, whatever holds the pictures."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TF
from PIL import Image

import fastaug.io
from fastaug import _C
from fastaug._draft.call import PLAIN
from fastaug.data import PairedRandomCrop
from support.images import photo, to_chw
from support.outcomes import seed_all, snapshot


def pair(height: int = 60, width: int = 70, scale: int = 2) -> tuple[Image.Image, Image.Image]:
    high = photo("coffee", height * scale, width * scale)
    return high.resize((width, height)), high


def expected(size: int, scale: int, low: Image.Image, high: Image.Image) -> tuple[Image.Image, Image.Image]:
    """By torchvision and Pillow."""
    top, left, height, width = TV.RandomCrop.get_params(low, (size, size))
    turns = [bool(torch.rand(1) < 0.5) for _ in range(3)]
    patches = []
    for image, by in ((low, 1), (high, scale)):
        patch = TF.crop(image, by * top, by * left, by * height, by * width)
        for turn, method in zip(
            turns, (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.TRANSPOSE)
        ):
            patch = patch.transpose(method) if turn else patch
        patches.append(patch)
    return patches[0], patches[1]


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


CONTAINERS: dict[str, Any] = {
    "PIL": lambda image: image,
    "lazy": lambda image: fastaug.io.lazy(png(image)),
    "array": np.asarray,
    "uint8 tensor": to_chw,
    "float tensor": lambda image: to_chw(image).float(),
    "LA": lambda image: image.convert("LA"),
    "I;16": lambda image: Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_patches_are_those_of_torchvision_and_pillow(name: str) -> None:
    for scale, seed in ((2, 0), (3, 1), (1, 2), (4, 3), *((2, seed) for seed in range(4, 30))):
        low, high = pair(scale=scale)
        seed_all(seed)
        theirs = expected(24, scale, low, high)
        state = torch.get_rng_state()
        seed_all(seed)
        ours = PairedRandomCrop(24, scale)((CONTAINERS[name](low), CONTAINERS[name](high)))
        assert torch.equal(torch.get_rng_state(), state)
        wrapped = [patch if name == "lazy" else CONTAINERS[name](patch) for patch in theirs]
        assert snapshot(list(ours)) == snapshot(wrapped)


def test_a_picture_of_the_size_of_the_patch_draws_only_turns() -> None:
    low, high = pair(24, 24)
    seed_all(1)
    theirs = expected(24, 2, low, high)
    seed_all(1)
    assert snapshot(PairedRandomCrop(24, 2)([low, high])) == snapshot(theirs)


def test_all_eight_ways() -> None:
    low, high = pair(16, 16)
    seed_all(0)
    assert len({PairedRandomCrop(16, 2)((low, high))[1].tobytes() for _ in range(100)}) == 8


def test_errors() -> None:
    low, high = pair()
    crop = PairedRandomCrop(24, 2)
    before = torch.get_rng_state()
    for wrong, error, text in (
        (low, TypeError, "takes a pair"),
        ((low,), TypeError, "takes a pair"),
        ((low, "high"), TypeError, "high should be an image"),
        ((3, high), TypeError, "low should be an image"),
        ((low, low), ValueError, "high should be 2 times as large as low"),
        ((high, low), ValueError, "high should be 2 times as large as low"),
        ((low.resize((20, 60)), high.resize((40, 120))), ValueError, "at least as large as the patch, 24"),
    ):
        with pytest.raises(error, match=text):
            crop(wrong)
    for arguments, error in (
        ((0, 2), ValueError),
        ((24, -1), ValueError),
        ((2.5, 2), TypeError),
        ((24, None), TypeError),
    ):
        with pytest.raises(error, match="should be"):
            PairedRandomCrop(*arguments)
    assert torch.equal(torch.get_rng_state(), before)
    assert repr(crop) == "PairedRandomCrop(size=24, scale=2)"


def test_only_the_patches_of_files_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = []

    def run(jobs: Any, rewrites: int) -> None:
        regions.extend(_C.plan(job, rewrites).passes[0].region for job in jobs)
        _C.run(jobs, rewrites)

    monkeypatch.setattr(PLAIN, "run", run)
    low, high = pair(200, 300)
    for seed in range(8):
        seed_all(seed)
        top = TV.RandomCrop.get_params(low, (24, 24))[0]
        seed_all(seed)
        regions.clear()
        PairedRandomCrop(24, 2)((fastaug.io.lazy(png(low)), fastaug.io.lazy(png(high))))
        # Of a PNG, every row down to the last of the patch.
        assert [(region[0], region[2]) for region in regions] == [(0, top + 24), (0, 2 * (top + 24))]
