"""Broken and hostile files: an error that says what and where, as Pillow decides; never part of an image."""

from __future__ import annotations

import errno
import io
import os
import pickle
import struct
from pathlib import Path

import encoded_images as made
import numpy as np
import pytest
from PIL import Image, ImageFile, UnidentifiedImageError

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._image import encoded
from support.differences import each
from support.images import photo

JPEG = made.encode(photo("coffee", 90, 120), "JPEG")
PROGRESSIVE = made.encode(photo("coffee", 90, 120), "JPEG", progressive=True)
PNG = made.encode(photo("coffee", 90, 120), "PNG")
IDAT = PNG.index(b"IDAT")
GIF = made.encode(photo("coffee", 90, 120), "GIF")


def bomb(width: int, height: int) -> bytes:
    """A PNG that announces more than it has."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return PNG[:8] + made.chunk(b"IHDR", header) + PNG[33:]


BROKEN = {
    "empty": b"",
    "two bytes": JPEG[:2],
    "text": b"This is a page that says 404.",
    "zeros": bytes(1000),
    "JPEG, its beginning": JPEG[:300],
    "JPEG, half": JPEG[: len(JPEG) // 2],
    "JPEG, no end": JPEG[:-2],
    "JPEG, no tables": JPEG[:20] + JPEG[JPEG.index(b"\xff\xc0") :],
    "JPEG, garbage before": b"garbage" + JPEG,
    "progressive, half": PROGRESSIVE[: len(PROGRESSIVE) // 2],
    "PNG, its signature": PNG[:8],
    "PNG, its header": PNG[:33],
    "PNG, half": PNG[: len(PNG) // 2],
    "PNG, header with a wrong checksum": PNG[:29] + b"none" + PNG[33:],
    "PNG, broken pixels": PNG[: IDAT + 40] + bytes(60) + PNG[IDAT + 100 :],
    "PNG, none wide": bomb(0, 10),
    "PNG, more pixels than bytes": bomb(5000, 5000),
    "GIF, half": GIF[: len(GIF) // 2],
    "BMP, half": made.encode(photo("coffee", 90, 120), "BMP")[:9000],
    "WEBP, half": made.encode(photo("coffee", 90, 120), "WEBP")[:900],
}


@pytest.mark.filterwarnings("ignore:image file could not be identified")
@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str, tmp_path: Path) -> None:
    data = BROKEN[name]
    with pytest.raises(Exception) as theirs:
        made.pillow(data)
    path = tmp_path / "broken.img"
    path.write_bytes(data)
    for read in (
        fastaug.io.imread,
        lambda source: fastaug.io.imread(source, "L", exif=True),
        lambda source: fastaug.io.lazy(source).load(),
        lambda source: np.asarray(fastaug.io.lazy(source)),
        lambda source: T.Compose([T.CenterCrop(4), T.ToTensor()])(fastaug.io.lazy(source)),
    ):
        with pytest.raises(fastaug.DecodeError) as ours:
            read(data)
        assert isinstance(ours.value, OSError)
        if issubclass(theirs.type, (OSError, ValueError)):
            assert isinstance(ours.value, theirs.type), "what caught Pillow's error has to catch ours"
        assert ours.value.__cause__ is not None and ours.value.filename is None
        assert f"{len(data)} bytes" in str(ours.value)
        with pytest.raises(fastaug.DecodeError, match=r"broken\.img") as of_file:
            read(path)
        assert of_file.value.filename == str(path)


@pytest.mark.parametrize("name", [name for name in BROKEN if name.split(",")[0] in ("JPEG", "progressive", "PNG")])
def test_parts_of_broken_images(name: str) -> None:
    """A part is no way around the error, where it is one of a file that ends too early."""
    if "garbage" in name:
        return
    data = BROKEN[name]
    for region in ((0, 0, 1, 1), (0, 0, 3, 120)):
        with pytest.raises(fastaug.DecodeError):
            fastaug.io.imread(data, region=region)


def test_words() -> None:
    """What, of which format, Pillow's words and where the core stopped."""
    with pytest.raises(fastaug.DecodeError) as caught:
        fastaug.io.imread(BROKEN["PNG, broken pixels"])
    error = caught.value
    assert error.format == "PNG" and "(PNG)" in str(error)
    assert str(error.__cause__) in str(error)
    with pytest.raises(fastaug.DecodeError, match=r"\(JPEG\): image file is truncated"):
        fastaug.io.imread(BROKEN["JPEG, half"])
    with pytest.raises(fastaug.DecodeError, match="cannot decode 29 bytes: cannot identify the image") as caught:
        fastaug.io.imread(BROKEN["text"])
    assert caught.value.format is None and caught.value.offset is None


