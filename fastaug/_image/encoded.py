"""Encoded images: their sources and headers."""

from __future__ import annotations

import os
import sys
import threading
import warnings
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from PIL import Image, ImageMode

from fastaug import _C
from fastaug._image import indexes, members, npy, pillow
from fastaug._image.assembled import Assembled
from fastaug._image.files import AT_ONCE, read_open
from fastaug._image.files import read_path as read_file
from fastaug._program import pil

if TYPE_CHECKING:
    import torch

    from fastaug._image.npy import Data

    Buffer: TypeAlias = bytes | bytearray | memoryview | np.ndarray | "torch.Tensor"
    Source: TypeAlias = str | "os.PathLike[str]" | Buffer | BinaryIO | dict[str, Any]

#: Colour spaces of JPEG streams of three components.
Colorspace: TypeAlias = Literal["rgb", "ycbcr"]
COLORSPACES = get_args(Colorspace)

#: The core's reasons for not decoding an image: it is Pillow's to decode, or no decoder's.
NOT_DECODED = (_C.Deferred, _C.Refused)

#: The modes that the core decodes to, and their channels.
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}

# The modes of which the core gives the samples as a file has them: without their palette, scale, or loss of bits.
_STORED = ("P", "1", "I;16")


class Header(NamedTuple):
    """The header of a file in Pillow's terms."""

    width: int
    height: int
    mode: str
    format: str
    bits: int  # of a sample of the file
    conversions: int  # the core's: a bit for each number of channels, or 0


class _Recent(threading.local):
    """The file that this thread read last, unless it is large.

    Pixels are usually read soon after the header. Handles do not keep bytes themselves, since there may be many.
    """

    owner: Encoded | None = None
    data: Data = b""
    encoded: Any = None


_recent = _Recent()

# Handles of the files that were mapped last. Older ones give up their maps: a process may have 65530 in Linux.
_MOST_MAPPED = 4096
_mapped: deque[weakref.ref[Encoded]] = deque()


