"""Who owns the memory of a result, as torchvision has it: every transform on every container, and random chains."""

from __future__ import annotations

import pytest
import torch

import aliasing_cases
import fastaug.transforms as T
import random_aliasing
from aliasing_cases import CONTAINERS, FUNCTIONS, TRANSFORMS
from random_aliasing import SINGLES, check, draw_case
from support.differences import assert_none, each
from support.scale import blocks, share

CHAINS, BLOCK = 600, 50
EACH = len(CONTAINERS)


@each("index", range(len(TRANSFORMS) + len(FUNCTIONS)), whole=True)
def test_each_transform_on_each_container(index: int) -> None:
    numbers = share(range(index * EACH, (index + 1) * EACH), str(index))
    assert_none([text for number in numbers if (text := check(number))], len(numbers), 5)


@pytest.mark.parametrize("first", blocks(CHAINS, BLOCK, SINGLES))
def test_random_chains(first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number))]
    assert_none(found, BLOCK)


def number_of(step: str, container: str) -> int:
    position = [*TRANSFORMS, *FUNCTIONS].index(step)
    number = position * EACH + list(CONTAINERS).index(container)
    assert draw_case(number).steps == (step,) and draw_case(number).container == container
    return number


@pytest.mark.parametrize(
    ("step", "container", "wrong", "said"),
    [
        ("F.hflip(x)", "uint8 3HW", lambda x: x, "same=True"),
        ("F.crop(x, 1, 2, 5, 6)", "uint8 3HW", lambda x: x[:, 1:6, 2:8].clone(), "place=None"),
        ("F.crop(x, 1, 2, 5, 6)", "PIL RGB", lambda x: x.crop((2, 1, 8, 6)).transpose(0), ""),
        ("F.pad(x, 0)", "uint8 3HW", lambda x: x[:], "place=(0, (120, 10, 1))"),
        ("F.posterize(x, 3)", "uint8 channels_last", lambda x: x.contiguous().clone(), "order=(360, 120, 10, 1)"),
        ("F.vflip(x)", "uint8 subclass", lambda x: x.flip(-2).as_subclass(torch.Tensor), "torchvision Marked"),
        ("F.vflip(x)", "uint8 3HW", lambda x: x.zero_().clone(), "written True"),
    ],
)
def test_a_difference_is_found(
    step: str, container: str, wrong: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = number_of(step, container)
    assert check(number) == ""
    monkeypatch.setattr(random_aliasing.F, step[2 : step.index("(")], lambda x, *arguments: wrong(x))  # type: ignore[operator]
    found = check(number)
    assert (said in found and bool(found)) if said else not found, found


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "still",
    [
        T.RandomAffine(0, translate=(0.05, 0.05)),
        T.RandomRotation((0, 0)),
        T.Pad(0),
        T.RandomAdjustSharpness(1, 1.0),
        T.RandomPosterize(8, 1.0),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_a_result_is_no_part_of_an_image_that_torchvision_copies(still: torch.nn.Module, first: bool) -> None:
    """Wherever the step that changes nothing stands."""
    pipeline = T.Compose([still, T.CenterCrop(16)] if first else [T.CenterCrop(16), still])
    image = torch.from_numpy(aliasing_cases.noise(3, 20, 20))
    before = image.clone()
    for seed in range(100):
        torch.manual_seed(seed)
        pipeline(image).zero_()
        assert torch.equal(image, before)
