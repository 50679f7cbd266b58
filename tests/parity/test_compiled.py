"""What torchvision's transforms give, they give when compiled: pixels, random draws and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from torch import nn

import fastaug
import fastaug.transforms as T
from fastaug.transforms._base import Transform
from support.differences import each, grouped
from support.images import PHOTOS, noise, photo, pil, to_chw
from support.outcomes import assert_same, run, seed_all, snapshot
from support.versions import since
from tables.cases import ALL_CASES, OTHER_CASES, PIL_CASES
from tables.recipes import PIPELINES, RECIPES, SMALL_RECIPES, pathology
from tables.subclasses import SUBCLASSES

Make = Callable[[Any], Any]

#: Without those that are meant to write into their input.
CASES = {name: make for name, make in ALL_CASES.items() if "inplace" not in name}


def given(name: str) -> list[Any]:
    """Images that a case takes."""
    if name.startswith("LinearTransformation"):
        return [torch.rand(3, 4, 4, generator=torch.Generator().manual_seed(1))]
    if name.startswith("ToPIL"):
        return [noise(40, 50), to_chw(photo("ihc", 31, 20))]
    if name in OTHER_CASES:
        return [torch.rand(3, 40, 50, generator=torch.Generator().manual_seed(1))]
    return [photo("ihc", 64, 81), pil("L", 31, 37, 2)]


def assert_compiled(original: Any, image: Any, seed: int = 0, reference: Any = None, **options: bool) -> Any:
    """Compiles a transform and compares with it, or with `reference`."""
    expected = run(original if reference is None else reference, image, seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = fastaug.compile(original)
    # What was not read at all is called as it is, and that is said; subclasses of fastaug's are drafted as they are.
    kept = len(compiled.transforms) == 1 and compiled.transforms[0] is original
    assert all("cannot read" in str(one.message) for one in caught)
    assert len(caught) == kept if not isinstance(original, Transform) else len(caught) <= kept
    assert_same(run(compiled, image, seed), expected, **options)
    assert_same(run(compiled, image, seed), expected, **options)  # a second call
    return compiled


@grouped(CASES)
def test_single(name: str) -> None:
    for seed, image in enumerate(given(name)):
        compiled = assert_compiled(CASES[name](TV), image, seed)
        assert all(type(step).__module__.startswith("fastaug.") for step in compiled.transforms)


@pytest.mark.parametrize("name", ["Normalize inplace", "RandomErasing inplace"])
def test_in_place(name: str) -> None:
    image = torch.rand(3, 20, 30, generator=torch.Generator().manual_seed(1))
    written = []
    for transform in (fastaug.compile(ALL_CASES[name](TV)), ALL_CASES[name](TV)):
        seed_all(3)
        mine = image.clone()
        assert transform(mine) is mine
        written.append(mine)
    assert torch.equal(*written) and not torch.equal(written[0], image)


@grouped(PIL_CASES)
def test_in_a_compose(name: str) -> None:
    """With neighbours that make one program of it."""
    if name in ("ToTensor", "PILToTensor") or name.startswith(("FiveCrop", "TenCrop")) or "Compose" in name:
        steps = [TV.Pad(2), PIL_CASES[name](TV)]
    else:
        steps = [TV.Pad(2), PIL_CASES[name](TV), TV.RandomHorizontalFlip(), TV.CenterCrop(30), TV.ToTensor()]
    for seed in range(3):
        assert_compiled(TV.Compose(steps), photo("coffee", 64, 81), seed)


@grouped(PIL_CASES)
def test_array(name: str) -> None:
    """An array gives what fastaug's own transform gives of it, which has tests of its own."""
    for seed, channels in enumerate((3, 1)):
        image = noise(50, 61, channels, 4)
        assert_compiled(PIL_CASES[name](TV), image, seed, reference=PIL_CASES[name](T))


@grouped(PIL_CASES)
def test_tensor(name: str) -> None:
    for seed, dtype in enumerate((torch.uint8, torch.float32)):
        image = to_chw(photo("ihc", 50, 61)).to(dtype)
        assert_compiled(PIL_CASES[name](TV), image, seed, reference=PIL_CASES[name](T))


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name: str) -> None:
    for seed in range(4):
        image = photo(PHOTOS[seed], 375, 500) if seed % 2 == 0 else photo(PHOTOS[seed], 500, 375)
        assert_compiled(PIPELINES[name](TV), image, seed)


@pytest.mark.parametrize("name", PIPELINES)
@each("mode", ["L", "RGBA", "P", "CMYK", "I;16", "F"])
def test_pipeline_in_other_modes(name: str, mode: str) -> None:
    assert_compiled(PIPELINES[name](TV), pil(mode, 350, 361, 5), 3)


