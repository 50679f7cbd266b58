"""What the three components of a JPEG are, where the file that it lies in says so. The same stream with Adobe's marker,
which says it too, is the oracle: libjpeg obeys it in Pillow."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from image_files import ADOBE, JFIF, encode, marked, unmarked
from PIL import Image, ImageFile

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug import _C
from fastaug.io import LazyImage, imread, imread_batch, lazy
from support.differences import each
from support.images import photo

SPACES = ("rgb", "ycbcr")

APERIO = Path(__file__).parent / "aperio"
TILE, TABLES = (APERIO / "tile.jpg").read_bytes(), (APERIO / "tables.jpg").read_bytes()


def oracle(stream: bytes, colorspace: str, mode: str | None = "RGB", tables: bytes | None = None) -> np.ndarray:
    """Pillow's pixels of a stream that says itself what `colorspace` says of it."""
    whole = stream if tables is None else tables[:-2] + stream[2:]
    return made.pillow(marked(whole, ADOBE[colorspace]), mode)


# A real one.


def test_tile_of_a_slide() -> None:
    expected = oracle(TILE, "rgb", tables=TABLES)
    assert expected.shape == (240, 240, 3)
    guessed = imread(TILE, jpeg_tables=TABLES)
    assert np.abs(guessed.astype(int) - expected).mean() > 20
    assert made.same(guessed, oracle(TILE, "ycbcr", tables=TABLES))
    options: dict[str, Any] = {"jpeg_tables": TABLES, "colorspace": "rgb"}
    assert made.same(imread(TILE, **options), expected)
    for top, left, height, width in ((0, 0, 1, 1), (3, 5, 100, 31), (17, 201, 223, 39), (239, 0, 1, 240)):
        part = imread(TILE, region=(top, left, height, width), **options)
        assert made.same(part, expected[top : top + height, left : left + width])
    for mode in ("L", "RGBA", "CMYK", "1"):
        assert made.same(imread(TILE, mode, **options), oracle(TILE, "rgb", mode, TABLES))
    assert all(made.same(array, expected) for array in imread_batch([TILE] * 3, num_threads=2, **options))
    out = np.zeros((240, 300, 3), np.uint8)[:, 30:270]
    assert made.same(imread(TILE, out=out, **options), expected)


def test_pipelines_on_the_tile() -> None:
    truth = Image.fromarray(oracle(TILE, "rgb", tables=TABLES))
    pipelines: list[Callable[[Any], list[Any]]] = [
        lambda P: [P.RandomResizedCrop(32), P.RandomHorizontalFlip(), P.ToTensor()],
        lambda P: [P.RandomCrop(64), P.ColorJitter(0.2, 0.1, 0.05, 0.02), P.ToTensor()],
        lambda P: [P.Grayscale(), P.Resize(50), P.PILToTensor()],
        lambda P: [P.Lambda(lambda tile: tile.rotate(90)), P.ToTensor()],
    ]
    for steps in pipelines:
        torch.manual_seed(5)
        expected = TV.Compose(steps(TV))(truth)
        for transform, image in (
            (T.Compose([T.Decode(jpeg_tables=TABLES, colorspace="rgb"), *steps(T)]), TILE),
            (T.Compose(steps(T)), lazy(TILE, jpeg_tables=TABLES, colorspace="rgb")),
        ):
            torch.manual_seed(5)
            assert torch.equal(transform(image), expected)


# Streams that are made.


def streams() -> dict[str, bytes]:
    """Of every kind that the core decodes, or leaves to Pillow, at once or when it comes to it."""
    image = photo("ihc", 61, 83)
    files = {}
    for rgb in (False, True):
        name = "RGB" if rgb else "YCbCr"
        files[f"{name} 4:4:4"] = whole = encode(image, "JPEG", keep_rgb=rgb, **({} if rgb else {"subsampling": 0}))
        files[f"{name} progressive"] = encode(image, "JPEG", keep_rgb=rgb, progressive=True)
        files[f"{name} restarts"] = encode(image, "JPEG", keep_rgb=rgb, restart_marker_blocks=2)
        # Continued Exif data, and bytes that are no data.
        exif = b"\xff\xe1\0\x08Exif\0\0"
        files[f"{name} by Pillow"] = whole[:2] + exif + exif + whole[2:]
        files[f"{name} corrupt"] = whole[:-2] + bytes(40) + whole[-2:]
    for sampling in ("4:2:2", "4:2:0"):
        files[f"YCbCr {sampling}"] = encode(image, "JPEG", subsampling=sampling)
    return files


