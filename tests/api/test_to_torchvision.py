"""fastaug.to_torchvision: torchvision's objects with the same settings, seeds, pixels and pickles."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import pickletools
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision
import torchvision.transforms as TV
from torch import nn
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.io
import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug import pathology
from fastaug.transforms import v2
from parity.test_v2_classes import CASES as V2_CASES
from parity.test_v2_classes import SAMPLES
from parity.test_v2_classes import made as both_of
from support.differences import each, grouped
from support.images import noise, photo, pil
from support.outcomes import assert_same, run
from support.processes import python
from support.v2_outcomes import run_v2, v2_difference
from tables.cases import ALL_CASES, OTHER_CASES
from tables.recipes import PIPELINES
from tables.v2_recipes import PIPELINES as V2_PIPELINES

to_torchvision = fastaug.to_torchvision

#: Without the one whose callable of the user's holds a transform.
CASES = {name: make for name, make in ALL_CASES.items() if "stacked" not in name}


def given(name: str) -> Any:
    if name in OTHER_CASES:
        if name == "LinearTransformation":
            return torch.linspace(0, 1, 48).view(3, 4, 4)
        return noise(40, 50) if name.startswith("ToPIL") else torch.linspace(0, 1, 6000).view(3, 40, 50)
    return pil("RGB", 64, 71)


def settled(value: Any) -> Any:
    """A value that is equal where objects of torchvision have equal attributes, of the same types."""
    if isinstance(value, torch.Tensor):
        return "tensor", str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [settled(part) for part in value]
    if isinstance(value, dict):
        return type(value).__name__, [(settled(key), settled(part)) for key, part in value.items()]
    if isinstance(value, (nn.Module, torch.distributions.Distribution)) or type(value).__module__.startswith(
        "torchvision.t"
    ):
        return type(value), sorted((name, settled(one)) for name, one in vars(value).items())
    return getattr(value, "__name__", value)


def assert_same_settings(made: Any, theirs: Any) -> None:
    assert type(made) is type(theirs)
    assert repr(made) == repr(theirs)
    assert vars(made).keys() == vars(theirs).keys()
    for name, value in vars(theirs).items():
        assert settled(vars(made)[name]) == settled(value), name


def modules_in(pickled: bytes) -> set[str]:
    """The packages that a pickle names."""
    words = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    return {word.split(" ")[0].partition(".")[0] for word in words}


# ---- every class


@grouped(CASES)
def test_v1(name: str) -> None:
    ours, theirs = CASES[name](T), CASES[name](TV)
    made = to_torchvision(ours)
    assert_same_settings(made, theirs)
    for seed in range(2):
        expected = run(theirs, given(name), seed, untouched="inplace" in name)
        assert_same(run(made, given(name), seed, untouched="inplace" in name), expected)


@grouped(V2_CASES, "case", lambda case: case[0])
@pytest.mark.filterwarnings("ignore")
def test_v2(case: Any) -> None:
    ours, theirs = both_of(case)
    made = to_torchvision(ours)
    assert_same_settings(made, theirs)
    for sample in SAMPLES.values():
        found = v2_difference(run_v2(made, (sample(),), 3), run_v2(theirs, (sample(),), 3))
        assert found is None, found


V2_CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "Compose": lambda p: p.Compose([p.Resize(20), p.RandomHorizontalFlip()]),
    "Compose nested": lambda p: p.Compose((p.Compose([p.Resize(20)]), p.RandomApply([p.RandomRotation(20)], 0.6))),
    "RandomApply of modules": lambda p: p.RandomApply(nn.ModuleList([p.RandomRotation(20), p.Pad(2)]), p=0.7),
    "RandomChoice": lambda p: p.RandomChoice([p.Pad(1), p.RandomRotation(30)], p=[1, 3]),
    "RandomOrder": lambda p: p.RandomOrder([p.Pad(1), p.RandomRotation(30), p.CenterCrop(20)]),
    "Lambda": lambda p: p.Lambda(p.functional.vertical_flip, torch.Tensor),
    "LinearTransformation": lambda p: p.LinearTransformation(torch.eye(12), torch.ones(12)),
}


@each("name", V2_CONTAINERS, whole=True)
def test_v2_containers(name: str) -> None:
    ours, theirs = V2_CONTAINERS[name](v2), V2_CONTAINERS[name](TV2)
    made = to_torchvision(ours)
    assert_same_settings(made, theirs)
    image = torch.linspace(0, 1, 12).view(3, 2, 2) if name == "LinearTransformation" else SAMPLES["tensor"]()
    for seed in range(3):
        found = v2_difference(run_v2(made, (image.clone(),), seed), run_v2(theirs, (image.clone(),), seed))
        assert found is None, found


def test_all_classes_of_v2_are_here() -> None:
    classes = {name for name in v2.__all__ if isinstance(getattr(v2, name), type)}
    apart = {name for name in classes if issubclass(getattr(v2, name), enum.Enum)} | {"Transform"}
    assert classes - apart == {case[0] for case in V2_CASES} | {name.split()[0] for name in V2_CONTAINERS}


# ---- pipelines


@each("name", PIPELINES, whole=True)
def test_pipelines(name: str) -> None:
    ours, theirs = PIPELINES[name](T), PIPELINES[name](TV)
    image = photo("coffee", 350, 340)
    for transform in (ours, fastaug.compile(ours), fastaug.compile(theirs)):
        made = to_torchvision(transform)
        assert type(made) is type(theirs)
        for seed in range(2):
            assert_same(run(made, image, seed), run(theirs, image, seed))
    assert to_torchvision(fastaug.compile(theirs)) is theirs


@each("name", [name for name in V2_PIPELINES if "DINO" not in name and name != "lerobot"], whole=True)
@pytest.mark.filterwarnings("ignore")
def test_pipelines_of_v2(name: str) -> None:
    make, draw, _ = V2_PIPELINES[name]
    ours, theirs = make(v2), make(TV2)
    for transform in (ours, fastaug.compile(ours)):
        made = to_torchvision(transform)
        assert repr(made) == repr(theirs)
        for seed in range(2):
            found = v2_difference(run_v2(made, draw(seed), seed), run_v2(theirs, draw(seed), seed))
            assert found is None, found


def test_containers_of_torch() -> None:
    steps = nn.Sequential(T.Resize(20), nn.Sequential(T.CenterCrop(18)))
    made = to_torchvision(steps)
    assert repr(made) == repr(nn.Sequential(TV.Resize(20), nn.Sequential(TV.CenterCrop(18))))
    assert type(steps[0]) is T.Resize
    apply = to_torchvision(T.RandomApply(nn.ModuleList([T.Resize(20)]), p=1.0))
    assert type(apply.transforms) is nn.ModuleList and type(apply.transforms[0]) is TV.Resize
    assert type(to_torchvision(T.Compose(nn.ModuleList([T.Pad(1)]))).transforms) is nn.ModuleList
    compose = to_torchvision(T.Compose((T.Pad(1), T.Pad(2))))
    assert type(compose.transforms) is tuple and type(compose.transforms[1]) is TV.Pad


def test_mixed_with_torchvision() -> None:
    """What is torchvision's already is the same object, unless something inside it is not."""
    theirs = TV.Compose([TV.Resize(20), TV.RandomApply([TV.Pad(1)]), TV.ToTensor()])
    for one in (theirs, theirs.transforms[1], nn.Sequential(TV.Pad(1)), TV2.Compose([TV2.Resize(20)])):
        assert to_torchvision(one) is one
    mixed = TV.Compose([TV.Resize(20), TV.RandomApply([T.Pad(1)], p=0.5), T.ToTensor()])
    made = to_torchvision(mixed)
    assert made is not mixed and made.transforms[0] is mixed.transforms[0]
    assert repr(made) == repr(theirs)
    assert type(made.transforms[1].transforms[0]) is TV.Pad
    assert type(mixed.transforms[1].transforms[0]) is T.Pad
    assert type(to_torchvision(T.Compose([TV2.Resize(20), v2.Resize(20)])).transforms[1]) is TV2.Resize


