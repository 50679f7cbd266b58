"""HED jitter: scikit-image's colour deconvolution in float64, in every container."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug import pathology
from fastaug.pathology import functional as F
from support.images import noise, photo
from support.outcomes import snapshot

color = pytest.importorskip("skimage.color")

Numbers = tuple[float, float, float]
PLAIN: tuple[Numbers, Numbers] = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


def by_skimage(image: np.ndarray, alpha: Any, beta: Any, clip: bool = True) -> np.ndarray:
    """In float64 and times 255. Without its clip of stains below zero: the same formula."""
    if clip:
        made: np.ndarray = color.hed2rgb(color.rgb2hed(image) * alpha + beta) * 255
        return made
    black = np.log(1e-6)
    stains = np.log(np.maximum(image / 255, 1e-6)) / black @ color.hed_from_rgb
    return np.exp(np.minimum((stains * alpha + beta) * black @ color.rgb_from_hed, 0)) * 255


def assert_same(made: np.ndarray, wanted: np.ndarray) -> None:
    """But for samples that the last bit of a logarithm decides: never more than a level."""
    decided = np.abs(wanted - np.rint(wanted)) > 1e-9
    assert np.array_equal(made[decided], wanted.astype(np.uint8)[decided])
    assert np.abs(made - wanted).max() < 1 + 1e-8


def drawn(theta: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(1 - theta, 1 + theta, 3), rng.uniform(-theta, theta, 3)


@pytest.mark.parametrize("theta", [0.0, 0.01, 0.05, 0.2, 1.0, 3.0])
@pytest.mark.parametrize("clip", [True, False])
def test_equal_to_skimage(theta: float, clip: bool) -> None:
    images = [noise(61, 77), noise(61, 77, seed=1) | 0xE0, np.asarray(photo("coffee", 90, 120))]
    for seed in range(4):
        alpha, beta = drawn(theta, seed)
        for image in images:
            assert_same(F.adjust_hed(image, alpha, beta, clip), by_skimage(image, alpha, beta, clip))


def test_colours_that_are_stains() -> None:
    """Every level of each channel with the others black, white and in between."""
    levels = np.arange(256, dtype=np.uint8)
    rows = [
        np.roll(np.stack([levels, 0 * levels + a, 0 * levels + b], 1), k, 1)
        for a in (0, 99, 255)
        for b in (0, 1, 255)
        for k in range(3)
    ]
    image = np.stack(rows)
    for seed in range(3):
        for clip in (True, False):
            alpha, beta = drawn(0.2, seed)
            assert_same(F.adjust_hed(image, alpha, beta, clip), by_skimage(image, alpha, beta, clip))


def test_every_width() -> None:
    alpha, beta = drawn(0.1, 0)
    for width in range(1, 70):
        image = noise(3, width, seed=width)
        assert_same(F.adjust_hed(image, alpha, beta), by_skimage(image, alpha, beta))


def test_without_the_clip_an_image_stays() -> None:
    image = noise(40, 50)
    assert np.abs(F.adjust_hed(image, *PLAIN, clip=False).astype(int) - image).max() <= 1
    assert np.abs(F.adjust_hed(image, *PLAIN).astype(int) - image).max() > 50


def test_containers() -> None:
    """In what an image comes, it goes; samples are the same in all, and the image itself is left alone."""
    array = noise(40, 50)
    wanted = F.adjust_hed(array, *drawn(0.1, 3))
    planes = torch.from_numpy(array.transpose(2, 0, 1).copy())
    for image in (array, Image.fromarray(array), planes, torch.from_numpy(array).permute(2, 0, 1), planes[None, None]):
        before = snapshot(image)
        made = F.adjust_hed(image, *drawn(0.1, 3))
        assert type(made) is type(image) and made is not image
        assert snapshot(image) == before
        as_array = (
            np.asarray(made) if not isinstance(made, torch.Tensor) else made.reshape(3, 40, 50).permute(1, 2, 0).numpy()
        )
        assert np.array_equal(as_array, wanted)
        if isinstance(image, torch.Tensor):
            assert made.shape == image.shape and made.dtype == torch.uint8


@pytest.mark.parametrize("theta", [0.0, 0.05, 0.2])
def test_draws(theta: float) -> None:
    """Three alphas, then three betas, by uniform_ on every call."""
    image, transform = noise(20, 30), pathology.HEDJitter(theta)
    for seed in range(5):
        torch.manual_seed(seed)
        alpha = [torch.empty(1).uniform_(1 - theta, 1 + theta).item() for _ in range(3)]
        beta = [torch.empty(1).uniform_(-theta, theta).item() for _ in range(3)]
        state = torch.get_rng_state()
        torch.manual_seed(seed)
        assert pathology.HEDJitter.get_params(theta) == (tuple(alpha), tuple(beta))
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(seed)
        assert np.array_equal(transform(image), F.adjust_hed(image, alpha, beta))
        assert torch.equal(torch.get_rng_state(), state)


def test_in_a_pipeline() -> None:
    """A Compose, its batch, sample and replay, fast mode, and what compile makes of it do what single calls do."""
    steps = [T.RandomCrop(16), pathology.HEDJitter(0.2), pathology.RandomDihedral(), T.ToTensor()]
    pipeline = T.Compose(steps)
    bag = [Image.fromarray(noise(24, 31, seed=seed)) for seed in range(6)]
    for seed in range(6):
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
            lambda: torch.stack([T.Compose(steps, mode="fast")(image) for image in bag]),
        ):
            torch.manual_seed(seed)
            assert torch.equal(run(), wanted)
        torch.manual_seed(seed)
        params = pipeline.sample(bag[0])
        assert torch.equal(pipeline.replay(bag[0], params), wanted[0])
    assert "HEDJitter" in str(pipeline.explain(bag[0]))
    assert repr(steps[1]) == "HEDJitter(theta=0.2, clip=True)"


@pytest.mark.parametrize("theta", [-0.1, float("nan"), float("inf"), 1e6])
def test_theta_out_of_range(theta: float) -> None:
    with pytest.raises(ValueError, match="theta should be from 0 to 1e5, got"):
        pathology.HEDJitter(theta)


@pytest.mark.parametrize("theta", ["0.1", None, True, (0.1, 0.2)])
def test_theta_of_another_type(theta: Any) -> None:
    with pytest.raises(TypeError, match="theta should be a number, got"):
        pathology.HEDJitter(theta)


OTHERS = {
    "gray": Image.new("L", (4, 4)),
    "alpha": Image.new("RGBA", (4, 4)),
    "palette": Image.new("P", (4, 4)),
    "a plane": np.zeros((4, 4), np.uint8),
    "four channels": np.zeros((4, 4, 4), np.uint8),
    "float array": np.zeros((4, 4, 3), np.float32),
    "float tensor": torch.zeros(3, 4, 4),
    "int64 tensor": torch.zeros(3, 4, 4, dtype=torch.int64),
    "gray tensor": torch.zeros(1, 4, 4, dtype=torch.uint8),
    "no pixel": torch.zeros(3, 0, 4, dtype=torch.uint8),
    "no image": "tile",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_images_before_drawing(name: str) -> None:
    state = torch.get_rng_state()
    for call in (pathology.HEDJitter(), T.Compose([pathology.HEDJitter()]), lambda image: F.adjust_hed(image, *PLAIN)):
        with pytest.raises(TypeError):
            call(OTHERS[name])
    assert torch.equal(torch.get_rng_state(), state)


def test_numbers_that_are_none() -> None:
    image = noise(4, 5)
    for number in (float("nan"), float("inf"), 2e6):
        with pytest.raises(ValueError, match=r"beta should be within 1e\+06 of zero, got"):
            F.adjust_hed(image, (1, 1, 1), (0, 0, number))
    with pytest.raises(ValueError, match="alpha should have three numbers"):
        F.adjust_hed(image, (1, 1), (0, 0, 0))
    for alpha in (1.0, "abc", (1, None, 1)):
        with pytest.raises(TypeError, match="alpha should be a sequence of numbers"):
            F.adjust_hed(image, alpha, (0, 0, 0))  # type: ignore[arg-type]
