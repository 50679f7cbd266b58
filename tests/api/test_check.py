"""check() says what is equal, what is not, what raises, and whether fast mode keeps its contract."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._inspect import check, pairs, twin
from support.images import photo, to_chw

IMAGE = photo("chelsea", 120, 150)
HALF = (0.5, 0.5, 0.5)
BILINEAR = T.InterpolationMode.BILINEAR


def usual() -> Any:
    return T.Compose(
        [
            T.RandomRotation(20, interpolation=T.InterpolationMode.BILINEAR),
            T.RandomResizedCrop(64),
            T.ColorJitter(0.2, 0.2, 0.2, 0.1),
            T.ToTensor(),
            T.Normalize(HALF, HALF),
        ]
    )


def compare_with(monkeypatch: pytest.MonkeyPatch, theirs: Callable[[Any], Any]) -> None:
    """Lets check() take a function for torchvision's."""
    monkeypatch.setattr(check, "twin_of", lambda pipeline: twin.Twin(theirs, [theirs], "of this test"))


def test_equality() -> None:
    comparison = check.check(usual(), [IMAGE, photo("coffee", 90, 120)], range(3))
    assert comparison, str(comparison)
    assert comparison.samples == 6 * 3 * 64 * 64
    assert comparison.results == 6
    assert comparison.against.startswith("torchvision")
    assert "Equal: all 73,728 samples of 6 results, bit for bit." in str(comparison)