def test_one_object_stays_one() -> None:
    flip = T.RandomHorizontalFlip(1.0)
    made = to_torchvision(T.Compose([flip, T.Compose([flip]), T.RandomApply([flip])]))
    assert made.transforms[0] is made.transforms[1].transforms[0] is made.transforms[2].transforms[0]


def test_the_transform_is_not_changed() -> None:
    transform = T.Compose([T.Normalize([0.5], [0.5]), v2.Pad(2, {tvt.Image: 9, "others": 1})])
    before = pickle.dumps(transform)
    made = to_torchvision(transform)
    made.transforms[0].mean.append(1.0)
    made.transforms[1].fill["others"] = 5
    made.transforms.append(TV.Pad(1))
    assert pickle.dumps(transform) == before


def test_attributes_that_users_set() -> None:
    crop, rotation = T.RandomCrop(10), T.RandomRotation(20, T.InterpolationMode.BILINEAR).eval()
    crop.get_params = lambda img, size: (1, 2, 7, 8)
    crop.size = (7, 8)
    rotation.note = "mine"
    made = to_torchvision(T.Compose([rotation, crop]))
    assert made.transforms[0].interpolation is TV.InterpolationMode.BILINEAR
    assert (made.transforms[0].note, made.transforms[0].training) == ("mine", False)
    expected = TV.functional.crop(pil("RGB", 30, 31), 1, 2, 7, 8)
    assert made.transforms[1](pil("RGB", 30, 31)).tobytes() == expected.tobytes()


