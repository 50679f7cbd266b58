"""JPEG's loss without a file against torchvision's and Pillow's files: sizes, content, layouts, qualities."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.v2 import functional as V

from fastaug import _C
from fastaug._image import jpeg
from fastaug.transforms.v2 import functional as F
from support.layouts import outcome
from support.random_samples import content

SIZES = list(itertools.product((1, 2, 7, 8, 9, 17), (1, 4, 5, 8, 16, 17, 31)))
QUALITIES = (1, 13, 49, 50, 75, 94, 100)
needs_native = pytest.mark.skipif(not _C.jpeg_filters(8, 8, 3), reason="libjpeg is as fast here")


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
        assert jpeg._is_pillows()
        jpeg._info("RGB"), jpeg._info("L")
        monkeypatch.setattr(Image.Image, "save", None)
        for image, result in zip(images, expected):
            ours: Any = F.jpeg(image, 40)
            assert torch.equal(ours, result) if isinstance(image, torch.Tensor) else ours == result


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
    given = jpeg.through_file

    def brighter(image: Image.Image, quality: int) -> Image.Image:
        return given(image, quality).point(lambda sample: min(sample + 1, 255))

    monkeypatch.setattr(jpeg, "through_file", brighter)
    jpeg._is_pillows.cache_clear()
    try:
        assert not jpeg._is_pillows()
        assert jpeg.through_jpeg(Image.new("L", (8, 8)), 75).getpixel((0, 0)) == 1
        assert jpeg.tensors_through_jpeg(torch.zeros(1, 3, 8, 8, dtype=torch.uint8), 75) is None
    finally:
        jpeg._is_pillows.cache_clear()


def test_images_of_several_blocks() -> None:
    """Large ones, and those in memory of the user's with gaps between rows, are not one block of memory."""
    noise = np.random.default_rng(0).integers(0, 256, (2300, 2200, 3), np.uint8)
    gaps = Image.frombuffer("L", (40, 30), bytes(range(256)) * 20, "raw", "L", 49, -1)
    for image in (Image.fromarray(noise).copy(), gaps):
        assert F.jpeg(image, 60).tobytes() == V.jpeg(image, 60).tobytes()


@needs_native
def test_native_arguments() -> None:
    image = torch.zeros(8, 8, dtype=torch.uint8)
    source, target = (function(image) for function in (jpeg.borrow.borrow_tensor, jpeg.borrow.tensor_target))
    for quality in (0, 101):
        with pytest.raises(ValueError, match=f"quality must be 1 to 100, got {quality}"):
            _C.jpeg_filter(source, quality, target)
    with pytest.raises(ValueError, match="target must have the image's shape"):
        _C.jpeg_filter(source, 50, jpeg.borrow.tensor_target(torch.zeros(8, 9, dtype=torch.uint8)))
    four = jpeg.borrow.borrow_tensor(torch.zeros(4, 8, 8, dtype=torch.uint8))
    with pytest.raises(ValueError, match="are libjpeg's"):
        _C.jpeg_filter(four, 50, target)
