"""Each class of transforms.v2 beside torchvision's: repr, errors, what it draws, and what it does to a sample."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2 as TV

from fastaug.transforms import v2
from support.differences import each, grouped
from support.outcomes import seed_all
from support.own_names import own_names
from support.versions import differs, since

pytestmark = pytest.mark.filterwarnings("ignore")

HEIGHT, WIDTH = 37, 53


def _image(channels: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(channels)
    return torch.randint(0, 256, (channels, HEIGHT, WIDTH), dtype=torch.uint8, generator=generator)


IMAGE = _image()
BOXES = torch.tensor([[3.0, 4, 20, 30], [10, 2, 50, 20], [30, 20, 45, 33], [7, 7, 7, 9]])
CANVAS = (HEIGHT, WIDTH)


def boxes(format: str = "XYXY") -> tv_tensors.BoundingBoxes:
    numbers = TV.functional.convert_bounding_box_format(BOXES, "XYXY", format)
    return tv_tensors.BoundingBoxes(numbers, format=format, canvas_size=CANVAS)


def points() -> tv_tensors.KeyPoints:
    return tv_tensors.KeyPoints([[1.0, 2.0], [30.5, 36.5], [60.0, 3.0]], canvas_size=CANVAS)


def masks() -> tv_tensors.Mask:
    return tv_tensors.Mask((_image(4) > 128).to(torch.uint8))


def pil() -> PIL.Image.Image:
    return PIL.Image.fromarray(IMAGE.permute(1, 2, 0).numpy())


def detection() -> dict[str, Any]:
    return {
        "image": tv_tensors.Image(IMAGE),
        "target": {"boxes": boxes(), "masks": masks(), "labels": torch.arange(4), "name": "sample"},
    }


SAMPLES: dict[str, Callable[[], Any]] = {
    "pil": pil,
    "gray pil": lambda: pil().convert("L"),
    "tensor": lambda: IMAGE.clone(),
    "floats": lambda: IMAGE / 255,
    "image": lambda: tv_tensors.Image(IMAGE),
    "float image": lambda: tv_tensors.Image(IMAGE / 255),
    "video": lambda: tv_tensors.Video(torch.stack([IMAGE, IMAGE.flip(-1)])),
    "detection": detection,
    "pil detection": lambda: {**detection(), "image": pil()},
    "points": lambda: (tv_tensors.Image(IMAGE), points(), 3),
    "semantic": lambda: (pil(), tv_tensors.Mask(_image(1)[0])),
    "boxes": lambda: [IMAGE.clone(), boxes("CXCYWH")],
    "array": lambda: IMAGE.permute(1, 2, 0).numpy(),
    "batch": lambda: (torch.stack([IMAGE, IMAGE.flip(-1)]) / 255, torch.tensor([1, 3])),
}
if not since(0, 24):
    del SAMPLES["points"]

#: What to call the classes with: by number, as a class may be there more than once.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("RandomHorizontalFlip", (), {}),
    ("RandomVerticalFlip", (), {"p": 0.7}),
    ("Resize", (20,), {}),
    ("Resize", ((20, 31),), {"interpolation": "bicubic", "antialias": False}),
    ("Resize", (None,), {"max_size": 40, "interpolation": 0}),
    ("CenterCrop", (24,), {}),
    ("CenterCrop", ([60, 20],), {}),
    ("RandomResizedCrop", (16,), {}),
    ("RandomResizedCrop", ((8, 16), (0.9, 1.0), (3.0, 4.0)), {"interpolation": v2.InterpolationMode.NEAREST}),
    ("FiveCrop", (12,), {}),
    ("TenCrop", ((12, 8), True), {}),
    ("Pad", (3,), {}),
    ("Pad", ([1, 2], 7, "constant"), {}),
    ("Pad", ((1, 2, 3, 4),), {"padding_mode": "reflect"}),
    ("Pad", (2, {tv_tensors.Image: 9, "others": 1}), {}),
    ("RandomZoomOut", (), {"p": 0.8}),
    ("RandomZoomOut", ([1, 2, 3], (1, 2)), {}),
    ("RandomRotation", (25,), {}),
    ("RandomRotation", ((10, 90),), {"interpolation": "bilinear", "expand": True, "fill": 3}),
    ("RandomAffine", (10,), {}),
    ("RandomAffine", (10, (0.1, 0.3), (0.8, 1.2), 5), {"center": [3, 4], "fill": [1.0, 2.0, 3.0]}),
    ("RandomAffine", ((-3, 8),), {"shear": [-5, 5, -3, 3], "interpolation": 2}),
    ("RandomCrop", (20,), {}),
    ("RandomCrop", ((HEIGHT, 20), 3), {}),
    ("RandomCrop", ((60, 80), [3, 5], True), {"fill": 4}),
    ("RandomCrop", ((40, 20),), {"pad_if_needed": True, "padding_mode": "edge"}),
    ("RandomPerspective", (), {}),
    ("RandomPerspective", (0.6, 1.0, "nearest"), {}),
    ("ElasticTransform", (), {}),
    ("ElasticTransform", ([30, 20.0], [2.0]), {}),
    ("RandomIoUCrop", (), {}),
    ("RandomIoUCrop", (0.1, 0.9, 0.8, 1.2, [0.5, 2.0], 5), {}),
    ("ScaleJitter", ((100, 60),), {}),
    ("RandomShortestSize", ([10, 20, 30],), {"max_size": 45}),
    ("RandomShortestSize", (14,), {}),
    ("RandomResize", (10, 40), {}),
    ("Grayscale", (), {}),
    ("Grayscale", (3,), {}),
    ("RandomGrayscale", (0.5,), {}),
    ("RGB", (), {}),
    ("ColorJitter", (), {}),
    ("ColorJitter", (0.4, 0.4, 0.2, 0.1), {}),
    ("ColorJitter", (), {"hue": (-0.1, 0.3), "brightness": [0.5, 2]}),
    ("RandomChannelPermutation", (), {}),
    ("RandomPhotometricDistort", (), {}),
    ("RandomPhotometricDistort", (), {"p": 0.9}),
    ("RandomEqualize", (), {}),
    ("RandomInvert", (), {}),
    ("RandomPosterize", (3,), {}),
    ("RandomSolarize", (0.5,), {}),
    ("RandomAutocontrast", (), {}),
    ("RandomAdjustSharpness", (1.7,), {}),
    ("Identity", (), {}),
    ("Normalize", ([0.4, 0.5, 0.6], (0.2, 0.3, 0.4)), {}),
    ("GaussianBlur", (3,), {}),
    ("GaussianBlur", ([5, 7], 0.7), {}),
    ("GaussianNoise", (), {}),
    ("GaussianNoise", (0.1, 0.2, False), {}),
    ("ToDtype", (torch.float32,), {}),
    ("ToDtype", (torch.float32, True), {}),
    ("ToDtype", ({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None},), {"scale": True}),
    ("ToDtype", ({tv_tensors.Image: torch.float32},), {}),
    ("ConvertImageDtype", (), {}),
    ("SanitizeBoundingBoxes", (), {}),
    ("SanitizeBoundingBoxes", (3.0, 400.0, None), {}),
    ("SanitizeKeyPoints", (), {}),
    ("JPEG", (50,), {}),
    ("JPEG", ((5, 60),), {}),
    ("RandomErasing", (), {"p": 0.8}),
    ("RandomErasing", (0.9, (0.1, 0.3), (0.5, 2.0), [1, 2, 3]), {}),
    ("RandomErasing", (), {"p": 1.0, "value": "random"}),
    ("MixUp", (), {"num_classes": 5}),
    ("CutMix", (), {"alpha": 0.4, "num_classes": 5}),
    ("UniformTemporalSubsample", (1,), {}),
    ("PILToTensor", (), {}),
    ("ToImage", (), {}),
    ("ToPILImage", (), {}),
    ("ToPILImage", ("RGB",), {}),
    ("ToPureTensor", (), {}),
    ("ToTensor", (), {}),
    ("ConvertBoundingBoxFormat", ("XYWH",), {}),
    ("ClampBoundingBoxes", (), {}),
    ("ClampBoundingBoxes", ("hard",), {}),
    ("ClampKeyPoints", (), {}),
    ("SetClampingMode", ("hard",), {}),
    ("AutoAugment", (), {}),
    ("AutoAugment", (v2.AutoAugmentPolicy.SVHN, "bilinear"), {"fill": 3}),
    ("RandAugment", (), {}),
    ("RandAugment", (3, 4, 11), {"fill": [1, 2, 3]}),
    ("TrivialAugmentWide", (), {}),
    ("TrivialAugmentWide", (7, "bilinear"), {}),
    ("AugMix", (), {}),
    ("AugMix", (5, 2, 2, 0.5, False), {}),
]

CLASSES = {name for name, _, _ in CASES}
CASES = [case for case in CASES if not differs(case[0])]

all_cases = grouped(CASES, "case", lambda case: case[0])


def _theirs(argument: Any) -> Any:
    """Members of torchvision's enums, for ours."""
    if isinstance(argument, v2.AutoAugmentPolicy):
        return TV.AutoAugmentPolicy(argument.value)
    return TV.InterpolationMode(argument.value) if isinstance(argument, v2.InterpolationMode) else argument


