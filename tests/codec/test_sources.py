"""Paths, bytes and files; out=; handles that wait, pickle and go through a DataLoader."""

from __future__ import annotations

import io
import mmap
import os
import pathlib
import pickle
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader

import fastaug.io
import fastaug.transforms as T
from fastaug._image import encoded
from support.differences import each
from support.images import PHOTOS, photo
from support.processes import START_METHODS

# On a machine, or a share of one, with a single CPU.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create 2 worker processes:UserWarning")

DATA = made.encode(photo("coffee", 61, 83), "JPEG")
PIXELS = made.pillow(DATA)


class Where(os.PathLike):  # type: ignore[type-arg]
    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> bytes:
        return os.fsencode(self.path)


class Stream:
    """A file that can only be read."""

    def __init__(self) -> None:
        self.left = DATA

    def read(self) -> bytes:
        self.left, data = b"", self.left
        return data


def in_memory() -> dict[str, Any]:
    file = io.BytesIO(DATA)
    file.seek(17)  # Pillow goes to the beginning, too
    array = np.frombuffer(DATA, np.uint8)
    spread = np.zeros((len(array), 2), np.uint8)
    spread[:, 0] = array
    return {
        "bytes": DATA,
        "bytearray": bytearray(DATA),
        "memoryview": memoryview(DATA),
        "memoryview of steps": memoryview(spread.reshape(-1))[::2],
        "ndarray": array,
        "ndarray of steps": spread[:, 0],
        "tensor": torch.tensor(array),
        "tensor of steps": torch.tensor(spread)[:, 0],
        "BytesIO": file,
        "stream": Stream(),
    }


@pytest.mark.parametrize("name", in_memory())
def test_in_memory(name: str) -> None:
    assert made.same(fastaug.io.imread(in_memory()[name]), PIXELS)
    assert made.same(np.asarray(fastaug.io.lazy(in_memory()[name])), PIXELS)
    assert fastaug.io.image_info(in_memory()[name]).size == (83, 61)
    assert made.same(fastaug.io.imread_batch([in_memory()[name]])[0], PIXELS)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "an image.bin"
    path.write_bytes(DATA)
    with path.open("rb") as file, path.open("rb", buffering=0) as raw, tempfile.SpooledTemporaryFile() as spooled:
        spooled.write(DATA)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        for source in (str(path), path, pathlib.PurePath(path), Where(path), np.str_(path), file, raw, spooled, mapped):
            assert made.same(fastaug.io.imread(source), PIXELS)
            assert fastaug.io.image_info(source).format == "JPEG"
        mapped.close()


def test_an_open_file_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(DATA)
    with path.open("rb") as file:
        image = fastaug.io.lazy(file)
    path.unlink()
    assert made.same(np.asarray(image), PIXELS)
    assert image.filename == str(path)


def test_bytes_are_copied() -> None:
    """Whoever fills a buffer anew does not change an image that waits."""
    buffer = bytearray(DATA)
    array = np.frombuffer(DATA, np.uint8).copy()
    images = [fastaug.io.lazy(buffer), fastaug.io.lazy(array)]
    sizes = [image.size for image in images]
    buffer[:], array[:] = bytes(len(DATA)), 0
    assert sizes == [(83, 61)] * 2
    for image in images:
        assert made.same(np.asarray(image), PIXELS)


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (None, TypeError, "NoneType"),
        (3.5, TypeError, "float"),
        (Image.new("RGB", (3, 3)), TypeError, "Image"),
        (io.StringIO("text"), TypeError, "str"),
        (np.zeros((3, 3), np.uint8), ValueError, r"\(3, 3\)"),
        (np.zeros(3), ValueError, "float64"),
        (torch.zeros(3), ValueError, "float32"),
        (torch.zeros((3, 3), dtype=torch.uint8), ValueError, r"\(3, 3\)"),
        (torch.zeros(3, dtype=torch.uint8, device="meta"), ValueError, "meta"),
    ],
)
def test_no_source(source: Any, error: type[Exception], words: str) -> None:
    for function in (fastaug.io.imread, fastaug.io.lazy, fastaug.io.image_info):
        with pytest.raises(error, match=words):
            function(source)


@pytest.mark.parametrize(
    ("mode", "error"), [("RGBX2", ValueError), ("rgb", ValueError), ("", ValueError), (3, TypeError)]
)
def test_no_mode(mode: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="mode"):
        fastaug.io.imread(DATA, mode)
    with pytest.raises(error, match="mode"):
        fastaug.io.lazy(DATA).convert(mode)


