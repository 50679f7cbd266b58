"""Encoded files: sound ones of every kind, hostile ones, and mutations of both.

`python tests/codec/image_files.py FOLDER` writes them, one folder for each fuzz target, as seeds.
"""

from __future__ import annotations

import io
import random
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Samples per pixel, by the colour type of a PNG.
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
#: Left, top, horizontal and vertical step of Adam7's passes.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Smooth and noisy parts, in any mode that numpy's uint8 arrays have."""
    noise = np.random.default_rng(width * 1000 + height)
    y, x, c = np.mgrid[0:height, 0:width, 0:4]
    waves = 128 + 90 * np.sin(x / 5 + c) * np.cos(y / 7 - c) + noise.normal(0, 12, x.shape)
    image = Image.fromarray(np.clip(waves, 0, 255).astype(np.uint8))
    return image.convert("RGB").convert(mode) if mode in ("L", "CMYK", "YCbCr", "RGB") else image.convert(mode)


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


# JPEG


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags.tobytes()


def abbreviated(image: Image.Image) -> tuple[bytes, bytes]:
    """Tables and a file without them, as whole-slide images keep them."""
    return encode(image, "JPEG", streamtype=1), encode(image, "JPEG", streamtype=2)


def jpegs() -> dict[str, bytes]:
    """Sound JPEG files that Pillow decodes."""
    files = {}
    for width, height in ((1, 1), (7, 5), (40, 29), (67, 18)):
        for subsampling in (0, 1, 2):
            name = f"{width}x{height}-{subsampling}"
            image = picture(width, height)
            files[name] = encode(image, "JPEG", subsampling=subsampling)
            files[name + "-progressive"] = encode(image, "JPEG", subsampling=subsampling, progressive=True)
        files[f"{width}x{height}-gray"] = encode(picture(width, height, "L"), "JPEG")
    photo = picture(70, 53)
    for quality in (5, 50, 100):
        files[f"quality-{quality}"] = encode(photo, "JPEG", quality=quality)
    files["optimised"] = encode(photo, "JPEG", optimize=True)
    files["restart-blocks"] = encode(photo, "JPEG", restart_marker_blocks=2)
    files["restart-rows"] = encode(photo, "JPEG", restart_marker_rows=1, subsampling=0)
    files["restart-progressive"] = encode(photo, "JPEG", restart_marker_blocks=3, progressive=True)
    files["gray-progressive"] = encode(picture(33, 34, "L"), "JPEG", progressive=True)
    files["cmyk"] = encode(picture(20, 21, "CMYK"), "JPEG")
    files["ycck-progressive"] = marked_as_ycck(encode(picture(21, 20, "CMYK"), "JPEG", progressive=True))
    files["rgb"] = encode(photo, "JPEG", keep_rgb=True)
    files["rgb-unmarked"] = unmarked(files["rgb"], b"\0\1\2")
    for orientation in range(1, 9):
        files[f"exif-{orientation}"] = encode(picture(12, 9), "JPEG", exif=exif(orientation))
    files["comment"] = encode(photo, "JPEG", comment=b"a comment", dpi=(300, 300))
    files["icc"] = encode(photo, "JPEG", icc_profile=b"not a profile" * 9)
    files["after-eoi"] = files["40x29-2"] + b"\0more\xff\xd8"
    files["default-tables"] = without_segment(files["40x29-2"], 0xC4)
    return files


def marked_as_ycck(data: bytes) -> bytes:
    """Return a JPEG of CMYK whose samples are those of YCCK, as Adobe's marker then says."""
    return patched(data, data.index(b"Adobe") + 11, 2)


def marker_at(data: bytes, code: int) -> int:
    """Where the first segment with this marker begins."""
    at = 2
    while data[at + 1] != code:
        assert data[at] == 0xFF and data[at + 1] != 0xDA
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return at


def without_segment(data: bytes, code: int) -> bytes:
    """Without all segments that have this marker."""
    kept, at = [data[:2]], 2
    while True:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if data[at + 1] != code:
            kept.append(data[at:end])
        if data[at + 1] == 0xDA:
            return b"".join(kept) + data[end:]
        at = end