def made(case: tuple[str, tuple[Any, ...], dict[str, Any]]) -> tuple[Any, Any]:
    name, args, kwargs = copy.deepcopy(case)
    ours = getattr(v2, name)(*args, **kwargs)
    name, args, kwargs = copy.deepcopy(case)
    theirs = getattr(TV, name)(*map(_theirs, args), **{key: _theirs(value) for key, value in kwargs.items()})
    return ours, theirs


def outcome(function: Callable[..., Any], *args: Any, seed: int = 0) -> tuple[Any, torch.Tensor]:
    """What it returns or the type of its error, and the state of torch's generator."""
    seed_all(seed)
    try:
        result = function(*args)
    except Exception as error:  # whatever it is, the other has to raise the same
        result = type(error)
    return result, torch.get_rng_state()


def assert_same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, torch.Tensor):
        assert ours.dtype is theirs.dtype
        assert ours.shape == theirs.shape
        plain, other = ours.as_subclass(torch.Tensor), theirs.as_subclass(torch.Tensor)
        if theirs.dtype.is_floating_point:
            torch.testing.assert_close(plain, other, rtol=1e-5, atol=1e-5)
        else:
            assert torch.equal(plain, other)
        for name in ("format", "canvas_size", "clamping_mode") if since(0, 23) else ("format", "canvas_size"):
            assert getattr(ours, name, None) == getattr(theirs, name, None)
    elif isinstance(theirs, PIL.Image.Image):
        assert ours.mode == theirs.mode
        assert np.array_equal(np.asarray(ours), np.asarray(theirs))
    elif isinstance(theirs, np.ndarray):
        assert np.array_equal(ours, theirs)
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            assert_same(one, other)
    else:
        assert ours == theirs


