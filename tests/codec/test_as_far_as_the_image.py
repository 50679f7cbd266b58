"""Files are read as far as their image goes: those with anything behind it, and those without an end."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

import fastaug
import fastaug.io
from fastaug import _C
from fastaug._image import encoded, files
from support.images import photo

PHOTO = photo("coffee", 83, 61)
BEHIND = 1 << 20

FILES = {
    "JPEG": made.encode(PHOTO, "JPEG"),
    "progressive": made.encode(PHOTO, "JPEG", progressive=True),
    "CMYK": made.encode(PHOTO.convert("CMYK"), "JPEG"),
    "PNG": made.encode(PHOTO, "PNG"),
    "palette": made.encode(PHOTO.convert("P"), "PNG"),
    "WEBP": made.encode(PHOTO, "WEBP"),
    "GIF": made.encode(PHOTO, "GIF"),
    "BMP": made.encode(PHOTO, "BMP"),
    "TIFF": made.encode(PHOTO, "TIFF"),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As though files of some kilobytes were large."""
    monkeypatch.setattr(files, "AT_ONCE", 256)
    monkeypatch.setattr(files, "_MOST_WHOLE", 0)
    monkeypatch.setattr(files, "_FIRST", 100)


def endless(data: bytes, most: int = 1 << 40) -> Any:
    class Endless:
        """A file that can only be read, and never ends."""

        given = 0

        def read(self, size: int = -1) -> bytes:
            assert size >= 0, "reads without a size would never end"
            part = data[self.given : self.given + size]
            self.given += size
            return part + bytes(min(size - len(part), most))

    return Endless()


def fresh(name: str, behind: int) -> bytes:
    return FILES[name] + b"\xff\xd9" * (behind // 2)


@pytest.mark.parametrize("name", FILES)
def test_what_lies_behind_is_not_read(name: str, tmp_path: Path, small: None) -> None:
    """It neither changes pixels nor is kept, whoever decodes the image."""
    path = tmp_path / "a"
    path.write_bytes(fresh(name, BEHIND))
    expected = made.pillow(FILES[name])
    data = encoded.read_file(str(path))
    assert len(data) <= 3 * len(FILES[name])
    assert made.same(fastaug.io.imread(path), expected)
    assert made.same(fastaug.io.imread(path, region=(3, 4, 50, 20)), expected[3:53, 4:24])
    handle = fastaug.io.lazy(path)
    assert handle.size == (61, 83) and handle.format == Image.open(io.BytesIO(FILES[name])).format
    assert made.same(np.asarray(handle), expected)
    assert made.same(np.asarray(handle.in_memory()), expected)
    assert made.same(np.asarray(pickle.loads(pickle.dumps(handle.in_memory()))), expected)
    assert made.same(fastaug.io.imread_batch([path] * 3)[2], expected)
    assert fastaug.io.image_info(path) == fastaug.io.image_info(FILES[name])
    with path.open("rb") as file:
        assert made.same(fastaug.io.imread(file), expected)
    assert made.same(fastaug.io.imread(io.BytesIO(fresh(name, BEHIND))), expected)


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("GIF", "BMP", "TIFF")])
def test_files_without_an_end(name: str) -> None:
    expected = made.pillow(FILES[name])
    source = endless(FILES[name])
    assert made.same(fastaug.io.imread(source), expected)
    assert source.given <= 4 << 20


def test_pieces_of_any_size(small: None) -> None:
    """A stream that gives a few bytes at a time is read to the same end."""
    for name in ("JPEG", "PNG", "WEBP", "BMP"):
        whole = io.BytesIO(FILES[name])

        class Slow:
            def read(self, size: int = -1, whole: io.BytesIO = whole) -> bytes:
                return whole.read(min(size, 7) if size >= 0 else size)

        assert made.same(fastaug.io.imread(Slow()), made.pillow(FILES[name]))


@pytest.mark.parametrize("data", [b"", b"no image", b"GIF89a"])
def test_endless_zeros(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST", 4 << 20)
    with pytest.raises((UnidentifiedImageError, fastaug.DecodeError)):
        fastaug.io.imread(endless(data))


def test_a_stream_of_a_sound_format_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST", 4 << 20)
    for data in (FILES["GIF"], FILES["JPEG"][:-2], FILES["PNG"][:-12]):
        with pytest.raises(fastaug.DecodeError, match="no end"):
            fastaug.io.imread(endless(data + bytes(0 if data[:1] != b"\x89" else 1)))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a device of Unix")
def test_devices() -> None:
    for read in (fastaug.io.imread, lambda path: fastaug.io.lazy(path).size, fastaug.io.image_info):
        for path in ("/dev/zero", "/dev/null"):
            with pytest.raises(UnidentifiedImageError):
                read(path)
    with open("/dev/zero", "rb") as file, pytest.raises(UnidentifiedImageError):
        fastaug.io.imread(file)


@pytest.mark.parametrize("name", FILES)
def test_pipes(name: str, tmp_path: Path) -> None:
    """Whoever names a pipe waits for it, and reads what is written to it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(FILES[name],))
    writer.start()
    assert made.same(fastaug.io.imread(path), made.pillow(FILES[name]))
    writer.join()


def test_compressed_files(tmp_path: Path) -> None:
    """Their descriptor tells the size of something else."""
    path = tmp_path / "a.gz"
    for name, data in FILES.items():
        with gzip.open(path, "wb") as file:
            file.write(data + bytes(100_000))
        with gzip.open(path) as file:
            assert made.same(fastaug.io.imread(file), made.pillow(data)), name


def test_the_end_of_an_image() -> None:
    for name, data in FILES.items():
        end = _C.image_end(data + b"more\xff\xd9IEND")
        assert end == (len(data) if data[:1] in (b"\xff", b"\x89", b"R") else None), name
        for size in (0, 1, 8, len(data) - 1):
            # The header of a WebP says it.
            assert _C.image_end(data[:size]) == (len(data) if name == "WEBP" and size > 11 else None)


def peak(work: Callable[[], Any]) -> int:
    """The most bytes that are in the memory of Python's at a time."""
    import tracemalloc

    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "GIF", "TIFF"])
def test_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "padded"
    path.write_bytes(FILES[name])
    os.truncate(path, 400 << 20)
    assert peak(lambda: fastaug.io.imread(path)) < 64 << 20
    handle = fastaug.io.lazy(path)
    assert peak(lambda: handle.size) < 64 << 20
    assert len(encoded._recent.data) < 32 << 20
