"""Every colour there is, through the operations that see one pixel at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image
from torchvision.transforms import functional as reference

from fastaug.transforms import functional
from support.programs import execute
from support.programs import reference as by_reference
from support.scale import cases
from tables.op_table import Op


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.main), 7], ids=["all", "every seventh"])
def colours(request: pytest.FixtureRequest) -> Image.Image:
    """All 2^24 colours, or every seventh, in which all pairs of values of two channels are."""
    codes = np.arange(0, 1 << 24, request.param, dtype=np.uint32)
    codes = np.resize(codes, (math.ceil(len(codes) / 4096), 4096))
    return Image.fromarray(np.stack([codes & 255, codes >> 8 & 255, codes >> 16], axis=-1).astype(np.uint8))


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("adjust_hue", -0.37),
        ("adjust_hue", 0.013),
        ("adjust_hue", 0.5),
        ("adjust_saturation", 0.83),
        ("adjust_saturation", 1.71),
        ("adjust_contrast", 0.61),
        ("adjust_contrast", 1.13),
        ("adjust_brightness", 0.37),
        ("adjust_brightness", 1.29),
        ("to_grayscale", 1),
    ],
)
def test_every_colour(colours: Image.Image, name: str, argument: float) -> None:
    expected = getattr(reference, name)(colours, argument)
    result = getattr(functional, name)(colours, argument)
    assert result.mode == expected.mode
    assert np.array_equal(np.asarray(result), np.asarray(expected))


@pytest.mark.parametrize(
    "op",
    [
        *(Op("TORCH_SATURATION", f=(factor,)) for factor in (0.1, 0.73, 1.27, 1.9, 1 + 1e-9)),
        *(Op("TORCH_CONTRAST", f=(factor,)) for factor in (0.1, 0.73, 1.27, 1.9)),
        *(Op("TORCH_HUE", f=(factor,)) for factor in (-0.5, -0.0371, 0.0, 0.1, 0.33, 0.5)),
        Op("TORCH_LUMA"),
        Op("V2_LUMA"),
        *(Op("V2_CONTRAST", f=(factor,)) for factor in (0.1, 0.73, 1.27, 1.9)),
        *(Op("V2_SATURATION", f=(factor,)) for factor in (0.1, 0.73, 1.27, 1.9, 1 + 1e-9)),
        *(Op("V2_HUE", f=(factor,)) for factor in (-0.5, -0.0371, 0.0, 0.1, 0.33, 0.5)),
    ],
    ids=str,
)
def test_every_colour_of_a_tensor(colours: Image.Image, op: Op) -> None:
    """torchvision's arithmetic for tensors, a part of the colours at a time, unless it needs them all."""
    pixels = np.asarray(colours)
    result = execute([op], pixels)
    rows = len(pixels) if op.name in ("TORCH_CONTRAST", "V2_CONTRAST") else 512
    for top in range(0, len(pixels), rows):
        band = slice(top, top + rows)
        assert np.array_equal(result[band], by_reference([op], pixels[band]))


@pytest.mark.parametrize(
    ("name", "low", "high"), [("TORCH_HUE", -0.5, 0.5), ("V2_HUE", -0.5, 0.5), ("V2_SATURATION", 0.0, 3.0)]
)
def test_random_factors_of_a_tensor(name: str, low: float, high: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(cases(100)):
        factor = rng.uniform(low, high)
        pixels = rng.integers(0, 256, (64, 512, 3), dtype=np.uint8)
        op = Op(name, f=(factor,))
        assert np.array_equal(execute([op], pixels), by_reference([op], pixels)), factor