def test_all_classes_are_compared() -> None:
    classes = {name for name in v2.__all__ if isinstance(getattr(v2, name), type)}
    apart = {"AutoAugmentPolicy", "Compose", "InterpolationMode", "Lambda", "LinearTransformation", "RandomApply"}
    apart |= {"RandomChoice", "RandomOrder", "Transform"}
    assert classes - apart - own_names(v2, TV) == CLASSES


@pytest.mark.skipif(not since(0, 28), reason="an older repr shows members of an enumeration")
@each("case", CASES)
def test_repr(case: Any) -> None:
    ours, theirs = made(case)
    assert repr(ours) == repr(theirs)


@each("case", CASES)
def test_pickles_and_copies(case: Any) -> None:
    ours, _ = made(case)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert repr(other) == repr(ours)


@all_cases
@each("sample", ["tensor", "boxes", "pil"])
def test_draws(case: Any, sample: str) -> None:
    ours, theirs = made(case)
    if case[0] in ("AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"):
        return  # torchvision's draw while they work: test_results
    leaves = SAMPLES[sample]()
    leaves = leaves if isinstance(leaves, list) else [leaves]
    for seed in range(100):
        mine, my_state = outcome(ours.make_params, leaves, seed=seed)
        other, state = outcome(theirs.make_params, leaves, seed=seed)
        assert_same(mine, other)
        assert torch.equal(my_state, state)


