"""Encoded images for the tests, made by Pillow, and what Pillow makes of them again."""

from __future__ import annotations

import functools
import io
import struct
import zlib

import numpy as np
from image_files import chunk, encode, marked_as_ycck, patched
from PIL import Image, ImageOps

from support.images import noise, photo, pil


def pillow(data: bytes, mode: str | None = "RGB", exif: bool = False) -> np.ndarray:
    """The contract: what imread() is to give."""
    image: Image.Image = Image.open(io.BytesIO(data))
    if exif:
        image = ImageOps.exif_transpose(image)
    return np.asarray(image if mode is None else image.convert(mode))


def same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and bool((ours == theirs).all())


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x112] = orientation
    return exif


def png(samples: np.ndarray, colour: int, bits: int, *chunks: bytes) -> bytes:
    """A PNG of HWC samples, one value for each, without filters; `chunks` go before the pixels."""
    height, width, channels = samples.shape
    if bits == 16:
        rows = [row.astype(">u2").tobytes() for row in samples]
    else:
        places = np.arange(bits - 1, -1, -1)
        rows = [np.packbits((row.reshape(-1, 1) >> places & 1).astype(np.uint8)).tobytes() for row in samples]
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    assert channels == {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    parts = (chunk(b"IHDR", header), *chunks, chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def samples(height: int, width: int, channels: int, bits: int = 16, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << bits, (height, width, channels), dtype=np.uint16)


def resampled(data: bytes, height: int, width: int, sampling: int) -> bytes:
    """Return a JPEG of another size and other factors of luma, with as many blocks: a picture that is out of joint."""
    frame = next(at for marker in (b"\xff\xc0", b"\xff\xc2") if (at := data.find(marker)) >= 0)
    data = patched(data, frame + 5, *struct.pack(">2H", height, width))
    return patched(data, frame + 11, sampling)


def inks(colour: Image.Image) -> Image.Image:
    """Return an RGB image as CMYK with black in it, which Pillow's conversion leaves out."""
    cyan, magenta, yellow, _ = colour.convert("CMYK").split()
    black = ImageOps.invert(colour.convert("L")).point(lambda sample: sample // 2)
    return Image.merge("CMYK", (cyan, magenta, yellow, black))


@functools.cache
def jpegs() -> dict[str, bytes]:
    """JPEG files of every kind that Pillow writes: native ones and others."""
    colour = photo("coffee", 83, 61)
    files = {}
    for sampling in ("4:4:4", "4:2:2", "4:2:0"):
        for quality in (20, 75, 96):
            files[f"{sampling} q{quality}"] = encode(colour, "JPEG", subsampling=sampling, quality=quality)
        files[f"{sampling} progressive"] = encode(colour, "JPEG", subsampling=sampling, progressive=True)
        files[f"{sampling} restarts"] = encode(colour, "JPEG", subsampling=sampling, restart_marker_blocks=3)
    tall = photo("coffee", 96, 61)
    for name, options in (("", {}), (" progressive", {"progressive": True})):
        files["4:4:0" + name] = resampled(encode(colour, "JPEG", subsampling="4:2:2", **options), 171, 31, 0x12)
        files["4:1:1" + name] = resampled(encode(tall, "JPEG", subsampling="4:2:0", **options), 47, 125, 0x41)
    files["optimised"] = encode(colour, "JPEG", optimize=True)
    files["noise"] = encode(Image.fromarray(noise(45, 70)), "JPEG", quality=90)
    files["gray"] = encode(colour.convert("L"), "JPEG")
    files["gray progressive"] = encode(colour.convert("L"), "JPEG", progressive=True)
    files["RGB"] = encode(colour, "JPEG", keep_rgb=True)
    for name, options in (("", {}), (" progressive", {"progressive": True})):
        files["CMYK" + name] = encode(inks(colour), "JPEG", **options)
        files["YCCK" + name] = marked_as_ycck(files["CMYK" + name])
    files["large"] = encode(photo("astronaut"), "JPEG")
    files["Exif"] = encode(colour, "JPEG", exif=oriented(6))
    files["profile and comment"] = encode(colour, "JPEG", icc_profile=bytes(3000), comment=b"a comment")
    files["two images"] = encode(colour, "MPO", save_all=True, append_images=[colour.rotate(90)])
    files["behind the end"] = encode(colour, "JPEG") + b"more"
    return files


@functools.cache
def pngs() -> dict[str, bytes]:
    colour = photo("chelsea", 57, 73)
    files = {mode: encode(colour.convert(mode), "PNG") for mode in ("1", "L", "LA", "RGB", "RGBA", "P")}
    for mode in ("L", "LA", "RGB", "RGBA"):
        files[f"{mode} noise"] = encode(pil(mode, 33, 41), "PNG", compress_level=1)
    files["I;16"] = encode(pil("I;16", 33, 41), "PNG")
    files["I;16 of few"] = png(samples(19, 23, 1, 9), 0, 16)
    files["LA;16"] = png(samples(19, 23, 2), 4, 16)
    files["RGB;16"] = png(samples(19, 23, 3), 2, 16)
    files["RGBA;16"] = png(samples(19, 23, 4), 6, 16)
    for bits in (1, 2, 4):
        files[f"gray of {bits} bits"] = png(samples(9, 13, 1, bits), 0, bits)
        colours = chunk(b"PLTE", noise(1, 1 << bits).tobytes())
        files[f"palette of {bits} bits"] = png(samples(9, 13, 1, bits), 3, bits, colours)
    files["transparent P"] = encode(colour.convert("P"), "PNG", transparency=bytes(range(200)))
    files["transparent L"] = encode(colour.convert("L"), "PNG", transparency=90)
    files["transparent RGB"] = encode(colour, "PNG", transparency=colour.getpixel((3, 4)))
    files["animated"] = encode(colour, "PNG", save_all=True, append_images=[colour.rotate(180)])
    files["text"] = png(noise(9, 13), 2, 8, chunk(b"tEXt", b"Title\0a title"), chunk(b"gAMA", struct.pack(">I", 45455)))
    files["large"] = encode(photo("astronaut"), "PNG")
    files["behind the end"] = encode(colour, "PNG") + b"more"
    return files


def others() -> dict[str, bytes]:
    """Everything else that Pillow reads and writes without another library's leave."""
    colour = photo("ihc", 40, 52)
    files = {
        "GIF": encode(colour, "GIF"),
        "animated GIF": encode(colour, "GIF", save_all=True, append_images=[colour.rotate(180)]),
        "BMP": encode(colour, "BMP"),
        "BMP of a palette": encode(colour.convert("P"), "BMP"),
        "PPM": encode(colour, "PPM"),
        "TGA": encode(colour, "TGA"),
        "ICO": encode(colour, "ICO", sizes=[(32, 32)]),
        "PCX": encode(colour, "PCX"),
        "TIFF": encode(colour, "TIFF"),
        "TIFF of CMYK": encode(colour.convert("CMYK"), "TIFF"),
        "TIFF of I;16": encode(pil("I;16", 21, 35), "TIFF"),
        "TIFF of F": encode(pil("F", 21, 35), "TIFF"),
        "TIFF of 1": encode(colour.convert("1"), "TIFF"),
        "SGI": encode(colour, "SGI"),
    }
    from PIL import features

    for format, feature in (("WEBP", "webp"), ("AVIF", "avif"), ("JPEG2000", "jpg_2000")):
        if features.check(feature):
            files[format] = encode(colour, format)
            if format == "WEBP":
                files["WEBP of RGBA"] = encode(pil("RGBA", 21, 35), "WEBP", lossless=True)
    return files


def split_tables(jpeg: bytes) -> tuple[bytes, bytes]:
    """The tables of a JPEG, and the rest of it: two streams, as TIFF files keep them."""
    tables, rest, at = [b"\xff\xd8"], [b"\xff\xd8"], 2
    while jpeg[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
        (tables if jpeg[at + 1] in (0xDB, 0xC4) else rest).append(jpeg[at:end])
        at = end
    return b"".join((*tables, b"\xff\xd9")), b"".join((*rest, jpeg[at:]))
