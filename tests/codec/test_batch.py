"""imread_batch(): order, threads, and the first error of the list."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch

import fastaug.io
from fastaug._batch.threads import threads_for
from fastaug.io import _batch
from support.images import photo

SIZES = [(40 + 3 * number % 17, 50 - number % 13) for number in range(60)]
FILES = [made.encode(photo("coffee", *size), ("JPEG", "PNG", "GIF")[number % 3]) for number, size in enumerate(SIZES)]


@pytest.mark.parametrize("threads", [1, 2, 5, 100, None])
def test_order(threads: int | None) -> None:
    before = threading.active_count()
    results = fastaug.io.imread_batch(FILES, num_threads=threads)
    assert len(results) == len(FILES)
    for result, data in zip(results, FILES, strict=True):
        assert made.same(result, made.pillow(data))
    assert threading.active_count() == before


def test_settings(tmp_path: Path) -> None:
    data = made.encode(photo("coffee", 40, 60), "JPEG", exif=made.oriented(6))
    paths = [tmp_path / f"{number}.jpg" for number in range(3)]
    for path in paths:
        path.write_bytes(data)
    expected = made.pillow(data, "L", exif=True)[5:25, 3:13]
    for sources in (paths, iter(paths), [io.BytesIO(data), data, str(paths[0])]):
        for result in fastaug.io.imread_batch(sources, "L", region=(5, 3, 20, 10), exif=True, num_threads=2):
            assert made.same(result, expected)


def test_nothing() -> None:
    assert fastaug.io.imread_batch([]) == []
    assert fastaug.io.imread_batch(iter(())) == []


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_first_error_of_the_list(threads: int) -> None:
    """Every time, although another thread may meet a later one sooner."""
    files: list[Any] = list(FILES)
    files[23] = made.encode(photo("coffee", 400, 500), "PNG")[:-30000]
    for number in (24, 25, 26, 40):
        files[number] = b"broken, and at once"
    for _ in range(10):
        with pytest.raises(fastaug.DecodeError, match=r"^sources\[23\]: cannot decode .*PNG") as caught:
            fastaug.io.imread_batch(files, num_threads=threads)
        assert caught.value.index == 23


def test_the_rest_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, failed = [], threading.Event()
    imread = _batch.imread

    def read(source: bytes, *args: Any, **options: Any) -> Any:
        begun.append(source)
        if source != b"broken":
            failed.wait()
        try:
            return imread(source, *args, **options)
        finally:
            failed.set()

    monkeypatch.setattr(_batch, "imread", read)
    with pytest.raises(fastaug.DecodeError):
        fastaug.io.imread_batch([b"broken"] + [FILES[0]] * 500, num_threads=2)
    assert len(begun) < 20


def test_other_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        fastaug.io.imread_batch([FILES[0], tmp_path / "missing.jpg"], num_threads=2)
    with pytest.raises(TypeError, match="float"):
        fastaug.io.imread_batch([FILES[0], 3.5])
    with pytest.raises(ValueError, match="region should"):
        fastaug.io.imread_batch(FILES, region=(0, 0, 1000, 1))
    for number in (0, -3):
        with pytest.raises(ValueError, match=f"num_threads should be at least 1, got {number}"):
            fastaug.io.imread_batch(FILES, num_threads=number)
    with pytest.raises(TypeError, match=r"num_threads should be an integer, got 1\.5"):
        fastaug.io.imread_batch(FILES, num_threads=1.5)
    for source in ("photo.jpg", FILES[0], tmp_path):
        with pytest.raises(TypeError, match=r"imread\(\) reads one"):
            fastaug.io.imread_batch(source)


@pytest.mark.parametrize("threads", [1, 3])
def test_interrupted(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C in this thread ends the others, too."""
    imread, here = _batch.imread, threading.get_ident()
    reached = threading.Event()

    def interrupted(source: Any, *args: Any, **options: Any) -> np.ndarray:
        if threading.get_ident() == here:
            reached.set()
            raise KeyboardInterrupt
        # Else the others may have read all before this thread has its turn.
        assert reached.wait(60)
        return imread(source, *args, **options)

    monkeypatch.setattr(_batch, "imread", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        fastaug.io.imread_batch(FILES * 5, num_threads=threads)
    assert threading.active_count() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, where it is asked for; a log file gets no bars."""
    for stream, progress, shown in ((Terminal(), True, True), (Terminal(), False, False), (io.StringIO(), True, False)):
        monkeypatch.setattr("sys.stderr", stream)
        fastaug.io.imread_batch(FILES, num_threads=2, progress=progress)
        assert ("60/60" in stream.getvalue()) == shown
        assert shown or stream.getvalue() == ""


class Threads(torch.utils.data.Dataset[int]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> int:
        assert len(fastaug.io.imread_batch(FILES[:4])) == 4
        return threads_for(None)


def test_threads_by_default() -> None:
    assert threads_for(None) == len(os.sched_getaffinity(0))
    assert list(torch.utils.data.DataLoader(Threads(), batch_size=None, num_workers=1)) == [1]


def test_memory_is_given_back() -> None:
    source = bytes(FILES[0])
    count = sys.getrefcount(source)
    for _ in range(3):
        fastaug.io.imread_batch([source] * 50, num_threads=2)
    assert sys.getrefcount(source) <= count + 1  # but for the file that this thread read last
