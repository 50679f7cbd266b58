"""timm.data.create_transform, compiled: pixels and generators are those of timm's own, for images of every kind."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from timm.data import auto_augment, create_transform, random_erasing
from timm.data import transforms as timm_transforms

import fastaug
from fastaug import io
from fastaug._compile import registry
from support.images import photo, pil
from support.outcomes import assert_same, run, seed_all, snapshot
from support.pages import run_blocks

TRAIN: dict[str, dict[str, Any]] = {
    "jitter": {},
    "random interpolation": {"interpolation": "random", "vflip": 0.5, "color_jitter": (0.4, 0.4, 0.4, 0.1)},
    "fallback crops": {"scale": (0.9, 1.0), "ratio": (0.2, 0.3)},
    "rand": {"auto_augment": "rand-m9-mstd0.5", "re_prob": 0.25},
    "rand, uniform magnitudes": {"auto_augment": "rand-m9-n4-p0.9-mstd101-inc1", "re_prob": 1.0, "re_count": 3},
    "rand, weights": {"auto_augment": "rand-tweights-n5-m15-mmax20", "re_prob": 1.0, "re_mode": "rand"},
    "rand, three": {"auto_augment": "rand-t3aw-n3", "interpolation": "random"},
    "erasing by noise": {"re_prob": 1.0, "re_mode": "pixel", "re_count": 2},
    "v0": {"auto_augment": "v0", "interpolation": "bicubic"},
    "v0r": {"auto_augment": "v0r-mstd0.5"},
    "original": {"auto_augment": "original-mstd0.5"},
    "originalr": {"auto_augment": "originalr", "interpolation": "random"},
    "3a": {"auto_augment": "3a", "color_jitter": 0.3},
    "augmix": {"auto_augment": "augmix-m5-w4-d2"},
    "augmix, blended": {"auto_augment": "augmix-m3-b1-mstd0.5"},
    "rkrc": {"train_crop_mode": "rkrc", "input_size": (3, 96, 160)},
    "rkrr": {"train_crop_mode": "rkrr", "interpolation": "random"},
    "simclr": {"color_jitter_prob": 0.8, "grayscale_prob": 0.2, "gaussian_blur_prob": 0.5},
    "no augmentation": {"no_aug": True},
    "prefetcher": {"use_prefetcher": True, "re_prob": 0.5},
    "not normalized": {"normalize": False, "auto_augment": "rand-m9-mstd0.5-inc1"},
}

EVAL: dict[str, dict[str, Any]] = {
    "bicubic": {"interpolation": "bicubic", "crop_pct": 0.95},
    "squash": {"crop_mode": "squash"},
    "border": {"crop_mode": "border", "crop_border_pixels": 4},
    "oblong": {"input_size": (3, 80, 112)},
    "prefetcher": {"use_prefetcher": True},
    "not normalized": {"normalize": False},
}

CASES = [
    pytest.param({"input_size": 112, "is_training": train, **options}, id=f"{'train' if train else 'eval'} {name}")
    for train, table in ((True, TRAIN), (False, EVAL))
    for name, options in table.items()
]

#: Unlike sizes, and modes that timm may meet.
IMAGES = {
    "wide": lambda: photo("coffee", 151, 300),
    "narrow": lambda: photo("astronaut", 400, 90),
    "tiny": lambda: pil("RGB", 7, 5),
    "L": lambda: photo("chelsea", 140, 170).convert("L"),
    "RGBA": lambda: pil("RGBA", 61, 83),
    "P": lambda: photo("ihc", 90, 120).quantize(64),
    "CMYK": lambda: photo("ihc", 90, 120).convert("CMYK"),
}


def load(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
    return image


def read(transform: Any) -> set[str]:
    """The modules of the steps' classes."""
    return {type(step).__module__.partition(".")[0] for step in fastaug.compile(transform).transforms}