@each(
    ("region", "error"),
    [
        ((0, 0, 62, 83), ValueError),
        ((0, 0, 61, 84), ValueError),
        ((-1, 0, 3, 3), ValueError),
        ((0, -1, 3, 3), ValueError),
        ((60, 0, 2, 1), ValueError),
        ((0, 0, 0, 5), ValueError),
        ((0, 0, 5, -1), ValueError),
        ((1 << 70, 0, 1, 1), ValueError),
        ((0, 0, 5), TypeError),
        ((0, 0, 5.0, 5), TypeError),
        (7, TypeError),
    ],
)
def test_no_region(region: Any, error: type[Exception]) -> None:
    for data in (DATA, made.encode(photo("coffee", 61, 83), "BMP")):
        with pytest.raises(error, match="region should"):
            fastaug.io.imread(data, region=region)
    if error is ValueError:
        with pytest.raises(ValueError, match="height is 61 and width 83"):
            fastaug.io.imread(DATA, region=region)


def test_region_of_numpy_integers() -> None:
    assert made.same(fastaug.io.imread(DATA, region=np.array([3, 4, 5, 6])), PIXELS[3:8, 4:10])
    assert made.same(fastaug.io.imread(DATA, "L", region=[3, 4, 5, 6]), made.pillow(DATA, "L")[3:8, 4:10])


# out=


@pytest.mark.parametrize("format", ["JPEG", "PNG", "BMP"])
@each("mode", ["RGB", "L", "RGBA", "F", "1"])
def test_out(mode: str, format: str) -> None:
    data = made.encode(photo("coffee", 61, 83), format)
    expected = made.pillow(data, mode)[10:30, 7:52]
    wide = np.zeros((24, 60, *expected.shape[2:]), expected.dtype)
    planes = np.zeros((*expected.shape[2:], *expected.shape[:2]), expected.dtype)
    for out in (
        np.zeros_like(expected),
        wide[2:22, 3:48],
        wide[2:22, 3:48][::-1],
        wide[2:22, 3:48][:, ::-1],
        np.asfortranarray(np.zeros_like(expected)),
        np.moveaxis(planes, 0, -1) if expected.ndim == 3 else planes,
    ):
        assert fastaug.io.imread(data, mode, (10, 7, 20, 45), out=out) is out
        assert made.same(out, expected)
    assert not wide[:2].any() and not wide[22:].any() and not wide[:, :3].any() and not wide[:, 48:].any()


def test_no_out() -> None:
    frozen = np.zeros((61, 83, 3), np.uint8)
    frozen.flags.writeable = False
    for data in (DATA, made.encode(photo("coffee", 61, 83), "BMP")):
        for out, words in (
            (np.zeros((61, 83, 4), np.uint8), r"out should be uint8 of shape \(61, 83, 3\)"),
            (np.zeros((61, 83), np.uint8), "out should be uint8"),
            (np.zeros((61, 83, 3), np.int8), "got int8"),
            (frozen, "read-only"),
        ):
            with pytest.raises(ValueError, match=words):
                fastaug.io.imread(data, out=out)
        with pytest.raises(TypeError, match="got Tensor"):
            fastaug.io.imread(data, out=torch.zeros(61, 83, 3, dtype=torch.uint8))


def test_arrays_of_a_handle() -> None:
    image = fastaug.io.lazy(DATA)
    assert made.same(np.asarray(image, dtype=np.float32), PIXELS.astype(np.float32))
    assert made.same(np.array(image), PIXELS)
    with pytest.raises(ValueError, match="copy=False"):
        image.__array__(copy=False)


# Tables kept apart from the pixels.


def test_jpeg_tables() -> None:
    for options in ({}, {"progressive": True}, {"optimize": True}):
        for mode in ("RGB", "L", "CMYK"):
            whole = made.encode(photo("ihc", 64, 48).convert(mode), "JPEG", **options)
            tables, stream = made.split_tables(whole)
            expected = made.pillow(whole)
            assert made.same(fastaug.io.imread(stream, jpeg_tables=tables), expected)
            assert made.same(
                fastaug.io.imread(stream, "L", (3, 4, 30, 7), jpeg_tables=bytearray(tables)),
                made.pillow(whole, "L")[3:33, 4:11],
            )
            handle = pickle.loads(pickle.dumps(fastaug.io.lazy(stream, jpeg_tables=tables)))
            assert made.same(np.asarray(handle), expected)
            assert made.same(np.asarray(handle.pil()), expected)
            assert made.same(fastaug.io.imread_batch([stream] * 3, jpeg_tables=tables)[2], expected)
            assert made.same(np.asarray(T.CenterCrop(20)(handle)), np.asarray(T.CenterCrop(20)(handle.load())))


def test_tables_of_tiff() -> None:
    """As a reader of tiled files finds them."""
    image = photo("ihc", 64, 48)
    data = made.encode(image, "TIFF", compression="jpeg", quality=90)
    theirs: Any = Image.open(io.BytesIO(data))
    start, size, tables = theirs.tag_v2[273][0], theirs.tag_v2[279][0], theirs.tag_v2[347]
    part = fastaug.io.imread(data[start : start + size], jpeg_tables=tables)
    assert part.shape[1:] == (48, 3)


@pytest.mark.parametrize("tables", [b"", b"none", DATA[:50]])
def test_no_tables(tables: bytes) -> None:
    with pytest.raises(ValueError, match="jpeg_tables should"):
        fastaug.io.imread(DATA, jpeg_tables=tables)