class Brighter(T.Lambda):
    """Wrong wherever it is ours, by one level in one pixel."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, img: Any) -> Any:
        self.calls += 1
        if self.calls % 2:
            img = img.copy()
            img.putpixel((3, 2), tuple(value ^ 1 for value in img.getpixel((3, 2))))
        return img


def test_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Brighter()
    compare_with(monkeypatch, wrong)
    comparison = check.check(T.Compose([wrong]), IMAGE, [7])
    assert not comparison
    (difference,) = comparison.differences
    assert (difference.image, difference.seed, difference.what) == (0, 7, "pixels")
    assert difference.first == (2, 3, 0)
    assert difference.largest == 1
    assert difference.share == pytest.approx(3 / (3 * 120 * 150))
    assert 80 < difference.psnr < 100
    assert "NOT EQUAL in 1 of 1 call:" in str(comparison)
    assert str(difference) in f"  {str(comparison).splitlines()[2]}".replace("  image 0,", "image 0,")


# ---- errors


def test_a_pipeline_that_always_raises_is_not_equal() -> None:
    comparison = check.check(T.Compose([T.RandomCrop(500)]), [IMAGE, IMAGE], 3)
    assert not comparison and comparison.results == 0 and not comparison.differences
    assert {(one.image, one.seed) for one in comparison.errors} == {(k, seed) for k in range(2) for seed in range(3)}
    text = str(comparison)
    assert "Equal" not in text
    assert "NOTHING TO COMPARE in all 6 calls" in text
    message = "ValueError: Required crop size (500, 500) is larger than input image size (120, 150)"
    assert f"  image 1, seeds 0-2: {message}" in text.splitlines()


class Sometimes:
    def __call__(self, img: Any) -> Any:
        if torch.rand(()) < 0.5:
            raise KeyError("a number below a half")
        return img


def test_a_pipeline_that_sometimes_raises() -> None:
    """The results are equal, and yet one that trains with it will not get far."""
    comparison = check.check(T.Compose([Sometimes(), T.Resize(20)]), IMAGE, 6)
    raised = [one.seed for one in comparison.errors]
    assert 0 < len(raised) < 6 and comparison.results == 6 - len(raised)
    assert not comparison
    assert f"samples of {comparison.results} results, bit for bit." in str(comparison)
    assert f"NOTHING TO COMPARE in {len(raised)} of 6 calls" in str(comparison)
    assert "KeyError: 'a number below a half'" in str(comparison)


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.jpg", tmp_path / "broken.jpg"
    IMAGE.save(broken)
    broken.write_bytes(broken.read_bytes()[:999])
    pipeline = T.Compose([T.Decode(), T.Resize(20)])
    for path, name in ((missing, "FileNotFoundError"), (broken, "DecodeError")):
        comparison = check.check(pipeline, str(path), 2)
        assert not comparison and comparison.results == 0
        assert f"image 0 ({path}), seeds 0-1: {name}: " in str(comparison)
    # A pipeline that takes images has no use for a path at all.
    assert not check.check(T.Compose([T.Resize(20)]), str(missing), 1)


def test_errors_on_one_side(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(image: Any) -> Any:
        raise RuntimeError("no such luck")

    compare_with(monkeypatch, raises)
    comparison = check.check(T.Compose([T.Pad(1)]), IMAGE, 1)
    assert not comparison and not comparison.errors
    assert "PIL RGB 122x152, where RuntimeError: no such luck was expected" in str(comparison)
    comparison = check.check(T.Compose([T.RandomCrop(500)]), IMAGE, 1)
    assert not comparison and not comparison.errors
    assert "ValueError: Required crop size" in str(comparison) and "RuntimeError: no such luck" in str(comparison)


def test_generators(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_with(monkeypatch, lambda image: [torch.rand(1), image][1])
    comparison = check.check(T.Compose([T.RandomHorizontalFlip(0.0), T.RandomVerticalFlip(0.0)]), IMAGE, 3)
    assert not comparison and not comparison.differences and not comparison.generators
    assert comparison.adrift == [(0, 0), (0, 1), (0, 2)]
    assert "NOT left in the same state in all 3 calls:\n  image 0, seeds 0-2" in str(comparison)


def test_no_seeds() -> None:
    for seeds in (0, []):
        with pytest.raises(ValueError, match="seeds should be at least one"):
            check.check(usual(), IMAGE, seeds)


# ---- results of several parts


@dataclasses.dataclass
class Sample:
    image: Any
    label: float


class Plain:
    def __init__(self, image: Any) -> None:
        self.image = image


class Slotted:
    __slots__ = ("image",)


RESULTS: dict[str, Callable[[Any], Any]] = {
    "dictionary": lambda t: {"image": t, "views": [t, t.flip(-1)], "label": 3},
    "tuple": lambda t: (t, 3),
    "dataclass": lambda t: Sample(t, float("nan")),
    "object": lambda t: Plain([t]),
    "nothing": lambda t: None,
    "text": lambda t: "text",
    "set": lambda t: {1, 2},
    "array of numbers": lambda t: np.float32(t.sum()),
    "no elements": lambda t: (),
    "scalar": lambda t: t.sum(),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_any_form(name: str) -> None:
    comparison = check.check(T.Compose([T.ToTensor(), RESULTS[name]]), IMAGE, 2)
    assert comparison, str(comparison)
    assert "Equal: all" in str(comparison)


def test_where_in_a_result_the_difference_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(change: Callable[[Any], Any]) -> str:
        compare_with(monkeypatch, lambda image: change(result(TV.functional.to_tensor(image))))
        comparison = check.check(T.Compose([T.ToTensor(), result]), IMAGE, 1)
        assert not comparison
        (difference,) = comparison.differences
        assert "NOT EQUAL in 1 of 1 call" in str(comparison)
        return difference.told()

    def result(t: Any) -> Any:
        return {"views": [t, t.clone()], "more": Plain(Sample(t.clone(), 1.0)), "name": "cat"}

    def at(path: str, value: Any) -> Callable[[Any], Any]:
        def change(found: Any) -> Any:
            exec(f"found{path} = value", {"found": found, "value": value})
            return found

        return change

    other = torch.zeros(3, 120, 150)
    assert changed(at("['views'][1]", other)).startswith("in result['views'][1], ")
    assert changed(at("['more'].image.image", other)).startswith("in result['more'].image.image, ")
    assert changed(at("['more'].image.label", 2.0)) == "in result['more'].image.label, 1.0, where 2.0 was expected"
    assert changed(at("['name']", "dog")) == "in result['name'], 'cat', where 'dog' was expected"
    assert changed(at("['views']", [other])).startswith("in result['views'], 2 of tensor float32 3x120x150, where 1 of")
    assert changed(at("['new']", 1)).startswith("{'views': 2 of tensor float32 3x120x150, ")
    assert changed(at("['views'][0]", other.double())).endswith("where tensor float64 3x120x150 was expected")
    parameter = torch.nn.Parameter(other, requires_grad=False)
    assert changed(at("['views'][0]", parameter)).endswith("where Parameter float32 3x120x150 was expected")


def test_palettes_and_what_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    palette = IMAGE.convert("P")
    other = palette.copy()
    other.putpalette([7, 7, 7] + palette.getpalette()[3:])
    compare_with(monkeypatch, lambda image: other)
    comparison = check.check(T.Compose([lambda image: palette]), IMAGE, 1)
    assert not comparison and "another palette" in str(comparison)
    compare_with(monkeypatch, lambda image: Slotted())
    comparison = check.check(T.Compose([lambda image: Slotted()]), IMAGE, 1)
    assert not comparison and "Slotted does not say what is equal" in str(comparison)


def test_pairs_end_where_a_value_holds_itself() -> None:
    one: dict[str, Any] = {"a": 1}
    two: dict[str, Any] = {"a": 1}
    one["self"], two["self"] = one, two
    found = list(pairs.pairs(one, two))
    assert [(pairs.spelled(path), type(value)) for path, value, _ in found] == [("['a']", int), ("['self']", dict)]
    assert pairs.reached(one, found[1][0]) is one


def test_several_crops() -> None:
    comparison = check.check(T.Compose([T.Resize(100), T.FiveCrop(64)]), IMAGE, 2)
    assert comparison and comparison.samples == 2 * 5 * 3 * 64 * 64


# ---- against what


def test_without_torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    comparison = check.check(usual(), IMAGE, 2)
    assert comparison, str(comparison)
    assert "op-by-op reference (torchvision is not installed)" in str(comparison)
    text = str(check.check(fastaug.compile(usual(), "fast"), IMAGE, 1))
    assert "OPEN in 1 of 1 call" in text and "torchvision is not installed" in text


# ---- fast mode

FAST: dict[str, tuple[Callable[[], list[Any]], str]] = {
    "exact in both modes": (lambda: [T.CenterCrop(30), T.ToTensor()], "2 results with torchvision's pixels"),
    "near": (lambda: [T.Resize(90), T.Resize(60), T.ToTensor()], "2 results no less than 54 dB from torchvision: 5"),
    "truer": (lambda: [T.RandomRotation(20, T.InterpolationMode.BILINEAR), T.ToTensor()], "2 results further from"),
    "normalised": (
        lambda: [T.ColorJitter(0.4, 0.4, 0.4, 0.2), T.ToTensor(), T.Normalize(HALF, (0.2, 0.3, 0.4))],
        "2 results further from",
    ),
    "with a function in the midst": (
        lambda: [T.ColorJitter(0.4, 0.4, 0.4, 0.2), lambda image: image.convert("RGB"), T.Resize(60)],
        "2 results further from",
    ),
    "several": (
        lambda: [T.RandomRotation(20, T.InterpolationMode.BICUBIC), T.FiveCrop(50)],
        "2 results further from",
    ),
    "gray": (lambda: [T.Grayscale(), T.RandomRotation(9, T.InterpolationMode.BILINEAR)], "2 results further from"),
}


@pytest.mark.parametrize("name", FAST)
def test_fast_mode_keeps_its_contract(name: str) -> None:
    steps, told = FAST[name]
    comparison = check.check(T.Compose(steps(), mode="fast"), IMAGE, 2)
    text = str(comparison)
    assert comparison, text
    assert "The contract of fast mode is kept in all 2 calls:\n" in text and told in text, text
    assert len(comparison.psnr) == (10 if name == "several" else 2)
    for difference in comparison.differences:
        assert difference.psnr >= 54 or difference.truth is not None
        if difference.truth is not None:
            assert difference.truth[0] >= difference.truth[1] > 30


def test_fast_mode_of_batches_and_half_precision() -> None:
    """The float64 reference is found for each image of a batch, and for results of any dtype."""
    jitter = [TV.ColorJitter(0.4, 0.4, 0.4, 0.2)]
    batch = torch.stack([to_chw(IMAGE), to_chw(photo("coffee", 120, 150))])
    for image, pipeline in (
        (batch, fastaug.compile(TV.Compose(jitter), "fast")),
        (IMAGE, fastaug.compile(TV.Compose([*jitter, TV.ToTensor()]), "fast", dtype=torch.float16)),
    ):
        comparison = check.check(pipeline, image, 2)
        assert comparison and any(difference.truth for difference in comparison.differences), str(comparison)


def test_fast_mode_decodes_first(tmp_path: Path) -> None:
    IMAGE.save(tmp_path / "cat.png")
    steps = [T.Decode(), T.RandomRotation(20, T.InterpolationMode.BILINEAR), T.ToTensor()]
    comparison = check.check(T.Compose(steps, mode="fast"), str(tmp_path / "cat.png"), 2)
    assert comparison and all(difference.truth for difference in comparison.differences), str(comparison)


class Darker:
    """Of the two who call it in turns, only fastaug, which is first, gets what is wrong."""

    def __init__(self, by: int) -> None:
        self.by, self.calls = by, 0

    def __call__(self, img: Any) -> Any:
        self.calls += 1
        return img.point(lambda value: max(0, value - self.by)) if self.calls % 3 == 1 else img


def test_fast_mode_that_breaks_its_contract() -> None:
    comparison = check.check(T.Compose([Darker(5), T.Resize(60)], mode="fast"), IMAGE, 2)
    assert not comparison
    (first, _) = comparison.differences
    assert first.kept is False and first.truth is not None and first.truth[0] < first.truth[1]
    text = str(comparison)
    assert "The contract of fast mode is BROKEN in all 2 calls:" in text and "is kept" not in text
    assert f"{first.truth[0]:.1f} dB from the float64 reference, torchvision {first.truth[1]:.1f} dB" in text


def test_fast_mode_of_another_chain_than_torchvisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The float64 reference is of the ops that fastaug drafts, so exact mode has to be torchvision's."""
    compare_with(monkeypatch, TV.RandomRotation((23, 23), TV.InterpolationMode.BILINEAR))
    comparison = check.check(T.Compose([T.RandomRotation((20, 20), BILINEAR)], mode="fast"), IMAGE, 1)
    (difference,) = comparison.differences
    assert difference.truth is not None and difference.truth[0] > difference.truth[1]
    assert difference.kept is False and "exact mode departs from torchvision, too" in str(comparison)