@pytest.mark.parametrize("options", CASES)
def test_all_is_read(options: dict[str, Any]) -> None:
    assert read(create_transform(**options)) == {"fastaug"}


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("options", CASES)
def test_equal(options: dict[str, Any], image: str) -> None:
    theirs = create_transform(**options)
    ours = fastaug.compile(theirs)
    given = IMAGES[image]()
    for seed in range(4):
        assert_same(run(ours, given, seed), run(theirs, given, seed), identity=False)


@pytest.mark.parametrize("options", CASES)
def test_files_batches_and_pickles(options: dict[str, Any], files: list[Path]) -> None:
    """Of handles, and of copies in other processes."""
    theirs = create_transform(**options)
    ours = fastaug.compile(theirs)
    copies = (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), fastaug.compile(copy.deepcopy(theirs)))
    images = {path: load(path) for path in files}
    paths = [path for path, image in images.items() if image.mode == "RGB"]
    for seed, path in enumerate(paths):
        expected = run(theirs, images[path], seed)
        assert_same(run(copies[seed], io.lazy(path), seed, untouched=True), expected, identity=False)
    for seed in range(6):
        seed_all(seed)
        try:
            rows = [theirs(images[path]) for path in paths]
        except ValueError:
            continue  # newer releases of Pillow refuse to posterize to no bits
        state = random.getstate(), torch.get_rng_state().tolist(), snapshot(np.random.get_state()[1])  # noqa: NPY002
        seed_all(seed)
        batch = ours.batch([io.lazy(path) for path in paths])
        assert torch.equal(torch.stack(rows), batch)
        assert state == (
            random.getstate(),
            torch.get_rng_state().tolist(),
            snapshot(np.random.get_state()[1]),  # noqa: NPY002
        )


@pytest.mark.parametrize("options", CASES)
def test_sample_and_replay(options: dict[str, Any]) -> None:
    theirs = create_transform(**options)
    ours = fastaug.compile(theirs)
    image = photo("coffee", 151, 300)
    for seed in range(6):
        expected = run(theirs, image, seed)
        drawn = run(ours.sample, image, seed)
        assert drawn.error is None
        if expected.error is None:
            assert drawn.python_state == expected.python_state
            assert torch.equal(ours.replay(image, drawn.value), expected.value)


def test_three_stages() -> None:
    theirs = create_transform(96, is_training=True, separate=True, auto_augment="rand-m9-mstd0.5", re_prob=1.0)
    ours = [fastaug.compile(stage) for stage in theirs]

    def through(stages: Any) -> Callable[[Any], Any]:
        def call(image: Any) -> Any:
            clean = stages[0](image)
            return stages[2](clean), stages[2](stages[1](clean))

        return call

    for seed in range(4):
        image = photo("astronaut", 130, 150)
        assert_same(run(through(ours), image, seed), run(through(theirs), image, seed), identity=False)


#: By themselves, with arguments that create_transform does not give them.
ALONE = {
    "ToNumpy": timm_transforms.ToNumpy(),
    "ToTensor": timm_transforms.ToTensor(),
    "ToTensor float64": timm_transforms.ToTensor(torch.float64),
    "MaybeToTensor": timm_transforms.MaybeToTensor(),
    "MaybePILToTensor": timm_transforms.MaybePILToTensor(),
    "RandomPad": timm_transforms.RandomPad((200, 160), fill=7),
    "TrimBorder": timm_transforms.TrimBorder(9),
    "TrimBorder beyond": timm_transforms.TrimBorder(60),
    "CenterCropOrPad": timm_transforms.CenterCropOrPad((200, 50), fill=(1, 2, 3)),
    "RandomCropOrPad": timm_transforms.RandomCropOrPad((200, 50), fill=9),
    "RandomCropOrPad edge": timm_transforms.RandomCropOrPad(133, padding_mode="edge"),
    "ResizeKeepRatio": timm_transforms.ResizeKeepRatio(
        (60, 90), longest=0.5, interpolation="lanczos", random_scale_prob=0.7, random_aspect_prob=0.7
    ),
    **{
        f"AugmentOp {name}": auto_augment.AugmentOp(name, prob=0.9, magnitude=8, hparams={"translate_const": 40})
        for name in auto_augment.NAME_TO_OP
    },
    "AugmentOp noisy": auto_augment.AugmentOp("Rotate", 1.0, 9, {"magnitude_std": 3.0, "img_mean": (1, 2, 3)}),
}


