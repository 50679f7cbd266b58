"""compile() reads pipelines of v2, torchvision's and fastaug's, and calls what it cannot read."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
import torchvision.transforms.v2 as TV2
from torch import nn
from torchvision import tv_tensors

import fastaug
from fastaug.transforms import v2


class Doubled(TV2.Transform):
    """A transform of a user's own, in the way that torchvision documents."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(TV2.functional.adjust_brightness, inpt, 2.0)


class Counted(TV2.Compose):
    """A Compose of a user's own: what calling it does is overridden."""

    calls = 0

    def forward(self, *inputs: Any) -> Any:
        self.calls += 1
        return super().forward(*inputs)


def sample(seed: int, side: int = 23) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(seed)
    image = torch.randint(0, 256, (3, side, 31), dtype=torch.uint8, generator=generator)
    return {
        "image": tv_tensors.Image(image),
        "mask": tv_tensors.Mask(image[:2] > 100),
        "boxes": tv_tensors.BoundingBoxes([[1.0, 2.0, 9.0, 12.0]], format="XYXY", canvas_size=(side, 31)),
        "points": tv_tensors.KeyPoints([[3.0, 4.0]], canvas_size=(side, 31)),
        "label": torch.tensor([seed]),
    }


def assert_same(one: Any, two: Any) -> None:
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert list(one) == list(two)
        for key in one:
            assert_same(one[key], two[key])
    elif isinstance(one, torch.Tensor):
        assert one.dtype is two.dtype and torch.equal(one.as_subclass(torch.Tensor), two.as_subclass(torch.Tensor))
        assert getattr(one, "canvas_size", None) == getattr(two, "canvas_size", None)
    else:
        assert one == two


def flips(library: Any) -> list[Any]:
    return [library.RandomHorizontalFlip(0.5), library.RandomApply([library.RandomHorizontalFlip(1.0)], p=0.4)]


PIPELINES = {
    "compose": TV2.Compose(flips(TV2)),
    "nested": TV2.Compose([TV2.Compose(flips(TV2)), TV2.RandomOrder(flips(TV2)), TV2.RandomChoice(flips(TV2))]),
    "one": TV2.RandomHorizontalFlip(0.5),
    "sequential": nn.Sequential(*flips(TV2)),
    "module list": TV2.RandomApply(nn.ModuleList(flips(TV2)), p=0.7),
    "own transform inside": TV2.Compose([*flips(TV2), Doubled(), *flips(TV2)]),
    "own compose inside": TV2.Compose([*flips(TV2), Counted(flips(TV2))]),
    "fastaug's": v2.Compose([*flips(v2), *flips(TV2)]),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_what_is_compiled_gives_the_same(name: str) -> None:
    original = PIPELINES[name]
    compiled = fastaug.compile(original)
    assert compiled.original is original and isinstance(compiled, fastaug.Compiled)
    for seed in range(12):
        torch.manual_seed(seed)
        expected = original(sample(seed))
        state = torch.get_rng_state()
        for again in (compiled, pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
            torch.manual_seed(seed)
            assert_same(again(sample(seed)), expected)
            assert torch.equal(torch.get_rng_state(), state)


def test_what_is_read_is_made_anew_and_what_is_not_stays() -> None:
    own = Doubled()
    compiled = fastaug.compile(TV2.Compose([TV2.RandomHorizontalFlip(0.3), own]))
    flip, stays = compiled.transforms
    assert type(flip) is v2.RandomHorizontalFlip and flip.p == 0.3
    assert stays is own


def test_a_compose_that_overrides_its_call_is_called() -> None:
    own = Counted(flips(TV2))
    fastaug.compile(TV2.Compose([own]))(sample(0))
    assert own.calls == 1


def test_several_arguments() -> None:
    transform = TV2.Compose(flips(TV2))
    torch.manual_seed(3)
    expected = transform(sample(1)["image"], {"mask": sample(1)["mask"]})
    torch.manual_seed(3)
    image, target = fastaug.compile(transform)(sample(1)["image"], {"mask": sample(1)["mask"]})
    assert_same(image, expected[0])
    assert_same(target, expected[1])


def test_a_generator_of_its_own() -> None:
    generator = torch.Generator().manual_seed(5)
    compiled = fastaug.compile(TV2.Compose(flips(TV2)), generator=generator)
    before = torch.get_rng_state()
    results = [compiled(sample(seed)) for seed in range(8)]
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(5)
    for seed, result in enumerate(results):
        assert_same(result, compiled.original(sample(seed)))


def test_dtype_and_memory_format_are_of_images() -> None:
    compiled = fastaug.compile(TV2.Compose(flips(TV2)), dtype=torch.float16, memory_format=torch.channels_last)
    floats = {"image": tv_tensors.Image(torch.rand(3, 8, 9)), "weights": torch.rand(4)}
    result = compiled(floats)
    assert type(result["image"]) is tv_tensors.Image and result["image"].dtype is torch.float16
    assert result["image"].stride(0) == 1
    assert result["weights"] is floats["weights"]


def long(library: Any) -> Any:
    steps = [library.RandomInvert(0.9), library.RandomCrop((23, 31), padding=1), library.ColorJitter(0.3, 0.3)]
    return library.Compose([*steps, library.RandomRotation(5)] * 60)


def test_more_transforms_than_a_program_has_ops() -> None:
    def planes() -> dict[str, Any]:
        return {name: leaf for name, leaf in sample(2).items() if name in ("image", "mask")}

    for compiled in (long(v2), fastaug.compile(long(TV2))):
        torch.manual_seed(4)
        expected = long(TV2)(planes())
        torch.manual_seed(4)
        assert_same(compiled(planes()), expected)
