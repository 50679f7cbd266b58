"""What the readers of other packages know, and steps that are done in part at once; timm is read in tests/clients."""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image, ImageFilter

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug._compile import registry
from fastaug.adapters._known import Known, digest
from fastaug.adapters.timm import AugmentOp, RandomErasing, _at_once
from support.images import photo
from support.outcomes import seed_all

SOURCE = '''
"""Transforms of some package."""
import torchvision.transforms.functional as F
STEP = 2


def twice(number: int) -> int:
    """What it says."""
    return STEP * number


def wrapped(function):
    return lambda *arguments: function(*arguments)


class Border:
    """Cuts it off."""

    def __init__(self, side: int = 3) -> None:
        self.side = side

    @staticmethod
    def width(side):
        return twice(side)  # on both sides

    def __call__(self, image):
        return F.crop(image, self.side, self.side, image.height - twice(self.side), image.width - self.width(self.side))

    def __repr__(self):
        return "Border"
'''

COUNT = itertools.count()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a package `borders` with this source."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(source: str) -> types.ModuleType:
        name = f"borders_{next(COUNT)}"
        (tmp_path / f"{name}.py").write_text(source)
        module = importlib.import_module(name)
        # The same package in another release.
        for value in vars(module).values():
            if getattr(value, "__module__", None) == name:
                value.__module__ = "borders"
        for value in vars(module.Border).values():
            function = getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType):
                function.__module__ = "borders"
        return module

    return load


def test_comments_docstrings_annotations_and_reprs_say_nothing(package: Callable[[str], Any]) -> None:
    other = SOURCE.replace(": int = 3", "=3").replace(" -> None", "").replace("  # on both sides", "")
    other = other.replace('    """Cuts it off."""\n\n', "").replace('"Border"', '"<Border>"').replace("\n\n", "\n\n\n")
    assert digest(package(SOURCE).Border) == digest(package(other).Border) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return STEP * number", "return STEP + number"),
        ("side: int = 3", "side: int = 4"),
        ("self.side, self.side,", "self.side, 0,"),
        ("    @staticmethod\n    def width(side)", "    @classmethod\n    def width(cls, side)"),
        ("class Border:", "class Border(dict):"),
        (
            '        return "Border"',
            '        return "Border"\n\n    colour = 3\n\n    def draw(self):\n        return 1',
        ),
    ],
)
def test_code_says_something(package: Callable[[str], Any], old: str, new: str) -> None:
    assert old in SOURCE
    assert digest(package(SOURCE).Border) != digest(package(SOURCE.replace(old, new)).Border)


