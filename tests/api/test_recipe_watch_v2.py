"""A call of a pipeline of v2 that the core would do by itself is Python's again from when anything has changed."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import pytest
import torch
from PIL import Image
from torch.utils._pytree import SUPPORTED_NODES

import fastaug
import fastaug.transforms as T
from fastaug import tv_tensors
from fastaug._draft.call import PLAIN
from fastaug.transforms import v2
from fastaug.transforms.v2 import functional as F
from support.differences import each

IMAGE = Image.effect_noise((40, 30), 90).convert("RGB")
CALLS = 30


def made() -> Any:
    choice = v2.RandomChoice([v2.RandomInvert(0.5), v2.RandomPosterize(2)], [0.9, 0.1])
    order = v2.RandomOrder([v2.ColorJitter(0.2), v2.RandAugment()])
    policies = [choice, order, v2.AutoAugment(), v2.TrivialAugmentWide(fill=3)]
    inner = v2.Compose([v2.RandomApply([v2.RandomRotation([-20, 20])], 0.7), v2.RandomCrop([20, 20]), *policies])
    end = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5], [0.5])]
    return v2.Compose([inner, v2.RandomHorizontalFlip(), v2.ColorJitter([0.5, 1.5]), *end])


def is_native(pipeline: Any) -> bool:
    recipe = pipeline._book.recipe
    return recipe is not None and recipe.call(IMAGE, pipeline.transforms) is not NotImplemented


def is_taken(pipeline: Any, sample: Any) -> bool:
    """Whether the core would do it, however many it has left to Python before."""
    job = pipeline._book.recipe.job(sample, pipeline.transforms)
    pipeline._call.draws.release()
    return job is not NotImplemented


def ready(pipeline: Any) -> Any:
    """After as many calls as it takes."""
    for _ in range(CALLS):
        pipeline(IMAGE)
    assert is_native(pipeline)
    return pipeline


def results(call: Callable[[Any], Any]) -> list[Any]:
    torch.manual_seed(0)
    return [call(IMAGE) for _ in range(6)]


def agree(pipeline: Any) -> bool:
    """Whether calls are what Python makes of the pipeline as it is now, several times over."""
    for _ in range(3):
        expected = results(lambda image: pipeline._run(image, pipeline._call))
        state = torch.get_rng_state()
        found = results(pipeline)
        same = [type(one) is type(other) and torch.equal(one, other) for one, other in zip(found, expected)]
        if not all(same) or not torch.equal(state, torch.get_rng_state()):
            return False
    return True


def inner(pipeline: Any, index: int) -> Any:
    return pipeline.transforms[0].transforms[index]


def darker(image: Any, *arguments: Any, **named: Any) -> Any:
    return F.posterize(image, 1)


def no_magnitudes(*arguments: Any) -> None:
    pass


CHANGES: dict[str, Callable[[Any], Any]] = {
    "an attribute": lambda p: setattr(p.transforms[1], "p", 0.9),
    "an item of a mean": lambda p: p.transforms[5].mean.__setitem__(0, 0.25),
    "a weight": lambda p: inner(p, 2).p.__setitem__(slice(None), [0.1, 0.9]),
    "one of a choice": lambda p: inner(p, 2).transforms.__setitem__(0, v2.RandomSolarize(10, 1.0)),
    "one of those in any order": lambda p: inner(p, 3).transforms.__setitem__(0, v2.Resize((20, 20))),
    "policies": lambda p: inner(p, 4)._policies.__setitem__(slice(0, 24), [(("Invert", 1.0, None),) * 2] * 24),
    "an augmentation space": lambda p: setattr(inner(p, 5), "_AUGMENTATION_SPACE", {"Invert": (no_magnitudes, False)}),
    "a fill": lambda p: inner(p, 0).transforms[0]._fill.__setitem__("others", 200),
    "a transform that is added": lambda p: setattr(p.transforms[1], "transform", lambda image, params: darker(image)),
    "a forward": lambda p: setattr(p.transforms[1], "forward", darker),
    "a hook": lambda p: p.transforms[1].register_forward_hook(lambda module, given, image: darker(image)),
    "a hook before": lambda p: p.transforms[0].register_forward_pre_hook(lambda module, given: (darker(given[0]),)),
    "a transform more": lambda p: p.transforms.insert(0, darker),
    "a transform less": lambda p: p.transforms.pop(1),
    "one of v1": lambda p: p.transforms.__setitem__(1, T.RandomVerticalFlip(1.0)),
    "another inner one": lambda p: p.transforms[0].transforms.__setitem__(1, v2.CenterCrop(9)),
    "the class of a transform": lambda p: setattr(p.transforms[1], "__class__", v2.RandomVerticalFlip),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_count_at_once(change: str) -> None:
    pipeline = ready(made())
    before = results(pipeline)
    CHANGES[change](pipeline)
    assert not is_native(pipeline)
    assert agree(pipeline)
    after = results(pipeline)
    assert any(one.shape != other.shape or not torch.equal(one, other) for one, other in zip(before, after))


REPLACED: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "forward": lambda: mock.patch.object(v2.RandomHorizontalFlip, "forward", darker),
    "transform": lambda: mock.patch.object(v2.RandomCrop, "transform", lambda self, image, params: darker(image)),
    "make_params": lambda: mock.patch.object(v2.RandomRotation, "make_params", return_value={"angle": 90.0}),
    "the base's __call__": lambda: mock.patch.object(torch.nn.Module, "__call__", lambda self, image: image),
    "a function": lambda: mock.patch.object(F, "horizontal_flip", darker),
    "an op of a space": lambda: mock.patch.dict(
        v2.RandAugment._AUGMENTATION_SPACE, {"ShearX": (no_magnitudes, False), "Color": (no_magnitudes, False)}
    ),
    "another op in a space": lambda: mock.patch.dict(
        v2.TrivialAugmentWide._AUGMENTATION_SPACE, {"Invert": (no_magnitudes, False)}
    ),
    "a space": lambda: mock.patch.object(
        v2.AutoAugment, "_AUGMENTATION_SPACE", v2.AutoAugment._AUGMENTATION_SPACE.copy()
    ),
    "torch.rand": lambda: mock.patch("torch.rand", lambda count: torch.zeros(count)),
    "what runs jobs": lambda: mock.patch.object(PLAIN, "run", mock.Mock(side_effect=PLAIN.run)),
}


@pytest.mark.parametrize("what", REPLACED)
@each("make", [made, lambda: fastaug.compile(made())])
def test_what_is_replaced_is_called(what: str, make: Callable[[], Any]) -> None:
    pipeline = ready(make())
    with REPLACED[what]():
        assert not pipeline._book.recipe.holds() or what in ("torch.rand", "what runs jobs")
        assert not is_native(pipeline)
    ready(pipeline)
    assert agree(pipeline)


PIXELS = torch.arange(3600, dtype=torch.uint8).reshape(3, 30, 40)
CANVAS = 30, 40


def boxes(numbers: Any = ((1.0, 2.0, 3.0, 4.0),), format: str = "XYXY", canvas: tuple[int, int] = CANVAS) -> Any:
    return tv_tensors.BoundingBoxes(torch.as_tensor(numbers), format=format, canvas_size=canvas)  # type: ignore[call-overload]


def points() -> Any:
    return tv_tensors.KeyPoints(torch.tensor([[1, 2]]), canvas_size=CANVAS)


class Pair(NamedTuple):
    image: Any
    label: Any


class OurBoxes(tv_tensors.BoundingBoxes):
    pass


class Target:
    pass


def jitter() -> Any:
    return ready(v2.Compose([v2.ColorJitter(0.5), v2.RandomCrop(9), v2.ToImage()]))


def test_samples_with_one_image_are_done_by_the_core() -> None:
    pipeline = jitter()
    image = tv_tensors.Image(PIXELS)
    samples = [PIXELS, image, IMAGE, (PIXELS, 3), [PIXELS], {"image": IMAGE}, (PIXELS, torch.zeros(2), PIXELS)]
    samples += [(image, {"boxes": boxes(), "labels": torch.ones(1), "points": [points()]}), (torch.ones(2), image)]
    samples += [(image, boxes(torch.zeros(0, 4))), (image, Target(), None, "a word", 2.5)]
    samples += [
        (IMAGE, tv_tensors.Mask(PIXELS[0].long())),
        (IMAGE, tv_tensors.Mask(PIXELS[0])),
        {"image": image, "masks": [tv_tensors.Mask(PIXELS > 9)]},
    ]
    for sample in samples:
        assert is_taken(pipeline, sample)


def test_other_samples_are_python_s() -> None:
    pipeline = jitter()
    mask, video = tv_tensors.Mask(PIXELS[0]), tv_tensors.Video(PIXELS[None])
    others: list[Any] = [boxes(), mask, "a word", None, (), [], {}, ("a word",), (boxes(),)]
    others += [PIXELS[0], PIXELS.float(), PIXELS.permute(1, 2, 0).numpy(), PIXELS[:, :1, :1]]
    beside = [tv_tensors.Mask(PIXELS[0].double()), tv_tensors.Mask(PIXELS[0, :9]), tv_tensors.Mask(PIXELS[:0])]
    beside += [tv_tensors.Mask(torch.stack([*PIXELS], 2).permute(2, 0, 1)), video, tv_tensors.Image(PIXELS)]
    beside += [IMAGE.convert("L"), IMAGE.resize((30, 40))]
    beside += [PIXELS.numpy(), torch.nn.Parameter(torch.ones(1))]
    beside += [boxes(canvas=(30, 39)), boxes().as_subclass(OurBoxes), boxes(torch.ones(1, 5), "XYWHR")]
    beside += [boxes(torch.ones(1, 4, dtype=torch.int32)), boxes(torch.ones(1, 4, requires_grad=True))]
    beside += [OrderedDict(label=1), Pair(1, 2)]
    others += [(IMAGE, leaf) for leaf in beside] + [(torch.zeros(2), PIXELS), Pair(IMAGE, 1)]
    for sample in others:
        assert not is_taken(pipeline, sample)


def test_several_images_and_videos_of_one_size_are_the_core_s() -> None:
    image, video = tv_tensors.Image(PIXELS), tv_tensors.Video(PIXELS[None])
    for sample in (video, PIXELS[None], (IMAGE, IMAGE), (image, video), {"a": [video, boxes()], "b": image}):
        assert is_taken(jitter(), sample)
    policy = ready(v2.Compose([v2.RandAugment(), v2.ToImage()]))
    assert not is_taken(policy, (IMAGE, IMAGE)) and is_taken(policy, (IMAGE, 1))


def test_plain_tensors_that_later_transforms_would_take_for_the_image_are_python_s() -> None:
    for first, last in ((v2.ToPureTensor(), tv_tensors.Image(PIXELS)), (v2.PILToTensor(), IMAGE)):
        dark = v2.ColorJitter(0.5)
        for steps, taken in ([dark, first], True), ([first, dark], False):
            recipe = v2.Compose(steps)._recipe()
            assert (recipe.job((PIXELS, last), steps) is not NotImplemented) is taken
            PLAIN.draws.release()
    steps = [v2.ColorJitter(0.5), v2.ToPureTensor(), v2.RandomVerticalFlip(1.0)]
    recipe = v2.Compose(steps)._recipe()
    assert recipe.job((tv_tensors.Image(PIXELS), boxes()), steps) is NotImplemented


def test_classes_that_become_nodes_later_are_python_s(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = jitter()
    sample = IMAGE, Target()
    assert is_taken(pipeline, sample)
    monkeypatch.setitem(SUPPORTED_NODES, Target, None)
    assert not is_taken(pipeline, sample)


def test_errors_and_warnings_of_places_are_python_s() -> None:
    border = v2.Compose([v2.Pad(3, padding_mode="edge"), v2.ToImage()])
    erasing = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.RandomErasing(1.0)])
    for _ in range(CALLS):
        with pytest.raises(ValueError, match="not supported with bounding boxes"):
            border(IMAGE, boxes())
        with pytest.warns(UserWarning, match="passing through"):
            erasing(IMAGE, boxes())
    assert not is_taken(border, (IMAGE, boxes())) and is_taken(border, (IMAGE, 1))
    assert not is_taken(erasing, (IMAGE, points())) and is_taken(erasing, (IMAGE, 1))
    mask = tv_tensors.Mask(PIXELS[0])
    assert not is_taken(erasing, (IMAGE, mask)) and is_taken(border, (IMAGE, mask))


@pytest.mark.parametrize("kind", [dict, OrderedDict, partial(defaultdict, None)], ids=["dict", "ordered", "default"])
def test_items_of_fills_by_types_are_watched(kind: Callable[[Any], Any]) -> None:
    fill: Any = kind({tv_tensors.Mask: 3, "others": [1, 2, 3]})
    pipeline = ready(v2.Compose([v2.Pad(2, fill), v2.ColorJitter(0.5), v2.ToImage()]))
    fill["others"][0] = 200.0
    assert not is_native(pipeline)
    assert agree(pipeline)
    pipeline = ready(pipeline)
    del fill["others"]
    assert not is_native(pipeline)
    assert agree(pipeline)


def test_samples_are_copies_of_their_containers() -> None:
    pipeline = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ColorJitter(0.5)])
    label, found = torch.ones(1), boxes()
    sample = {"b": [IMAGE, {"label": label}], "a": (found, points())}
    for _ in range(CALLS):
        result = pipeline(sample)
    assert is_taken(pipeline, sample)
    assert sample["b"][0] is IMAGE and sample["a"][0] is found and found.tolist() == [[1, 2, 3, 4]]
    assert list(result) == ["b", "a"] and result["b"] is not sample["b"] and result["b"][1]["label"] is label
    assert result["a"][0].tolist() == [[37, 2, 39, 4]] and result["a"][0].canvas_size == CANVAS
    assert result["a"][1].tolist() == [[38, 2]] and type(result["a"][1]) is tv_tensors.KeyPoints


def test_several_arguments_are_a_sample() -> None:
    pipeline = ready(made())
    image, label = pipeline(IMAGE, 7)
    assert image.shape == (3, 20, 20) and label == 7


def test_a_user_s_class_has_none() -> None:
    class Darker(v2.RandomHorizontalFlip):
        pass

    own = v2.RandAugment()
    own._AUGMENTATION_SPACE = {"Invert": (no_magnitudes, False)}  # type: ignore[misc]
    other = v2.RandomChoice([v2.Resize(9)])
    other.p = [1]
    nested = [v2.RandomChoice([T.Resize(9)]), v2.RandomOrder([T.Resize(9)])]
    for step in (Darker(), v2.Lambda(darker), v2.AugMix(), own, other, *nested, T.Resize(9)):
        assert v2.Compose([step])._recipe() is None


def test_weights_and_magnitudes_are_those_of_the_usual_dtype() -> None:
    steps = [v2.RandomChoice([v2.Resize(9)]), v2.TrivialAugmentWide()]
    torch.set_default_dtype(torch.float64)
    try:
        assert [v2.Compose([step])._recipe() for step in steps] == [None, None]
    finally:
        torch.set_default_dtype(torch.float32)
    assert None not in [v2.Compose([step])._recipe() for step in steps]