class Encoded:
    """An encoded image: its source and header. LazyImage documents the arguments."""

    __slots__ = (
        "__weakref__",
        "_header",
        "_index",
        "_map",
        "_orientation",
        "_source",
        "_tables",
        "_used",
        "colorspace",
        "exif",
        "filename",
        "modes",
    )

    def __init__(
        self,
        source: Source,
        mode: str | None = "RGB",
        *,
        exif: bool = False,
        jpeg_tables: Buffer | None = None,
        colorspace: Colorspace | None = None,
    ) -> None:
        self._source, self.filename = take(source)
        if mode is not None and mode not in CHANNELS:
            check_mode(mode)
        # Successive calls of Image.convert().
        self.modes: tuple[str, ...] = () if mode is None else (mode,)
        self._tables = None if jpeg_tables is None else check_tables(jpeg_tables)
        self.exif = bool(exif)
        check_colorspace(colorspace)
        self.colorspace = colorspace
        self._reset()

    def __getstate__(self) -> tuple[Any, ...]:
        return self._source, self.filename, self.modes, self._tables, self.exif, self.colorspace

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        # Pickles of earlier versions have no colorspace.
        self._source, self.filename, self.modes, self._tables, self.exif, self.colorspace = (*state, None)[:6]
        self._reset()

    def _reset(self) -> None:
        self._header: Header | None = None
        self._orientation: int | None = None
        self._map: tuple[Data, _C.Encoded] | None = None
        self._index: _C.ScanIndex | None = None
        self._used = False

    @property
    def path(self) -> str | None:
        """Return the path of the file, or None for bytes and members of archives."""
        return self._source if isinstance(self._source, str) else None

    def encoded(self, *, keep: bool = False) -> tuple[Data, _C.Encoded]:
        """Return the bytes and the core's reader of them, kept for this thread's next use with `keep`.

        An .npy file stays mapped. One that is not an image raises DecodeError.
        """
        held = self._map
        if held is not None:
            return held
        if isinstance(self._source, Assembled):
            return self._announced(self._source)
        if _recent.owner is self:
            data, encoded = _recent.data, _recent.encoded
        else:
            source = self._source
            if isinstance(source, _C.Member):
                data = members.read(source)
            else:
                data = read_file(source) if isinstance(source, str) else source
            encoded = _C.Encoded(data, self._tables, self.colorspace)
            if encoded.native:
                width, height = encoded.width, encoded.height
                check_pixels(width, height)
                told = encoded.mode, encoded.format, encoded.bits, encoded.conversions
                self._header = Header(width, height, *told)
                self._orientation = encoded.orientation
            elif encoded.format == "NPY":
                raise npy.error(data, self.filename)
            if isinstance(data, memoryview):
                return self._hold(data, encoded)
        if keep and len(data) <= AT_ONCE:
            _recent.owner, _recent.data, _recent.encoded = self, data, encoded
        elif _recent.owner is not None:
            _recent.owner, _recent.data, _recent.encoded = None, b"", None
        return data, encoded

    def _announced(self, image: Any) -> tuple[Any, Any]:
        self._header = Header(image.width, image.height, "RGB", image.format, 8, 1 << 3 | 1 << 4)
        self._orientation = 1
        self._map = image, image
        return self._map

    def _hold(self, data: Data, encoded: _C.Encoded) -> tuple[Data, _C.Encoded]:
        held = self._map = data, encoded
        _mapped.append(weakref.ref(self))
        if len(_mapped) > _MOST_MAPPED:
            other = _mapped.popleft()()
            if other is not None:
                other._map = None
        return held

    def open(self, data: Data, native: Exception | None = None, *, load: bool = False) -> Image.Image:
        """Return the stored image by Pillow or NumPy. `native` is the core's reason for not decoding it.

        Raises:
            DecodeError: no decoder should try it, says the core; or Pillow does not decode it either.
        """
        if isinstance(native, _C.Refused):
            raise pillow.decode_error(self.filename, len(data), self.format, native, native) from None
        if isinstance(data, Assembled):
            return data.image()
        if not isinstance(data, bytes) or data.startswith(npy.MAGIC):
            return npy.image(data)
        whole = pillow.with_tables(data, self._tables)
        return pillow.open_image(whole, self.filename, native, load=load, colorspace=self.colorspace)

    @property
    def is_at_hand(self) -> bool:
        """True if this thread has read the file, and keeps its bytes for the next use."""
        return _recent.owner is self

    @property
    def is_plain(self) -> bool:
        """True if the file is opened without other tables and colours, and converted once at most."""
        return self._tables is None and self.colorspace is None and len(self.modes) < 2

    @property
    def header(self) -> Header:
        """Read the header, and check Pillow's limit on the number of pixels."""
        if self._header is None:
            data, encoded = self.encoded(keep=True)
            if not encoded.native:
                image = self.open(data)
                width, height = image.size
                bits = pillow.bits_of(image, bytes(data))
                self._header = Header(width, height, image.mode, image.format or "", bits, 0)
        assert self._header is not None
        return self._header

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), after orientation if ``exif`` is set."""
        width, height = self.header[:2]
        return (height, width) if self.exif and self.orientation > 4 else (width, height)

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def height(self) -> int:
        return self.size[1]

    @property
    def mode(self) -> str:
        """The mode of Pillow after conversion."""
        return self.modes[-1] if self.modes else self.header.mode

    @property
    def format(self) -> str:
        """The format of the file, by Pillow's name."""
        return self.header.format

    @property
    def orientation(self) -> int:
        """The Exif orientation of the stored pixels, 1 to 8; 1 for TIFF files, which Pillow turns itself."""
        if self._orientation is None:
            data, encoded = self.encoded(keep=True)
            if not encoded.native:
                # Some formats store it after the pixels. TIFF pixels are turned already.
                self._orientation = pillow.orientation_of(self.open(data, load=True))
        assert self._orientation is not None
        return self._orientation

    def steps(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the mode that the core decodes to, or None, and the modes to which Pillow then converts."""
        header, modes = self.header, self.modes
        if modes and header.conversions >> CHANNELS.get(modes[0], 0) & 1:
            return modes[0], modes[1:]
        if not header.conversions or header.mode not in CHANNELS:
            return None, modes
        return header.mode, modes if modes != (header.mode,) else ()

    @property
    def as_stored(self) -> bool:
        """Return True if its mode is the file's P, 1 or I;16. The core then gives its samples, but not a PIL image."""
        header = self.header
        return bool(header.conversions) and header.mode in _STORED and self.modes in ((), (header.mode,))

    @property
    def native(self) -> bool:
        """Return True if the core decodes the file to its mode, unless it is broken."""
        mode, rest = self.steps()
        return mode is not None and not rest

    def source(self) -> _C.Source:
        """Return the stored image in its mode, not oriented, for programs of the core. Only if native."""
        mode = self.mode
        _, encoded = self.encoded()
        return self.part_of(encoded, CHANNELS[mode])

    def part_of(self, encoded: _C.Encoded, channels: int) -> _C.Source:
        """Return the pixels for programs, for a JPEG with the index of its stream if there is one."""
        return encoded.source(channels, self.index()) if encoded.format == "JPEG" else encoded.source(channels)

    def index(self) -> _C.ScanIndex | None:
        """Count a use. Return the index saved beside the file, or from the second use on one that uses fill.

        The core compares it with the bytes at each use, since the file may have changed.
        """
        if self._index is None and isinstance(self._source, str) and self._tables is None:
            saved = indexes.saved(self._source)
            if saved is not None:
                return saved
        if self._index is None and self._used:
            self._index = _C.ScanIndex()
        self._used = True
        return self._index

    def pil(self, deferred: Exception | None = None) -> Image.Image:
        """Return the stored image in its mode, not oriented, by Pillow. `deferred` is the core's reason for errors."""
        data, _ = self.encoded()
        return pillow.convert(self.open(data, deferred, load=True), self.modes)

    def undecoded(self, reason: Exception) -> _C.Source:
        """Return pil() for programs of the core."""
        return pil.borrow(self.pil(reason), CHANNELS[self.mode])


#: Types that are always encoded images or their paths.
ENCODED = (str, os.PathLike, bytes, bytearray, memoryview, _C.Member)


def is_encoded(source: Any) -> bool:
    """Return True for bytes of an encoded image, or a file or path of one."""
    if isinstance(source, ENCODED):
        return True
    return _holds_bytes(source) if _is_array(source) else hasattr(source, "read")


def _is_array(source: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(source, np.ndarray) or (torch is not None and isinstance(source, torch.Tensor))


def _holds_bytes(array: Any) -> bool:
    return array.ndim == 1 and str(array.dtype) in ("uint8", "torch.uint8")


def is_entry(source: Any) -> bool:
    """Return True for an undecoded image of Hugging Face datasets: a dictionary of bytes, path or both, and no more."""
    return type(source) is dict and bool(source) and source.keys() <= {"bytes", "path"}


def take(source: Any) -> tuple[Any, str | None]:
    """Return a path (str), bytes or a member of an archive to read an image from, and the name of the file."""
    if isinstance(source, Assembled):
        return source, source.path
    if isinstance(source, _C.Member):
        return source, members.filename(source)
    if is_entry(source):
        data, path = source.get("bytes"), source.get("path")
        if data is None and path is None:
            raise ValueError(f"source should have bytes or a path, got {source}")
        if data is None:
            return take(path)
        return take_bytes(data), None if path is None else os.fsdecode(path)
    if isinstance(source, str):
        return str(source), str(source)
    if isinstance(source, os.PathLike):
        path = os.fsdecode(source)
        return path, path
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return read_open(source), name if isinstance(name, str) else None
    return take_bytes(source), None


def take_bytes(source: Any) -> bytes:
    """Copy the bytes, which could otherwise change between header and pixels."""
    if isinstance(source, (bytes, bytearray)):
        return bytes(source)
    if isinstance(source, memoryview):
        return source.tobytes()
    if not _is_array(source):
        raise TypeError(
            "source should be a path, bytes, a bytearray, a memoryview, a uint8 ndarray or tensor of one dimension, "
            f"a dictionary of bytes and path, or a file open in binary mode, got {type(source).__name__}"
        )
    if not _holds_bytes(source):
        raise ValueError(f"source should be one-dimensional uint8, got {source.dtype} of shape {tuple(source.shape)}")
    if not isinstance(source, np.ndarray):
        if source.device.type != "cpu":
            raise ValueError(f"source should be a tensor on the CPU, got one on {source.device}")
        from fastaug._program.eager import as_array

        source = as_array(source)
    data: bytes = source.tobytes()
    return data


def check_mode(mode: Any) -> None:
    if not isinstance(mode, str):
        raise TypeError(f"mode should be a string, got {type(mode).__name__}")
    try:
        ImageMode.getmode(mode)
    except KeyError:
        raise ValueError(f"mode should be a mode of Pillow, such as 'RGB', 'L' or 'RGBA', got {mode!r}") from None


def check_colorspace(colorspace: Any) -> None:
    if colorspace is not None and not (isinstance(colorspace, str) and colorspace in COLORSPACES):
        raise ValueError(f"colorspace should be None, 'rgb' or 'ycbcr', got {colorspace!r}")


def check_tables(tables: Any) -> bytes:
    data = take_bytes(tables)
    if not data.startswith(b"\xff\xd8") or b"\xff\xd9" not in data:
        raise ValueError(
            f"jpeg_tables should be a JPEG stream, from SOI (FF D8) to EOI (FF D9), got {len(data)} bytes that are none"
        )
    return data


def check_pixels(width: int, height: int) -> None:
    """Check Pillow's limit on the number of pixels like Image.open()."""
    limit = Image.MAX_IMAGE_PIXELS
    if limit is None or width * height <= limit:
        return
    size = f"Image size ({width * height} pixels) exceeds limit of"
    attack = "could be decompression bomb DOS attack."
    if width * height > 2 * limit:
        raise Image.DecompressionBombError(f"{size} {2 * limit} pixels, {attack}")
    warnings.warn(f"{size} {limit} pixels, {attack}", Image.DecompressionBombWarning, stacklevel=2)
