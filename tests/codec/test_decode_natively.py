"""Calls on encoded images that the core makes by itself: results, errors, warnings and generators are as Python's."""

from __future__ import annotations

import gc
import io
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import image_files
import numpy as np
import pytest
import torch
from encoded_images import encode, oriented
from PIL import Image, ImageFile

import fastaug.transforms as T
from fastaug.io import LazyImage
from fastaug.transforms import v2
from support.differences import each, grouped
from support.images import photo

DATA = encode(photo("coffee", 61, 83), "PNG")
FILES = {
    name: data
    for name, data in (image_files.sound() | image_files.hostile() | image_files.others()).items()
    if "large" not in name
}

ENDS: dict[str, Callable[[], list[Any]]] = {
    "v1": lambda: [T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.ToTensor(), T.Normalize([0.5], [0.25])],
    "PIL": lambda: [T.RandomHorizontalFlip(), T.RandomSolarize(99, 1.0)],
    "v2": lambda: [
        v2.RandomHorizontalFlip(),
        v2.ToImage(),
        v2.ToDtype(torch.float32, True),
        v2.Normalize([0.5], [0.25]),
    ],
}


def made(end: str, *first: Any) -> Any:
    return (v2 if end == "v2" else T).Compose([*first, *ENDS[end]()])


