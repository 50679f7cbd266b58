"""Ops of Pillow's arithmetic that are also those of torchvision.transforms.v2 on uint8 tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor
from torchvision.transforms.v2 import functional as F

from fastaug import _C
from fastaug._program import arguments, ops
from fastaug._program.borrow import borrow_tensor, tensor_target
from support.images import SIZES, noise, photo
from support.processes import OTHER_ISAS, python

FACTORS = (0.0, 1e-9, 0.1, 0.3, 0.5, 0.73, 1.0, 1 + 1e-9, 1.1, 1.27, 1.9, 2.0, 3.3, 17.0, 1e30)
THRESHOLDS = (0, 1, 127, 128, 255, 0.0, 0.5, 127.5, 128.0000001, 254.9, 255.0)


def layouts(image: Tensor) -> list[Tensor]:
    """The same samples in planes, in pixels, transposed, and with gaps."""
    spread = image.repeat_interleave(2, -1)[..., ::2]
    return [
        image.contiguous(),
        image.movedim(-3, -1).contiguous().movedim(-1, -3),
        image.transpose(-1, -2).contiguous().transpose(-1, -2),
        spread,
    ]


def images() -> Iterator[Tensor]:
    for seed, (height, width) in enumerate((*SIZES, (2, 9), (3, 50), (67, 3))):
        for channels in (1, 3):
            yield torch.from_numpy(noise(height, width, channels, seed)).permute(2, 0, 1)
    for channels in (1, 3):
        for height, width in ((96, 131), (101, 67)):
            yield torch.from_numpy(np.asarray(photo("chelsea", height, width))[:, :, :channels].copy()).permute(2, 0, 1)


def done(program: bytes, image: Tensor) -> Tensor:
    """Of one image, or of each of a batch."""
    result = torch.empty(image.shape, dtype=torch.uint8)
    pairs = zip(image, result) if image.ndim > 3 else [(image, result)]
    _C.run([(program, borrow_tensor(one), tensor_target(other)) for one, other in pairs])
    return result


def check(program: bytes, image: Tensor, change: Callable[[Tensor], Tensor]) -> None:
    for tensor in layouts(image):
        assert torch.equal(done(program, tensor), change(tensor)), (image.shape, tensor.stride())


def test_brightness() -> None:
    rng = random.Random(1)
    for image in images():
        for factor in (*FACTORS, rng.uniform(0, 3)):
            check(ops.by_factor("BRIGHTNESS", factor), image, lambda x, factor=factor: F.adjust_brightness(x, factor))


def test_invert() -> None:
    for image in images():
        check(ops.plain("INVERT"), image, F.invert)


def test_posterize() -> None:
    for image in images():
        for bits in range(1, 9):
            check(ops.by_integer("POSTERIZE", bits), image, lambda x, bits=bits: F.posterize(x, bits))
        check(ops.by_factor("BRIGHTNESS", 0.0), image, lambda x: F.posterize(x, 0))


def solarize(threshold: float) -> bytes:
    """torch compares with a float of single precision."""
    return ops.by_factor("SOLARIZE", arguments.as_float32(threshold) if isinstance(threshold, float) else threshold)


def test_solarize() -> None:
    rng = random.Random(2)
    ramp = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16)
    drawn = [rng.uniform(0, 255) for _ in range(200)]
    near = [float(np.nextafter(np.float32(v), np.float32(w))) for v in range(1, 255) for w in (0, 255)]
    for threshold in (*THRESHOLDS, *range(256), *drawn, *near, *(v + 1e-9 for v in range(255))):
        check(solarize(threshold), ramp, lambda x, threshold=threshold: F.solarize(x, threshold))
    for image in images():
        for threshold in THRESHOLDS:
            check(solarize(threshold), image, lambda x, threshold=threshold: F.solarize(x, threshold))


def flat(rng: random.Random, channels: int, height: int, width: int) -> Tensor:
    """Few different samples, or a few among many that are equal: steps of an equalization that are zero or one."""
    values = torch.tensor(rng.sample(range(256), rng.choice([1, 2, 3, 40])), dtype=torch.uint8)
    image = values[torch.randint(0, len(values), (channels, height, width))]
    if rng.random() < 0.5:
        image = torch.where(torch.rand(image.shape) < 0.9, values[0], image)
    return image


def test_equalize() -> None:
    for image in images():
        check(ops.plain("EQUALIZE"), image, F.equalize)
    rng = random.Random(3)
    torch.manual_seed(3)
    for _ in range(300):
        height, width = (rng.choice([1, 2, 15, 16, 17, 40]) for _ in "hw")
        check(ops.plain("EQUALIZE"), flat(rng, rng.choice([1, 3]), height, width), F.equalize)


def test_batches() -> None:
    """Each image has a histogram of its own."""
    rng = random.Random(4)
    torch.manual_seed(4)
    for _ in range(60):
        height, width, channels = rng.choice([1, 17, 40]), rng.choice([1, 16, 33]), rng.choice([1, 3])
        drawn = [flat(rng, channels, height, width) for _ in range(3)]
        drawn.append(torch.randint(0, 256, (channels, height, width), dtype=torch.uint8))
        batch = torch.stack(drawn)
        for program, change in (
            (ops.plain("EQUALIZE"), F.equalize),
            (ops.plain("V2_AUTOCONTRAST"), F.autocontrast),
            (ops.plain("INVERT"), F.invert),
            (ops.by_factor("BRIGHTNESS", 1.3), lambda x: F.adjust_brightness(x, 1.3)),
        ):
            check(program, batch, change)


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_each_instruction_set(isa: str) -> None:
    chosen = "brightness or invert or posterize or solarize or equalize"
    run = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", chosen], isa=isa)
    assert run.returncode == 0, run.stdout[-2000:]
