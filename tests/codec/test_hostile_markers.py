"""JPEG segments and PNG rows that hide what they cost, or are too short: a refusal, or Pillow's verdict."""

from __future__ import annotations

import io
import struct
import time
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from PIL import Image

import fastaug
import fastaug.io
from support.images import photo
from support.scale import cases

PHOTO = photo("ihc", 64, 48)

# What libjpeg goes over between two segments: the first has no length, others one that is less than itself.
PASSED = {
    "TEM": b"\xff\x01",
    "TEM and fill": b"\xff\x01\xff\xff",
    "APP5 of 0": b"\xff\xe5\0\0",
    "APP5 of 1": b"\xff\xe5\0\1",
    "COM of 0": b"\xff\xfe\0\0",
    "DNL of 1": b"\xff\xdc\0\1",
    "restart": b"\xff\xd3",
    "stuffing": b"\xff\0",
    "anything": b"between",
    "an end in a comment": b"\xff\xfe\0\4\xff\xd9",
}


def bomb(passed: bytes, scans: int, size: tuple[int, int] = (64, 64), mode: str = "RGB") -> bytes:
    data = made.encode(Image.new(mode, size, 40), "JPEG", progressive=True)[:-2]
    return data + (passed + data[data.rindex(b"\xff\xda") :]) * scans + b"\xff\xd9"


@pytest.mark.parametrize("name", PASSED)
def test_scans_cannot_be_hidden(name: str) -> None:
    """Neither from the core nor on the way to Pillow."""
    for mode in ("RGB", "L", "CMYK"):
        file = bomb(PASSED[name], 600, mode=mode)
        for read in (fastaug.io.imread, lambda data: fastaug.io.lazy(data, None).load()):
            with pytest.raises(fastaug.DecodeError, match="too many scans"):
                read(file)
        few = bomb(PASSED[name], 3, mode=mode)
        assert made.same(fastaug.io.imread(few), made.pillow(few))


def test_a_bomb_costs_next_to_nothing() -> None:
    """1000 scans of 9 million pixels, each of which libjpeg would go through."""
    file = bomb(PASSED["TEM and fill"], 1000, (3000, 3000))
    start = time.process_time()
    with pytest.raises(fastaug.DecodeError, match="too many scans"):
        fastaug.io.imread(file)
    # A hundredth of what it would take: not a time, but the way it is taken.
    assert time.process_time() - start < 5


SEGMENTS = {
    "JFIF": (0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
    "Adobe": (0xEE, b"Adobe\0\x64\0\0\0\0\1"),
    "ICC": (0xE2, b"ICC_PROFILE\0\1\1abcd"),
    "ICC of two": (0xE2, b"ICC_PROFILE\0\1\2abcd"),
    "Exif": (0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"),
    "XMP": (0xE1, b'http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation="6"/>'),
    "FlashPix": (0xE2, b"FPXR\0abc"),
    "Photoshop": (0xED, b"Photoshop 3.0\x008BIM\x03\xed\0\0\0\0\0\x10" + bytes(16)),
    "Photoshop of two": (
        0xED,
        b"Photoshop 3.0\x008BIM\4\4\2xy\0\0\0\0\3abc\x008BIM\x03\xed\0\0\0\0\0\x10" + bytes(16),
    ),
    "comment": (0xFE, b"abc"),
    "tables": (0xDB, b"\x03" + bytes(range(1, 65))),
}


def verdict(read: Callable[[], np.ndarray]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read().tobytes()
        except Exception:
            return None


@pytest.mark.parametrize("name", SEGMENTS)
def test_short_segments(name: str) -> None:
    """Cut anywhere, and with a length that says less than there is."""
    marker, content = SEGMENTS[name]
    data = made.encode(PHOTO, "JPEG")
    plain = data[:2] + data[4 + int.from_bytes(data[4:6], "big") :]  # without JFIF
    decoded = 0
    for size in range(len(content) + 1):
        for length in {size + 2, 2, 1, 0}:
            segment = bytes((0xFF, marker)) + length.to_bytes(2, "big") + content[:size]
            for other in (b"", segment):
                whole = plain[:2] + segment + other + plain[2:]
                expected = verdict(lambda whole=whole: made.pillow(whole))  # type: ignore[misc]
                assert verdict(lambda whole=whole: fastaug.io.imread(whole)) == expected  # type: ignore[misc]
                decoded += expected is not None
    assert decoded > len(content) // 8


def test_photoshop_of_any_sizes() -> None:
    rng = np.random.default_rng(0)
    data = made.encode(PHOTO, "JPEG")
    for _ in range(cases(300)):
        content = bytearray(SEGMENTS["Photoshop of two"][1])
        for _ in range(int(rng.integers(1, 4))):
            content[int(rng.integers(14, len(content)))] = int(rng.choice((0, 1, 2, 3, 255, rng.integers(256))))
        del content[int(rng.integers(14, len(content) + 1)) :]
        whole = data[:2] + b"\xff\xed" + (len(content) + 2).to_bytes(2, "big") + bytes(content) + data[2:]
        expected = verdict(lambda whole=whole: made.pillow(whole))  # type: ignore[misc]
        assert verdict(lambda whole=whole: fastaug.io.imread(whole)) == expected  # type: ignore[misc]


def filtered(row: int, kind: int, height: int, width: int = 48, bits: int = 8) -> bytes:
    """A PNG with one row of a filter that is none."""
    rows = bytearray(b"".join(b"\0" + bytes(width * 3 * bits // 8) for _ in range(height)))
    rows[row * (1 + width * 3 * bits // 8)] = kind
    header = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    parts = (made.chunk(b"IHDR", header), made.chunk(b"IDAT", zlib.compress(bytes(rows))), made.chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("kind", [5, 7, 255])
@pytest.mark.parametrize("mode", ["RGB", "L", "RGB;16"])
def test_filters_that_are_none(mode: str, kind: int) -> None:
    bits = 16 if mode.endswith("16") else 8
    for row in (0, 3, 31, 35, 40, 63):
        data = filtered(row, kind, 64, bits=bits)
        with pytest.raises(OSError):
            Image.open(io.BytesIO(data)).load()
        for region in ((32, 0, 8, 48), (39, 5, 1, 1), None):
            with pytest.raises(fastaug.DecodeError):
                fastaug.io.imread(data, mode, region=region)


def test_filters_above_a_region_of_a_large_file() -> None:
    for row in (0, 500, 1199):
        with pytest.raises(fastaug.DecodeError):
            fastaug.io.imread(filtered(row, 5, 2000), region=(1200, 0, 8, 48))
