"""Every colour there is, through the operations that see one pixel at a time."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from torchvision.transforms import functional as reference

from fastaug.transforms import functional
from support.programs import execute
from support.programs import reference as by_reference
from tables.op_table import Op


@pytest.fixture(scope="module")
def colours() -> Image.Image:
    """All 2^24 colours, once each."""
    codes = np.arange(1 << 24, dtype=np.uint32)
    cube = np.stack([codes & 255, codes >> 8 & 255, codes >> 16], axis=-1).astype(np.uint8)
    return Image.fromarray(cube.reshape(4096, 4096, 3))


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


@pytest.mark.parametrize("name", ["TORCH_SATURATION", "TORCH_CONTRAST"])
@pytest.mark.parametrize("factor", [0.1, 0.73, 1.27, 1.9])
def test_every_colour_of_a_tensor(colours: Image.Image, name: str, factor: float) -> None:
    """The arithmetic that AugMix needs; of a contrast few colours, whose mean torch knows exactly."""
    step = 64 if name == "TORCH_CONTRAST" else 1
    pixels = np.asarray(colours)[::step, ::step]
    op = Op(name, f=(factor,))
    assert np.array_equal(execute([op], pixels), by_reference([op], pixels))