def test_hooks() -> None:
    seen: list[Any] = []
    resize = T.Resize((12, 13))
    resize.register_forward_hook(lambda module, inputs, output: seen.append((type(module), output.size)))
    made = to_torchvision(T.Compose([resize]))
    made(pil("RGB", 30, 30))
    assert seen == [(TV.Resize, (13, 12))]
    made.transforms[0]._forward_hooks.clear()
    resize(pil("RGB", 30, 30))
    assert len(seen) == 2


# ---- callables


def darken(image: Any) -> Any:
    return image.point(lambda value: value // 2)


class Unchanged:
    def __call__(self, image: Any) -> Any:
        return image


def test_users_callables_are_kept() -> None:
    for one in (darken, Unchanged(), partial(darken), nn.Identity(), torch.relu, nn.ReLU()):
        assert to_torchvision(one) is one
        assert to_torchvision(T.Compose([T.Pad(1), one])).transforms[1] is one
    made = to_torchvision(T.Compose([T.Lambda(darken), TV.Lambda(darken)]))
    assert type(made.transforms[0]) is TV.Lambda and made.transforms[0].lambd is darken


def test_functions_of_fastaug() -> None:
    assert to_torchvision(F.hflip) is TV.functional.hflip
    assert to_torchvision(v2.functional.horizontal_flip) is TV2.functional.horizontal_flip
    assert to_torchvision(fastaug.io.read_image) is torchvision.io.read_image
    rotate = to_torchvision(T.Lambda(partial(F.rotate, angle=90.0, interpolation=T.InterpolationMode.BILINEAR))).lambd
    assert rotate.func is TV.functional.rotate
    assert rotate.keywords == {"angle": 90.0, "interpolation": TV.InterpolationMode.BILINEAR}
    assert to_torchvision(partial(T.Resize, 7)).func is TV.Resize


# ---- refusals


class Mine(T.Resize):
    pass


class MineOfSamples(v2.Transform):
    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt


class MyCompose(T.Compose):
    pass


class Dimmed(fastaug.Drawn):
    def apply(self, image: Any, params: Any) -> Any:
        return F.adjust_brightness(image, 0.5)


class TwoCrops:
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __call__(self, image: Any) -> Any:
        return [self.transform(image), self.transform(image)]


class Branches(nn.Module):
    def __init__(self, branch: Any) -> None:
        super().__init__()
        self.branch = branch

    def forward(self, image: Any) -> Any:
        return self.branch(image)


MANY = T.Compose([T.RandomCrop(8), T.ToTensor()])
#: What is refused, and what the error says.
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "Decode": (T.Decode, TypeError, "torchvision has no Decode. fastaug.to_torchvision takes transforms and functions"),
    "pathology": (pathology.RandomDihedral, TypeError, "torchvision has no pathology.RandomDihedral"),
    "function": (lambda: T.Lambda(fastaug.io.imread), TypeError, "torchvision has no io.imread"),
    "own function": (lambda: pathology.functional.dihedral, TypeError, "no pathology.functional.dihedral"),
    "bound method": (lambda: T.Lambda(T.Pad(1).forward), TypeError, "torchvision has no "),
    "Views": (lambda: fastaug.Views([MANY, MANY]), TypeError, "torchvision has no Views.*for one in views.transforms"),
    "Drawn": (Dimmed, TypeError, "Dimmed is a subclass of fastaug's Drawn. Derive it from torchvision's class"),
    "subclass": (lambda: Mine(3), TypeError, "Mine is a subclass of fastaug's Resize"),
    "subclass of v2": (MineOfSamples, TypeError, "MineOfSamples is a subclass of fastaug's Transform"),
    "subclass of Compose": (lambda: MyCompose([]), TypeError, "MyCompose is a subclass of fastaug's Compose"),
    "holder": (
        lambda: TwoCrops(MANY),
        TypeError,
        "TwoCrops is kept as it is, and its transform holds fastaug's Compose",
    ),
    "module": (lambda: Branches(T.Pad(1)), TypeError, "Branches is kept as it is, and its branch holds fastaug's Pad"),
    "list of a holder": (lambda: TwoCrops([1, {2: F.hflip}]), TypeError, "its transform holds fastaug's hflip"),
    "mode": (lambda: T.Compose([], mode="fast"), ValueError, "torchvision has no mode='fast', as this Compose has"),
    "arithmetic": (lambda: v2.Compose([v2.Identity()], arithmetic="pil"), ValueError, "no arithmetic='pil'"),
    "compiled mode": (lambda: fastaug.compile(MANY, mode="fast"), ValueError, "mode='fast', as this Compiled has"),
    "generator": (lambda: fastaug.compile(MANY, generator=torch.Generator()), ValueError, "no generator"),
    "formats": (
        lambda: fastaug.compile(MANY, dtype=torch.float16, memory_format=torch.channels_last),
        ValueError,
        "no dtype and no memory_format",
    ),
    "compiled subclass": (lambda: fastaug.compile(T.Compose([Mine(3)])), TypeError, "Mine is a subclass"),
}


