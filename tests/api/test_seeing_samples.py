"""explain, profile and show of pipelines of samples: what is true of every leaf, and as of images where that is all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug.transforms as T
from fastaug._draft.generators import seed_all
from fastaug._inspect import explain, show, words
from fastaug._inspect.log import logged
from fastaug._inspect.picture import corners_of, listed, normalisation, picture, sample_picture
from fastaug._inspect.records import Outside, Run
from fastaug._sample.sample import Sample
from fastaug.transforms import v2
from support.differences import each
from support.images import photo, to_chw
from support.random_samples import boxes, mask
from support.v2_outcomes import run_v2, v2_difference

IMAGE = photo("chelsea", 60, 75)
CANVAS = (60, 75)
HALF = [0.5, 0.5, 0.5]


class Pair(NamedTuple):
    image: Any
    target: Any


class Mirrored(v2.Transform):
    """One of a user's own."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(v2.functional.horizontal_flip, inpt)


def target(seed: int = 0) -> dict[str, Any]:
    places = boxes("XYXY", 3, CANVAS, "float32", "soft", seed)
    points = tvt.KeyPoints([[3.0, 4.0], [20.5, 30.0]], canvas_size=CANVAS)
    return {"boxes": places, "masks": mask("bool", seed, 3, *CANVAS), "points": points, "labels": torch.arange(3)}


def tensor_image() -> Any:
    return tvt.Image(to_chw(IMAGE))


SAMPLES: dict[str, Callable[[], Any]] = {
    "PIL image": lambda: IMAGE,
    "tensor": lambda: to_chw(IMAGE),
    "floats": lambda: (to_chw(IMAGE) / 255, 7),
    "detection": lambda: {"image": tensor_image(), "target": target()},
    "PIL detection": lambda: (IMAGE, target()),
    "segmentation": lambda: Pair(IMAGE, mask("uint8", 1, *CANVAS)),
    "rotated": lambda: [tensor_image(), boxes("CXCYWHR", 2, CANVAS, "float32", "soft", 0)],
    "video": lambda: {"video": tvt.Video(torch.stack([to_chw(IMAGE)] * 3)), "label": "cat"},
    "plain and masks": lambda: (to_chw(IMAGE), tvt.Mask(torch.ones(CANVAS, dtype=torch.uint8)), torch.zeros(2, 2)),
}
PIPELINES: dict[str, Callable[[], list[Any]]] = {
    "usual": lambda: [v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True)],
    "colours": lambda: [v2.RandomPhotometricDistort(1.0), v2.RandomApply([v2.ColorJitter(0.4, 0.4)], 0.7), v2.Pad(2)],
    "warps": lambda: [v2.RandomChoice([v2.RandomRotation(20), v2.RandomAffine(9)]), v2.ElasticTransform(9.0)],
    "nested": lambda: [v2.Compose([v2.Resize(40), v2.RandomOrder([v2.GaussianBlur(3), v2.RandomVerticalFlip(1.0)])])],
    "functions": lambda: [v2.Resize(40), lambda *sample: sample[0], Mirrored(), v2.Identity(), v2.CenterCrop(30)],
    "Lambda": lambda: [v2.Resize(40), v2.Lambda(lambda leaf: leaf + 1, tvt.Image), v2.RandomHorizontalFlip(1.0)],
    "made anew": lambda: [v2.ToImage(), v2.Resize((30, 30)), v2.ToPureTensor()],
    "crops": lambda: [v2.Resize(40), v2.FiveCrop(20)],
    "another structure": lambda: [v2.Resize(40), lambda sample: {"all": sample}, v2.RandomHorizontalFlip(1.0)],
    "detection": lambda: [
        v2.RandomZoomOut(p=1.0),
        v2.RandomIoUCrop(),
        v2.SanitizeBoundingBoxes(labels_getter=None),
        v2.RandomPhotometricDistort(),
    ],
}


