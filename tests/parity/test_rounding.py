"""Where Pillow or torch round in another way than the core, they compute: here they are made to, and are followed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as V2
from PIL import Image

import fastaug
import fastaug.transforms as T
import fastaug.transforms.v2 as T2
from fastaug import _C, pillow
from fastaug._fallback import rounding
from support.images import pil
from support.outcomes import assert_same, run

#: The steps that a name of `rounding.follows` is about, and images that meet them.
STEPS: dict[str, list[Callable[[Any], Any]]] = {
    "blends": [
        lambda package: package.ColorJitter(0.4, 0.4, 0.4),
        lambda package: package.RandomAdjustSharpness(1.7, p=1.0),
        lambda package: package.TrivialAugmentWide(),
    ],
    "warps": [
        lambda package: package.RandomRotation(30, package.InterpolationMode.BILINEAR),
        lambda package: package.RandomAffine(10, (0.1, 0.1), (0.8, 1.2), 5, package.InterpolationMode.BILINEAR),
        lambda package: package.RandomPerspective(0.4, p=1.0),
    ],
}
STEPS["colours"], STEPS["warps of tensors"] = STEPS["blends"], STEPS["warps"]
#: v1 has none.
STEPS["JPEG files"] = [lambda package: package.JPEG((20, 90))]
OF_TENSORS = ("colours", "warps of tensors")


def image_for(name: str, number: int) -> Any:
    picture = pil("RGB", 33 + number, 26)
    if name in OF_TENSORS:
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous()
    return picture


@pytest.fixture
def refused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A name, of which this process has found that the library rounds in another way."""
    monkeypatch.setitem(rounding._answers, request.param, False)
    return str(request.param)


@pytest.mark.parametrize("refused", rounding._ASKED, indirect=True)
@pytest.mark.parametrize(("theirs", "ours"), [(TV, T), (V2, T2)], ids=["v1", "v2"])
def test_the_library_computes(theirs: Any, ours: Any, refused: str) -> None:
    if refused == "JPEG files" and theirs is TV:
        return
    by: set[str] = set()
    for make, seed in itertools.product(STEPS[refused], range(4)):
        image = image_for(refused, seed)
        wanted = run(theirs.Compose([make(theirs)]), image, seed)
        for transform in (ours.Compose([make(ours)]), fastaug.compile(theirs.Compose([make(theirs)]))):
            assert_same(run(transform, image, seed), wanted)
            torch.manual_seed(seed)
            by |= {one["by"] for one in transform.explain(image).passes}
    assert ("torch" if refused in OF_TENSORS else "Pillow") in by


@pytest.mark.parametrize("refused", ["blends", "warps"], indirect=True)
def test_arrays_and_pillows_functions(refused: str) -> None:
    picture = image_for(refused, 1)
    for seed, make in enumerate(STEPS[refused]):
        array = np.array(picture)
        wanted = run(make(TV), picture, seed)
        got = run(make(T), array, seed)
        assert np.array_equal(np.asarray(got.value), np.asarray(wanted.value)), seed
    for function, given in ((pillow.contrast, (0.7,)), (pillow.color, (1.3,)), (pillow.rotate, (17.0, 2))):
        made = function(picture, *given)
        name = {"contrast": "Contrast", "color": "Color"}.get(function.__name__)
        enhanced = None if name is None else getattr(__import__("PIL.ImageEnhance").ImageEnhance, name)
        theirs = picture.rotate(*given) if enhanced is None else enhanced(picture).enhance(*given)
        assert made.tobytes() == theirs.tobytes()


def test_this_machine_is_asked_and_moves_no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "_answers", {})
    before = torch.get_rng_state()
    expected = dict.fromkeys(rounding._ASKED, True) | {"JPEG files": _C.jpeg_decoder() == "own"}
    assert {name: rounding.follows(name) for name in rounding._ASKED} == expected
    assert torch.equal(torch.get_rng_state(), before)


def test_another_rounding_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pillow whose blends fuse a product with its sum, as a compiler for ARM makes it."""
    monkeypatch.setattr(rounding, "_answers", {})

    def fused(first: Image.Image, second: Image.Image, alpha: float) -> Image.Image:
        low, high = (np.asarray(one).astype(np.float64) for one in (first, second))
        # A product of float32 and a small integer is exact in float64: one rounding is left.
        total = (low + np.float64(np.float32(alpha)) * (high - low)).astype(np.float32)
        return Image.fromarray(np.clip(total, 0, 255).astype(np.uint8))

    monkeypatch.setattr(Image, "blend", fused)
    assert not rounding.follows("blends")
    assert "by Pillow" in fastaug.info().rules["blends of PIL images"]
    image = pil("RGB", 61, 47)
    for seed in range(6):
        jitter = TV.ColorJitter(0.4, 0.4, 0.4)
        assert_same(run(T.ColorJitter(0.4, 0.4, 0.4), image, seed), run(jitter, image, seed))
