"""torchvision's spelling gives what torchvision.io gives: values, dtypes, shapes, strides, and kinds of errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import pytest
import torch
import torchvision.io
from torchvision_calls import check, tensor

import fastaug
import fastaug.io
from support.differences import each
from support.images import noise, photo, pil
from support.versions import since

# torchvision says so at every call.

MODES = ("UNCHANGED", "GRAY", "GRAY_ALPHA", "RGB", "RGB_ALPHA", "RGBA")
COLOUR = photo("coffee", 39, 52)
JPEGS, PNGS, GIF = made.jpegs(), made.pngs(), made.encode(COLOUR, "GIF")


@pytest.mark.parametrize("name", JPEGS)
@each("mode", ["UNCHANGED", "GRAY", "RGB"])
def test_jpeg(name: str, mode: str) -> None:
    data = tensor(JPEGS[name])
    check("decode_jpeg", data, mode)
    check("decode_jpeg", data, torchvision.io.ImageReadMode[mode])
    check("decode_image", data, mode.lower())


@pytest.mark.parametrize("exif", [False, True])
@pytest.mark.parametrize("options", [{}, {"subsampling": 0}, {"progressive": True}, {"keep_rgb": True}])
def test_luma_is_decoded_by_the_core(options: dict[str, Any], exif: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for orientation in (1, 3, 6):
        data = tensor(made.encode(COLOUR, "JPEG", exif=made.oriented(orientation), **options))
        expected = torchvision.io.decode_jpeg(data, "GRAY", apply_exif_orientation=exif)
        with monkeypatch.context() as patch:
            patch.setattr("fastaug._image.pillow.open_image", None)
            assert torch.equal(fastaug.io.decode_jpeg(data, "GRAY", apply_exif_orientation=exif), expected)


# torchvision leaves rows of packed indices as they are, in memory for one index a byte, and writes three channels into
# memory for four where a palette has no alpha: what it returns is in part what was there before.
NEVER_WRITTEN = {
    *((f"palette of {bits} bits", mode) for bits in (1, 2, 4) for mode in ("UNCHANGED", "GRAY_ALPHA", "RGBA")),
    *((name, mode) for name in ("P",) for mode in ("GRAY_ALPHA", "RGBA")),
}


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("name", PNGS)
@each("mode", ["UNCHANGED", "GRAY", "GRAY_ALPHA", "RGB", "RGBA"])
def test_png(name: str, mode: str) -> None:
    data = tensor(PNGS[name])
    if (name, mode) not in NEVER_WRITTEN:
        check("decode_png", data, mode)
        check("decode_image", data, mode)
        return
    result = fastaug.io.decode_png(data, mode)
    if mode == "UNCHANGED":
        assert made.same(result[0].numpy(), made.pillow(PNGS[name], None))
    else:
        colours = fastaug.io.decode_png(data, {"GRAY_ALPHA": "GRAY", "RGBA": "RGB"}[mode])
        assert torch.equal(result[:-1], colours) and bool((result[-1] == 255).all())


GAMMAS = {
    "sRGB": made.chunk(b"sRGB", b"\0"),
    "both": made.chunk(b"gAMA", struct.pack(">I", 30000)) + made.chunk(b"sRGB", b"\0"),
    **{f"gAMA {gamma}": made.chunk(b"gAMA", struct.pack(">I", gamma)) for gamma in (0, 30000, 45455, 96000, 100000)},
}


@pytest.mark.parametrize("bits", [8, 16])
@each("gamma", GAMMAS)
def test_gray_of_png_with_a_gamma(bits: int, gamma: str) -> None:
    samples = made.samples(40, 50, 3, bits)
    samples[:10] = samples[:10, :, :1]
    data = tensor(made.png(samples, 2, bits, GAMMAS[gamma]))
    for mode in ("GRAY", "GRAY_ALPHA"):
        check("decode_png", data, mode)


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@each("gamma", ["none", *GAMMAS])
@each("alphas", [b"", b"\xff\0", b"\x80\0", b"\x07"])
def test_palettes(bits: int, gamma: str, alphas: bytes) -> None:
    """Gray is that of the palette's colours, in linear light if the file has a gamma."""
    chunks = [made.chunk(b"PLTE", noise(1, 1 << bits).tobytes())]
    if alphas:
        chunks.append(made.chunk(b"tRNS", alphas))
    if gamma != "none":
        chunks.insert(0, GAMMAS[gamma])
    for width in (1, 7, 16, 37):
        data = tensor(made.png(made.samples(9, width, 1, bits), 3, bits, *chunks))
        for mode in ("GRAY", "RGB", "RGBA") if alphas else ("GRAY", "RGB"):
            check("decode_png", data, mode)


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
@each("channels", [1, 2])
def test_gray(bits: int, channels: int) -> None:
    if channels == 2 and bits < 8:
        return
    for width in (1, 7, 16, 37):
        data = tensor(made.png(made.samples(9, width, channels, bits), 4 if channels == 2 else 0, bits))
        for mode in MODES:
            check("decode_png", data, mode)


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("source", ["RGB", "RGBA"])
@each("lossless", [False, True])
@each("mode", ["UNCHANGED", "RGB", "RGBA"])
def test_webp(source: str, lossless: bool, mode: str) -> None:
    data = tensor(made.encode(pil(source, 33, 41), "WEBP", lossless=lossless, exact=True))
    check("decode_webp", data, mode)
    check("decode_image", data, mode)


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("mode", ["GRAY", "GRAY_ALPHA"])
def test_webp_is_never_gray(mode: str) -> None:
    data = tensor(made.encode(pil("RGBA", 33, 41), "WEBP"))
    with pytest.warns(UserWarning, match="Webp does not support grayscale"):
        assert torch.equal(fastaug.io.decode_webp(data, mode), torchvision.io.decode_webp(data))


