"""Contrast of tensors whose mean torch adds up in float32 beyond 2^24, where the order of the additions shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torchvision.transforms import _functional_tensor as tensor_functional
from torchvision.transforms.v2 import functional as v2_functional

from fastaug import _C
from support.differences import each
from support.programs import execute
from tables.op_table import Op

#: Heights and widths: rows and vectors that end early, whole chunks of torch's sum, one row, one column.
SIZES = (
    *((257, 257), (256, 257), (512, 512), (513, 511), (301, 1007), (731, 333), (1024, 1024), (1, 400_003)),
    *((300_007, 1), (64, 4096), (4096, 65)),
)
#: Torchvision's functions of each op.
FUNCTIONS: dict[str, Any] = {"TORCH_CONTRAST": tensor_functional, "V2_CONTRAST": v2_functional}
#: How the image comes to be what its mean is of: ops, and what torch does.
BEFORE = {
    "nothing": ((), lambda x: x),
    "left to right": ((Op("HFLIP"),), lambda x: x.flip(-1)),
    "upside down": ((Op("VFLIP"),), lambda x: x.flip(-2)),
    "turned": ((Op("ROT90", flags=1),), lambda x: torch.rot90(x, 1, (1, 2)).contiguous()),
    "cropped": ((Op("WINDOW", (3, 5, 290, 391)),), lambda x: x[:, 3:293, 5:396]),
}


def images(height: int, width: int, channels: int) -> list[np.ndarray]:
    rng = np.random.default_rng(height * width)
    shape = (height, width, channels)
    return [rng.integers(0, 256, shape, dtype=np.uint8), rng.choice(np.array([253, 254, 255], np.uint8), shape)]


def as_tensor(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image.transpose(2, 0, 1).copy())


def check(
    name: str, before: tuple[Op, ...], image: np.ndarray, expected: torch.Tensor, behind: tuple[Op, ...] = ()
) -> None:
    """`expected`: what torch has where its mean is taken."""
    functional = FUNCTIONS[name]
    # In fast mode a contrast by next to nothing stores the mean itself, as a share of 255: below 0, so that it is
    # computed in float32, not in 16 bits.
    gray = functional.rgb_to_grayscale(expected)
    mean = torch.mean(gray.to(torch.float32), dim=(-3, -2, -1))
    ops = [*before, Op(name, f=(-1e-30,)), *behind, Op("TO_FLOAT")]
    # Vector kernels store by a product.
    stored = mean / 255 if _C.isa() == "scalar" else mean * np.float32(1 / 255)
    floats = _C.EXACT | _C.REWRITES["float_colour"]
    assert (execute(ops, image, rewrites=floats) == stored.numpy()).all()
    for factor in (0.731, 1.9):
        ops = [*before, Op(name, f=(factor,))]
        adjusted = functional.adjust_contrast(expected, factor).permute(1, 2, 0).numpy()
        for plain in (False, True):
            assert np.array_equal(execute(ops, image, plain=plain), adjusted)


@pytest.mark.parametrize("name", FUNCTIONS)
@each("channels", [1, 3])
@each(("height", "width"), SIZES)
def test_mean_of_many_pixels(name: str, height: int, width: int, channels: int) -> None:
    for image in images(height, width, channels):
        check(name, (), image, as_tensor(image))


@pytest.mark.main
@pytest.mark.parametrize("name", FUNCTIONS)
@each("channels", [1, 3])
def test_mean_of_millions_of_pixels(name: str, channels: int) -> None:
    for image in images(4111, 4101, channels):
        check(name, (), image, as_tensor(image))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("before", BEFORE)
def test_mean_is_of_the_image_as_it_is_at_that_point(name: str, before: str) -> None:
    ops, change = BEFORE[before]
    for height, width in ((301, 407), (512, 640), (297, 400)):
        for image in images(height, width, 3):
            tensor = change(as_tensor(image))
            check(name, ops, image, tensor)
            check(name, ops, image, tensor, (Op("HFLIP"), Op("VFLIP")))


@pytest.mark.parametrize("channels", [1, 3])
def test_v2_means_of_batches(channels: int) -> None:
    """torch adds up each image of a batch as if it were alone."""
    for height, width in ((17, 23), (257, 257), (301, 1007)):
        batch = torch.stack([as_tensor(image) for image in images(height, width, channels)])
        for tensor in (batch, batch.contiguous(memory_format=torch.channels_last), batch[None]):
            for factor in (0.0, 0.731, 1.9):
                adjusted = v2_functional.adjust_contrast(tensor, factor).reshape(batch.shape)
                for image, expected in zip(batch, adjusted, strict=True):
                    found = execute([Op("V2_CONTRAST", f=(factor,))], image.permute(1, 2, 0).numpy())
                    assert np.array_equal(found, expected.permute(1, 2, 0).numpy()), (tensor.stride(), factor)


def test_the_order_shows() -> None:
    """The images above tell torch's sum from a sum that is exact."""
    different = 0
    for height, width in SIZES:
        for image in images(height, width, 1):
            mean = torch.mean(as_tensor(image).to(torch.float32), dim=(-3, -2, -1)).numpy()
            different += mean != np.float32(image.sum(dtype=np.int64)) / np.float32(image.size)
    assert different > 4
