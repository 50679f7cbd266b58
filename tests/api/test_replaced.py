"""Functions of the user's in the place of torchvision's, ours and torch's: called as torchvision would call them.

Each test does the same to torchvision and to this package, and compares what comes of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import torchvision.transforms as V
from PIL import Image

import fastaug
import fastaug.transforms as T
from support.differences import each, grouped
from tests.support.outcomes import seed_all, snapshot

PICTURE = Image.fromarray(np.random.default_rng(1).integers(0, 256, (30, 40, 3), dtype=np.uint8))

#: From a package of transforms, a context in which something of it, or of torch, is replaced.
Replace = Callable[[Any], Any]


def run(package: Any, make: Callable[[Any], Any], *replacements: Replace, image: Any = PICTURE) -> tuple[Any, ...]:
    """(result, number of calls of each replacement that is a mock, state of torch's generator, of Python's)."""
    seed_all(11)
    with ExitStack() as stack:
        replaced = [stack.enter_context(replace(package)) for replace in replacements]
        try:
            result: Any = snapshot(make(package)(image))
        except Exception as error:
            result = type(error)
    calls = [getattr(one, "call_count", None) for one in replaced]
    return result, calls, torch.get_rng_state().tolist(), random.getstate()


def compare(make: Callable[[Any], Any], *replacements: Replace, image: Any = PICTURE) -> tuple[Any, ...]:
    theirs, ours = (run(package, make, *replacements, image=image) for package in (V, T))
    assert ours[:2] == theirs[:2]
    assert ours[2:] == theirs[2:]
    return ours


# Functions of fastaug.transforms.functional.


def spied(name: str, change: Callable[[Any], Any] = lambda image: image) -> Replace:
    """The function of that name, called by a mock that changes what it is given."""

    def replace(package: Any) -> Any:
        own = getattr(package.functional, name)
        return mock.patch.object(
            package.functional, name, side_effect=lambda image, *args, **named: own(change(image), *args, **named)
        )

    return replace


def turned(image: Any) -> Any:
    return image.transpose(Image.Transpose.ROTATE_180) if isinstance(image, Image.Image) else image.flip(-1)


#: For each function, transforms that call it.
CALLERS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "resize": (lambda p: p.Resize(9), lambda p: p.RandomResizedCrop(9)),
    "pad": (lambda p: p.Pad(2, 7, "edge"), lambda p: p.RandomCrop(20, padding=3), lambda p: p.CenterCrop(50)),
    "crop": (lambda p: p.RandomCrop(20), lambda p: p.CenterCrop(9), lambda p: p.RandomResizedCrop(9)),
    "center_crop": (lambda p: p.CenterCrop(9), lambda p: p.FiveCrop(9)),
    "resized_crop": (lambda p: p.RandomResizedCrop(9),),
    "hflip": (lambda p: p.RandomHorizontalFlip(1.0), lambda p: p.TenCrop(9)),
    "vflip": (lambda p: p.RandomVerticalFlip(1.0),),
    "rotate": (lambda p: p.RandomRotation(30), lambda p: p.RandAugment(20)),
    "affine": (lambda p: p.RandomAffine(30, (0.1, 0.1)), lambda p: p.RandAugment(20)),
    "perspective": (lambda p: p.RandomPerspective(p=1.0),),
    "gaussian_blur": (lambda p: p.GaussianBlur(3),),
    "elastic_transform": (lambda p: p.ElasticTransform(),),
    "five_crop": (lambda p: p.FiveCrop(9), lambda p: p.TenCrop(9)),
    "ten_crop": (lambda p: p.TenCrop(9),),
    "adjust_brightness": (lambda p: p.ColorJitter(0.5, 0.5), lambda p: p.TrivialAugmentWide()),
    "adjust_contrast": (lambda p: p.ColorJitter(0.5, 0.5), lambda p: p.RandAugment(20)),
    "adjust_saturation": (lambda p: p.ColorJitter(0.5, 0.5, 0.5),),
    "adjust_hue": (lambda p: p.ColorJitter(hue=0.1),),
    "adjust_sharpness": (lambda p: p.RandomAdjustSharpness(2, 1.0),),
    "rgb_to_grayscale": (lambda p: p.Grayscale(3), lambda p: p.RandomGrayscale(1.0)),
    "invert": (lambda p: p.RandomInvert(1.0), lambda p: p.AutoAugment()),
    "posterize": (lambda p: p.RandomPosterize(3, 1.0),),
    "solarize": (lambda p: p.RandomSolarize(99, 1.0),),
    "autocontrast": (lambda p: p.RandomAutocontrast(1.0),),
    "equalize": (lambda p: p.RandomEqualize(1.0),),
    "to_tensor": (lambda p: p.ToTensor(),),
    "pil_to_tensor": (lambda p: p.PILToTensor(), lambda p: p.AugMix()),
}
#: Those that take tensors.
CALLERS_OF_TENSORS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "to_pil_image": (lambda p: p.ToPILImage(),),
    "convert_image_dtype": (lambda p: p.ConvertImageDtype(torch.float32),),
    "normalize": (lambda p: p.Compose([p.ConvertImageDtype(torch.float32), p.Normalize([0.5] * 3, [0.2] * 3)]),),
    "erase": (lambda p: p.Compose([p.ConvertImageDtype(torch.float32), p.RandomErasing(1.0)]),),
    "hflip": (lambda p: p.RandomHorizontalFlip(1.0),),
    "posterize": (lambda p: p.AugMix(mixture_width=12),),
}

CHANGED = [
    *((name, make, PICTURE) for name, makers in CALLERS.items() for make in makers),
    *(
        (name, make, T.functional.pil_to_tensor(PICTURE))
        for name, makers in CALLERS_OF_TENSORS.items()
        for make in makers
    ),
]


@grouped(CHANGED, ("name", "make", "image"), lambda case: case[0])
def test_a_function_in_the_place_of_another_is_called(name: str, make: Callable[[Any], Any], image: Any) -> None:
    """Alone, and inside a Compose; and no more when it is taken away."""
    for inside in (make, lambda package: package.Compose([make(package)])):
        _, calls, *_ = compare(inside, spied(name, turned), image=image)
        assert calls[0] > 0 or name in ("rotate", "adjust_brightness", "invert")  # drawn by chance
        compare(inside, image=image)


@grouped([(name, make) for name, makers in CALLERS.items() for make in makers], ("name", "make"), lambda case: case[0])
@each("format", ["PNG", "JPEG"])
def test_a_function_in_the_place_of_another_is_called_with_images_of_files(
    tmp_path: Path, format: str, name: str, make: Callable[[Any], Any]
) -> None:
    """By whichever transform, before or after one that only drafts; the file has been opened, and not read."""
    PICTURE.save(tmp_path / "picture", format)
    for inside in (
        make,
        lambda package: package.Compose([make(package)]),
        lambda package: package.Compose([package.RandomAffine(0), package.RandomPosterize(2, 1.0), make(package)]),
    ):
        for replacement in (spied(name, turned), spied("resize")):
            results = []
            for package in (V, T):
                with Image.open(tmp_path / "picture") as image:
                    results.append(run(package, inside, replacement, image=image))
            assert results[0] == results[1]


def test_every_function_that_transforms_call_is_among_them() -> None:
    """But those that measure, and those that no transform calls."""
    rest = {"get_dimensions", "get_image_size", "get_image_num_channels", "adjust_gamma", "to_grayscale"}
    names = {name for name in T.functional.__all__ if callable(getattr(T.functional, name)) and name.islower()}
    functions = names & vars(V.functional).keys()
    assert {*CALLERS, *CALLERS_OF_TENSORS} == functions - rest


@pytest.mark.parametrize("after", [T.ToTensor(), lambda image: image.size])
def test_what_stands_in_the_place_of_a_function_may_return_anything(after: Any) -> None:
    compare(
        lambda p: p.Compose([p.Resize(9), after]),
        lambda p: mock.patch.object(p.functional, "resize", lambda image, *_: image.rotate(90)),
    )
    compare(
        lambda p: p.Compose([p.Resize(9), len]), lambda p: mock.patch.object(p.functional, "resize", return_value="abc")
    )


def test_assignment_works_as_a_patch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = T.Compose([T.RandomCrop(20), T.Resize(9), T.ToTensor()])
    seen = []

    def resize(image: Any, *arguments: Any) -> Any:
        seen.append(arguments)
        return image

    before = pipeline(PICTURE)
    with monkeypatch.context() as patch:
        patch.setattr("fastaug.transforms.functional.resize", resize)
        assert pipeline(PICTURE).shape == (3, 20, 20)
        assert fastaug.compile(pipeline)(PICTURE).shape == (3, 20, 20)
        assert pipeline.replay(PICTURE, pipeline.sample(PICTURE)).shape == (3, 20, 20)
        explanation = pipeline.explain(PICTURE)
    assert seen[0] == (9, T.InterpolationMode.BILINEAR, None, True)
    (barrier,) = explanation.barriers
    assert barrier["name"] == "resize" and barrier["reason"] == "functional.resize is a function of yours"
    assert pipeline(PICTURE).shape == before.shape == (3, 9, 9)
    assert not pipeline.explain(PICTURE).barriers


# Methods of classes, and attributes of objects.


def darker(self: Any, image: Any) -> Any:
    return image.point(lambda value: value // 2)


METHODS: tuple[Replace, ...] = (
    lambda p: mock.patch.object(p.CenterCrop, "forward", darker),
    lambda p: mock.patch.object(p.CenterCrop, "__call__", darker),
    lambda p: mock.patch.object(p.RandomHorizontalFlip, "forward", autospec=True, side_effect=darker),
    lambda p: mock.patch.object(p.RandomCrop, "get_params", staticmethod(lambda image, size: (1, 2, *size))),
    lambda p: mock.patch.object(p.ToTensor, "__call__", lambda self, image: torch.ones(image.size)),
    lambda p: mock.patch.object(p.RandomOrder, "__call__", darker),
    lambda p: mock.patch.object(p.RandomChoice, "__call__", darker),
    lambda p: mock.patch.object(p.RandomApply, "forward", darker),
    lambda p: mock.patch.object(p.ColorJitter, "forward", darker),
    lambda p: mock.patch.object(torch.nn.Module, "__call__", darker),
)


def everything(package: Any) -> Any:
    return package.Compose(
        [
            package.RandomCrop(24),
            package.RandomHorizontalFlip(),
            torch.nn.Sequential(package.CenterCrop(20), package.ColorJitter(0.3)),
            package.RandomApply([package.CenterCrop(18)], 0.9),
            package.RandomOrder([package.RandomVerticalFlip(), package.CenterCrop(16)]),
            package.RandomChoice([package.RandomRotation(20), package.CenterCrop(14)]),
            package.ToTensor(),
        ]
    )


@pytest.mark.parametrize("replace", METHODS)
def test_methods_of_classes(replace: Replace) -> None:
    compare(everything, replace)
    compare(everything)


def test_a_method_of_a_base_counts_for_subclasses() -> None:
    """Those that have been used before, and those that are seen for the first time meanwhile."""

    def make(package: Any) -> Any:
        class Own(package.CenterCrop):  # type: ignore[misc, name-defined]
            pass

        made = package.Compose([Own(9)])
        made(PICTURE)
        with mock.patch.object(package.CenterCrop, "forward", darker):
            made.transforms.append(type("Other", (package.CenterCrop,), {})(7))
            during = np.asarray(made(PICTURE))
        return lambda image: (during, np.asarray(made(image)))

    compare(make)


def test_a_method_that_calls_the_one_it_replaces() -> None:
    def replace(package: Any) -> Any:
        own = package.Resize.forward
        return mock.patch.object(package.Resize, "forward", lambda self, image: own(self, darker(self, image)))

    compare(lambda p: p.Compose([p.Resize(9), p.CenterCrop(5)]), replace)


def test_attributes_of_objects() -> None:
    def make(package: Any) -> Any:
        crop, rotation, flip = package.CenterCrop(20), package.RandomRotation(30), package.RandomHorizontalFlip(1.0)
        crop.forward = lambda image: image.crop((1, 2, 20, 25))
        rotation.get_params = lambda degrees: 90.0
        flip.register_forward_hook(lambda module, arguments, image: darker(module, image))
        return package.Compose([crop, rotation, flip, package.Pad(1)])

    compare(make)


def test_explain_says_what_was_replaced() -> None:
    pipeline = T.Compose([T.Resize(20), T.CenterCrop(9), T.ToTensor()])
    with mock.patch.object(T.CenterCrop, "forward", darker):
        assert [one["reason"] for one in pipeline.explain(PICTURE).barriers] == ["its forward is a function of yours"]
    with mock.patch.object(T.ToTensor, "__call__", lambda self, image: image):
        assert [one["reason"] for one in pipeline.explain(PICTURE).barriers] == ["its __call__ is a function of yours"]
    assert not pipeline.explain(PICTURE).barriers


# torch's and Python's random numbers.


def returning(name: str, *values: float) -> Replace:
    return lambda package: mock.patch(name, return_value=torch.tensor(values))


DRAWS: tuple[tuple[Callable[[Any], Any], Replace], ...] = (
    (lambda p: p.RandomHorizontalFlip(), returning("torch.rand", 0.2)),
    (lambda p: p.RandomHorizontalFlip(), returning("torch.rand", 0.7)),
    (lambda p: p.RandomHorizontalFlip(), lambda p: mock.patch("torch.rand", lambda count: torch.zeros(count))),
    (lambda p: p.RandomApply([p.Pad(1)]), returning("torch.rand", 0.5)),
    (lambda p: p.RandomGrayscale(), returning("torch.rand", 0.05)),
    (lambda p: p.RandomInvert(), returning("torch.rand", 0.5)),
    (lambda p: p.RandomCrop(9), returning("torch.randint", 3)),
    (
        lambda p: p.RandomPerspective(p=1.0),
        lambda p: mock.patch("torch.randint", lambda low, high, size: torch.tensor([low + 1])),
    ),
    (lambda p: p.RandAugment(), returning("torch.randint", 1)),
    (lambda p: p.TrivialAugmentWide(), returning("torch.randint", 1)),
    (lambda p: p.ColorJitter(0.5, 0.5, 0.5), returning("torch.randperm", 3, 2, 1, 0)),
    (lambda p: p.RandomRotation(30), lambda p: mock.patch.object(torch.Tensor, "uniform_", torch.Tensor.zero_)),
    (
        lambda p: p.RandomResizedCrop(9),
        lambda p: mock.patch.object(torch.Tensor, "uniform_", lambda self, low, high: self.fill_(0.3)),
    ),
    (lambda p: p.ElasticTransform(), lambda p: mock.patch("torch.rand", lambda size: torch.full(size, 0.3))),
    (
        lambda p: p.RandomChoice([p.Pad(1), p.Pad(2)]),
        lambda p: mock.patch("random.choices", lambda population, weights: [population[1]]),
    ),
    (
        lambda p: p.RandomOrder([p.Pad(1), p.Resize(9)]),
        lambda p: mock.patch("random.shuffle", lambda what: what.reverse()),
    ),
    (lambda p: p.RandomChoice([p.Pad(1), p.Pad(2)]), lambda p: mock.patch("random.random", return_value=0.9)),
)


@pytest.mark.parametrize(("make", "replace"), DRAWS)
def test_random_numbers(make: Callable[[Any], Any], replace: Replace) -> None:
    """Alone, and between others that draw."""
    compare(make, replace)
    compare(lambda p: p.Compose([p.Pad(1), make(p), p.ToTensor()]), replace)
    seed_all(3)
    expected = T.RandomCrop(9)(PICTURE)
    with replace(T):
        pass
    seed_all(3)
    assert T.RandomCrop(9)(PICTURE) == expected


def test_compiled_pipelines_draw_what_is_replaced() -> None:
    compiled = fastaug.compile(V.Compose([V.RandomHorizontalFlip(), V.ToTensor()]))
    for value, expected in ((0.2, V.functional.hflip(PICTURE)), (0.7, PICTURE)):
        with mock.patch("torch.rand", return_value=torch.tensor([value])):
            assert torch.equal(compiled(PICTURE), V.ToTensor()(expected))


# What fastaug.compile reads of torchvision.


@pytest.mark.parametrize("make", [V.Resize(9), V.CenterCrop(9), V.RandomResizedCrop(9), V.RandAugment(9)])
def test_transforms_whose_functions_are_replaced_are_not_read(make: Any) -> None:
    name = {"Resize": "resize", "CenterCrop": "crop", "RandomResizedCrop": "resized_crop", "RandAugment": "affine"}
    pipeline = V.Compose([make, V.ToTensor()])
    function = name[type(make).__name__]
    own = getattr(V.functional, function)

    def wrapper(image: Any, *arguments: Any, **named: Any) -> Any:
        return own(turned(image), *arguments, **named)

    wrapper.__wrapped__ = own  # type: ignore[attr-defined]
    wrapper.__module__, wrapper.__qualname__ = own.__module__, own.__qualname__
    for replacement in (mock.Mock(side_effect=wrapper), wrapper):
        with mock.patch.object(V.functional, function, replacement):
            compiled = fastaug.compile(pipeline)
            assert compiled.transforms[0] is make
            seed_all(5)
            expected = pipeline(PICTURE)
            seed_all(5)
            assert torch.equal(compiled(PICTURE), expected)
    assert type(fastaug.compile(pipeline).transforms[0]) is getattr(T, type(make).__name__)


def test_classes_of_ours_with_another_method_are_not_read() -> None:
    crop = T.CenterCrop(9)
    with mock.patch.object(T.CenterCrop, "forward", darker):
        compiled = fastaug.compile(T.Compose([crop, T.Pad(1)]))
        assert compiled.transforms[0] is crop
        assert compiled(PICTURE) == T.Pad(1)(darker(None, PICTURE))
