"""Calls with one file, which the core opens and reads: the pixels of Pillow, and errors and handles as ever."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._image import encoded, indexes, kept
from fastaug.io import LazyImage, lazy
from fastaug.transforms import v2

WARM = 3  # calls, after which a pipeline has its recipe


def noise(number: int, height: int = 40, width: int = 50) -> Image.Image:
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8))


def saved(image: Image.Image, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(noise(1), "JPEG", exif=exif)


# Files that the core decodes, and files that are Pillow's.
OWN = {
    "JPEG": lambda: saved(noise(0), "JPEG"),
    "progressive": lambda: saved(noise(0), "JPEG", progressive=True),
    "gray": lambda: saved(noise(0).convert("L"), "JPEG"),
    "CMYK": lambda: saved(noise(0).convert("CMYK"), "JPEG"),
    "PNG": lambda: saved(noise(0), "PNG"),
    "turned": turned,
    "palette": lambda: saved(noise(0).convert("P"), "PNG"),
    "16 bits": lambda: saved(Image.fromarray(np.arange(2000, dtype=np.uint16).reshape(40, 50)), "PNG"),
}
PILLOWS = {
    "GIF": lambda: saved(noise(0), "GIF"),
    "transparent gray": lambda: saved(noise(0).convert("L"), "PNG", transparency=7),
}


def steps(package: Any) -> list[Any]:
    return [package.RandomCrop(24), package.RandomHorizontalFlip(), package.ToTensor()]


def warm(transform: Any, image: Any) -> Any:
    for _ in range(WARM):
        transform(image)
    return transform


def outcome(transform: Any, image: Any) -> tuple[Any, torch.Tensor]:
    torch.manual_seed(3)
    return transform(image), torch.get_rng_state()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The handles that Python opened, where no handle is expected to have several views."""
    monkeypatch.setattr(kept, "_viewed", 0)
    found: list[Any] = []
    own = encoded.Encoded.encoded

    def counted(self: Any, **options: Any) -> Any:
        found.append(self)
        return own(self, **options)

    monkeypatch.setattr(encoded.Encoded, "encoded", counted)
    return found


@pytest.mark.parametrize("given", ["handle", "handle of bytes", "path", "Path", "bytes"])
@pytest.mark.parametrize("name", [*OWN, *PILLOWS])
def test_pixels(name: str, given: str, tmp_path: Path, opened: list[Any]) -> None:
    data = (OWN | PILLOWS)[name]()
    path = tmp_path / "image"
    path.write_bytes(data)
    expected, state = outcome(TV.Compose(steps(TV)), Image.open(io.BytesIO(data)).convert("RGB"))
    transform = T.Compose(steps(T) if given.startswith("handle") else [T.Decode(), *steps(T)])
    make: Callable[[], Any] = {
        "handle": lambda: lazy(path),
        "handle of bytes": lambda: lazy(data),
        "path": lambda: str(path),
        "Path": lambda: path,
        "bytes": lambda: data,
    }[given]
    warm(transform, make())
    opened.clear()
    result, after = outcome(transform, make())
    assert torch.equal(result, expected)
    assert torch.equal(after, state)
    assert (not opened) == (name in OWN)