def test_errors_pickle() -> None:
    for name in ("text", "PNG, half", "JPEG, half"):
        with pytest.raises(fastaug.DecodeError) as caught:
            fastaug.io.imread(BROKEN[name])
        caught.value.index = 7
        copy = pickle.loads(pickle.dumps(caught.value))
        assert type(copy) is type(caught.value) and str(copy) == str(caught.value)
        assert (copy.filename, copy.format, copy.offset, copy.index) == (
            None,
            caught.value.format,
            caught.value.offset,
            7,
        )
        # As a DataLoader brings an error out of a worker.
        assert str(type(caught.value)("of a worker")) == "of a worker"


def test_a_failing_worker() -> None:
    import torch

    loader = torch.utils.data.DataLoader(
        [BROKEN["PNG, half"]], batch_size=None, num_workers=1, collate_fn=fastaug.io.imread
    )
    with pytest.raises(fastaug.DecodeError, match="PNG"):
        list(loader)


def test_files_that_are_none(tmp_path: Path) -> None:
    for function in (fastaug.io.imread, fastaug.io.image_info, lambda path: fastaug.io.lazy(path).load()):
        with pytest.raises(FileNotFoundError, match="missing"):
            function(tmp_path / "missing.png")
        with pytest.raises(IsADirectoryError):
            function(tmp_path)
        with pytest.raises(ValueError, match="null"):
            function("a\0b")


def test_files_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(encoded, "read_file", refuse)
    with pytest.raises(PermissionError, match=r"secret\.png"):
        fastaug.io.imread("secret.png")


# What Pillow decodes all the same, we do.


@pytest.mark.filterwarnings("ignore")
def test_damage_that_pillow_overlooks() -> None:
    rng = np.random.default_rng(3)
    decoded = 0
    for _ in range(60):
        for whole in (JPEG, PROGRESSIVE, PNG):
            data = bytearray(whole)
            for _ in range(int(rng.integers(1, 4))):
                data[int(rng.integers(30, len(data)))] = int(rng.integers(0, 256))
            broken = bytes(data)
            try:
                expected = made.pillow(broken)
            except Exception:
                with pytest.raises(fastaug.DecodeError):
                    fastaug.io.imread(broken)
                continue
            decoded += 1
            assert made.same(fastaug.io.imread(broken), expected)
    assert decoded > 60


@pytest.mark.parametrize(
    "name", ["JPEG, half", "JPEG, no end", "progressive, half", "PNG, half", "GIF, half", "BMP, half"]
)
def test_load_truncated_images(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = BROKEN[name]
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    expected = made.pillow(data)
    assert made.same(fastaug.io.imread(data), expected)
    assert made.same(fastaug.io.imread(data, region=(2, 3, 50, 60)), expected[2:52, 3:63])
    assert made.same(np.asarray(T.CenterCrop(60)(fastaug.io.lazy(data))), expected[15:75, 30:90])


# The limit on the number of pixels.

MANY = {format: made.encode(photo("coffee", 90, 120), format) for format in ("JPEG", "PNG", "BMP", "GIF")}
READERS = {
    "imread": fastaug.io.imread,
    "part": lambda data: fastaug.io.imread(data, region=(0, 0, 1, 1)),
    "size": lambda data: fastaug.io.lazy(data).size,
    "load": lambda data: fastaug.io.lazy(data).load(),
    "info": fastaug.io.image_info,
    "batch": lambda data: fastaug.io.imread_batch([data]),
    "Compose": lambda data: T.Compose([T.CenterCrop(3)])(fastaug.io.lazy(data)),
}


@pytest.mark.parametrize("format", MANY)
@each("reader", READERS)
def test_max_image_pixels(format: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, read = MANY[format], READERS[reader]
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 90 * 120)
    read(data)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 90 * 120 - 1)
    with pytest.warns(Image.DecompressionBombWarning, match="10800 pixels.* exceeds limit of 10799"):
        read(data)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 90 * 120 // 2 - 1)
    with pytest.raises(Image.DecompressionBombError, match=r"10800 pixels.* exceeds limit of 10798"):
        read(data)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    read(data)


def test_bombs() -> None:
    for width, height in ((20000, 20000), (1 << 30, 1 << 30), ((1 << 31) - 1, 1)):
        with pytest.raises((Image.DecompressionBombError, fastaug.DecodeError)):
            fastaug.io.imread(bomb(width, height))
    size = JPEG.index(b"\xff\xc0") + 5
    with pytest.raises(Image.DecompressionBombError):
        fastaug.io.imread(JPEG[:size] + b"\xff\xdc\xff\xdc" + JPEG[size + 4 :])


def test_texts_that_inflate() -> None:
    import zlib

    packed = zlib.compress(bytes(30_000_000))
    data = PNG[:33] + made.chunk(b"zTXt", b"Comment\0\0" + packed) + PNG[33:]
    with pytest.raises(ValueError, match="Decompressed data too large") as caught:
        fastaug.io.imread(data)
    assert isinstance(caught.value, fastaug.DecodeError)


def test_unidentified() -> None:
    with pytest.raises(UnidentifiedImageError):
        fastaug.io.imread(io.BytesIO(b"nothing"))
