"""Macenko's stain matrices and normalization, against the same steps written in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fastaug.transforms as T
from fastaug import pathology
from fastaug._program import stains
from fastaug._program.borrow import sources_of
from support.images import photo
from support.scale import cases

HE = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11]])


def tissue(height: int, width: int, seed: int = 0, glass: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    amounts = rng.gamma(2, 0.3, (height, width, 2)) * (rng.random((height, width, 1)) >= glass)
    return np.clip(240 * np.exp(-amounts @ HE) + rng.normal(0, 2, (height, width, 3)), 0, 255).astype(np.uint8)


def by_formula(pixels: np.ndarray, tissue: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrix, percentiles, and the amounts of both stains in each pixel."""
    densities = -np.log((pixels.reshape(-1, 3).astype(np.float64) + 1) / 240)
    kept = densities[(densities >= tissue).all(1)]
    plane = np.linalg.eigh(np.cov(kept.T))[1][:, 1:3]
    points = kept @ plane
    angles = np.percentile(np.arctan2(points[:, 1], points[:, 0]), [1, 99])
    ends = [plane @ [np.cos(angle), np.sin(angle)] for angle in angles]
    matrix = np.array(ends if ends[0][0] > ends[1][0] else ends[::-1])
    amounts = np.linalg.lstsq(matrix.T, densities.T, rcond=None)[0]
    return matrix, np.percentile(amounts, 99, axis=1), amounts


