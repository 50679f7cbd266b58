"""What encodes and writes images in torchvision's spelling: bytes, pixels, errors; and AVIF and HEIC."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.io
from PIL import Image, ImageFile, features

import fastaug.io
from support.differences import each, grouped
from support.images import noise, photo

PHOTO = torch.from_numpy(np.array(photo("coffee", 37, 51))).permute(2, 0, 1)
IMAGES = {
    "photo": PHOTO,
    "contiguous": PHOTO.contiguous(),
    "gray": PHOTO[:1],
    "part of another": PHOTO[:, 3:20, 5:6],
    "one pixel": PHOTO[:, :1, :1],
    "three of four": torch.from_numpy(noise(40, 30, 4, 6)[:, :, :3]).permute(2, 0, 1),
    "every other": torch.from_numpy(noise(40, 30, 3, 7)).permute(2, 0, 1)[:, ::2, ::2],
    "noise": torch.from_numpy(noise(40, 30, 3, 5)).permute(2, 0, 1),
}
NAMES = ("decode_avif", "decode_heic", "encode_jpeg", "encode_png", "write_file", "write_jpeg", "write_png")


def error_of(function: Callable[..., Any], *arguments: Any) -> type[BaseException]:
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.type


@pytest.mark.parametrize("name", NAMES)
def test_arguments(name: str) -> None:
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (fastaug.io, torchvision.io))
    assert list(ours) == list(theirs)
    for one, two in zip(ours.values(), theirs.values()):
        assert one.kind is two.kind and getattr(one.default, "name", one.default) == getattr(
            two.default, "name", two.default
        )


def test_every_function_of_torchvision_is_there() -> None:
    missing = set(torchvision.io.__all__) - set(fastaug.io.__all__)
    assert not [name for name in missing if "video" not in name.lower()]
    assert set(NAMES) <= set(torchvision.io.__all__)


@pytest.mark.parametrize("name", IMAGES)
@each("quality", [1, 49, 75, 96, 100])
def test_jpeg(name: str, quality: int) -> None:
    """Equal bytes: Pillow and torchvision ask their libjpeg-turbo for the same."""
    image = IMAGES[name]
    ours, theirs = (module.encode_jpeg(image, quality) for module in (fastaug.io, torchvision.io))
    assert ours.dtype is torch.uint8 and ours.ndim == 1
    assert torch.equal(torchvision.io.decode_jpeg(ours), torchvision.io.decode_jpeg(theirs))
    if features.version("libjpeg_turbo") is not None:
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("name", IMAGES)
@each("level", [0, 6, 9])
def test_png(name: str, level: int) -> None:
    image = IMAGES[name]
    ours = fastaug.io.encode_png(image, level)
    assert ours.dtype is torch.uint8 and ours.ndim == 1
    for module in (fastaug.io, torchvision.io):
        assert torch.equal(module.decode_png(ours), image)


def test_png_levels_are_zlibs() -> None:
    none, fast, small = (fastaug.io.encode_png(PHOTO, level).numel() for level in (0, 1, 9))
    assert none > PHOTO.numel() > fast >= small


def test_several() -> None:
    found = fastaug.io.encode_jpeg([PHOTO, PHOTO[:1]], quality=50)
    assert all(torch.equal(one, fastaug.io.encode_jpeg(image, 50)) for one, image in zip(found, (PHOTO, PHOTO[:1])))
    assert isinstance(found, list) and len(found) == 2


@grouped(
    [
        *[("encode_jpeg", (PHOTO, quality)) for quality in (0, -1, 101)],
        *[("encode_png", (PHOTO, level)) for level in (-1, 10)],
        *[
            (name, (image,))
            for name in ("encode_jpeg", "encode_png")
            for image in (PHOTO[:2], PHOTO[0], PHOTO.float(), PHOTO[None], torch.zeros(4, 3, 3, dtype=torch.uint8))
        ],
        ("encode_jpeg", ([],)),
        ("encode_jpeg", ([PHOTO, PHOTO.float()],)),
        ("encode_jpeg", (None,)),
        ("write_file", ("/nowhere/file", torch.zeros(3, dtype=torch.uint8))),
        ("write_file", ("/tmp/never", torch.zeros(3))),
        ("write_file", ("/tmp/never", torch.zeros(3, 3, dtype=torch.uint8))),
        ("write_jpeg", (PHOTO, "/nowhere/file.jpg")),
        ("write_png", (PHOTO, "/nowhere/file.png")),
        ("write_jpeg", (PHOTO, "/tmp/never", 0)),
    ],
    ("name", "arguments"),
    lambda case: case[0],
)
def test_errors(name: str, arguments: tuple[Any, ...]) -> None:
    ours, theirs = (error_of(getattr(module, name), *arguments) for module in (fastaug.io, torchvision.io))
    assert ours is theirs
    assert not Path("/tmp/never").exists()


@pytest.mark.parametrize("function", [fastaug.io.encode_jpeg, fastaug.io.encode_png])
def test_an_image_without_pixels(function: Callable[..., Any]) -> None:
    """Of which torchvision ends the process."""
    with pytest.raises(RuntimeError, match="cannot"):
        function(torch.zeros(3, 0, 4, dtype=torch.uint8))


def test_files(tmp_path: Path) -> None:
    for module in (fastaug.io, torchvision.io):
        written = module.write_jpeg(PHOTO, tmp_path / "a.jpg", quality=90)
        assert torch.equal(written, fastaug.io.read_file(tmp_path / "a.jpg"))
        assert torch.equal(fastaug.io.read_image(tmp_path / "a.jpg"), torchvision.io.read_image(tmp_path / "a.jpg"))
        written = module.write_png(PHOTO, str(tmp_path / "a.png"))
        assert torch.equal(written, fastaug.io.read_file(tmp_path / "a.png"))
        assert torch.equal(fastaug.io.read_image(tmp_path / "a.png"), PHOTO)
        data = torch.arange(9, dtype=torch.uint8)
        assert torch.equal(module.write_file(str(tmp_path / "a"), data), data)
        assert (tmp_path / "a").read_bytes() == bytes(range(9))
    fastaug.io.write_file(tmp_path / "a", torch.arange(9, dtype=torch.uint8)[::2])
    assert (tmp_path / "a").read_bytes() == bytes((0, 2, 4, 6, 8))


def encoded(image: Image.Image, format: str, **options: Any) -> torch.Tensor:
    file = io.BytesIO()
    image.save(file, format, **options)
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)


needs_avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow was built without AVIF")


@needs_avif
@pytest.mark.parametrize("stored", ["L", "RGB", "RGBA"])
@each(("mode", "channels"), [("UNCHANGED", None), ("rgb", 3), ("RGB_ALPHA", 4), ("RGBA", 4)])
def test_avif(stored: str, mode: str, channels: int | None) -> None:
    picture = photo("chelsea", 24, 31).convert(stored)
    if stored == "RGBA":
        picture.putalpha(photo("coffee", 24, 31).convert("L"))
    data = encoded(picture, "AVIF", quality=90)
    result = fastaug.io.decode_avif(data, mode)
    channels = channels or (4 if stored == "RGBA" else 3)
    image = Image.open(io.BytesIO(data.numpy().tobytes())).convert("RGBA" if channels == 4 else "RGB")
    assert result.shape == (channels, 24, 31) and result.dtype is torch.uint8 and result.stride()[0] == 1
    assert np.array_equal(result.permute(1, 2, 0).numpy(), np.asarray(image))


@needs_avif
def test_avif_that_is_refused() -> None:
    data = encoded(photo("chelsea", 24, 31), "AVIF")
    for mode in ("GRAY", fastaug.io.ImageReadMode.GRAY_ALPHA):
        with pytest.warns(UserWarning, match="AVIF does not support grayscale"):
            assert fastaug.io.decode_avif(data, mode).shape[0] == 3
    long = data.clone()
    long[data.numpy().tobytes().index(b"av1C") + 6] |= 0x40
    with pytest.raises(RuntimeError, match="more than 8 bits"):
        fastaug.io.decode_avif(long)
    jpeg = fastaug.io.encode_jpeg(PHOTO)
    for wrong in (
        jpeg,
        data[: data.numel() // 2],
        data[:0],
        data[None],
        data.float(),
        torch.zeros(50, dtype=torch.uint8),
    ):
        with pytest.raises(RuntimeError):
            fastaug.io.decode_avif(wrong)


def test_heic_takes_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    data = torch.tensor([0, 0, 0, 24, *b"ftypheic", *bytes(40)], dtype=torch.uint8)
    monkeypatch.delitem(Image.OPEN, "HEIF", raising=False)
    with pytest.raises(RuntimeError, match="pillow_heif"):
        fastaug.io.decode_heic(data)


class RawHeif(ImageFile.ImageFile):
    """Stands in for pillow-heif's plugin: the pixels lie behind a header."""

    format = "HEIF"

    def _open(self) -> None:
        self._size, self._mode = (31, 24), "RGBA" if self.fp.read(len(HEAD))[-1] else "RGB"
        self.tile = [ImageFile._Tile("raw", (0, 0, 31, 24), len(HEAD), self._mode)]


HEAD = bytes((0, 0, 0, 24)) + b"ftypheic" + bytes(20)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_heic_where_pillow_opens_it(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Image.OPEN, "HEIF", (RawHeif, lambda start: start[4:12] == b"ftypheic"))
    monkeypatch.setattr(Image, "ID", ["HEIF", *Image.ID])
    image = photo("chelsea", 24, 31).convert(mode)
    content = HEAD[:-1] + bytes([mode == "RGBA"]) + image.tobytes()
    data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    assert np.array_equal(fastaug.io.decode_heic(data).permute(1, 2, 0).numpy(), np.asarray(image))
    assert fastaug.io.decode_heic(data, "rgb").shape == (3, 24, 31)
    with pytest.warns(UserWarning, match="Heif does not support grayscale"):
        assert fastaug.io.decode_heic(data, "GRAY").shape == (len(mode), 24, 31)
    with pytest.raises(RuntimeError):
        fastaug.io.decode_heic(data[:500])
    with pytest.raises(RuntimeError, match="Not a HEIC file"):
        fastaug.io.decode_heic(fastaug.io.encode_png(PHOTO))