@pytest.mark.parametrize("image", ["wide", "L", "RGBA", "P"])
@pytest.mark.parametrize("name", ALONE)
def test_alone(name: str, image: str) -> None:
    ours = fastaug.compile(ALONE[name])
    assert {type(step).__module__.rpartition(".")[0] for step in ours.transforms} == {"fastaug.adapters"}
    given = IMAGES[image]()
    for seed in range(4):
        assert_same(run(ours, given, seed), run(ALONE[name], given, seed), identity=False)


@pytest.mark.parametrize("mode", ["const", "rand", "pixel"])
@pytest.mark.parametrize("shape", [(3, 40, 50), (1, 40, 50), (5, 40, 50), (4, 3, 30, 20), (1, 3, 30, 20)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_erasing_of_tensors(mode: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """In place, as timm's."""
    theirs = random_erasing.RandomErasing(0.8, mode=mode, max_count=3, num_splits=2, device="cpu")
    ours = fastaug.compile(theirs)
    tensor = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
    for seed in range(6):
        given = tensor.clone(), tensor.clone()
        seed_all(seed)
        expected = theirs(given[0])
        seed_all(seed)
        result = ours(given[1])
        assert result is given[1]
        assert torch.equal(result, expected)
        assert torch.equal(torch.rand(1), (seed_all(seed), theirs(tensor.clone()), torch.rand(1))[2])


def test_inside_of_torchvisions() -> None:
    op = auto_augment.AugmentOp("ShearX", prob=0.5, magnitude=5)
    theirs = TV.Compose([TV.RandomApply([op, timm_transforms.TrimBorder(3)], p=0.7), TV.RandomChoice([op, op])])
    ours = fastaug.compile(theirs)
    assert [type(step).__name__ for step in ours.transforms[0].transforms] == ["AugmentOp", "TrimBorder"]
    for seed in range(8):
        assert_same(run(ours, IMAGES["wide"](), seed), run(theirs, IMAGES["wide"](), seed), identity=False)


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_told", set())


def barrier(transform: Any) -> Any:
    """What stays as it is, of which a warning tells."""
    with pytest.warns(UserWarning, match="as it is, and no faster"):
        (step,) = fastaug.compile(transform).transforms
    return step


@pytest.mark.usefixtures("untold")
def test_replaced_functions_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rand = auto_augment.rand_augment_transform("rand-m9")
    monkeypatch.setattr(auto_augment, "_interpolation", lambda kwargs: 0)
    assert barrier(rand) is rand
    monkeypatch.undo()
    crop = timm_transforms.RandomResizedCropAndInterpolation(32)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_told", set())
        patch.setattr(type(crop), "get_params", staticmethod(lambda img, scale, ratio: (0, 0, 9, 9)))
        assert barrier(crop) is crop
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_told", set())
        patch.setattr("torchvision.transforms.functional.resized_crop", lambda img, *box: img)
        assert barrier(crop) is crop
    assert read(crop) == {"fastaug"}


@pytest.mark.usefixtures("untold")
def test_what_is_not_known() -> None:
    class Own(timm_transforms.ToTensor):  # type: ignore[misc]
        def __call__(self, image: Any) -> Any:
            return super().__call__(image) + 1

    own = Own()
    assert barrier(own) is own
    erasing = random_erasing.RandomErasing(0.5, device="cuda")
    assert barrier(erasing) is erasing
    rand = auto_augment.rand_augment_transform("rand-m9")
    rand.ops[3].aug_fn = lambda image, *arguments, **named: image
    assert barrier(rand) is rand


@pytest.mark.usefixtures("place")
def test_the_page() -> None:
    """The examples of docs/timm.md."""
    run_blocks(Path(__file__).parents[2] / "docs" / "timm.md", {})