def test_replaced_functions_are_unknown(package: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    module = package(SOURCE)
    known = Known({"Border": {digest(module.Border) or ""}})
    border = module.Border()
    assert known.made(border)
    with monkeypatch.context() as patch:
        patch.setattr(module, "twice", lambda number: number)
        assert not known.made(border)
    with monkeypatch.context() as patch:
        patch.setattr(module.Border, "width", staticmethod(module.wrapped(module.twice)))
        assert not known.made(border)
    with monkeypatch.context() as patch:
        patch.setattr(module.Border, "__call__", functools.wraps(module.Border.__call__)(lambda self, image: image))
        assert not known.made(border)
    with monkeypatch.context() as patch:
        patch.setattr("torchvision.transforms.functional.crop", lambda image, *box: image)
        assert not known.made(border)
    with monkeypatch.context() as patch:
        patch.setattr(border, "width", lambda side: 1, raising=False)
        assert not known.made(border)
    assert known.made(border)
    copy.deepcopy(border)  # copyreg writes a note into the class
    assert known.made(border)


def test_without_source_nothing_is_known() -> None:
    names: dict[str, Any] = {}
    exec("class Border:\n    def __call__(self, image):\n        return image", {"__name__": "borders"}, names)
    assert digest(names["Border"]) is None
    assert not Known({"Border": {"0" * 16}}).made(names["Border"]())


def test_a_release_that_is_not_known_stays_as_it_is(
    package: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter is installed when an object of the package is met; of an unknown release, one warning tells."""
    older, newer = package(SOURCE), package(SOURCE.replace("STEP * number", "STEP + number"))
    known = Known({"Border": {digest(older.Border) or ""}})
    adapter = types.ModuleType("adapter_of_borders")

    def install() -> None:
        for module in (older, newer):
            registry.register(module.Border, lambda border: T.CenterCrop(5) if known.made(border) else None)

    adapter.install = install  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "adapter_of_borders", adapter)
    monkeypatch.setattr(registry, "ADAPTERS", {"borders": "adapter_of_borders"})
    monkeypatch.setattr(registry, "_readers", dict(registry._readers))
    monkeypatch.setattr(registry, "_told", set())
    assert [type(step) for step in fastaug.compile(older.Border()).transforms] == [T.CenterCrop]
    border = newer.Border()
    with pytest.warns(UserWarning, match="borders.Border as it is, and no faster.*does not know it"):
        compiled = fastaug.compile(TV.Compose([border, TV.ToTensor()]))
    assert compiled.transforms[0] is border
    assert fastaug.compile(TV.Compose([border, TV.ToTensor()])).transforms[0] is border  # told once


def test_registered_objects_inside_of_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        def __call__(self, image: Any) -> Any:
            return image.resize((image.width // 2, image.height // 2))

    class Pair:
        def __call__(self, image: Any) -> Any:
            return image

    monkeypatch.setattr(registry, "ADAPTERS", dict(registry.ADAPTERS))
    monkeypatch.setattr(registry, "_readers", dict(registry._readers))
    fastaug.register(Half, lambda half: T.Resize(9))
    fastaug.register(Pair, lambda pair: [T.Resize(9), T.CenterCrop(5)])
    (step,) = fastaug.compile(TV.RandomApply([Half(), Pair()])).transforms
    assert [type(one) for one in step.transforms] == [T.Resize, T.Compose]


class Softened(fastaug.Drawn):
    """Some of it is drafted, some done at once."""

    def draw(self, image: Any) -> Any:
        return random.random()

    def apply(self, image: Any, params: float) -> Any:
        image = F.adjust_brightness(image, 0.5 + params)
        image = _at_once(image, lambda image: image.filter(ImageFilter.BLUR))
        return F.invert(image)


def test_steps_that_are_done_in_part_at_once() -> None:
    images = [photo(name, 60, 80) for name in ("astronaut", "coffee", "chelsea")]
    transform = T.Compose([T.RandomCrop(48), Softened(), T.RandomHorizontalFlip(), Softened(), T.ToTensor()])
    seed_all(3)
    expected = torch.stack([transform(image) for image in images])
    seed_all(3)
    assert torch.equal(transform.batch(images), expected)
    seed_all(3)
    params = [transform.sample(image) for image in images]
    assert torch.equal(torch.stack([transform.replay(*pair) for pair in zip(images, params)]), expected)


def test_an_op_of_a_pipeline() -> None:
    """As timm has it, by a stand-in: the matrix of a shear, and the colour outside."""

    def shear_x() -> None:
        """By its name."""

    theirs = types.SimpleNamespace(
        name="ShearX",
        prob=1.0,
        magnitude=5,
        hparams={},
        magnitude_std=0,
        magnitude_max=None,
        kwargs={"fillcolor": (9, 8, 7), "resample": Image.Resampling.BILINEAR},
        aug_fn=shear_x,
        level_fn=lambda level, hparams: (level * 0.03,),
    )
    image = photo("coffee", 50, 60)
    expected = image.transform(
        image.size, Image.Transform.AFFINE, (1, 0.15, 0, 0, 1, 0), Image.Resampling.BILINEAR, fillcolor=(9, 8, 7)
    )
    assert AugmentOp(theirs)(image) == expected


def test_boxes_are_erased_in_place() -> None:
    theirs = types.SimpleNamespace(
        probability=1.0,
        min_area=0.1,
        max_area=0.2,
        log_aspect_ratio=(-0.5, 0.5),
        min_count=2,
        max_count=2,
        num_splits=0,
        per_pixel=False,
        rand_color=False,
    )
    erasing = RandomErasing(theirs)
    tensor = torch.ones(3, 20, 30)
    assert erasing(tensor) is tensor
    assert 0 < int((tensor[0] == 0).sum()) < 300
    with pytest.raises(TypeError, match="takes a tensor"):
        erasing(photo("coffee", 9, 9))