@all_cases
@each("sample", SAMPLES)
def test_results(case: Any, sample: str) -> None:
    ours, theirs = made(case)
    for seed in range(3):
        mine, my_state = outcome(ours, SAMPLES[sample](), seed=seed)
        other, state = outcome(theirs, SAMPLES[sample](), seed=seed)
        assert_same(mine, other)
        assert torch.equal(my_state, state)


@all_cases
def test_results_of_drafts_that_others_began(case: Any) -> None:
    """In the middle of a pipeline, with all of a sample drafted by what comes before."""
    ours, theirs = made(case)

    @each("sample", [name for name in ("pil", "image", "video", "detection", "points") if name in SAMPLES])
    def compare(sample: str) -> None:
        mine, my_state = outcome(v2.Compose([v2.RandomHorizontalFlip(1.0), ours]), SAMPLES[sample]())
        other, state = outcome(TV.Compose([TV.RandomHorizontalFlip(1.0), theirs]), SAMPLES[sample]())
        assert_same(mine, other)
        assert torch.equal(my_state, state)

    compare()


@pytest.mark.parametrize("policy", list(v2.AutoAugmentPolicy))
def test_policies(policy: Any) -> None:
    ours, theirs = made(("AutoAugment", (policy,), {}))
    assert ours._policies == theirs._policies
    for seed in range(30):
        mine, my_state = outcome(ours, tv_tensors.Image(IMAGE), seed=seed)
        other, state = outcome(theirs, tv_tensors.Image(IMAGE), seed=seed)
        assert_same(mine, other)
        assert torch.equal(my_state, state)


@pytest.mark.parametrize("name", ["RandAugment", "TrivialAugmentWide", "AugMix"])
def test_many_augmentations(name: str) -> None:
    ours, theirs = made((name, (), {}))

    @each("sample", ["pil", "image"])
    @each("seed", range(30))
    def compare(sample: str, seed: int) -> None:
        mine, my_state = outcome(ours, SAMPLES[sample](), seed=seed)
        other, state = outcome(theirs, SAMPLES[sample](), seed=seed)
        assert_same(mine, other)
        assert torch.equal(my_state, state)

    compare()


WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("RandomHorizontalFlip", (1.5,), {}),
    ("Resize", (2.5,), {}),
    ("Resize", ([1, 2, 3],), {}),
    ("Resize", (None,), {}),
    ("CenterCrop", ([1, 2, 3],), {}),
    ("RandomResizedCrop", (8, 0.5), {}),
    ("RandomResizedCrop", (8,), {"ratio": (1, 2, 3)}),
    ("RandomResizedCrop", ([1, 2, 3],), {}),
    ("FiveCrop", ((1, 2, 3),), {}),
    ("TenCrop", ((1, 2, 3),), {}),
    ("Pad", ("x",), {}),
    ("Pad", ([1, 2, 3],), {}),
    ("Pad", ([1.0],), {}),
    ("Pad", (1,), {"fill": "blue"}),
    ("Pad", (1,), {"padding_mode": "bathtub"}),
    ("RandomZoomOut", (), {"fill": "blue"}),
    ("RandomZoomOut", (), {"side_range": 1}),
    ("RandomZoomOut", (), {"side_range": [1, 2, 3]}),
    ("RandomZoomOut", (), {"side_range": [0.5, 2]}),
    ("RandomZoomOut", (), {"side_range": [3, 2]}),
    ("RandomRotation", (-1,), {}),
    ("RandomRotation", ([1, 2, 3],), {}),
    ("RandomRotation", ("x",), {}),
    ("RandomRotation", (1,), {"center": 1}),
    ("RandomRotation", (1,), {"fill": "blue"}),
    ("RandomAffine", (-1,), {}),
    ("RandomAffine", (1,), {"translate": 1}),
    ("RandomAffine", (1,), {"translate": [1]}),
    ("RandomAffine", (1,), {"translate": [2, 0]}),
    ("RandomAffine", (1,), {"scale": [0, 1]}),
    ("RandomAffine", (1,), {"shear": [1, 2, 3]}),
    ("RandomAffine", (1,), {"center": [1, 2, 3]}),
    ("RandomCrop", ([1, 2, 3],), {}),
    ("RandomCrop", (8,), {"padding": [1, 2, 3]}),
    ("RandomCrop", (8,), {"pad_if_needed": True, "padding_mode": "bathtub"}),
    ("RandomCrop", (8,), {"fill": "blue"}),
    ("RandomPerspective", (2,), {}),
    ("RandomPerspective", (), {"p": -1}),
    ("ElasticTransform", ("x",), {"alpha": "y"}),
    ("ElasticTransform", (object(),), {}),
    ("ElasticTransform", ([1, 2, 3],), {}),
    ("ElasticTransform", (1, ["x", 2]), {}),
    ("ColorJitter", (-1,), {}),
    ("ColorJitter", (), {"hue": 0.6}),
    ("ColorJitter", (), {"brightness": (1, 2, 3)}),
    ("ColorJitter", (), {"contrast": (2, 1)}),
    ("GaussianBlur", (2,), {}),
    ("GaussianBlur", ([3, 3, 3],), {}),
    ("GaussianBlur", (3, 0), {}),
    ("GaussianBlur", (3, "x"), {}),
    ("GaussianBlur", (3, object()), {}),
    ("GaussianBlur", (3, [1, 2, 3]), {}),
    ("ToDtype", ("float32",), {}),
    ("SanitizeBoundingBoxes", (0,), {}),
    ("SanitizeBoundingBoxes", (1, 0), {}),
    ("SanitizeBoundingBoxes", (), {"labels_getter": 3}),
    ("SanitizeKeyPoints", (3,), {}),
    ("JPEG", (0,), {}),
    ("JPEG", (True,), {}),
    ("JPEG", (5.0,), {}),
    ("JPEG", ([5, 5.5],), {}),
    ("JPEG", ([7, 5],), {}),
    ("RandomErasing", (), {"value": object()}),
    ("RandomErasing", (), {"value": "blue"}),
    ("RandomErasing", (), {"scale": 1}),
    ("RandomErasing", (), {"ratio": 1}),
    ("RandomErasing", (), {"scale": (-1, 1)}),
    ("RandomErasing", (2,), {}),
    ("MixUp", (), {"alpha": -1}),
    ("CutMix", (), {"labels_getter": 3}),
    ("SetClampingMode", ("auto",), {}),
    ("AutoAugment", (None,), {}),
    ("RandAugment", (-1,), {}),
    ("RandAugment", (1.1,), {}),
    ("AugMix", (0,), {}),
    ("AugMix", (11,), {}),
    ("AugMix", (), {"fill": "blue"}),
    ("LinearTransformation", (torch.eye(3)[:2], torch.ones(3)), {}),
    ("LinearTransformation", (torch.eye(3), torch.ones(4)), {}),
    ("LinearTransformation", (torch.eye(3), torch.ones(3, dtype=torch.float64)), {}),
    *((name, (wrong,), {}) for name in ("Compose", "RandomApply", "RandomChoice", "RandomOrder") for wrong in ([], 1)),
    ("RandomApply", ([abs], 2), {}),
    ("RandomChoice", ([abs], [1.0, 1.0]), {}),
]