def snapshot(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return type(value), value.dtype, value.shape, value.stride(), value.tolist()
    return type(value), value.mode, value.size, value.info, value.tobytes()


def outcome(call: Callable[[], Any]) -> Any:
    torch.manual_seed(5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = snapshot(call())
        except Exception as error:
            found = type(error), str(error), type(error.__cause__), type(error.__context__)
    return found, [(one.category, str(one.message)) for one in told], torch.get_rng_state().tolist()


def agree(pipeline: Any, given: Any, **options: Any) -> bool:
    """Whether the core makes the call; after it was found to end as Python's does. `options` are of a handle."""
    one, source = (LazyImage(given, **options) if options else given for _ in range(2))
    expected = outcome(lambda: pipeline._run(one, pipeline._call))
    recipe = pipeline._recipe()
    state = torch.get_rng_state()
    native = True

    def call() -> Any:
        nonlocal native
        result = recipe.call(source, pipeline.transforms)
        native = result is not NotImplemented
        return result if native else pipeline._run(source, pipeline._call)

    assert outcome(call) == expected
    torch.set_rng_state(state)
    return native


@grouped(FILES, "name")
@each("truncated", [False, True])
def test_files_of_every_kind(name: str, truncated: bool) -> None:
    end = list(ENDS)[sorted(FILES).index(name) % len(ENDS)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", truncated)
        patch.setattr(Image, "MAX_IMAGE_PIXELS", 1 << 20)
        agree(made(end, T.Decode()), FILES[name])
        agree(made(end), FILES[name], exif=True)


@pytest.mark.parametrize("format", ["JPEG", "PNG"])
@each("end", ENDS)
def test_what_is_broken_is_pillows_to_decode(format: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(photo("coffee", 200, 300), format)
    data = data[:9000] + bytes(20) + data[9020:] if format == "PNG" else data[:9000]
    for truncated in (False, True):
        monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", truncated)
        assert agree(made(end, T.Decode()), data)
        assert agree(made(end), data, mode="RGB")


@each("orientation", range(1, 9))
@each("end", ENDS)
def test_orientations(orientation: int, end: str) -> None:
    data = encode(photo("coffee", 21, 33), "JPEG", exif=oriented(orientation))
    assert agree(made(end, T.Decode(exif=True)), data)
    assert agree(made(end), data, exif=True)


@each("end", ENDS)
def test_sources_of_every_kind(end: str, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(DATA)
    array = np.frombuffer(DATA, np.uint8)
    several = [str(path), path, DATA, bytearray(DATA), memoryview(DATA), array, torch.tensor(array), LazyImage(path)]
    entries = [{"bytes": DATA}, {"bytes": DATA, "path": "no such file"}, {"path": str(path), "bytes": None}]
    for source in [*several, *entries]:
        assert agree(made(end, T.Decode()), source), type(source)
        assert agree(made(end, T.Decode(jpeg_tables=None, colorspace="rgb")), source)
    for source in (
        tmp_path,
        tmp_path / "none",
        "none\0",
        {},
        {"path": None},
        {"bytes": "no path"},
        3,
        None,
        b"",
        array[None],
    ):
        assert not agree(made(end, T.Decode()), source), source


@each("end", ENDS)
def test_images_that_are_open_already(end: str) -> None:
    image = Image.open(io.BytesIO(DATA)).convert("RGB")
    assert agree(made(end, T.Decode()), image) and agree(made(end, T.Decode(None)), image)
    assert not agree(made(end, T.Decode("L")), image)
    assert not agree(made(end, T.Decode(exif=True)), image)


@each("limit", [100, 61 * 83 - 1, 61 * 83, None])
def test_the_limit_of_pixels(limit: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
        assert agree(made("v1", T.Decode()), DATA) == (limit is None or limit >= 61 * 83)


@each("end", ENDS)
def test_files_that_are_open(end: str, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(DATA)
    with open(path, "rb") as buffered, open(path, "rb", buffering=0) as raw, open(path, "rb+") as both:
        for file in (io.BytesIO(DATA), buffered, raw, both):
            file.seek(7)
            assert agree(made(end, T.Decode()), file), file
    for closed in (buffered, raw):
        assert not agree(made(end, T.Decode()), closed)
    with open(path, encoding="latin1") as text:
        assert not agree(made(end, T.Decode()), text)
    assert not agree(made(end, T.Decode()), io.BytesIO(b""))


def test_batches_of_files_that_are_open() -> None:
    pipeline = made("v1", T.Decode())
    files: list[Any] = [io.BytesIO(DATA) for _ in range(9)]
    torch.manual_seed(5)
    expected = torch.stack([pipeline(DATA) for _ in files])
    for several in ([*files[:8], files[0]], files):
        torch.manual_seed(5)
        assert torch.equal(pipeline.batch(several, num_threads=2), expected)


class Once(io.BytesIO):
    """Gives its bytes once."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: Any) -> int:
        raise OSError("no")


@pytest.mark.parametrize("make", [Once, lambda data: pipe(data)], ids=["file", "pipe"])
def test_what_can_be_read_once_is_read_once(make: Callable[[bytes], Any]) -> None:
    pipeline = made("v1", T.Decode())
    assert agree(pipeline, DATA)
    recipe = pipeline._recipe()
    source = make(DATA)
    assert recipe.call(source, pipeline.transforms) is NotImplemented
    expected = outcome(lambda: pipeline(DATA))
    assert outcome(lambda: pipeline(source)) == expected


def pipe(data: bytes) -> str:
    read, write = os.pipe()

    def work() -> None:
        with os.fdopen(write, "wb") as file:
            file.write(data)

    threading.Thread(target=work, daemon=True).start()
    return f"/dev/fd/{read}"


def test_changes_of_the_decode_count_at_once() -> None:
    pipeline = made("PIL", T.Decode())
    for _ in range(9):
        assert pipeline(DATA).mode == "RGB"
    assert pipeline._book.recipe.holds()
    pipeline.transforms[0].mode = "L"
    assert pipeline(DATA).mode == "L"


def test_a_recipe_is_freed_with_its_decode() -> None:
    pipeline = made("v1", T.Decode())
    pipeline.transforms[0].owner = pipeline  # a circle
    for _ in range(9):
        pipeline(DATA)
    assert pipeline._book.recipe.holds()
    gone = weakref.ref(pipeline.transforms[0])
    del pipeline
    gc.collect()
    assert gone() is None
