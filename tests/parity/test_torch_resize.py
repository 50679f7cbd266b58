"""TORCH_RESIZE against torchvision's antialiased resize of uint8 tensors, bit by bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from torchvision.transforms import InterpolationMode
from torchvision.transforms import _functional_tensor as tensor_functional
from torchvision.transforms import functional as F

import fastaug
import fastaug.transforms as T
from fastaug import _C
from fastaug._program import ops, resizing
from support.processes import OTHER_ISAS, python
from support.programs import execute
from support.resizes import TELLING, picture, random_resizes
from support.scale import cases
from tables.op_table import BICUBIC, BILINEAR, Op, torch_resize

pytestmark = pytest.mark.skipif(
    not (resizing.follows(False) and resizing.follows(True)),
    reason="this torch adds in another order",
)

FILTERS = {BILINEAR: InterpolationMode.BILINEAR, BICUBIC: InterpolationMode.BICUBIC}


def resized(image: np.ndarray, size: tuple[int, int], number: int) -> np.ndarray:
    if size[1] == 1 and size[0] != image.shape[0]:
        return torch_resize(Op("TORCH_RESIZE", size, flags=number), image)  # see there
    tensor = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))
    return np.asarray(F.resize(tensor, list(size), FILTERS[number], antialias=True).permute(1, 2, 0).numpy())


def test_packer() -> None:
    assert ops.torch_resize(40, 37, BICUBIC) == Op("TORCH_RESIZE", (40, 37), flags=BICUBIC).pack()


def assert_same(image: np.ndarray, size: tuple[int, int], number: int, **options: object) -> None:
    expected = resized(image, size, number)
    found = execute([Op("TORCH_RESIZE", size, flags=number)], image, **options)  # type: ignore[arg-type]
    assert np.array_equal(found, expected), (image.shape, size, number, int((found != expected).sum()))


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("most", [9, 40, 300])
def test_random_sizes(most: int, number: int) -> None:
    rng = random.Random(most + number)
    for image, size in random_resizes(rng, most, cases(2400 // most + 60)):
        assert_same(image, size, number)
        assert_same(image, size, number, plain=True)


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize(("before", "after"), [*TELLING, ((64, 20), (9, 1)), ((700, 1), (33, 1))])
def test_telling_sizes(before: tuple[int, int], after: tuple[int, int], number: int) -> None:
    rng = random.Random(1)
    for channels in (1, 3):
        assert_same(picture(rng, *before, channels), after, number)


@pytest.mark.parametrize("number", FILTERS)
def test_weights_of_long_axes(number: int) -> None:
    """A white sample in the dark tells which outputs see it; steps between large numbers are what float32 rounds."""
    rng = random.Random(5)
    for _ in range(12):
        before, after = rng.randint(1000, 70_000), rng.randint(1, 9000)
        image = picture(rng, 1, before, 1)
        assert_same(image, (1, after), number)
        assert_same(np.ascontiguousarray(image.repeat(2, 2).transpose(1, 0, 2)), (after, 1), number)


@pytest.mark.parametrize("number", FILTERS)
@pytest.mark.parametrize("times", [3, 5, 6, 10, 12, 20, 24])
def test_ties_at_whole_ratios_of_sizes(times: int, number: int) -> None:
    """Weights are fractions of one number, so that many sums lie in the middle between two bytes."""
    rng = random.Random(times)
    for _ in range(6):
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
                found = execute([Op("TORCH_RESIZE", (40, 37), flags=number)], view[..., :channels], planar=flat)
                assert np.array_equal(found, expected)


@pytest.mark.parametrize("number", FILTERS)
def test_crops_see_the_weights_of_the_whole(number: int) -> None:
    rng = random.Random(4)
    for _ in range(40):
        image = picture(rng, rng.randint(1, 90), rng.randint(1, 90), 3)
        size = (rng.randint(2, 120), rng.randint(2, 120))
        whole = resized(image, size, number)
        top, left = rng.randrange(size[0]), rng.randrange(size[1])
        height, width = rng.randint(1, size[0] - top), rng.randint(1, size[1] - left)
        found = execute([Op("TORCH_RESIZE", size, flags=number), Op("WINDOW", (top, left, height, width))], image)
        assert np.array_equal(found, whole[top : top + height, left : left + width])


def test_fast_mode_keeps_its_contract() -> None:
    """A crop, a bilinear resize and a flip are one filter: 54 dB from torchvision (docs/notes/design/fast-mode.md)."""
    rng = random.Random(6)
    for _ in range(20):
        image = picture(rng, rng.randint(60, 200), rng.randint(60, 200), 3)
        enlarges = rng.random() < 0.3  # that is exact
        size = (rng.randint(33, 300), rng.randint(50, 300)) if enlarges else (rng.randint(33, 49), rng.randint(33, 47))
        ops = [Op("WINDOW", (5, 6, 50, 48)), Op("TORCH_RESIZE", size, flags=BILINEAR), Op("HFLIP")]
        wanted, found = (execute(ops, image, rewrites=rewrites) for rewrites in (_C.EXACT, _C.FAST))
        error = np.mean((wanted.astype(float) - found) ** 2)
        assert error == 0 if enlarges else 0 < error < 255**2 / 10**5.4


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_every_instruction_set(isa: str) -> None:
    done = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "sizes or crops"], isa=isa)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def _in_doubles(image: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
    """torch's resize in other last bits."""
    return _TORCHS(image.double(), *args, **kwargs).to(image.dtype)  # type: ignore[arg-type]


_TORCHS = torch.nn.functional.interpolate


@pytest.mark.parametrize("number", FILTERS)
def test_torchs_order_of_additions_is_followed(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch adds in another order than the core, it resizes itself."""
    assert resizing.follows(number == BICUBIC)
    monkeypatch.setattr(torch.nn.functional, "interpolate", _in_doubles)
    monkeypatch.setattr(tensor_functional, "interpolate", _in_doubles)
    assert not resizing.follows(number == BICUBIC)
    assert fastaug.info().rules["antialiased resizes of uint8 tensors by v1"].startswith("by torch")
    mode = T.InterpolationMode(FILTERS[number].value)
    image = torch.from_numpy(picture(random.Random(2), 270, 210, 3).transpose(2, 0, 1).copy())
    for size in ((90, 210), (54, 42)):
        ours = T.Compose([T.Resize(size, mode), T.RandomResizedCrop(30, interpolation=mode)])
        theirs = TV.Compose([TV.Resize(size, FILTERS[number]), TV.RandomResizedCrop(30, interpolation=FILTERS[number])])
        # Several calls, as the first ones are drafted by Python and the others by the core.
        for seed in range(8):
            torch.manual_seed(seed)
            expected = theirs(image)
            torch.manual_seed(seed)
            assert torch.equal(ours(image), expected)
        assert torch.equal(
            T.functional.resize(image, list(size), mode), F.resize(image, list(size), FILTERS[number], antialias=True)
        )
    monkeypatch.undo()
    assert resizing.follows(number == BICUBIC)


def test_asking_moves_no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resizing, "_answers", {})
    torch.manual_seed(4)
    state = torch.get_rng_state()
    assert resizing.follows(False)
    assert torch.equal(torch.get_rng_state(), state)
