"""exif=True flips and turns as ImageOps.exif_transpose() does, for parts and handles too."""

from __future__ import annotations

import io
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from PIL import Image

import fastaug.io
import fastaug.transforms as T
from support.differences import each
from support.images import photo

PHOTO = photo("astronaut", 37, 53)
XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="{}"/></x:xmpmeta>'


def files(orientation: int) -> dict[str, bytes]:
    exif = made.oriented(orientation)
    png = made.encode(PHOTO, "PNG")
    behind = made.chunk(b"eXIf", exif.tobytes()[6:])
    return {
        "JPEG": made.encode(PHOTO, "JPEG", exif=exif),
        "gray JPEG": made.encode(PHOTO.convert("L"), "JPEG", exif=exif),
        "progressive JPEG": made.encode(PHOTO, "JPEG", exif=exif, progressive=True),
        "CMYK JPEG": made.encode(PHOTO.convert("CMYK"), "JPEG", exif=exif),
        "JPEG with XMP": made.encode(PHOTO, "JPEG", xmp=XMP.format(orientation).encode()),
        "PNG": made.encode(PHOTO, "PNG", exif=exif),
        "PNG of a palette": made.encode(PHOTO.convert("P"), "PNG", exif=exif),
        "PNG of a palette, behind": made.encode(PHOTO.convert("P"), "PNG")[:-12] + behind + png[-12:],
        "PNG, behind the pixels": png[:-12] + behind + png[-12:],
        "WEBP": made.encode(PHOTO, "WEBP", exif=exif, lossless=True),
        "TIFF": made.encode(PHOTO, "TIFF", exif=exif),
    }


NAMES = tuple(files(1))


@pytest.mark.parametrize("name", NAMES)
@each("orientation", range(1, 9))
def test_oriented(name: str, orientation: int) -> None:
    data = files(orientation)[name]
    for mode in ("RGB", "L", "P", "1"):
        expected = made.pillow(data, mode, exif=True)
        assert made.same(fastaug.io.imread(data, mode, exif=True), expected)
        assert made.same(fastaug.io.imread(data, mode), made.pillow(data, mode))
        height, width = expected.shape[:2]
        for region in ((0, 0, height, 1), (3, 5, 17, 11), (height - 9, width - 4, 9, 4)):
            top, left, rows, columns = region
            part = expected[top : top + rows, left : left + columns]
            assert made.same(fastaug.io.imread(data, mode, region, exif=True), part)


@pytest.mark.parametrize("name", NAMES)
@each("orientation", range(1, 9))
def test_handle(name: str, orientation: int) -> None:
    data = files(orientation)[name]
    expected = made.pillow(data, exif=True)
    image = fastaug.io.lazy(data, exif=True)
    assert (image.height, image.width) == expected.shape[:2]
    assert image.orientation == (1 if name == "TIFF" else orientation)
    assert made.same(np.asarray(image), expected)
    assert made.same(np.asarray(image.load()), expected)
    assert fastaug.io.image_info(data).orientation == orientation


@pytest.mark.parametrize("name", ["JPEG", "PNG", "PNG of a palette"])
@each("orientation", range(1, 9))
def test_transforms(name: str, orientation: int) -> None:
    data = files(orientation)[name]
    image = Image.fromarray(made.pillow(data, exif=True))
    for transform in (T.CenterCrop(20), T.Resize((23, 31)), T.Compose([T.Pad(3), T.ToTensor()])):
        ours, theirs = transform(fastaug.io.lazy(data, exif=True)), transform(image)
        assert made.same(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("value", [0, 9, 65535])
@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP"])
def test_no_orientation_at_all(name: str, value: int) -> None:
    data = files(value)[name]
    assert made.same(fastaug.io.imread(data, exif=True), made.pillow(data))
    assert fastaug.io.image_info(data).orientation == 1


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")  # Pillow's
@pytest.mark.parametrize(
    "exif", [b"Exif\0\0garbage", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"]
)
def test_exif_data_that_are_none(exif: bytes) -> None:
    """Pillow stumbles over some of them, as exif_transpose() then does; the pixels are there all the same."""
    data: Any
    for data in (made.encode(PHOTO, "JPEG", exif=exif), made.encode(PHOTO, "PNG", exif=exif)):
        assert made.same(fastaug.io.imread(data, exif=True), made.pillow(data))
        assert fastaug.io.lazy(io.BytesIO(data), exif=True).size == PHOTO.size
