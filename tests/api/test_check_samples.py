"""check() of pipelines of samples: every leaf beside torchvision's, and which one differs how."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug
import fastaug.transforms as T
from fastaug._inspect import check, twin
from fastaug.transforms import v2
from support.images import photo, to_chw
from support.random_samples import boxes, mask

IMAGE = photo("chelsea", 60, 75)
CANVAS = (60, 75)
HALF = [0.5, 0.5, 0.5]


def detection(seed: int = 0) -> dict[str, Any]:
    places = boxes("XYXY", 3, CANVAS, "float32", "soft", seed)
    points = tvt.KeyPoints([[3.0, 4.0], [20.5, 30.0]], canvas_size=CANVAS)
    target = {"boxes": places, "masks": mask("bool", seed, 3, *CANVAS), "points": points, "labels": torch.arange(3)}
    return {"image": tvt.Image(to_chw(IMAGE)), "target": target}


class Mirrored(v2.Transform):
    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(v2.functional.horizontal_flip, inpt)


class Slow(v2.Resize):
    def forward(self, *inputs: Any) -> Any:
        return super().forward(*inputs)


def doubled(sample: Any) -> Any:
    return {**sample, "again": sample["image"]}


PIPELINES: dict[str, Callable[[Any], Any]] = {
    "detection": lambda v2: v2.Compose(
        [
            v2.RandomPhotometricDistort(),
            v2.RandomZoomOut(fill={tvt.Image: (3, 2, 1), "others": 0}),
            v2.RandomIoUCrop(),
            v2.RandomHorizontalFlip(),
            v2.SanitizeBoundingBoxes(labels_getter=lambda sample: sample["target"]["labels"]),
            v2.Resize((32, 40)),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(HALF, HALF),
        ]
    ),
    "containers": lambda v2: v2.Compose(
        [
            v2.Compose([v2.RandomApply([v2.RandomRotation(20)], 0.5), v2.RandomChoice([v2.Pad(2), v2.CenterCrop(40)])]),
            v2.RandomApply(torch.nn.ModuleList([v2.ColorJitter(0.2)]), 0.8),
            v2.RandomOrder([v2.GaussianBlur(3), v2.RandomAffine(9, interpolation=v2.InterpolationMode.BILINEAR)]),
        ]
    ),
    "callables": lambda v2: v2.Compose([v2.Resize((40, 50)), Mirrored(), doubled, v2.RandomVerticalFlip()]),
    "formats": lambda v2: v2.Compose([v2.ConvertBoundingBoxFormat("CXCYWH"), v2.SetClampingMode("hard")]),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_equality(name: str) -> None:
    comparison = PIPELINES[name](v2).check([detection(), detection(1)], range(4))
    assert comparison, str(comparison)
    assert comparison.results == 8
    text = str(comparison)
    assert "against torchvision" in text and "2 samples, 4 seeds" in text
    assert "Equal: all " in text and "8 results, bit for bit." in text


def test_images_alone_and_tuples() -> None:
    for sample in (IMAGE, to_chw(IMAGE), (IMAGE, 3)):
        comparison = v2.Compose([v2.RandomResizedCrop(30), v2.RandAugment()]).check(sample, 3)
        assert comparison, str(comparison)


def test_what_was_compiled_and_transforms_of_v1() -> None:
    pipelines = [fastaug.compile(PIPELINES["containers"](TV)), v2.Compose([T.Resize(40), v2.RandomRotation(9)])]
    for pipeline in pipelines:
        comparison = check.check(pipeline, IMAGE, 3)
        assert comparison, str(comparison)
        assert comparison.against.startswith("torchvision")


def test_the_twin_is_made_of_torchvisions_classes() -> None:
    found = twin.twin_of(PIPELINES["containers"](v2)).whole
    assert repr(found) == repr(PIPELINES["containers"](TV))
    seen = [found, *found.transforms, *found.transforms[0].transforms, *found.transforms[1].transforms]
    assert all(type(one).__module__.startswith("torchvision.transforms.v2") for one in seen)
    mine = Mirrored()
    assert twin.twin_of(v2.Compose([mine, doubled])).steps == [mine, doubled]


def compare_with(monkeypatch: pytest.MonkeyPatch, theirs: Callable[[Any], Any]) -> None:
    """Lets check() take a function for torchvision's."""
    monkeypatch.setattr(check, "twin_of", lambda pipeline: twin.Twin(theirs, [theirs], "of this test"))


def in_boxes(sample: Any) -> None:
    sample["target"]["boxes"][1, 2] += 0.5


def in_masks(sample: Any) -> None:
    sample["target"]["masks"][2, 5, 6] ^= True


def of_another_format(sample: Any) -> None:
    places = sample["target"]["boxes"]
    sample["target"]["boxes"] = tvt.wrap(places, like=places, format=tvt.BoundingBoxFormat.XYWH)