@each("name", REFUSED, whole=True)
def test_refused(name: str) -> None:
    make, error, message = REFUSED[name]
    one = make()
    for wrapped in (one, T.Compose([T.Pad(1), one]), TV.Compose([TV.Compose([one])])):
        with pytest.raises(error, match=message):
            to_torchvision(wrapped)


def test_not_callable() -> None:
    with pytest.raises(TypeError, match="Got <class 'list'>; a Compose takes it"):
        to_torchvision([T.Pad(1)])


def test_replaced_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(T.RandomRotation, "get_params", staticmethod(lambda degrees: 180.0))
    monkeypatch.setattr(T.Pad, "forward", lambda self, img: img)
    monkeypatch.setattr(v2.Pad, "transform", lambda self, inpt, params: inpt)
    for one, name in ((T.RandomRotation(3), "get_params"), (T.Pad(1), "forward"), (v2.Pad(1), "transform")):
        with pytest.raises(TypeError, match=f"{type(one).__name__}.{name} is a function of yours"):
            to_torchvision(one)
    # A class that nothing was replaced in is the same as before.
    assert type(to_torchvision(T.CenterCrop(1))) is TV.CenterCrop


def test_compiled_views() -> None:
    """Those that a class of the user's makes are that class again."""
    original = TwoCrops(TV.Compose([TV.RandomCrop(8), TV.ToTensor()]))
    assert to_torchvision(fastaug.compile(original)) is original
    with pytest.raises(TypeError, match="TwoCrops is kept as it is"):
        to_torchvision(fastaug.compile(TwoCrops(MANY)))
    with pytest.raises(TypeError, match="torchvision has no Views"):
        to_torchvision(fastaug.compile(fastaug.Views([MANY, MANY])))


def test_hooks_of_compiled_transforms() -> None:
    compiled = fastaug.compile(MANY)
    compiled.register_forward_hook(lambda module, inputs, output: None)
    with pytest.raises(ValueError, match="hooks of a Compiled cannot be moved"):
        to_torchvision(compiled)


