"""explain, profile, check and show say what is true, change nothing, and work from the command line."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._draft.generators import seed_all
from fastaug._inspect import check, explain, picture, profile, show, twin
from fastaug._inspect.log import logged
from fastaug._inspect.records import Run
from support.differences import each
from support.images import noise, photo, to_chw

IMAGE = photo("chelsea", 120, 150)
HALF = (0.5, 0.5, 0.5)


class Mine(T.Resize):
    def forward(self, img: Any) -> Any:
        return super().forward(img)


class Hooked(T.Pad):
    pass


def hooked() -> T.Pad:
    pad = Hooked(1)
    pad.register_forward_hook(lambda module, images, result: None)
    return pad


def usual() -> Any:
    return T.Compose(
        [
            T.RandomRotation(20, interpolation=T.InterpolationMode.BILINEAR),
            T.RandomResizedCrop(64),
            T.RandomHorizontalFlip(1.0),
            T.ColorJitter(0.2, 0.2, 0.2, 0.1),
            T.ToTensor(),
            T.Normalize(HALF, HALF),
        ]
    )


def inverted(image: Any) -> Any:
    return image.point(lambda value: 255 - value)


PIPELINES: dict[str, Callable[[], list[Any]]] = {
    "usual": lambda: usual().transforms,
    "none": list,
    "five": lambda: [T.Resize(50), T.FiveCrop(32)],
    "mix": lambda: [T.AugMix(), T.Resize(30)],
    "elastic": lambda: [T.ElasticTransform(), T.Resize(30)],
    "augment": lambda: [T.RandAugment(8), T.RandAugment(8), T.TrivialAugmentWide()],
    "erasing": lambda: [T.ToTensor(), T.Normalize(HALF, HALF), T.RandomErasing(1.0)],
    "order": lambda: [T.RandomOrder([T.Resize(30), T.RandomHorizontalFlip(1.0)]), T.RandomChoice([T.Pad(3)])],
    "barriers": lambda: [T.Resize(40), T.Lambda(lambda image: image), T.Pad(2), Mine(20), hooked()],
    "nested": lambda: [T.Compose([T.Resize(30), T.RandomApply([T.GaussianBlur(3)], 1.0)]), T.CenterCrop(20)],
    "turns": lambda: [T.RandomRotation((90, 90), expand=True), T.RandomAutocontrast(1.0), T.RandomEqualize(1.0)],
    "long": lambda: [T.ColorJitter(0.4, 0.4, 0.4, 0.4)] * 12,
}
CONTAINERS: dict[str, Any] = {
    "rgb": IMAGE,
    "palette": IMAGE.convert("P"),
    "array": np.asarray(IMAGE),
    "tensor": to_chw(IMAGE),
    "batch": to_chw(IMAGE)[None].repeat(2, 1, 1, 1),
    "six": to_chw(IMAGE).repeat(2, 1, 1),
}


def walked(nodes: list[Any]) -> list[Any]:
    return [one for node in nodes for one in (node, *walked(node.children))]


@pytest.mark.parametrize("name", PIPELINES)
@each("container", CONTAINERS)
def test_the_log_changes_nothing_and_knows_whose_each_op_is(name: str, container: str) -> None:
    pipeline, image = T.Compose(PIPELINES[name]()), CONTAINERS[container]

    def outcome(function: Callable[[Any], Any]) -> tuple[Any, torch.Tensor]:
        seed_all(5)
        try:
            return function(image), torch.get_rng_state()
        except (TypeError, ValueError, RuntimeError) as error:
            return error, torch.get_rng_state()

    expected, state = outcome(pipeline)
    found, after = outcome(lambda image: logged(pipeline, image))
    assert torch.equal(state, after)
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        return
    result, log = found
    comparison = check.Comparison("", "exact", 1, 1)
    check.compare(comparison, 0, 0, result, expected, None, None)
    assert comparison
    order = walked(log.steps)
    for run in (entry for entry in log.timeline if isinstance(entry, Run)):
        places = [order.index(owner) for owner in run.owners]
        assert len(places) == len(run.program) // 96
        assert places == sorted(places)
        assert all(one.origin < 1 << len(places) for one in run.passes)
    assert str(explain.explain(pipeline, image, seed=5)).startswith("mode exact: ")


def only(entries: list[Any], **wanted: Any) -> Any:
    found = [entry for entry in entries if all(entry[key] == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, entries)
    return found[0]


def test_explain_maps_steps_to_passes() -> None:
    explanation = explain.explain(usual(), 256, seed=1)
    store = explanation.passes[-1]
    assert store["name"] == "store"
    assert {"5", "6"} <= set(store["steps"])
    for step in explanation.steps:
        for number in step["passes"]:
            assert step["step"] in explanation.passes[number - 1]["steps"]
    for one in explanation.passes:
        for step in one["steps"]:
            assert one["pass"] in only(explanation.steps, step=step)["passes"]
    rotation = explanation.steps[0]
    assert rotation["name"] == "RandomRotation"
    assert -20 <= rotation["parameters"]["angle"] <= 20
    assert explanation.source == "PIL RGB 256x256"
    assert explanation.result == "tensor float32 3x64x64"
    assert explanation.bytes["moved"] == sum(one["bytes_read"] + one["bytes_written"] for one in explanation.passes)
    assert explanation.bytes["op_by_op"] > explanation.bytes["moved"] > 3 * 64 * 64 * 4
    contrast = only(explanation.barriers, step="4")
    assert "mean of the whole image" in contrast["reason"]
    text = str(explanation)
    for words in ("RandomResizedCrop", "in the store", "kept apart by", "times as much", "contrast of ColorJitter"):
        assert words in text


def test_explain_says_what_was_pushed_back() -> None:
    explanation = explain.explain(T.Compose([T.CenterCrop(40), T.Resize(20), T.ToTensor()]), (100, 120))
    read = explanation.passes[0]
    assert (read["height"], read["width"], read["of"]) == (40, 40, (100, 120))
    assert any("40x40 of 100x120" in note for note in explanation.notes)
    assert any(note.startswith("CenterCrop: crop in place") for note in explanation.notes)
    assert explanation.barriers == []


def test_explain_names_barriers() -> None:
    explanation = explain.explain(T.Compose(PIPELINES["barriers"]()), IMAGE)
    reasons = {barrier["name"]: barrier["reason"] for barrier in explanation.barriers}
    (name,) = (name for name in reasons if name.startswith("Lambda(lambda at test_seeing.py:"))
    assert reasons[name] == "a function of yours"
    assert reasons["Mine"] == "a subclass of Resize that overrides forward"
    assert "hooks" in reasons["Hooked"]
    explanation = explain.explain(T.Compose([T.Resize(40), T.ToTensor()]), IMAGE.convert("P"))
    assert {barrier["reason"] for barrier in explanation.barriers} == {"the core does not read PIL P"}
    assert {one["by"] for one in explanation.passes} == {"Pillow"}
    explanation = explain.explain(T.Compose([T.RandomVerticalFlip(1.0)]), IMAGE)
    assert [(one["by"], one["detail"]) for one in explanation.passes] == [("Pillow", "a single move")]
    assert explanation.barriers == []


def _transparent() -> Image.Image:
    image = Image.new("RGB", (9, 8))
    image.info["transparency"] = (0, 0, 0)
    return image


REASONS = {
    "the core does not do this in this mode": (T.ColorJitter(saturation=(2, 2)), _transparent()),
    "the core does not do this to PIL HSV": (T.ColorJitter(brightness=(2, 2)), Image.new("HSV", (9, 8))),
    "the core does not do this with these arguments": (
        T.Resize(5, antialias=False),
        torch.zeros(3, 9, 8, dtype=torch.uint8),
    ),
}


@pytest.mark.parametrize("words", REASONS)
def test_a_fallback_has_the_cores_reason(words: str) -> None:
    transform, image = REASONS[words]
    explanation = explain.explain(T.Compose([transform]), image)
    assert words in {barrier["reason"] for barrier in explanation.barriers}


def test_explain_says_how_far_batches_go_one_by_one() -> None:
    """Where the first transform stands that is called with an image; Pillow's and the core's reasons are none."""
    sentence = "in batch and map, images go one by one up to and including "
    several = str(explain.explain(T.Compose(PIPELINES["barriers"]()), IMAGE)).splitlines()
    (at,) = (number for number, line in enumerate(several) if sentence in line)
    assert "step 2, Lambda" in several[at - 1]
    assert f"{sentence}step 5, Hooked: " in several[at]
    one = str(explain.explain(T.Compose([T.ColorJitter(contrast=0.5), inverted, T.Resize(9)]), IMAGE)).splitlines()
    (at,) = (number for number, line in enumerate(one) if sentence in line)
    assert "step 2, inverted: a function of yours" in one[at - 1]
    assert f"{sentence}it: " in one[at]
    assert sentence not in str(explain.explain(usual(), IMAGE))
    assert sentence not in str(explain.explain(T.Compose([T.Resize(40), T.ToTensor()]), IMAGE.convert("P")))


def test_explain_does_not_claim_steps_that_do_nothing() -> None:
    steps = explain.explain(T.Compose([T.RandomHorizontalFlip(0.0), T.Resize(30), T.Resize(30)]), 60).steps
    assert steps[0]["passes"] == steps[2]["passes"] == []
    assert steps[1]["passes"]


def test_explain_takes_sizes_and_images() -> None:
    transform = T.Compose([T.Resize(30)])
    for size, source in ((None, "PIL RGB 512x512"), (90, "PIL RGB 90x90"), ((40, 60), "PIL RGB 40x60")):
        assert explain.explain(transform, size).source == source
    assert explain.explain(transform, to_chw(IMAGE)).source == "tensor uint8 3x120x150"
    assert explain.explain(T.Compose([T.ToPILImage(), T.Resize(9)]), 20).source == "array uint8 20x20x3"


def test_explained_parameters_replay() -> None:
    pipeline = usual()
    explanation = explain.explain(pipeline, IMAGE, seed=4)
    seed_all(4)
    assert torch.equal(pipeline.replay(IMAGE, explanation.parameters), pipeline(IMAGE))


def test_nothing_consumes_randomness(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(3)
    pipeline = fastaug.compile(
        T.Compose([T.RandomOrder([T.RandomCrop(50), T.Pad(1)]), T.ToTensor()]), generator=generator
    )
    states = torch.get_rng_state(), random.getstate(), generator.get_state()
    explain.explain(pipeline, IMAGE, tmp_path / "plan.png")
    explain.explain(pipeline, 80, seed=1)
    profile.profile(pipeline, IMAGE, 1)
    check.check(pipeline, IMAGE, 2)
    show.show(pipeline, IMAGE, 2)
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1] == random.getstate()
    assert torch.equal(states[2], generator.get_state())


@pytest.mark.parametrize("name", ["usual", "barriers", "five", "nested", "none"])
def test_plot(name: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.png"
    explanation = explain.explain(T.Compose(PIPELINES[name]()), IMAGE, path, seed=2)
    with Image.open(path) as drawn:
        assert drawn.width > 1500 and drawn.height > 300
        assert len(drawn.getcolors(1 << 24)) > 50
    assert len(explanation._stages()) == len(explanation._pipeline.transforms) + 1
    # Of a size there is no image to show.
    assert explain.explain(T.Compose([T.Resize(9)]), 20)._stages() == []


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "barriers"])
def test_twins_are_equal(name: str) -> None:
    found = twin.twin_of(T.Compose(PIPELINES[name]()))
    assert all(type(step).__module__.startswith("torchvision.") for step in found.steps)
    if name not in ("mix", "elastic"):
        assert check.check(T.Compose(PIPELINES[name]()), IMAGE, 2)


def test_the_twin_of_what_was_compiled_is_the_original() -> None:
    transforms = pytest.importorskip("torchvision.transforms")
    original = transforms.Compose([transforms.Compose([transforms.Resize(30)]), transforms.ToTensor()])
    pipeline = fastaug.compile(original, dtype=torch.float16)
    found = twin.twin_of(pipeline)
    assert found.whole is original
    assert [type(step).__name__ for step in twin.steps_like(found, ["Resize", "ToTensor"]) or []] == [
        "Resize",
        "ToTensor",
    ]
    assert twin.steps_like(found, ["Resize"]) is None
    assert check.check(pipeline, IMAGE, 1)


def test_show() -> None:
    sheet = show.show(usual(), IMAGE, 6, seed=1)
    assert sheet == show.show(usual(), IMAGE, 6, seed=1) != show.show(usual(), IMAGE, 6, seed=2)
    several = show.show(usual(), [IMAGE, photo("coffee", 90, 120)], 6, seed=1)
    assert several.height > sheet.height / 2
    with pytest.raises(ValueError, match="n should be at least 1"):
        show.show(usual(), IMAGE, 0)
    with pytest.raises(ValueError, match="at least one image"):
        show.show(usual(), [])


def test_show_undoes_the_normalisation() -> None:
    mean, std = (0.4, 0.5, 0.6), (0.2, 0.3, 0.4)
    steps = [T.ToTensor(), T.Normalize(mean, std)]
    assert picture.normalisation([*steps, T.RandomErasing()]) == (mean, std)
    assert picture.normalisation([*steps, T.Lambda(lambda image: image)]) is None
    shown = picture.picture(T.Compose(steps)(IMAGE), (mean, std))
    assert np.array_equal(np.asarray(shown), np.asarray(IMAGE))
    spread = np.asarray(picture.picture(T.Compose(steps)(IMAGE)))
    assert spread.min() == 0 and spread.max() == 255
    for image in (noise(5, 7), noise(5, 7, 1), torch.zeros(2, 3, 5, 7), IMAGE.convert("L"), [IMAGE, IMAGE]):
        assert picture.picture(image).mode == "RGB"
