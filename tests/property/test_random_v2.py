"""Random pipelines of transforms.v2 on random samples, in all ways to run them, against torchvision.

Two thousand, as one Compose, op by op, compiled from torchvision's, through a pickle, and with parameters drawn before:
the tree and every leaf of it, its class, metadata and strides, which inputs are handed on, what becomes of the inputs,
warnings, errors and generator states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug.transforms.v2 as T
import random_v2
from pipeline_steps import Step
from random_v2 import Case, build, check, difference, draw_case, made, script, shrink
from support.differences import assert_none
from support.processes import TESTS, python
from support.random_samples import NAMES, Sample
from support.scale import blocks
from support.v2_outcomes import run_v2
from v2_steps import ALL, OTHERS

CASES, BLOCK = 2000, 100


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_v2(first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check(number))]
    assert_none(found, BLOCK)


def test_the_cases_are_worth_running() -> None:
    """Every transform and kind of leaf occurs many times, and most pipelines succeed."""
    cases = [draw_case(number) for number in range(CASES)]
    pipelines = "\n".join(case.pipeline() for case in cases)
    known = {name for name, value in vars(TV).items() if isinstance(value, type) and issubclass(value, TV.Transform)}
    assert {*ALL, *OTHERS} == known - {"Transform"}
    for name in (*ALL, *OTHERS):
        assert pipelines.count(f"T.{name}(") >= 15, name
    samples = "\n".join(case.sample.source() for case in cases)
    for text in ("XYXY", "XYWH", "CXCYWH", "XYWHR", "CXCYWHR", "XYXYXYXY"):
        assert samples.count(f'"{text}"') > 40, text
    for text in ("tvt.Image(", "tvt.Video(", "picture(", "mask(", "points(", "labels", "Pair(", "float64", "int64"):
        assert samples.count(text) > 100, text
    for text in ("opened(", "OrderedDict(", "defaultdict(", "channels last", "view", "steps", '"hard"', "None, "):
        assert samples.count(text) > 40, text
    outcomes = [run_v2(made(lambda s: build(s, TV), case.pipeline()), case.sample.build()) for case in cases[:300]]
    assert sum(outcome.error is None for outcome in outcomes) > 200
    assert sum(case.exact for case in cases) > 0.7 * CASES


class Without:
    """torchvision with one transform in the place of another."""

    def __init__(self, name: str, other: Callable[..., object]) -> None:
        self.name, self.other = name, other

    def __getattr__(self, name: str) -> object:
        return self.other if name == self.name else getattr(TV, name)


INNER = (Step("T.Resize(20)"), Step("T.RandomInvert(1.0)"), Step("T.CenterCrop(5)"))
LEAVES = (
    ("image", 'tvt.Image(pixels("uint8", "noise", 1, 3, 30, 40))'),
    ("boxes", 'boxes("XYWH", 3, (30, 40), "float32", "soft", 2)'),
    ("masks", 'mask("uint8", 3, 3, 30, 40)'),
    ("labels", "torch.arange(3)"),
)
SAMPLE = Sample(LEAVES, "pair", "Image", "bytes", 3, 30, 40)
STEPS = (
    Step("T.Pad(3)"),
    Step("T.RandomApply([", INNER, "], p=1.0)"),
    Step("T.RandomHorizontalFlip(1.0)"),
    Step("T.RandomCrop(4)"),
    Step("T.SanitizeBoundingBoxes()"),
)
EXAMPLE = Case(STEPS, SAMPLE, True, 3)


#: Ways that torchvision has, too.
BOTH = {name: random_v2.WAYS[name] for name in ("fastaug", "op by op", "pickled")}


def test_a_wrong_transform_is_found_and_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_v2, "T", TV)
    monkeypatch.setattr(random_v2, "WAYS", BOTH)
    assert difference(EXAMPLE) is None
    monkeypatch.setattr(random_v2, "T", Without("RandomInvert", lambda p: TV.Identity()))
    assert difference(EXAMPLE) is not None
    small = shrink(EXAMPLE)
    assert [step.source for step in small.steps] == ["T.RandomInvert(1.0)"]
    assert len(small.sample.leaves) == 1


class Zeroing(torch.nn.Module):
    """An inversion that makes zeros of the masks."""

    def forward(self, *inputs: object) -> object:
        inverted = TV.RandomInvert(1.0)(*inputs)
        return TV.Lambda(lambda mask: tvt.Mask(mask * 0), tvt.Mask)(inverted)


class Writing(torch.nn.Module):
    """An inversion that writes to its input, too."""

    def forward(self, inputs: object) -> object:
        inverted = TV.RandomInvert(1.0)(inputs)
        TV.Lambda(lambda image: image.zero_(), tvt.Image)(inputs)
        return inverted


class Drawing(torch.nn.Module):
    """An inversion that draws a number more."""

    def forward(self, inputs: object) -> object:
        return TV.RandomInvert(1.0)(TV.RandomInvert(0.0)(inputs))


class Copying(torch.nn.Module):
    """An inversion that hands on a copy of the labels."""

    def forward(self, inputs: Any) -> object:
        image, target = TV.RandomInvert(1.0)(inputs)
        return image, {**target, "labels": target["labels"].clone()}


class Moving(torch.nn.Module):
    """An inversion that lays the image out in another order."""

    def forward(self, inputs: object) -> object:
        inverted = TV.RandomInvert(1.0)(inputs)
        return TV.Lambda(lambda x: tvt.Image(x.permute(1, 2, 0).contiguous().permute(2, 0, 1)), tvt.Image)(inverted)


class Relabeling(torch.nn.Module):
    """An inversion whose boxes forget their clamping mode."""

    def forward(self, inputs: object) -> object:
        return TV.SetClampingMode("hard")(TV.RandomInvert(1.0)(inputs))


@pytest.mark.parametrize(
    ("module", "found"),
    [
        (Zeroing, "values differ"),
        (Writing, "afterwards"),
        (Drawing, "torch's generator"),
        (Copying, "is input None"),
        (Moving, "strides"),
        (Relabeling, "metadata"),
    ],
)
def test_what_differs_is_found(
    module: Callable[[], torch.nn.Module], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case((Step("T.RandomInvert(1.0)"),), SAMPLE, True, 3)
    monkeypatch.setattr(random_v2, "T", TV)
    monkeypatch.setattr(random_v2, "WAYS", {"fastaug": BOTH["fastaug"]})
    assert difference(case) is None
    monkeypatch.setattr(random_v2, "T", Without("RandomInvert", lambda p: module()))
    assert found in str(difference(case))


@pytest.mark.parametrize("number", [1, 12])
def test_script_runs_by_itself(number: int) -> None:
    result = python(["-W", "ignore", "-c", script(draw_case(number))], folder=TESTS / "property")
    assert result.returncode == 0, result.stderr
    assert "fastaug.transforms.v2 " in result.stdout and "torchvision.transforms.v2 " in result.stdout


#: What longer runs have found: pipelines, an image, and a seed.
FOUND = {
    "a fill of many for a plane": (
        "T.RandomAffine(43, (0.4602, 0.3835), fill=(47,))",
        'pixels("uint8", "photo", 6296, 42, 58)',
    ),
    "a vector turned": ("T.RandomRotation((-39.2, 61.5), 2, False, None, 0)", "torch.arange(5)"),
    "crops of a number": ("T.TenCrop((1, 7), True)", "torch.tensor(7)"),
    "writing to gray": (
        "T.Grayscale(3), T.RandomErasing(1.0, inplace=True)",
        'tvt.Image(pixels("uint8", "ends", 4734, 3, 40, 49))',
    ),
    "an image of Pillow's turned as a tensor": (
        "T.ToImage(), T.ConvertImageDtype(torch.float32), T.RandomRotation((90, 90), 2)",
        'picture("LA", "noise", 7635, 2, 4)',
    ),
    "floats of a crop, to one column": (
        "T.ToDtype(torch.float32, scale=True), T.RandomResizedCrop([4, 1], (1.084, 1.345), (0.83, 1.703), 3)",
        'tvt.Image(laid(pixels("uint8", "ends", 4666, 4, 12, 22), "channels last"))',
    ),
    "floats of a crop, resized": (
        "T.ToDtype(torch.float32, scale=True), T.RandomResizedCrop((1, 2), (1.2, 1.3), (0.725, 0.896), 'bicubic')",
        'tvt.Image(laid(pixels("uint8", "few", 1634, 4, 2, 3), "channels last"))',
    ),
    "a crop of one pixel, resized": (
        "T.RandomCrop(1, (0, 0), True), T.RandomResize(6, 39, 0)",
        'laid(pixels("uint8", "flat", 8993, 3, 18, 19), "channels last")',
    ),
    "a crop of one pixel, padded": (
        "T.CenterCrop([1]), T.RandomCrop(39, 0, True, 0, 'constant')",
        'laid(pixels("uint8", "ends", 539, 4, 12, 9), "channels last")',
    ),
    "one pixel of Pillow's": (
        "T.PILToTensor(), T.RandomShortestSize([2, 25], None, 3)",
        'picture("RGB", "few", 5729, 1, 1)',
    ),
    "the order of noise on one pixel": (
        "T.Resize((1, 1), 0), T.ConvertImageDtype(torch.float32), T.RandomCrop((10, 21), None, True, 0, 'edge'), "
        "T.GaussianNoise(0.1, 0.2)",
        'tvt.Image(laid(pixels("uint8", "noise", 4613, 3, 34, 32), "channels last"))',
    ),
    "frames of a crop": (
        "T.RandomCrop([3]), T.UniformTemporalSubsample(4)",
        'laid(pixels("uint8", "few", 5931, 3, 3, 17, 21), "channels last")',
    ),
    "what is left over of a contrast": (
        "T.JPEG((58, 58)), T.ColorJitter(saturation=(1.4, 1.4)), T.ColorJitter(contrast=(0.2, 0.2))",
        'tvt.Image(laid(pixels("uint8", "photo", 7058, 3, 10, 12), "view"))',
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_before(name: str) -> None:
    pipeline, image = FOUND[name]
    main = "pil" if image.startswith("picture") else "Image" if image.startswith("tvt.") else "tensor"
    sample = Sample((("image", image),), "alone", main, "bytes", 3, 30, 40)
    for seed in range(5):
        assert difference(Case((Step(pipeline),), sample, True, seed)) is None


def test_functions_leave_drafts_of_their_types() -> None:
    """What a later transform changes is found by what the drafts stand for that a Lambda leaves as they are."""
    for package in (T, TV):
        transform = package.Compose([package.Resize(9), package.Lambda(lambda x: x, int), package.ToImage()])
        for source in ('tvt.Image(pixels("uint8", "noise", 1, 3, 12, 12))', 'picture("L", "noise", 1, 12, 12)'):
            assert isinstance(transform(eval(source, dict(NAMES))), tvt.Image)
