"""Warps of uint8 tensors by the native core equal torchvision's functions on tensors, and its v2's, bit for bit."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch
import torchvision.transforms.functional as F
from torchvision.transforms import InterpolationMode
from torchvision.transforms import _functional_tensor as tensor_functional
from torchvision.transforms.v2 import functional as F2
from torchvision.transforms.v2.functional import _geometry as v2_geometry

from fastaug import _C
from fastaug._fallback.rounding import fuses_products
from fastaug._program import arguments, fields, matrices, ops
from fastaug._program.borrow import borrow_tensor, tensor_target
from support.images import noise, photo, to_chw
from support.scale import cases

SIDES = (1, 2, 3, 5, 7, 16, 17, 33, 64, 65, 100, 131)
MODES = {InterpolationMode.NEAREST: 0, InterpolationMode.BILINEAR: 2}


def image_of(rng: random.Random) -> torch.Tensor:
    height, width = rng.choice(SIDES), rng.choice(SIDES)
    channels = rng.choice([1, 3, 3, 2, 4])
    if channels == 3 and rng.random() < 0.5:
        return to_chw(photo(height=height, width=width))
    array = torch.from_numpy(noise(height, width, channels, rng.randrange(1000)))
    planar = array.permute(2, 0, 1)
    return planar if rng.random() < 0.3 else planar.contiguous()


def fill_of(rng: random.Random, channels: int) -> Any:
    """None, or one of the fills that torch takes: a number, of one kind or the other, or a list."""
    kind = rng.randrange(5)
    if kind == 0:
        return None
    if kind == 1:
        return rng.choice([0, 255, rng.randrange(256), rng.uniform(0, 255), 127.5])
    if kind == 2:
        return [rng.choice([7, 7.25])]
    if kind == 3:
        return [rng.choice([0, 255, rng.randrange(256)]) for _ in range(channels)]
    return [rng.choice([0.5, 255.0, rng.uniform(0, 255)]) for _ in range(channels)]


def flags_of(mode: InterpolationMode, fill: Any, v2: bool) -> int:
    filled = 0 if fill is None else ops.FILLED | (ops.V2_FILL if v2 else 0)
    return MODES[mode] | fuses_products() | filled


def packed(fill: Any, channels: int) -> bytes | Sequence[float]:
    if fill is None:
        return ops.NO_FILL
    values = arguments.grid_fill(fill, channels)
    assert values is not None
    return values


def run(program: bytes, image: torch.Tensor, height: int, width: int) -> torch.Tensor:
    result = torch.empty((image.shape[0], height, width), dtype=torch.uint8)
    _C.run([(program, borrow_tensor(image), tensor_target(result))])
    return result


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("block", range(cases(8)))
def test_rotations(block: int, v2: bool) -> None:
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(seed)
        image = image_of(rng)
        channels, height, width = image.shape
        angle = rng.choice([0.0, 90.0, 180.0, 45, rng.uniform(-360, 360), rng.uniform(-3, 3)])
        centre = rng.choice([None, [0, 0], [rng.uniform(-9, width), rng.uniform(-9, height)]])
        expand = rng.random() < 0.6
        mode, fill = rng.choice(list(MODES)), fill_of(rng, channels)
        expected = (F2 if v2 else F).rotate(image, angle, mode, expand, centre, fill)
        matrix = matrices.rotation_matrix(height, width, angle, centre)
        size = matrices.size_around(matrix, height, width, v2) if expand else (height, width)
        program = ops.torch_affine(*size, flags_of(mode, fill, v2), matrix, packed(fill, channels))
        if v2 and centre is None and (angle % 180 == 0 or (angle % 90 == 0 and (expand or height == width))):
            program = ops.ROT90.get(int(angle % 360), b"")  # whatever the interpolation
            size = (width, height) if angle % 180 else (height, width)
        assert torch.equal(run(program, image, *size), expected), seed


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("block", range(cases(8)))
def test_affine_maps(block: int, v2: bool) -> None:
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(1000 + seed)
        image = image_of(rng)
        channels, height, width = image.shape
        angle = rng.choice([0.0, 90.0, rng.uniform(-360, 360)])
        shift = [rng.randint(-width, width), rng.randint(-height, height)] if rng.random() < 0.5 else [0, 0]
        scale = rng.choice([1.0, rng.uniform(0.2, 3.0)])
        shear = [rng.choice([0.0, rng.uniform(-60, 60)]), rng.choice([0.0, rng.uniform(-60, 60)])]
        centre = rng.choice([None, [0, 0], [rng.randint(-9, width), rng.randint(-9, height)]])
        mode, fill = rng.choice(list(MODES)), fill_of(rng, channels)
        expected = (F2 if v2 else F).affine(image, angle, shift, scale, shear, mode, fill, centre)
        matrix = matrices.affine_matrix(height, width, angle, shift, scale, shear, centre)
        program = ops.torch_affine(height, width, flags_of(mode, fill, v2), matrix, packed(fill, channels))
        assert torch.equal(run(program, image, height, width), expected), seed


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("block", range(cases(4)))
def test_size_around_a_rotation(block: int, v2: bool) -> None:
    rng = random.Random(block)
    size_of = v2_geometry._compute_affine_output_size if v2 else tensor_functional._compute_affine_output_size
    sure = 0
    for _ in range(2500):
        height, width = (rng.choice([rng.randint(1, 40), rng.randint(1, 1200), rng.randint(1, 9000)]) for _ in "hw")
        angle = rng.choice([rng.uniform(-360, 360), float(rng.randint(-360, 360)), rng.uniform(-0.1, 0.1), 90.0])
        centre = None if rng.random() < 0.7 else [rng.uniform(-width, 2 * width), float(rng.randint(0, height))]
        matrix = matrices.rotation_matrix(height, width, angle, centre)
        expected = size_of(matrix, width, height)[::-1]
        assert matrices.size_around(matrix, height, width, v2) == expected, (height, width, angle, centre)
        sure += matrices._sure_size_around(matrix, height, width) is not None
    assert sure > 1000


def test_sizes_that_v2_rounds_otherwise() -> None:
    for height, width, angle, expected in ((19, 734, 0.00035007244595482157, (21, 734)), (1, 697, 0.0081683, (3, 697))):
        matrix = matrices.rotation_matrix(height, width, angle, None)
        assert v2_geometry._compute_affine_output_size(matrix, width, height) == expected[::-1]
        assert matrices.size_around(matrix, height, width, True) == expected
        assert matrices.size_around(matrix, height, width) == (expected[0], expected[1] + 1)


def corners_of(rng: random.Random, height: int, width: int) -> list[list[int]]:
    """Four corners as RandomPerspective draws them, or anywhere around."""
    half_width, half_height = width // 2, height // 2
    low_x, low_y = rng.choice([(0, 0), (-half_width, -half_height)])
    left, right = (low_x, half_width), (width - half_width - 1, width - 1 - low_x)
    top, bottom = (low_y, half_height), (height - half_height - 1, height - 1 - low_y)
    return [[rng.randint(*x), rng.randint(*y)] for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("block", range(cases(8)))
def test_perspectives(block: int, v2: bool) -> None:
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(2000 + seed)
        image = image_of(rng)
        channels, height, width = image.shape
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        end = start if rng.random() < 0.1 else corners_of(rng, height, width)
        mode, fill = rng.choice(list(MODES)), fill_of(rng, channels)
        try:
            coefficients = matrices.perspective_coefficients(start, end)
        except torch.linalg.LinAlgError:  # three corners on a line
            coefficients = [rng.uniform(-2, 2) for _ in range(8)]
        if rng.random() < 0.1:  # a horizon
            coefficients[6:] = [rng.uniform(-3, 3) / width, rng.uniform(-3, 3) / height]
        if not all(map(math.isfinite, coefficients)):
            continue
        if v2:
            expected = F2.perspective(image, None, None, mode, fill, coefficients)
        else:
            expected = tensor_functional.perspective(image, coefficients, mode.value, fill)
        flags = flags_of(mode, fill, v2)
        program = ops.torch_perspective(height, width, flags, coefficients, packed(fill, channels))
        assert torch.equal(run(program, image, height, width), expected), seed


@pytest.mark.parametrize("v2", [False, True])
@pytest.mark.parametrize("block", range(cases(8)))
def test_elastic_transforms(block: int, v2: bool) -> None:
    """By displacements of any size, on tensors of any memory format, and on batches."""
    for seed in range(100 * block, 100 * block + 100):
        rng = random.Random(3000 + seed)
        torch.manual_seed(seed)
        height, width = rng.choice(SIDES), rng.choice(SIDES)
        channels = rng.choice([1, 3, 3, 2, 4, 5, 9])
        lead = rng.choice([(), (), (1,), (3,)])
        image = torch.randint(0, 256, (*lead, channels, height, width), dtype=torch.uint8)
        kind = rng.randrange(4)
        if kind == 1 and lead:
            image = image.contiguous(memory_format=torch.channels_last)
        elif kind == 2:
            image = image.flip(-1).repeat_interleave(2, -2)[..., ::2, :]
        elif kind == 3:
            image = image.movedim(-3, -1).contiguous().movedim(-1, -3)
        displacement = torch.rand(1, height, width, 2) * 2 - 1
        displacement *= rng.choice([0.0, 0.05, 0.3, 3.0])
        if rng.random() < 0.2:
            displacement.view(-1)[:: rng.randint(3, 50)] = rng.choice([math.nan, math.inf, -math.inf, 1e30])
        mode, fill = rng.choice(list(MODES)), fill_of(rng, channels)
        expected = (F2 if v2 else F).elastic_transform(image, displacement, mode, fill)
        colour = None if fill is None else packed(fill, channels)
        result = fields.displaced(image, displacement, mode is InterpolationMode.NEAREST, colour, v2)
        assert torch.equal(result, expected), seed
        assert result.stride() == expected.stride(), seed


def test_fills_that_are_left_to_torch() -> None:
    for fill in (-0.5, 255.5, math.nan, [1.0, 2.0], [1.0, 2.0, 300.0], "1"):
        assert arguments.grid_fill(fill, 3) is None
    assert arguments.grid_fill([1.0, 2.0, 3.0], 3) == bytes([1, 2, 3, 0])
    assert arguments.grid_fill((1.5,), 5) == (1.5,) * 5 + (0.0,) * 3
    matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    program = ops.torch_affine(4, 5, ops.FILLED, matrix, (0.0, 256.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="TORCH_AFFINE: the fill must be from 0 to 255, got 256"):
        run(program, torch.zeros(3, 4, 5, dtype=torch.uint8), 4, 5)
    program = ops.torch_perspective(4, 5, ops.FILLED, (*matrix, 0.0, 0.0), (math.nan, 0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="TORCH_PERSPECTIVE: the fill must be from 0 to 255, got nan"):
        run(program, torch.zeros(3, 4, 5, dtype=torch.uint8), 4, 5)


@pytest.mark.parametrize("v2", [False, True])
def test_translations_by_whole_pixels(v2: bool) -> None:
    """They become windows, up to sides at which torch's roundings of positions might show."""
    windows = 0
    for seed in range(300):
        rng = random.Random(4000 + seed)
        height, width = rng.choice(
            [(rng.randint(1, 2200), rng.randint(1, 4)), (rng.randint(1, 4), rng.randint(1, 2200))]
        )
        image = torch.from_numpy(noise(height, width, 3, seed)).permute(2, 0, 1).contiguous()
        shift = [rng.randint(-width - 2, width + 2), rng.randint(-height - 2, height + 2)]
        mode, fill = rng.choice(list(MODES)), fill_of(rng, 3)
        expected = (F2 if v2 else F).affine(image, 0.0, shift, 1.0, [0.0, 0.0], mode, fill)
        matrix = matrices.affine_matrix(height, width, 0.0, shift, 1.0, (0.0, 0.0), None)
        program = ops.torch_affine(height, width, flags_of(mode, fill, v2), matrix, packed(fill, 3))
        assert torch.equal(run(program, image, height, width), expected), seed
        windows += "TORCH_AFFINE" not in str(_C.plan(program, height, width, 3))
    assert 100 < windows < 300


@pytest.mark.parametrize("part", range(cases(4)))
def test_coefficients_of_the_core_are_those_of_torchs_solver(part: int) -> None:
    rng, sure = random.Random(part), 0
    for _ in range(500):
        width, height = rng.choice([(32, 32), (224, 224), (641, 480), (9, 1200), (50000, 3)])
        share = rng.choice([0.1, 0.5, 1.0])
        across, down = int(share * (width // 2)), int(share * (height // 2))
        starts = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moves = [(rng.randint(0, across), rng.randint(0, down)) for _ in starts]
        ends = [[abs(x - dx), abs(y - dy)] for (x, y), (dx, dy) in zip(starts, moves)]
        found = _C.sure_perspective(starts, ends)
        sure += found is not None
        try:
            expected = F._get_perspective_coeffs(starts, ends)
        except torch.linalg.LinAlgError:
            expected = None
        assert found is None or found == expected
    assert sure > 200
