"""LazyImage: files and bytes that become pixels when these are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image import decode, pillow
from fastaug._image.encoded import CHANNELS, Encoded, check_mode
from fastaug._image.kept import Kept, Never

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class LazyImage(Encoded):
    """An encoded image, decoded when, and as far as, its pixels are wanted.

    Every transform and ``Compose`` of fastaug takes it in place of the image, and decodes no more of it than they use.
    It pickles as the path or the bytes that it was made of. The file of a path is not read before something of it is
    wanted, and not kept. Its pixels are, from the second view on, if views are taken one soon after the other: at most
    64 MiB, until :meth:`release`, or the handle's end, or others need the room more.

    An .npy file is mapped into memory instead, until :meth:`release`, or the handle's end, or thousands of others are
    mapped: the system reads what is used of it. As with ``numpy.memmap``, a file that somebody cuts short meanwhile
    ends the process by a bus error; one that is replaced, as by ``os.replace``, does no harm.

    Args:
        source: path; bytes, bytearray, memoryview, one-dimensional uint8 ndarray or CPU tensor that hold an encoded
            image; or a file open in binary mode, which is read at once, from its beginning.
        mode: a mode of Pillow to convert to, or None for the file's own.
        exif: whether to flip and turn the image as the file's Exif orientation says. Pillow and torchvision do not.
        jpeg_tables: tables of an abbreviated JPEG stream, as the tag JPEGTables of a TIFF file holds them.
        colorspace: what the three components of a JPEG stream are, ``"rgb"`` or ``"ycbcr"``, where the file that it
            lies in says so; None for what it says itself. Gray JPEGs and other formats have no use for it.

    Raises:
        TypeError: ``source`` is none of these, or ``mode`` no string.
        ValueError: unknown ``mode`` or ``colorspace``; an ndarray or a tensor of another shape, dtype or device;
            ``jpeg_tables`` that are no JPEG stream.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from PIL import Image
        >>> from fastaug.io import LazyImage
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60), "navy").save(file, "JPEG")
        >>> image = LazyImage(file)
        >>> image.size, image.mode, image.format
        ((80, 60), 'RGB', 'JPEG')
        >>> np.asarray(image).shape
        (60, 80, 3)
    """

    __slots__ = ("_kept",)

    _kept: Kept

    def _reset(self) -> None:
        super()._reset()
        self._kept = Kept()

    def __repr__(self) -> str:
        name = repr(self.filename) if self.filename is not None else f"<{len(self._source)} bytes>"
        mode = repr(self.modes[-1]) if self.modes else None
        exif = ", exif=True" if self.exif else ""
        tables = "" if self._tables is None else f", jpeg_tables=<{len(self._tables)} bytes>"
        colorspace = "" if self.colorspace is None else f", colorspace={self.colorspace!r}"
        return f"LazyImage({name}, mode={mode}{exif}{tables}{colorspace})"

    def convert(self, mode: str) -> LazyImage:
        """A handle of the same image, converted to another mode.

        Raises:
            TypeError: ``mode`` is no string.
            ValueError: unknown ``mode``.
        """
        check_mode(mode)
        if self.modes and self.modes[-1] == mode:
            return self
        other = LazyImage.__new__(LazyImage)
        other.__setstate__(self.__getstate__())
        other.modes = (*self.modes, mode)
        return other

    def in_memory(self) -> LazyImage:
        """A handle of the same image, for one use, whose file and header have been read; or this one with its pixels.

        Raises:
            OSError, DecodeError: they cannot be.
        """
        if self.keeps:
            return self
        data, _ = self.encoded()
        if self._map is not None:
            return self
        other = LazyImage.__new__(LazyImage)
        other.__setstate__((data, *self.__getstate__()[1:]))
        other._kept = Never()
        other._header, other._orientation = self.header, self._orientation
        return other

    def load(self) -> Image.Image:
        """The image as a PIL image, oriented if it is to be oriented.

        Decoded natively, it has none of the metadata that Pillow keeps in ``info``.

        Raises:
            DecodeError: the image cannot be decoded.
        """
        return self._loaded(self._use(view=False))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("copy=False cannot be had: an encoded image has to be decoded into an array")
        pixels = self._use(view=False)
        array = decode.read(self) if pixels is None else decode.store(self._loaded(pixels))
        return array if dtype is None else array.astype(dtype, copy=False)

    def release(self) -> None:
        """Gives back the pixels, or the map, that it keeps. The file is read again when it is used again."""
        self._kept.give_back()
        self._kept = Kept()
        if self._map is not None:
            self._map = self._header = None

    @property
    def keeps(self) -> bool:
        """Whether it keeps its pixels now."""
        return self._kept.pixels is not None

    def view(self) -> Image.Image:
        """load() for a transform."""
        return self._loaded(self._use(view=True))

    def source(self) -> _C.Source:
        pixels = self._use(view=True)
        return _C.from_array(pixels) if isinstance(pixels, np.ndarray) else super().source()

    def _loaded(self, pixels: np.ndarray | Image.Image | None) -> Image.Image:
        if pixels is None:
            return decode.load(self)
        return pixels.copy() if isinstance(pixels, Image.Image) else decode.oriented(self, pixels)

    def _use(self, view: bool) -> np.ndarray | Image.Image | None:
        """The pixels that it keeps, not to be written to; None to decode what is wanted of them.

        `view` says whether they are for a transform. Where the core decodes the image to its mode, they are those of
        the stored one, in that mode. Else they are what load() gives, of which only a plain image is kept: in the
        file's own mode, Pillow hands out an object of the file's.
        """
        kept = self._kept
        if type(kept) is Never:
            return None
        pixels = kept.pixels
        if pixels is None:
            self.encoded(keep=True)  # where there is nothing to be read, there is no use
            if self.format == "NPY" and self.native:
                return None  # they are there already, in the file
        if not kept.use(view) or pixels is not None:
            return pixels
        native = self.native
        if not native and not self.modes:
            return None
        width, height = self.header[:2]
        if not kept.make_room(height * width * (CHANNELS[self.mode] if native else pillow.bytes_of(self.mode))):
            return None
        try:
            pixels = decode.stored(self) if native else decode.load(self)
        except (_C.Deferred, _C.Refused, MemoryError):
            # As far as it is sound, it goes on to be decoded in parts.
            self._kept = Never()
        finally:
            kept.keep(pixels)
        return pixels


# Its public name, by which it pickles.
LazyImage.__module__ = "fastaug.io"
