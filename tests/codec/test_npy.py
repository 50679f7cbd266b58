"""Decoded images as files: .npy gives NumPy's pixels, of which what is wanted is read; what is no image is an error."""

from __future__ import annotations

import copy
import io
import itertools
import mmap
import os
import pickle
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._image import encoded
from fastaug.data import PairedRandomCrop
from fastaug.io import image_info, imread, imread_batch, lazy
from support.differences import each
from support.images import noise

#: Shapes and the modes that they stand for.
SHAPES = {(61, 83): "L", (61, 83, 1): "L", (61, 83, 2): "LA", (61, 83, 3): "RGB", (61, 83, 4): "RGBA", (1, 1, 3): "RGB"}


def pixels(shape: tuple[int, ...]) -> np.ndarray:
    return noise(*shape[:2], *shape[2:] or (1,)).reshape(shape)


def image_of(array: np.ndarray) -> Image.Image:
    return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array)


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def with_header(text: str | bytes, after: bytes = b"", version: int = 1) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(data)) + data + after


@pytest.fixture(params=["path", "bytes"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], Any]:
    """Makes a source of what a file would hold."""
    numbers = itertools.count()

    def made(data: bytes) -> Any:
        if request.param == "bytes":
            return data
        path = tmp_path / f"image {next(numbers)}.of no suffix"  # another one may be mapped still
        path.write_bytes(data)
        return path

    return made


@each("shape", SHAPES)
@each("version", [(1, 0), (2, 0), (3, 0)])
def test_pixels_are_numpys(source: Any, shape: tuple[int, ...], version: tuple[int, int]) -> None:
    array, mode = pixels(shape), SHAPES[shape]
    file = source(npy(array, version))
    image = lazy(file, mode=None)
    assert (image.mode, image.size, image.format, image.orientation) == (mode, (shape[1], shape[0]), "NPY", 1)
    wanted = np.asarray(image_of(array))
    for found in (imread(file, mode), np.asarray(image), np.asarray(image.load())):
        assert found.dtype == np.uint8
        assert np.array_equal(found, wanted)
    assert image.load().mode == mode


@each("shape", SHAPES)
@each("mode", ["L", "LA", "RGB", "RGBA", "CMYK", "F", "1", "P", "YCbCr", "I;16"])
def test_modes_are_pillows_conversions(source: Any, shape: tuple[int, ...], mode: str) -> None:
    array = pixels(shape)
    try:
        wanted = np.asarray(image_of(array).convert(mode))
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            imread(source(npy(array)), mode)
        return
    assert np.array_equal(imread(source(npy(array)), mode), wanted)


@each(
    ("shape", "mode"),
    # Pillow does not convert LA to CMYK.
    [
        (shape, mode)
        for shape in SHAPES
        for mode in ("L", "LA", "RGB", "RGBA", "CMYK")
        if shape[0] > 1 and (SHAPES[shape], mode) != ("LA", "CMYK")
    ],
)
def test_regions(source: Any, shape: tuple[int, ...], mode: str) -> None:
    array = pixels(shape)
    whole = np.asarray(image_of(array).convert(mode))
    file = source(npy(array))
    for top, left, height, width in [(0, 0, 61, 83), (60, 82, 1, 1), (7, 9, 31, 40), (0, 82, 61, 1), (60, 0, 1, 83)]:
        part = imread(file, mode, region=(top, left, height, width))
        assert np.array_equal(part, whole[top : top + height, left : left + width])
        out = np.full(part.shape, 7, np.uint8)
        assert imread(file, mode, region=(top, left, height, width), out=out) is out
        assert np.array_equal(out, part)


STEPS: dict[str, Callable[[], Any]] = {
    "RandomCrop": lambda: T.RandomCrop(31),
    "a crop as a tensor": lambda: T.Compose([T.RandomCrop((40, 17)), T.RandomHorizontalFlip(), T.ToTensor()]),
    "RandomResizedCrop": lambda: T.Compose([T.RandomResizedCrop(24), T.ToTensor()]),
    "Resize": lambda: T.Resize(30),
    "RandomRotation": lambda: T.RandomRotation(30),
    "ColorJitter": lambda: T.ColorJitter(0.4, 0.4, 0.4, 0.2),
    "turned whole": lambda: T.RandomVerticalFlip(1),
    "whole": lambda: T.ToTensor(),
    "a callable": lambda: T.Compose([T.RandomCrop(31), T.Lambda(np.asarray)]),
}


