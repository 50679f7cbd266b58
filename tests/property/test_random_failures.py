"""A call that fails, fails as torchvision's does: the same type, after the same draws, and no file is read sooner."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
import random_failures
from random_failures import FILES, TROUBLE, check, difference, draw_given, draw_pipeline, ended, is_read
from support.differences import assert_none
from support.scale import blocks

CASES, BLOCK = 400, 50

PIXELS = Image.fromarray(np.random.default_rng(3).integers(0, 256, (40, 30, 3), dtype=np.uint8))
PLANES = torch.from_numpy(np.array(PIXELS)).permute(2, 0, 1).contiguous()


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_failures(first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number))]
    assert_none(found, BLOCK)


def test_the_cases_are_worth_running() -> None:
    """Every kind of trouble and of file occurs, and about half of the calls fail."""
    texts, errors = [], []
    for number in range(CASES):
        rng = random.Random(f"failures {number}")
        words, given = draw_given(rng)
        sources = draw_pipeline(rng)
        texts.append(words + "\n" + "\n".join(sources))
        if number < 150:
            pipeline = TV.Compose(random_failures.build(sources, TV))
            errors.append(type(ended(lambda pipeline=pipeline: pipeline, given, 0)[0].error))
    for name in (*FILES, *TROUBLE):
        assert any(name in text for text in texts), name
    assert 50 < sum(error is not type(None) for error in errors) < 130
    assert len(set(errors)) > 6


def test_an_error_that_comes_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a whole pipeline were drawn before its first op is done."""

    class Early:
        def __getattr__(self, name: str) -> Any:
            if name != "Compose":
                return getattr(T, name)
            return lambda transforms: lambda image: (torch.rand(1), T.Compose(transforms)(image))[1]

    numbers = [number for number in range(20) if not check(number)]
    monkeypatch.setattr(random_failures, "T", Early())
    found = [check(number) for number in numbers]
    assert len(numbers) > 15
    # Where ops are drawn until one fails, fewer of them may make up for the early draw.
    assert sum(map(bool, found)) >= len(found) - 1
    assert sum("torch's generator" in text for text in found) > 10


def same(make: Callable[[Any], list[Any]], given: Callable[[], Any], seed: int) -> Any:
    """Compares in every way to run it; the error."""
    theirs = ended(lambda: TV.Compose(make(TV)), given, seed)
    for pipeline in (T.Compose(make(T)), fastaug.compile(TV.Compose(make(TV)))):
        assert difference(ended(lambda pipeline=pipeline: pipeline, given, seed), theirs) is None
    if len(make(T)) == 1:
        assert difference(ended(lambda: make(T)[0], given, seed), theirs) is None
    return theirs[0].error


AUGMENTS: dict[str, Callable[[Any], Any]] = {
    "RandAugment": lambda package: package.RandAugment(6),
    "RandAugment without such a magnitude": lambda package: package.RandAugment(6, 40),
    "AugMix": lambda package: package.AugMix(),
    "AutoAugment": lambda package: package.AutoAugment(),
    "TrivialAugmentWide": lambda package: package.TrivialAugmentWide(),
}
REFUSED: dict[str, Any] = {
    "float": PLANES / 255,
    "four": torch.cat([PLANES, PLANES[:1]]),
    "RGBA": PIXELS.convert("RGBA"),
    "HSV": PIXELS.convert("HSV"),
    "CMYK": PIXELS.convert("CMYK"),
}


@pytest.mark.parametrize("image", REFUSED)
@pytest.mark.parametrize("name", AUGMENTS)
def test_ops_are_drawn_until_one_is_refused(name: str, image: str) -> None:
    errors = [same(lambda package: [AUGMENTS[name](package)], lambda: REFUSED[image], seed) for seed in range(25)]
    assert any(errors) or (name, image) == ("AugMix", "HSV")


def encoded(kind: str, cut: float = 1.0, mode: str = "RGB") -> Callable[[], Image.Image]:
    """Opens a file that holds only the first part of what it should; not read yet."""
    file = io.BytesIO()
    PIXELS.convert(mode).save(file, kind)
    data = file.getvalue()
    return lambda: Image.open(io.BytesIO(data[: int(cut * len(data))]))


