"""fastaug.compile as an object: arguments and errors, what it leaves alone, pickles, copies, workers, parameters."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.transforms as T
from support.differences import grouped
from support.images import PHOTOS, noise, photo, pil
from support.outcomes import assert_same, run, seed_all, snapshot
from support.processes import START_METHODS, python
from tables.cases import ALL_CASES
from tables.recipes import PIPELINES


def double(image: Image.Image) -> Image.Image:
    return image.resize((image.width * 2, image.height * 2))


def turned(image: Image.Image) -> Image.Image:
    """Draws for itself."""
    return image.rotate(int(torch.randint(0, 90, (1,))))


def augmentation(package: Any) -> Any:
    return package.Compose(
        [
            package.RandomRotation(25, interpolation=package.InterpolationMode.BILINEAR),
            nn.Sequential(package.RandomResizedCrop(48), package.RandomHorizontalFlip()),
            package.RandomApply([package.ColorJitter(0.2, 0.1, 0.05, 0.02)]),
            package.RandomOrder([package.RandomGrayscale(0.3), package.Pad(2)]),
            package.RandomChoice([package.RandomVerticalFlip(), package.RandomInvert()]),
            package.Lambda(double),
            turned,
            package.ToTensor(),
            package.RandomErasing(),
            package.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
        ]
    )


# ---- arguments


@pytest.mark.parametrize("mode", ["Exact", "slow", "", None, 1, True, ["exact"]])
def test_unknown_mode(mode: Any) -> None:
    for make in (lambda: fastaug.compile(T.Pad(1), mode), lambda: T.Compose([], mode=mode)):
        with pytest.raises(ValueError, match="'exact' or 'fast'") as caught:
            make()
        assert repr(mode) in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, "Resize", [TV.Pad(1)], (T.Pad(1),), {"a": T.Pad(1)}])
def test_not_callable(value: Any) -> None:
    with pytest.raises(TypeError, match="callable") as caught:
        fastaug.compile(value)
    assert str(type(value)) in str(caught.value)
    assert ("Compose" in str(caught.value).split(str(type(value)))[1]) == isinstance(value, (list, tuple))


def test_other_wrong_arguments() -> None:
    pad: Any = T.Pad(1)
    for dtype in (torch.float64, torch.uint8, "float16", np.float32):
        with pytest.raises(ValueError, match=r"torch\.float32, torch\.float16, torch\.bfloat16"):
            fastaug.compile(pad, dtype=dtype)
    for memory_format in (torch.preserve_format, torch.channels_last_3d, "channels_last"):
        with pytest.raises(ValueError, match=r"contiguous_format or torch\.channels_last"):
            fastaug.compile(pad, memory_format=memory_format)
    for generator in (0, np.random.default_rng(0), torch.get_rng_state()):
        with pytest.raises(TypeError, match=r"torch\.Generator"):
            fastaug.compile(pad, generator=generator)
    with pytest.raises(TypeError):
        fastaug.compile(pad, "exact", torch.Generator())


def test_attributes() -> None:
    original = TV.Compose([TV.Resize(20), TV.ToTensor()])
    generator = torch.Generator()
    compiled = fastaug.compile(
        original, "fast", generator=generator, dtype=torch.float16, memory_format=torch.channels_last
    )
    assert compiled.original is original
    assert [type(step) for step in compiled.transforms] == [T.Resize, T.ToTensor]
    assert compiled.mode == "fast"
    assert compiled.generator is generator
    assert compiled.dtype is torch.float16
    assert compiled.memory_format is torch.channels_last
    plain = fastaug.compile(compiled)
    assert plain.original is original
    assert (plain.mode, plain.generator, plain.dtype, plain.memory_format) == ("exact", None, None, None)


def test_modes() -> None:
    """A pipeline's mode can be read and changed; the outermost one's rules."""
    exact, fast = T.Compose([T.Pad(1)]), T.Compose([T.Pad(1)], mode="fast")
    assert (exact.mode, fast.mode) == ("exact", "fast")
    assert vars(exact) == {"transforms": exact.transforms}
    assert fastaug.compile(fast).mode == "exact"
    assert fastaug.compile(fast)._call.rewrites == exact._call.rewrites != fast._call.rewrites
    assert fastaug.compile(exact, "fast")._call.rewrites == fast._call.rewrites
    exact.mode = "fast"
    assert exact._call.rewrites == fast._call.rewrites
    for transform in (fast, fastaug.compile(exact, "fast")):
        for again in (pickle.loads(pickle.dumps(transform)), copy.deepcopy(transform), copy.copy(transform)):
            assert again.mode == "fast"
            assert again._call.rewrites == fast._call.rewrites
    assert T.Compose([T.Compose([T.CenterCrop(3)], mode="fast")])(pil("L", 9, 9)).size == (3, 3)


def test_mode_of_a_subclass() -> None:
    """The name was the user's before."""

    class Ours(T.Compose):
        def __init__(self, mode: str) -> None:
            super().__init__([T.Pad(1)])
            self.mode = mode

    class Older(T.Compose):
        def __init__(self) -> None:
            self.transforms = [T.Pad(1)]

    assert Ours("train").mode == "train"
    assert Ours("train")(pil("L", 4, 5)).size == (7, 6)
    assert Older()(pil("L", 4, 5)).size == (7, 6)