@pytest.mark.parametrize("name", STEPS)
@each("shape", [shape for shape in SHAPES if shape[0] > 1])
def test_transforms_give_what_they_give_of_the_image(source: Any, shape: tuple[int, ...], name: str) -> None:
    array, transform = pixels(shape), T.Compose([STEPS[name]()])
    file = source(npy(array))
    for mode in ("RGB", None):
        image = image_of(array) if mode is None else image_of(array).convert(mode)
        torch.manual_seed(5)
        try:
            wanted = transform(image)
        except TypeError:  # of two channels
            continue
        for handle in (lazy(file, mode), *([lazy(file, mode)] * 3)):
            torch.manual_seed(5)
            assert equal(transform(handle), wanted)
        torch.manual_seed(5)
        assert equal(T.Compose([T.Decode(mode), transform])(file), wanted)


def equal(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, Image.Image):
        return ours.mode == theirs.mode and np.array_equal(np.asarray(ours), np.asarray(theirs))
    return bool(np.array_equal(np.asarray(ours), np.asarray(theirs)))


def test_batches_and_maps(tmp_path: Path) -> None:
    arrays = [noise(50 + number, 60, seed=number) for number in range(9)]
    paths = [tmp_path / f"{number}.npy" for number in range(9)]
    for path, array in zip(paths, arrays):
        np.save(path, array)
    assert all(map(np.array_equal, imread_batch(paths, num_threads=3), arrays))
    transform = T.Compose([T.RandomCrop(32), T.ToTensor()])
    torch.manual_seed(1)
    wanted = torch.stack([transform(Image.fromarray(array)) for array in arrays])
    for images in (paths, [lazy(path) for path in paths]):
        torch.manual_seed(1)
        assert torch.equal(transform.batch(images, num_threads=3), wanted)
        torch.manual_seed(1)
        assert torch.equal(torch.stack(list(transform.map(images, num_threads=3))), wanted)


def test_pairs(tmp_path: Path) -> None:
    low, high = noise(64, 80), noise(128, 160)
    np.save(tmp_path / "low.npy", low)
    np.save(tmp_path / "high.npy", high)
    crop = PairedRandomCrop(24, 2)
    torch.manual_seed(3)
    wanted = crop((Image.fromarray(low), Image.fromarray(high)))
    torch.manual_seed(3)
    found = crop((lazy(tmp_path / "low.npy"), lazy(tmp_path / "high.npy")))
    assert all(map(equal, found, wanted))


def test_info(source: Any) -> None:
    info = image_info(source(npy(pixels((61, 83, 3)))))
    assert info == fastaug.io.ImageInfo((83, 61), "RGB", "NPY", 1, 8)


def test_info_of_a_large_file_reads_its_header(tmp_path: Path) -> None:
    large(tmp_path / "large.npy", 3000, 4000)
    assert image_info(tmp_path / "large.npy").size == (4000, 3000)


def test_check_and_explain_take_it(tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", noise(61, 83))
    transform = T.Compose([T.RandomCrop(31), T.ToTensor()])
    assert transform.check([lazy(tmp_path / "image.npy")], seeds=3)
    plan = T.Compose([T.Decode(), T.CenterCrop(20)]).explain(tmp_path / "image.npy")
    assert plan.passes[0]["name"] == "decode"
    assert "NPY" in str(plan)


@pytest.mark.parametrize("order", "|<>=")
def test_the_order_of_a_byte_says_nothing(source: Any, order: str) -> None:
    array = pixels((5, 7))
    header = f"{{'descr': '{order}u1', 'fortran_order': False, 'shape': (5, 7)}}\n"
    assert np.array_equal(imread(source(with_header(header, array.tobytes())), "L"), array)


@each(
    "header",
    [
        "{'shape': (5, 7), 'fortran_order': False, 'descr': '|u1'}",
        '{"descr":"|u1","fortran_order":False,"shape":(5,7,),}   \n',
        " \n{ 'descr' : '|u1' , 'fortran_order' : False , 'shape' : ( 5 , 7 ) , } ",
    ],
)
@each("version", [1, 2, 3])
def test_headers_of_other_writers(source: Any, header: str, version: int) -> None:
    array = pixels((5, 7))
    data = with_header(header, array.tobytes(), version)
    assert np.array_equal(np.load(io.BytesIO(data)), array)
    assert np.array_equal(imread(source(data), "L"), array)


def test_more_bytes_than_announced_are_nobodys(source: Any) -> None:
    array = pixels((5, 7, 3))
    assert np.array_equal(imread(source(npy(array) + b"more")), array)


def objects() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([[{}, {}]], object), allow_pickle=True)
    return file.getvalue()