def normalized(image: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Before samples are truncated."""
    wanted, most, _ = by_formula(target)
    _, own, amounts = by_formula(image)
    light = 240 * np.exp(-wanted.T @ (amounts * (most / own)[:, None]))
    return np.minimum(light, 255).T.reshape(image.shape)


@pytest.mark.parametrize("size", [(30, 29), (60, 80), (211, 307), (700, 600)])
@pytest.mark.parametrize("glass", [0.0, 0.3, 0.8])
def test_matrix(size: tuple[int, int], glass: float) -> None:
    for seed in range(3):
        image = tissue(*size, seed, glass)
        wanted, most, _ = by_formula(image)
        found = stains.found(sources_of(image))
        assert found is not None
        assert np.abs(np.array(found.matrix) - wanted).max() < 1e-12
        assert np.abs(np.array(found.strengths) - most).max() < 1e-11
        assert np.array_equal(pathology.stain_matrix(image), np.array(found.matrix))


def test_of_photographs() -> None:
    for name in ("coffee", "astronaut"):
        image = np.asarray(photo(name, 300, 400))
        assert np.abs(pathology.stain_matrix(image) - by_formula(image)[0]).max() < 1e-11


def test_containers_and_memory() -> None:
    image = tissue(90, 70)
    wanted = pathology.stain_matrix(image)
    planes = torch.from_numpy(image.transpose(2, 0, 1).copy())
    wide = np.zeros((90, 140, 5), np.uint8)
    wide[:, ::2, 1:4] = image
    for same in (
        Image.fromarray(image),
        planes,
        planes[None],
        torch.from_numpy(image).permute(2, 0, 1),
        wide[:, ::2, 1:4],
        image[None],
        [image],
    ):
        assert np.array_equal(pathology.stain_matrix(same), wanted)
    assert np.abs(pathology.stain_matrix(image[::-1, ::-1]) - wanted).max() < 1e-12


def test_of_a_bag() -> None:
    """As of one image with the pixels of all; with threads and without."""
    bag = [tissue(50 + seed, 64, seed) for seed in range(7)] + [np.full((20, 20, 3), 255, np.uint8)]
    together = np.concatenate([image.reshape(-1, 3) for image in bag])[None]
    wanted = pathology.stain_matrix(bag, num_threads=1)
    assert np.abs(wanted - by_formula(together)[0]).max() < 1e-12
    assert np.array_equal(pathology.stain_matrix(bag, num_threads=3), wanted)
    mixed: list[Any] = [Image.fromarray(image) for image in bag[:4]] + bag[4:]
    assert np.array_equal(pathology.stain_matrix(mixed), wanted)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("most", [1, 7000])
def test_of_a_bag_by_its_colours(monkeypatch: pytest.MonkeyPatch, threads: int, most: int) -> None:
    """The same of many images, whose colours are counted; of 7000 pixels, from the third image on."""
    bag = [tissue(50 + seed, 64, seed) for seed in range(5)] + [np.full((20, 20, 3), 255, np.uint8)]
    wanted = stains.found([source for image in bag for source in sources_of(image)])
    limited = pathology.stain_matrix(bag, 0.5)
    counted: list[Any] = []
    count = stains._C.count_colours
    monkeypatch.setattr(stains._C, "count_colours", lambda *args: counted.append(count(*args)))
    monkeypatch.setattr(stains, "_MANY", most / threads)
    made = pathology.StainNormalize(bag)
    assert len(counted) == len(bag)
    assert wanted is not None
    assert np.abs(np.array(made.matrix) - wanted.matrix).max() < 1e-12
    assert np.abs(np.array(made.strengths) - wanted.strengths).max() < 1e-11
    assert np.abs(pathology.stain_matrix(bag, num_threads=threads) - wanted.matrix).max() < 1e-12
    assert np.abs(pathology.stain_matrix(bag, 0.5, num_threads=threads) - limited).max() < 1e-12
    glass = [np.full((20, 20, 3), 255, np.uint8)] * 20
    with pytest.raises(ValueError, match="at least 16 pixels of tissue"):
        pathology.stain_matrix(glass, num_threads=threads)


def test_of_more_pixels_than_a_counter_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been counted moves on to larger numbers before it could overflow."""
    bag = [tissue(50 + seed, 64, seed) for seed in range(6)]
    wanted = pathology.stain_matrix(bag)
    monkeypatch.setattr(stains, "_MANY", 1)
    for most in (4000, 8000, 15000):
        monkeypatch.setattr(stains._Counters, "_MOST", most)
        assert np.abs(pathology.stain_matrix(bag, num_threads=1) - wanted).max() < 1e-12
        assert np.abs(pathology.stain_matrix(bag, num_threads=2) - wanted).max() < 1e-12


def test_limit_of_tissue() -> None:
    image = tissue(80, 90)
    for limit in (0.0, 0.05, 0.15, 0.3, 0.5):
        assert np.abs(pathology.stain_matrix(image, limit) - by_formula(image, limit)[0]).max() < 1e-12


@settings(max_examples=cases(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    colours=st.integers(3, 40),
    pixels=st.integers(stains.LEAST_TISSUE, 400),
)
def test_ties_and_few_pixels(seed: int, colours: int, pixels: int) -> None:
    """Few colours, many times each: percentiles are between equal numbers, or between far ones."""
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 206, (colours, 3), np.uint8)[rng.integers(0, colours, pixels)][None]
    spread = np.linalg.eigvalsh(np.cov(-np.log((image[0] + 1.0) / 240).T))
    if spread[1] - spread[0] < 1e-3 or spread[2] - spread[1] < 1e-3:
        return  # the plane itself hangs on the last bits
    wanted, most, _ = by_formula(image)
    found = stains.found(sources_of(image))
    if found is None:
        assert stains.is_singular(tuple(map(tuple, wanted.tolist()))) or most.min() < 1e-9
        return
    assert np.abs(np.array(found.matrix) - wanted).max() < 1e-9
    assert np.abs(np.array(found.strengths) / most - 1).max() < 1e-6


def test_where_a_sample_misleads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A range in which a percentile is not after all: every number is sorted."""
    image = tissue(200, 200)
    wanted = stains.found(sources_of(image))
    monkeypatch.setattr(stains, "_SAMPLED", 64)
    assert stains.found(sources_of(image)) == wanted
    monkeypatch.setattr(stains, "_around", lambda sample, share, errors: (100.0, 101.0))
    assert stains.found(sources_of(image)) == wanted


def assert_same(made: np.ndarray, wanted: np.ndarray) -> None:
    decided = (np.abs(wanted - np.rint(wanted)) > 1e-8) | (wanted >= 255)
    assert np.array_equal(made[decided], wanted.astype(np.uint8)[decided])
    assert np.abs(made.astype(int) - wanted.astype(np.uint8)).max() <= 1


def test_normalize() -> None:
    target = tissue(80, 90, 5)
    normalize = pathology.StainNormalize(target)
    assert np.array_equal(np.array(normalize.matrix), pathology.stain_matrix(target))
    for seed in range(4):
        image = tissue(70, 60, seed)
        wanted = normalized(image, target)
        made = normalize(image)
        assert_same(made, wanted)
        assert np.array_equal(np.asarray(normalize(Image.fromarray(image))), made)
        planes = torch.from_numpy(image).permute(2, 0, 1)
        assert torch.equal(normalize(planes), torch.from_numpy(made).permute(2, 0, 1))
    again = pathology.StainNormalize((normalize.matrix, normalize.strengths))
    assert np.array_equal(again(image), made)
    assert repr(again) == repr(normalize)
    assert np.array_equal(pathology.StainNormalize([target])(image), made)


def test_every_level_when_normalized() -> None:
    """Of white, which torchstain's densities are below zero of, and of black."""
    image = tissue(64, 64)
    image[0] = np.arange(0, 256, 4, dtype=np.uint8)[:, None]
    image[1] = np.arange(255, -1, -4, dtype=np.uint8)[:, None]
    target = tissue(64, 64, 2)
    assert_same(pathology.StainNormalize(target)(image), normalized(image, target))


def test_in_a_pipeline() -> None:
    normalize = pathology.StainNormalize("macenko-reference")
    pipeline = T.Compose([T.RandomCrop(32), normalize, T.RandomHorizontalFlip(), T.ToTensor()])
    bag = [Image.fromarray(tissue(40, 44, seed)) for seed in range(5)]
    torch.manual_seed(0)
    one_by_one = torch.stack([pipeline(image) for image in bag])
    torch.manual_seed(0)
    assert torch.equal(pipeline.batch(bag), one_by_one)
    torch.manual_seed(0)
    assert torch.equal(pipeline.replay(bag[0], pipeline.sample(bag[0])), one_by_one[0])


def test_too_little_tissue() -> None:
    glass, flat = np.full((40, 40, 3), 240, np.uint8), np.full((40, 40, 3), (150, 80, 160), np.uint8)
    few = glass.copy()
    few[0, : stains.LEAST_TISSUE - 1] = tissue(1, stains.LEAST_TISSUE - 1, glass=0)
    for image in (glass, flat, few):
        with pytest.raises(ValueError, match="at least 16 pixels of tissue"):
            pathology.stain_matrix(image)
        with pytest.raises(ValueError, match="at least 16 pixels of tissue"):
            pathology.StainNormalize([image, image])
        normalize = pathology.StainNormalize("macenko-reference")
        assert np.array_equal(normalize(image), image)


def test_bad_arguments() -> None:
    image = tissue(20, 20)
    for images in (np.zeros((4, 4), np.float32), [np.zeros((4, 4), np.uint8)], [Image.new("L", (4, 4))], [7]):
        with pytest.raises((TypeError, ValueError), match="images should be"):
            pathology.stain_matrix(images)
    with pytest.raises(ValueError, match="images should be at least one image"):
        pathology.stain_matrix([])
    for limit in (-0.1, 6, float("nan")):
        with pytest.raises(ValueError, match="tissue should be from 0 to 5"):
            pathology.stain_matrix(image, limit)
    with pytest.raises(TypeError, match="tissue should be a number"):
        pathology.stain_matrix(image, "0.15")  # type: ignore[arg-type]
    for target in ("reference", (HE, (1.0, 0.0)), (np.eye(3), (1.0, 1.0)), (HE, (1.0,)), (np.zeros((2, 3)), (1, 1))):
        with pytest.raises(ValueError, match="target"):
            pathology.StainNormalize(target)
    with pytest.raises(TypeError, match="Stains are taken from RGB images"):
        pathology.StainNormalize("macenko-reference")(Image.new("L", (4, 4)))
