"""Stain jitter: maps of optical densities by a stain matrix, against the formulas in float64."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug import pathology
from fastaug._program.stains import restained, unmixing
from fastaug.pathology import functional as F
from fastaug.pathology._basis import PRESETS
from support.images import noise, photo
from support.outcomes import snapshot

HE = np.array(PRESETS["he"])
HED = np.array(PRESETS["hed"])


def densities(image: np.ndarray, like: str) -> np.ndarray:
    if like == "tiatoolbox":
        result: np.ndarray = np.maximum(-np.log(np.maximum(image, 1) / 255), 1e-6)
        return result
    return -np.log(np.maximum(image / 255, 1e-6))


def by_formula(
    image: np.ndarray, matrix: np.ndarray, scale: Any, shift: Any, like: str, residual: str = "project"
) -> np.ndarray:
    """Before samples are truncated; those that are rounded are half a level more."""
    basis = np.array(matrix, np.float64)
    if residual != "project" and len(basis) == 2:
        third = np.cross(basis[0], basis[1])
        basis = np.vstack([basis, third / np.linalg.norm(third)])
    amounts = np.linalg.lstsq(basis.T, densities(image, like).reshape(-1, 3).T, rcond=None)[0].T
    kept = len(basis) - len(scale)
    amounts = amounts * np.array([*scale, *[1] * kept]) + np.array([*shift, *[0] * kept])
    light = 255 * np.exp(-amounts @ basis).reshape(image.shape)
    return np.clip(light, 0, 255) + (0.5 if like == "albumentationsx" else 0)


def assert_same(made: np.ndarray, wanted: np.ndarray) -> None:
    """But for samples that are next to an integer: never more than a level."""
    decided = (np.abs(wanted - np.rint(wanted)) > 1e-8) | (wanted >= 255)
    levels = np.minimum(wanted, 255).astype(np.uint8)
    assert np.array_equal(made[decided], levels[decided])
    assert np.abs(made.astype(int) - levels).max() <= 1


def drawn(size: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(1 - size, 1 + size, count), rng.uniform(-size, size, count)


CHANGES = [
    (matrix, residual, 3 if residual == "augment" else 2 if residual == "preserve" else len(matrix))
    for matrix in (HE, HED, np.array(PRESETS["imagej-he"]), np.array(PRESETS["macenko-reference"]) * 1.7)
    for residual in ("project", "preserve", "augment")
]


@pytest.mark.parametrize("like", ["tiatoolbox", "albumentationsx"])
@pytest.mark.parametrize("size", [0.0, 0.05, 0.3, 2.0])
def test_equal_to_the_formula(like: str, size: float) -> None:
    images = [noise(31, 47), noise(31, 47, seed=1) | 0xE0, np.asarray(photo("coffee", 60, 80))]
    images.append(np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, 2))
    for seed, (matrix, residual, count) in enumerate(CHANGES):
        scale, shift = drawn(size, count, seed)
        for image in images:
            made = F.adjust_stains(image, matrix, scale, shift, like, residual)
            assert_same(made, by_formula(image, matrix, scale, shift, like, residual))


def test_every_width() -> None:
    scale, shift = drawn(0.2, 2, 0)
    for width in range(1, 70):
        image = noise(2, width, seed=width)
        assert_same(F.adjust_stains(image, HE, scale, shift), by_formula(image, HE, scale, shift, "tiatoolbox"))


def test_background_stays() -> None:
    """By the luminance in thousandths of samples, pixel by pixel."""
    image = noise(50, 60) | 0xC0
    image[0, :3] = [(255, 241, 0), (217, 217, 216), (217, 217, 217)]
    light = image @ np.array([299, 587, 114]) >= 216750
    assert 0.1 < light.mean() < 0.9
    change = HE, (1.3, 0.7), (0.1, 0.1)
    made, whole = (F.adjust_stains(image, *change, background=background) for background in ("keep", "augment"))
    assert np.array_equal(made, np.where(light[:, :, None], image, whole))


@pytest.mark.parametrize("name", PRESETS)
def test_names(name: str) -> None:
    rows = np.array(PRESETS[name])
    image, (scale, shift) = noise(20, 30), drawn(0.2, len(rows), 1)
    assert np.array_equal(F.adjust_stains(image, name, scale, shift), F.adjust_stains(image, rows, scale, shift))
    assert np.allclose(np.array(unmixing(PRESETS[name])).T, np.linalg.pinv(rows), atol=1e-12)


def test_without_a_change() -> None:
    """What is in neither stain is left out, or kept; then, and with three stains, an image stays within a level."""
    image = noise(40, 50)
    assert np.abs(F.adjust_stains(image, HE, (1, 1), (0, 0)).astype(int) - image).max() > 50
    for matrix, residual in ((HE, "preserve"), (HED, "project")):
        count = 2 if residual == "preserve" else 3
        same = F.adjust_stains(image, matrix, [1] * count, [0] * count, residual=residual)
        assert np.abs(same.astype(int) - image).max() <= 1
        same = F.adjust_stains(image, matrix, [1] * count, [0] * count, "albumentationsx", residual)
        assert np.array_equal(same, image)
    assert np.allclose(restained(PRESETS["hed"], (1, 1, 1), (0, 0, 0), "project"), [*np.eye(3).ravel(), 0, 0, 0])


def test_containers() -> None:
    array, change = noise(40, 50), (HE, *drawn(0.2, 2, 3))
    wanted = F.adjust_stains(array, *change)
    planes = torch.from_numpy(array.transpose(2, 0, 1).copy())
    for image in (array, Image.fromarray(array), planes, torch.from_numpy(array).permute(2, 0, 1), planes[None, None]):
        before = snapshot(image)
        made = F.adjust_stains(image, *change)
        assert type(made) is type(image) and made is not image and snapshot(image) == before
        if isinstance(made, torch.Tensor):
            assert made.shape == image.shape and made.dtype == torch.uint8  # type: ignore[union-attr]
            made = made.reshape(3, 40, 50).permute(1, 2, 0).numpy()
        assert np.array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize(
    ("matrix", "residual", "count"),
    [("he", "project", 2), ("he", "augment", 3), ("he", "preserve", 2), ("hed", "project", 3), ("hed", "preserve", 2)],
)
def test_draws(matrix: str, residual: str, count: int) -> None:
    """All factors, then all shifts, by uniform_ on every call."""
    image = noise(20, 30)
    transform = pathology.StainJitter(matrix, (0.7, 1.4), 0.1, residual=residual)
    for seed in range(4):
        torch.manual_seed(seed)
        scale = torch.empty(count).uniform_(0.7, 1.4).double().tolist()
        shift = torch.empty(count).uniform_(-0.1, 0.1).double().tolist()
        state = torch.get_rng_state()
        torch.manual_seed(seed)
        params = pathology.StainJitter.get_params((0.7, 1.4), (-0.1, 0.1), count)
        assert params == (tuple(scale), tuple(shift))
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(seed)
        assert np.array_equal(transform(image), F.adjust_stains(image, matrix, scale, shift, residual=residual))
        assert torch.equal(torch.get_rng_state(), state)


def tissue(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Of two stains, with glass around it."""
    rng = np.random.default_rng(seed)
    amounts = rng.gamma(2, 0.3, (height, width, 2)) * (rng.random((height, width, 1)) < 0.7)
    return np.clip(240 * np.exp(-amounts @ HE) + rng.normal(0, 2, (height, width, 3)), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("matrix", ["he", "macenko"])
def test_in_a_pipeline(matrix: str) -> None:
    """A Compose, its batch, sample and replay, and what compile makes of it do what single calls do."""
    steps = [T.RandomCrop(24), pathology.StainJitter(matrix, 0.2), pathology.RandomDihedral(), T.ToTensor()]
    pipeline = T.Compose(steps)
    bag = [Image.fromarray(tissue(31, 40, seed)) for seed in range(6)]
    for seed in range(4):
        torch.manual_seed(seed)
        one_by_one = []
        for image in bag:
            for step in steps:
                image = step(image)
            one_by_one.append(image)
        wanted = torch.stack(one_by_one)
        for run in (
            lambda: torch.stack([pipeline(image) for image in bag]),
            lambda: pipeline.batch(bag),
            lambda: torch.stack([fastaug.compile(pipeline)(image) for image in bag]),
        ):
            torch.manual_seed(seed)
            assert torch.equal(run(), wanted)
        torch.manual_seed(seed)
        params = pipeline.sample(bag[0])
        assert torch.equal(pipeline.replay(bag[0], params), wanted[0])
    assert "StainJitter" in str(pipeline.explain(bag[0]))
    assert torch.equal(pipeline.replay(bag[0], params), pickle.loads(pickle.dumps(pipeline)).replay(bag[0], params))


def test_of_each_tile() -> None:
    """With the matrix that is found in it; glass stays as it is, after the same draws."""
    image, change = tissue(40, 50), ((1.2, 0.8), (0.1, -0.1))
    wanted = F.adjust_stains(image, pathology.stain_matrix(image), *change)
    assert np.array_equal(F.adjust_stains(image, "macenko", *change), wanted)
    planes = torch.from_numpy(image).permute(2, 0, 1)
    assert torch.equal(F.adjust_stains(planes, "macenko", *change), torch.from_numpy(wanted).permute(2, 0, 1))
    assert np.array_equal(np.asarray(F.adjust_stains(Image.fromarray(image), "macenko", *change)), wanted)
    glass = np.full((30, 30, 3), 240, np.uint8)
    torch.manual_seed(0)
    assert np.array_equal(pathology.StainJitter("macenko")(glass), glass)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    pathology.StainJitter("macenko")(image)
    assert torch.equal(torch.get_rng_state(), state)


BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"matrix": "eosin"}, "matrix should be rows of numbers or one of"),
    ({"matrix": [[1, 0, 0]]}, "matrix should have two or three rows"),
    ({"matrix": [[1, 0], [0, 1]]}, "a row of matrix should have three numbers"),
    ({"matrix": np.zeros((3, 3))}, "the rows of matrix should be independent"),
    ({"matrix": [[1, 2, 3], [2, 4, 6]]}, "the rows of matrix should be independent"),
    ({"matrix": [[1, 0, 0], [0, 1, 0], [1, 1, 0]]}, "the rows of matrix should be independent"),
    ({"matrix": [[1, 0, 0], [0, float("nan"), 0]]}, "a row of matrix should be within 1000 of zero"),
    ({"scale": -0.1}, "scale should be from 0 to 50"),
    ({"scale": float("nan")}, "scale should be from 0 to 50"),
    ({"shift": (0.2, 0.1)}, "shift should be a number, or a pair"),
    ({"shift": (0.1, 0.2, 0.3)}, "shift should be a number, or a pair"),
    ({"scale": (0.0, float("inf"))}, "scale should be within 100 of zero"),
    ({"like": "skimage"}, "like should be one of tiatoolbox, albumentationsx"),
    ({"residual": "drop"}, "residual should be one of project, preserve, augment"),
    ({"background": "white"}, "background should be one of augment, keep"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_VALUES)
