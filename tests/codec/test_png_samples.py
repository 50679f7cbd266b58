"""PNG files of a palette, of fewer than 8 bits and of 16: Pillow's pixels, natively."""

from __future__ import annotations

import io
import itertools
import warnings
from collections.abc import Callable
from pathlib import Path

import encoded_images as made
import image_files
import numpy as np
import pytest
import torch
from image_files import DEPTHS, joined, png
from PIL import Image

import fastaug.io
import fastaug.transforms as T
from fastaug import _C
from support.differences import each, grouped

NATIVE = ("L", "LA", "RGB", "RGBA")
MODES = (None, *NATIVE, "1", "P", "I", "F", "HSV", "CMYK")
WIDTHS = [*range(1, 18), 23, 64, 131]

PALETTE = np.random.default_rng(0).integers(0, 256, 768, np.uint8).tobytes()

#: Type of colour and depth.
KINDS = [(colour, depth) for colour, depths in DEPTHS.items() for depth in depths]


def file(colour: int, depth: int, width: int, height: int, *, entries: int = 256, alpha: bytes | None = None) -> bytes:
    before: list[tuple[bytes, bytes]] = []
    if colour == 3:
        before.append((b"PLTE", PALETTE[: 3 * entries]))
    if alpha is not None:
        before.append((b"tRNS", alpha))
    return png(width, height, colour, depth, before=tuple(before), parts=1 + width % 3)