def test_repr() -> None:
    for name, make in ALL_CASES.items():
        original = make(TV)
        assert repr(fastaug.compile(original)) == f"compile({original!r})", name
    flip = TV.RandomHorizontalFlip()
    assert repr(fastaug.compile(flip, "fast")) == "compile(RandomHorizontalFlip(p=0.5), mode='fast')"
    text = repr(fastaug.compile(flip, dtype=torch.bfloat16, memory_format=torch.channels_last))
    assert text == "compile(RandomHorizontalFlip(p=0.5), dtype=torch.bfloat16, memory_format=torch.channels_last)"
    assert "generator=<torch._C.Generator" in repr(fastaug.compile(flip, generator=torch.Generator()))
    assert repr(T.Compose([T.Pad(1)], mode="fast")).splitlines() == [
        "Compose(",
        "    mode='fast'",
        "    Pad(padding=1, fill=0, padding_mode=constant)",
        ")",
    ]


# ---- what is compiled


def described(value: Any) -> Any:
    """All that an object holds, and which objects that are."""
    if isinstance(value, (list, tuple)):
        return (id(value), [described(item) for item in value])
    if isinstance(value, dict):
        return (id(value), [(key, described(item)) for key, item in value.items()])
    if type(value).__module__.startswith(("torchvision.", "fastaug.", "torch.nn.")):
        return (id(value), type(value), described(getattr(value, "__dict__", {})))
    return (id(value), snapshot(value) if isinstance(value, (torch.Tensor, np.ndarray)) else repr(value))


@pytest.mark.parametrize("package", [TV, T])
def test_originals_are_not_modified(package: Any) -> None:
    transforms = [make(package) for make in (*ALL_CASES.values(), *PIPELINES.values(), augmentation)]
    for transform in transforms:
        run(transform, photo("coffee", 60, 70))  # fastaug's keep what they have packed
        before = described(transform)
        compiled = fastaug.compile(transform, "fast", dtype=torch.float16)
        run(compiled, photo("coffee", 60, 70))
        assert described(transform) == before


def test_later_changes_are_not_seen() -> None:
    image = pil("RGB", 30, 31)
    for package in (T, TV):
        mean, weights, inner = [0.5], [1.0, 0.0], [package.Pad(1)]
        matrix = torch.eye(3 * 32 * 33)
        original = package.Compose(
            [
                package.RandomHorizontalFlip(1.0),
                package.RandomApply(inner, p=1.0),
                package.RandomChoice([package.RandomVerticalFlip(0.0), package.RandomInvert(1.0)], p=weights),
                package.ToTensor(),
                package.Normalize(mean, [0.5]),
                package.LinearTransformation(matrix, torch.zeros(3 * 32 * 33)),
            ]
        )
        compiled = fastaug.compile(original)
        expected = run(compiled, image)
        assert_same(expected, run(original, image))
        mean[0], weights[:] = 0.1, [0.0, 1.0]
        original.transforms[0].p = 0.0
        inner.append(package.Pad(5))
        matrix.mul_(2)
        original.transforms.pop()
        original.transforms[1].register_forward_hook(lambda module, inputs, output: output * 0)
        assert_same(run(compiled, image), expected)
        again = run(fastaug.compile(compiled), image)  # reads the original again, hook and all
        assert isinstance(again.error, TypeError)


def test_shared_objects_stay_shared() -> None:
    flip = TV.RandomHorizontalFlip(1.0)
    apply = TV.RandomApply([flip], p=1.0)
    compiled = fastaug.compile(TV.Compose([flip, TV.Compose([flip, apply]), apply, flip]))
    first, second, third, fourth, last = compiled.transforms
    assert first is second is last is third.transforms[0]
    assert third is fourth
    first.p = 0.0
    image = pil("L", 5, 6)
    assert snapshot(compiled(image)) == snapshot(image)
    copied = pickle.loads(pickle.dumps(compiled))
    assert copied.transforms[0] is copied.transforms[1] is copied.transforms[2].transforms[0]


def test_types_are_fastaugs() -> None:
    (resize, auto) = fastaug.compile(TV.Compose([TV.Resize(3), TV.AutoAugment()])).transforms
    assert resize.interpolation is T.InterpolationMode.BILINEAR
    assert auto.policy is T.AutoAugmentPolicy.IMAGENET
    assert auto.interpolation is T.InterpolationMode.NEAREST