@pytest.mark.skipif(not since(0, 24), reason="older ones check less")
@grouped(WRONG, "wrong", lambda wrong: wrong[0])
def test_errors_of_constructors(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # torch.compile has torch's distributions check nothing from its first use on.
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)
    name, args, kwargs = wrong
    with pytest.raises(Exception) as expected:
        getattr(TV, name)(*args, **kwargs)
    # Users' tests match torchvision's words; the value may follow them.
    with pytest.raises(expected.type, match="^" + re.escape(str(expected.value).rstrip("."))):
        getattr(v2, name)(*args, **kwargs)


@pytest.mark.parametrize("name", ["RandomResizedCrop", "RandomErasing"])
def test_warnings_of_constructors(name: str) -> None:
    with pytest.warns(UserWarning, match="should be of kind"):
        getattr(v2, name)(*([8] if name == "RandomResizedCrop" else []), ratio=(2, 1))


def test_deprecation() -> None:
    with pytest.warns(UserWarning, match="deprecated and will be removed"):
        v2.ToTensor()


@pytest.mark.skipif(not since(0, 23), reason="there are no points")
def test_warning_of_what_is_handed_on() -> None:
    with pytest.warns(UserWarning, match="passing through inputs of type tv_tensors.KeyPoints"):
        v2.FiveCrop(8)((tv_tensors.Image(IMAGE), points()))
    with pytest.warns(UserWarning, match="passing through inputs of type tv_tensors.BoundingBoxes"):
        v2.RandomErasing(p=1.0)(detection())


def test_fill_dictionaries_are_rewritten() -> None:
    fill = {tv_tensors.Image: (1, 2, 3), "others": 0}
    assert v2.Pad(1, fill=fill)._fill is fill
    assert fill[tv_tensors.Image] == [1.0, 2.0, 3.0]


def test_lambda() -> None:
    def double(leaf: Any) -> Any:
        return leaf * 2

    for types in ((), (tv_tensors.Image,), (str, int), (torch.Tensor,)):
        ours, theirs = v2.Lambda(double, *types), TV.Lambda(double, *types)
        assert repr(ours) == repr(theirs)
        flipped = v2.Compose([v2.RandomVerticalFlip(1.0), ours, v2.RandomHorizontalFlip(1.0)])
        others = TV.Compose([TV.RandomVerticalFlip(1.0), theirs, TV.RandomHorizontalFlip(1.0)])
        sample = (tv_tensors.Image(IMAGE), 3, "a")
        assert_same(flipped(sample), others(sample))


def test_structures_in_the_place_of_a_leaf() -> None:
    for make in (lambda m: m.FiveCrop(12), lambda m: m.Lambda(lambda x: {"a": x, "b": x}, tv_tensors.Image)):
        ours = v2.Compose([make(v2), v2.RandomHorizontalFlip(1.0), v2.ToDtype(torch.float32, scale=True)])
        theirs = TV.Compose([make(TV), TV.RandomHorizontalFlip(1.0), TV.ToDtype(torch.float32, scale=True)])
        sample = (tv_tensors.Image(IMAGE), "label")
        assert_same(ours(sample), theirs(sample))


def test_linear_transformation() -> None:
    length = 3 * 4 * 5
    matrix, mean = torch.rand(length, length), torch.rand(length)
    for sample in (torch.rand(3, 4, 5), tv_tensors.Video(torch.rand(2, 3, 4, 5)), torch.zeros(3, 4, 6), pil()):
        mine, _ = outcome(v2.LinearTransformation(matrix, mean), sample)
        other, _ = outcome(TV.LinearTransformation(matrix, mean), sample)
        assert_same(mine, other)


def _getters() -> list[Any]:
    return [
        "default",
        None,
        lambda sample: sample["target"]["labels"],
        lambda sample: (sample["target"]["labels"], sample["target"]["areas"]),
        lambda sample: "labels",
        lambda sample: [3],
    ]


