"""On PIL images every transform and function gives torchvision's pixels, errors, warnings and generator states."""

from __future__ import annotations

import pytest
import torchvision.transforms as TV
import torchvision.transforms.functional as TVF

import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.images import MODES, PHOTOS, SIZES, photo, pil
from support.outcomes import assert_parity, assert_same, run
from tables.calls import FUNCTIONAL, PIL_FUNCTIONAL
from tables.cases import PIL_CASES

CALLS = {**FUNCTIONAL, **PIL_FUNCTIONAL}


@pytest.mark.parametrize("name", PIL_CASES)
def test_sizes(name: str) -> None:
    for seed, (height, width) in enumerate(SIZES):
        assert_parity(PIL_CASES[name], T, TV, pil("RGB", height, width, seed), seed)


@pytest.mark.parametrize("name", PIL_CASES)
def test_seeds(name: str) -> None:
    image = pil("RGB", 64, 81)
    for seed in range(12):
        assert_parity(PIL_CASES[name], T, TV, image, 1000 + seed)


@pytest.mark.parametrize("name", PIL_CASES)
def test_photographs(name: str) -> None:
    for seed, title in enumerate(PHOTOS):
        assert_parity(PIL_CASES[name], T, TV, photo(title, 211, 173), seed)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "RGB"])
@pytest.mark.parametrize("name", PIL_CASES)
def test_modes(name: str, mode: str) -> None:
    for seed, (height, width) in enumerate([(31, 37), (1, 1), (64, 64), (90, 41)]):
        assert_parity(PIL_CASES[name], T, TV, pil(mode, height, width, seed), seed)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
def test_functional(name: str, mode: str) -> None:
    call = CALLS[name]
    for seed, (height, width) in enumerate([(31, 37), (1, 1), (13, 64)]):
        image = pil(mode, height, width, seed)
        assert_same(run(lambda x: call(F, x), image), run(lambda x: call(TVF, x), image))


def test_lazily_opened_file(tmp_path) -> None:
    from PIL import Image

    photo("coffee").save(tmp_path / "image.png")
    photo("coffee").save(tmp_path / "image.jpg")
    for file in ("image.png", "image.jpg"):
        results = []
        for package in (T, TV):
            with Image.open(tmp_path / file) as image:
                results.append(package.Compose([package.Resize(50), package.ToTensor()])(image))
        assert results[0].equal(results[1])


def test_image_taller_than_one_pillow_block() -> None:
    """Pillow splits large images over several blocks of memory (Image.core.get_block_size, 16 MB)."""
    image = pil("RGB", 2300, 2100)
    for name in ("CenterCrop odd", "RandomHorizontalFlip always", "Resize 19x43 BILINEAR", "ToTensor"):
        assert_parity(PIL_CASES[name], T, TV, image)


def test_cropped_view_of_another_image() -> None:
    """Image.crop is lazy in nothing, but its result is a fresh image that must not keep reading its parent."""
    parent = photo("chelsea")
    image = parent.crop((10, 20, 90, 100))
    expected = TV.ToTensor()(image)
    parent.paste(0, (0, 0, *parent.size))
    assert T.ToTensor()(image).equal(expected)