IMAGE = npy(pixels((5, 7, 3)))
GOOD = "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 7, 3)}"

#: What is no image, and what is said of it.
BAD = {
    "bool": (npy(np.zeros((5, 7), bool)), r"dtype is not uint8.*'\|b1'"),
    "int8": (npy(np.zeros((5, 7), np.int8)), r"dtype is not uint8.*'\|i1'"),
    "uint16": (npy(np.zeros((5, 7), np.uint16)), r"dtype is not uint8.*'<u2'"),
    "float32": (npy(np.zeros((5, 7, 3), np.float32)), r"dtype is not uint8.*'<f4'.*\(5, 7, 3\)"),
    "fields": (npy(np.zeros((5, 7), [("a", "u1")])), r"dtype is not uint8.*\[\('a', '\|u1'\)\]"),
    "objects": (objects(), r"dtype is not uint8.*'\|O'"),
    "Fortran order": (npy(np.asfortranarray(pixels((5, 7, 3)))), "in Fortran order.*True"),
    "no rows": (npy(np.zeros((0, 7, 3), np.uint8)), r"has no pixels.*\(0, 7, 3\)"),
    "no columns": (npy(np.zeros((5, 0, 3), np.uint8)), r"has no pixels.*\(5, 0, 3\)"),
    "no channels": (npy(np.zeros((5, 7, 0), np.uint8)), r"has no pixels.*\(5, 7, 0\)"),
    "five channels": (npy(np.zeros((5, 7, 5), np.uint8)), r"more than four channels.*\(5, 7, 5\)"),
    "no axes": (npy(np.zeros((), np.uint8)), r"two or three axes.*\(\)"),
    "one axis": (npy(np.zeros(5, np.uint8)), r"two or three axes.*\(5,\)"),
    "four axes": (npy(np.zeros((2, 5, 7, 3), np.uint8)), r"two or three axes.*\(2, 5, 7, 3\)"),
    "truncated by a byte": (IMAGE[:-1], r"truncated.*\(5, 7, 3\)"),
    "no samples": (IMAGE[: -5 * 7 * 3], r"truncated.*\(5, 7, 3\)"),
    "half a header": (IMAGE[:60], "truncated"),
    "no header": (IMAGE[:10], "truncated"),
    "half a length": (IMAGE[:9], "truncated"),
    "half a length of version 2": (b"\x93NUMPY\2\0\1\0\0", "truncated"),
    "no version": (IMAGE[:6], "truncated"),
    "version 0.0": (IMAGE[:6] + b"\0" + IMAGE[7:], "version 1.0, 2.0 or 3.0"),
    "version 4.0": (IMAGE[:6] + b"\4" + IMAGE[7:], "version 1.0, 2.0 or 3.0"),
    "version 1.1": (IMAGE[:7] + b"\1" + IMAGE[8:], "version 1.0, 2.0 or 3.0"),
    # Hostile ones.
    "a header of 4 GiB": (b"\x93NUMPY\2\0\xff\xff\xff\xff" + b" " * 90, "longer than 10000 bytes"),
    "a long header": (with_header(GOOD + " " * 10000, b"\0" * 105), "longer than 10000 bytes"),
    "sides whose product is 0 in 64 bits": (
        with_header(GOOD.replace("(5, 7, 3)", "(4294967296, 4294967296, 1)")),
        "side of more than 2147483647",
    ),
    "the largest sides": (with_header(GOOD.replace("(5, 7, 3)", "(2147483647, 2147483647, 4)")), "truncated"),
    "a side of a thousand digits": (with_header(GOOD.replace("5", "9" * 1000)), "side of more than"),
    "a negative side": (with_header(GOOD.replace("5", "-5")), "not one that NumPy writes"),
    "a side that is none": (with_header(GOOD.replace("5", "5.0")), "not one that NumPy writes"),
    "a side that is a name": (with_header(GOOD.replace("5", "x")), "not one that NumPy writes"),
    "a thousand axes": (with_header(GOOD.replace("5", "1, " * 1000 + "5")), "not one that NumPy writes"),
    "no tuple": (with_header(GOOD.replace("(5, 7, 3)", "(5)")), "not one that NumPy writes"),
    "two shapes": (with_header(GOOD[:-1] + ", 'shape': (1, 1)}"), "not one that NumPy writes"),
    "no shape": (with_header("{'descr': '|u1', 'fortran_order': False}"), "not one that NumPy writes"),
    "one more key": (with_header(GOOD[:-1] + ", 'more': 1}"), "not one that NumPy writes"),
    "code": (with_header(GOOD.replace("False", "__import__('os').abort()")), "not one that NumPy writes"),
    "brackets": (with_header("(" * 9000), "not one that NumPy writes"),
    "nothing": (with_header(""), "not one that NumPy writes"),
    "escapes": (with_header(GOOD.replace("|u1", "\\x7cu1")), "not one that NumPy writes"),
    "open string": (with_header(GOOD[:8]), "not one that NumPy writes"),
    "open braces": (with_header(GOOD[:-1]), "not one that NumPy writes"),
    "open tuple": (with_header(GOOD[:-2]), "not one that NumPy writes"),
    "more behind it": (with_header(GOOD + "{}"), "not one that NumPy writes"),
    "zero bytes": (with_header(b"\0" * 118), "not one that NumPy writes"),
}


