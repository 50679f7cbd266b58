"""Transforms of single images in pipelines of v2: part of the one pass where the sample is one PIL image."""

from __future__ import annotations

import io
import pickle
import random
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as TV2
from PIL import Image, ImageOps
from torchvision.transforms import _presets

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug import pillow
from fastaug._compile import registry
from fastaug.adapters._steps import SometimesByRandom
from fastaug.io import LazyImage
from fastaug.transforms import v2
from support.images import photo, pil, to_chw
from support.outcomes import assert_same, run, seed_all


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_readers", dict(registry._readers))
    monkeypatch.setattr(registry, "ADAPTERS", dict(registry.ADAPTERS))


class Own:
    """As some package may have it."""

    def __call__(self, image: Any) -> Any:
        threshold = random.randint(0, 255)
        if not torch.rand(1) < 0.7:
            return image
        return ImageOps.solarize(image, threshold).rotate(90 * random.randint(0, 3), expand=True)


class Read(fastaug.Drawn):
    def __init__(self, own: Own) -> None:
        super().__init__()

    def draw(self, image: Any) -> Any:
        threshold = random.randint(0, 255)
        return (threshold, 90 * random.randint(0, 3)) if torch.rand(1) < 0.7 else None

    def apply(self, image: Any, params: Any) -> Any:
        if params is None:
            return image
        return pillow.rotate(pillow.solarize(image, params[0]), params[1], expand=True)


def pipeline(api: Any) -> Any:
    return [
        api.RandomResizedCrop((33, 47), antialias=True),
        Own(),
        api.RandomHorizontalFlip(),
        Own(),
        api.ToImage(),
        api.ToDtype(torch.float32, scale=True),
        api.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.2)),
    ]


def compiled(steps: Any) -> Any:
    fastaug.register(Own, Read)
    return fastaug.compile(TV2.Compose(steps))


def test_equal() -> None:
    own = TV2.Compose(pipeline(TV2))
    ours = compiled(pipeline(TV2))
    for seed in range(40):
        image = photo("coffee", 60 + seed, 90 - seed)
        assert_same(run(ours, image, seed), run(own, image, seed), identity=False)


def test_one_program() -> None:
    random.seed(1)
    torch.manual_seed(0)
    explanation = str(compiled(pipeline(TV2)).explain(photo("coffee", 60, 90)))
    assert "program 2" not in explanation and "by Python" not in explanation


def test_handles_and_batches() -> None:
    own, ours = TV2.Compose(pipeline(TV2)), compiled(pipeline(TV2))
    ours = pickle.loads(pickle.dumps(ours))
    images = []
    for name in ("coffee", "chelsea", "astronaut"):
        file = io.BytesIO()
        photo(name, 100, 140).save(file, "JPEG")
        images.append(LazyImage(file.getvalue()))
    seed_all(3)
    expected = [own(image.load()) for image in images]
    state = random.getstate()
    seed_all(3)
    assert all(torch.equal(ours(image), one) for image, one in zip(images, expected, strict=True))
    assert random.getstate() == state


def test_sample_and_replay() -> None:
    ours = compiled(pipeline(TV2))
    image = photo("chelsea", 90, 120)
    for seed in range(10):
        seed_all(seed)
        params = ours.sample(image)
        state = random.getstate()
        seed_all(seed)
        assert torch.equal(ours(image), ours.replay(image, params))
        assert random.getstate() == state


@pytest.mark.parametrize("mode", ["L", "P", "CMYK", "RGBA"])
def test_modes(mode: str) -> None:
    """Where the core, or Pillow, does not do it, it is Pillow's result or error."""
    steps = [TV2.CenterCrop(30), Own(), TV2.RandomHorizontalFlip()]
    own, ours = TV2.Compose(steps), compiled(steps)
    for seed in range(8):
        assert_same(run(ours, pil(mode, 41, 37), seed), run(own, pil(mode, 41, 37), seed), identity=False)


def test_structures_are_called_with() -> None:
    """A sample of more than an image is what a callable gets, as it gets it from torchvision."""
    seen: list[Any] = []

    class Noted(fastaug.Drawn):
        def __call__(self, img: Any) -> Any:
            seen.append(img)
            return img

    for sample in ({"image": photo("coffee", 20, 30)}, (photo("coffee", 20, 30), 3)):
        v2.Compose([v2.RandomHorizontalFlip(1.0), Noted()])(sample)
        assert type(seen.pop()) is type(sample)


def test_tensors() -> None:
    """They are computed by torch's rules, before and after."""

    class Turned(fastaug.Drawn):
        def apply(self, image: Any, params: None) -> Any:
            return F.hflip(image)

    tensor = to_chw(photo("coffee", 40, 50))
    ours = v2.Compose([v2.Resize((20, 24), antialias=True), Turned(), v2.ToDtype(torch.float32, scale=True)])
    theirs = TV2.Compose(
        [TV2.Resize((20, 24), antialias=True), TV2.RandomHorizontalFlip(1.0), TV2.ToDtype(torch.float32, scale=True)]
    )
    assert torch.equal(ours(tensor), theirs(tensor))


@pytest.mark.parametrize("steps", [[SometimesByRandom([T.ColorJitter(0.5)], 0.5)], [T.Compose([T.RandomRotation(20)])]])
def test_containers(steps: list[Any]) -> None:
    """Those of single images, in v2, keep what is inside them."""
    ours = v2.Compose([v2.CenterCrop(32), *steps, v2.ToImage()])
    theirs = [v2.CenterCrop(32), *steps, v2.ToImage()]
    image: Image.Image = photo("astronaut", 50, 40)
    for seed in range(6):
        seed_all(seed)
        expected: Any = image
        for one in theirs:
            expected = one(expected)
        seed_all(seed)
        assert torch.equal(ours(image), expected)
        seed_all(seed)
        params = ours.sample(image)
        seed_all(seed)
        assert torch.equal(ours.replay(image, params), expected)


def test_presets() -> None:
    """A transform of single images that is read as several, in v2."""
    for own in (
        TV2.Compose([TV2.RandomHorizontalFlip(), _presets.ImageClassification(crop_size=24, resize_size=30)]),
        TV2.Compose([TV2.RandomHorizontalFlip(), TV.Compose([TV.RandomRotation(20), TV.ToTensor()])]),
    ):
        ours = fastaug.compile(own)
        assert type(ours.transforms[1]) is T.Compose
        for seed in range(6):
            for image in (photo("coffee", 50, 70), to_chw(photo("coffee", 50, 70))):
                assert_same(run(ours, image, seed), run(own, image, seed), identity=False)
        assert "by Python" not in str(ours.explain(photo("coffee", 50, 70)))