# Handles.


def test_a_path_is_read_when_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "later.jpg"
    image = fastaug.io.lazy(path)
    with pytest.raises(FileNotFoundError, match=r"later\.jpg"):
        image.load()
    path.write_bytes(DATA)
    assert image.size == (83, 61)
    assert made.same(np.asarray(image), PIXELS)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        np.asarray(image)


def test_handles_that_wait_hold_no_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read once for a header that is followed by its pixels; and of many, one is held."""
    reads = []
    read_file = encoded.read_file
    monkeypatch.setattr(encoded, "read_file", lambda path: reads.append(path) or read_file(path))
    paths = [tmp_path / f"{number}.jpg" for number in range(4)]
    for path in paths:
        path.write_bytes(DATA)
    for image in (fastaug.io.lazy(path) for path in paths):
        assert image.size == (83, 61)
        image.load()
    assert len(reads) == 4
    images = [fastaug.io.lazy(path) for path in paths]
    for image in images:
        assert image.size == (83, 61)
    assert len(reads) == 8
    assert encoded._recent.owner is images[-1]
    for image in images:
        T.CenterCrop(10)(image)
    assert len(reads) == 8 + 3 + (encoded._recent.owner is None and images[-1] is not None)
    assert encoded._recent.owner is None and not encoded._recent.data


def test_pickles(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(made.encode(photo("ihc", 40, 50), "PNG", exif=made.oriented(5)))
    for image in (fastaug.io.lazy(path, "RGBA", True), fastaug.io.lazy(DATA, "L"), fastaug.io.lazy(DATA, None)):
        for other in (pickle.loads(pickle.dumps(image)), pickle.loads(pickle.dumps(image.convert("1").convert("RGB")))):
            assert other.size == image.size
            assert made.same(np.asarray(other.load()), np.asarray(other))
        assert repr(pickle.loads(pickle.dumps(image))) == repr(image)
    assert len(pickle.dumps(fastaug.io.lazy(path))) < 400


def test_repr(tmp_path: Path) -> None:
    assert repr(fastaug.io.lazy("some/photo.jpg")) == "LazyImage('some/photo.jpg', mode='RGB')"
    assert repr(fastaug.io.lazy(b"abc", None, True)) == "LazyImage(<3 bytes>, mode=None, exif=True)"
    tables = fastaug.io.lazy(b"abc", "L", jpeg_tables=b"\xff\xd8\xff\xd9")
    assert repr(tables) == "LazyImage(<3 bytes>, mode='L', jpeg_tables=<4 bytes>)"


def test_convert() -> None:
    image = fastaug.io.lazy(DATA)
    assert image.convert("RGB") is image
    assert image.convert("L").mode == "L" and image.mode == "RGB"
    assert made.same(np.asarray(image.convert("L")), made.pillow(DATA, "L"))


def test_threads_share_a_handle() -> None:
    image = fastaug.io.lazy(DATA)
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(np.asarray(image))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(made.same(result, PIXELS) for result in results)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in PHOTOS:
        (tmp_path / name).mkdir()
        for number in range(3):
            image = photo(name, 80 + 7 * number, 90 - 5 * number)
            image.save(tmp_path / name / f"{number}.jpg")
        image.save(tmp_path / name / "palette.png")
        image.convert("P").save(tmp_path / name / "other.png")
        image.save(tmp_path / name / "last.bmp")
    return tmp_path


def batches(folder: Path, loader: Callable[[Any], Any], **options: Any) -> list[list[torch.Tensor]]:
    compose = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ColorJitter(0.2), T.ToTensor()])
    dataset = torchvision.datasets.ImageFolder(folder, loader=loader, transform=compose)
    torch.manual_seed(7)
    return list(DataLoader(dataset, batch_size=5, shuffle=True, **options))


@pytest.mark.parametrize("method", [None, *START_METHODS, pytest.param("forkserver", marks=pytest.mark.main)])
def test_image_folder(folder: Path, method: str | None) -> None:
    options = {} if method is None else {"num_workers": 2, "multiprocessing_context": method}
    ours = batches(folder, fastaug.io.lazy, **options)
    theirs = batches(folder, torchvision.datasets.folder.pil_loader, **options)
    assert len(ours) == len(theirs) == 5
    for (images, labels), (expected, targets) in zip(ours, theirs, strict=True):
        assert torch.equal(images, expected) and torch.equal(labels, targets)


class Handles(torch.utils.data.Dataset[Any]):
    """Items that leave a worker as handles."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        image = fastaug.io.lazy(self.paths[index])
        return image, image.size


def test_handles_leave_a_worker(folder: Path) -> None:
    paths = sorted(folder.glob("*/*"))
    items = list(DataLoader(Handles(paths), batch_size=None, num_workers=2))
    assert len(items) == len(paths)
    for path, (image, size) in zip(paths, items, strict=True):
        assert image.size == tuple(size)
        assert made.same(np.asarray(image), made.pillow(path.read_bytes()))