def of_another_canvas(sample: Any) -> None:
    sample["target"]["points"] = tvt.wrap(
        sample["target"]["points"], like=sample["target"]["points"], canvas_size=(9, 9)
    )


def clamped_otherwise(sample: Any) -> None:
    sample["target"]["boxes"] = tvt.wrap(
        sample["target"]["boxes"], like=sample["target"]["boxes"], clamping_mode="hard"
    )


def of_another_dtype(sample: Any) -> None:
    masks = sample["target"]["masks"]
    sample["target"]["masks"] = tvt.Mask(masks.to(torch.uint8))


def without_a_class(sample: Any) -> None:
    sample["image"] = sample["image"].as_subclass(torch.Tensor)


def in_several(sample: Any) -> None:
    in_boxes(sample)
    in_masks(sample)


CHANGES: dict[Callable[[Any], None], str] = {
    in_boxes: "in result['target']['boxes'], 8.33 % of the numbers differ, first at (1, 2), by up to 0.5",
    in_masks: "in result['target']['masks'], 0.00741 % of the numbers differ, first at (2, 5, 6), by up to 1",
    of_another_format: "3x4 XYXY of 60x75, where BoundingBoxes float32 3x4 XYWH of 60x75 was expected",
    of_another_canvas: "of 60x75, where KeyPoints float32 2x2 of 9x9 was expected",
    clamped_otherwise: "of 60x75, clamping hard was expected",
    of_another_dtype: "Mask bool 3x60x75, where Mask uint8 3x60x75 was expected",
    without_a_class: "in result['image'], Image uint8 3x60x75, where tensor uint8 3x60x75 was expected",
    in_several: "; so do result['target']['masks']",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_which_leaf_differs_and_how(change: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def theirs(sample: Any) -> Any:
        change(sample)
        return sample

    compare_with(monkeypatch, theirs)
    comparison = v2.Compose([v2.Identity()]).check(detection(), 2)
    assert not comparison
    assert CHANGES[change] in str(comparison)
    assert "NOT EQUAL in all 2 calls" in str(comparison)


def test_generators(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_with(monkeypatch, lambda sample: (torch.rand(1), sample)[1])
    comparison = v2.Compose([v2.Identity()]).check(detection(), 1)
    assert comparison.adrift == [(0, 0)] and not comparison


def test_without_a_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(v2.Compose([Slow((30, 30))]).check(detection(), 1))
    assert "op-by-op reference (Slow is a subclass of fastaug's Resize)" in text
    monkeypatch.setitem(sys.modules, "torchvision", None)
    comparison = PIPELINES["detection"](v2).check(detection(), 2)
    assert comparison, str(comparison)
    assert "op-by-op reference (torchvision is not installed)" in str(comparison)


def test_errors_of_both_sides() -> None:
    comparison = v2.Compose([v2.Normalize(HALF, HALF)]).check((IMAGE, 3), 2)
    assert not comparison
    assert "both sides raise the same error" in str(comparison)
    assert "sample 0, seeds 0-1: TypeError" in str(comparison)


def test_fast_mode() -> None:
    """Its contract is of images: what else a sample has is equal."""
    kept = v2.Compose([v2.CenterCrop(40), v2.ToDtype(torch.float32, scale=True)], mode="fast").check(detection(), 2)
    assert kept and "2 results with torchvision's pixels" in str(kept)
    image = photo("chelsea", 120, 150)
    near = v2.Compose([v2.Resize(90), v2.Resize(60)], mode="fast").check((image, mask("bool", 0, 120, 150)), 1)
    assert near and "1 result no less than 54 dB from torchvision" in str(near), str(near)
    turns = v2.Compose([v2.RandomRotation((20, 20), interpolation=v2.InterpolationMode.BILINEAR)] * 2, mode="fast")
    far = turns.check(IMAGE, 1)
    assert not far
    assert "no float64 reference: torchvision's v2 has no model in float64" in str(far)


def test_fast_mode_holds_labels_to_equality(monkeypatch: pytest.MonkeyPatch) -> None:
    def theirs(sample: Any) -> Any:
        in_masks(sample)
        return sample

    compare_with(monkeypatch, theirs)
    comparison = v2.Compose([v2.Identity()], mode="fast").check(detection(), 1)
    assert not comparison
    assert "The contract of fast mode is BROKEN in 1 of 1 call" in str(comparison)


def test_samples_are_not_changed() -> None:
    sample = detection()
    before = {name: leaf.clone() for name, leaf in sample["target"].items()}
    v2.Compose([v2.Normalize([1.0], [2.0], inplace=True)]).check(torch.ones(1, 4, 4), 2)
    PIPELINES["detection"](v2).check(sample, 1)
    assert all(torch.equal(before[name], leaf) for name, leaf in sample["target"].items())


def test_no_samples() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        v2.Compose([v2.Identity()]).check([])
    with pytest.raises(ValueError, match="seeds should be at least one"):
        v2.Compose([v2.Identity()]).check(IMAGE, [])
