"""lightly's transforms, in pipelines of torchvision's v1 and v2 API: equal pixels and draws."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import lightly.transforms as L
import pytest
import torch
import torchvision.transforms as TV
from lightly.transforms.byol_transform import BYOLView1Transform, BYOLView2Transform
from lightly.transforms.dino_transform import DINOViewTransform
from lightly.transforms.rotation import RandomRotate, RandomRotateDegrees
from lightly.transforms.simclr_transform import SimCLRViewTransform
from lightly.transforms.simsiam_transform import SimSiamViewTransform
from lightly.transforms.swav_transform import SwaVViewTransform
from torchvision.transforms import v2

import fastaug
from fastaug.io import LazyImage
from support.images import PHOTOS, photo, pil, to_chw
from support.outcomes import assert_same, run

VIEWS: dict[str, Callable[[], Any]] = {
    "SimCLR": lambda: SimCLRViewTransform(input_size=48),
    "SimCLR, rotated": lambda: SimCLRViewTransform(input_size=48, rr_prob=0.5, vf_prob=0.5),
    "SimCLR, rotated by degrees": lambda: SimCLRViewTransform(input_size=48, rr_prob=0.5, rr_degrees=30),
    "SimSiam": lambda: SimSiamViewTransform(input_size=48),
    "DINO": lambda: DINOViewTransform(crop_size=48, solarization_prob=0.5),
    "BYOL 1": lambda: BYOLView1Transform(input_size=48),
    "BYOL 2": lambda: BYOLView2Transform(input_size=48),
    "SwaV": SwaVViewTransform,
}

OWN: dict[str, Callable[[], Any]] = {
    "blur": lambda: L.GaussianBlur(prob=0.7, sigmas=(0.1, 3)),
    "solarization": lambda: L.RandomSolarization(prob=0.7, threshold=100),
    "rotation": lambda: RandomRotate(prob=0.7, angle=90),
    "odd rotation": lambda: RandomRotate(prob=0.7, angle=33),
    "rotation by degrees": lambda: RandomRotateDegrees(prob=0.7, degrees=(10, 50)),
}

SEEDS = range(0, 60, 7)


def images() -> Iterator[Any]:
    yield pil("RGB", 91, 133)
    for number, name in enumerate(PHOTOS):
        yield photo(name, 70 + 40 * number, 200 - 35 * number)


def known(steps: Any) -> bool:
    return all(type(step).__module__.startswith("fastaug") for step in steps)


@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str) -> None:
    own = VIEWS[name]()
    ours = pickle.loads(pickle.dumps(fastaug.compile(own)))
    assert known(ours.transforms), ours.transforms
    for number, image in enumerate(images()):
        for seed in SEEDS:
            assert_same(run(ours, image, seed + number), run(own, image, seed + number), identity=False)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=90)
        handle = LazyImage(file.getvalue())
        assert_same(run(ours, handle, number, untouched=True), run(own, handle.load(), number), identity=False)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK", "P", "I", "F"])
@pytest.mark.parametrize("api", [TV, v2], ids=["v1", "v2"])
def test_own_transforms(name: str, mode: str, api: Any) -> None:
    """Alone and behind another; where Pillow refuses a mode, that is the error."""
    image = pil(mode, 41, 57)
    for own in (OWN[name](), api.Compose([api.CenterCrop(40), OWN[name](), api.RandomHorizontalFlip(0.5)])):
        ours = fastaug.compile(own)
        assert known(ours.transforms)
        for seed in range(5):
            assert_same(run(ours, image, seed), run(own, image, seed), identity=False)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_tensors(dtype: torch.dtype) -> None:
    # Of the v2 function that lightly calls, torchvision says that it is deprecated; ours is not.
    tensor = to_chw(photo("coffee", 50, 60)).to(dtype)
    tensor = tensor / 255 if dtype.is_floating_point else tensor
    for own in (L.GaussianBlur(prob=0.5), TV.Compose([TV.CenterCrop(32), L.GaussianBlur(prob=0.5)])):
        ours = fastaug.compile(own)
        for seed in range(6):
            found, expected = run(ours, tensor, seed), run(own, tensor, seed)
            expected.warned = [(kind, text) for kind, text in expected.warned if "to_tensor" not in text]
            assert_same(found, expected, identity=False)


def test_samples_of_more_than_an_image() -> None:
    """A view is called with a pair as its original is."""
    own = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ToImage()])
    pair = {"image": photo("coffee", 30, 40), "label": 3}
    ours, expected = fastaug.compile(own)(pair), own(pair)
    assert torch.equal(ours["image"], expected["image"]) and ours["label"] == 3


def test_sample_and_replay() -> None:
    ours = fastaug.compile(VIEWS["DINO"]())
    image = photo("chelsea", 90, 120)
    for seed in range(8):
        found = run(lambda image: ours.sample(image), image, seed).value
        expected = run(ours, image, seed).value
        assert torch.equal(ours.replay(image, found), expected)


def test_one_program() -> None:
    """Its own transforms are no barriers."""
    explanation = str(fastaug.compile(SimCLRViewTransform(cj_prob=0, gaussian_blur=1.0)).explain(photo("coffee")))
    assert "program 2" not in explanation and "BOX_BLUR" in explanation
