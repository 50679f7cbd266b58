"""Compose GIF frames as torchvision does. Pillow unpacks each frame; this file draws them on the canvas."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fastaug._image import pillow
from fastaug._image.encoded import check_pixels

_TO_BACKGROUND = 2  # the disposal of a frame that is drawn on the background


class _Frame(NamedTuple):
    left: int
    top: int
    width: int
    height: int
    palette: np.ndarray  # (colours, 3)
    transparent: int  # -1: none
    disposal: int
    data: bytes  # a GIF of this frame alone


def decode(data: bytes) -> np.ndarray:
    """Return the frames as uint8 (frames, height, width, 3).

    Transparent pixels show the previous frame, or the background colour if the frame's own disposal is that
    (torchvision/csrc/io/image/cpu/decode_gif.cpp).
    """
    try:
        width, height, background, frames = _parse(data)
    except (IndexError, struct.error):
        raise pillow.DecodeError(f"cannot decode {len(data)} bytes (GIF): truncated", format="GIF") from None
    check_pixels(width, height * len(frames))
    result = np.empty((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        canvas = result[number]
        canvas[:] = result[number - 1] if number and frame.disposal != _TO_BACKGROUND else background
        # The frame has no palette, which means gray to Pillow: one byte a pixel in every mode.
        indices = np.asarray(pillow.open_image(frame.data, load=True))
        indices = indices[..., 0] if indices.ndim == 3 else indices
        part = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
        indices = indices[: part.shape[0], : part.shape[1]]
        palette = np.zeros((256, 3), np.uint8)
        palette[: len(frame.palette)] = frame.palette
        seen = indices != frame.transparent
        part[seen] = palette[indices[seen]]
    return result


def _parse(data: bytes) -> tuple[int, int, np.ndarray, list[_Frame]]:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        raise pillow.DecodeError(f"cannot decode {len(data)} bytes: not a GIF", format=None)
    width, height, flags, background = struct.unpack_from("<HHBB", data, 6)
    shared, at = _palette(data, 13, flags)
    frames = list(_frames(data, at, shared))
    if not frames or not width or not height:
        raise pillow.DecodeError(f"cannot decode {len(data)} bytes (GIF): no image in it", format="GIF")
    colour = shared[background] if background < len(shared) else np.zeros(3, np.uint8)
    return width, height, colour, frames


def _frames(data: bytes, at: int, shared: np.ndarray) -> Iterator[_Frame]:
    transparent, disposal = -1, 0
    while data[at] != 0x3B:
        block = data[at]
        if block == 0x21:
            end = _after_blocks(data, at + 2)
            if data[at + 1] == 0xF9:
                control = data[at + 3]
                disposal = control >> 2 & 7
                transparent = data[at + 6] if control & 1 else -1
            at = end
        elif block == 0x2C:
            left, top, width, height, flags = struct.unpack_from("<4HB", data, at + 1)
            own, start = _palette(data, at + 10, flags)
            end = _after_blocks(data, start + 1)
            palette = own if len(own) else shared
            if not len(palette):
                raise pillow.DecodeError("cannot decode a GIF without colours", format="GIF")
            alone = struct.pack("<6s2H3xB4x2HB", b"GIF89a", width, height, 0x2C, width, height, flags & 0x40)
            yield _Frame(
                left, top, width, height, palette, transparent, disposal, b"".join((alone, data[start:end], b"\x3b"))
            )
            transparent, disposal = -1, 0
            at = end
        else:
            raise pillow.DecodeError(
                f"cannot decode {len(data)} bytes (GIF): no such block at byte {at}", format="GIF", offset=at
            )


def _palette(data: bytes, at: int, flags: int) -> tuple[np.ndarray, int]:
    if not flags & 0x80:
        return np.empty((0, 3), np.uint8), at
    end = at + 3 * (2 << (flags & 7))
    if end > len(data):
        raise IndexError
    return np.frombuffer(data[at:end], np.uint8).reshape(-1, 3), end


def _after_blocks(data: bytes, at: int) -> int:
    while data[at]:
        at += 1 + data[at]
    return at + 1
