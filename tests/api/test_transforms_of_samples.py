"""Transforms of v2 that are called with samples by themselves: the core may do the third call and later ones."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

from fastaug.transforms import v2 as T
from support.differences import each
from support.images import photo, to_chw

CALLS = 8

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "RandomHorizontalFlip": lambda v2: v2.RandomHorizontalFlip(),
    "Resize": lambda v2: v2.Resize((40, 30)),
    "Resize to the same size": lambda v2: v2.Resize((48, 64)),
    "RandomResizedCrop": lambda v2: v2.RandomResizedCrop(32),
    "RandomIoUCrop": lambda v2: v2.RandomIoUCrop(),
    "RandomZoomOut": lambda v2: v2.RandomZoomOut(fill={tvt.Image: 3, tvt.Mask: 7, "others": 0}),
    "RandomPhotometricDistort": lambda v2: v2.RandomPhotometricDistort(),
    "RandomAffine": lambda v2: v2.RandomAffine(20, (0.1, 0.1)),
    "ColorJitter": lambda v2: v2.ColorJitter(0.2, 0.1),
    "ToImage": lambda v2: v2.ToImage(),
    "ToDtype": lambda v2: v2.ToDtype({tvt.Image: torch.float32, tvt.Mask: torch.int64, "others": None}, scale=True),
    "ConvertBoundingBoxFormat": lambda v2: v2.ConvertBoundingBoxFormat("CXCYWH"),
    "ClampBoundingBoxes": lambda v2: v2.ClampBoundingBoxes(),
    "SanitizeBoundingBoxes": lambda v2: v2.SanitizeBoundingBoxes(min_size=9),
    "RandomChoice": lambda v2: v2.RandomChoice([v2.Resize(20), v2.RandomHorizontalFlip(0.0)]),
    "RandomApply": lambda v2: v2.RandomApply([v2.Pad(3)], p=0.4),
}


def sample(of: str) -> tuple[Any, dict[str, Any]]:
    image = photo("coffee", 48, 64)
    boxes = torch.tensor([[3.0, 4, 30, 40], [20, 10, 64, 48], [1, 1, 6, 5]])
    target = {
        "boxes": tvt.BoundingBoxes(boxes, format="XYXY", canvas_size=(48, 64)),  # type: ignore[call-overload]
        "labels": torch.arange(3),
        "masks": tvt.Mask(to_chw(image)[0] // 99),
        "name": "coffee",
    }
    return (tvt.Image(to_chw(image)) if of == "Image" else image), target


def assert_same(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, torch.Tensor):
        assert torch.equal(result, expected) and vars(result) == vars(expected)
    elif isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected):
            assert_same(one, other)
    elif isinstance(expected, dict):
        assert list(result) == list(expected)
        assert_same(list(result.values()), list(expected.values()))
    else:
        assert result == expected


@pytest.mark.parametrize("name", TRANSFORMS)
@each("of", ["PIL", "Image"])
@each("arguments", ["tuple", "dictionary", "several"])
def test_each_call_is_torchvisions(name: str, of: str, arguments: str) -> None:
    ours, theirs = TRANSFORMS[name](T), TRANSFORMS[name](TV)
    for call in range(CALLS):
        image, target = sample(of)
        given = ((image, target),) if arguments == "tuple" else ({"image": image, **target},)
        if arguments == "several":
            given = image, target
        torch.manual_seed(call)
        expected = theirs(*given)
        after = torch.get_rng_state()
        torch.manual_seed(call)
        result = ours(*given)
        assert torch.equal(torch.get_rng_state(), after)
        assert_same(result, expected)
        if arguments != "several":
            assert (result is given[0]) == (expected is given[0])


def test_what_does_not_happen_gives_the_sample_itself() -> None:
    given = sample("Image")
    for transform in (T.RandomHorizontalFlip(0.0), T.Compose([T.RandomHorizontalFlip(0.0), T.RandomGrayscale(0.0)])):
        assert all(transform(given) is given for _ in range(CALLS))
    image, _ = given
    flip = T.Compose([T.RandomHorizontalFlip(0.0)])
    assert all(flip(image) is image for _ in range(CALLS))


def test_later_calls_obey_what_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = sample("PIL")
    transform = T.RandomHorizontalFlip(1.0)
    flipped = [transform(given) for _ in range(CALLS)][-1]
    transform.p = 0.0
    assert transform(given) is given
    transform.p = 1.0
    assert_same([transform(given) for _ in range(CALLS)], [flipped] * CALLS)
    seen = []
    hook = transform.register_forward_hook(lambda module, inputs, result: seen.append(result))
    assert_same(transform(given), flipped)
    assert len(seen) == 1
    hook.remove()
    monkeypatch.setattr(T.RandomHorizontalFlip, "transform", lambda self, inpt, params: "patched")
    image, target = transform(given)
    assert image == target["boxes"] == "patched"


def test_copies_and_pickles_leave_the_pipeline_out() -> None:
    given = sample("PIL")
    transform = T.Resize(20)
    before, shown, names = pickle.dumps(transform), repr(transform), set(vars(transform))
    results = [transform(given) for _ in range(CALLS)]
    assert set(vars(transform)) > names and not list(transform.children())
    assert pickle.dumps(transform) == before and repr(transform) == shown
    for other in (copy.copy(transform), copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert set(vars(other)) == names
        assert not any(name in T.Compose([other], mode="fast").__getstate__() for name in ("_call", "_kernels"))
        assert_same([other(given) for _ in range(CALLS)], results)