def test_older_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class or an argument that the installed torchvision does not have."""
    monkeypatch.delattr(TV2, "SanitizeKeyPoints")
    with pytest.raises(TypeError, match=r"torchvision \S+ has no transforms.v2.SanitizeKeyPoints. A newer release has"):
        to_torchvision(v2.Compose([v2.SanitizeKeyPoints()]))

    class Older(TV2.SanitizeBoundingBoxes):
        def __init__(self, min_size: float = 1.0) -> None:
            super().__init__(min_size)

    monkeypatch.setattr(TV2, "SanitizeBoundingBoxes", Older)
    assert type(to_torchvision(v2.SanitizeBoundingBoxes(min_size=3.0))) is Older
    with pytest.raises(TypeError, match=r"SanitizeBoundingBoxes of torchvision \S+ has no min_area, which is 7.0"):
        to_torchvision(v2.SanitizeBoundingBoxes(min_area=7.0))


def test_without_torchvision() -> None:
    code = """
import support.without_torchvision
import fastaug, fastaug.transforms as T
try:
    fastaug.to_torchvision(T.Pad(1))
except ImportError as error:
    print(error.name, error)
"""
    result = python(["-c", code], lean=True)
    assert result.stdout.strip() == "torchvision torchvision is not installed", result.stderr


# ---- pickles

#: Objects of torchvision that do not pickle either: they hold a lambda.
LAMBDAS = ("SanitizeKeyPoints", "SanitizeBoundingBoxes")


def everything() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: make(T) for name, make in CASES.items()}
        found |= {f"v2 {number} {case[0]}": both_of(case)[0] for number, case in enumerate(V2_CASES)}
    found |= {f"v2 {name}": make(v2) for name, make in V2_CONTAINERS.items()}
    found |= {f"pipeline {name}": PIPELINES[name](T) for name in ("ImageNet train", "SimCLR", "CIFAR")}
    found["compiled"] = fastaug.compile(MANY)
    return {name: to_torchvision(one) for name, one in found.items()}


def pickles(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except (AttributeError, pickle.PicklingError):
        return False
    return True


def test_pickles_load_without_fastaug(tmp_path: Path) -> None:
    made = everything()
    kept = {name: one for name, one in made.items() if pickles(one)}
    assert {name.split()[-1] for name in made.keys() - kept.keys()} <= set(LAMBDAS)
    assert len(kept) > 300
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert "fastaug" not in modules_in(pickle.dumps(kept, protocol))
    torch.save(kept, tmp_path / "checkpoint.pt")
    (tmp_path / "transform.pickle").write_bytes(pickle.dumps(kept))
    image = pil("RGB", 64, 71)
    np.save(tmp_path / "image.npy", np.asarray(image))
    code = """
import json, pickle, sys
from importlib.abc import MetaPathFinder
class Blocker(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == "fastaug":
            raise ModuleNotFoundError(fullname)
sys.meta_path.insert(0, Blocker())
assert "fastaug" not in sys.modules
import numpy as np, torch
from PIL import Image
folder = sys.argv[1]
with open(folder + "/transform.pickle", "rb") as file:
    loaded = pickle.load(file)
saved = torch.load(folder + "/checkpoint.pt", weights_only=False)
assert list(map(repr, loaded.values())) == list(map(repr, saved.values()))
image = Image.fromarray(np.load(folder + "/image.npy"))
torch.manual_seed(3)
print(json.dumps({"repr": {name: repr(one) for name, one in loaded.items()},
                  "result": loaded["pipeline ImageNet train"](image).flatten().tolist()}))
"""
    result = python(["-c", code, str(tmp_path)], lean=True)
    assert result.returncode == 0, result.stderr
    read = json.loads(result.stdout)
    assert read["repr"] == {name: repr(one) for name, one in kept.items()}
    expected = run(PIPELINES["ImageNet train"](TV), image, 3).value
    assert read["result"] == expected.flatten().tolist()


def test_copies() -> None:
    for one in (to_torchvision(MANY), to_torchvision(v2.Compose([v2.Resize(8), v2.RandomApply([v2.Pad(1)])]))):
        image = pil("RGB", 20, 30)
        assert_same(run(copy.deepcopy(one), image), run(one, image))
