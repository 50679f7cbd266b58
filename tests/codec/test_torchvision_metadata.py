"""What torchvision's decoders make of metadata: its rules of orientation, and its patience with other chunks."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision.io
from PIL import Image

import fastaug.io
from support.images import photo
from support.scale import cases

PHOTO = photo("coffee", 12, 20)
CASES = cases(400)


def tensor(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def result(decode: Callable[..., torch.Tensor], data: bytes, *arguments: Any, **options: Any) -> torch.Tensor | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return decode(tensor(data), *arguments, **options)
        except RuntimeError:
            return None


def check(data: bytes, mode: str = "RGB", **options: Any) -> bool:
    """Whether torchvision decodes it; then so do we, and to the same."""
    theirs = result(torchvision.io.decode_image, data, mode, **options)
    ours = result(fastaug.io.decode_image, data, mode, **options)
    assert (theirs is None) == (ours is None)
    if theirs is not None and ours is not None:
        assert torch.equal(ours, theirs)
    return theirs is not None


def tiff(order: str, kind: int, value: int, tags: int = 1, tag: int = 0x112, count: int = 1) -> bytes:
    """A directory whose last tag says the orientation."""
    mark = {"<": b"II", ">": b"MM"}[order]
    entries = b"".join(struct.pack(f"{order}HHIHH", 0x100 + k, 3, 1, 7, 0) for k in range(tags - 1))
    held = {1: f"{order}Bxxx", 3: f"{order}Hxx", 4: f"{order}I", 8: f"{order}hxx", 9: f"{order}i"}[kind]
    entries += struct.pack(f"{order}HHI", tag, kind, count) + struct.pack(held, value)
    return mark + struct.pack(f"{order}HI", 42, 8) + struct.pack(f"{order}H", tags) + entries + bytes(4)


def jpeg(*segments: bytes) -> bytes:
    data = made.encode(PHOTO, "JPEG")
    packed = (b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment for segment in segments)
    return data[:2] + b"".join(packed) + data[2:]


def png(*chunks: bytes, behind: bytes = b"", between: bytes = b"", mode: str = "RGB", **options: Any) -> bytes:
    data = made.encode(PHOTO.convert(mode), "PNG", **options)
    return data[:33] + b"".join(chunks) + data[33:-12] + between + behind + data[-12:]


def wrong(chunk: bytes) -> bytes:
    """With another checksum."""
    return chunk[:-1] + bytes([chunk[-1] ^ 1])


XMP = b'<x tiff:Orientation="6"/>'
RAW = b"\nexif\n%d\n"


@pytest.mark.parametrize("order", ["<", ">"])
def test_types_and_values_of_the_tag(order: str) -> None:
    turned = 0
    for kind in (1, 3, 4, 8, 9):
        for value in range(10):
            for tags in (1, 4):
                content = tiff(order, kind, value, tags)
                assert check(jpeg(b"Exif\0\0" + content), apply_exif_orientation=True)
                assert check(png(made.chunk(b"eXIf", content)), apply_exif_orientation=True)
                decoded = fastaug.io.decode_image(tensor(jpeg(b"Exif\0\0" + content)), "RGB", True)
                turned += decoded.shape[1] == 20
    assert turned > 10


def test_sources_of_the_tag() -> None:
    exif = tiff("<", 3, 6)
    first, second = b"Exif\0\0" + exif, b"Exif\0\0" + tiff("<", 3, 3)
    raw = RAW % (len(exif) + 6) + (b"Exif\0\0" + exif).hex().encode() + b"\n"
    files = {
        "XMP alone": jpeg(b"http://ns.adobe.com/xap/1.0/\0" + XMP),
        "XMP first": jpeg(b"http://ns.adobe.com/xap/1.0/\0" + XMP, first),
        "two": jpeg(first, second),
        "two others": jpeg(second, first),
        "another name": jpeg(b"abcdef" + exif),
        "nothing": jpeg(b"Exif\0\0"),
        "one byte": jpeg(b"Exif\0\0I"),
        "fill before it": made.encode(PHOTO, "JPEG")[:2] + b"\xff\xff" + jpeg(first)[2:],
        "an empty segment before it": made.encode(PHOTO, "JPEG")[:2] + b"\xff\xe5\0\1" + jpeg(first)[2:],
        "PNG XMP": png(made.chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)),
        "PNG behind": png(behind=made.chunk(b"eXIf", exif)),
        "PNG before": png(made.chunk(b"eXIf", exif)),
        "PNG two": png(made.chunk(b"eXIf", exif), made.chunk(b"eXIf", tiff("<", 3, 3))),
        "PNG none and one": png(made.chunk(b"eXIf", b"none"), made.chunk(b"eXIf", exif)),
        "PNG wrong and one": png(wrong(made.chunk(b"eXIf", tiff("<", 3, 3))), made.chunk(b"eXIf", exif)),
        "PNG with its prefix": png(made.chunk(b"eXIf", b"Exif\0\0" + exif)),
        "PNG raw": png(made.chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(raw))),
    }
    shapes = {}
    for name, data in files.items():
        for mode in ("RGB", "UNCHANGED", "GRAY"):
            assert check(data, mode, apply_exif_orientation=True), name
            assert check(data, mode), name
        shapes[name] = fastaug.io.decode_image(tensor(data), "RGB", True).shape[1]
    assert {name for name, height in shapes.items() if height == 20} >= {"two", "another name", "PNG before"}
    assert {name for name, height in shapes.items() if height == 12} >= {"XMP alone", "XMP first", "PNG behind"}


def test_directories_of_any_damage() -> None:
    rng = np.random.default_rng(0)
    turned = 0
    for _ in range(CASES):
        content = bytearray(tiff("<>"[int(rng.integers(2))], int(rng.choice((3, 4))), 6, int(rng.integers(1, 4))))
        for _ in range(int(rng.integers(0, 3))):
            content[int(rng.integers(len(content)))] = int(rng.choice((0, 1, 2, 8, 255, rng.integers(256))))
        if rng.random() < 0.3:
            del content[int(rng.integers(len(content))) :]
        data = jpeg(b"Exif\0\0" + bytes(content))
        assert check(data, apply_exif_orientation=True)
        assert check(png(made.chunk(b"eXIf", bytes(content))), apply_exif_orientation=True)
        turned += fastaug.io.decode_image(tensor(data), "RGB", True).shape[1] == 20
    assert turned > CASES // 8


TEXT = zlib.compress(bytes(3_000_000))
HARMLESS = {
    "profile that is large": made.chunk(b"iCCP", b"icc\0\0" + TEXT),
    "profile of wrong checksum": wrong(made.chunk(b"iCCP", b"icc\0\0" + zlib.compress(b"abc"))),
    "profile without a name": made.chunk(b"iCCP", b"abc"),
    "text that is large": made.chunk(b"zTXt", b"a\0\0" + TEXT),
    "text of wrong checksum": wrong(made.chunk(b"tEXt", b"a\0b")),
    "packed text of wrong checksum": wrong(made.chunk(b"zTXt", b"a\0\0" + zlib.compress(b"b"))),
    "packed text that is none": made.chunk(b"zTXt", b"a\0\0none"),
    "international text that is large": made.chunk(b"iTXt", b"a\0\1\0\0\0" + TEXT),
    "international text of wrong checksum": wrong(made.chunk(b"iTXt", b"a\0\0\0\0\0b")),
    "gamma of wrong checksum": wrong(made.chunk(b"gAMA", struct.pack(">I", 30000))),
    "short gamma": made.chunk(b"gAMA", b"ab"),
    "sRGB of wrong checksum": wrong(made.chunk(b"sRGB", b"\0")),
    "short size of pixels": made.chunk(b"pHYs", b"abc"),
    "animation": made.chunk(b"acTL", struct.pack(">II", 2, 0)),
    "unknown": made.chunk(b"abCd", b"anything"),
    "unknown of wrong checksum": wrong(made.chunk(b"abCd", b"anything")),
    "many texts": made.chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1_000_000))) * 70,
}


@pytest.mark.parametrize("name", HARMLESS)
def test_chunks_that_do_no_harm(name: str) -> None:
    for mode in ("RGB", "RGBA", "L", "LA", "P", "1"):
        for data in (png(HARMLESS[name], mode=mode), png(behind=HARMLESS[name], mode=mode)):
            for wanted in ("RGB", "GRAY"):
                assert check(data, wanted), (mode, wanted)
    samples = made.samples(12, 20, 3)
    assert check(made.png(samples, 2, 16, HARMLESS[name]), "UNCHANGED")


def test_transparency_of_a_palette_stays() -> None:
    image = PHOTO.convert("P")
    image.info["transparency"] = bytes(range(200))
    for chunk in (b"", HARMLESS["text of wrong checksum"], HARMLESS["profile that is large"]):
        data = made.encode(image, "PNG")
        at = data.index(b"tRNS") - 4
        assert check(data[:at] + chunk + data[at:], "RGBA")


def test_what_torchvision_refuses_or_crashes_at_is_an_error() -> None:
    """It is not asked here: some of these end its process."""
    critical = made.chunk(b"IDAT", b"abc")
    for data in (
        png(made.chunk(b"ABCD", b"")),
        png(wrong(critical)),
        png(made.chunk(b"tEXt", b"a\0" + bytes(8_000_001)), wrong(made.chunk(b"tEXt", b"a\0b"))),
        png(HARMLESS["text of wrong checksum"])[:-40],
        png(HARMLESS["profile that is large"], mode="P").replace(b"PLTE", b"PLTF"),
    ):
        assert result(fastaug.io.decode_image, data, "RGB") is None


def test_texts_up_to_libpngs_limit() -> None:
    for size in (7_999_990, 7_999_998):
        assert check(png(made.chunk(b"tEXt", b"a\0" + bytes(size)), HARMLESS["text of wrong checksum"]))


def test_pillows_rules_are_those_of_imread() -> None:
    """There XMP counts, and what lies behind the pixels."""
    for data in (jpeg(b"http://ns.adobe.com/xap/1.0/\0" + XMP), png(behind=made.chunk(b"eXIf", tiff("<", 3, 6)))):
        assert made.same(fastaug.io.imread(data, exif=True), made.pillow(data, exif=True))
        assert Image.open(io.BytesIO(data)).getexif().get(0x112) in (None, 6)