@each("name", BAD)
def test_what_is_no_image(source: Any, name: str) -> None:
    data, said = BAD[name]
    file = source(data)
    calls: list[Callable[[], Any]] = [
        lambda: imread(file),
        lambda: imread(file, region=(0, 0, 1, 1)),
        lambda: image_info(file),
        lambda: lazy(file).size,
        lambda: np.asarray(lazy(file)),
        lambda: lazy(file, "CMYK").load(),
        lambda: T.Compose([T.RandomCrop(1)])(lazy(file)),
        lambda: T.Compose([T.Decode(), T.ToTensor()])(file),
        lambda: imread_batch([file]),
    ]
    for call in calls:
        with pytest.raises(fastaug.DecodeError, match=f"(?s){said}") as caught:
            call()
        assert caught.value.format == "NPY"
        assert caught.value.filename == (None if isinstance(file, bytes) else str(file))
        assert "uint8 in C order, of shape [H, W] or [H, W, 1 to 4]" in str(caught.value)
        pickle.loads(pickle.dumps(caught.value))


@each("length", range(len(IMAGE)))
def test_every_beginning_of_a_file(source: Any, length: int) -> None:
    with pytest.raises(fastaug.DecodeError):
        imread(source(IMAGE[:length]))


def test_random_headers_are_numpys_or_an_error(source: Any) -> None:
    rng = np.random.default_rng(7)
    taken = 0
    for _ in range(400):
        data = bytearray(IMAGE)
        for place in rng.integers(6, 80, rng.integers(1, 4)):
            data[place] = rng.choice(np.frombuffer(b"0123456789 ,()'|u1\n\0\xff", np.uint8))
        try:
            found = imread(source(bytes(data)), "RGBA")
        except fastaug.DecodeError:
            continue
        wanted = np.load(io.BytesIO(bytes(data)))
        assert np.array_equal(found, np.asarray(image_of(wanted).convert("RGBA")))
        taken += 1
    assert taken > 5


def test_pillows_limit_comes_before_memory(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = source(npy(pixels((61, 83, 3))))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 61 * 83 - 1)
    with pytest.warns(Image.DecompressionBombWarning):
        imread(file)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 61 * 83 // 2 - 1)
    with pytest.raises(Image.DecompressionBombError):
        image_info(file)


