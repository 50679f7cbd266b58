"""Indexes of JPEG streams: who has one, and that nobody's pixels change by it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
from PIL import Image

import fastaug.io
import fastaug.transforms as T
from fastaug import _C
from fastaug._program import ops
from support.images import photo

PHOTOGRAPH = photo("coffee", 300, 420)
OTHER = photo("astronaut", 300, 420)
DATA = made.encode(PHOTOGRAPH, "JPEG", quality=95)
CROP = T.RandomCrop(40)

pytestmark = pytest.mark.usefixtures("nothing_kept")

# Without the decoder that has places, indexes stay empty.
own = pytest.mark.skipif(_C.jpeg_decoder() != "own", reason="JPEGs are decoded by libjpeg here")


@pytest.fixture(autouse=True)
def epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All uses are far apart, so that no pixels are kept."""
    monkeypatch.setattr("fastaug._image.kept.NEAR", 0)


def crops(image: Any, count: int = 6) -> list[np.ndarray]:
    torch.manual_seed(3)
    return [np.asarray(CROP(image)) for _ in range(count)]


def same(ours: list[np.ndarray], theirs: list[np.ndarray]) -> bool:
    return all(map(np.array_equal, ours, theirs))


def of_handle(image: Any) -> _C.ScanIndex | None:
    index: _C.ScanIndex | None = image._index
    return index


@own
@pytest.mark.parametrize("kind", ["path", "bytes"])
def test_a_handle_has_one_from_its_second_use_on(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "photograph.jpg"
    path.write_bytes(DATA)
    image = fastaug.io.lazy(str(path) if kind == "path" else DATA)
    expected = crops(Image.fromarray(made.pillow(DATA)))
    torch.manual_seed(3)
    counts = []
    for k in range(6):
        assert np.array_equal(np.asarray(CROP(image)), expected[k])
        index = of_handle(image)
        counts.append(-1 if index is None else len(index))
    assert counts[0] == -1 and counts[1] > 1 and counts == sorted(counts)
    assert of_handle(pickle.loads(pickle.dumps(image))) is None
    image.release()
    assert of_handle(image) is None
    assert same(crops(image), expected)


@own
def test_batches_count_as_uses() -> None:
    images = [fastaug.io.lazy(DATA) for _ in range(3)]
    transform = T.Compose([CROP])
    for number in range(3):
        torch.manual_seed(number)
        ours = transform.batch(images)
        torch.manual_seed(number)
        theirs = transform.batch([Image.fromarray(made.pillow(DATA))] * 3)
        assert same([np.asarray(one) for one in ours], [np.asarray(one) for one in theirs])
        assert all((of_handle(image) is not None) == (number > 0) for image in images)


def test_whoever_is_used_once_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_C, "ScanIndex", None)
    transform = T.Compose([T.Decode(), CROP])
    for _ in range(3):
        transform(DATA)
        fastaug.io.imread(DATA, region=(200, 300, 20, 30))


def test_other_formats_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_C, "ScanIndex", None)
    image = fastaug.io.lazy(made.encode(PHOTOGRAPH, "PNG"))
    assert same(crops(image), crops(PHOTOGRAPH))


def test_a_file_that_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "photograph.jpg"
    path.write_bytes(DATA)
    image = fastaug.io.lazy(path)
    assert same(crops(image), crops(Image.fromarray(made.pillow(DATA))))
    for other in (made.encode(OTHER, "JPEG", quality=95), DATA[:-900] + DATA[-900:].replace(b"\1", b"\2"), DATA):
        path.write_bytes(other)
        assert same(crops(image), crops(Image.fromarray(made.pillow(other))))


@pytest.mark.parametrize("options", [{"progressive": True}, {"subsampling": 0, "restart_marker_blocks": 7}, {}])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_kinds(options: dict[str, Any], mode: str) -> None:
    data = made.encode(PHOTOGRAPH.convert(mode), "JPEG", **options)
    assert same(crops(fastaug.io.lazy(data, None), 20), crops(Image.fromarray(made.pillow(data, None)), 20))


@own
def test_an_index_of_all(tmp_path: Path) -> None:
    index = _C.Encoded(DATA).scan_index()
    assert len(index) > 10 and len(index.save()) <= len(DATA) / 100
    assert index.is_of(DATA) and not index.is_of(DATA + b"\0")
    loaded = _C.ScanIndex.load(index.save())
    assert loaded is not None and loaded.save() == index.save()
    assert len(_C.Encoded(made.encode(PHOTOGRAPH, "JPEG", progressive=True)).scan_index()) == 0
    assert len(_C.Encoded(made.encode(PHOTOGRAPH, "PNG")).scan_index()) == 0
    assert len(_C.Encoded(DATA[:5000]).scan_index()) == 0
    assert len(_C.Encoded(b"no image").scan_index()) == 0


def hostile(saved: bytes, change: Callable[[np.ndarray], None]) -> _C.ScanIndex:
    """The index with other places, and a hash that fits these."""
    head, size = 32, 10
    places = np.frombuffer(saved[head:-8], np.dtype(("<u1", size))).copy()
    change(places)
    body = saved[:head] + places.tobytes()
    index = _C.ScanIndex.load(body + saved_hash(body))
    assert index is not None
    return index


def saved_hash(body: bytes) -> bytes:
    """hash_of() of csrc/codec/scan_index.cpp."""
    word, factor = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mix(hashed: int, value: int) -> int:
        hashed ^= value
        return ((hashed << 29 | hashed >> 35) & word) * factor & word

    lanes = [factor * (k + 1) & word for k in range(8)]
    whole = len(body) // 64 * 64
    for at in range(0, whole, 8):
        lanes[at // 8 % 8] = mix(lanes[at // 8 % 8], int.from_bytes(body[at : at + 8], "little"))
    hashed = len(body)
    for value in (*lanes, *body[whole:]):
        hashed = mix(hashed, value)
    hashed ^= hashed >> 32
    return (hashed * factor & word).to_bytes(8, "little")


@own
def test_hostile_places_change_no_pixels_that_are_looked_at() -> None:
    saved = _C.Encoded(DATA).scan_index().save()
    encoded = _C.Encoded(DATA)
    whole = np.asarray(Image.fromarray(made.pillow(DATA)))

    def shuffled(places: np.ndarray) -> None:
        places[1:] = np.random.default_rng(0).permutation(places[1:])

    def noise(places: np.ndarray) -> None:
        places[1:] = np.random.default_rng(1).integers(0, 256, places[1:].shape)

    def beyond(places: np.ndarray) -> None:
        places[1:, :4] = 255

    for change in (shuffled, noise, beyond):
        index = hostile(saved, change)
        # Rows as wide as the image, which come by places of the index.
        out = np.empty((100, whole.shape[1], 3), np.uint8)
        job = (ops.window(150, 0, *out.shape[:2]), encoded.source(3, index), _C.into_array(out))
        _C.run([job])
        assert np.array_equal(out, whole[150:250])
        assert len(index) == 0


@own
def test_nothing_is_saved_for_streams_without_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other tables such a stream is another one."""
    tables, stream = made.split_tables(DATA)
    path = tmp_path / "photograph.jpg"
    path.write_bytes(stream)
    assert len(_C.Encoded(stream).scan_index()) == 0
    monkeypatch.setattr("fastaug._image.indexes.saved", None)
    region = (200, 300, 20, 30)
    ours = fastaug.io.imread(path, region=region, jpeg_tables=tables)
    assert np.array_equal(ours, made.pillow(DATA)[200:220, 300:330])
