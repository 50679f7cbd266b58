"""PNG samples as libpng computes them with torchvision's settings."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fastaug._image import decode, decode16, pillow
from fastaug._image.lazy import LazyImage

# torchvision's weights in libpng's fixed point: red and green of 0.2989 and 0.587, rounded as png_set_rgb_to_gray does.
_RED, _GREEN = 29890 * 32768 // 100000, 58700 * 32768 // 100000
_BLUE = 32768 - _RED - _GREEN

# PNG_USER_CHUNK_MALLOC_MAX: bytes of any chunk other than IDAT (libpng, png_check_chunk_length).
_MOST_ANCILLARY = 8_000_000

_CRITICAL = (b"IHDR", b"PLTE", b"IDAT")
_IEND = bytes(4) + b"IEND" + b"\xae\x42\x60\x82"

_SRGB = 45455
# libpng treats a gamma in this range as 1.
_INSIGNIFICANT = range(95000, 105001)


def stored_samples(image: LazyImage) -> np.ndarray:
    """Return uint8 HWC of the file's channels: palettes as indices, gray of fewer bits scaled to 0..255."""
    pixels = decode.read(image.convert("L") if image.mode == "1" else image)
    return pixels.reshape(*pixels.shape[:2], -1)


def by_core(image: LazyImage, channels: int) -> np.ndarray | None:
    """Return samples of so many channels as libpng makes them, if the core does so while it decodes, else None."""
    header = image.header
    gray = header.mode in ("1", "L", "LA")
    # libpng weighs colours otherwise than Pillow.
    if header.bits == 16 or not header.conversions >> channels & 1 or (channels < 3 and not gray):
        return None
    samples = decode.read(image.convert(("L", "LA", "RGB", "RGBA")[channels - 1]))
    if gray and header.bits < 8 and channels in (2, 4):
        samples[:, :, -1] = _opaque(header.bits)
    return samples


def _opaque(bits: int) -> int:
    """Return libpng's opaque alpha: the file's largest sample, even after it scaled gray to 8 bits."""
    return (1 << bits) - 1


def gray_of_indices(indices: np.ndarray, data: bytes, gamma: int | None) -> np.ndarray:
    """Return the gray that libpng makes of the palette's colours. Those behind its end are black."""
    palette = next(chunk.content for chunk in chunks(data) if chunk.kind == b"PLTE")
    colours = np.zeros((256, 1, 3), np.uint8)
    colours[: len(palette) // 3, 0] = np.frombuffer(palette, np.uint8).reshape(-1, 3)
    shades: np.ndarray = gray(colours, gamma).astype(np.uint8)[:, 0][indices]
    return shades


def to_channels(samples: np.ndarray, channels: int, bits: int, gamma: int | None) -> np.ndarray:
    """Convert HWC samples to another number of channels, 1 to 4. `bits` is the depth of a sample in the file."""
    if samples.shape[2] > 2 and channels < 3:
        samples = np.dstack([gray(samples, gamma).astype(samples.dtype), samples[:, :, 3:]])
    return decode16.to_channels(samples, channels, _opaque(bits))


def gray(samples: np.ndarray, gamma: int | None) -> np.ndarray:
    """Compute png_do_rgb_to_gray (libpng, pngrtran.c), in linear light if the file has a gamma."""
    red, green, blue = (samples[:, :, band].astype(np.int64) for band in range(3))
    same = (red == green) & (red == blue)
    wide = samples.dtype == np.uint16
    if gamma is None:
        rounding = 1 << 14 if wide else 0
        mixed = (_RED * red + _GREEN * green + _BLUE * blue + rounding) >> 15
    else:
        top = 65535 if wide else 255
        to_linear = _power(top, int(np.floor(1e10 / gamma + 0.5)))
        mixed = _RED * to_linear[red] + _GREEN * to_linear[green] + _BLUE * to_linear[blue]
        mixed = _power(top, gamma)[(mixed + (1 << 14)) >> 15]
    return np.where(same, red, mixed)


def _power(top: int, gamma: int) -> np.ndarray:
    """Compute png_build_8bit_table and png_build_16bit_table (libpng, png.c)."""
    return np.floor(top * np.power(np.arange(top + 1) / top, gamma * 1e-5) + 0.5).astype(np.int64)


class Chunk(NamedTuple):
    kind: bytes
    at: int  # offset of its first byte in the file
    whole: bytes  # from the length to the checksum

    @property
    def content(self) -> bytes:
        return self.whole[8:-4]

    @property
    def sound(self) -> bool:
        return zlib.crc32(self.whole[4:-4]) == int.from_bytes(self.whole[-4:], "big")

    @property
    def ancillary(self) -> bool:
        return self.kind.isalpha() and bool(self.kind[0] & 0x20)


def chunks(data: bytes) -> Iterator[Chunk]:
    at = len(pillow.PNG_MAGIC)
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            return
        yield Chunk(data[at + 4 : at + 8], at, data[at:end])
        at = end


def before_pixels(data: bytes) -> Iterator[Chunk]:
    """Yield the sound ancillary chunks before the pixels, the only ones that libpng uses."""
    for chunk in chunks(data):
        if chunk.kind == b"IDAT":
            return
        if chunk.ancillary and chunk.sound:
            yield chunk


def bare(data: bytes) -> bytes:
    """Return the file without ancillary chunks other than transparency, or raise RuntimeError where libpng refuses it.

    Pillow raises at bad checksums in them, and at texts and profiles that inflate too much. libpng skips those.
    """
    parts = [pillow.PNG_MAGIC]
    end = len(pillow.PNG_MAGIC)
    pixels = False
    for chunk in chunks(data):
        if pixels and chunk.kind != b"IDAT":
            # libpng ignores chunks after the pixels, and refuses chunks between them.
            rest = data[chunk.at :]
            whole = any(other.kind == b"IEND" for other in chunks(pillow.PNG_MAGIC + rest))
            return b"".join((*parts, _IEND if whole and b"IDAT" not in rest else rest))
        pixels = chunk.kind == b"IDAT"
        if not chunk.ancillary and chunk.kind not in _CRITICAL:
            raise RuntimeError(f"Chunk {chunk.kind!r} is not known.")
        if chunk.ancillary and len(chunk.content) > _MOST_ANCILLARY:
            raise RuntimeError(f"Chunk {chunk.kind.decode()} of {len(chunk.content)} bytes is too large.")
        if not chunk.ancillary or (chunk.kind == b"tRNS" and chunk.sound):
            parts.append(chunk.whole)
        end = chunk.at + len(chunk.whole)
    return b"".join((*parts, data[end:]))


def exif_of(data: bytes) -> bytes:
    """Return the first eXIf chunk that libpng keeps, or empty bytes."""
    for chunk in before_pixels(data):
        if chunk.kind == b"eXIf" and chunk.content[:2] in (b"II", b"MM"):
            return chunk.content
    return b""


def gamma_of(data: bytes) -> int | None:
    """Return libpng's gamma times 100,000, from sRGB or else gAMA; None if there is none or it is about 1."""
    gamma = None
    for chunk in before_pixels(data):
        if chunk.kind == b"sRGB":
            return _SRGB
        if chunk.kind == b"gAMA" and gamma is None and len(chunk.content) == 4:
            gamma = int.from_bytes(chunk.content, "big")
    return None if not gamma or gamma in _INSIGNIFICANT else gamma
