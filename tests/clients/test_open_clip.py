"""open_clip's and CLIP's transforms: read as they stand, with equal pixels and draws for every mode and container."""

from __future__ import annotations

import io
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from open_clip import transform as theirs

import fastaug
from fastaug.io import LazyImage
from support.images import PHOTOS, photo, pil, to_chw
from support.outcomes import assert_same, run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # CLIP imports pkg_resources, which is deprecated
    import clip.clip


def transform(size: Any, train: bool = False, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return theirs.image_transform(size, train, **options)


JITTER = {"color_jitter": (0.4, 0.4, 0.4, 0.1), "color_jitter_prob": 0.8, "gray_scale_prob": 0.3}
CASES: dict[str, Callable[[], Any]] = {
    "eval": lambda: transform(64),
    "eval, two sides": lambda: transform((48, 80)),
    "longest": lambda: transform(64, resize_mode="longest"),
    "longest, fill": lambda: transform((48, 80), resize_mode="longest", fill_color=127, interpolation="bilinear"),
    "squash": lambda: transform(64, resize_mode="squash"),
    "train": lambda: transform(64, True),
    "train, jitter": lambda: transform(64, True, aug_cfg=dict(JITTER)),
    "train, hue alone": lambda: transform(64, True, aug_cfg={**JITTER, "color_jitter": (0, 0, 0, 0.3)}),
    "timm": lambda: transform(64, True, aug_cfg={"use_timm": True, "color_jitter": 0.4, "re_prob": 0.3}),
    "keep ratio, random": lambda: TV.Compose(
        [
            theirs.ResizeKeepRatio((50, 60), longest=0.3, random_scale_prob=0.6, random_aspect_prob=0.6),
            theirs.CenterCropOrPad((55, 64), fill=9),
            theirs.MaybeToTensor(),
        ]
    ),
    "CLIP": lambda: clip.clip._transform(64),
}


def images() -> Iterator[Any]:
    for mode in ("RGB", "L", "RGBA", "P", "CMYK", "LA", "1"):
        yield pil(mode, 91, 133)
    for number, name in enumerate(PHOTOS):
        yield photo(name, 70 + 40 * number, 200 - 35 * number)


@pytest.mark.parametrize("name", CASES)
def test_equal(name: str) -> None:
    own = CASES[name]()
    ours = pickle.loads(pickle.dumps(fastaug.compile(own)))
    assert all(type(step).__module__.startswith("fastaug") for step in ours.transforms), ours.transforms
    for number, image in enumerate(images()):
        for seed in range(number, number + 40, 13):
            assert_same(run(ours, image, seed), run(own, image, seed), identity=False)


@pytest.mark.parametrize("name", CASES)
def test_handles(name: str) -> None:
    """Of files in several modes, which are converted by the pipeline or by the handle."""
    own = CASES[name]()
    ours = fastaug.compile(own)
    for number, photograph in enumerate(PHOTOS):
        for mode in ("RGB", "L", "CMYK"):
            file = io.BytesIO()
            photo(photograph, 100, 140).convert(mode).save(file, "JPEG", quality=90)
            image = LazyImage(file.getvalue())
            assert_same(run(ours, image, number, untouched=True), run(own, image.load(), number), identity=False)


@pytest.mark.parametrize("name", ["eval", "train", "squash"])
def test_tensors(name: str) -> None:
    own = CASES[name]()
    ours = fastaug.compile(own)
    for image in (to_chw(photo("coffee", 80, 90)).float() / 255, torch.rand(2, 3, 70, 80)):
        assert_same(run(ours, image, 1), run(own, image, 1), identity=False)


def test_batches() -> None:
    own = CASES["train, jitter"]()
    ours = fastaug.compile(own)
    photographs = [photo(name, 100, 140) for name in PHOTOS]
    torch.manual_seed(4)
    random.seed(4)
    expected = torch.stack([own(image) for image in photographs])
    states = random.getstate(), torch.get_rng_state()
    torch.manual_seed(4)
    random.seed(4)
    assert torch.equal(ours.batch(photographs), expected)
    assert random.getstate() == states[0] and torch.equal(torch.get_rng_state(), states[1])


def test_sample_and_replay() -> None:
    """What is drawn is kept, within transforms that happen with a probability too."""
    ours = fastaug.compile(CASES["train, jitter"]())
    image = photo("chelsea", 90, 120)
    for seed in range(8):
        random.seed(seed)
        torch.manual_seed(seed)
        params = ours.sample(image)
        assert torch.equal(ours.replay(image, params), ours.replay(image, params))
        random.seed(seed)
        torch.manual_seed(seed)
        assert torch.equal(ours.replay(image, params), ours(image))


def test_one_program() -> None:
    assert "program 2" not in str(fastaug.compile(CASES["eval"]()).explain(photo("coffee")))
    assert "program 2" not in str(fastaug.compile(CASES["CLIP"]()).explain(photo("coffee")))


def test_another_transform_inside() -> None:
    """color_jitter with something else in the place of its jitter stays what it is."""
    own = theirs.color_jitter(0.4, p=1.0)
    own.transf = TV.RandomInvert(1.0)
    with pytest.warns(UserWarning, match="its reader does not know it"):
        ours = fastaug.compile(TV.Compose([TV.CenterCrop(32), own]))
    assert ours.transforms[1] is own


def test_patched_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that somebody has changed is not the code that is known."""
    from fastaug._compile import registry

    monkeypatch.setattr(registry, "_told", set())
    monkeypatch.setattr(theirs.ResizeKeepRatio, "get_params", staticmethod(lambda *arguments: (20, 30)))
    own = transform(64, resize_mode="longest")
    with pytest.warns(UserWarning, match="ResizeKeepRatio"):
        ours = fastaug.compile(own)
    image = photo("coffee", 80, 90)
    assert torch.equal(ours(image), own(image))
