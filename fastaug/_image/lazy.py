"""LazyImage: files and bytes that become pixels when these are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from fastaug._image import decode
from fastaug._image.encoded import Encoded, check_mode

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class LazyImage(Encoded):
    """An encoded image, decoded when, and as far as, its pixels are wanted.

    Every transform and ``Compose`` of fastaug takes it in place of the image, and decodes no more of it than they use.
    It pickles as the path or the bytes that it was made of. The file of a path is not read before something of it is
    wanted, and not kept.

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

    __slots__ = ()

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

    def load(self) -> Image.Image:
        """The image as a PIL image, oriented if it is to be oriented.

        Decoded natively, it has none of the metadata that Pillow keeps in ``info``.

        Raises:
            DecodeError: the image cannot be decoded.
        """
        return decode.load(self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("copy=False cannot be had: an encoded image has to be decoded into an array")
        array = decode.read(self)
        return array if dtype is None else array.astype(dtype, copy=False)


# Its public name, by which it pickles.
LazyImage.__module__ = "fastaug.io"