def walked(nodes: list[Any]) -> list[Any]:
    return [one for node in nodes for one in (node, *walked(node.children))]


@pytest.mark.parametrize("name", PIPELINES)
@each("sample", SAMPLES)
def test_the_log_changes_nothing_and_knows_whose_each_op_is(name: str, sample: str) -> None:
    pipeline = v2.Compose(PIPELINES[name]())
    for seed in range(2):
        log: Any = None

        def seen(value: Any) -> Any:
            nonlocal log
            result, log = logged(pipeline, value)
            return result

        expected, found = run_v2(pipeline, (SAMPLES[sample](),), seed), run_v2(seen, (SAMPLES[sample](),), seed)
        difference = v2_difference(found, expected)
        assert difference is None, difference
        if expected.error is not None:
            assert type(found.error) is type(expected.error)
            return
        order = walked(log.steps)
        for run in (entry for entry in log.timeline if isinstance(entry, Run)):
            places = [order.index(owner) for owner in run.owners]
            assert len(places) == len(run.program) // 96
            assert places == sorted(places)
            assert run.leaf in log.leaves
        explanation = explain.explain(pipeline, SAMPLES[sample](), seed=seed)
        assert str(explanation).startswith("mode exact: ")
        assert explanation.bytes["moved"] == sum(one["bytes_read"] + one["bytes_written"] for one in explanation.passes)
        assert [one["pass"] for one in explanation.passes] == list(range(1, len(explanation.passes) + 1))
        for step in explanation.steps:
            for number in step["passes"]:
                assert step["step"] in explanation.passes[number - 1]["steps"]


def only(entries: list[Any], **wanted: Any) -> Any:
    found = [entry for entry in entries if all(entry[key] == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, entries)
    return found[0]


def test_explain_maps_steps_to_leaves() -> None:
    jitter = v2.RandomApply([v2.ColorJitter(0.4)], 1.0)
    pipeline = v2.Compose([v2.RandomHorizontalFlip(1.0), jitter, v2.Resize((30, 40)), v2.ToDtype(torch.float32, True)])
    explanation = explain.explain(pipeline, {"image": tensor_image(), "target": target()}, seed=1)
    image, masks = "['image']", "['target']['masks']"
    moved = [image, "['target']['boxes']", masks, "['target']['points']"]
    assert [step["changed"] for step in explanation.steps] == [moved, [image], [image], moved, [image]]
    assert [step["step"] for step in explanation.steps] == ["1", "2", "2.1", "3", "4"]
    assert {"applied": True} == explanation.steps[0]["parameters"] == explanation.steps[1]["parameters"]
    assert 0.6 <= explanation.steps[2]["parameters"]["brightness_factor"] <= 1.4
    of_image = only(explanation.leaves, leaf=image)
    assert (of_image["kind"], of_image["changed"]) == ("pixels", ["1", "2.1", "3", "4"])
    assert (of_image["source"], of_image["result"]) == ("Image uint8 3x60x75", "Image float32 3x30x40")
    store = only([one for one in explanation.passes if one["leaf"] == image], name="store")
    assert store["steps"] == ["4"]
    of_masks = [one for one in explanation.passes if one["leaf"] == masks]
    assert of_masks and {step for one in of_masks for step in one["steps"]} == {"1", "3"}
    of_boxes = only(explanation.leaves, leaf="['target']['boxes']")
    assert (of_boxes["kind"], of_boxes["by"]) == ("places", ["the core or torch"])
    assert only(explanation.leaves, leaf="['target']['labels']")["changed"] == []
    text = str(explanation)
    for part in (
        f"{image}: Image uint8 3x60x75 -> Image float32 3x30x40",
        "no pass over pixels: changed by the core or torch in steps 1, 3",
        "handed on as they are: ['target']['labels']",
        "BoundingBoxes float32 3x4 XYXY of 30x40",
    ):
        assert part in text


def test_rotated_boxes_are_moved_by_torch() -> None:
    explanation = explain.explain(v2.Compose([v2.RandomHorizontalFlip(1.0)]), SAMPLES["rotated"]())
    assert only(explanation.leaves, leaf="[1]")["by"] == ["torch"]


@pytest.mark.parametrize("sample", ["PIL image", "tensor"])
def test_an_image_alone_reads_as_in_a_pipeline_of_images(sample: str) -> None:
    def steps(package: Any) -> list[Any]:
        turned = package.RandomApply([package.RandomVerticalFlip(1.0)], 1.0)
        return [package.RandomHorizontalFlip(1.0), turned, package.CenterCrop(40), lambda image: image, package.Pad(3)]

    image = SAMPLES[sample]()
    texts = [str(explain.explain(package.Compose(steps(package)), image)) for package in (T, v2)]
    assert re.sub(r"lambda at \S+", "lambda", texts[0]) == re.sub(r"lambda at \S+", "lambda", texts[1])


def test_a_function_of_the_user_is_one_barrier_of_all_leaves() -> None:
    pipeline = v2.Compose([v2.Resize(40), lambda sample: sample, Mirrored()])
    explanation = explain.explain(pipeline, (tensor_image(), target()))
    text = str(explanation)
    assert text.count("a function of yours") == 1
    assert "a function of yours ([0], [1]['masks'])" in text
    assert "a transform of yours ([0], [1]['masks'])" in text
    assert "up to and including step 3, Mirrored" in text
    assert explanation.steps[1]["changed"] == []
    assert explanation.steps[2]["changed"] == ["[0]", "[1]['boxes']", "[1]['masks']", "[1]['points']"]


def test_what_the_core_does_not_read_is_said_so() -> None:
    pipeline = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ColorJitter(0.2)])
    for dtype, reason in ((torch.float64, "read tensor float64"), (torch.float32, "do this to tensor float")):
        explanation = explain.explain(pipeline, (torch.rand(3, 60, 75, dtype=dtype), 1))
        assert [(one["by"], one["leaf"]) for one in explanation.passes] == [("torch", "[0]")] * 2
        assert f"the core does not {reason}" in str(explanation)


