"""On PIL images every transform and function gives torchvision's pixels, errors, warnings and generator states."""

from __future__ import annotations

import torchvision.transforms as TV
import torchvision.transforms.functional as TVF

import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.differences import each, grouped
from support.images import MODES, PHOTOS, SIZES, photo, pil
from support.outcomes import assert_parity, assert_same, run
from tables.calls import FUNCTIONAL, PIL_FUNCTIONAL
from tables.cases import PIL_CASES

CALLS = {**FUNCTIONAL, **PIL_FUNCTIONAL}


@grouped(PIL_CASES)
@each(("seed", "size"), enumerate(SIZES))
def test_sizes(name: str, seed: int, size: tuple[int, int]) -> None:
    assert_parity(PIL_CASES[name], T, TV, pil("RGB", *size, seed), seed)


@grouped(PIL_CASES)
@each("seed", range(1000, 1012))
def test_seeds(name: str, seed: int) -> None:
    assert_parity(PIL_CASES[name], T, TV, pil("RGB", 64, 81), seed)


@grouped(PIL_CASES)
@each(("seed", "title"), enumerate(PHOTOS))
def test_photographs(name: str, seed: int, title: str) -> None:
    assert_parity(PIL_CASES[name], T, TV, photo(title, 211, 173), seed)


@grouped(PIL_CASES)
@each("mode", [mode for mode in MODES if mode != "RGB"])
@each(("seed", "size"), enumerate([(31, 37), (1, 1), (64, 64), (90, 41)]))
def test_modes(name: str, mode: str, seed: int, size: tuple[int, int]) -> None:
    assert_parity(PIL_CASES[name], T, TV, pil(mode, *size, seed), seed)


@grouped(CALLS)
@each("mode", MODES)
@each(("seed", "size"), enumerate([(31, 37), (1, 1), (13, 64)]))
def test_functional(name: str, mode: str, seed: int, size: tuple[int, int]) -> None:
    call, image = CALLS[name], pil(mode, *size, seed)
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
