"""Decode PNG files of 16 bits a sample, of which Pillow keeps 16 bits for gray only."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from fastaug._image import decode, pillow
from fastaug._image.encoded import NOT_DECODED, Encoded
from fastaug._image.npy import Data

#: The modes of imread() that give 16 bits, and their channels.
CHANNELS = {"I;16": 1, "LA;16": 2, "RGB;16": 3, "RGBA;16": 4}

# Offsets of a PNG: bits of a sample and type of colour; parts of its first chunk. Channels by type of colour.
_BITS, _COLOUR = 24, 25
_OF_COLOUR = {0: 1, 2: 3, 4: 2, 6: 4}
_HEADER, _CRC, _REST = 12, 29, 33


def is_16_bit(data: Data) -> bool:
    return data[: len(pillow.PNG_MAGIC)] == pillow.PNG_MAGIC and data[_BITS : _BITS + 1] == b"\x10"


def read(
    image: Encoded, mode: str, region: Any, out: np.ndarray | None, wanted: decode.Samples = decode.PLAIN
) -> np.ndarray:
    """Read like decode.read() in one of the modes above. `image` has mode I;16."""
    if mode == "I;16":
        return decode.read(image, region, out, wanted)
    data, _ = image.encoded()
    if not is_16_bit(data):
        raise ValueError(
            f"mode {mode!r} is for PNG files of 16 bits a sample, got a {image.format} file of {image.header.bits} bits"
        )
    samples, channels = stored_samples(image, region), CHANNELS[mode]
    if channels < 3 and samples.shape[2] > 2:
        raise ValueError(f"mode 'LA;16' is for gray files, got one of {samples.shape[2]} channels")
    return decode.owned(wanted.of(to_channels(samples, channels, 0xFFFF)), out)


def stored_samples(image: Encoded, region: Any = None) -> np.ndarray:
    """Return uint16 HWC of the channels of a PNG file of 16 bits, or raise DecodeError."""
    data, encoded = image.encoded()
    native: Exception | None = None
    if encoded.native:
        try:
            return decode.read_16(image, encoded, region)
        except NOT_DECODED as reason:
            native = reason
    samples, orientation = _by_pillow(image, bytes(data), native)
    rows, columns = samples.shape[:2]
    top, left, height, width = decode.stored_part(region, rows, columns, orientation)
    return decode.orient(samples[top : top + height, left : left + width], orientation)


def _by_pillow(image: Encoded, data: bytes, native: Exception | None) -> tuple[np.ndarray, int]:
    """Return samples and orientation by Pillow, which keeps only the high or the low bytes of colours in a pass."""
    stored = image.open(data, native, load=True)
    orientation = pillow.orientation_of(stored) if image.exif else 1
    channels = _OF_COLOUR[data[_COLOUR]]
    if channels == 1:
        return np.asarray(stored)[:, :, None], orientation
    if channels == 2:
        # Filters and interlacing work on bytes, so two samples of 16 bits can pass for four of eight.
        header = data[_HEADER:_BITS] + b"\x08\x06" + data[_COLOUR + 1 : _CRC]
        data = b"".join((data[:_HEADER], header, struct.pack(">I", zlib.crc32(header)), data[_REST:]))
        planes = np.asarray(image.open(data, native, load=True)).astype(np.uint16)
        return planes[:, :, 0::2] << 8 | planes[:, :, 1::2], orientation
    high = np.asarray(stored).astype(np.uint16)
    again: Any = image.open(data, native)
    # Pillow takes the high byte. With the byte order swapped, that is the low one.
    again.tile = [tile._replace(args=f"{again.mode};16L") for tile in again.tile]
    return high << 8 | np.asarray(pillow.load_image(again, len(data), image.filename, native)), orientation


def to_channels(samples: np.ndarray, channels: int, opaque: int) -> np.ndarray:
    """Convert HWC samples to another number of channels: repeat gray, drop alpha or add an opaque one."""
    height, width, given = samples.shape
    if given == channels:
        return samples
    result = np.empty((height, width, channels), samples.dtype)
    colours = channels - (channels in (2, 4))
    result[:, :, :colours] = samples[:, :, : 1 if given < 3 else colours]
    if colours < channels:
        result[:, :, -1] = samples[:, :, -1] if given in (2, 4) else opaque
    return result