def test_what_asks_for_an_image_is_no_change_of_it() -> None:
    def labels(sample: Any) -> Any:
        return sample["target"]["labels"]

    pipeline = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.SanitizeBoundingBoxes(min_size=9, labels_getter=labels)])
    step = explain.explain(pipeline, {"image": tensor_image(), "target": target()}).steps[1]
    assert "['image']" not in step["changed"]
    assert {"['target']['boxes']", "['target']['masks']"} <= set(step["changed"])


def test_explain_takes_sizes() -> None:
    pipeline = v2.Compose([v2.CenterCrop(40)])
    assert explain.explain(pipeline, 64).source == "PIL RGB 64x64"
    assert explain.explain(pipeline, (64, 72)).source == "PIL RGB 64x72"
    assert pipeline.explain().source == "PIL RGB 512x512"


def test_explained_parameters_replay() -> None:
    pipeline = v2.Compose(PIPELINES["detection"]())
    sample = {"image": tensor_image(), "target": target()}
    for seed in range(6):
        seed_all(seed)
        expected = pipeline(sample)
        replayed = pipeline.replay(sample, explain.explain(pipeline, sample, seed=seed).parameters)
        for one, other in zip(Sample((replayed,)).leaves, Sample((expected,)).leaves):
            assert torch.equal(one, other)


def test_drawing_that_nothing_is_to_be_done_can_be_replayed() -> None:
    pipeline = v2.Compose([v2.RandomIoUCrop(sampler_options=[1.0]), v2.RandomHorizontalFlip(1.0)])
    sample = {"image": tensor_image(), "target": target()}
    params = pipeline.sample(sample)
    assert params[0] == {"transform": "RandomIoUCrop"}
    flipped = pipeline.replay(sample, params)
    assert torch.equal(flipped["image"], sample["image"].flip(-1))