@pytest.mark.parametrize("flipped", [False, True])
@each("number", range(len(_getters())))
def test_labels_getters(number: int, flipped: bool) -> None:
    getter = _getters()[number]
    sample = detection()
    sample["target"]["areas"] = torch.rand(4)
    results = []
    for module in (v2, TV):
        steps: list[Any] = [module.RandomHorizontalFlip(1.0)] if flipped else []
        pipeline = module.Compose([*steps, module.SanitizeBoundingBoxes(min_area=200, labels_getter=getter)])
        # The heuristic looks into the second of two arguments, and not into dictionaries of dictionaries.
        results.append((outcome(pipeline, sample)[0], outcome(pipeline, sample["image"], sample["target"])[0]))
    assert_same(*results)


@pytest.mark.skipif(not since(0, 25), reason="older ones raise")
@pytest.mark.parametrize("semantic", [False, True])
@each("count", [0, 4, HEIGHT])
def test_masks_beside_boxes(count: int, semantic: bool) -> None:
    """A mask as high as there are boxes is cut too."""
    numbers = BOXES.repeat(10, 1)[:count]
    mask = _image(1)[0] if semantic else _image(4)
    results = []
    for module in (v2, TV):
        sample = {
            "image": tv_tensors.Image(IMAGE),
            "boxes": tv_tensors.BoundingBoxes(numbers, format="XYXY", canvas_size=CANVAS),
            "labels": torch.arange(count),
            "mask": tv_tensors.Mask(mask),
            "flags": tv_tensors.Mask(mask > 100),
        }
        steps = [module.RandomHorizontalFlip(1.0), module.SanitizeBoundingBoxes(), module.RandomVerticalFlip(1.0)]
        results.append(module.Compose(steps)(sample))
    assert_same(*results)


def test_no_box_is_left() -> None:
    results = []
    for module in (v2, TV):
        sanitize = module.SanitizeBoundingBoxes(min_area=10_000, labels_getter=None)
        results.append(module.Compose([module.RandomHorizontalFlip(1.0), sanitize])(detection()))
    assert_same(*results)


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
def test_mixing(name: str) -> None:
    images, labels = torch.rand(4, 3, 8, 9), torch.tensor([0, 3, 1, 2])
    cases: list[tuple[Any, dict[str, Any]]] = [
        ((images, labels), {"num_classes": 5}),
        ((tv_tensors.Image(images), {"label": labels}), {"num_classes": 5}),
        ((tv_tensors.Video(torch.rand(4, 2, 3, 8, 9)), labels), {"num_classes": 5}),
        ((images, torch.eye(4)), {}),
        ((images, torch.eye(4)), {"num_classes": 5}),
        ((images, labels), {}),
        ((images, labels[:3]), {"num_classes": 5}),
        ((images[0], labels), {"num_classes": 5}),
        ((images, "labels"), {"num_classes": 5}),
        ((pil(), labels), {"num_classes": 5}),
        (((images * 255).to(torch.uint8), labels), {"num_classes": 5}),
        ((images, labels, masks()), {"num_classes": 5}),
    ]
    for inputs, kwargs in cases:
        for seed in range(10):
            mine, my_state = outcome(getattr(v2, name)(**kwargs), *inputs, seed=seed)
            other, state = outcome(getattr(TV, name)(**kwargs), *inputs, seed=seed)
            assert_same(mine, other)
            assert torch.equal(my_state, state)
            piped, _ = outcome(v2.Compose([v2.Identity(), getattr(v2, name)(**kwargs)]), *inputs, seed=seed)
            assert_same(piped, other)


def test_own_augmentations_get_images() -> None:
    class Own(v2.RandAugment):
        seen: list[type]

        def _apply_image_or_video_transform(self, image: Any, *args: Any, **kwargs: Any) -> Any:
            self.seen.append(type(image))
            return super()._apply_image_or_video_transform(image, *args, **kwargs)

    own = Own()
    own.seen = []
    mine, my_state = outcome(lambda: v2.Compose([v2.RandomHorizontalFlip(1.0), own])(tv_tensors.Image(IMAGE)))
    theirs = TV.Compose([TV.RandomHorizontalFlip(1.0), TV.RandAugment()])
    other, state = outcome(lambda: theirs(tv_tensors.Image(IMAGE)))
    assert_same(mine, other)
    assert torch.equal(my_state, state)
    assert own.seen == [tv_tensors.Image] * 2