STREAMS = streams()

# What streams say of their components: nothing, by ids, or by markers; one of both markers is wrong.
SAID = {
    "nothing": lambda data: unmarked(data, b"\0\1\2"),
    "ids of YCbCr": lambda data: unmarked(data, b"\1\2\3"),
    "ids of RGB": lambda data: unmarked(data, b"RGB"),
    "JFIF": lambda data: marked(data, JFIF),
    "Adobe RGB": lambda data: marked(data, ADOBE["rgb"]),
    "Adobe YCbCr": lambda data: marked(data, ADOBE["ycbcr"]),
    "Adobe otherwise": lambda data: marked(data, ADOBE["nobody knows"]),
    "both": lambda data: marked(data, JFIF, ADOBE["rgb"]),
}


def test_streams_are_what_they_are_called() -> None:
    for name, data in STREAMS.items():
        encoded = _C.Encoded(data, None)
        assert encoded.native == ("by Pillow" not in name)
        if "corrupt" in name:
            target = _C.into_array(np.empty((61, 83, 3), np.uint8))
            with pytest.raises(_C.Deferred):
                _C.run([(b"", encoded.source(3), target)])
    rgb = STREAMS["RGB 4:4:4"]
    assert b"Adobe" in rgb and b"JFIF" not in rgb  # as tifffile writes it, by imagecodecs
    assert b"Adobe" not in unmarked(rgb, b"RGB")
    assert not made.same(oracle(rgb, "rgb"), oracle(rgb, "ycbcr"))


@pytest.mark.parametrize("name", STREAMS)
@each("said", SAID)
def test_streams(name: str, said: str) -> None:
    data = SAID[said](STREAMS[name])
    assert made.same(imread(data), made.pillow(data))
    for colorspace in SPACES:
        expected = oracle(data, colorspace)
        assert made.same(imread(data, colorspace=colorspace), expected)
        assert made.same(imread(data, colorspace=colorspace, region=(5, 11, 40, 33)), expected[5:45, 11:44])
        assert made.same(imread(data, "L", colorspace=colorspace), oracle(data, colorspace, "L"))
        handle = lazy(data, None, colorspace=colorspace)
        assert made.same(np.asarray(handle.load()), expected) and handle.mode == "RGB"
        assert made.same(np.asarray(handle.pil()), expected)
        crop = T.Compose([T.Decode(colorspace=colorspace), T.CenterCrop(20)])(data)
        assert made.same(np.asarray(crop), np.asarray(TV.CenterCrop(20)(Image.fromarray(expected))))


@pytest.mark.parametrize("colorspace", SPACES)
@pytest.mark.parametrize("name", ["RGB progressive", "YCbCr 4:2:0"])
def test_tables_apart(name: str, colorspace: str) -> None:
    """A marker in the tables says nothing of the streams: libjpeg forgets it."""
    tables, stream = made.split_tables(unmarked(STREAMS[name], b"\0\1\2"))
    for marker in (b"", JFIF, *ADOBE.values()):
        got = imread(stream, jpeg_tables=tables[:2] + marker + tables[2:], colorspace=colorspace)
        assert made.same(got, oracle(STREAMS[name], colorspace))