def test_a_generator_of_transforms_is_not_consumed() -> None:
    original = TV.Compose(iter([TV.Pad(1)]))
    with pytest.warns(UserWarning, match="its transforms are not a sequence"):
        compiled = fastaug.compile(original)
    assert original(pil("L", 3, 3)).size == (5, 5)
    assert compiled.transforms == (original,)


def test_fastaugs_own() -> None:
    """Subclasses of fastaug's are kept; the rest is copied."""

    class Ours(T.RandomRotation):
        @staticmethod
        def get_params(degrees: Any) -> float:
            return 90.0

    mine, pad = Ours(3), T.Pad(1)
    compiled = fastaug.compile(T.Compose([mine, T.Compose([pad])]))
    assert compiled.transforms[0] is mine
    assert compiled.transforms[1] is not pad and repr(compiled.transforms[1]) == repr(pad)
    image = pil("RGB", 8, 8)
    assert snapshot(compiled(image)) == snapshot(TV.functional.pad(image.rotate(90), 1))


def test_torchvision_is_not_imported() -> None:
    code = """
import sys
import torch, PIL.Image
import fastaug
assert "fastaug.transforms" not in sys.modules
transform = fastaug.compile(torch.nn.Sequential(torch.nn.Identity()))
import fastaug.transforms as T
transform = fastaug.compile(T.Compose([T.RandomCrop(8), T.ToTensor()]), dtype=torch.float16)
print(transform(PIL.Image.new("RGB", (20, 20))).dtype, [name for name in sys.modules if "torchvision" in name])
sys.modules["torchvision"] = sys.modules["torchvision.transforms.transforms"] = None
fastaug.compile(T.RandomCrop(8))
"""
    result = python(["-W", "error", "-c", code], lean=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "torch.float16 []"


def test_nothing_is_drawn_by_compiling() -> None:
    seed_all(3)
    before = torch.get_rng_state()
    fastaug.compile(augmentation(TV))
    assert torch.equal(torch.get_rng_state(), before)


def test_no_memory_is_lost() -> None:
    compiled = fastaug.compile(augmentation(TV), generator=torch.Generator())
    compiled(photo("coffee", 60, 70))
    gone = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert gone() is None


def test_errors_give_the_generator_back() -> None:
    """What is drawn after an error is what torchvision would draw then."""

    def fails(image: Any) -> Any:
        raise KeyError("mine")

    states = []
    for make in (lambda steps: fastaug.compile(TV.Compose(steps)), lambda steps: T.Compose(steps), TV.Compose):
        for last in (fails, TV.RandomCrop(900)):
            torch.manual_seed(4)
            with pytest.raises((KeyError, ValueError)):
                make([TV.RandomRotation(30), TV.RandomCrop(20), last])(photo("coffee", 60, 70))
            states.append(torch.rand(1).item())
    assert len(set(states)) == 1


# ---- pickles and copies


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    image = photo("coffee", 80, 70)
    for settings in ({}, {"mode": "fast"}, {"dtype": torch.float16, "memory_format": torch.channels_last}):
        compiled = fastaug.compile(augmentation(TV), **settings)
        for _ in range(2):  # before and after the first call
            copied = pickle.loads(pickle.dumps(compiled, protocol))
            assert repr(copied) == repr(compiled)
            assert_same(run(copied, image, 5), run(compiled, image, 5))


@grouped([name for name in ALL_CASES if "inplace" not in name], whole=True)
def test_every_class_pickles_and_copies(name: str) -> None:
    compiled = fastaug.compile(ALL_CASES[name](TV))
    for copied in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled), copy.copy(compiled)):
        assert repr(copied) == repr(compiled)
        assert list(map(repr, copied.transforms)) == list(map(repr, compiled.transforms))


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_have_a_generator_of_their_own(copier: Any) -> None:
    generator = torch.Generator().manual_seed(8)
    compiled = fastaug.compile(PIPELINES["SimCLR"](TV), generator=generator)
    image = photo("coffee", 120, 110)
    compiled(image)
    copied = copier(compiled)
    assert copied.generator is not generator
    results = [[snapshot(transform(image)) for _ in range(3)] for transform in (compiled, copied)]
    assert results[0] == results[1]


def test_shallow_copies_share() -> None:
    compiled = fastaug.compile(PIPELINES["SimCLR"](TV), generator=torch.Generator())
    copied = copy.copy(compiled)
    assert copied.generator is compiled.generator
    assert copied.transforms is compiled.transforms


