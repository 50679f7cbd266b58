"""Transforms as objects: pickled, copied, subclassed, hooked, nested in nn.Sequential and mixed with torchvision's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug.transforms as T
from support.images import noise, photo, pil
from support.outcomes import assert_parity, assert_same, run, snapshot
from tables.cases import ALL_CASES, OTHER_CASES
from tables.recipes import PIPELINES, pathology
from tables.subclasses import (
    SUBCLASSES,
    apply_with_its_own_constructor,
    compose_with_call,
    crop_at_the_corner,
    plain_subclass,
)

#: Without those that are meant to write into their input.
CASES = {name: make for name, make in ALL_CASES.items() if "inplace" not in name}


def double(image: Image.Image) -> Image.Image:
    return image.resize((image.width * 2, image.height * 2))


def given(name: str) -> Any:
    if name in OTHER_CASES:
        return noise(40, 50) if name.startswith("ToPIL") else torch.linspace(0, 1, 6000).view(3, 40, 50)
    return pil("RGB", 64, 71)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    for name, make in CASES.items():
        transform, image = make(T), given(name)
        for _ in range(2):  # before and after the first call
            copied = pickle.loads(pickle.dumps(transform, protocol))
            assert type(copied) is type(transform)
            assert repr(copied) == repr(transform)
            assert_same(run(copied, image, 5), run(transform, image, 5))


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_copy(copier: Any) -> None:
    for name, make in CASES.items():
        transform, image = make(T), given(name)
        expected = run(transform, image, 5)
        copied = copier(transform)
        assert_same(run(copied, image, 5), expected)
        assert repr(copied) == repr(transform)


def test_deep_copies_are_independent() -> None:
    pipeline = T.Compose([T.Resize(20), T.RandomHorizontalFlip(0.0)])
    copied = copy.deepcopy(pipeline)
    copied.transforms[0].size = 10
    copied.transforms[1].p = 1.0
    image = pil("RGB", 40, 40)
    assert pipeline(image).size == (20, 20)
    assert snapshot(copied(image)) == snapshot(TV.functional.hflip(TV.functional.resize(image, 10)))


def test_pickled_lambda_of_a_module_function() -> None:
    pipeline = pickle.loads(pickle.dumps(T.Compose([T.Lambda(double), T.CenterCrop(30)])))
    assert pipeline(pil("RGB", 20, 20)).size == (30, 30)


def test_shared_transform_in_several_pipelines() -> None:
    flip = T.RandomHorizontalFlip(1.0)
    twice = T.Compose([flip, T.Pad(1), flip])
    image = pil("RGB", 9, 8)
    assert snapshot(twice(image)) == snapshot(TV.Pad(1)(image))
    flip.p = 0.0
    assert snapshot(twice(image)) == snapshot(TV.Pad(1)(image))


@pytest.mark.parametrize("name", ["ImageNet train", "SimCLR", "segmentation", "CIFAR"])
def test_sequential(name: str) -> None:
    """torch.nn.Sequential of the parts that are modules."""
    image = photo("coffee", 350, 340)

    def make(package: Any) -> Any:
        return torch.nn.Sequential(
            *[t for t in PIPELINES[name](package).transforms if isinstance(t, torch.nn.Module)][:3]
        )

    for seed in range(3):
        assert_parity(make, T, TV, image, seed)
        assert_parity(lambda package: package.Compose([make(package), package.ToTensor()]), T, TV, image, seed)
        assert_parity(
            lambda p: torch.nn.Sequential(p.RandomApply(torch.nn.ModuleList([make(p)]), p=0.5)), T, TV, image, seed
        )


def test_train_and_eval_are_harmless() -> None:
    for name, make in CASES.items():
        transform = make(T)
        if isinstance(transform, torch.nn.Module):
            assert_same(run(transform.eval(), given(name), 2), run(transform.train(), given(name), 2))


@pytest.mark.parametrize("make", SUBCLASSES)
def test_subclass(make: Any) -> None:
    image = pil("RGB", 40, 52)
    for seed in range(6):
        assert_parity(make, T, TV, image, seed)
        assert_parity(lambda package: package.Compose([package.Pad(2), make(package)]), T, TV, image, seed)


def test_repr_of_a_subclass_names_it() -> None:
    for make in (plain_subclass, crop_at_the_corner, compose_with_call, apply_with_its_own_constructor):
        assert repr(make(T)) == repr(make(TV))


def test_replaced_get_params(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set on the class or on one object, as tests and debuggers do."""
    image = pil("RGB", 30, 31)
    crop = T.RandomCrop(10)
    crop.get_params = lambda img, size: (1, 2, 7, 8)
    assert snapshot(T.Compose([crop])(image)) == snapshot(TV.functional.crop(image, 1, 2, 7, 8))
    monkeypatch.setattr(T.RandomRotation, "get_params", staticmethod(lambda degrees: 180.0))
    assert snapshot(T.Compose([T.RandomRotation(3)])(image)) == snapshot(TV.functional.rotate(image, 180.0))