@pytest.mark.skipif(not since(0, 26), reason="older ones read them otherwise")
@pytest.mark.parametrize("mode", ["UNCHANGED", "GRAY", "RGB"])
@each("orientation", range(1, 9))
def test_orientation(orientation: int, mode: str) -> None:
    exif = made.oriented(orientation)
    for format, name in (("JPEG", "decode_jpeg"), ("PNG", "decode_png")):
        for source in ("L", "RGB"):
            data = tensor(made.encode(COLOUR.convert(source), format, exif=exif))
            # Where theirs is a view of the stored image, ours has the usual strides.
            check(name, data, mode, strides=orientation < 5, apply_exif_orientation=True)
            check("decode_image", data, mode, strides=orientation < 5, apply_exif_orientation=True)
            check("decode_image", data, mode)
    check("decode_image", tensor(made.encode(COLOUR, "WEBP", exif=exif)), apply_exif_orientation=True)


def test_lists() -> None:
    data = [tensor(JPEGS[name]) for name in ("gray", "CMYK", "4:2:0 q75")]
    theirs, ours = torchvision.io.decode_jpeg(data, "RGB"), fastaug.io.decode_jpeg(data, "RGB")
    assert isinstance(ours, list) and len(ours) == 3
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_device() -> None:
    data = tensor(JPEGS["gray"])
    assert fastaug.io.decode_jpeg(data, device="meta").device.type == "meta"
    assert fastaug.io.decode_jpeg([data], device=torch.device("cpu"))[0].device.type == "cpu"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    COLOUR.save(path)
    for where in (path, str(path)):
        check("read_file", where)
        check("read_image", where)
        check("read_image", where, "GRAY")
        check("decode_image", where, "RGBA")
    fastaug.io.read_file(path)[0] = 0  # the tensor is the caller's own


def test_modes() -> None:
    theirs = {name: member.value for name, member in torchvision.io.ImageReadMode.__members__.items()}
    assert {name: member.value for name, member in fastaug.io.ImageReadMode.__members__.items()} == theirs


def outcome(call: Callable[[], Any]) -> type[BaseException] | None:
    try:
        call()
    except BaseException as error:
        return type(error)
    return None


