"""The pipelines that people run, on photographs of their usual size."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torchvision.transforms as TV

import fastaug.transforms as T
from support.differences import each
from support.images import PHOTOS, photo, pil, to_chw
from support.outcomes import assert_parity
from tables.recipes import PIPELINES, pathology


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("resolution", [512, 224])
def test_pathology_at_full_size(resolution: int, interpolation: str) -> None:
    tile = to_chw(photo("ihc", 1024, 1024))
    for seed in range(3):
        assert_parity(lambda package: pathology(package, resolution, interpolation), T, TV, tile, seed)


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("resolution", [96, 50])
def test_pathology_over_many_seeds(resolution: int, interpolation: str) -> None:
    tile = np.asarray(photo("ihc", 210, 190))
    ours, theirs = (pathology(package, resolution, interpolation, crop=192) for package in (T, TV))
    for seed in range(40):
        assert_parity(lambda package: ours if package is T else theirs, T, TV, tile, seed)


@pytest.mark.parametrize("name", PIPELINES)
def test_recipe(name: str) -> None:
    for seed in range(4):
        image = photo(PHOTOS[seed], 375, 500) if seed % 2 == 0 else photo(PHOTOS[seed], 500, 375)
        assert_parity(PIPELINES[name], T, TV, image, seed)


@pytest.mark.parametrize("name", PIPELINES)
@each("mode", ["L", "RGBA", "P", "CMYK", "I;16", "F"])
def test_recipe_in_other_modes(name: str, mode: str) -> None:
    """Most fail at Normalize, as torchvision's do; the others must agree."""
    assert_parity(PIPELINES[name], T, TV, pil(mode, 350, 361, 5), 3)


def test_a_sequence_of_calls_shares_one_generator() -> None:
    """The second image must see the state that torchvision's first image would have left."""
    images = [photo(title, 120 + 7 * index, 150 - 9 * index) for index, title in enumerate(PHOTOS)]
    results = []
    for package in (T, TV):
        torch.manual_seed(77)
        pipeline = pathology(package, 64, "BILINEAR", crop=100)
        results.append([pipeline(np.asarray(image)) for image in images * 3])
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def test_transforms_replaced_after_construction() -> None:
    """timm and others index and replace `transform.transforms[0]`."""
    outcomes = []
    for package in (T, TV):
        pipeline = package.Compose([package.Resize(40), package.CenterCrop(30), package.ToTensor()])
        pipeline(photo("coffee"))
        pipeline.transforms[0] = package.Resize((35, 80))
        pipeline.transforms.append(package.Normalize([0.1, 0.2, 0.3], [0.5, 0.5, 0.5]))
        pipeline.transforms[1].size = (20, 22)
        outcomes.append(pipeline(photo("coffee")))
    assert torch.equal(*outcomes)


def test_attributes_changed_after_construction() -> None:
    for seed in range(4):
        outcomes = []
        for package in (T, TV):
            flip, jitter = package.RandomHorizontalFlip(0.0), package.ColorJitter(0.5)
            pipeline = package.Compose([flip, jitter])
            pipeline(photo("coffee", 30, 40))
            flip.p = 1.0
            jitter.contrast, jitter.brightness = (0.2, 0.4), None
            torch.manual_seed(seed)
            outcomes.append(np.asarray(pipeline(photo("coffee", 30, 40))))
        assert np.array_equal(*outcomes)
