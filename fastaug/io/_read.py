"""Read one image as an ndarray."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from fastaug._image import decode, decode16, npy, pillow
from fastaug._image.lazy import LazyImage

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastaug._image.encoded import Buffer, Colorspace, Source

# In larger files Pillow seeks to the header. Smaller ones are read as a whole.
_LARGE = 1 << 20

# Modes in OpenCV's channel order, and the modes with the same samples.
_SWAPPED = {"BGR": "RGB", "BGRA": "RGBA", "BGR;16": "RGB;16", "BGRA;16": "RGBA;16"}


def imread(
    source: Source,
    mode: str | None = "RGB",
    region: tuple[int, int, int, int] | None = None,
    exif: bool = False,
    out: np.ndarray | None = None,
    *,
    dtype: DTypeLike | None = None,
    jpeg_tables: Buffer | None = None,
    colorspace: Colorspace | None = None,
) -> np.ndarray:
    """Read an image as the array that ``np.asarray(Image.open(source).convert(mode))`` gives, bit for bit.

    JPEG and PNG files are decoded natively, other formats by Pillow. NumPy's .npy files count as images if they hold
    uint8 in C order of shape [H, W] or [H, W, 1 to 4], which is L, LA, RGB or RGBA. Decoding releases the interpreter
    lock.

    The mode ``"I;16"`` returns 16-bit gray PNG files unchanged. ``"LA;16"``, ``"RGB;16"`` and ``"RGBA;16"`` return any
    16-bit PNG file as uint16 of 2, 3 or 4 channels. Other modes return Pillow's conversion: the high byte of colours,
    and gray clipped at 255.

    ``"BGR"``, ``"BGRA"``, ``"BGR;16"`` and ``"BGRA;16"`` are the RGB modes in OpenCV's channel order. Like ``dtype``,
    they take no further pass.

    Args:
        source: path; bytes, bytearray, memoryview, one-dimensional uint8 ndarray or CPU tensor of an encoded image; or
            a file open in binary mode, which is read from its beginning.
        mode: one of Pillow's modes, one of the modes above, or None for ``np.asarray(Image.open(source))``.
        region: (top, left, height, width) in pixels of the image that is returned without it. The decoder skips the
            rest if the format allows that.
        exif: flip and turn the image by the file's Exif orientation. Pillow and torchvision do not.
        out: array to write the pixels to. After an error its content is undefined.
        dtype: ``numpy.float32`` in modes of 8 or 16 bits, for ``array.astype(numpy.float32) / 255.0`` or ``/ 65535.0``,
            bit for bit; or None for the mode's own.
        jpeg_tables: tables of an abbreviated JPEG stream, as in the TIFF tag JPEGTables.
        colorspace: colour space of a three-component JPEG stream, ``"rgb"`` or ``"ycbcr"``, if its container defines
            it, as the TIFF tag PhotometricInterpretation does. None follows the stream. Gray JPEGs and other formats
            ignore it.

    Returns:
        uint8 of shape (height, width, channels) in [0, 255], or (height, width) for modes of one channel. ``"I;16"``
        gives uint16, ``"I"`` int32, ``"F"`` float32 and ``"1"`` bool. With ``dtype``, float32 of the same shape in [0,
        1]. With ``out``, that array.

    Raises:
        fastaug.DecodeError: the image is truncated, corrupt or of an unknown format; or ``colorspace`` was given for a
            JPEG of four components. It is an OSError.
        OSError: the file cannot be read (FileNotFoundError, IsADirectoryError and so on).
        PIL.Image.DecompressionBombError: more than twice ``PIL.Image.MAX_IMAGE_PIXELS`` pixels. More than that number
            itself issues PIL.Image.DecompressionBombWarning.
        TypeError: ``source``, ``mode``, ``region``, ``out`` or ``dtype`` has the wrong type.
        ValueError: ``mode`` is unknown or the image cannot be converted to it; ``colorspace`` is unknown; ``region`` is
            not inside the image; ``out`` has another shape or dtype or is not writable; or ``dtype`` is not float32, or
            the mode does not have 8 or 16 bits.

    Example:
        >>> import fastaug
        >>> import numpy as np
        >>> from fastaug.io import imread
        >>> imread(fastaug.sample_file()).shape
        (300, 451, 3)
        >>> imread(fastaug.sample_file(), "L", region=(250, 0, 6, 2)).shape
        (6, 2)
        >>> imread(fastaug.sample_file(), "BGR", dtype=np.float32).dtype
        dtype('float32')
    """
    samples = _samples(mode, dtype)
    wanted = None if mode is None else _SWAPPED.get(mode, mode)
    wide = wanted in decode16.CHANNELS
    image = LazyImage(source, "I;16" if wide else wanted, exif=exif, jpeg_tables=jpeg_tables, colorspace=colorspace)
    if wanted is not None and wide:
        return decode16.read(image, wanted, region, out, samples)
    return decode.read(image, region, out, samples)


def _samples(mode: str | None, dtype: Any) -> decode.Samples:
    if dtype is not None:
        try:
            given = np.dtype(dtype)
        except TypeError:
            raise TypeError(f"dtype should be None or numpy.float32, got {dtype!r}") from None
        if given != np.float32:
            raise ValueError(f"dtype should be None or numpy.float32, got {given}")
    return decode.Samples(mode in _SWAPPED, dtype is not None)


def lazy(
    source: Source,
    mode: str | None = "RGB",
    exif: bool = False,
    *,
    jpeg_tables: Buffer | None = None,
    colorspace: Colorspace | None = None,
) -> LazyImage:
    """Return a handle of an encoded image that decodes its pixels on demand, and only those that are needed.

    Use it as the loader of torchvision's ``ImageFolder``. A ``Compose`` of fastaug then decodes only its crop.

    Args:
        source, exif, jpeg_tables, colorspace: as for :func:`imread`.
        mode: one of Pillow's modes to convert to, or None for the file's own.

    Returns:
        A :class:`LazyImage`.

    Raises:
        TypeError, ValueError: as :class:`LazyImage`. Missing and broken files raise at their first use.

    Example:
        >>> import fastaug, fastaug.io, fastaug.transforms as T
        >>> handle = fastaug.io.lazy(fastaug.sample_file())
        >>> T.Compose([T.RandomResizedCrop(32), T.ToTensor()])(handle).shape
        torch.Size([3, 32, 32])
    """
    return LazyImage(source, mode, exif=exif, jpeg_tables=jpeg_tables, colorspace=colorspace)


@dataclass(frozen=True)
class ImageInfo:
    """The header of an image in Pillow's terms.

    Attributes:
        size: (width, height) as stored.
        mode: the mode in which Pillow opens it.
        format: ``"JPEG"``, ``"PNG"`` and so on.
        orientation: the Exif orientation, 1 to 8; 1 if there is none.
        bits: bits of a sample, in the file for JPEG and PNG, otherwise in the mode.

    Example:
        >>> from fastaug.io import ImageInfo
        >>> ImageInfo((80, 60), "RGB", "JPEG", 6, 8).height
        60
    """

    size: tuple[int, int]
    mode: str
    format: str
    orientation: int
    bits: int

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def height(self) -> int:
        return self.size[1]


def image_info(source: Source) -> ImageInfo:
    """Read size, mode, format, orientation and bits from the header of an image.

    Args:
        source: path, bytes or open file, as for :func:`imread`.

    Returns:
        An :class:`ImageInfo` with the values of ``Image.open(source)``.

    Raises:
        fastaug.DecodeError: the header is broken or of an unknown format.
        OSError: the file cannot be read.
        PIL.Image.DecompressionBombError: more than twice ``PIL.Image.MAX_IMAGE_PIXELS`` pixels.
        TypeError: ``source`` has the wrong type.

    Example:
        >>> import fastaug, fastaug.io
        >>> fastaug.io.image_info(fastaug.sample_file())
        ImageInfo(size=(451, 300), mode='RGB', format='JPEG', orientation=1, bits=8)
    """
    image = LazyImage(source, None)
    if image.path is not None and os.path.getsize(image.path) > _LARGE:
        with open(image.path, "rb") as file:
            start = file.read(len(pillow.PNG_MAGIC))
            # PNG may have its Exif data after the pixels; .npy files are mapped.
            if start != pillow.PNG_MAGIC and not start.startswith(npy.MAGIC):
                opened = pillow.open_image(file, image.filename)
                return _info(opened, start)
    data, encoded = image.encoded()
    if encoded.native:
        header = image.header
        return ImageInfo((header.width, header.height), header.mode, header.format, encoded.orientation, header.bits)
    return _info(image.open(data), bytes(data))


def _info(image: Image.Image, data: bytes) -> ImageInfo:
    orientation = pillow.orientation_of(image, data)
    return ImageInfo(image.size, image.mode, image.format or "", orientation, pillow.bits_of(image, data))
