"""Slides that are broken, hostile or of another kind, and arguments that are none."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from image_files import encode
from slide_files import LAYOUTS, Layout, places, said_of, tifffile, write

import fastaug
import fastaug.transforms as T
from fastaug import _C
from fastaug.io import Slide
from support.differences import each
from support.images import photo

OFFSETS, SIZES = 324, 325  # the tags
BAD = 5  # the tile that is broken: column 1, row 1 of four columns


def overwritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Other bytes in the place of the tile."""
    offset, size = places(path)[BAD]
    data = bytearray(path.read_bytes())
    tile = change(bytes(data[offset : offset + size]))
    assert len(tile) <= size
    data[offset : offset + len(tile)] = tile
    path.write_bytes(data)
    said_of(path, SIZES, lambda numbers: numbers.__setitem__(BAD, len(tile)))


def number(tag: int, value: int) -> Callable[[Path], None]:
    return lambda path: said_of(path, tag, lambda numbers: numbers.__setitem__(BAD, value))


BROKEN: dict[str, Callable[[Path], None]] = {
    "truncated": lambda path: overwritten(path, lambda tile: tile[: len(tile) // 2]),
    "zeros": lambda path: overwritten(path, lambda tile: bytes(len(tile))),
    "empty": number(SIZES, 0),
    "a byte": number(SIZES, 1),
    "no end": lambda path: overwritten(path, lambda tile: tile[:-2]),
    "smaller": lambda path: overwritten(path, lambda tile: encode(photo("ihc", 47, 64), "JPEG", quality=5)),
    "larger": lambda path: overwritten(path, lambda tile: encode(photo("ihc", 48, 80), "JPEG", quality=1)),
    "a bomb": lambda path: overwritten(path, lambda tile: frame(tile, 65500, 65500)),
    "behind the end": number(OFFSETS, 2**31),
    "too long": number(SIZES, 2**31),
    "nearly too long": lambda path: number(SIZES, os.path.getsize(path) - places(path)[BAD][0] + 1)(path),
    "another format": lambda path: overwritten(path, lambda tile: encode(photo("ihc", 4, 4), "PNG")),
}


def frame(tile: bytes, height: int, width: int) -> bytes:
    at = tile.index(b"\xff\xc0")
    return tile[: at + 5] + struct.pack(">HH", height, width) + tile[at + 9 :]


@pytest.mark.parametrize("name", BROKEN)
def test_broken_tiles(name: str, tmp_path: Path) -> None:
    path = tmp_path / "slide.tif"
    levels = write(path, LAYOUTS["4:2:0"]())
    BROKEN[name](path)
    slide = Slide(path)
    words = f"cannot decode {path}: tile in column 1, row 1 of level 0: "
    handle = slide.lazy(0, 0, (128, 96))
    crop = T.Compose([T.RandomCrop(90), T.ToTensor()])
    for call in (
        lambda: slide.read(0, 0, (128, 96)),
        lambda: slide.read(64, 48, (1, 1)),
        lambda: np.asarray(handle),
        lambda: handle.load(),
        lambda: handle.convert("L").load(),
        lambda: crop(handle),
        lambda: crop(slide.lazy(30, 40, (90, 90))),
    ):
        with pytest.raises(fastaug.DecodeError) as caught:
            call()
        assert str(caught.value).startswith(words) and len(str(caught.value)) > len(words)
        assert caught.value.filename == str(path)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(fastaug.DecodeError) as caught:
        crop.batch([slide.lazy(0, 0, (90, 90), 1), handle])
    assert words in str(caught.value)
    assert made.same(slide.read(0, 0, (64, 96)), levels[0][:96, :64])
    assert made.same(slide.read(0, 0, (58, 37), 1), levels[1])


def test_edges_that_are_cut_off(tmp_path: Path) -> None:
    """Some writers encode no more of the last tiles than there is."""
    image = photo("ihc", 60, 100)
    parts = [image.crop(box) for box in ((0, 0, 64, 48), (64, 0, 100, 48), (0, 48, 64, 60), (64, 48, 100, 60))]
    streams = [encode(part, "JPEG", subsampling=2) for part in parts]
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        options: dict[str, Any] = {"photometric": "ycbcr", "subsampling": (2, 2), "compression": "jpeg"}
        writer.write(iter(streams), shape=(60, 100, 3), dtype=np.uint8, tile=(48, 64), metadata=None, **options)
    top, bottom = (np.hstack([made.pillow(streams[k]), made.pillow(streams[k + 1])]) for k in (0, 2))
    assert made.same(Slide(tmp_path / "a.tif").read(0, 0, (100, 60)), np.vstack([top, bottom]))


def test_cut_short_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "slide.tif"
    write(path, LAYOUTS["4:2:0"]())
    slide = Slide(path)
    first = slide.read(0, 0, (64, 48))
    os.truncate(path, places(path)[0][0] + places(path)[0][1])
    assert made.same(slide.read(0, 0, (64, 48)), first)
    with pytest.raises(fastaug.DecodeError, match="column 1, row 0 of level 0: the file ends before it does"):
        slide.read(0, 0, (65, 48))
    os.truncate(path, 0)
    with pytest.raises(fastaug.DecodeError, match="column 0, row 0 of level 0: the file ends before it does"):
        slide.read(0, 0, (64, 48))


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_broken_for_tifffile(compression: str | None, tmp_path: Path) -> None:
    path = tmp_path / "slide.tif"
    pixels = np.asarray(photo("ihc", 90, 200))
    tifffile.imwrite(path, pixels, photometric="rgb", tile=(48, 64), compression=compression)
    said_of(path, SIZES, lambda numbers: numbers.__setitem__(BAD, 40))
    slide = Slide(path)
    assert made.same(slide.read(0, 0, (64, 90)), pixels[:, :64])
    for call in (
        lambda: slide.read(0, 0, (200, 90)),
        lambda: np.asarray(slide.lazy(0, 0, (200, 90))),
        lambda: T.CenterCrop(60)(slide.lazy(0, 0, (200, 90))),
        lambda: T.Compose([T.CenterCrop(60), T.ToTensor()]).batch([slide.lazy(0, 0, (200, 90))]),
    ):
        with pytest.raises(fastaug.DecodeError, match="column 1, row 1 of level 0: "):
            call()


# Files that are no slides.


def test_no_tiff(tmp_path: Path) -> None:
    for data in (b"", b"II", b"II*\0", b"II*\0\xff\xff\xff\xff", bytes(1000), encode(photo("ihc", 9, 9), "PNG")):
        (tmp_path / "a.tif").write_bytes(data)
        with pytest.raises(ValueError, match=r"tifffile does not open .*a.tif as a slide: .*; openslide opens"):
            Slide(tmp_path / "a.tif")
    with pytest.raises(FileNotFoundError):
        Slide(tmp_path / "none.svs")
    with pytest.raises(IsADirectoryError):
        Slide(tmp_path)


def test_mutated_containers(tmp_path: Path) -> None:
    """Whatever the container says, it is read, or an error that somebody expects."""
    path = tmp_path / "slide.tif"
    write(path, LAYOUTS["tables apart"](), ((70, 100),))
    sound = path.read_bytes()
    starts = [offset for offset, _ in places(path)]
    meta = [at for at in range(len(sound)) if at < min(starts) or at >= max(starts) + places(path)[-1][1]]
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        data = bytearray(sound)
        for _ in range(int(rng.integers(1, 4))):
            data[meta[int(rng.integers(len(meta)))]] = int(rng.choice([0, 1, 2, 127, 128, 255, rng.integers(256)]))
        path.write_bytes(data)
        try:
            slide = Slide(path)
            outcomes.add(slide.read(0, 0, (100, 70)).shape)
        except (fastaug.DecodeError, ValueError, ImportError) as error:
            outcomes.add(type(error))
    assert {(70, 100, 3), ValueError} <= outcomes


@pytest.mark.parametrize(
    ("image", "options", "words"),
    [
        (np.zeros((32, 32, 3), np.uint16), {"photometric": "rgb"}, "3 of uint16 in RGB, compressed as NONE"),
        (np.zeros((32, 32), np.float32), {"photometric": "minisblack"}, "1 of float32 in MINISBLACK"),
        (np.zeros((32, 32), np.uint8), {"photometric": "miniswhite"}, "1 of uint8 in MINISWHITE"),
        (np.zeros((3, 32, 32), np.uint8), {"photometric": "rgb", "planarconfig": "separate"}, "got 3 of uint8"),
        (np.zeros((32, 32, 2), np.uint8), {"photometric": "minisblack", "planarconfig": "contig"}, "got 2 of uint8"),
        (np.zeros((4, 32, 32), np.uint8), {"photometric": "minisblack"}, "is of 4 images"),
        (np.zeros((32, 32, 4), np.uint8), {"photometric": "separated"}, "got 4 of uint8 in SEPARATED"),
    ],
)
def test_other_images(image: np.ndarray, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", image, tile=(16, 16), **options)
    with pytest.raises(ValueError, match=f"{words}.*; openslide opens"):
        Slide(tmp_path / "a.tif")


def test_no_decoder(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((32, 32, 3), np.uint8), photometric="rgb", tile=(16, 16))
    with tifffile.TiffFile(path, mode="r+") as tiff:
        tiff.pages[0].tags[259].overwrite(34712)
    if "imagecodecs" not in sys.modules:
        with pytest.raises(ImportError, match=r"imagecodecs.*openslide opens"):
            Slide(path)
    for compression in (6, 33003):
        with tifffile.TiffFile(path, mode="r+") as tiff:
            tiff.pages[0].tags[259].overwrite(compression)
        with pytest.raises((ImportError, ValueError), match="openslide opens"):
            Slide(path)


def test_without_tifffile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.tif", LAYOUTS["gray"]())
    monkeypatch.setitem(sys.modules, "tifffile", None)
    with pytest.raises(ImportError, match=r"Slide needs tifffile \(pip install tifffile\); openslide opens"):
        Slide(tmp_path / "a.tif")


def test_tables_that_are_none(tmp_path: Path) -> None:
    write(tmp_path / "a.tif", LAYOUTS["tables apart"]())
    said_of(tmp_path / "a.tif", 347, lambda numbers: numbers.__setitem__(0, bytes(len(numbers[0]))))  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="jpeg_tables should be a JPEG stream"):
        Slide(tmp_path / "a.tif")


# Arguments.


@each(
    ("arguments", "error", "words"),
    [
        (("1", 0, (2, 2)), TypeError, "x should be an integer, got '1'"),
        ((0, 1.5, (2, 2)), TypeError, "y should be an integer, got 1.5"),
        ((0, 0, 5), TypeError, "size should be two integers"),
        ((0, 0, (5, 5, 3)), TypeError, "size should be two integers"),
        ((0, 0, (5.0, 5)), TypeError, "size should be two integers"),
        ((0, 0, (0, 5)), ValueError, r"size should be .* got \(0, 5\)"),
        ((0, 0, (5, -1)), ValueError, r"got \(5, -1\)"),
        ((0, 0, (1 << 16, 1 << 15)), ValueError, "2\\^31"),
        ((0, 0, (5, 5), 2), ValueError, "level should be from 0 to 1, got 2"),
        ((0, 0, (5, 5), -1), ValueError, "level should be from 0 to 1, got -1"),
        ((0, 0, (5, 5), None), TypeError, "level should be an integer, got None"),
    ],
)
def test_arguments(arguments: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
    write(tmp_path / "a.tif", LAYOUTS["gray"]())
    slide = Slide(str(tmp_path / "a.tif"))
    for call in (slide.read, slide.lazy):
        with pytest.raises(error, match=words):
            call(*arguments)


@pytest.mark.parametrize("path", [None, 3, b"a.tif", ["a.tif"]])
def test_no_path(path: Any) -> None:
    with pytest.raises(TypeError, match="path should be a path, got "):
        Slide(path)


def test_numbers_of_the_core(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    file = _C.File(os.open(tmp_path / "a", os.O_RDONLY))
    one = struct.pack("=Q", 1)
    for sides in ((0, 5, 5, 5), (5, 0, 5, 5), (5, 5, 0, 5), (5, 5, 5, -1)):
        with pytest.raises(ValueError, match="must have pixels"):
            _C.Tiles(file, *sides, one, one)
    most = 2**31 - 1
    for sides, offsets, sizes in (
        ((5, 6, 5, 5), one, one),
        ((most, most, 1, 1), one, one),
        ((5, 5, 5, 5), one, b""),
        ((5, 5, 5, 5), one, one * 2),
    ):
        with pytest.raises(ValueError, match="as many offsets and sizes"):
            _C.Tiles(file, *sides, offsets, sizes)
    with pytest.raises(ValueError, match="offsets must hold uint64"):
        _C.Tiles(file, 5, 5, 5, 5, b"123", one)
    with pytest.raises(ValueError, match="colorspace"):
        _C.Tiles(file, 5, 5, 5, 5, one, one, None, "cmyk")
    tiles = _C.Tiles(file, most, most, most, most, one, one)
    assert tiles.read(0) == b"\0"
    for index in (-1, 1):
        with pytest.raises(ValueError, match="there is no tile"):
            tiles.read(index)
    for sides in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="a region must have pixels"):
            tiles.source(0, 0, *sides, 3)
    with pytest.raises(ValueError, match="channels must be 3 or 4"):
        tiles.source(0, 0, 1, 1, 1)
    huge = struct.pack("=Q", 2**64 - 1)
    for offset, size in ((huge, one), (one, huge), (huge, huge)):
        with pytest.raises(_C.Deferred):
            _C.Tiles(file, 5, 5, 5, 5, offset, size).read(0)
    # A sparse file may be larger than memory.
    os.truncate(tmp_path / "a", 1 << 40)
    file = _C.File(os.open(tmp_path / "a", os.O_RDONLY))
    with pytest.raises(_C.Deferred, match="more bytes than its pixels"):
        _C.Tiles(file, 5, 5, 5, 5, one, struct.pack("=Q", 1 << 39)).read(0)


def test_layouts_are_what_they_are_called(tmp_path: Path) -> None:
    layout: Layout = LAYOUTS["tables apart"]()
    write(tmp_path / "a.tif", layout)
    offset, size = places(tmp_path / "a.tif")[0]
    tile = (tmp_path / "a.tif").read_bytes()[offset : offset + size]
    assert b"\xff\xdb" not in tile and b"\xff\xc4" not in tile
