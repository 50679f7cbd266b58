"""imread() in OpenCV's order of channels and in float32: what NumPy makes of its uint8 and uint16 arrays."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fastaug.io import imread, imread_batch
from support.differences import each
from support.images import noise, photo

FORMATS: dict[str, dict[str, Any]] = {"PNG": {}, "JPEG": {"quality": 95}, "TIFF": {}, "WEBP": {"lossless": True}}
MODES = ["RGB", "RGBA", "L", "LA", "BGR", "BGRA", "CMYK"]
PLAIN = {"BGR": "RGB", "BGRA": "RGBA", "BGR;16": "RGB;16", "BGRA;16": "RGBA;16"}


def encoded(image: Image.Image, name: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, name, **options)
    return file.getvalue()


def expected(array: np.ndarray, mode: str, *, floats: bool) -> np.ndarray:
    """As code for OpenCV's images writes it."""
    if mode in PLAIN:
        array = array[:, :, [2, 1, 0, 3][: array.shape[2]]]
    if not floats:
        return array
    return array.astype(np.float32) / (255.0 if array.dtype == np.uint8 else 65535.0)


def same(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.dtype == wanted.dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", FORMATS)
@each("size", [(1, 1), (1, 7), (16, 15), (33, 130)])
@each("mode", MODES)
@each("floats", [False, True])
def test_samples(size: tuple[int, int], name: str, mode: str, floats: bool) -> None:
    data = encoded(photo("coffee", *size), name, **FORMATS[name])
    wanted = expected(np.asarray(Image.open(io.BytesIO(data)).convert(PLAIN.get(mode, mode))), mode, floats=floats)
    got = imread(data, mode, dtype=np.float32 if floats else None)
    assert same(got, wanted)
    assert got.flags.c_contiguous and got.flags.writeable and got.flags.owndata


@pytest.mark.parametrize("mode", ["BGR", "RGB", "L"])
def test_all_samples_there_are(mode: str) -> None:
    """Each of 256 values in each channel, divided as NumPy divides."""
    values = np.arange(256, dtype=np.uint8)
    image = np.stack([values, values[::-1], np.roll(values, 77)], axis=-1)[None]
    data = encoded(Image.fromarray(image), "PNG")
    wanted = np.asarray(Image.fromarray(image).convert(PLAIN.get(mode, mode)))
    assert same(imread(data, mode, dtype="float32"), expected(wanted, mode, floats=True))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_regions_and_orientations(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(photo("coffee", 30, 40), "JPEG", quality=90, exif=exif)
    whole = imread(data, exif=True)
    wanted = expected(whole[3:14, 5:22], "BGR", floats=True)
    assert same(imread(data, "BGR", (3, 5, 11, 17), True, dtype=np.float32), wanted)


def png_16(samples: np.ndarray, colour: int) -> bytes:
    """A PNG file of 16 bits a sample, HWC."""
    height, width, _ = samples.shape
    rows = samples.astype(">u2").reshape(height, -1)
    body = b"".join(b"\0" + row.tobytes() for row in rows)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)), (b"IDAT", zlib.compress(body)))
    whole = b"\x89PNG\r\n\x1a\n"
    for kind, content in (*chunks, (b"IEND", b"")):
        whole += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return whole


@pytest.mark.parametrize("mode", ["RGB;16", "BGR;16", "RGBA;16", "BGRA;16"])
def test_16_bits(mode: str) -> None:
    samples = np.random.default_rng(3).integers(0, 65536, (9, 13, 3), np.uint16)
    samples[0, :2] = (0, 65535, 1), (65535, 65534, 32768)
    data = png_16(samples, 2)
    stored = imread(data, PLAIN.get(mode, mode))
    assert stored.dtype == np.uint16 and np.array_equal(stored[:, :, :3], samples)
    for floats in (False, True):
        wanted = expected(stored, mode, floats=floats)
        got = imread(data, mode, dtype=np.float32 if floats else None)
        assert same(got, wanted)
        assert got.flags.c_contiguous
        out = np.empty_like(wanted)
        assert imread(data, mode, out=out, dtype=np.float32 if floats else None) is out
        assert same(out, wanted)


def test_16_bits_of_gray() -> None:
    samples = np.random.default_rng(4).integers(0, 65536, (9, 13, 1), np.uint16)
    wanted = samples[:, :, 0].astype(np.float32) / 65535.0
    assert same(imread(png_16(samples, 0), "I;16", dtype=np.float32), wanted)


@pytest.mark.parametrize("name", FORMATS)
@each("kind", ["plain", "part", "planes", "upside down", "odd address"])
def test_out(kind: str, name: str) -> None:
    data = encoded(photo("coffee", 21, 34), name, **FORMATS[name])
    wanted = imread(data, "BGR").astype(np.float32) / 255.0
    room = np.full((23, 40, 3), 9, np.float32)
    memory = np.zeros(1 + 4 * wanted.size, np.uint8)
    out = {
        "plain": np.empty(wanted.shape, np.float32),
        "part": room[1:22, 2:36],
        "planes": np.empty((3, 21, 34), np.float32).transpose(1, 2, 0),
        "upside down": np.empty(wanted.shape, np.float32)[::-1],
        "odd address": memory[1:].view(np.float32).reshape(wanted.shape),
    }[kind]
    assert imread(data, "BGR", out=out, dtype=np.float32) is out
    assert np.array_equal(out, wanted)
    if kind == "part":
        room[1:22, 2:36] = 9
        assert (room == 9).all()


def test_npy_files() -> None:
    pixels = noise(12, 17, 3, 5)
    file = io.BytesIO()
    np.save(file, pixels)
    assert same(imread(file.getvalue(), "BGR", dtype=np.float32), expected(pixels, "BGR", floats=True))


def test_many() -> None:
    files = [encoded(photo("coffee", 20 + k, 30), "JPEG", quality=80) for k in range(4)]
    for data, got in zip(files, imread_batch(files, "BGR", num_threads=2, dtype=np.float32)):
        assert same(got, expected(imread(data), "BGR", floats=True))


def test_refusals() -> None:
    data = encoded(photo("coffee", 8, 9), "PNG")
    with pytest.raises(ValueError, match=r"dtype should be None or numpy\.float32, got float64"):
        imread(data, dtype=np.float64)
    with pytest.raises(TypeError, match=r"dtype should be None or numpy\.float32, got 'pixels'"):
        imread(data, dtype="pixels")
    with pytest.raises(ValueError, match="modes of 8 or 16 bits, but this one has samples of int32"):
        imread(data, "I", dtype=np.float32)
    with pytest.raises(ValueError, match=r"out should be float32 of shape \(8, 9, 3\), got uint8"):
        imread(data, "BGR", out=np.empty((8, 9, 3), np.uint8), dtype=np.float32)
    with pytest.raises(ValueError, match="mode 'RGB;16' is for PNG files of 16 bits"):
        imread(data, "BGR;16")
