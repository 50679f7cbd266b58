"""Read files only up to the end of their image, and never without end."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable
from typing import Any, cast

from PIL import Image, UnidentifiedImageError

from fastaug import _C
from fastaug._image import npy, pillow

#: Files of up to so many bytes are read at once, since searching for the end of the image would cost more.
AT_ONCE = 16 << 20

# Bytes that are read first, and at most, of sources without a size.
_FIRST = 1 << 20
_MOST = 1 << 30

# First bytes of formats that define the end of an image.
_JPEG = b"\xff\xd8\xff"
_RIFF, _WEBP = b"RIFF", b"WEBP"
_HEAD = 12

# The last bytes of a JPEG or PNG, and the size of a file up to which they prove that nothing follows the image.
_LAST = (b"\xff\xd9", b"IEND\xae\x42\x60\x82")
_TAIL = 8
_MOST_WHOLE = 64 << 20

# Files that find their end without reading, unlike a GzipFile.
_PLAIN = (io.BytesIO, io.BufferedReader, io.BufferedRandom, io.FileIO)


def read_path(path: str) -> npy.Data:
    """Return the bytes of a file, or a map of an .npy file.

    Of a large file, return the bytes of its image, or a `pillow.Start` in formats that only Pillow reads. A pipe or
    device that does not end raises DecodeError.
    """
    with open(path, "rb", buffering=0) as file:
        head = file.read(_HEAD)
        try:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
        except OSError:  # a pipe
            return _unsized(file.read, path, head)
        if size == 0:  # a device, or nothing
            return _unsized(file.read, path)
        if head.startswith(npy.MAGIC):
            return memoryview(cast(Any, _C.Mapped(file.fileno())))
        if size <= AT_ONCE or (size <= _MOST_WHOLE and _ends(file, size)):
            return file.read()
        if not _has_end(head):
            return pillow.Start(head, path)
        return _read_on(file.read, b"", AT_ONCE, ends=True)


def _ends(file: io.FileIO, size: int) -> bool:
    """Return True if a file ends like a JPEG or PNG, and go to its beginning."""
    file.seek(size - _TAIL)
    tail = file.read(_TAIL)
    file.seek(0)
    return tail.endswith(_LAST)


def gives_again(file: Any) -> bool:
    """Return whether a file object is known to give the same bytes again."""
    with contextlib.suppress(OSError, ValueError):  # a closed one
        return type(file) in _PLAIN and bool(file.seekable())
    return False


def read_open(file: Any) -> bytes:
    """Return the bytes of a file that is open in binary mode, from its beginning if it can seek."""
    size = 0
    if isinstance(file, _PLAIN):
        with contextlib.suppress(OSError):  # a pipe
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
    elif getattr(file, "seekable", lambda: hasattr(file, "seek"))():
        file.seek(0)  # as Image.open()
    if size == 0:
        return _unsized(file.read, None)
    if size <= AT_ONCE:
        return _checked(file.read())
    head = _checked(file.read(_HEAD))
    return _read_on(file.read, head, AT_ONCE, ends=True) if _has_end(head) else head + _checked(file.read())


def _checked(data: Any) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"source should be a file open in binary mode, but its read() gives {type(data).__name__}")
    return bytes(data)


def _has_end(head: bytes) -> bool:
    """Return True if the format defines the end of the image."""
    return head.startswith((_JPEG, pillow.PNG_MAGIC, npy.MAGIC)) or _is_webp(head)


def _is_webp(head: bytes) -> bool:
    return head.startswith(_RIFF) and head[8:12] == _WEBP


def _end_of(data: bytes) -> int | None:
    """Return the offset at which the image ends, maybe beyond these bytes, or None if they do not define it."""
    return _C.image_end(data)


def _unsized(read: Callable[..., Any], path: str | None, data: bytes = b"") -> bytes:
    """Read a pipe, a device, or an object that only reads, on from `data`. Raise DecodeError if it does not end."""
    try:
        data += _checked(read(_FIRST))
    except TypeError:
        return _checked(read())  # it accepts no size
    while data and len(data) < _HEAD and (more := _checked(read(_HEAD - len(data)))):
        data += more
    if not _has_end(data):
        data = _read_on(read, data, _FIRST, _FIRST, ends=False)
        if len(data) < _FIRST or not _is_known(data):
            return data  # complete, or not an image
    data = _read_on(read, data, _FIRST, _MOST, ends=_has_end(data))
    if len(data) >= _MOST:
        cause = ValueError(f"it has no end within {_MOST >> 30} GiB")
        raise pillow.decode_error(path, len(data), None, cause) from cause
    return data


def _read_on(read: Callable[[int], Any], data: bytes, step: int, most: int | None = None, *, ends: bool) -> bytes:
    """Read on from `data`, first by `step` bytes, to the end of the file, or to `most` bytes.

    With `ends`, stop at the end of the image, which the format defines.
    """
    while most is None or len(data) < most:
        end = _end_of(data) if ends else None
        if end is not None and end <= len(data):
            return data[:end]
        # Doubling the size each time bounds the cost of searching the same bytes again.
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
    """Return True if Pillow may read a file that begins with `data`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Image.open(io.BytesIO(data)).close()
        except UnidentifiedImageError:
            # Pillow also fails to identify incomplete files, such as TIFF files with their directory at the end.
            return any(accept is not None and accept(data[:16]) is True for _, accept in Image.OPEN.values())
        except Exception:
            return True
    return True
