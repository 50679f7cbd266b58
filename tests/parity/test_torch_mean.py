"""TORCH_CONTRAST on images whose mean torch adds up in float32 beyond 2^24, where the order of the additions shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchvision.transforms import _functional_tensor as tensor_functional

from support.programs import execute
from tables.op_table import Op

#: Heights and widths: rows and vectors that end early, whole chunks of torch's sum, one row, one column.
SIZES = (
    *((257, 257), (256, 257), (512, 512), (513, 511), (301, 1007), (731, 333), (1024, 1024), (1, 400_003)),
    *((300_007, 1), (64, 4096), (4096, 65), (4111, 4101)),
)
#: How the image comes to be what its mean is of: ops, and what torch does.
BEFORE = {
    "nothing": ((), lambda x: x),
    "left to right": ((Op("HFLIP"),), lambda x: x.flip(-1)),
    "upside down": ((Op("VFLIP"),), lambda x: x.flip(-2)),
    "turned": ((Op("ROT90", flags=1),), lambda x: torch.rot90(x, 1, (1, 2)).contiguous()),
}


def images(height: int, width: int, channels: int) -> list[np.ndarray]:
    rng = np.random.default_rng(height * width)
    shape = (height, width, channels)
    return [rng.integers(0, 256, shape, dtype=np.uint8), rng.choice(np.array([253, 254, 255], np.uint8), shape)]


def check(ops: list[Op], image: np.ndarray, expected: torch.Tensor) -> None:
    for plain in (False, True):
        result = execute(ops, image, plain=plain)
        assert np.array_equal(result, expected.permute(1, 2, 0).numpy()), (ops, image.shape, plain)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_mean_of_many_pixels(height: int, width: int, channels: int) -> None:
    for image in images(height, width, channels):
        tensor = torch.from_numpy(image.transpose(2, 0, 1).copy())
        for factor in (0.0, 0.731, 1.9):
            expected = tensor_functional.adjust_contrast(tensor, factor)
            check([Op("TORCH_CONTRAST", f=(factor,))], image, expected)


@pytest.mark.parametrize("before", BEFORE)
def test_mean_is_of_the_image_as_it_is_at_that_point(before: str) -> None:
    ops, change = BEFORE[before]
    contrast = Op("TORCH_CONTRAST", f=(0.731,))
    for height, width in ((301, 407), (512, 640)):
        for image in images(height, width, 3):
            tensor = change(torch.from_numpy(image.transpose(2, 0, 1).copy()))
            expected = tensor_functional.adjust_contrast(tensor, 0.731)
            check([*ops, contrast], image, expected)
            check([*ops, contrast, Op("HFLIP")], image, expected.flip(-1))
            cropped = tensor_functional.adjust_contrast(tensor[:, 3:-6, 5:-2], 0.731)
            window = Op("WINDOW", (3, 5, tensor.shape[1] - 9, tensor.shape[2] - 7))
            check([*ops, window, contrast], image, cropped)
