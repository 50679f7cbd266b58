"""Ops of torchvision.transforms.v2 against its functions on uint8 tensors, bit by bit, and its blur."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import functional as F

from fastaug import _C
from fastaug._program import ops
from support.images import SIZES, noise, photo
from support.processes import OTHER_ISAS, python
from support.programs import execute
from support.scale import share
from tables.op_table import Op

FACTORS = (0.0, 0.1, 0.3, 0.5, 0.73, 1.0, 1 + 1e-9, 1.1, 1.27, 1.9, 2.0, 3.3, 17.0)


def tensors(image: np.ndarray) -> list[torch.Tensor]:
    """The same samples in planes and in pixels."""
    pixels = torch.from_numpy(image).permute(2, 0, 1)
    return [pixels.contiguous(), pixels]


def images(channels: int) -> Iterator[np.ndarray]:
    for seed, (height, width) in enumerate((*SIZES, (2, 9), (3, 3), (3, 50), (67, 3))):
        yield noise(height, width, channels, seed)
    for height, width in ((96, 131), (101, 67)):
        yield np.asarray(photo("chelsea", height, width))[:, :, :channels].copy()


def assert_same(op: Op, image: np.ndarray, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    found = execute([op], image)
    for tensor in tensors(image):
        expected = change(tensor).permute(1, 2, 0).numpy()
        assert np.array_equal(found, expected), (op, image.shape, tensor.stride())


@pytest.mark.parametrize(
    ("name", "function", "counts"),
    [
        ("V2_CONTRAST", "adjust_contrast", (1, 3)),
        ("V2_SATURATION", "adjust_saturation", (3,)),
        ("V2_SHARPNESS", "adjust_sharpness", (1, 3)),
    ],
)
def test_factors(name: str, function: str, counts: tuple[int, ...]) -> None:
    rng = random.Random(name)
    for channels in counts:
        for image in images(channels):
            for factor in (*FACTORS, rng.uniform(0, 3)):
                assert_same(
                    Op(name, f=(factor,)), image, lambda tensor, factor=factor: getattr(F, function)(tensor, factor)
                )


def test_hues() -> None:
    rng = random.Random(2)
    for image in images(3):
        for factor in (-0.5, -0.1, 0.0, 0.1, 0.5, rng.uniform(-0.5, 0.5)):
            assert_same(Op("V2_HUE", f=(factor,)), image, lambda tensor, factor=factor: F.adjust_hue(tensor, factor))


def test_luma() -> None:
    for image in images(3):
        assert_same(Op("V2_LUMA"), image, F.rgb_to_grayscale)


def test_autocontrast_of_images() -> None:
    for channels in (1, 3):
        for image in images(channels):
            assert_same(Op("V2_AUTOCONTRAST"), image, F.autocontrast)


def test_autocontrast_of_every_range() -> None:
    for low, high in share(itertools.combinations_with_replacement(range(256), 2), "ranges"):
        ramp = np.arange(low, high + 1, dtype=np.uint8).reshape(1, -1, 1)
        expected = F.autocontrast(torch.from_numpy(ramp).permute(2, 0, 1)).permute(1, 2, 0).numpy()
        assert np.array_equal(execute([Op("V2_AUTOCONTRAST")], ramp), expected), (low, high)


def test_permutations() -> None:
    for channels in (1, 2, 3, 4):
        for order in itertools.permutations(range(channels)):
            for size in ((1, 1), (5, 7), (3, 130)):
                image = noise(*size, channels, 7)
                assert_same(Op("V2_PERMUTE", order), image, lambda x, order=order: F.permute_channels(x, list(order)))
            assert ops.v2_permute(order) == Op("V2_PERMUTE", (*order, *range(channels, 4))).pack()


def test_what_is_no_permutation() -> None:
    image = noise(4, 5, 3, 1)
    for order in ((0, 1, 1), (1, 2, 3), (-1, 0, 1)):
        with pytest.raises(ValueError, match=f"V2_PERMUTE: each of 3 channels must occur once, got {order[0]} "):
            execute([Op("V2_PERMUTE", order)], image)


def test_shares_of_255() -> None:
    """Before NORMALIZE too, whatever divides there, and in narrower floats."""
    rng = random.Random(4)
    ramp = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    shares = F.to_dtype(torch.from_numpy(ramp).permute(2, 0, 1), torch.float32, scale=True)
    assert np.array_equal(execute([Op("V2_TO_FLOAT")], ramp), shares.permute(1, 2, 0).numpy())
    assert not np.array_equal(execute([Op("V2_TO_FLOAT")], ramp), execute([Op("TO_FLOAT")], ramp))
    cases = [([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), ([0.0, 1e-30, 3e5], [1.0, 1e-38, 1e38])]
    cases += [([rng.uniform(0, 1) for _ in "RGB"], [rng.uniform(0.01, 2) for _ in "RGB"]) for _ in range(200)]
    for mean, std in cases:
        normalize = Op("NORMALIZE", f=(*mean, 0.0, *std, 1.0))
        expected = F.normalize(shares, mean, std).permute(1, 2, 0).numpy()
        for planar in (False, True):
            assert np.array_equal(execute([Op("V2_TO_FLOAT"), normalize], ramp, planar=planar), expected), (mean, std)
        assert np.array_equal(execute([Op("HFLIP"), Op("V2_TO_FLOAT"), normalize], ramp), expected[:, ::-1])


def test_packers() -> None:
    for name in ("V2_CONTRAST", "V2_SATURATION", "V2_SHARPNESS"):
        assert ops.by_factor(name, 0.3) == Op(name, f=(0.3,)).pack()
        assert ops.by_factor(name, 0.3, ops.HAS_ALPHA) == Op(name, f=(0.3,), flags=ops.HAS_ALPHA).pack()
    for name in ("V2_LUMA", "V2_AUTOCONTRAST", "V2_TO_FLOAT"):
        assert ops.plain(name) == Op(name).pack()


def blurred(image: np.ndarray, size: tuple[int, int], sigma: tuple[float, float]) -> np.ndarray | None:
    draft = _C.Draft()
    draft.begin_with(tensors(image)[0])
    draft.v2 = True
    if draft.gaussian_blur(size, sigma):
        return None
    op = draft.program(0)
    result = np.empty_like(image)
    target = _C.into_pointer(result.ctypes.data, 0, *image.shape, *result.strides[:1], result.shape[2], 1, result)
    _C.run([(op, _C.from_array(image), target)])
    return result


def test_blur() -> None:
    rng = random.Random(5)
    done = 0
    for trial in range(250):
        channels = rng.choice([1, 3])
        height, width = rng.randint(12, 80), rng.randint(12, 80)
        image = noise(height, width, channels, trial)
        if trial % 2:
            image = np.asarray(photo("astronaut", height, width))[:, :, :channels].copy()
        size = rng.choice([1, 3, 5, 9, 15, 23]), rng.choice([1, 3, 5, 9, 15, 23])
        size = size[0] if trial % 3 else size[1], size[1]
        sigma = rng.choice([rng.uniform(0.1, 5), 0.5, 1.5, 2.0]), rng.uniform(0.1, 5)
        found = blurred(image, size, sigma)
        if found is None:
            continue
        done += 1
        expected = F.gaussian_blur(tensors(image)[0], list(size), list(sigma)).permute(1, 2, 0).numpy()
        assert np.array_equal(found, expected), (image.shape, size, sigma)
        if channels == 3:
            of_pil = F.gaussian_blur(F.to_pil_image(image), list(size), list(sigma))
            assert np.array_equal(found, np.asarray(of_pil)), (image.shape, size, sigma)
    assert done > 100  # the others are left to torch, more of them on some processors


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_each_instruction_set(isa: str) -> None:
    chosen = "factors or hues or luma or autocontrast_of_images or permutations or shares"
    done = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", chosen], isa=isa)
    assert done.returncode == 0, done.stdout[-2000:]