@pytest.mark.parametrize("name", [name for name in RECIPES if not name.endswith(", tensors")])
def test_recipe(name: str) -> None:
    """Recipes whose whole is a callable of several pipelines are compiled pipeline by pipeline."""
    theirs = RECIPES[name](TV)
    compiled = (
        type(theirs)(*map(fastaug.compile, theirs.pipelines))
        if hasattr(theirs, "pipelines")
        else fastaug.compile(theirs)
    )
    for seed in range(8):
        image = photo(PHOTOS[seed % 4], 300 + 20 * seed, 360 - 10 * seed)
        assert_same(run(compiled, image, seed), run(theirs, image, seed))


@pytest.mark.parametrize("name", [name for name in RECIPES if name.endswith(", tensors")])
def test_recipe_on_tensors(name: str) -> None:
    compiled, ours = fastaug.compile(RECIPES[name](TV)), RECIPES[name](T)
    for seed in range(6):
        image = photo(PHOTOS[seed % 4], 300, 360)
        assert_same(run(compiled, image, seed), run(ours, image, seed))


@pytest.mark.parametrize("name", SMALL_RECIPES)
def test_small_recipe(name: str) -> None:
    theirs = SMALL_RECIPES[name](TV)
    compiled = fastaug.compile(theirs)
    for seed in range(30):
        image = photo(PHOTOS[seed % 4]).crop((3 * seed, 2 * seed, 3 * seed + 32, 2 * seed + 32))
        assert_same(run(compiled, image, seed), run(theirs, image, seed))


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_pathology(interpolation: str) -> None:
    tile = to_chw(photo("ihc", 210, 190))
    theirs = pathology(TV, 96, interpolation, crop=192)
    compiled = fastaug.compile(theirs)
    for seed in range(30):
        assert_same(run(compiled, tile, seed), run(theirs, tile, seed))


def test_an_epoch_without_reseeding() -> None:
    images = [photo(title, 300 + 7 * k, 320 - 9 * k) for k, title in enumerate(PHOTOS)]
    results = []
    for prepare in (fastaug.compile, lambda pipeline: pipeline):
        seed_all(5)
        pipelines = [prepare(RECIPES[name](TV)) for name in ("timm RandAugment", "strong", "SimCLR", "ImageNet AugMix")]
        results.append([*(pipeline(image) for image in images for pipeline in pipelines), torch.get_rng_state()])
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


# ---- nn.Sequential and containers


def test_sequential() -> None:
    image = photo("coffee", 90, 100)
    inner = nn.Sequential(TV.RandomRotation(20), TV.Pad(2))
    for transform in (
        nn.Sequential(TV.RandomCrop(60), TV.RandomHorizontalFlip()),
        nn.Sequential(TV.Resize(50), inner, TV.ColorJitter(0.3), nn.Identity()),
        TV.Compose([inner, TV.CenterCrop(80), TV.ToTensor(), nn.Sequential(TV.Normalize([0.5], [0.5]))]),
        TV.Compose([nn.Sequential(), nn.Identity(), TV.Compose([])]),
        TV.RandomApply(nn.ModuleList([inner, TV.RandomVerticalFlip()]), p=0.5),
        TV.RandomChoice([inner, nn.Identity(), TV.Compose([TV.Pad(1), TV.Resize(40)])]),
        TV.RandomOrder((inner, TV.RandomApply([TV.Compose([inner, TV.Pad(1)])]), TV.RandomVerticalFlip())),
    ):
        for seed in range(6):
            compiled = assert_compiled(transform, image, seed)
        assert all(type(step).__module__.startswith("fastaug.") for step in compiled.transforms)


def test_nesting_is_flattened() -> None:
    inner = TV.Compose([TV.Pad(1), nn.Sequential(TV.Pad(2), nn.Sequential(TV.Pad(3)))])
    compiled = fastaug.compile(TV.Compose([inner, TV.ToTensor(), TV.Compose([])]))
    assert [repr(step) for step in compiled.transforms] == [
        *(f"Pad(padding={k}, fill=0, padding_mode=constant)" for k in (1, 2, 3)),
        "ToTensor()",
    ]


def test_other_modules_in_a_sequence() -> None:
    torch.manual_seed(1)
    network = nn.Sequential(TV.CenterCrop(20), nn.Conv2d(3, 2, 3), nn.ReLU(), TV.RandomHorizontalFlip())
    image = torch.rand(3, 30, 30)
    with torch.no_grad():
        compiled = assert_compiled(network, image, 2)
        network[1].weight.zero_()
        assert torch.equal(run(compiled, image).value, run(network, image).value), "the module is the user's"