def unmarked(data: bytes, ids: bytes) -> bytes:
    """Without JFIF's and Adobe's markers, and with these ids of components."""
    file = bytearray(without_segment(without_segment(data, 0xE0), 0xEE))
    at = 2
    while file[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(file[at + 2 : at + 4], "big")
    places = range(at + 10, at + 10 + 3 * len(ids), 3)
    renamed = dict(zip((file[place] for place in places), ids, strict=True))
    for place in places:
        file[place] = renamed[file[place]]
    while (at := file.find(b"\xff\xda", at + 2)) >= 0:
        for place in range(at + 5, at + 5 + 2 * file[at + 4], 2):
            file[place] = renamed[file[place]]
    return bytes(file)


JFIF = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
#: Adobe's marker, by what it says that three components are.
ADOBE = {
    name: b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0" + bytes([transform])
    for name, transform in {"rgb": 0, "ycbcr": 1, "nobody knows": 9}.items()
}


def marked(data: bytes, *markers: bytes) -> bytes:
    """With these instead of JFIF's and Adobe's markers."""
    data = without_segment(without_segment(data, 0xE0), 0xEE)
    return b"".join((data[:2], *markers, data[2:]))


def resized(data: bytes, width: int | None = None, height: int | None = None, frame: int = 0xC0) -> bytes:
    """A JPEG that announces another size than it holds."""
    file, at = bytearray(data), marker_at(data, frame)
    if height is not None:
        file[at + 5 : at + 7] = height.to_bytes(2, "big")
    if width is not None:
        file[at + 7 : at + 9] = width.to_bytes(2, "big")
    return bytes(file)


def patched(data: bytes, offset: int, *values: int) -> bytes:
    return data[:offset] + bytes(values) + data[offset + len(values) :]


def many_scans(scans: int, width: int = 48, height: int = 40, mode: str = "L") -> bytes:
    """A progressive file whose last scan comes again and again."""
    data = encode(picture(48, 40, mode), "JPEG", progressive=True, quality=10)
    last = data.rindex(b"\xff\xda")
    data = data[:last] + data[last:-2] * (scans - data.count(b"\xff\xda") + 1) + data[-2:]
    return resized(data, width, height, 0xC2)


def hostile_jpegs() -> dict[str, bytes]:
    data = encode(picture(40, 29), "JPEG")
    progressive = encode(picture(40, 29), "JPEG", progressive=True)
    scan, frame, quantisation = (marker_at(data, code) for code in (0xDA, 0xC0, 0xDB))
    entropy = scan + 2 + int.from_bytes(data[scan + 2 : scan + 4], "big")
    half = (entropy + len(data)) // 2
    tables, image = abbreviated(picture(24, 24))
    files = {f"length-{length}": data[:length] for length in (2, 3, 4, 11, frame + 4, scan, entropy, half)}
    files |= {
        "no-eoi": data[:-2],
        "no-last-byte": data[:-1],
        "progressive-cut": progressive[: len(progressive) * 2 // 3],
        "progressive-no-eoi": progressive[:-2],
        "empty-scan": data[:entropy] + b"\xff\xd9",
        "corrupt": patched(data, half, 0x12, 0x34, 0x56, 0x78, 0x9A),
        "ff-run": data[:half] + b"\xff" * 400 + data[half:],
        "stray-restart": data[:half] + b"\xff\xd3" + data[half:],
        "early-eoi": data[:half] + b"\xff\xd9" + data[half:],
        "second-soi": data[:half] + data,
        "bomb": resized(data, 65500, 65500),
        "bomb-progressive": resized(progressive, 65500, 65500, 0xC2),
        "very-wide": resized(data, 65500, 8),
        "too-tall": resized(data, height=64),
        "too-short": resized(data, height=9),
        "too-wide": resized(data, width=57),
        "no-width": resized(data, width=0),
        "no-height": resized(data, height=0),
        "many-scans": many_scans(2000),
        "many-scans-large": many_scans(2000, 4000, 4000),
        "no-quantisation": without_segment(data, 0xDB),
        "no-frame": without_segment(data, 0xC0),
        "tables-only": tables,
        "image-only": image,
        "cut-segment": patched(data, quantisation + 2, 0xFF, 0xF0),
        "short-segment": patched(data, quantisation + 2, 0, 1),
        "no-samples": patched(data, frame + 11, 0),
        "zero-quantisation": patched(data, quantisation + 5, *[0] * 64),
        "bad-huffman-table": patched(data, marker_at(data, 0xC4) + 5, *[255] * 16),
        "bad-component": patched(data, frame + 9, 4),
        "bad-scan-component": patched(data, scan + 5, 77),
        "mpf": data[:2] + b"\xff\xe2\0\x10MPF\0II*\0\x08\0\0\0\0\0" + data[2:],
        "adobe-ycck": data[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\x02" + data[2:],
        "adobe-rgb": data[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0" + data[2:],
        "exif-cut": data[:2] + b"\xff\xe1\0\x0eExif\0\0II*\0\xff\xff" + data[2:],
        "exif-loop": data[:2] + b"\xff\xe1\0\x1aExif\0\0II*\0\x08\0\0\0\0\0\x08\0\0\0\x08\0\0\0" + data[2:],
        "garbage-before": b"\0" + data,
    }
    # Twelve bits, lossless, arithmetic, and samplings that the blocks do not have.
    files["12-bit"] = patched(data, frame + 4, 12)
    for code in (0xC1, 0xC2, 0xC3, 0xC9, 0xCA, 0xCB):
        files[f"frame-{code:x}"] = patched(data, frame + 1, code)
    for sampling in (0x00, 0x12, 0x14, 0x41, 0x33, 0x44, 0xFF):
        files[f"sampling-{sampling:02x}"] = patched(data, frame + 11, sampling)
    return files


# PNG


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def chunks_of(data: bytes) -> list[tuple[bytes, bytes]]:
    """Type and data of every chunk that is there whole."""
    chunks, at = [], len(SIGNATURE)
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            break
        chunks.append((data[at + 4 : at + 8], data[at + 8 : end - 4]))
        at = end
    return chunks


def joined(chunks: list[tuple[bytes, bytes]]) -> bytes:
    return SIGNATURE + b"".join(chunk(kind, data) for kind, data in chunks)


def rows(width: int, height: int, colour: int, depth: int, seed: int, interlaced: bool = False) -> bytes:
    """Filtered rows; whatever bytes they hold, they are an image."""
    noise = random.Random(seed)
    bits = SAMPLES[colour] * depth
    parts = []
    for left, top, across, down in ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns, lines = -(-(width - left) // across), -(-(height - top) // down)
        for _ in range(lines if columns > 0 else 0):
            length = -(-columns * bits // 8)
            line = bytes(noise.choice((0, 1, 2, 253, 255, noise.randrange(256))) for _ in range(length))
            parts.append(bytes([noise.randrange(5)]) + line)
    return b"".join(parts)


def png(
    width: int,
    height: int,
    colour: int,
    depth: int = 8,
    *,
    interlaced: bool = False,
    before: tuple[tuple[bytes, bytes], ...] = (),
    parts: int = 1,
    data: bytes | None = None,
    level: int = 6,
) -> bytes:
    packed = zlib.compress(data if data is not None else rows(width, height, colour, depth, width, interlaced), level)
    length = -(-len(packed) // parts)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)), *before]
    if colour == 3 and all(kind != b"PLTE" for kind, _ in before):
        chunks.append((b"PLTE", bytes(range(256)) * 3 if depth == 8 else bytes(range(3 * 2**depth))))
    chunks += [(b"IDAT", packed[at : at + length]) for at in range(0, len(packed), length)]
    return joined([*chunks, (b"IEND", b"")])


ANCILLARY = {
    "gamma": ((b"gAMA", struct.pack(">I", 45455)), (b"cHRM", struct.pack(">8I", *range(8)))),
    "srgb": ((b"sRGB", b"\0"), (b"pHYs", struct.pack(">IIB", 2835, 2835, 1)), (b"tIME", b"\x07\xe8\1\1\1\1\1")),
    "profile": ((b"iCCP", b"name\0\0" + zlib.compress(b"profile" * 20)),),
    "text": ((b"tEXt", b"key\0value"), (b"zTXt", b"key\0\0" + zlib.compress(b"value")), (b"iTXt", b"k\0\0\0\0\0v")),
    "exif": ((b"eXIf", exif(6)[6:]),),
    "unknown": ((b"prVt", b"what a program of its own keeps"),),
}


def pngs() -> dict[str, bytes]:
    """Sound PNG files."""
    files = {}
    for colour, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                name = f"type-{colour}-{depth}" + ("-interlaced" if interlaced else "")
                files[name] = png(23, 19, colour, depth, interlaced=interlaced)
    for colour in (0, 2, 4, 6):
        for width, height in ((1, 1), (1, 40), (67, 3), (130, 33)):
            files[f"{width}x{height}-{colour}"] = png(width, height, colour)
        files[f"parts-{colour}"] = png(31, 22, colour, parts=5)
        files[f"stored-{colour}"] = png(31, 22, colour, level=0)
        transparent = (b"tRNS", struct.pack(">H", 3) * (3 if colour == 2 else 1))
        files[f"transparent-{colour}"] = png(12, 12, colour, before=(transparent,) if colour in (0, 2) else ())
    for depth in DEPTHS[3]:
        palette = (b"PLTE", bytes(k * 37 % 256 for k in range(3 << depth)))
        files[f"transparent-3-{depth}"] = png(29, 12, 3, depth, before=(palette, (b"tRNS", b"\xff\0\x80"[:depth])))
        files[f"one-transparent-{depth}"] = png(13, 12, 3, depth, before=(palette, (b"tRNS", b"\xff\0")))
        files[f"short-palette-{depth}"] = png(130, 33, 3, depth, before=((b"PLTE", b"\1\2\3"),), parts=3)
        for colour in (0, 3):
            files[f"1x40-{colour}-{depth}"] = png(1, 40, colour, depth)
            files[f"67x3-{colour}-{depth}"] = png(67, 3, colour, depth, level=0)
    for name, chunks in ANCILLARY.items():
        files[name] = png(14, 10, 2, before=chunks)
    flat = [picture(30, 24), picture(30, 24, "L").convert("RGB")]
    files["animated"] = encode(flat[0], "PNG", save_all=True, append_images=flat[1:])
    for mode in ("L", "LA", "RGB", "RGBA", "P", "1"):
        files[f"pillow-{mode}"] = encode(picture(61, 47, "RGBA" if mode == "LA" else "RGB").convert(mode), "PNG")
    files["pillow-16"] = encode(Image.fromarray(np.arange(600, dtype=np.uint16).reshape(20, 30) * 100), "PNG")
    files["after-iend"] = files["parts-2"] + b"more"
    return files


def hostile_pngs() -> dict[str, bytes]:
    data = png(31, 22, 2, parts=3)
    chunks = chunks_of(data)
    whole = png(31, 22, 2)
    raw = rows(31, 22, 2, 8, 31)
    files = {f"length-{length}": data[:length] for length in (4, 8, 12, 29, 33, 41, len(data) // 2, len(data) - 16)}
    files |= {
        "no-iend": data[:-12],
        "no-last-byte": data[:-1],
        "bad-iend-crc": data[:-1] + b"\0",
        "bad-ihdr-crc": patched(data, 29, 0, 1, 2, 3),
        "bad-idat-crc": whole[:-16] + b"\0\0\0\0" + whole[-12:],
        "bad-ancillary-crc": data[:33] + chunk(b"gAMA", b"\0\0\1\0")[:-1] + b"\0" + data[33:],
        "bad-unknown-crc": data[:33] + chunk(b"prVt", b"data")[:-1] + b"\0" + data[33:],
        "bad-filter": png(31, 22, 2, data=patched(raw, 10 * 94, 5)),
        "bad-last-filter": png(31, 22, 2, data=patched(raw, 21 * 94, 200)),
        "too-few-rows": png(31, 22, 2, data=raw[: 15 * 94]),
        "too-few-bytes": png(31, 22, 2, data=raw[:-1]),
        "no-rows": png(31, 22, 2, data=b""),
        "too-many-rows": png(31, 22, 2, data=raw + raw),
        "far-too-many-rows": png(3, 2, 2, data=bytes(1 << 21)),
        "bomb": png(65500, 65500, 2, data=bytes(100)),
        "bomb-12000": png(12000, 12000, 2, data=bytes(100)),
        "wide-bomb": png(1 << 30, 1, 2, data=bytes(100)),
        "largest": png(0x7FFFFFFF, 0x7FFFFFFF, 6, 16, data=bytes(100)),
        "negative": png(0xFFFFFFFF, 5, 2, data=bytes(100)),
        "no-width": png(0, 5, 2, data=bytes(100)),
        "no-height": png(5, 0, 2, data=bytes(100)),
        "text-bomb": png(14, 10, 2, before=((b"zTXt", b"key\0\0" + zlib.compress(bytes(1 << 24))),)),
        "profile-bomb": png(14, 10, 2, before=((b"iCCP", b"name\0\0" + zlib.compress(bytes(1 << 24))),)),
        "corrupt": patched(whole, len(whole) // 2, 0x12, 0x34, 0x56),
        "no-header": joined(chunks[1:]),
        "header-twice": joined([chunks[0], *chunks]),
        "no-data": joined([chunks[0], chunks[-1]]),
        "data-apart": joined([*chunks[:2], (b"tEXt", b"key\0value"), *chunks[2:]]),
        "empty-data": joined([chunks[0], (b"IDAT", b""), *chunks[1:]]),
        "header-in-front": joined([(b"tEXt", b"key\0value"), *chunks]),
        "critical": joined([chunks[0], (b"WHAT", b""), *chunks[1:]]),
        "palette-late": joined([*chunks[:-1], (b"PLTE", bytes(768)), chunks[-1]]),
        "adler": joined([chunks[0], (b"IDAT", zlib.compress(raw)[:-4] + b"\0\1\2\3"), chunks[-1]]),
        "no-adler": joined([chunks[0], (b"IDAT", zlib.compress(raw)[:-4]), chunks[-1]]),
        "preset-dictionary": joined([chunks[0], (b"IDAT", b"\x78\xbb\0\0\0\1" + zlib.compress(raw)[2:]), chunks[-1]]),
        "bad-window": joined([chunks[0], (b"IDAT", b"\xf8\x1e" + zlib.compress(raw)[2:]), chunks[-1]]),
        "bytes-after-data": joined([chunks[0], (b"IDAT", zlib.compress(raw) + b"more"), chunks[-1]]),
        "huge-chunk": data[:33] + b"\xff\xff\xff\xf0tEXt" + data[33:],
    }
    first, palette, *rest = chunks_of(png(31, 22, 3, 4, parts=3))
    alphas = (b"tRNS", b"\xff\0\x80")
    files |= {
        "no-palette": joined([first, *rest]),
        "palette-behind": joined([first, *rest[:-1], palette, rest[-1]]),
        "palette-twice": joined([first, palette, (b"PLTE", bytes(48)), *rest]),
        "palette-again": joined([first, palette, *rest[:-1], (b"PLTE", bytes(48)), rest[-1]]),
        "alphas-behind": joined([first, palette, *rest[:-1], alphas, rest[-1]]),
        "alphas-twice": joined([first, palette, alphas, (b"tRNS", b"\0"), *rest]),
        "alphas-line-feed": joined([first, palette, (b"tRNS", b"\xff\0\n"), *rest]),
        "alphas-none": joined([first, palette, (b"tRNS", b""), *rest]),
        "alphas-300": joined([first, palette, (b"tRNS", bytes(range(100)) * 3), *rest]),
        "bomb-of-bits": png(65500, 65500, 3, 1, data=bytes(100)),
        "wide-bomb-of-bits": png(0x7FFFFFFF, 1, 0, 1, data=bytes(100)),
        "16-bit-bomb": png(65500, 65500, 0, 16, data=bytes(100)),
    }
    for size in (0, 1, 47, 49, 767, 769, 771, 5000):
        files[f"palette-{size}"] = joined([first, (b"PLTE", bytes(k % 251 for k in range(size))), *rest])
    header = chunks[0][1]
    for offset, value in ((8, 3), (8, 0), (9, 1), (9, 5), (9, 7), (10, 1), (11, 1), (12, 2)):
        files[f"header-{offset}-{value}"] = joined([(b"IHDR", patched(header, offset, value)), *chunks[1:]])
    return files


# WebP


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    """A WebP of these chunks, with the right sizes."""
    body = b"".join(kind + len(data).to_bytes(4, "little") + data + bytes(len(data) % 2) for kind, data in chunks)
    return b"RIFF" + (4 + len(body)).to_bytes(4, "little") + b"WEBP" + body


def riff_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Name and data of every chunk that is there whole."""
    chunks, at = [], 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if at + 8 + size > len(data):
            break
        chunks.append((data[at : at + 4], data[at + 8 : at + 8 + size]))
        at += 8 + size + size % 2
    return chunks


def transparent(width: int, height: int) -> Image.Image:
    image = picture(width, height).convert("RGBA")
    image.putalpha(picture(width, height, "L"))
    return image


def webps() -> dict[str, bytes]:
    """Sound WebP files."""
    files = {}
    for width, height in ((1, 1), (7, 5), (40, 29), (67, 18)):
        for name, image in (("rgb", picture(width, height)), ("rgba", transparent(width, height))):
            files[f"{width}x{height}-{name}"] = encode(image, "WEBP")
            files[f"{width}x{height}-{name}-lossless"] = encode(image, "WEBP", lossless=True, exact=True)
    photo, clear = picture(70, 53), transparent(70, 53)
    for quality in (0, 50, 100):
        files[f"quality-{quality}"] = encode(photo, "WEBP", quality=quality)
        files[f"alpha-quality-{quality}"] = encode(clear, "WEBP", alpha_quality=quality)
    for method in (0, 6):
        files[f"method-{method}"] = encode(clear, "WEBP", method=method)
        files[f"method-{method}-lossless"] = encode(clear, "WEBP", method=method, lossless=True)
    files["palette"] = encode(photo.quantize(9).convert("RGB"), "WEBP", lossless=True)
    files["flat"] = encode(Image.new("RGB", (70, 53), "navy"), "WEBP", lossless=True)
    for orientation in range(1, 9):
        files[f"exif-{orientation}"] = encode(picture(12, 9), "WEBP", exif=exif(orientation))
    files["xmp"] = encode(photo, "WEBP", xmp=b'<x tiff:Orientation="6"/>', lossless=True)
    files["icc"] = encode(photo, "WEBP", icc_profile=b"not a profile" * 9)
    files["unknown"] = riff(*riff_chunks(files["icc"]), (b"what", b"nobody knows"))
    files["after-end"] = files["40x29-rgb"] + b"more"
    files["animated"] = encode(photo, "WEBP", save_all=True, append_images=[photo.rotate(90)])
    return files


def hostile_webps() -> dict[str, bytes]:
    lossy, lossless, clear = (
        encode(picture(40, 29), "WEBP"),
        encode(picture(40, 29), "WEBP", lossless=True),
        encode(transparent(40, 29), "WEBP"),
    )
    (image,) = riff_chunks(lossy)
    (exact,) = riff_chunks(lossless)
    extended, alpha, colours = riff_chunks(clear)
    profile = (b"ICCP", b"profile")
    files = {f"length-{length}": lossy[:length] for length in (4, 8, 12, 16, 20, 29, 30, len(lossy) // 2)}
    files |= {
        "no-last-byte": lossy[:-1],
        "no-last-byte-lossless": lossless[:-1],
        "cut": riff((image[0], image[1][: len(image[1]) // 2])),
        "cut-lossless": riff((exact[0], exact[1][: len(exact[1]) // 2])),
        "cut-alpha": riff(extended, (alpha[0], alpha[1][: len(alpha[1]) // 2]), colours),
        "no-alpha-data": riff(extended, (alpha[0], b""), colours),
        "alpha-header": riff(extended, (alpha[0], b"\xff" + alpha[1][1:]), colours),
        "alpha-of-lossless": riff(extended, alpha, exact),
        "alpha-alone": riff(extended, alpha),
        "alpha-first": riff(alpha, image),
        "alpha-twice": riff(extended, alpha, alpha, colours),
        "alpha-behind": riff(extended, colours, alpha),
        "alpha-apart": riff(extended, alpha, profile, colours),
        "alpha-unannounced": riff((extended[0], bytes(4) + extended[1][4:]), alpha, colours),
        "alpha-announced": riff(extended, colours),
        "images": riff(extended, alpha, colours, colours),
        "images-lossless": riff((extended[0], bytes(4) + extended[1][4:]), exact, exact),
        "no-image": riff(extended, profile),
        "nothing": riff(),
        "header-twice": riff(extended, extended, alpha, colours),
        "header-behind": riff(image, extended),
        "header-short": riff((extended[0], extended[1][:9]), alpha, colours),
        "header-long": riff((extended[0], extended[1] + bytes(4)), alpha, colours),
        "other-canvas": riff((extended[0], extended[1][:4] + b"\x28\0\0\x1c\0\0"), alpha, colours),
        "bomb-canvas": riff((extended[0], extended[1][:4] + b"\xff" * 6), alpha, colours),
        "flags": riff((extended[0], b"\xff" * 4 + extended[1][4:]), alpha, colours),
        "flag-of-animation": riff((extended[0], b"\x12" + extended[1][1:]), alpha, colours),
        "frames-of-none": riff(extended, alpha, colours, (b"ANIM", bytes(6)), (b"ANMF", bytes(24))),
        "exif-garbage": riff((extended[0], b"\x18" + extended[1][1:]), alpha, colours, (b"EXIF", b"Exif\0\0garbage")),
        "behind": riff(image, (b"what", b"nobody knows")),
        "odd-size": lossy[:4] + (len(lossy) - 9).to_bytes(4, "little") + lossy[8:],
        "size-too-small": lossy[:4] + (20).to_bytes(4, "little") + lossy[8:],
        "size-too-large": lossy[:4] + (len(lossy)).to_bytes(4, "little") + lossy[8:],
        "size-huge": lossy[:4] + b"\xff" * 4 + lossy[8:],
        "chunk-huge": lossy[:16] + b"\xff" * 4 + lossy[20:],
        "wave": b"RIFF" + lossy[4:8] + b"WAVE" + lossy[12:],
        "lossy-bomb": riff((image[0], patched(image[1], 6, 0xFF, 0x3F, 0xFF, 0x3F))),
        "lossless-bomb": riff((exact[0], patched(exact[1], 1, 0xFF, 0xFF, 0xFF, 0x0F))),
        "not-a-key-frame": riff((image[0], patched(image[1], 0, image[1][0] | 1))),
        "not-shown": riff((image[0], patched(image[1], 0, image[1][0] & ~0x10))),
        "profile": riff((image[0], patched(image[1], 0, image[1][0] | 0x0E))),
        "start-code": riff((image[0], patched(image[1], 3, 0))),
        "no-width": riff((image[0], patched(image[1], 6, 0, 0))),
        "partition": riff((image[0], patched(image[1], 1, 0xFF, 0xFF))),
        "signature": riff((exact[0], patched(exact[1], 0, 0))),
        "version": riff((exact[0], patched(exact[1], 4, exact[1][4] | 0xE0))),
        "empty": riff((image[0], b"")),
    }
    return files


# GIF files


def gifs() -> dict[str, bytes]:
    """Images in one pass and in four, animations of all disposals, and images in a corner of their canvas."""
    frames = [picture(20, 15).rotate(angle).quantize(16) for angle in (0, 90, 180)]
    files = {f"interlaced-{flag}": encode(frames[0], "GIF", interlace=flag) for flag in (0, 1)}
    for disposal in range(4):
        files[f"disposal-{disposal}"] = encode(
            frames[0], "GIF", save_all=True, append_images=frames[1:], disposal=disposal, transparency=3
        )
    large = bytearray(files["interlaced-0"])
    large[6:10] = struct.pack("<2H", 33, 44)
    return files | {"canvas": bytes(large), "photo": encode(picture(100, 90), "GIF")}


# Other files


def others() -> dict[str, bytes]:
    """What is neither: other formats, and nothing that is an image."""
    image = picture(20, 15)
    files = {kind.lower(): encode(image, kind) for kind in ("BMP", "GIF", "TIFF", "PPM", "WEBP")}
    return files | {"empty": b"", "text": b"no image at all\n" * 9, "zeros": bytes(300), "magic": b"\xff\xd8\xff"}


def program_seeds() -> dict[str, bytes]:
    """Choices, and ops as they are packed."""
    noise = random.Random(5)
    files = {f"choices-{k}": bytes([1]) + noise.randbytes(16 << (k % 5)) for k in range(40)}
    ops = (
        (0, 0, (2, 3, 9, 8), ()),
        (2, 2, (12, 17), ()),
        (4, 0, (), ()),
        (6, 1, (), ()),
        (7, 2, (16, 16), (0.9, 0.2, 1.0, -0.2, 0.9, 3.0)),
        (8, 0, (), (1.3,)),
        (9, 0, (), (0.6,)),
        (16, 0, (), ()),
        (17, 0, (), (0.5, 0.4, 0.3, 0.0, 0.2, 0.2, 0.2, 1.0)),
    )
    packed = [
        struct.pack("<HH4B6i8d", op, flags, 9, 8, 7, 6, *(whole + (0,) * 6)[:6], *(real + (0.0,) * 8)[:8])
        for op, flags, whole, real in ops
    ]
    files |= {f"op-{k}": bytes([0]) + noise.randbytes(8) + op for k, op in enumerate(packed)}
    return files | {f"ops-{k}": bytes([0]) + noise.randbytes(8) + b"".join(packed) for k in range(4)}


def hostile() -> dict[str, bytes]:
    """Every file that is not what it should be, by the name of its format and its own."""
    files = {f"jpeg-{name}": data for name, data in hostile_jpegs().items()}
    files |= {f"png-{name}": data for name, data in hostile_pngs().items()}
    return files | {f"webp-{name}": data for name, data in hostile_webps().items()}


def sound() -> dict[str, bytes]:
    files = {f"jpeg-{name}": data for name, data in jpegs().items()}
    files |= {f"png-{name}": data for name, data in pngs().items()}
    return files | {f"webp-{name}": data for name, data in webps().items()}


# Mutations


def mutated(data: bytes, noise: random.Random) -> bytes:
    """One to three changes; in half of the PNGs the checksums are right again, as in half of the WebPs the size is."""
    file = bytearray(data)
    for _ in range(noise.randint(1, 3)):
        if not file:
            break
        at = noise.randrange(len(file))
        length = noise.randint(1, 8)
        match noise.randrange(7):
            case 0 | 1:
                file[at] ^= 1 << noise.randrange(8)
            case 2:
                file[at] = noise.choice((0, 1, 0x7F, 0x80, 0xFF, noise.randrange(256)))
            case 3:
                del file[at : at + length]
            case 4:
                file[at:at] = file[at : at + length]
            case 5:
                file[at : at + 2] = noise.choice((b"\xff\xff", b"\0\0", b"\xff\xd9", b"\xff\xd0", b"\x7f\xff"))
            case _:
                if noise.random() < 0.3:
                    del file[at:]
    result = bytes(file)
    if result.startswith(SIGNATURE) and noise.random() < 0.5:
        chunks = chunks_of(result)
        return joined(chunks) if chunks else result
    if result.startswith(b"RIFF") and len(result) > 8 and noise.random() < 0.5:
        return result[:4] + (len(result) - 8).to_bytes(4, "little") + result[8:]
    return result


def mutations(files: dict[str, bytes], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """`count` mutations, with a name that says how to have each again."""
    names = sorted(files)
    for k in range(count):
        name = names[k % len(names)]
        yield f"{name} ({seed}, {k})", mutated(files[name], random.Random(seed * 1_000_003 + k))


def npys() -> dict[str, bytes]:
    """Decoded images as NumPy writes them, of every number of channels and version of the format."""
    pixels = np.asarray(picture(33, 27).convert("RGBA"))
    files = {}
    for channels in range(5):
        for version in ((1, 0), (2, 0), (3, 0)):
            file = io.BytesIO()
            array = np.ascontiguousarray(pixels[..., :channels] if channels else pixels[..., 0])
            np.lib.format.write_array(file, array, version)
            files[f"npy-{channels}-{version[0]}"] = file.getvalue()
    return files


def write(folder: Path) -> None:
    """Writes the seeds of every fuzz target."""
    tables, image = abbreviated(picture(33, 27))
    seeds = {
        "jpeg": jpegs() | hostile_jpegs() | {"abbreviated": tables + image},
        "png": pngs() | hostile_pngs(),
        "webp": webps() | hostile_webps(),
        "gif": gifs(),
        "program": program_seeds(),
        "sniff": sound() | hostile() | others() | npys(),
    }
    for target, files in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
