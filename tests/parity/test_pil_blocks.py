"""PIL images that Pillow keeps in several blocks of memory, as it does those of more than 16 MB, are read in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.transforms as T
from fastaug import _C
from fastaug.io import imread
from fastaug.transforms import v2
from support.differences import each, grouped
from support.images import pil
from support.outcomes import assert_parity
from tables.cases import PIL_CASES

MODES = ("RGB", "L", "LA", "RGBA", "CMYK", "YCbCr", "HSV", "P", "I")

#: Of more than 16 MB each.
LARGE = [("RGB", 2310, 2005), ("RGBA", 2005, 2310), ("LA", 2100, 2200), ("L", 4300, 4100), ("CMYK", 2100, 2200)]


@pytest.fixture
def small_blocks() -> Iterator[None]:
    """Let Pillow allot blocks of 4 kB, so that images of the tests have many."""
    core: Any = Image.core
    before = core.get_block_size()
    core.set_block_size(4096)
    yield
    core.set_block_size(before)


def blocks_of(image: Image.Image) -> bool:
    try:
        image.im.__arrow_c_array__()
    except ValueError:
        return True
    return False


@grouped(PIL_CASES)
@each("mode", MODES)
@each(("seed", "size"), enumerate([(101, 67), (64, 90)]))
def test_transforms(name: str, mode: str, seed: int, size: tuple[int, int], small_blocks: None) -> None:
    image = pil(mode, *size, seed).copy()
    assert blocks_of(image)
    assert_parity(PIL_CASES[name], T, TV, image, seed)


@pytest.mark.parametrize(("mode", "height", "width"), LARGE)
def test_large_images(mode: str, height: int, width: int) -> None:
    image = pil(mode, height, width)
    image = image.copy()
    assert blocks_of(image)
    for name in ("CenterCrop odd", "RandomHorizontalFlip always", "Resize 19x43 BILINEAR", "ToTensor"):
        assert_parity(PIL_CASES[name], T, TV, image)
    for steps in (
        lambda V: [V.ToImage(), V.Resize((223, 317)), V.ToDtype(torch.float32, scale=True)],
        lambda V: [V.RandomRotation(25), V.RandomResizedCrop(96, antialias=True), V.ToImage()],
        lambda V: [V.ToImage(), V.RandomCrop(200), V.RandomInvert(1.0)],
        lambda V: [V.RandomAffine(10, interpolation=V.InterpolationMode.BILINEAR), V.PILToTensor()],
    ):
        results = []
        for package in (v2, TV2):
            torch.manual_seed(3)
            results.append(package.Compose(steps(package))(image))
        assert torch.equal(*results)


def test_it_is_not_copied(monkeypatch: pytest.MonkeyPatch, small_blocks: None) -> None:
    image = pil("RGB", 120, 90).copy()
    monkeypatch.setattr(np, "asarray", None)
    source = _C.from_pil(image, 3)
    assert (source.height, source.width, source.channels) == (120, 90, 3)
    plan = T.Compose([T.Resize(20), T.ToTensor()]).explain(image)
    assert "memory, all of 120x90" in str(plan) and "read" in str(plan)
    with pytest.raises(ValueError, match="mode"):
        _C.from_pil(image, 4)


def test_where_rows_are_not_known(monkeypatch: pytest.MonkeyPatch, small_blocks: None) -> None:
    """A future Pillow may keep them elsewhere: the image is then copied."""
    image = pil("RGB", 120, 90).copy()

    def from_pil(*given: Any) -> Any:
        raise ValueError("several blocks")

    monkeypatch.setattr(_C, "from_pil", from_pil)
    for name in ("Resize 19x43 BILINEAR", "CenterCrop odd", "ToTensor"):
        assert_parity(PIL_CASES[name], T, TV, image)


def test_batches_and_threads(small_blocks: None) -> None:
    images = [pil("RGB", 100 + n, 90, n).copy() for n in range(5)]
    steps = [T.Resize((40, 30)), T.ToTensor()]
    expected = torch.stack([TV.Compose([TV.Resize((40, 30)), TV.ToTensor()])(image) for image in images])
    assert torch.equal(T.Compose(steps).batch(images, num_threads=3), expected)
    assert torch.equal(fastaug.Views([T.Compose(steps), T.Compose(steps)])(images[0])[1], expected[0])


def test_arrays(tmp_path: Any, small_blocks: None) -> None:
    for mode in ("RGB", "L", "LA", "RGBA"):
        image = pil(mode, 91, 83).copy()
        image.save(tmp_path / "image.tif")
        assert np.array_equal(imread(tmp_path / "image.tif", mode), np.asarray(image))


def test_images_in_the_memory_of_others(small_blocks: None) -> None:
    array = np.asarray(pil("RGBA", 100, 90))
    for image in (Image.fromarray(array), Image.frombuffer("RGBA", (90, 100), array.tobytes(), "raw", "RGBA", 0, 1)):
        assert_parity(PIL_CASES["Resize 19x43 BILINEAR"], T, TV, image)