# ---- subclasses, hooks, changed attributes


@pytest.mark.parametrize("make", SUBCLASSES)
def test_subclass(make: Make) -> None:
    image = pil("RGB", 40, 52)
    for seed in range(6):
        assert_compiled(make(TV), image, seed, reference=make(TV))
        assert_compiled(TV.Compose([TV.Pad(2), make(TV)]), image, seed, reference=TV.Compose([TV.Pad(2), make(TV)]))
        assert_compiled(make(T), image, seed, reference=make(TV))


class Mixin:
    def __call__(self, img: Any) -> Any:
        return super().__call__(img.rotate(90))  # type: ignore[misc]


class TurnedFirst(Mixin, TV.CenterCrop):
    """A mixin that overrides what calling does."""


class TurnedOrder(TV.RandomOrder):
    def __call__(self, img: Any) -> Any:
        return super().__call__(img).rotate(90)


class SequenceOfItsOwn(nn.Sequential):
    def forward(self, input: Any) -> Any:
        return super().forward(super().forward(input))


class Backwards(nn.Sequential):
    def __iter__(self) -> Any:
        return iter(list(self._modules.values())[::-1])


class OwnSpace(TV.RandAugment):
    def _augmentation_space(self, num_bins: int, image_size: tuple[int, int]) -> Any:
        return {"Posterize": (torch.arange(num_bins).clamp(1, 8), False)}


class Computed(TV.RandomHorizontalFlip):
    @property
    def p(self) -> float:
        return float(torch.rand(1))

    @p.setter
    def p(self, value: float) -> None:
        pass


class Constant(TV.RandomHorizontalFlip):
    p = 1.0

    def __init__(self) -> None:
        nn.Module.__init__(self)


class Named(TV.Resize):
    """Behaves as Resize does, whatever its constructor and its further methods are."""

    def __init__(self, size: int, name: str) -> None:
        super().__init__(size)
        self.name = name

    def describe(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (lambda: TurnedFirst(30), False),
        (lambda: TurnedOrder([TV.Pad(1), TV.RandomRotation(20)]), False),
        (lambda: SequenceOfItsOwn(TV.Pad(2), TV.RandomHorizontalFlip()), False),
        (lambda: Backwards(TV.Pad(2), TV.CenterCrop(30)), False),
        (lambda: OwnSpace(), False),
        (lambda: Computed(), False),
        (lambda: Constant(), True),
        (lambda: Named(20, "small"), True),
    ],
)
def test_what_a_subclass_overrides(make: Callable[[], Any], read: bool) -> None:
    for seed in range(5):
        compiled = assert_compiled(make(), pil("RGB", 40, 52), seed)
        (step,) = compiled.transforms
        assert (type(step).__module__.startswith("fastaug.")) == read


def test_replaced_on_one_object() -> None:
    crop = TV.RandomCrop(10)
    crop.get_params = lambda img, output_size: (1, 2, 7, 8)
    flip = TV.RandomHorizontalFlip()
    flip.forward = lambda img: img.rotate(180)
    assert_compiled(TV.Compose([crop, flip]), pil("RGB", 30, 31))


def test_replaced_on_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TV.RandomRotation, "get_params", staticmethod(lambda degrees: 180.0))
    monkeypatch.setattr(TV.Compose, "__call__", lambda self, img: img.rotate(90))
    assert_compiled(TV.RandomRotation(3), pil("RGB", 30, 31))
    assert_compiled(TV.Compose([TV.RandomRotation(3)]), pil("RGB", 30, 31))


def test_hooks_see_images() -> None:
    seen: list[Any] = []
    resize, blur = TV.Resize((12, 13)), TV.GaussianBlur(3)
    resize.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0].size, output.size)))
    blur.register_forward_pre_hook(lambda module, inputs: (inputs[0].rotate(90),))
    pipeline = TV.Compose([TV.CenterCrop(20), resize, blur, TV.ToTensor()])
    image = pil("RGB", 30, 30)
    assert_compiled(pipeline, image)
    assert seen == [((20, 20), (13, 12))] * 3
    sequence = nn.Sequential(TV.CenterCrop(20), TV.Pad(1))
    sequence.register_forward_hook(lambda module, inputs, output: output.rotate(90))
    assert_compiled(sequence, image)