def test_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole by Pillow's leave, and by its decoder."""
    data = unmarked(encode(photo("ihc", 200, 160), "JPEG", keep_rgb=True), b"\0\1\2")
    data = data[: len(data) * 2 // 3]
    with pytest.raises(fastaug.DecodeError, match="JPEG"):
        imread(data, colorspace="rgb")
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert made.same(imread(data, colorspace="rgb"), oracle(data, "rgb"))


def test_orientation() -> None:
    data = encode(photo("ihc", 61, 83), "JPEG", keep_rgb=True, exif=made.oriented(6))
    data = unmarked(data, b"\0\1\2")
    expected = made.pillow(marked(data, ADOBE["rgb"]), exif=True)
    assert made.same(imread(data, exif=True, colorspace="rgb"), expected)
    assert made.same(np.asarray(lazy(data, exif=True, colorspace="rgb").load()), expected)


# What has no three components.


@each("format", ["JPEG of gray", "PNG", "BMP", "WEBP", "GIF"])
@each("colorspace", SPACES)
def test_no_use(format: str, colorspace: str) -> None:
    image = photo("ihc", 40, 30)
    data = encode(image.convert("L"), "JPEG") if format == "JPEG of gray" else encode(image, format)
    for mode in ("RGB", "L", None):
        got = np.asarray(lazy(data, mode, colorspace=colorspace))  # type: ignore[arg-type]
        assert made.same(got, made.pillow(data, mode))


@pytest.mark.parametrize("colorspace", SPACES)
def test_four_components(colorspace: Any) -> None:
    """Whatever they are, they are not what was said."""
    data = encode(photo("ihc", 40, 30).convert("CMYK"), "JPEG")
    assert imread(data).shape == (40, 30, 3)
    words = f"colorspace '{colorspace}' is of three components, and it has 4"
    for read in (imread, lambda source, **options: np.asarray(lazy(source, **options))):
        with pytest.raises(fastaug.DecodeError, match=words) as caught:
            read(data, colorspace=colorspace)
        assert isinstance(caught.value, ValueError) and caught.value.format == "JPEG"
    with pytest.raises(fastaug.DecodeError, match=words):
        T.Compose([T.Decode(colorspace=colorspace), T.ToTensor()])(data)


def test_several_images() -> None:
    image = photo("ihc", 40, 30)
    data = encode(image, "MPO", save_all=True, append_images=[image.rotate(180)])
    assert fastaug.io.image_info(data).format == "MPO"
    first = encode(image, "JPEG")
    assert made.same(imread(data, colorspace="rgb"), oracle(first, "rgb"))
    assert made.same(imread(data, colorspace="ycbcr"), imread(data))


# Arguments, and what is kept of them.


@each("value", ["RGB", "YCbCr", "", "cmyk", 2, 0, True, b"rgb", ("rgb",), np.zeros(2)])
def test_no_colorspace(value: Any) -> None:
    data = STREAMS["RGB 4:4:4"]
    for call in (
        lambda: imread(data, colorspace=value),
        lambda: imread_batch([data], colorspace=value),
        lambda: lazy(data, colorspace=value),
        lambda: LazyImage(data, colorspace=value),
        lambda: T.Decode(colorspace=value),
    ):
        with pytest.raises(ValueError, match=r"colorspace should be None, 'rgb' or 'ycbcr', got "):
            call()
    with pytest.raises(ValueError, match="colorspace must be"):
        _C.Encoded(data, None, "RGB")


def test_handles_keep_it() -> None:
    data = unmarked(STREAMS["RGB 4:4:4"], b"\0\1\2")
    handle = lazy(data, colorspace="rgb")
    assert repr(handle) == f"LazyImage(<{len(data)} bytes>, mode='RGB', colorspace='rgb')"
    expected = oracle(data, "rgb")
    for other in (pickle.loads(pickle.dumps(handle)), copy.copy(handle), copy.deepcopy(handle)):
        assert repr(other) == repr(handle)
        assert made.same(np.asarray(other), expected)
        assert made.same(np.asarray(other.convert("L")), oracle(data, "rgb", "L"))
    decode = T.Decode(colorspace="rgb")
    assert repr(decode) == "Decode(mode='RGB', colorspace='rgb')" and repr(T.Decode()) == "Decode(mode='RGB')"
    for transform in (pickle.loads(pickle.dumps(decode)), copy.deepcopy(decode)):
        assert repr(transform) == repr(decode)
        assert made.same(np.asarray(transform(data)), expected)


def test_older_pickles() -> None:
    """Those of versions that knew no colorspace."""
    data = STREAMS["YCbCr 4:4:4"]
    handle = LazyImage.__new__(LazyImage)
    handle.__setstate__((data, None, ("L",), None, False))
    assert handle.colorspace is None and made.same(np.asarray(handle), made.pillow(data, "L"))
    decode = T.Decode("L")
    state = decode.__getstate__() if hasattr(decode, "__getstate__") else vars(decode)
    older = T.Decode.__new__(T.Decode)
    older.__setstate__({name: value for name, value in state.items() if name != "colorspace"})
    assert repr(older) == "Decode(mode='L')" and made.same(np.asarray(older(data)), made.pillow(data, "L"))


def test_explain_names_it() -> None:
    image = lazy(STREAMS["RGB 4:4:4"], colorspace="rgb")
    assert "JPEG RGB 61x83, colorspace 'rgb'" in str(T.Compose([T.ToTensor()]).explain(image))
    transform = T.Compose([T.Decode(colorspace="rgb"), T.ToTensor()])
    assert transform.check(STREAMS["RGB 4:4:4"], 2)