@pytest.mark.parametrize("mode", [None, "L", "RGB", "RGBA", "HSV"])
@pytest.mark.parametrize("exif", [False, True])
@pytest.mark.parametrize("name", ["JPEG", "gray", "CMYK", "turned", "PNG"])
def test_modes_and_orientations(name: str, exif: bool, mode: str | None, tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(OWN[name]())
    crop = warm(T.Compose([T.CenterCrop((30, 20)), T.PILToTensor()]), lazy(path))
    expected = TV.Compose([TV.CenterCrop((30, 20)), TV.PILToTensor()])(lazy(path, mode, exif).load())
    assert torch.equal(crop(lazy(path, mode, exif)), expected)
    decoding = warm(T.Compose([T.Decode(mode, exif), *crop.transforms]), str(path))
    assert torch.equal(decoding(str(path)), expected)


def test_a_pipeline_of_v2(tmp_path: Path, opened: list[Any]) -> None:
    path = tmp_path / "image"
    path.write_bytes(OWN["JPEG"]())
    make = lambda: v2.Compose([v2.RandomCrop(24), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])  # noqa: E731
    expected = outcome(make(), Image.open(path).convert("RGB"))
    transform = warm(make(), lazy(path))
    opened.clear()
    result = outcome(transform, lazy(path))
    assert torch.equal(result[0], expected[0])
    assert torch.equal(result[1], expected[1])
    assert not opened


@pytest.mark.parametrize("bad", ["cut", "missing", "folder", "empty", "zero"])
@pytest.mark.parametrize("given", ["handle", "path"])
def test_errors(bad: str, given: str, tmp_path: Path) -> None:
    path = tmp_path / "image.jpg"
    path.write_bytes(OWN["JPEG"]())
    transform = T.Compose(steps(T) if given == "handle" else [T.Decode(), *steps(T)])
    make: Callable[[str], Any] = lazy if given == "handle" else str
    warm(transform, make(str(path)))
    wrong = str(tmp_path) if bad == "folder" else f"{path}.none" if bad == "missing" else str(path)
    if bad == "zero":
        wrong += "\0"
    elif bad in ("cut", "empty"):
        path.write_bytes(path.read_bytes()[: 700 if bad == "cut" else 0])
    with pytest.raises(Exception) as expected:
        T.Compose(transform.transforms)(make(wrong))
    with pytest.raises(type(expected.value)) as caught:
        transform(make(wrong))
    assert str(caught.value) == str(expected.value)


def test_a_file_is_read_at_each_call(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    transform = T.Compose([T.CenterCrop(20), T.ToTensor()])
    for number in range(6):
        noise(number).save(path)
        expected = TV.functional.to_tensor(TV.functional.center_crop(noise(number), 20))
        assert torch.equal(transform(lazy(path)), expected)


def test_a_handle_with_several_views_keeps_its_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "image.jpg"
    path.write_bytes(OWN["JPEG"]())
    transform = warm(T.Compose([T.CenterCrop(20), T.ToTensor()]), lazy(path))
    monkeypatch.setattr(kept, "_viewed", 0)
    handle = lazy(path)
    first = transform(handle)
    assert not handle.keeps
    assert torch.equal(transform(handle), first)
    assert handle.keeps
    path.unlink()
    assert torch.equal(transform(handle), first)
    handle.release()
    with pytest.raises(FileNotFoundError):
        transform(handle)


def test_a_handle_of_many_that_are_seen_once_keeps_nothing(tmp_path: Path, opened: list[Any]) -> None:
    path = tmp_path / "image.jpg"
    path.write_bytes(OWN["JPEG"]())
    transform = warm(T.Compose([T.CenterCrop(20), T.ToTensor()]), lazy(path))
    handles = [lazy(path) for _ in range(2 * kept.NEAR)]
    opened.clear()
    for _ in range(2):
        for handle in handles:
            transform(handle)
    assert not opened
    assert not any(handle.keeps for handle in handles)


def test_bytes_that_were_read_for_a_size_are_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "image.jpg"
    path.write_bytes(OWN["JPEG"]())
    transform = warm(T.Compose([T.CenterCrop(20), T.ToTensor()]), lazy(path))
    expected = transform(lazy(path))
    handle = lazy(path)
    assert handle.size == (50, 40)
    path.unlink()
    assert torch.equal(transform(handle), expected)


def test_a_saved_index_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "image.jpg"
    noise(0, 300, 400).save(path)
    (tmp_path / indexes.NAME).write_bytes(
        indexes.file_of({path.name: fastaug._C.Encoded(path.read_bytes()).scan_index().save()})
    )
    indexes.forget()
    asked = []
    find = indexes.saved
    monkeypatch.setattr(indexes, "saved", lambda path: asked.append(path) or find(path))
    for transform, make in (
        (T.Compose(steps(T)), lazy),
        (T.Compose([T.Decode(), *steps(T)]), str),
    ):
        warm(transform, make(path))
        asked.clear()
        result, _ = outcome(transform, make(path))
        assert asked == [str(path)]
        assert torch.equal(result, outcome(TV.Compose(steps(TV)), Image.open(path).convert("RGB"))[0])


def test_pillows_limit_of_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "image.png"
    noise(0).save(path)
    transform = warm(T.Compose([T.CenterCrop(20), T.ToTensor()]), lazy(path))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1500)
    with pytest.warns(Image.DecompressionBombWarning):
        transform(lazy(path))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 900)
    with pytest.raises(Image.DecompressionBombError):
        transform(lazy(path))


def test_an_array_is_mapped(tmp_path: Path, opened: list[Any]) -> None:
    path = tmp_path / "image.npy"
    np.save(path, np.asarray(noise(0)))
    transform = warm(T.Compose([T.CenterCrop(20), T.ToTensor()]), lazy(path))
    opened.clear()
    handle: LazyImage = lazy(path)
    assert torch.equal(transform(handle), TV.functional.to_tensor(TV.functional.center_crop(noise(0), 20)))
    assert handle in opened