def test_hooks_on_all_modules() -> None:
    """Even those that come after compiling."""
    compiled = fastaug.compile(TV.Compose([TV.CenterCrop(20), nn.Sequential(TV.Pad(1)), TV.ToTensor()]))
    image = pil("RGB", 30, 30)
    expected = snapshot(compiled(image))
    names: list[str] = []
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: names.append(type(module).__name__))
    try:
        assert snapshot(compiled(image)) == expected
    finally:
        handle.remove()
    assert names == ["CenterCrop", "Pad", "Compiled"]


def test_changed_attributes() -> None:
    """An object is read as it is, not as it was constructed."""

    def changed(package: Any) -> Any:
        flip, jitter, crop = package.RandomHorizontalFlip(0.0), package.ColorJitter(0.5), package.RandomResizedCrop(30)
        erase, rotation, resize = package.RandomErasing(), package.RandomRotation(3), package.Resize(99)
        flip.p, erase.p, rotation.degrees = 2.0, 1.5, (90.0, 90.0)
        jitter.contrast, jitter.brightness = (0.2, 0.4), None
        crop.size, crop.scale, crop.interpolation = (21, 40), [0.3, 0.4], package.InterpolationMode.BICUBIC
        resize.size, resize.interpolation, resize.max_size = 30, package.InterpolationMode.LANCZOS, 55
        rotation.expand = 1
        erase.value = "random"
        normalize = package.Normalize([0.5], [0.5])
        normalize.mean = torch.tensor([0.1, 0.2, 0.3])
        normalize.eval()
        auto = package.AutoAugment()
        auto.policies = auto.policies[:3]
        auto.fill = [1, 2, 3]
        steps = [flip, jitter, crop, resize, rotation, auto, package.ToTensor(), erase, normalize]
        return package.Compose(steps)

    for seed in range(8):
        compiled = assert_compiled(changed(TV), photo("coffee", 60, 70), seed)
        assert all(type(step).__module__.startswith("fastaug.") for step in compiled.transforms)
        assert compiled.transforms[-1].training is False


def test_missing_attribute() -> None:
    crop = TV.RandomCrop(10)
    del crop.padding
    compiled = fastaug.compile(TV.Compose([crop]))
    assert isinstance(run(compiled, pil("RGB", 20, 20)).error, AttributeError)


def test_functions_of_the_user() -> None:
    image = photo("chelsea", 60, 70)

    def draws(img: Any) -> Any:
        return img.rotate(int(torch.randint(0, 90, (1,))))

    for seed in range(4):
        assert_compiled(
            TV.Compose([TV.RandomRotation(9), draws, TV.RandomCrop(30), TV.Lambda(draws), TV.ToTensor()]), image, seed
        )
        assert_compiled(draws, image, seed)
        assert_compiled(TV.Lambda(draws), image, seed)
        assert_compiled(TV.functional.hflip, image, seed)
        assert_compiled(np.asarray, image, seed)


def test_values_that_are_no_images() -> None:
    def make(package: Any) -> Any:
        return package.Compose([package.Pad(1), lambda x: {"image": x}, lambda d: d["image"], package.CenterCrop(9)])

    assert_compiled(make(TV), pil("RGB", 20, 30))
    for value in (3, "text", None, [1, 2], {"image": 1}):
        assert fastaug.compile(TV.Compose([]))(value) is value


def test_errors_are_torchvisions() -> None:
    for transform in (TV.Compose([TV.Pad(1), TV.RandomCrop(99)]), TV.ToTensor(), TV.Normalize([0], [1])):
        for value in (pil("RGB", 20, 30), torch.zeros(3, 4, 5), "text", 3):
            ours, theirs = run(fastaug.compile(transform), value), run(transform, value)
            assert type(ours.error) is type(theirs.error)


def test_scripted_modules_stay() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is to go, but scripted transforms are there
        scripted = torch.jit.script(nn.Sequential(TV.CenterCrop(20)))
    image = to_chw(photo("chelsea", 60, 70))
    compiled = assert_compiled(TV.Compose([TV.CenterCrop(31), scripted, TV.RandomCrop(9)]), image)
    assert compiled.transforms[1] is scripted


@pytest.mark.skipif(not since(0, 26), reason="Pad is left to an older one, for boxes")
def test_transforms_of_v2_between_those_of_v1() -> None:
    from torchvision.transforms import v2

    image = to_chw(photo("chelsea", 60, 70))
    for step in (v2.RandomHorizontalFlip(1.0), v2.Compose([v2.Pad(2)])):
        compiled = assert_compiled(TV.Compose([TV.CenterCrop(31), step, TV.RandomCrop(9)]), image)
        assert all(type(one).__module__.startswith("fastaug.") for one in compiled.transforms)