def test_bad_values(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pathology.StainJitter(**{"matrix": "he", **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": None}, "matrix should be a name, or two or three rows"),
        ({"matrix": ["abc", "abc"]}, "a row of matrix should be a sequence of numbers"),
        ({"scale": None}, "scale should be a number or a pair"),
        ({"scale": True}, "scale should be a number or a pair"),
        ({"shift": "0.1"}, "shift should be a number or a pair"),
        ({"shift": (None, 1)}, "shift should be a sequence of numbers"),
        ({"like": None}, "like should be a str"),
    ],
)
def test_bad_types(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pathology.StainJitter(**{"matrix": "he", **arguments})


@pytest.mark.parametrize("matrix", ["he", "macenko"])
@pytest.mark.parametrize(
    "image",
    [Image.new("L", (4, 4)), Image.new("RGBA", (4, 4)), np.zeros((4, 4), np.uint8), torch.zeros(3, 4, 4), "tile"],
    ids=["gray", "alpha", "a plane", "floats", "no image"],
)
def test_other_images_before_drawing(matrix: str, image: Any) -> None:
    state = torch.get_rng_state()
    jitter = pathology.StainJitter(matrix)
    for call in (jitter, T.Compose([jitter]), lambda image: F.adjust_stains(image, matrix, (1, 1), (0, 0))):
        with pytest.raises(TypeError):
            call(image)
    assert torch.equal(torch.get_rng_state(), state)


def test_as_many_numbers_as_stains() -> None:
    image = noise(4, 5)
    with pytest.raises(ValueError, match="scale should be 2 numbers, one for each stain that changes"):
        F.adjust_stains(image, "he", (1, 1, 1), (0, 0))
    with pytest.raises(ValueError, match="shift should be 3 numbers"):
        F.adjust_stains(image, "he", (1, 1, 1), (0, 0), residual="augment")
    with pytest.raises(ValueError, match="shift should be within 100 of zero"):
        F.adjust_stains(image, "he", (1, 1), (0, float("nan")))