def test_hooks_see_the_image() -> None:
    seen = []
    resize = T.Resize((12, 13))
    handle = resize.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0].size, output.size)))
    pipeline = T.Compose([T.CenterCrop(20), resize, T.ToTensor()])
    pipeline(pil("RGB", 30, 30))
    assert seen == [((20, 20), (13, 12))]
    handle.remove()
    pipeline(pil("RGB", 30, 30))
    assert len(seen) == 1


def test_mixed_with_torchvision() -> None:
    """Either package's transforms work inside the other's Compose."""
    image = photo("chelsea", 90, 80)
    for seed in range(5):
        expected = run(
            TV.Compose([TV.RandomRotation(30), TV.ColorJitter(0.3), TV.RandomCrop(40), TV.ToTensor()]), image, seed
        )
        for first in (T, TV):
            for second in (T, TV):
                for outer in (T, TV):
                    steps = [first.RandomRotation(30), second.ColorJitter(0.3), first.RandomCrop(40), second.ToTensor()]
                    assert_same(run(outer.Compose(steps), image, seed), expected)


def test_torchvision_v2_inside() -> None:
    from torchvision.transforms import v2

    image = photo("chelsea", 90, 80)
    steps = [v2.RandomHorizontalFlip(1.0), v2.Resize((30, 40))]
    assert_same(
        run(T.Compose([T.Pad(3), *steps, T.ToTensor()]), image),
        run(TV.Compose([TV.Pad(3), *steps, TV.ToTensor()]), image),
    )


def test_compose_of_any_iterable_and_callable() -> None:
    image = pil("RGB", 20, 30)
    for make in (lambda p: p.Compose((p.Pad(1), p.Pad(2))), lambda p: p.Compose(torch.nn.ModuleList([p.Pad(1)]))):
        assert_parity(make, T, TV, image)
    for value in (3, "text", None, [1, 2], {"image": 1}):
        assert T.Compose([lambda x: (x, x)])(value) == (value, value)
        assert T.Compose([])(value) is value


def test_values_that_are_no_images_between_steps() -> None:
    """A callable may turn the image into anything, and back."""
    image = pil("RGB", 20, 30)

    def make(package: Any) -> Any:
        return package.Compose([package.Pad(1), lambda x: {"image": x}, lambda d: d["image"], package.CenterCrop(9)])

    assert_parity(make, T, TV, image)


def test_the_same_compose_on_many_kinds_of_input() -> None:
    """No state is kept from call to call."""
    pipeline = T.Compose([T.Resize(20), T.CenterCrop(18), T.RandomHorizontalFlip(1.0)])
    reference = TV.Compose([TV.Resize(20), TV.CenterCrop(18), TV.RandomHorizontalFlip(1.0)])
    for round_trip in range(2):
        for mode in ("RGB", "L", "RGBA", "P", "F", "1"):
            image = pil(mode, 25 + round_trip, 31)
            assert snapshot(pipeline(image)) == snapshot(reference(image))
        array = noise(25, 31)
        assert np.array_equal(pipeline(array), np.asarray(reference(Image.fromarray(array))))


def test_results_survive_their_source() -> None:
    """A result must not point into memory that goes with the input or the transform."""
    results = []
    for seed in range(20):
        image = photo("ihc", 200 + seed, 210)
        results.append((T.Compose([T.Resize(64), T.RandomHorizontalFlip(1.0)])(image), seed))
    for result, seed in results:
        expected = TV.functional.hflip(TV.functional.resize(photo("ihc", 200 + seed, 210), 64))
        assert snapshot(result) == snapshot(expected)


def test_results_are_ordinary_pillow_images(tmp_path: Any) -> None:
    result = T.Compose([T.Resize(40), T.RandomRotation(20), T.CenterCrop(31)])(photo("coffee"))
    result.putpixel((0, 0), (1, 2, 3))
    assert result.getpixel((0, 0)) == (1, 2, 3)
    result.paste((9, 9, 9), (3, 3, 6, 6))
    assert result.getpixel((4, 4)) == (9, 9, 9)
    result.save(tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as back:
        assert back.tobytes() == result.tobytes()
    assert result.copy().tobytes() == pickle.loads(pickle.dumps(result)).tobytes()
    assert result.convert("L").resize((5, 5)).size == (5, 5)


def test_results_are_writable_in_place() -> None:
    """User callables draw through Image.load()."""
    for make in (lambda p: p.Resize(20), lambda p: p.Compose([p.Pad(2), p.RandomHorizontalFlip(1.0)])):
        for mode in ("L", "RGB", "RGBA"):
            result = make(T)(pil(mode, 30, 30))
            result.load()[3, 2] = value = 7 if mode == "L" else (1, 2, 3, 4)[: len(mode)]
            assert result.getpixel((3, 2)) == value


def test_no_memory_is_lost() -> None:
    """A thousand calls must not grow the process by more than a few images."""
    import gc

    def resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    image, array = photo("ihc", 256, 256), noise(256, 256)
    pipelines = [pathology(T, 64, "BILINEAR", crop=128), T.Compose([T.Resize(128), T.RandomHorizontalFlip()])]
    for _ in range(30):
        pipelines[0](array)
        pipelines[1](image)
    gc.collect()
    before = resident()
    for _ in range(400):
        pipelines[0](array)
        pipelines[1](image)
    gc.collect()
    assert resident() - before < 16 * 2**20
