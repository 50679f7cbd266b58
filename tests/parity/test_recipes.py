"""The recipes that people train with, over fifty seeds each: pixels, dtypes and generator states are torchvision's."""

from __future__ import annotations

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug.transforms as T
from support.images import PHOTOS, photo
from support.outcomes import assert_same, run, seed_all
from support.scale import cases
from tables.recipes import RECIPES, SMALL_RECIPES

SEEDS = range(cases(50))


def photographs() -> list[Image.Image]:
    """Landscape, portrait, square and small."""
    sizes = ((375, 500), (400, 300), (256, 256), (150, 201))
    return [photo(title, *size) for title, size in zip(PHOTOS, sizes)]


@pytest.mark.parametrize("name", RECIPES)
def test_recipe(name: str) -> None:
    ours, theirs, images = RECIPES[name](T), RECIPES[name](TV), photographs()
    for seed in SEEDS:
        image = images[seed % len(images)]
        assert_same(run(ours, image, seed), run(theirs, image, seed))


@pytest.mark.parametrize("name", SMALL_RECIPES)
def test_small_recipe(name: str) -> None:
    ours, theirs = SMALL_RECIPES[name](T), SMALL_RECIPES[name](TV)
    for seed in SEEDS:
        image = photo(PHOTOS[seed % 4]).crop((3 * seed, 2 * seed, 3 * seed + 32, 2 * seed + 32))
        assert_same(run(ours, image, seed), run(theirs, image, seed))


def test_an_epoch_without_reseeding() -> None:
    """One generator over many images and recipes: a wrong number of draws anywhere shows in everything after it."""
    images = photographs()
    results = []
    for package in (T, TV):
        seed_all(5)
        pipelines = [RECIPES[name](package) for name in ("timm RandAugment", "ImageNet AugMix", "strong", "SimCLR")]
        values = [pipeline(image) for image in images for pipeline in pipelines]
        results.append([*values, torch.get_rng_state()])
    for index, (ours, theirs) in enumerate(zip(*results)):
        assert torch.equal(ours, theirs), index
