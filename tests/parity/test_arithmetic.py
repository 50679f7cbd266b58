"""The container decides the arithmetic of each step; arithmetic="pil" makes uint8 tensor steps Pillow's."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.transforms as T
from support.images import photo, to_chw
from support.outcomes import assert_same, run

STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda package: package.Resize((40, 50)),
    lambda package: package.RandomRotation((20, 20), package.InterpolationMode.BILINEAR),
    lambda package: package.ColorJitter(0.5, 0.5, 0.5, 0.2),
    lambda package: package.Grayscale(3),
)


def made(package: Any, **options: Any) -> Any:
    return package.Compose([step(package) for step in STEPS], **options)


def tensor() -> torch.Tensor:
    return to_chw(photo("coffee", 60, 80))


def result(transform: Callable[[Any], Any], image: Any, seed: int = 3) -> Any:
    torch.manual_seed(seed)
    return transform(image)


def by_pillow(image: torch.Tensor, seed: int = 3) -> Any:
    return result(TV.Compose([TV.ToPILImage(), made(TV), TV.PILToTensor()]), image, seed)


def test_the_two_differ() -> None:
    """Or else nothing below says anything."""
    assert not torch.equal(by_pillow(tensor()), result(made(TV), tensor()))


PILLOW: dict[str, Callable[[], Any]] = {
    "Compose": lambda: made(T, arithmetic="pil"),
    "compiled": lambda: fastaug.compile(made(T), arithmetic="pil"),
    "compiled from torchvision's": lambda: fastaug.compile(made(TV), arithmetic="pil"),
    "compiled from one that has it": lambda: fastaug.compile(made(T, arithmetic="pil")),
    "compiled again": lambda: fastaug.compile(fastaug.compile(made(T)), arithmetic="pil"),
    "with a generator": lambda: fastaug.compile(made(T), arithmetic="pil", generator=torch.default_generator),
    "around one that follows": lambda: T.Compose([made(T)], arithmetic="pil"),
    "in parts": lambda: T.Compose([torch.nn.Sequential(*made(T).transforms)], arithmetic="pil"),
    "pickled": lambda: pickle.loads(pickle.dumps(made(T, arithmetic="pil"))),
    "compiled and pickled": lambda: pickle.loads(pickle.dumps(fastaug.compile(made(T), arithmetic="pil"))),
    "copied": lambda: copy.deepcopy(made(T, arithmetic="pil")),
}
TORCH: dict[str, Callable[[], Any]] = {
    "Compose": lambda: made(T),
    "compiled over one of Pillow's": lambda: fastaug.compile(made(T, arithmetic="pil"), arithmetic="container"),
    "around one of Pillow's": lambda: T.Compose([made(T, arithmetic="pil")]),
    "one after the other": lambda: lambda image: [image := step(T)(image) for step in STEPS][-1],
}


@pytest.mark.parametrize("way", PILLOW)
def test_by_pillows_rules(way: str) -> None:
    assert torch.equal(result(PILLOW[way](), tensor()), by_pillow(tensor()))


@pytest.mark.parametrize("way", TORCH)
def test_by_torchs_rules(way: str) -> None:
    assert torch.equal(result(TORCH[way](), tensor()), result(made(TV), tensor()))


def test_many_by_pillows_rules() -> None:
    images = [tensor(), tensor().flip(-1), tensor()[:, :50, 3:].clone()]
    pipeline = made(T, arithmetic="pil")
    torch.manual_seed(3)
    expected = torch.stack([pipeline(image) for image in images])
    torch.manual_seed(3)
    assert torch.equal(pipeline.batch(images), expected)
    torch.manual_seed(3)
    assert torch.equal(torch.stack(list(pipeline.map(images))), expected)
    assert torch.equal(expected[0], by_pillow(images[0]))


def test_drawn_and_replayed_by_pillows_rules() -> None:
    pipeline = made(T, arithmetic="pil")
    torch.manual_seed(3)
    params = pipeline.sample(tensor())
    assert torch.equal(pipeline.replay(tensor(), params), by_pillow(tensor()))
    assert torch.equal(made(T).replay(tensor(), params), result(made(TV), tensor()))


def test_the_container_of_a_step_decides() -> None:
    changes = (lambda package: package.ToPILImage(), lambda package: package.PILToTensor())
    for start, image in ((0, tensor()), (1, photo("coffee", 60, 80))):
        for first in range(3):
            steps = [STEPS[(first + index) % 3] for index in range(3)]
            order = [steps[0], changes[start], steps[1], changes[1 - start], steps[2]]
            outcomes = [run(package.Compose([step(package) for step in order]), image, first) for package in (T, TV)]
            assert outcomes[1].error is None
            assert_same(*outcomes)


def test_one_program_may_hold_both() -> None:
    pipeline = T.Compose([T.Resize(30), T.ToPILImage(), T.Resize(20), T.PILToTensor(), T.Resize(10), T.ToPILImage()])
    (program,) = {one["program"] for one in pipeline.explain(tensor()).passes}
    ops = [op.split()[0] for step in pipeline.explain(tensor()).steps for op in step["ops"]]
    assert ops == ["TORCH_RESIZE", "RESIZE", "TORCH_RESIZE"] and program == 1


@pytest.mark.parametrize("size", [(31, 47), (64, 81), (100, 60)])
@pytest.mark.parametrize("angle", [0.0, 17.3, 90.0, 180.0, 270.0, -33.0])
def test_an_expanded_rotation_has_the_size_of_a_tensors(size: tuple[int, int], angle: float) -> None:
    image = tensor()[:, : size[0], : size[1]]
    ours = result(T.Compose([T.RandomRotation((angle, angle), expand=True)], arithmetic="pil"), image)
    assert ours.shape == result(TV.RandomRotation((angle, angle), expand=True), image).shape


def test_gray_of_one_channel_keeps_its_shape() -> None:
    image = tensor()[:1]
    for arithmetic in ("container", "pil"):
        assert T.Compose([T.Grayscale(3)], arithmetic=arithmetic)(image).shape == TV.Grayscale(3)(image).shape


def test_repr_and_explain_say_it() -> None:
    pipeline = T.Compose([T.Resize(20)], mode="fast", arithmetic="pil")
    assert repr(pipeline).splitlines()[:3] == ["Compose(", "    mode='fast'", "    arithmetic='pil'"]
    assert repr(T.Compose([T.Resize(20)])) == repr(TV.Compose([TV.Resize(20)]))
    assert "arithmetic='pil'" in repr(fastaug.compile(TV.Resize(20), arithmetic="pil"))
    assert "arithmetic pil" in str(pipeline.explain(tensor())) and pipeline.explain(tensor()).arithmetic == "pil"
    assert "arithmetic" not in str(T.Compose([T.Resize(20)]).explain(tensor()))


def test_check_compares_with_what_there_is() -> None:
    comparison = made(T, arithmetic="pil").check(tensor(), 2)
    assert comparison and "torchvision has no arithmetic" in comparison.against
    assert made(T).check(tensor(), 2).against.startswith("torchvision ")


@pytest.mark.parametrize("arithmetic", ["PIL", "torch", 1, b"pil", ["pil"]])
def test_another_arithmetic_is_refused(arithmetic: Any) -> None:
    for make in (T.Compose, fastaug.compile):
        with pytest.raises(ValueError, match="arithmetic should be 'container' or 'pil', got"):
            make([T.Resize(20)] if make is T.Compose else T.Resize(20), arithmetic=arithmetic)


def test_a_subclass_that_means_something_else_by_the_name() -> None:
    class Own(T.Compose):
        def __init__(self) -> None:
            self.transforms = [step(T) for step in STEPS]
            self.arithmetic = {"of": "its own"}

    assert torch.equal(result(Own(), tensor()), result(made(TV), tensor()))
