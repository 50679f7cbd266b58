"""Files and open files to bytes: no further than their image goes, and never without end."""

from __future__ import annotations

import io
import os
import stat
import warnings
from collections.abc import Callable
from typing import Any

from PIL import Image, UnidentifiedImageError

from fastaug import _C
from fastaug._image import npy, pillow

#: Bytes of a file up to which it is read at once: to look for the end of its image would cost more than it saves.
AT_ONCE = 16 << 20

# Bytes that are read first of what announces no size, and the most that are.
_FIRST = 1 << 20
_MOST = 1 << 30

# Beginnings of formats whose end is known: the core's, and WebP (RIFF, whose header has the size).
_JPEG = b"\xff\xd8\xff"
_RIFF, _WEBP = b"RIFF", b"WEBP"
_HEAD = 12

# Files whose descriptor has the size of what they read; that of a GzipFile has another one.
_PLAIN = (io.BufferedReader, io.BufferedRandom, io.FileIO)


def read_path(path: str) -> npy.Data:
    """The bytes of a file; of an .npy file a map, of which the system reads what is looked at.

    Of a large file they end where its image does, or are a `pillow.Start` in formats that only Pillow knows.

    Raises:
        OSError: it cannot be read.
        DecodeError: what has no size has no end either.
    """
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
            return _unsized(file.read, path)
        head = file.read(_HEAD)
        if head.startswith(npy.MAGIC):
            return memoryview(_C.Mapped(file.fileno()))
        if status.st_size <= AT_ONCE:
            file.seek(0)
            return file.read()
        if not _has_end(head):
            return pillow.Start(head, path)
        return _read_on(file.read, head, AT_ONCE)


def read_open(file: Any) -> bytes:
    """The bytes of a file that is open in binary mode, from its beginning if there is a way back to it.

    Raises:
        TypeError: it is not open in binary mode.
        DecodeError: it has no end.
    """
    # As Image.open().
    if getattr(file, "seekable", lambda: hasattr(file, "seek"))():
        file.seek(0)
    size = _size_of(file)
    if size is None:
        return _unsized(file.read, None)
    if size <= AT_ONCE:
        return _checked(file.read())
    head = _checked(file.read(_HEAD))
    return _read_on(file.read, head, AT_ONCE) if _has_end(head) else head + _checked(file.read())


def _size_of(file: Any) -> int | None:
    """Bytes of what an open file reads, where that is known."""
    if isinstance(file, io.BytesIO):
        return file.getbuffer().nbytes
    if not isinstance(file, _PLAIN):
        return None
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) and status.st_size else None


def _checked(data: Any) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"source should be a file open in binary mode, but its read() gives {type(data).__name__}")
    return bytes(data)


def _has_end(head: bytes) -> bool:
    """Whether it is told by the bytes of a file where its image ends."""
    return head.startswith((_JPEG, pillow.PNG_MAGIC, npy.MAGIC)) or _is_webp(head)


def _is_webp(head: bytes) -> bool:
    return head.startswith(_RIFF) and head[8:12] == _WEBP


def _end_of(data: bytes) -> int | None:
    """Where the image ends, also behind these bytes; None where they do not tell."""
    if _is_webp(data):
        size = int.from_bytes(data[4:8], "little")
        return 8 + size + size % 2
    return _C.image_end(data)


def _unsized(read: Callable[..., Any], path: str | None) -> bytes:
    """Of a pipe, a device, or an object that only reads.

    Raises:
        DecodeError: there are more bytes than any image has.
    """
    try:
        head = read(_FIRST)
    except TypeError:
        return _checked(read())  # one that knows no sizes
    data = _checked(head)
    while data and len(data) < _HEAD and (more := _checked(read(_HEAD - len(data)))):
        data += more
    if not _has_end(data):
        data = _read_on(read, data, _FIRST, _FIRST)
        if len(data) < _FIRST or not _is_known(data):
            return data  # an end, or for Pillow to refuse
    data = _read_on(read, data, _FIRST, _MOST)
    if len(data) >= _MOST:
        cause = ValueError(f"it has no end within {_MOST >> 30} GiB")
        raise pillow.decode_error(path, len(data), None, cause) from cause
    return data


def _read_on(read: Callable[[int], Any], data: bytes, step: int, most: int | None = None) -> bytes:
    """From `data` on to the end of the image or of the file, or to `most` bytes; `step` more at first."""
    ends = _has_end(data)
    while most is None or len(data) < most:
        end = _end_of(data) if ends else None
        if end is not None and end <= len(data):
            return data[:end]
        # Twice as many at a time: all bytes are gone through twice at most.
        wanted = max(len(data), step) if end is None else end - len(data)
        parts = [data]
        left = wanted if most is None else min(wanted, most - len(data))
        while left > 0 and (more := _checked(read(left))):  # pipes give a little at a time
            parts.append(more)
            left -= len(more)
        data = b"".join(parts)
        if left > 0:
            break
    return data


def _is_known(data: bytes) -> bool:
    """Whether Pillow may know the format of a file that begins so."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.open(io.BytesIO(data)).close()
    except UnidentifiedImageError:
        # Of what it has tried, as TIFF files with their directory at the end.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return any(accept is not None and accept(data[:16]) is True for _, accept in Image.OPEN.values())
    except Exception:
        return True
    return True