def test_torchvisions_spelling_does_not_know_it(tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", pixels((5, 7, 3)))
    with pytest.raises(RuntimeError, match="Unsupported image file"):
        fastaug.io.read_image(tmp_path / "image.npy")


def test_sixteen_bits_are_of_png_files(source: Any) -> None:
    with pytest.raises(ValueError, match="got a NPY file of 8 bits"):
        imread(source(IMAGE), "RGB;16")


def large(path: Path, height: int, width: int) -> np.ndarray:
    """A file of which most is a hole, and its pixels."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(height, width, 3))
    array[1500:1596, 2000:2096] = noise(96, 96)
    array.flush()
    return np.asarray(array)


def mapped_kib(path: Path) -> list[int]:
    """Of each map of the file in this process: how much of it has been touched."""
    found, ours = [], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            ours = line.endswith(str(path))
        elif ours and line.startswith("Rss:"):
            found.append(int(line.split()[1]))
    return found


needs_smaps = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="reads /proc/self/smaps, Linux's")


@needs_smaps
def test_only_the_pages_of_a_crop_are_touched(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    array = large(path, 3000, 4000)
    wanted = array[1500:1596, 2000:2096].copy()
    del array
    image = lazy(path)
    assert image.size == (4000, 3000)
    assert len(mapped_kib(path)) == 1
    assert mapped_kib(path)[0] <= 128  # the header, and what the system maps around it
    assert np.array_equal(np.asarray(T.functional.crop(image, 1500, 2000, 96, 96)), wanted)
    rows = 96 * 4000 * 3 // 1024
    assert mapped_kib(path)[0] <= rows + 512
    assert mapped_kib(path)[0] < os.path.getsize(path) / 1024 / 20
    assert np.asarray(image).shape == (3000, 4000, 3)
    assert mapped_kib(path)[0] > os.path.getsize(path) / 1024 * 0.9  # and this is what a whole image looks like


@needs_smaps
def test_the_map_stays_in_the_handle_and_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read_file = encoded.read_file
    monkeypatch.setattr(encoded, "read_file", lambda path: reads.append(path) or read_file(path))
    path = tmp_path / "image.npy"
    np.save(path, pixels((61, 83, 3)))
    image = lazy(path)
    assert not mapped_kib(path)
    for _ in range(5):
        assert image.size == (83, 61)
        T.Compose([T.RandomCrop(20)])(image)
        np.asarray(image)
    assert len(reads) == len(mapped_kib(path)) == 1
    assert not image.keeps
    for other in (pickle.loads(pickle.dumps(image)), copy.copy(image)):
        assert len(mapped_kib(path)) == 1
        assert other.path == str(path)
    image.release()
    assert not mapped_kib(path)
    np.asarray(image)
    assert len(mapped_kib(path)) == 1
    del image
    assert not mapped_kib(path)


@needs_smaps
def test_only_so_many_are_mapped_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "_MOST_MAPPED", 10)
    monkeypatch.setattr(encoded, "_mapped", type(encoded._mapped)())
    path = tmp_path / "image.npy"
    array = pixels((61, 83, 3))
    np.save(path, array)
    descriptors = len(os.listdir("/proc/self/fd"))
    images = [lazy(path) for _ in range(50)]
    for _ in range(2):
        for image in images:
            assert np.array_equal(np.asarray(image), array)
    assert len(mapped_kib(path)) == 10
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_pickles_are_of_the_path(tmp_path: Path) -> None:
    path = tmp_path / "image.npy"
    np.save(path, pixels((61, 83, 3)))
    image = lazy(path)
    np.asarray(image)
    assert len(pickle.dumps(image)) < 400


def test_a_file_that_is_replaced(tmp_path: Path) -> None:
    path, aside = tmp_path / "image.npy", tmp_path / "aside.npy"
    first, second = noise(61, 83, seed=1), noise(30, 40, seed=2)
    np.save(path, first)
    image = lazy(path)
    assert np.array_equal(np.asarray(image), first)
    np.save(aside, second)
    os.replace(aside, path)
    assert np.array_equal(np.asarray(image), first)
    image.release()
    assert np.array_equal(np.asarray(T.Compose([T.CenterCrop(30)])(image)), second[:, 5:35])


@each("channels", [1, 2, 3, 4])
@each("mode", ["L", "LA", "RGB", "RGBA"])
def test_a_file_that_ends_with_a_page(tmp_path: Path, channels: int, mode: str) -> None:
    """Behind the last row there is no memory, and none is looked at."""
    path = tmp_path / "image.npy"
    width = 64
    height = (2 * mmap.PAGESIZE - 128) // (width * channels)
    array = noise(height, width, channels)
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {array.shape}}}"
    room = 2 * mmap.PAGESIZE - array.size - 10
    path.write_bytes(with_header(header.ljust(room), array.tobytes()))
    assert path.stat().st_size == 2 * mmap.PAGESIZE
    image = lazy(path, mode)
    wanted = image_of(array).convert(mode)
    assert np.array_equal(np.asarray(image), np.asarray(wanted))
    for steps in (T.CenterCrop(16), T.Resize(7), T.RandomRotation((9, 9)), T.ToTensor()):
        if mode != "LA":
            assert equal(T.Compose([steps])(image), T.Compose([steps])(wanted))
    assert equal(T.functional.crop(image, height - 3, 61, 3, 3), wanted.crop((61, height - 3, 64, height)))


def test_pipes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    array = pixels((61, 83, 3))
    writer = threading.Thread(target=path.write_bytes, args=(npy(array),))
    writer.start()
    assert np.array_equal(imread(path), array)
    writer.join()
