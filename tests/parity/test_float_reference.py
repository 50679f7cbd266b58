"""The float64 reference of fast mode against what else computes without rounding: Pillow on float images, colorsys."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
from bench.chains import CHAINS, Chain
from bench.quality import distance, levels, reference
from fastaug._inspect.float64 import planes
from support.differences import grouped
from support.images import photo

MODES = TV.InterpolationMode
#: Pillow keeps float images in float32.
SINGLE = 2e-3


def unrounded(transform: Any, image: Any) -> np.ndarray:
    """Return what one of torchvision's transforms gives in float64."""
    return reference(fastaug.compile(transform), image)


def bands(image: Image.Image, transform: Callable[[Any], Any], seed: int) -> np.ndarray:
    """`transform` of each band as a float image, whose samples Pillow neither rounds nor clips."""
    results = []
    for band in image.split():
        torch.manual_seed(seed)
        results.append(np.asarray(transform(band.convert("F"))))
    return np.stack(results)


GEOMETRY = {
    **{
        f"resize {mode.value} {size}": TV.Resize(size, mode)
        for mode in (MODES.BILINEAR, MODES.BICUBIC, MODES.LANCZOS, MODES.NEAREST)
        for size in ((40, 33), (150, 211), (101, 30), (7, 300))
    },
    **{
        f"{name} {mode.value}": make(mode)
        for mode in (MODES.NEAREST, MODES.BILINEAR, MODES.BICUBIC)
        for name, make in {
            "rotate": lambda mode: TV.RandomRotation(180, mode),
            "rotate, expanded": lambda mode: TV.RandomRotation((20, 60), mode, expand=True, fill=77),
            "rotate about a point": lambda mode: TV.RandomRotation(90, mode, center=(3, 50)),
            "affine": lambda mode: TV.RandomAffine(30, (0.2, 0.1), (0.6, 1.5), (-20, 20, -9, 9), mode, fill=9),
            "perspective": lambda mode: TV.RandomPerspective(0.6, 1.0, mode, fill=120),
        }.items()
    },
    **{f"turn {angle}": TV.RandomRotation((angle, angle), expand=True) for angle in (90, 180, 270, 0)},
    "crop beyond": TV.CenterCrop((140, 61)),
    "random resized crop": TV.RandomResizedCrop(64, scale=(0.3, 1.4)),
    "flips": TV.Compose([TV.RandomHorizontalFlip(), TV.RandomVerticalFlip()]),
}


@grouped(GEOMETRY)
def test_geometry(name: str) -> None:
    image = photo("coffee", 97, 121)
    # Away from the ends of the range, where cubic filters overshoot and Pillow clips bytes, but not floats.
    image = image.point(lambda value: 80 + value // 3)
    for seed in range(4):
        expected = bands(image, GEOMETRY[name], seed)
        torch.manual_seed(seed)
        result = unrounded(GEOMETRY[name], image)
        assert result.shape == expected.shape
        assert np.abs(result - expected).max() < SINGLE


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_pad_is_exact(mode: str) -> None:
    transform, image = TV.Pad([3, 4, 5, 6], (9, 200, 31), mode), photo("coffee", 40, 31)
    assert np.array_equal(unrounded(transform, image), planes(transform(image)))


def test_cubic_filters_clip_as_on_bytes() -> None:
    pixels = np.zeros((1, 20, 20), np.float64)
    pixels[:, 5:9, 3:12] = 255
    for transform in (TV.Resize(55, MODES.BICUBIC), TV.Resize(13, MODES.LANCZOS), TV.RandomRotation(40, MODES.BICUBIC)):
        result = unrounded(transform, Image.fromarray(pixels[0].astype(np.uint8)))
        assert result.min() == 0 and result.max() <= 255


@pytest.mark.parametrize("factor", [-0.5, -0.13, 0.0, 0.02, 0.31, 0.5])
def test_hue_is_colorsys(factor: float) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (3, 20, 20)).astype(np.float64)
    pixels[:, 0] = pixels[:1, 0]
    image = Image.fromarray(np.ascontiguousarray(np.moveaxis(pixels, 0, 2), np.uint8))
    turned = unrounded(TV.ColorJitter(hue=(factor, factor)), image)
    for y, x in np.ndindex(20, 20):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixels[:, y, x] / 255))
        expected = colorsys.hsv_to_rgb((hue + factor) % 1, saturation, value)
        assert np.allclose(turned[:, y, x], np.multiply(expected, 255), atol=1e-9)


@pytest.mark.parametrize(
    ("transform", "levels_apart"),
    [
        (TV.RandomSolarize(35, 1.0), 0.0),
        # Pillow truncates; what it smooths it rounds before it extrapolates.
        (TV.RandomAutocontrast(1.0), 1.0),
        (TV.RandomAdjustSharpness(0.3, 1.0), 1.4),
        (TV.RandomAdjustSharpness(1.7, 1.0), 1.4),
    ],
    ids=["solarize", "autocontrast", "blurred", "sharpened"],
)
def test_ops_of_automatic_augmentation(transform: Any, levels_apart: float) -> None:
    image = photo("coffee", 61, 47).point(lambda value: 20 + value // 2)
    expected = planes(transform(image))
    assert not np.array_equal(expected, planes(image))
    assert np.abs(unrounded(transform, image) - expected).max() <= levels_apart


def steps_of(transform: Any) -> list[Any]:
    return [step for outer in transform.transforms for step in getattr(outer, "transforms", [outer])]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)
def test_draws_as_torchvision_and_stays_near_it(chain: Chain) -> None:
    """Each step rounds or truncates by less than a level; colours, whose hue has 8 bits, go further."""
    transform = chain.transform(0.25)
    image: Any = photo("chelsea", 256, 256) if chain.pictures == "tiles" else photo("chelsea", 94, 125)
    given = np.asarray(image) if chain.pictures == "tiles" else image
    torch.manual_seed(11)
    theirs = transform(given)
    state = torch.get_rng_state()
    torch.manual_seed(11)
    ours = unrounded(transform, given)
    assert torch.equal(torch.get_rng_state(), state)
    one, other = (levels(samples, transform) for samples in (ours, planes(theirs)))
    assert one.shape == other.shape
    assert distance(one, other).psnr > (40 if any(isinstance(s, TV.ColorJitter) for s in steps_of(transform)) else 48)