def test_device() -> None:
    pipeline = v2.Compose([v2.Resize((20, 20)), v2.ToImage(), v2.ToDtype(torch.float32, True)])
    assert "all of it" in (explain.explain(pipeline, IMAGE, device="cuda").device or "")
    text = explain.explain(pipeline, (IMAGE, target()), device="cuda").device or ""
    assert text.startswith("not possible: the pipeline has to end in tensors, and this one gives (")


@pytest.mark.parametrize("sample", ["PIL image", "detection", "video"])
def test_plot(sample: str, tmp_path: Path) -> None:
    for name in ("usual", "functions"):
        path = tmp_path / f"{name}.png"
        state = torch.get_rng_state()
        v2.Compose(PIPELINES[name]()).explain(SAMPLES[sample](), plot=path)
        assert torch.equal(state, torch.get_rng_state())
        with Image.open(path) as drawn:
            assert drawn.width > 1000 and drawn.height > 400


# ---- words


def test_paths() -> None:
    sample = Sample(({"image": 1, "target": [2, (3, {"a": 4})]}, Pair(5, 6)))
    expected = ["[0]['image']", "[0]['target'][0]", "[0]['target'][1][0]", "[0]['target'][1][1]['a']"]
    assert sample.paths() == [*expected, "[1].image", "[1].target"]
    assert Sample((5,)).paths() == [""]
    assert Sample(((),)).paths() == []


def test_leaves_in_words() -> None:
    assert words.described(tensor_image()) == "Image uint8 3x60x75"
    assert (
        words.described(boxes("CXCYWH", 2, CANVAS, "float32", "soft", 0)) == "BoundingBoxes float32 2x4 CXCYWH of 60x75"
    )
    hard = tvt.KeyPoints([[1.0, 2.0]], canvas_size=CANVAS)
    assert words.described(hard).startswith("KeyPoints float32 1x2 of 60x75")
    one, other = (boxes("XYXY", 2, CANVAS, "float32", mode, 0) for mode in ("soft", None))
    assert words.described(other) == f"{words.described(one)}, clamping None"


def test_a_list_is_several_samples() -> None:
    pair = (IMAGE, 1)
    assert listed(pair, samples=True) == [pair]
    assert listed([pair, pair], samples=True) == [pair, pair]
    assert listed({"image": IMAGE}, samples=True) == [{"image": IMAGE}]
    with pytest.raises(ValueError, match="at least one sample"):
        listed([], samples=True)


# ---- profile


def test_profile() -> None:
    jitter = v2.RandomApply([v2.ColorJitter(0.2, 0.2)], 0.5)
    crop = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip()])
    pipeline = v2.Compose([crop, jitter, lambda sample: sample, v2.ToDtype(torch.float32, True)])
    state = torch.get_rng_state()
    result = pipeline.profile([(tensor_image(), target()), (IMAGE, target(1))], repeat=2)
    assert torch.equal(state, torch.get_rng_state())
    assert result.calls == 4
    ours = result.total["ours"]["mean"]
    assert sum(one["mean"] for one in result.passes) == pytest.approx(ours)
    assert sum(step["ours"] for step in result.steps) == pytest.approx(ours)
    names = ["1.1 RandomResizedCrop", "1.2 RandomHorizontalFlip", "2 RandomApply", "4 ToDtype"]
    rows = {step["name"]: step for step in result.steps}
    assert all(rows[name]["theirs"] > 0 for name in names)
    leaves = {one["leaf"] for one in result.passes}
    assert leaves == {"", "[0]", "[1]['boxes']", "[1]['masks']", "[1]['points']"}
    (called,) = (one for one in result.passes if one["by"] == "Python")
    assert called["leaf"] == ""
    text = str(result)
    for part in ("2 samples, 4 calls", "[1]['masks']", "the core or torch", "torchvision"):
        assert part in text


