"""PNG files of 16 bits a sample, as they are. Pillow keeps 16 bits of gray ones only."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from fastaug import _C
from fastaug._image import decode, pillow
from fastaug._image.encoded import Encoded
from fastaug._image.npy import Data

#: The modes of imread() that give 16 bits, and their channels.
CHANNELS = {"I;16": 1, "LA;16": 2, "RGB;16": 3, "RGBA;16": 4}

# Where the header of a PNG has bits of a sample and type of colour; the channels of each type; where its CRC is.
_BITS, _COLOUR = 24, 25
_OF_COLOUR = {0: 1, 2: 3, 4: 2, 6: 4}
_HEADER, _CRC, _REST = 12, 29, 33


def is_16_bit(data: Data) -> bool:
    return data[: len(pillow.PNG_MAGIC)] == pillow.PNG_MAGIC and data[_BITS : _BITS + 1] == b"\x10"


def read(
    image: Encoded, mode: str, region: Any, out: np.ndarray | None, wanted: decode.Samples = decode.PLAIN
) -> np.ndarray:
    """As decode.read(), for the modes above; `image` is one of mode I;16.

    Raises:
        ValueError: also when it is no PNG file of 16 bits a sample, and mode is not I;16.
    """
    data, encoded = image.encoded()
    sixteen = is_16_bit(data)
    if mode == "I;16":
        if not (sixteen and encoded.native and encoded.channels == 1):
            return decode.read(image, region, out, wanted)
    elif not sixteen:
        raise ValueError(
            f"mode {mode!r} is for PNG files of 16 bits a sample, got a {image.format} file of {image.header.bits} bits"
        )
    samples = to_channels(stored_samples(image, region), CHANNELS[mode])
    if mode == "I;16":
        samples = samples[:, :, 0]
    samples = wanted.of(samples)
    return np.ascontiguousarray(samples) if out is None else decode.kept(samples, out)


def stored_samples(image: Encoded, region: Any = None) -> np.ndarray:
    """uint16 HWC, of the channels of the file, of which it is known to be a PNG of 16 bits.

    Raises:
        DecodeError: the image cannot be decoded.
    """
    data, encoded = image.encoded()
    native: Exception | None = None
    if encoded.native:
        orientation = image.orientation if image.exif else 1
        wanted = decode.stored_part(region, encoded.height, encoded.width, orientation)
        samples = np.empty((*wanted[2:], encoded.channels), np.uint16)
        try:
            encoded.read_16(*wanted, samples.__array_interface__["data"][0])
            return orient(samples, orientation)
        except _C.Deferred as deferred:
            native = deferred
        except _C.Refused as refused:
            raise image.error(data, refused) from None
    samples, orientation = _by_pillow(image, bytes(data), native)
    top, left, height, width = decode.stored_part(region, *samples.shape[:2], orientation)
    return orient(samples[top : top + height, left : left + width], orientation)


def _by_pillow(image: Encoded, data: bytes, native: Exception | None) -> tuple[np.ndarray, int]:
    """What Pillow decodes of them, in two turns where it keeps only eight bits a turn; and the orientation."""
    stored = image.open(data, native, load=True)
    orientation = pillow.orientation_of(stored) if image.exif else 1
    channels = _OF_COLOUR[data[_COLOUR]]
    if channels == 1:
        return np.asarray(stored)[:, :, None], orientation
    if channels == 2:
        # Filters and interlacing work on bytes: to them, these are four samples of eight bits.
        header = data[_HEADER:_BITS] + b"\x08\x06" + data[_COLOUR + 1 : _CRC]
        data = b"".join((data[:_HEADER], header, struct.pack(">I", zlib.crc32(header)), data[_REST:]))
        planes = np.asarray(image.open(data, native, load=True)).astype(np.uint16)
        return planes[:, :, 0::2] << 8 | planes[:, :, 1::2], orientation
    high = np.asarray(stored).astype(np.uint16)
    again: Any = image.open(data, native)
    # Pillow takes the high byte. Read as though the machine's order were the file's, that is the low one.
    again.tile = [tile._replace(args=f"{again.mode};16L") for tile in again.tile]
    return high << 8 | np.asarray(pillow.load_image(again, len(data), image.filename, native)), orientation


def to_channels(samples: np.ndarray, channels: int) -> np.ndarray:
    """HWC of another number of channels: gray is repeated, alpha dropped or opaque. Colours do not become gray."""
    height, width, given = samples.shape
    if given == channels:
        return samples
    if given > 2 and channels < 3:
        raise ValueError(f"mode 'LA;16' is for gray files, got one of {given} channels")
    gray = given < 3
    result = np.empty((height, width, channels), samples.dtype)
    result[:, :, : channels - 1 if channels in (2, 4) else channels] = samples[:, :, :1] if gray else samples[:, :, :3]
    if channels in (2, 4):
        result[:, :, -1] = samples[:, :, -1] if given in (2, 4) else np.iinfo(samples.dtype).max
    return result


def orient(array: np.ndarray, orientation: int) -> np.ndarray:
    """The view of a stored HWC array that an Exif orientation asks for."""
    if orientation > 4:
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        array = array[::-1]
    if orientation in (2, 3, 6, 7):
        array = array[:, ::-1]
    return array