def test_one_augmentation_by_name() -> None:
    space = v2.AutoAugment._AUGMENTATION_SPACE
    theirs = TV.AutoAugment()._apply_image_or_video_transform
    assert list(space) == list(TV.AutoAugment._AUGMENTATION_SPACE)
    for name, (magnitudes, signed) in space.items():
        others, also = TV.AutoAugment._AUGMENTATION_SPACE[name]
        assert_same(magnitudes(10, *CANVAS), others(10, *CANVAS))
        assert signed is also
    for sample in ("pil", "tensor", "floats", "image"):
        for name in [*space, "Identity", "Unknown"]:
            results = [
                outcome(apply, SAMPLES[sample](), name, 0.25, "bilinear", {"others": None})[0]
                for apply in (v2.AutoAugment()._apply_image_or_video_transform, theirs)
            ]
            assert_same(*results)


def test_labels_heuristic() -> None:
    labels = torch.arange(3)
    samples: list[Any] = [
        (None, labels),
        [None, {"Labels": labels, "label": 3}],
        {"a": 1, "myLabelz": labels},
        {"a": labels},
        (None, "x"),
        {3: labels},
        labels,
    ]
    for sample in samples:
        mine, _ = outcome(v2._utils._find_labels_default_heuristic, sample)
        other, _ = outcome(TV._utils._find_labels_default_heuristic, sample)
        assert mine is other


@pytest.mark.parametrize("name", ["RandomResizedCrop", "RandomCrop", "ColorJitter", "RandomAffine", "GaussianBlur"])
def test_get_params_of_v1(name: str) -> None:
    import fastaug.transforms as v1

    assert getattr(v2, name).get_params is getattr(v1, name).get_params


def test_scripting_takes_the_class_of_v1() -> None:
    import fastaug.transforms as v1

    assert isinstance(v2.Pad(3).__prepare_scriptable__(), v1.Pad)
    assert repr(v2.RandomCrop(8, [1, 2]).__prepare_scriptable__()) == repr(v1.RandomCrop(8, [1, 2, 1, 2]))
    with pytest.raises(ValueError, match="scalar"):
        v2.Pad(3, fill=[1, 2, 3]).__prepare_scriptable__()
    with pytest.raises(RuntimeError, match="JIT"):
        v2.Identity().__prepare_scriptable__()


def test_no_warning_otherwise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v2.Compose([v2.RandomResizedCrop(8), v2.ToDtype(torch.float32, scale=True)])(tv_tensors.Image(IMAGE))


@pytest.mark.parametrize("name", ["AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", "RandomIoUCrop"])
def test_what_was_drawn_is_kept(name: str) -> None:
    pipeline = v2.Compose([v2.RandomVerticalFlip(), getattr(v2, name)()])
    sample = detection()
    given = (sample["image"], sample["target"]["boxes"]) if name == "RandomIoUCrop" else sample["image"]
    for seed in range(10):
        torch.manual_seed(seed)
        expected = pipeline(given)
        torch.manual_seed(seed)
        params = pipeline.sample(given)
        assert_same(pipeline.replay(given, params), expected)


def test_a_batch_is_mixed_by_what_was_drawn() -> None:
    pipeline = v2.Compose([v2.CutMix(num_classes=5)])
    batch = (torch.rand(4, 3, 8, 9), torch.arange(4))
    torch.manual_seed(0)
    expected = pipeline(batch)
    torch.manual_seed(0)
    (entry,) = pipeline.sample(batch)
    assert set(entry) == {"transform", "box", "lam_adjusted"}
    assert_same(pipeline.replay(batch, [entry]), expected)