def test_deep_copies_keep_the_snapshot() -> None:
    original = TV.Compose([TV.RandomHorizontalFlip(0.0)])
    compiled = fastaug.compile(original)
    original.transforms[0].p = 1.0
    image = pil("L", 5, 6)
    for copied in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert snapshot(copied(image)) == snapshot(image)


# ---- where it is used


class Tiles(Dataset):
    """Sixteen tiles of the photographs."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform
        self.tiles = [photo(name, 90 + 3 * k, 100 - 5 * k) for k in range(4) for name in PHOTOS]

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.tiles[index])


def fixed_size(package: Any) -> Any:
    return package.Compose([augmentation(package), package.Resize((40, 41))])


def epochs(transform: Any, count: int = 2, **options: Any) -> list[torch.Tensor]:
    torch.manual_seed(11)
    loader = DataLoader(Tiles(transform), batch_size=4, shuffle=True, **options)
    return [batch for _ in range(count) for batch in loader]


@pytest.mark.parametrize("method", START_METHODS)
def test_workers(method: str) -> None:
    compiled = fastaug.compile(fixed_size(TV))
    compiled(photo("ihc", 120, 120))  # the parent has used it
    # Each spawned worker imports torch anew: they stay for both epochs.
    options: dict[str, Any] = {"num_workers": 2, "persistent_workers": method == "spawn"}
    ours = epochs(compiled, multiprocessing_context=method, **options)
    theirs = epochs(fixed_size(TV), multiprocessing_context="fork", **options)
    assert len(ours) == len(theirs) == 8
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-5)  # Resize of a float tensor


def test_workers_do_not_share_a_generator() -> None:
    """Each copy of the generator goes on in a way of its own, in every epoch, and the same way in every run."""
    crops = TV.Compose([TV.RandomCrop(9), TV.ToTensor()])
    runs = []
    for _ in range(2):
        compiled = fastaug.compile(crops, generator=torch.Generator().manual_seed(3))
        torch.manual_seed(1)
        loader = DataLoader(Same(compiled), batch_size=8, num_workers=2, multiprocessing_context="fork")
        runs.append(torch.cat([batch for _ in range(2) for batch in loader]))
    assert torch.equal(*runs)
    assert len({crop.numpy().tobytes() for crop in runs[0]}) > 60


def test_a_pickled_generator_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As spawned workers have it. What is compiled in a worker draws from its generator as it is."""

    class Worker:
        def __init__(self, seed: int) -> None:
            self.seed = seed

    image = Image.fromarray(noise(150, 160))
    compiled = fastaug.compile(TV.RandomCrop(9), generator=torch.Generator().manual_seed(3))
    pickled = pickle.dumps(compiled)
    crops = [snapshot(compiled(image))]
    for seed in (5, 6, 5):
        monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda seed=seed: Worker(seed))
        copied = pickle.loads(pickled)
        crops.append((snapshot(copied(image)), snapshot(copied(image))))
    assert crops[1] == crops[3]
    assert len({crops[0], *crops[1], *crops[2]}) == 5
    within = fastaug.compile(TV.RandomCrop(9), generator=torch.Generator().manual_seed(3))
    assert snapshot(within(image)) == crops[0]


class Same(Dataset):
    """The same image, 32 times."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform
        self.image = Image.fromarray(noise(150, 160))

    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.image)


def test_no_workers_draw_from_the_generator_itself() -> None:
    crops = TV.Compose([TV.RandomCrop(9), TV.ToTensor()])
    dataset = Same(fastaug.compile(crops, generator=torch.Generator().manual_seed(3)))
    torch.manual_seed(3)
    expected = torch.stack([crops(dataset.image) for _ in range(32)])
    assert torch.equal(torch.cat(list(DataLoader(dataset, batch_size=8))), expected)


def test_image_folder(tmp_path: Path) -> None:
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        for name in PHOTOS[:2]:
            photo(name, 80, 90).save(tmp_path / label / f"{name}.png")
    theirs = PIPELINES["ImageNet train"](TV)
    datasets = [ImageFolder(str(tmp_path), transform=transform) for transform in (theirs, fastaug.compile(theirs))]
    results = []
    for dataset in datasets:
        torch.manual_seed(1)
        results.append([tensor for tensor, _ in DataLoader(dataset, batch_size=2)])
    assert torch.equal(torch.cat(results[0]), torch.cat(results[1]))
    assert "compile(Compose(" in repr(datasets[1])


def test_attribute_of_a_module() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transform = fastaug.compile(nn.Sequential(TV.Resize(8), TV.CenterCrop(8)))

        def forward(self, image: Any) -> Any:
            return self.transform(image)

    model = copy.deepcopy(Model()).eval()
    assert model(torch.zeros(3, 20, 30, dtype=torch.uint8)).shape == (3, 8, 8)
    assert not list(model.parameters()) and model.state_dict() == {}