WRONG: dict[str, Any] = {
    "empty": torch.empty(0, dtype=torch.uint8),
    "text": tensor(b"this is nothing that anybody decodes"),
    "short": tensor(b"he"),
    "two dimensions": torch.zeros((3, 3), dtype=torch.uint8),
    "float": torch.zeros(30),
    "steps": tensor(JPEGS["gray"])[::2],
    "bytes": JPEGS["gray"],
    "None": None,
    "BMP": tensor(made.encode(COLOUR, "BMP")),
    "half a JPEG": tensor(JPEGS["large"][:9000]),
    "a JPEG without an end": tensor(JPEGS["large"][:-2]),
    "the beginning of a PNG": tensor(PNGS["RGB"][:30]),
    "half a PNG": tensor(PNGS["large"][:9000]),
    "half a GIF": tensor(GIF[: len(GIF) // 2]),
    "the beginning of a GIF": tensor(GIF[:20]),
    "an animated WebP": tensor(made.encode(COLOUR, "WEBP", save_all=True, append_images=[COLOUR.rotate(90)])),
}


@pytest.mark.parametrize("function", ["decode_jpeg", "decode_png", "decode_webp", "decode_gif", "decode_image"])
@each("name", WRONG)
def test_errors(function: str, name: str) -> None:
    theirs = outcome(lambda: getattr(torchvision.io, function)(WRONG[name]))
    ours = outcome(lambda: getattr(fastaug.io, function)(WRONG[name]))
    assert theirs is not None and ours is not None
    assert issubclass(ours, theirs)


def test_decode_errors_are_both() -> None:
    for function, name in (
        ("decode_jpeg", "half a JPEG"),
        ("decode_image", "half a PNG"),
        ("decode_gif", "half a GIF"),
    ):
        with pytest.raises(fastaug.DecodeError) as caught:
            getattr(fastaug.io, function)(WRONG[name])
        assert isinstance(caught.value, RuntimeError)


def test_half_a_webp() -> None:
    """torchvision returns the upper part of the image, with whatever was in memory below it."""
    data = made.encode(COLOUR, "WEBP")
    with pytest.raises(RuntimeError, match="decoder"):
        fastaug.io.decode_image(tensor(data[: len(data) // 2]))


def test_broken_png() -> None:
    """torchvision ends the process on these (signal 11), so it is not asked."""
    data = PNGS["large"]
    at = data.index(b"IDAT") + 4
    for broken in (data[: at + 300] + bytes(50) + data[at + 350 :], data[:16] + b"\0\0\x20\0" * 2 + data[24:]):
        with pytest.raises(RuntimeError):
            fastaug.io.decode_png(tensor(broken))


@each(
    "call",
    [
        lambda io: io.decode_jpeg(tensor(JPEGS["gray"]), "none"),
        lambda io: io.decode_png(tensor(PNGS["L"]), 3),
        lambda io: io.decode_jpeg(tensor(JPEGS["gray"]), "RGBA"),
        lambda io: io.decode_jpeg(tensor(JPEGS["gray"]), "gray_alpha"),
        lambda io: io.decode_jpeg([]),
        lambda io: io.decode_jpeg([1]),
        lambda io: io.decode_jpeg((tensor(JPEGS["gray"]),)),
        lambda io: io.decode_jpeg(tensor(JPEGS["gray"]).to("meta")),
        lambda io: io.decode_jpeg([tensor(JPEGS["gray"]).to("meta")]),
        lambda io: io.read_file("/missing/file"),
        lambda io: io.read_file("/tmp"),
        lambda io: io.read_file("/dev/null"),
        lambda io: io.read_image("/missing/file"),
        lambda io: io.decode_image(b"/missing/file"),
        lambda io: io.decode_image(3),
    ],
)
def test_wrong_calls(call: Callable[[Any], Any]) -> None:
    theirs, ours = outcome(lambda: call(torchvision.io)), outcome(lambda: call(fastaug.io))
    assert theirs is not None and ours is not None and issubclass(ours, theirs)