def test_fast_mode_where_the_contract_stays_open() -> None:
    steps = [T.ColorJitter(0.4, 0.4, 0.4, 0.2), T.ToTensor(), T.ToPILImage()]
    comparison = check.check(T.Compose(steps, mode="fast"), IMAGE.convert("RGBA"), 2)
    assert not comparison
    assert all(difference.kept is None for difference in comparison.differences)
    assert "is OPEN in all 2 calls:" in str(comparison)
    assert "there is no float64 reference for PIL RGBA 120x150" in str(comparison)


def test_no_progress_bar_in_a_log_file(capfd: pytest.CaptureFixture[str]) -> None:
    check.check(T.Compose([T.Pad(1)]), [IMAGE] * 3, 3)
    assert capfd.readouterr().err == ""


def test_images_are_told_by_their_files(tmp_path: Path) -> None:
    IMAGE.save(tmp_path / "cat.png")
    with Image.open(tmp_path / "cat.png") as image:
        comparison = check.check(T.Compose([T.RandomCrop(500)]), image, 1)
    assert f"image 0 ({tmp_path / 'cat.png'}), seed 0: ValueError" in str(comparison)
    comparison = check.check(T.Compose([T.RandomCrop(500)]), [IMAGE], 1, ["the cat"])
    assert "  the cat, seed 0: ValueError" in str(comparison)
