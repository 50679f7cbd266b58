"""Objects of an older torchvision, compiled, give what that gives: by the table of differences, as far as it goes."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as V2
from PIL import Image
from torchvision import tv_tensors

import fastaug
import fastaug.transforms as T
from fastaug._compile.of_release import OfRelease
from fastaug._draft import releases
from fastaug.transforms import v2
from support.images import noise
from support.versions import since

if not since(*releases.FOLLOWED):
    pytest.skip("the table is tried with the newest release", allow_module_level=True)

IMAGE = tv_tensors.Image(torch.arange(3 * 20 * 30).remainder(251).to(torch.uint8).reshape(3, 20, 30))
MASK = tv_tensors.Mask(torch.ones((1, 20, 30), dtype=torch.uint8))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes a process one with another release, as far as rules go."""

    def choose(*release: int) -> None:
        monkeypatch.setattr(releases, "installed", lambda: release or None)
        releases.rules.cache_clear()

    yield choose
    releases.rules.cache_clear()


def boxes(format: str, dtype: torch.dtype = torch.float32) -> tv_tensors.BoundingBoxes:
    numbers = torch.tensor([[10, 10, 7, 5, 20][: 5 if format.endswith("R") else 4]], dtype=dtype)
    return tv_tensors.BoundingBoxes(numbers, format=format, canvas_size=(20, 30))


def points() -> Any:
    return tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(20, 30))


def test_the_table() -> None:
    for rule in releases.RULES:
        package, theirs = (T, TV) if rule.api == "v1" else (v2, V2)
        for op in rule.ops:
            homes = (package, theirs) if op[0].isupper() else (package.functional, theirs.functional)
            assert all(hasattr(home, op) for home in homes), rule
        assert rule.begins < rule.since <= releases.FOLLOWED
        assert (rule.on is None) == (rule.meets is None), rule
        assert re.match(r"[a-zA-Z]", rule.differs)
        assert not rule.differs.endswith(".")
    assert [rule.since for rule in releases.RULES] == sorted(rule.since for rule in releases.RULES)


def test_nothing_is_left_to_the_followed_one(installed: Callable[..., None]) -> None:
    installed(*releases.FOLLOWED)
    for api, package in (("v1", T), ("v2", v2)):
        assert all(releases.rules(api, op) == () and releases.left(api, op) is None for op in package.__all__)
    assert releases.described() == "as torchvision 0.29's"
    assert not isinstance(fastaug.compile(V2.Resize(9, V2.InterpolationMode.LANCZOS)).transforms[0], OfRelease)


@pytest.mark.parametrize("package", [TV, V2])
def test_an_op_that_differs_is_called(package: Any, installed: Callable[..., None]) -> None:
    installed(0, 25)
    elastic = package.ElasticTransform(9.0, 1.0)
    pipeline = fastaug.compile(package.Compose([package.RandomHorizontalFlip(1.0), elastic, package.Pad(2)]))
    assert [type(step).__module__.partition(".")[0] for step in pipeline.transforms] == [
        "fastaug",
        "torchvision",
        "fastaug",
    ]
    assert "in torchvision 0.25 each displacement is divided by the other side" in str(pipeline.explain((20, 30)))
    with pytest.warns(UserWarning, match=r"cannot read .*: in torchvision 0\.25 each displacement is divided"):
        assert fastaug.compile(elastic).transforms == (elastic,)
    installed(0, 27)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(fastaug.compile(elastic).transforms[0]).__module__.startswith("fastaug")


def test_an_op_of_this_package_is_not(installed: Callable[..., None]) -> None:
    installed(0, 25)
    for package in (T, v2):
        assert type(fastaug.compile(package.ElasticTransform()).transforms[0]) is package.ElasticTransform


PHOTO = Image.fromarray(noise(9, 9, 3))
EXACT, LANCZOS = V2.InterpolationMode.NEAREST_EXACT, V2.InterpolationMode.LANCZOS
WHOLE = torch.int64

#: A transform, the last release with a rule about it, samples that the rule is about, and others.
CONDITIONS: list[tuple[Callable[[], Any], tuple[int, int], list[Any], list[Any]]] = [
    (
        lambda: V2.RandomHorizontalFlip(1.0),
        (0, 23),
        [(IMAGE, points()), boxes("XYWHR")],
        [IMAGE, boxes("XYWH"), PHOTO],
    ),
    (
        lambda: V2.Pad(2),
        (0, 25),
        [(IMAGE, boxes("CXCYWH", WHOLE))],
        [(IMAGE, boxes("CXCYWH")), boxes("XYWH", WHOLE), (IMAGE, points())],
    ),
    (lambda: V2.ElasticTransform(3.0, 1.0), (0, 26), [(IMAGE, boxes("XYXY"))], [IMAGE, (IMAGE, MASK)]),
    (lambda: V2.Resize(9, LANCZOS), (0, 26), [IMAGE, IMAGE / 255, IMAGE.as_subclass(torch.Tensor)], [PHOTO]),
    (lambda: V2.ScaleJitter((9, 9), (0.5, 1.0), interpolation=EXACT), (0, 27), [(IMAGE, MASK)], [IMAGE, PHOTO]),
    (lambda: V2.Resize(9), (0, 27), [], [(IMAGE, MASK), IMAGE, (IMAGE, boxes("CXCYWH", WHOLE))]),
]


