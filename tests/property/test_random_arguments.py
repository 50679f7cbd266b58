"""Four thousand calls with odd arguments against torchvision: exception types, results, attributes, reprs and draws."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV

import fastaug.transforms as T
import random_arguments
from argument_values import NAMES
from random_arguments import TARGETS, Case, check, difference, draw_case, outcome, shrink
from support.differences import assert_none
from support.scale import blocks

CASES, BLOCK = 4000, 100


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_arguments(first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number))]
    assert_none(found, BLOCK)


#: A call, an image, and what torchvision makes of it: an error, or a result.
NAMED: dict[str, tuple[str, str, type[Exception] | None]] = {
    "NumPy padding": ("T.Pad(padding=np.int64(4))", "image('RGB')", None),
    "NumPy padding of a crop": ("T.RandomCrop(size=4, padding=np.int64(1))", "image('RGB')", None),
    "NumPy padding by reflection": ("T.Pad(padding=np.int64(4), padding_mode='reflect')", "image('RGB')", NameError),
    "NumPy pair by reflection": (
        "T.Pad(padding=(np.int64(1), np.int32(2)), padding_mode='reflect')",
        "image('RGB')",
        None,
    ),
    "NumPy four of a tensor": ("T.Pad(padding=[np.int64(2)] * 4, padding_mode='edge')", "bytes_of(3, 9, 13)", None),
    "NumPy pair of floats": ("T.Pad(padding=(np.int64(1), np.int64(2)))", "floats_of(3, 9, 13)", None),
    "NumPy padding of a tensor": ("T.Pad(padding=np.int64(4))", "bytes_of(3, 9, 13)", TypeError),
    "NumPy fill": ("T.Pad(padding=3, fill=np.uint8(3))", "image('RGB')", None),
    "NumPy fill of a gray image": ("F.pad(x, padding=3, fill=np.uint8(3))", "image('L')", None),
    "NumPy fill of a crop": ("T.RandomCrop(size=20, pad_if_needed=True, fill=np.uint8(3))", "image('RGB')", None),
    "NumPy fills": ("T.Pad(padding=3, fill=(np.uint8(3), np.float32(4.7), np.int64(300)))", "image('RGB')", None),
    "NumPy fill of a tensor": ("T.Pad(padding=3, fill=np.uint8(3))", "bytes_of(3, 9, 13)", TypeError),
    "NumPy fill of an array": ("T.Pad(padding=3, fill=np.uint8(3))", "bytes_of(9, 13, 3).numpy()", None),
    "fill beyond Pillow's colours": ("F.rotate(x, angle=20, fill=1e30)", "image('RGB')", OverflowError),
    "Grayscale of a float": ("T.Grayscale(num_output_channels=1.0)", "image('RGB')", None),
    "Grayscale of a NumPy float": ("T.Grayscale(num_output_channels=np.float32(3))", "bytes_of(3, 9, 13)", None),
    "complex factor": ("F.adjust_brightness(x, brightness_factor=1j)", "image('RGB')", TypeError),
    "complex factor of NumPy": ("F.adjust_sharpness(x, sharpness_factor=np.complex64(1))", "image('L')", None),
    "complex gain": ("F.adjust_gamma(x, gamma=1.5, gain=1j)", "image('RGB')", TypeError),
    "gain beyond a table": ("F.adjust_gamma(x, gamma=1.5, gain=-1e30)", "image('RGB')", OverflowError),
    "factor of a tensor": ("F.adjust_contrast(x, contrast_factor=torch.tensor(0.5))", "image('RGB')", None),
    "factor of NumPy": ("F.adjust_saturation(x, saturation_factor=np.float32(1.5))", "image('RGB')", None),
    "centre of tensors": (
        "F.rotate(x, angle=20, center=[torch.tensor(1), torch.tensor(2)])",
        "image('RGB')",
        None,
    ),
    "centre of an affine map of tensors": (
        "F.affine(x, angle=20, translate=(0, 0), scale=1.0, shear=0.0, center=[torch.tensor(1), torch.tensor(2)])",
        "image('RGB')",
        None,
    ),
    "infinite centre": ("F.rotate(x, angle=20, center=(0, float('-inf')))", "image('RGB')", None),
    "infinite centre of a larger image": (
        "F.rotate(x, angle=20, expand=True, center=(0, float('-inf')))",
        "image('RGB')",
        OverflowError,
    ),
    "displacement that is none": (
        "F.elastic_transform(x, displacement=2.0, interpolation='a')",
        "image('RGB')",
        TypeError,
    ),
    "displacement of another size": (
        "F.elastic_transform(x, displacement=torch.zeros(1, 3, 13, 2), interpolation='a')",
        "image('RGB')",
        ValueError,
    ),
    "interpolation that is none": (
        "F.elastic_transform(x, displacement=torch.zeros(1, 9, 13, 2), interpolation='a')",
        "image('RGB')",
        AttributeError,
    ),
    "dtype None": ("T.ConvertImageDtype(dtype=None)", "bytes_of(3, 9, 13)", None),
    "dtype None of floats": ("F.convert_image_dtype(x, dtype=None)", "floats_of(3, 9, 13)", None),
    "magnitude of a float": ("T.RandAugment(num_ops=9, magnitude=2.0)", "image('RGB')", IndexError),
    "magnitude of None": ("T.RandAugment(num_ops=9, magnitude=None)", "image('RGB')", RuntimeError),
    "magnitude of NumPy": ("T.RandAugment(num_ops=9, magnitude=np.int64(3))", "image('RGB')", None),
    "probability that is none": ("T.RandomApply(transforms=[T.Pad(1)], p=float('nan'))", "image('RGB')", None),
    "sigma that is none": ("F.gaussian_blur(x, kernel_size=3, sigma=(float('nan'), 1))", "image('RGB')", None),
}


def case_of(source: str, image: str, seed: int = 3) -> Case:
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    arguments = tuple((str(given.arg), ast.unparse(given.value)) for given in call.keywords)
    return Case(ast.unparse(call.func), arguments, image, "alone", seed)


@pytest.mark.parametrize("name", NAMED)
def test_named_arguments(name: str) -> None:
    source, image, error = NAMED[name]
    case = case_of(source, image)
    theirs = outcome(case, TV, image)
    if "numpy()" not in image:  # torchvision takes no arrays
        assert isinstance(theirs.error, error or type(None)), theirs.error
    assert difference(case) == ""


def test_mixing_no_pixels() -> None:
    cases = [case_of("T.AugMix(mixture_width=1, all_ops=0)", "bytes_of(3, 0, 13)", seed) for seed in range(20)]
    assert any(outcome(case, TV, case.image).error is None for case in cases)
    assert not any(map(difference, cases))


def test_the_cases_are_worth_running() -> None:
    """Every call occurs often, with usual arguments and odd ones, and both succeed and fail."""
    cases = [draw_case(number) for number in range(CASES)]
    counts = Counter(case.target for case in cases)
    assert counts.keys() == TARGETS.keys() and min(counts.values()) >= CASES // len(TARGETS)
    text = "\n".join(map(str, cases))
    for source in ("np.int64(4)", "1j", "torch.tensor(0.5)", "10**30", "float('nan')", "None", "{}"):
        assert text.count(f"={source}") > 10, source
    failed = sum(outcome(case, TV, case.image).error is not None for case in cases[:600])
    assert 200 < failed < 500
    for target in TARGETS:
        some = [case for case in cases if case.target == target]
        assert any(outcome(case, TV, case.image).error is None for case in some), target


def test_a_wrong_type_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def pad(image: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
        if isinstance(padding, np.integer):
            raise ValueError("no NumPy")
        return TV.functional.pad(image, padding, fill, padding_mode)

    case = Case("F.pad", (("padding", "np.int64(4)"), ("fill", "7")), "image('RGB')", "alone", 0)
    assert difference(case) == ""
    monkeypatch.setattr(T.functional, "pad", pad)
    assert "ValueError: no NumPy; torchvision: gave" in difference(case)
    assert shrink(case).arguments == (("padding", "np.int64(4)"),)


def test_wrong_results_attributes_and_draws_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("T.RandomVerticalFlip", (("p", "0.5"),), "image('RGB')", "alone", 0)
    assert difference(case) == ""

    class Flip(TV.RandomVerticalFlip):
        def forward(self, image: Any) -> Any:
            torch.rand(1)
            return super().forward(image)

    Flip.__name__ = "RandomVerticalFlip"
    monkeypatch.setattr(random_arguments, "references", lambda image: iter([image]))
    monkeypatch.setattr(T, "RandomVerticalFlip", Flip)
    assert difference(case)
    monkeypatch.setattr(T, "RandomVerticalFlip", T.RandomHorizontalFlip)
    assert "repr" in difference(case)
    monkeypatch.setattr(T, "RandomVerticalFlip", TV.RandomVerticalFlip)
    assert difference(case) == ""
    assert eval("image('RGB')", NAMES).size == (13, 9)
