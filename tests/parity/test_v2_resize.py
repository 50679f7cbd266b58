"""RESIZE by short weights against torchvision.transforms.v2's resize of uint8 tensors, bit by bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F

from fastaug import _C
from fastaug._draft.leaf import ImageDraft
from fastaug._program import resizing
from support.processes import OTHER_ISAS, python
from support.programs import execute
from support.resizes import TELLING, picture, random_resizes
from support.scale import cases
from support.versions import since
from tables.op_table import BICUBIC, BILINEAR, LANCZOS, SHORT_WEIGHTS, WIDTH_FIRST, Op

FILTERS = {
    **({LANCZOS: InterpolationMode.LANCZOS} if since(0, 27) else {}),
    BILINEAR: InterpolationMode.BILINEAR,
    BICUBIC: InterpolationMode.BICUBIC,
}


def resize(size: tuple[int, int], number: int) -> Op:
    return Op("RESIZE", size, flags=number | SHORT_WEIGHTS | WIDTH_FIRST)


def resized(image: np.ndarray, size: tuple[int, int], number: int) -> np.ndarray:
    """Of one channel after the other for a single pixel, where torch 2.14 fails on three."""
    tensor = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))
    if size == (1, 1):
        tensor = tensor[:, None]
    result = F.resize(tensor, list(size), FILTERS[number], antialias=True)
    return np.asarray(result.reshape(image.shape[2], *size).permute(1, 2, 0).numpy())


def test_the_draft_of_a_tensor_has_it() -> None:
    for number in FILTERS:
        draft = ImageDraft(torch.zeros(3, 50, 60, dtype=torch.uint8))
        if not draft.core.resize(40, 37, number, False, True):
            assert draft.core.ops == (resize((40, 37), number).pack(),)
        else:  # torch resizes in floats here
            assert number == BILINEAR and not resizing.in_bytes()


def assert_same(image: np.ndarray, size: tuple[int, int], number: int, **options: object) -> None:
    expected = resized(image, size, number)
    found = execute([resize(size, number)], image, **options)  # type: ignore[arg-type]
    assert np.array_equal(found, expected), (image.shape, size, number, int((found != expected).sum()))


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("most", [9, 40, 300])
def test_random_sizes(most: int, number: int) -> None:
    rng = random.Random(most + number)
    for image, size in random_resizes(rng, most, cases(9000 // most + 100)):
        assert_same(image, size, number)
        assert_same(image, size, number, plain=True)


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize(("before", "after"), [*TELLING, ((3, 9001), (2, 2)), ((9001, 3), (2, 2)), ((64, 20), (1, 1))])
def test_telling_sizes(before: tuple[int, int], after: tuple[int, int], number: int) -> None:
    rng = random.Random(1)
    for channels in (1, 3, 4):
        assert_same(picture(rng, *before, channels), after, number)


@pytest.mark.parametrize("number", FILTERS)
def test_weights_of_long_axes(number: int) -> None:
    """From 14 bits where nothing is shrunk to 22, more than which no weights get."""
    rng = random.Random(5)
    for _ in range(40):
        before, after = rng.randint(1000, 70_000), round(10 ** rng.uniform(0, 4))
        image = picture(rng, 1, before, 1)
        assert_same(image, (1, after), number)
        assert_same(np.ascontiguousarray(image.repeat(2, 2).transpose(1, 0, 2)), (after, 1), number)


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("times", [2, 3, 4, 8, 10, 16, 24])
def test_ties_at_whole_ratios_of_sizes(times: int, number: int) -> None:
    """Weights are fractions of one number, so that many sums lie in the middle between two bytes, and some weights in
    the middle between two integers."""
    rng = random.Random(times)
    for _ in range(6):
        small = picture(rng, 12, 17, 1)
        assert_same(small, (12 * times, 17 * times), number)
        image = picture(rng, 12 * times, 17 * times, 1)
        for size in ((12, 17), (12 * times, 17), (12, 17 * times)):
            assert_same(image, size, number)


@pytest.mark.parametrize("number", FILTERS)
def test_layouts(number: int) -> None:
    rng = random.Random(3)
    for channels in (1, 2, 3, 4):
        image = picture(rng, 61, 83, channels)
        expected = resized(image, (40, 37), number)
        planar = np.ascontiguousarray(image.transpose(2, 0, 1))
        pixels = np.zeros((61, 83, 4), np.uint8)  # as Pillow keeps them
        pixels[..., :channels] = image
        for view in (image, planar.transpose(1, 2, 0), image.repeat(2, 1)[:, ::2], image[::-1].copy()[::-1], pixels):
            for flat in (False, True):
                found = execute([resize((40, 37), number)], view[..., :channels], planar=flat)
                assert np.array_equal(found, expected)


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_torch_gives_one_answer(channels: int, number: int) -> None:
    """Whatever the tensor's axes and strides are."""
    rng = random.Random(number)
    for _ in range(20):
        height, width, *size = (rng.randint(2, 40) for _ in range(4))
        images = [picture(rng, height, width, channels) for _ in range(2)]
        batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
        wanted = torch.from_numpy(np.stack([execute([resize((size[0], size[1]), number)], x) for x in images]))
        for view in (batch, batch.contiguous(), batch[:, None], batch[:1], batch[0]):
            found = F.resize(view, size, FILTERS[number], antialias=True)
            rest = found.reshape(-1, channels, *size)
            assert torch.equal(rest, wanted.permute(0, 3, 1, 2)[: len(rest)])


@pytest.mark.parametrize("number", FILTERS)
def test_crops_see_the_weights_of_the_whole(number: int) -> None:
    rng = random.Random(4)
    for _ in range(40):
        image = picture(rng, rng.randint(1, 90), rng.randint(1, 90), 3)
        size = (rng.randint(2, 120), rng.randint(2, 120))
        whole = resized(image, size, number)
        top, left = rng.randrange(size[0]), rng.randrange(size[1])
        height, width = rng.randint(1, size[0] - top), rng.randint(1, size[1] - left)
        found = execute([resize(size, number), Op("WINDOW", (top, left, height, width))], image)
        assert np.array_equal(found, whole[top : top + height, left : left + width])


def test_fast_mode_keeps_its_contract() -> None:
    """A crop, two bilinear resizes and a flip are one filter there (docs/notes/design/fast-mode.md)."""
    rng = random.Random(6)
    differ = False
    for _ in range(20):
        image = picture(rng, rng.randint(60, 200), rng.randint(60, 200), 3)
        program = [
            Op("WINDOW", (5, 6, 50, 48)),
            resize((rng.randint(20, 300), rng.randint(20, 300)), BILINEAR),
            resize((40, 30), BILINEAR),
            Op("HFLIP"),
        ]
        wanted, found = (execute(program, image, rewrites=rewrites) for rewrites in (_C.EXACT, _C.FAST))
        error = np.mean((wanted.astype(float) - found) ** 2)
        assert error < 255**2 / 10**5
        differ = differ or error > 0
    assert differ


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_every_instruction_set(isa: str) -> None:
    done = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "telling or crops"], isa=isa)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
