"""Decode by Pillow what the core does not, and describe the errors."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import Any, BinaryIO

from PIL import Image, ImageFile, ImageMode, UnidentifiedImageError

from fastaug import _C

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"

# Errors that do not mean broken bytes.
_PASSED_ON = (Warning, MemoryError, Image.DecompressionBombError)

_ORIENTATION = 0x112  # the Exif tag

_COMPONENTS = {"rgb": "RGB", "ycbcr": "YCbCr"}
_JPEG = ("JPEG", "MPO")

# Without any of these, a PNG has no orientation.
_EXIF_MARKS = (b"eXIf", b"exif", b"xmp")

_TRANSPOSITIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# Bits of a sample, where that is not 8.
_BITS = {"1": 1, "I": 32, "F": 32, "I;16": 16, "I;16B": 16, "I;16L": 16, "I;16N": 16}


class Start(bytes):
    """The first bytes of a large file in a format that only Pillow reads, which reads the file itself."""

    path: str

    def __new__(cls, data: bytes, path: str) -> Start:
        start = super().__new__(cls, data)
        start.path = path
        return start

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (bytes(self), self.path)

    def file(self) -> BinaryIO:
        return io.BufferedReader(_Raw(self.path))


class _Raw(io.RawIOBase):
    """A file that closes with the last image that reads it, without a ResourceWarning."""

    def __init__(self, path: str) -> None:
        self._descriptor: int | None = None
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def fileno(self) -> int:
        if self._descriptor is None:
            raise ValueError("the file is closed")
        return self._descriptor

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return os.readv(self.fileno(), [buffer])

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self.fileno(), offset, whence)

    def close(self) -> None:
        if not self.closed and self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        super().close()


class DecodeError(OSError):
    """An encoded image cannot be decoded: it is truncated, corrupt, too costly or of an unknown format.

    Pillow's error for the same bytes is its ``__cause__``. It is an ``OSError``, like most of Pillow's, and also a
    ``PIL.UnidentifiedImageError`` or a ``ValueError`` if Pillow's is one.

    Attributes:
        filename: path of the file, or None for bytes.
        format: ``"JPEG"``, ``"PNG"`` or another of Pillow's names, or None if unknown.
        offset: byte of the file at which decoding stopped, or None if unknown.
        index: position among the sources of :func:`fastaug.io.imread_batch`, or None.

    Example:
        >>> import fastaug, fastaug.io
        >>> try:
        ...     fastaug.io.imread(b"no image")
        ... except fastaug.DecodeError as error:
        ...     print(error)
        cannot decode 8 bytes: cannot identify the image
    """

    def __init__(
        self, message: str = "", filename: str | None = None, format: str | None = None, offset: int | None = None
    ) -> None:
        super().__init__(message)
        self.filename = filename
        self.format = format
        self.offset = offset
        self.index: int | None = None

    def __str__(self) -> str:
        # OSError's begins with "[Errno None]" if there is a filename.
        message = str(self.args[0])
        return message if self.index is None or self.filename is not None else f"sources[{self.index}]: {message}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.filename, self.format, self.offset), {"index": self.index}


DecodeError.__module__ = "fastaug"


class UnidentifiedDecodeError(DecodeError, UnidentifiedImageError):
    """A DecodeError for a format that Pillow does not read."""


class ValueDecodeError(DecodeError, ValueError):
    """A DecodeError where Pillow raises ValueError, as for text chunks that inflate too much."""


def decode_error(
    name: str | None, size: int, format: str | None, cause: Exception, native: Exception | None = None
) -> DecodeError:
    """Return the error of a file, or of `size` bytes without a name.

    `cause` is Pillow's error, or `native` again: the core's Deferred or Refused of a reason and an offset, negative if
    unknown.
    """
    kind: type[DecodeError] = DecodeError
    words = str(cause) or type(cause).__name__
    if isinstance(cause, UnidentifiedImageError):
        kind = UnidentifiedDecodeError
        words = "cannot identify the image"  # Pillow's words give the address of a buffer
    elif isinstance(cause, ValueError):
        kind = ValueDecodeError
    offset = None
    if native is not None:
        reason, at = native.args
        if at >= 0:
            offset = at
            reason = f"{reason} at byte {at}"
        words = reason if cause is native else f"{words} ({reason})"
    what = name if name is not None else f"{size} bytes"
    label = "" if format is None else f" ({format})"
    return kind(f"cannot decode {what}{label}: {words}", name, format, offset)


def open_image(
    source: bytes | BinaryIO,
    name: str | None = None,
    native: Exception | None = None,
    *,
    load: bool = False,
    colorspace: str | None = None,
) -> ImageFile.ImageFile:
    """Open bytes or a file by Image.open(), and load it if asked, or raise DecodeError.

    `name` and `native`, the core's reason for not decoding, are for the error.
    """
    size = len(source) if isinstance(source, bytes) else 0
    if isinstance(source, bytes):
        try:
            _C.afford(source)
        except _C.Refused as refused:
            raise decode_error(name, size, "JPEG", refused, refused) from None
    try:
        image = Image.open(_file_of(source))
    except _PASSED_ON:
        raise
    except Exception as error:
        raise decode_error(name, size, None, error, native) from error
    if colorspace is not None and image.format in _JPEG:
        _take_components_as(image, colorspace, size, name)
    return load_image(image, size, name, native) if load else image


def _file_of(source: bytes | BinaryIO) -> BinaryIO:
    if isinstance(source, Start):
        return source.file()
    return io.BytesIO(source) if isinstance(source, bytes) else source


def _take_components_as(image: ImageFile.ImageFile, colorspace: str, size: int, name: str | None) -> None:
    """Make Pillow read a JPEG of three components in a colour space. Raise DecodeError if it has four."""
    bands = len(image.getbands())
    if bands > 3:
        cause = ValueError(f"colorspace {colorspace!r} is of three components, and it has {bands}")
        raise decode_error(name, size, image.format, cause) from cause
    if bands == 3:
        # The second argument of Pillow's decoder overrides the file's colour space.
        mode = _COMPONENTS[colorspace]
        image.tile = [tile._replace(args=(tile.args[0], mode)) for tile in image.tile]  # type: ignore[index]


def load_image(
    image: ImageFile.ImageFile, size: int, name: str | None = None, native: Exception | None = None
) -> ImageFile.ImageFile:
    """Call load() of an image of `size` bytes, with the errors of open_image()."""
    try:
        image.load()
    except _PASSED_ON:
        raise
    except Exception as error:
        raise decode_error(name, size, image.format, error, native) from error
    return image


def convert(image: Image.Image, modes: Iterable[str]) -> Image.Image:
    for mode in modes:
        image = image.convert(mode)
    return image


def orientation_of(image: Image.Image, data: bytes | None = None) -> int:
    """Return the Exif orientation, 1 to 8; 1 if there is none, or a broken one.

    With the bytes of the file, a PNG is not decoded to find Exif data after its pixels.
    """
    if data is not None and image.format == "PNG" and not any(mark in data for mark in _EXIF_MARKS):
        return 1
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except _PASSED_ON:
        raise
    except Exception:
        # Broken Exif data leave the pixels as they are.
        return 1
    return int(value) if value in _TRANSPOSITIONS else 1


def orient(image: Image.Image, orientation: int) -> Image.Image:
    return image.transpose(_TRANSPOSITIONS[orientation]) if orientation in _TRANSPOSITIONS else image


def bytes_of(mode: str) -> int:
    """Return the bytes of a pixel in Pillow's memory."""
    kind = ImageMode.getmode(mode)
    return 4 if len(kind.bands) > 1 else int(kind.typestr[-1])


def bits_of(image: Image.Image, data: bytes) -> int:
    """Return the bits of a sample, from the header of a PNG file, otherwise from the mode."""
    if image.format == "PNG":
        return data[24]
    return _BITS.get(image.mode, 8)


def with_tables(data: bytes, tables: bytes | None) -> bytes:
    """Insert tables into an abbreviated JPEG stream. Other bytes stay as they are."""
    if tables is None or not data.startswith(b"\xff\xd8"):
        return data
    return b"".join((tables[: tables.rindex(b"\xff\xd9")], data[2:]))