PIPELINES: dict[str, Callable[[Any], list[Any]]] = {
    "crop": lambda P: [P.RandomResizedCrop(20), P.RandomHorizontalFlip(), P.ToTensor()],
    "flips": lambda P: [P.RandomHorizontalFlip(), P.RandomVerticalFlip(), P.RandomRotation(10)],
    "padded": lambda P: [P.RandomCrop(20, padding=2), P.ColorJitter(0.3, 0.3)],
    "applied": lambda P: [P.RandomApply([P.Resize(9)], p=0.3), P.RandomGrayscale(0.3), P.RandomErasing()],
    "elastic": lambda P: [P.RandomHorizontalFlip(0.0), P.ElasticTransform(5.0), P.ToTensor()],
    "mix": lambda P: [P.RandomHorizontalFlip(0.0), P.AugMix()],
    "augment": lambda P: [P.RandAugment()],
    "order": lambda P: [P.RandomOrder([P.RandomInvert(0.2), P.RandomCrop(10)]), P.RandomEqualize()],
    "blur": lambda P: [P.GaussianBlur(5), P.RandomHorizontalFlip()],
    "size": lambda P: [P.RandomVerticalFlip(0.0), P.Resize((40, 30)), P.RandomHorizontalFlip(0.5), P.FiveCrop(9)],
}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_truncated_file_is_an_error_where_it_is_read(name: str, kind: str) -> None:
    errors = [same(PIPELINES[name], encoded(kind, 0.7), seed) for seed in range(6)]
    assert any(isinstance(error, OSError) for error in errors)
    if kind != "GIF" and name != "applied":  # these refuse palettes and PIL images
        assert not any(same(PIPELINES[name], encoded(kind), seed) for seed in range(3))


UNTOUCHING: dict[str, Callable[[Any], list[Any]]] = {
    "nothing": lambda P: [],
    "nested": lambda P: [P.Compose([]), P.RandomApply([P.Resize(3)], p=0.0), torch.nn.Sequential()],
    "not flipped": lambda P: [P.RandomHorizontalFlip(0.0), P.RandomVerticalFlip(0.0)],
    "its size": lambda P: [P.Resize((40, 30)), P.RandomGrayscale(0.0), P.RandomPerspective(p=0.0)],
    "chosen": lambda P: [P.RandomChoice([P.RandomInvert(0.0), P.RandomSolarize(9, 0.0)]), P.RandomOrder([])],
    "handed on": lambda P: [P.Lambda(lambda image: image), P.RandomErasing(0.0)],
}


@pytest.mark.parametrize("name", UNTOUCHING)
def test_what_no_transform_works_on_stays_unread(name: str) -> None:
    make = encoded("PNG", 0.7)
    assert same(UNTOUCHING[name], make, 1) is None
    for pipeline in (T.Compose(UNTOUCHING[name](T)), fastaug.compile(TV.Compose(UNTOUCHING[name](TV)))):
        image = make()
        assert pipeline(image) is image
        assert not is_read(image)


def test_gray_has_no_hue_to_read_for() -> None:
    assert same(lambda P: [P.ColorJitter(hue=0.3)], encoded("PNG", 0.5, "L"), 1) is None


def test_parameters_are_sampled_from_the_header() -> None:
    """Which takes no pixels, and draws as a call does."""
    pipeline = T.Compose([T.RandomCrop(20, padding=2), T.RandAugment(), T.AugMix(), T.RandomHorizontalFlip()])
    torch.manual_seed(4)
    image = encoded("PNG", 0.7)()
    params = pipeline.sample(image)
    assert not is_read(image)
    state = torch.get_rng_state()
    torch.manual_seed(4)
    expected = pipeline(encoded("PNG")())
    assert torch.equal(torch.get_rng_state(), state)
    assert pipeline.replay(encoded("PNG")(), params).tobytes() == expected.tobytes()


def test_what_a_header_says_is_not_always_true() -> None:
    """Such a file says that its image has an alpha channel, and has none."""
    make = encoded("ICNS")
    assert make().mode == "RGBA"
    results = []
    for package in (T, TV):
        torch.manual_seed(1)
        results.append(package.Compose([package.RandomCrop(20), package.RandomRotation(9)])(make()))
    assert results[0].mode == results[1].mode == "RGB"
    assert results[0].tobytes() == results[1].tobytes()