class Called(Exception):
    """torchvision's own was."""


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
@pytest.mark.parametrize("container", ["alone", "inside"])
def test_leaves_that_an_older_release_treats_otherwise(
    number: int, container: str, installed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, release, about, others = CONDITIONS[number]
    installed(*release)
    theirs = make()
    whole = theirs if container == "alone" else V2.Compose([V2.RandomApply([theirs], 1.0)])
    pipeline = fastaug.compile(whole)
    again = pickle.loads(pickle.dumps(pipeline)), copy.deepcopy(pipeline)

    def called(self: Any, *inputs: Any) -> Any:
        raise Called

    with monkeypatch.context() as patch:
        patch.setattr(type(theirs), "forward", called)
        for compiled in (pipeline, *again):
            for sample in about:
                with pytest.raises(Called):
                    compiled(sample)
            for sample in others:
                compiled(sample)
    installed(*releases.FOLLOWED)
    assert not isinstance(fastaug.compile(theirs).transforms[0], OfRelease)
    for sample in (*about, *others):
        torch.manual_seed(1)
        expected = whole(sample)
        torch.manual_seed(1)
        assert same(pipeline(sample), expected)


def same(one: Any, two: Any) -> bool:
    if isinstance(two, tuple):
        return all(map(same, one, two))
    if isinstance(two, torch.Tensor):
        return type(one) is type(two) and torch.equal(one.as_subclass(torch.Tensor), two.as_subclass(torch.Tensor))
    return one.tobytes() == two.tobytes()  # type: ignore[no-any-return]


def test_later_changes_of_the_original_are_not_seen(installed: Callable[..., None]) -> None:
    installed(0, 26)
    theirs = V2.Resize([9, 9], V2.InterpolationMode.LANCZOS)
    pipeline = fastaug.compile(theirs)
    theirs.size = [3, 3]
    assert pipeline(IMAGE).shape == (3, 9, 9)
    assert repr(pipeline.transforms[0]) == repr(
        fastaug.compile(V2.Resize([9, 9], V2.InterpolationMode.LANCZOS)).transforms[0]
    )


def test_avx512_and_bilinear_resizes(installed: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    installed(0, 23)
    for capability, left in (("AVX2", False), ("AVX512", True)):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda found=capability: found)
        assert isinstance(fastaug.compile(V2.Resize(9)).transforms[0], OfRelease)  # for points, at least
        rules = fastaug.compile(V2.Resize(9)).transforms[0]._rules
        assert any(rule.of_images for rule in rules) == left
        assert not any(
            rule.of_images for rule in fastaug.compile(V2.Resize(9, V2.InterpolationMode.BICUBIC)).transforms[0]._rules
        )


def test_what_is_said_of_it(installed: Callable[..., None]) -> None:
    installed(0, 25)
    said = fastaug.info().rules["transforms"]
    assert said.startswith("as torchvision 0.29's by import; what is compiled of torchvision 0.25 leaves to it ")
    for part in ("v1 ElasticTransform", "v2 ElasticTransform", "v2 resizes on tensors", "v2 geometry on CXCYWH boxes"):
        assert part in said
    installed()
    assert fastaug.info().rules["transforms"] == "as torchvision 0.29's, which is not installed"


def test_batches_and_recipes(installed: Callable[..., None]) -> None:
    installed(0, 25)
    theirs = V2.Compose([V2.RandomHorizontalFlip(0.5), V2.RandomCrop(9), V2.ElasticTransform(3.0, 1.0)])
    several = [(IMAGE.roll(k), boxes("CXCYWH", WHOLE)) for k in range(4)]
    pipeline = fastaug.compile(theirs)
    assert isinstance(pipeline.transforms[0], OfRelease)
    torch.manual_seed(2)
    expected = [theirs(sample) for sample in several]
    torch.manual_seed(2)
    assert all(map(same, pipeline.batch(several), expected))
    # Single images lose nothing by rules about boxes.
    assert fastaug.compile(V2.Compose([V2.RandomCrop(9), V2.RandomVerticalFlip()]))._recipe() is not None
    assert fastaug.compile(V2.Compose([V2.Resize(9, LANCZOS)]))._recipe() is None
