"""JPEG's loss without a file against torchvision's and Pillow's files: sizes, content, layouts, qualities."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import v2 as TV
from torchvision.transforms.v2 import functional as V

import fastaug
from fastaug import _C
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import rounding
from fastaug._program import ops
from fastaug.transforms import v2 as T
from fastaug.transforms.v2 import functional as F
from support.layouts import outcome
from support.outcomes import assert_same, run
from support.random_samples import content

SIZES = list(itertools.product((1, 2, 7, 8, 9, 17), (1, 4, 5, 8, 16, 17, 31)))
QUALITIES = (1, 13, 49, 50, 75, 94, 100)
needs_native = pytest.mark.skipif(_C.jpeg_decoder() != "own", reason="libjpeg is as fast here")


def pictures(height: int, width: int) -> list[np.ndarray]:
    kinds = ("noise", "ends", "few", "gradient", "photo")
    return [np.ascontiguousarray(content(kind, 5, (3, height, width)).transpose(1, 2, 0)) for kind in kinds]


@pytest.mark.parametrize("quality", QUALITIES)
def test_pil(quality: int) -> None:
    for height, width in SIZES:
        for array in pictures(height, width):
            for image in (Image.fromarray(array), Image.fromarray(array[..., 0].copy())):
                ours, theirs = F.jpeg(image, quality), V.jpeg(image, quality)
                assert ours.tobytes() == theirs.tobytes(), (height, width, image.mode)
                assert (type(ours), ours.mode, ours.info) == (type(theirs), theirs.mode, theirs.info)


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.filterwarnings("ignore")
def test_tensors(quality: int) -> None:
    for height, width in SIZES:
        for array in pictures(height, width):
            pixels = torch.from_numpy(array).permute(2, 0, 1)
            batch = torch.stack([pixels.flip(-1), pixels]).contiguous()
            for given in (
                pixels,
                pixels.contiguous(),
                pixels[:1],
                batch,
                batch[:, :1],
                batch.repeat(1, 1, 1, 2)[..., ::2],
            ):
                ours, theirs = F.jpeg(given, quality), V.jpeg(given, quality)
                assert torch.equal(ours, theirs), (height, width, given.stride())
                assert ours.stride() == theirs.stride()


@needs_native
def test_it_makes_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    images = [Image.new("RGB", (9, 9)), Image.new("L", (1, 9)), torch.zeros(2, 3, 9, 9, dtype=torch.uint8)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [V.jpeg(image, 40) for image in images]
        assert rounding.follows("JPEG files") and pil_fallback.jpeg_info()
        monkeypatch.setattr(Image.Image, "save", None)
        for image, result in zip(images, expected):
            ours: Any = F.jpeg(image, 40)
            assert torch.equal(ours, result) if isinstance(image, torch.Tensor) else ours == result


def chains(P: Any) -> list[Any]:
    """Blocks that begin elsewhere than the image, parts of them, gray, and ops behind that read all of their input."""
    floats = [P.ToImage(), P.ToDtype(torch.float32, scale=True), P.Normalize([0.5], [0.25])]
    return [
        P.Compose(steps)
        for steps in (
            [P.RandomResizedCrop(45, antialias=True), P.JPEG((5, 95)), P.RandomCrop(31), *floats],
            [P.RandomHorizontalFlip(), P.JPEG(30), P.RandomRotation(40), P.JPEG((1, 9))],
            [P.Grayscale(), P.RandomCrop(50, 9, pad_if_needed=True), P.JPEG((30, 60)), *floats],
            [P.RandomPosterize(3), P.JPEG(60), P.RandomEqualize(), P.RandomVerticalFlip()],
            [P.ColorJitter(0.4, 0.4, 0.4, 0.2), P.RandomApply([P.JPEG((20, 80))]), P.Resize(24)],
            [P.JPEG((40, 90)), P.GaussianBlur(5), P.RandomAdjustSharpness(2.0), P.CenterCrop(7)],
            [P.JPEG(10), P.Resize((3, 90)), P.Pad(4), P.JPEG(80), P.Grayscale(3)],
        )
    ]


@pytest.mark.filterwarnings("ignore")
def test_chains() -> None:
    for number, (ours, theirs) in enumerate(zip(chains(T), chains(TV))):
        for seed, (height, width) in enumerate(((61, 53), (50, 130), (16, 67), (9, 5))):
            picture = Image.fromarray(content("photo", seed, (3, height, width)).transpose(1, 2, 0).copy())
            tensor = V.pil_to_tensor(picture)
            for image in (picture, picture.convert("L"), tensor, TV.functional.to_image(picture), tensor[None]):
                met, expected = (run(chain, image, seed) for chain in (ours, theirs))
                assert len(met.warned) == len(expected.warned), (number, image)
                assert_same(replace(met, warned=[]), replace(expected, warned=[]))


@needs_native
@pytest.mark.filterwarnings("ignore")
def test_a_chain_is_one_program() -> None:
    picture = Image.fromarray(content("photo", 3, (3, 90, 130)).transpose(1, 2, 0).copy())
    for chain in chains(T):
        assert {(one["by"], one["program"]) for one in chain.explain(picture).passes} == {("fastaug", 1)}
    batch = chains(T)[0].batch([picture] * 3)
    assert batch.shape == (3, 3, 31, 31)


@pytest.mark.parametrize("count", [1, 3])
def test_each_file_of_a_tensor_is_warned_of(count: int) -> None:
    images = torch.zeros(count, 3, 9, 9, dtype=torch.uint8)
    steps = [T.ToPureTensor(), T.JPEG((40, 60))]
    calls = [lambda: F.jpeg(images, 40), lambda: T.JPEG(40)(images), lambda: T.Compose(steps)(images)]
    calls.append(lambda: T.Compose(steps).batch(list(images[:, None].repeat(1, 2, 1, 1, 1))))
    for number, call in enumerate(calls):
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            call()
        told = [one for one in met if "decoding and encoding" in str(one.message)]
        assert len(told) == 2 * count * (2 if number == 3 else 1), number
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DeprecationWarning):
                call()


def test_the_metadata_are_of_a_file() -> None:
    image = Image.new("RGB", (40, 30), "orange")
    image.info = {"dpi": (72, 72), "transparency": (1, 2, 3), "list": [1]}
    others = [["JPEG", name] for name in ("RandomRotation", "Resize", "CenterCrop")]
    for steps in (["JPEG"], ["Grayscale", "JPEG"], *others):
        given = {"JPEG": 50, "RandomRotation": 20, "Resize": 20, "CenterCrop": 9}
        made = [
            package.Compose([getattr(package, name)(*([given[name]] if name in given else [])) for name in steps])
            for package in (T, TV)
        ]
        ours, theirs = (run(one, image, 0) for one in made)
        assert_same(ours, theirs)
        assert ours.value.info == theirs.value.info, steps
        ours.value.info["more"] = 1
        assert "more" not in made[0](image).info


def test_what_is_left_to_pillow() -> None:
    """Modes, comments, qualities and sizes."""
    named = Image.new("RGB", (9, 9), (9, 200, 30))
    named.info["comment"] = b"a field"
    wide = Image.fromarray(np.zeros((1, 65501), np.uint8))
    images = [named, wide, *(Image.new(mode, (9, 9)) for mode in ("CMYK", "RGBA", "LA", "P", "1", "I;16", "F"))]
    images += [Image.new("RGB", size) for size in ((0, 4), (4, 9), (1, 1))]
    for image in images:
        for quality in (0, 50, 101, -3, 50.5, True, "high"):
            ours, theirs = (outcome(lambda: package.jpeg(image, quality)) for package in (F, V))  # noqa: B023
            assert type(ours) is type(theirs), (image, quality)
            if isinstance(theirs, Image.Image):
                assert ours.tobytes() == theirs.tobytes() and ours.info == theirs.info


def test_other_pixels_of_pillows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the installed Pillow makes other pixels, it makes them all."""
    given = pil_fallback.jpeg

    def brighter(image: Image.Image, quality: int) -> Image.Image:
        return given(image, quality).point(lambda sample: min(sample + 1, 255))

    monkeypatch.setattr(pil_fallback, "jpeg", brighter)
    monkeypatch.setattr(rounding, "_answers", {})
    assert not rounding.follows("JPEG files")
    assert F.jpeg(Image.new("L", (8, 8)), 75).getpixel((0, 0)) == 1
    assert "by Pillow" in fastaug.info().rules["JPEG files"]


def test_images_of_several_blocks() -> None:
    """Large ones, and those in memory of the user's with gaps between rows, are not one block of memory."""
    noise = np.random.default_rng(0).integers(0, 256, (2300, 2200, 3), np.uint8)
    gaps = Image.frombuffer("L", (40, 30), bytes(range(256)) * 20, "raw", "L", 49, -1)
    for image in (Image.fromarray(noise).copy(), gaps):
        assert F.jpeg(image, 60).tobytes() == V.jpeg(image, 60).tobytes()


def test_arguments_of_the_op() -> None:
    for quality, shape, told in (
        (0, (8, 8, 3), "quality must be 1..100, got 0"),
        (101, (8, 8, 1), "quality must be 1..100, got 101"),
        (50, (8, 8, 4), "1 or 3 channels, got 4"),
        (50, (1, 65501, 1), "rows and columns must be at most 65500, got 65501"),
    ):
        with pytest.raises(ValueError, match=told):
            _C.shape(ops.by_integer("JPEG", quality), *shape)
