"""The objects that compile() makes hold what this package's constructors put there, and nothing of torchvision's."""

from __future__ import annotations

import enum
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from torch import nn
from torchvision import tv_tensors
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.transforms as T
from fastaug._draft import releases
from fastaug._draft.through import step_of
from fastaug.transforms import v2
from parity.test_v2_classes import CASES as V2_CASES
from parity.test_v2_classes import made as both_of
from support.differences import each, grouped
from support.versions import RELEASE, differs
from tables.cases import ALL_CASES

pytestmark = pytest.mark.filterwarnings("ignore")


def user(image: Any) -> Any:
    return image


def labels_of(sample: Any) -> Any:
    return sample["labels"]


def held(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Where in an object its parts are, and those parts that have no parts themselves."""
    yield path, dict if isinstance(value, dict) else type(value)
    if isinstance(value, (type, enum.Enum)) or inspect.isroutine(value):
        yield path, value
    elif isinstance(value, (torch.Tensor, np.ndarray)):
        yield path, (str(value.dtype), value.tolist())
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from held(key, f"{path} key")
            yield from held(part, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from held(part, f"{path}[{number}]")
    elif hasattr(value, "__dict__"):
        for name, part in vars(value).items():
            # Written by the calls of a pipeline, and not a setting.
            if name != "_call":
                yield from held(part, f"{path}.{name}")
    else:
        yield path, value


def is_theirs(part: Any) -> bool:
    """Whether a part is torchvision's, and not one of the tv_tensors, which both have in common."""
    home = str((part if isinstance(part, type) or inspect.isroutine(part) else type(part)).__module__)
    return home.startswith("torchvision.") and not home.startswith("torchvision.tv_tensors")


def assert_own(ours: Any, theirs: Any) -> None:
    """Assert that what torchvision's transform is read into holds nothing of torchvision's, but what `ours` holds."""
    made = fastaug.compile(theirs).transforms
    assert made or not ours.transforms
    assert all(step is not theirs for step in made)
    # A transform of an older release keeps its original, to call it.
    parts = [part for part in held(made) if "._theirs" not in part[0]]
    assert not [part for part in parts if is_theirs(part[1])]
    if RELEASE == releases.FOLLOWED:
        expected = fastaug.compile(ours).transforms if hasattr(ours, "transforms") else (ours,)
        assert sorted(parts, key=by_path) == sorted(held(expected), key=by_path)


def by_path(part: tuple[str, Any]) -> str:
    return part[0]


@grouped({name: make for name, make in ALL_CASES.items() if "stacked" not in name}, whole=True)
def test_v1(name: str) -> None:
    ours, theirs = ALL_CASES[name](T), ALL_CASES[name](TV)
    assert step_of(ours) is not None
    if releases.left("v1", type(theirs).__name__) is None:
        assert_own(ours, theirs)


@grouped(V2_CASES, "case", lambda case: case[0], whole=True)
def test_v2(case: Any) -> None:
    assert_own(*both_of(case))


FURTHER: dict[str, Callable[[Any], Any]] = {
    "SanitizeBoundingBoxes, a function": lambda p: p.SanitizeBoundingBoxes(labels_getter=labels_of),
    "SanitizeKeyPoints, labels": lambda p: p.SanitizeKeyPoints(labels_getter="default"),
    "SanitizeKeyPoints, a function": lambda p: p.SanitizeKeyPoints(labels_getter=labels_of),
    "MixUp, no labels": lambda p: p.MixUp(num_classes=3, labels_getter=None),
    "CutMix, a function": lambda p: p.CutMix(num_classes=3, labels_getter=labels_of),
    "RandomZoomOut, fills by type": lambda p: p.RandomZoomOut(
        defaultdict(user, {tv_tensors.Mask: 0, "others": [1, 2]})
    ),
    "RandomApply": lambda p: p.RandomApply([p.SanitizeBoundingBoxes(), p.RandomCrop(20, fill={"others": 3})], 0.6),
    "RandomApply of modules": lambda p: p.RandomApply(nn.ModuleList([p.RandomRotation(20), p.SanitizeBoundingBoxes()])),
    "RandomChoice": lambda p: p.RandomChoice([p.Pad(1), p.SanitizeBoundingBoxes(labels_getter=None)], p=[1, 3]),
    "RandomOrder": lambda p: p.RandomOrder([p.MixUp(num_classes=3), p.AutoAugment()]),
    "Compose": lambda p: p.Compose([p.Compose([p.SanitizeBoundingBoxes()]), p.ElasticTransform(), p.RandAugment()]),
    "Lambda": lambda p: p.Lambda(user, torch.Tensor),
    "LinearTransformation": lambda p: p.LinearTransformation(torch.eye(12), torch.ones(12)),
}


@each("name", FURTHER, whole=True)
def test_further(name: str) -> None:
    if not differs(name.partition(",")[0]):
        assert_own(FURTHER[name](v2), FURTHER[name](TV2))


def test_functions_that_find_labels_are_the_users() -> None:
    """Another function than torchvision's own stays, whatever its name is."""

    def named(sample: Any) -> Any:
        return sample["other"]

    for name in ("_find_labels_default_heuristic", "_parse_labels_getter.<locals>.<lambda>"):
        named.__qualname__ = name
        compiled = fastaug.compile(TV2.SanitizeKeyPoints(labels_getter=named))
        assert compiled.transforms[0]._labels_getter is named


def test_dictionaries_are_copies() -> None:
    """Of the entries alone: no setting has a default factory called."""
    fill = defaultdict(user, {tv_tensors.Image: 5, "others": [1, 2]})
    compiled = fastaug.compile(TV2.RandomZoomOut(fill))
    (step,) = compiled.transforms
    fill[tv_tensors.Image], fill[tv_tensors.Mask] = 7, 9
    fill["others"].append(3.0)
    for own in (step.fill, step._fill):
        assert type(own) is dict
        assert own == {tv_tensors.Image: 5, "others": [1.0, 2.0]}