def test_profile_of_an_image_alone_has_no_leaves() -> None:
    result = v2.Compose([v2.Resize(20)]).profile(IMAGE, 1)
    assert {one["leaf"] for one in result.passes} == {""}
    assert "leaf" not in str(result)


def test_a_log_times_what_is_done_elsewhere() -> None:
    def busy(sample: Any) -> Any:
        return sum(range(20000)) and sample

    _, log = logged(v2.Compose([v2.Resize(20), busy]), (IMAGE, mask("uint8", 0, *CANVAS)))
    called = [entry for entry in log.timeline if isinstance(entry, Outside) and entry.kind == "barrier"]
    assert [entry.leaf for entry in called] == ["[0]", "[1]"]
    assert called[0].seconds > 1e-4 and called[1].seconds == 0
    assert log.seconds() >= sum(entry.seconds for entry in log.timeline)


# ---- show


def test_show() -> None:
    pipeline = v2.Compose(PIPELINES["usual"]())
    sample = {"image": tensor_image(), "target": target()}
    sheet = pipeline.show(sample, 6, seed=1)
    assert sheet == pipeline.show(sample, 6, seed=1) != pipeline.show(sample, 6, seed=2)
    assert pipeline.show([sample, IMAGE, tensor_image()], 6, seed=1).height > sheet.height / 2
    with pytest.raises(ValueError, match="n should be at least 1"):
        pipeline.show(sample, 0)


def test_an_image_alone_is_shown_as_in_a_pipeline_of_images() -> None:
    for image in (IMAGE, tensor_image(), to_chw(IMAGE), {"image": IMAGE, "label": torch.ones(2, 2)}):
        assert sample_picture(image) == picture(IMAGE)
    video = torch.stack([to_chw(IMAGE), torch.zeros(3, *CANVAS, dtype=torch.uint8)])
    assert sample_picture((torch.zeros(3, 2, 2), tvt.Video(video))) == picture(IMAGE)
    ours, theirs = (show.show(package.Compose([package.CenterCrop(30)]), IMAGE, 4) for package in (v2, T))
    assert ours == theirs


def at(shown: Image.Image, x: float, y: float) -> tuple[int, ...]:
    """The pixel of a picture at a place of the canvas."""
    pixel = shown.getpixel((round(x * shown.width / CANVAS[1]), round(y * shown.height / CANVAS[0])))
    assert isinstance(pixel, tuple)
    return pixel


def test_masks_are_translucent_and_of_many_colours() -> None:
    image = torch.full((3, *CANVAS), 100, dtype=torch.uint8)
    instances = torch.zeros(2, *CANVAS, dtype=torch.bool)
    instances[0, 10:20, 10:20] = instances[1, 30:40, 40:60] = True
    shown = sample_picture((image, tvt.Mask(instances)))
    assert at(shown, 2, 2) == (100, 100, 100)
    first, second = at(shown, 15, 15), at(shown, 50, 35)
    assert len({first, second, (100, 100, 100)}) == 3
    labels = torch.zeros(CANVAS, dtype=torch.uint8)
    labels[10:20, 10:20], labels[30:40, 40:60] = 1, 2
    for semantic in (labels, labels[None], labels.to(torch.int64)):
        shown = sample_picture((image, tvt.Mask(semantic)))
        assert (at(shown, 2, 2), at(shown, 15, 15), at(shown, 50, 35)) == ((100, 100, 100), first, second)