def answer(call: Callable[[], np.ndarray]) -> tuple[np.ndarray | Exception, list[str]]:
    """Return an array, or an error; and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: np.ndarray | Exception = call()
        except Exception as error:
            result = error
    return result, [str(one.message) for one in caught]


def check(data: bytes, mode: str | None) -> None:
    expected, warned = answer(lambda: made.pillow(data, mode))
    ours, told = answer(lambda: fastaug.io.imread(data, mode))
    assert told == warned
    if isinstance(expected, Exception):
        # Pillow's SyntaxError and others become the OSError of broken files.
        assert isinstance(ours, type(expected) if isinstance(expected, (OSError, ValueError)) else OSError)
        return
    assert isinstance(ours, np.ndarray) and made.same(ours, expected)
    assert ours.flags.writeable and ours.flags.c_contiguous


def decoded_natively(data: bytes, mode: str | None) -> bool:
    handle = fastaug.io.lazy(data, mode)
    return handle.native or handle.as_stored


@grouped({f"{colour}-{depth}": (colour, depth) for colour, depth in KINDS})
def test_all_kinds_sizes_and_modes(name: str) -> None:
    colour, depth = map(int, name.split("-"))
    for width in WIDTHS:
        data = file(colour, depth, width, 1 + width % 7)
        for mode in MODES:
            check(data, mode)


@each(("colour", "depth"), KINDS)
def test_they_are_native(colour: int, depth: int) -> None:
    data = file(colour, depth, 21, 9)
    for mode in NATIVE if colour in (0, 3, 4) else ("RGB", "RGBA"):
        handle = fastaug.io.lazy(data, mode)
        assert handle.native
        handle.source()
    stored = Image.open(io.BytesIO(data)).mode
    assert decoded_natively(data, None) and decoded_natively(data, stored)
    assert fastaug.io.image_info(data).bits == depth and fastaug.io.image_info(data).mode == stored


@each(("colour", "depth"), KINDS)
def test_regions(colour: int, depth: int) -> None:
    width, height = 37, 29
    data = file(colour, depth, width, height)
    rng = np.random.default_rng(depth)
    for mode in (None, *NATIVE):
        expected = made.pillow(data, mode)
        for _ in range(12):
            top, left = int(rng.integers(height)), int(rng.integers(width))
            rows, columns = int(rng.integers(1, height - top + 1)), int(rng.integers(1, width - left + 1))
            part = expected[top : top + rows, left : left + columns]
            assert made.same(fastaug.io.imread(data, mode, (top, left, rows, columns)), part)


# Transparency.

ALPHAS = {
    "none": b"",
    "one": b"\xff\xff\0\xff",
    "the first": b"\0",
    "the first of two": b"\0\xff",
    "two": b"\0\xff\0",
    "opaque": b"\xff\xff",
    "partly": b"\x80\0\xff\x0a",
    "one and a line feed": b"\xff\0\n",
    "one, more and a line feed": b"\xff\0\xff\xff\n",
    "one and two line feeds": b"\xff\0\n\n",
    "two and a line feed": b"\0\0\n",
    "a line feed": b"\n",
    "all": bytes(range(256)),
    "the last": b"\xff" * 255 + b"\0",
    "too many": bytes(range(256)) + b"\1",
    "one of too many": b"\xff" * 256 + b"\0",
    "one, too many": b"\0" + b"\xff" * 256,
}


@grouped(ALPHAS)
@each("depth", DEPTHS[3])
def test_transparent_palettes(name: str, depth: int) -> None:
    data = file(3, depth, 19, 11, alpha=ALPHAS[name])
    for mode in MODES:
        check(data, mode)
    native = len(ALPHAS[name]) <= 256
    assert all(decoded_natively(data, mode) == native for mode in (None, "RGBA", "LA"))
    # Pillow warns of what it drops, or remembers the transparent colour.
    assert not any(decoded_natively(data, mode) for mode in ("RGB", "L"))


def test_every_number_of_alphas() -> None:
    for length in range(0, 257, 5):
        alpha = np.random.default_rng(length).integers(0, 256, length, np.uint8).tobytes()
        data = file(3, 8, 40, 9, alpha=alpha)
        for mode in (None, "RGBA", "LA", "RGB"):
            check(data, mode)


@each("colour", [0, 2])
@each("depth", [1, 2, 4, 8, 16])
def test_transparent_colours_are_pillows(colour: int, depth: int) -> None:
    if depth not in DEPTHS[colour]:
        return
    data = file(colour, depth, 15, 6, alpha=b"\0\1" * (3 if colour == 2 else 1))
    for mode in MODES:
        check(data, mode)
    assert not decoded_natively(data, None) and not decoded_natively(data, "RGBA")


def test_a_transparent_colour_is_remembered() -> None:
    data = file(3, 8, 19, 11, alpha=b"\xff\0")
    ours, theirs = fastaug.io.lazy(data).load(), Image.open(io.BytesIO(data)).convert("RGB")
    assert ours.info["transparency"] == theirs.info["transparency"]
    assert made.same(np.asarray(ours.convert("RGBA")), np.asarray(theirs.convert("RGBA")))
    handle = fastaug.io.lazy(data).convert("RGBA")
    assert made.same(np.asarray(handle), np.asarray(theirs.convert("RGBA")))


# Palettes.


@each("depth", DEPTHS[3])
def test_indices_beyond_the_palette(depth: int) -> None:
    for entries in (1, 2, 3, 5, 16, 100, 255, 256):
        data = file(3, depth, 33, 12, entries=entries, alpha=None if entries % 2 else b"\x07\xff\x80")
        for mode in MODES:
            check(data, mode)


def broken_palettes() -> dict[str, bytes]:
    parts = image_files.chunks_of(file(3, 4, 23, 14, entries=16))
    header, palette, *rest = parts
    pixels, end = rest[:-1], rest[-1]
    alpha = (b"tRNS", b"\x80\0\x07")
    files = {
        "missing": [header, *rest],
        "late": [header, *pixels, palette, end],
        "between": [header, palette, pixels[0], alpha, *pixels[1:], end],
        "twice": [header, palette, (b"PLTE", bytes(48)), *rest],
        "again": [header, palette, *pixels, (b"PLTE", bytes(48)), end],
        "alphas late": [header, palette, *pixels, alpha, end],
        "alphas first": [header, alpha, palette, *rest],
        "alphas twice": [header, palette, alpha, (b"tRNS", b"\xff\0"), *rest],
        "animated": [header, (b"acTL", b"\0\0\0\1\0\0\0\0"), palette, *rest],
        "text behind": [header, palette, *pixels, (b"tEXt", b"key\0value"), end],
        "text between": [header, (b"tEXt", b"key\0value"), palette, (b"gAMA", b"\0\0\xb1\x8f"), alpha, *rest],
    }
    for size in (0, 1, 2, 4, 47, 49, 767, 769, 771, 1024, 1027, 5000):
        files[f"{size} bytes"] = [header, (b"PLTE", bytes(k % 251 for k in range(size))), *rest]
    made_files = {name: joined(chunks) for name, chunks in files.items()}
    sound = joined(parts)
    at = sound.index(b"PLTE") + 4
    made_files["bad checksum"] = image_files.patched(sound, at + 48, 1, 2, 3, 4)
    return made_files


@each("name", list(broken_palettes()))
def test_broken_palettes(name: str) -> None:
    data = broken_palettes()[name]
    for mode in MODES:
        check(data, mode)
    assert _C.Encoded(data).native == (name in ("alphas first", "text behind", "text between"))


@each(("colour", "depth"), KINDS)
def test_broken_files(colour: int, depth: int) -> None:
    width, height = 21, 13
    sound = file(colour, depth, width, height)
    raw = image_files.rows(width, height, colour, depth, width)
    row = len(raw) // height
    before = ((b"PLTE", PALETTE[: 3 << depth]),) if colour == 3 else ()
    files = [sound[:size] for size in range(0, len(sound), 7)]
    files += [
        png(width, height, colour, depth, before=before, data=data)
        for data in (raw[:-1], raw[:-row], raw + b"x", raw + raw, image_files.patched(raw, 3 * row, 5), b"")
    ]
    files.append(image_files.patched(sound, len(sound) // 2, 1, 2, 3))
    for data in files:
        for mode in (None, "RGB", "RGBA", "L"):
            check(data, mode)


@each("depth", [0, 3, 5, 6, 7, 9, 16, 32])
def test_depths_that_a_palette_cannot_have(depth: int) -> None:
    parts = image_files.chunks_of(file(3, 8, 9, 9))
    header = image_files.patched(parts[0][1], 8, depth)
    check(joined([(b"IHDR", header), *parts[1:]]), None)


@each(("colour", "depth"), KINDS)
def test_interlaced_files_are_pillows(colour: int, depth: int) -> None:
    data = png(19, 13, colour, depth, interlaced=True)
    assert not decoded_natively(data, None) and not decoded_natively(data, "RGB")
    for mode in MODES:
        check(data, mode)


# Ways of reading.


@each(("colour", "depth"), KINDS)
@each("orientation", [1, 3, 6])
def test_oriented(colour: int, depth: int, orientation: int) -> None:
    parts = image_files.chunks_of(file(colour, depth, 23, 14))
    data = joined([parts[0], (b"eXIf", image_files.exif(orientation)[6:]), *parts[1:]])
    for mode in (None, "RGB"):
        expected = made.pillow(data, mode, exif=True)
        assert made.same(fastaug.io.imread(data, mode, exif=True), expected)
        assert made.same(fastaug.io.imread(data, mode, (2, 3, 9, 7), exif=True), expected[2:11, 3:10])


@each(("colour", "depth"), KINDS)
def test_into_an_array(colour: int, depth: int) -> None:
    data = file(colour, depth, 23, 14)
    for mode in (None, "RGB", "LA"):
        expected = made.pillow(data, mode)
        room = np.zeros((20, 40, *expected.shape[2:]), expected.dtype)
        for out in (np.empty_like(expected), room[3:17, 5:28], room[:14, :23][::-1], np.zeros_like(expected.T).T):
            assert fastaug.io.imread(data, mode, out=out) is out
            assert made.same(out, expected)
    with pytest.raises(ValueError, match="out should be"):
        fastaug.io.imread(data, None, out=np.empty((14, 24), np.float64))
    with pytest.raises(TypeError, match="out should be an ndarray"):
        fastaug.io.imread(data, None, out=bytearray(14 * 23))


@each(("colour", "depth"), KINDS)
def test_floats(colour: int, depth: int) -> None:
    data = file(colour, depth, 23, 14)
    for mode in (None, "RGB", "L"):
        stored = made.pillow(data, mode)
        if stored.dtype == np.bool_:
            with pytest.raises(ValueError, match="samples of bool"):
                fastaug.io.imread(data, mode, dtype=np.float32)
            continue
        largest = np.float32(np.iinfo(stored.dtype).max)
        assert made.same(fastaug.io.imread(data, mode, dtype=np.float32), stored.astype(np.float32) / largest)


@each(("colour", "depth"), KINDS)
def test_handles(colour: int, depth: int) -> None:
    """A handle in the file's mode, with its palette and metadata, and its conversions one after the other."""
    data = file(colour, depth, 23, 14)
    theirs = Image.open(io.BytesIO(data))
    handle = fastaug.io.lazy(data, None)
    assert (handle.size, handle.mode, handle.getbands()) == (theirs.size, theirs.mode, theirs.getbands())
    for _ in range(3):
        assert made.same(np.asarray(handle), np.asarray(theirs))
        loaded = handle.load()
        assert loaded.mode == theirs.mode and loaded.tobytes() == theirs.tobytes()
        assert loaded.getpalette() == theirs.getpalette()
    assert handle.info == theirs.info and handle.getpixel((3, 4)) == theirs.getpixel((3, 4))
    for modes in itertools.product(("RGB", "L", "P", "1", "RGBA"), ("L", "RGBA", "HSV", "1")):
        one, other = fastaug.io.lazy(data, None), theirs
        for mode in modes:
            if (other.mode, mode) == ("P", "HSV"):
                break
            one, other = one.convert(mode), other.convert(mode)
        assert made.same(np.asarray(one), np.asarray(other)), modes


@each(("colour", "depth"), KINDS)
def test_pipelines(colour: int, depth: int, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(file(colour, depth, 83, 61))
    steps = [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()]
    for mode in ("RGB", "L", None):
        opened = Image.open(path)
        torch.manual_seed(3)
        expected = T.Compose(steps)(opened if mode is None else opened.convert(mode))
        for source in (path, path.read_bytes(), fastaug.io.lazy(path, mode)):
            torch.manual_seed(3)
            assert torch.equal(T.Compose([T.Decode(mode), *steps])(source), expected)
    decode = T.Compose([T.Decode(), T.ToTensor()])
    batch = decode.batch([path, path.read_bytes()])
    assert torch.equal(batch[0], batch[1])
    assert torch.equal(batch[0], T.ToTensor()(Image.open(path).convert("RGB")))


def test_limits_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of one bit and 33 MB of rows in 40 KB: its pixels are counted before there is memory for them."""
    data = png(16384, 16384, 3, 1, data=bytes(16384 * 2049))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1 << 20)
    with pytest.raises(Image.DecompressionBombError):
        fastaug.io.imread(data, None)