@pytest.mark.parametrize("format", [one.name for one in tvt.BoundingBoxFormat])
def test_boxes_of_every_format(format: str) -> None:
    placed = boxes(format, 4, CANVAS, "float64", "soft", 0)
    wanted = "XYXYXYXY" if tvt.is_rotated_bounding_format(format) else "XYXY"
    expected = TV.functional.convert_bounding_box_format(placed, new_format=wanted).as_subclass(torch.Tensor).numpy()
    corners = corners_of(placed.as_subclass(torch.Tensor), format)
    assert corners.shape == (4, 4, 2)
    found = corners.reshape(4, 8) if wanted == "XYXYXYXY" else corners[:, [0, 2]].reshape(4, 4)
    assert np.allclose(found, expected, atol=1e-4)
    plain = Image.new("RGB", (75, 60))
    assert np.asarray(sample_picture((plain, placed))).any()
    assert np.asarray(sample_picture((plain, tvt.wrap(placed[:0], like=placed)))).max() == 0


def test_points_and_samples_without_images() -> None:
    points = tvt.KeyPoints([[20.0, 30.0], [50.0, 10.0]], canvas_size=CANVAS)
    shown = sample_picture((Image.new("RGB", (75, 60)), points))
    assert at(shown, 20, 30) != at(shown, 50, 10) != (0, 0, 0) == at(shown, 2, 2)
    of_one = sample_picture((Image.new("RGB", (75, 60)), tvt.wrap(points[None], like=points)))
    assert at(of_one, 20, 30) == at(of_one, 50, 10)
    none = sample_picture((Image.new("RGB", (75, 60)), tvt.wrap(points[:0], like=points)))
    assert np.asarray(none).max() == 0
    assert at(sample_picture(points), 20, 30) == at(shown, 20, 30)
    assert sample_picture({"label": 3}).mode == "RGB"


def test_show_undoes_the_normalisation() -> None:
    normalised = v2.Compose(
        [v2.ToImage(), v2.ToDtype(torch.float32, True), v2.Normalize(HALF, HALF), v2.ToPureTensor()]
    )
    assert normalisation(normalised.transforms) == (HALF, HALF)
    shown = picture(normalised(IMAGE), (HALF, HALF))
    assert np.array_equal(np.asarray(shown), np.asarray(IMAGE))


def test_drawing_leaves_the_sample_as_it_is() -> None:
    """Even where the transforms are to write to it; and labels are still known for those of the boxes."""
    pipeline = v2.Compose([v2.Normalize([0.5], [0.5], inplace=True), v2.RandomErasing(1.0, inplace=True)])
    image = torch.rand(3, 20, 30, generator=torch.Generator().manual_seed(0))
    before = image.clone()
    pipeline.sample(image)
    pipeline.sample({"image": image, "label": 3})
    assert torch.equal(image, before)
    found = tvt.BoundingBoxes([[0, 0, 9, 9], [3, 3, 3, 3]], format="XYXY", canvas_size=(20, 30))
    twice = v2.Compose([v2.SanitizeBoundingBoxes(), v2.SanitizeBoundingBoxes(min_size=2)])
    assert twice.sample({"boxes": found, "labels": torch.arange(2)}) == []


@pytest.mark.parametrize("sample", [(), [], (3,), [1, 2, 3], (True, 4), "text"])
def test_sizes_are_pairs(sample: Any) -> None:
    """Other numbers than a pair are a sample, in which there is nothing to draw for."""
    assert v2.Compose([v2.Identity(), v2.ToPureTensor()]).sample(sample) == []


def test_transforms_of_images_are_no_barrier() -> None:
    plan = v2.Compose([T.Decode(), T.CenterCrop(50), v2.ToImage(), v2.Resize(20)]).explain(IMAGE)
    assert not plan.barriers and "kept apart by\n  nothing" in str(plan)
    drawing = v2.Compose([T.RandomRotation(20), v2.ToImage()]).explain(IMAGE)
    assert [one["reason"] for one in drawing.barriers] == ["a transform of images, called with the sample"]
    hook = torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        hooked = v2.Compose([T.CenterCrop(50), v2.ToImage()]).explain(IMAGE)
    finally:
        hook.remove()
    assert hooked.barriers[0]["reason"] == "hooks on all modules want to see images"
