"""One image at a time, as ndarrays."""

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

# A header is read out of the whole file, unless the file is so large that Pillow, which seeks in it, is sooner there.
_LARGE = 1 << 20

# The modes in OpenCV's order of channels, and those of which they are the samples.
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
    """An image as an array: what ``np.asarray(Image.open(source).convert(mode))`` gives, bit for bit.

    JPEG and PNG files are decoded natively, all else that Pillow opens by Pillow. NumPy's .npy files are images too, if
    they hold uint8 in C order, of shape [H, W] or [H, W, 1 to 4]: L, LA, RGB, RGBA. The Python interpreter is free for
    other threads meanwhile.

    PNG files of 16 bits a sample: ``"I;16"`` gives gray ones as they are, and ``"LA;16"``, ``"RGB;16"``, ``"RGBA;16"``
    any of them as uint16, of 2, 3 or 4 channels. In the other modes they are what Pillow makes of them: the high byte
    of colours, but gray clipped at 255.

    ``"BGR"`` and ``"BGRA"`` are ``"RGB"`` and ``"RGBA"`` with the channels in the order in which OpenCV has them, and
    so are ``"BGR;16"`` and ``"BGRA;16"``. ``dtype=numpy.float32`` divides by the largest sample there is: what
    ``array.astype(numpy.float32) / 255.0`` gives of the uint8 array, bit for bit, and ``/ 65535.0`` of that of uint16.
    Where the image is decoded natively, both are part of the same pass.

    Args:
        source: path; bytes, bytearray, memoryview, one-dimensional uint8 ndarray or CPU tensor that hold an encoded
            image; or a file open in binary mode, which is read from its beginning.
        mode: one of Pillow's modes to convert to, one of the modes above, or None for the file's own: the pixels of
            ``np.asarray(Image.open(source))``.
        region: (top, left, height, width) of what is wanted of the image, in pixels of the image as it is returned
            without it. Only what the region needs is decoded, where the format allows that.
        exif: whether to flip and turn the image as the file's Exif orientation says. Pillow and torchvision do not.
        out: array to write the pixels to. After an error it holds anything.
        dtype: ``numpy.float32`` for samples in [0, 1], in modes of 8 or 16 bits; None for those of the mode.
        jpeg_tables: tables of an abbreviated JPEG stream, as the tag JPEGTables of a TIFF file holds them.
        colorspace: what the three components of a JPEG stream are, ``"rgb"`` or ``"ycbcr"``, where the file that it
            lies in says so, as the tag PhotometricInterpretation of a TIFF file does; None for what the stream says
            itself. Gray JPEGs and other formats have no use for it.

    Returns:
        uint8 of shape (height, width, channels), in [0, 255]; of shape (height, width) for modes of one channel. The
        modes of other samples have other dtypes: ``"I;16"`` uint16, ``"I"`` int32, ``"F"`` float32, ``"1"`` bool.
        With ``dtype``, float32 of the same shape, in [0, 1]. ``out``, if that is given.

    Raises:
        fastaug.DecodeError: the image is truncated, corrupt or of no known format; or a JPEG of four components, for
            which a ``colorspace`` was given. It is an OSError.
        OSError: the file cannot be read: FileNotFoundError, IsADirectoryError and so on.
        PIL.Image.DecompressionBombError: it has more than twice ``PIL.Image.MAX_IMAGE_PIXELS`` pixels; with more than
            that number, PIL.Image.DecompressionBombWarning is issued.
        TypeError: ``source``, ``mode``, ``region``, ``out`` or ``dtype`` is of the wrong type.
        ValueError: unknown ``mode`` or one that the image cannot be converted to, unknown ``colorspace``, a ``region``
            that does not lie in the image, an ``out`` of another shape or dtype or not writable, a ``dtype`` that is
            not float32, or one for a mode whose samples have not 8 or 16 bits.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> from fastaug.io import imread
        >>> file = io.BytesIO()
        >>> Image.linear_gradient("L").save(file, "PNG")
        >>> imread(file).shape
        (256, 256, 3)
        >>> imread(file, "L", region=(250, 0, 6, 2))[:, 0].tolist()
        [250, 251, 252, 253, 254, 255]
        >>> imread(file, mode=None).shape
        (256, 256)
        >>> import numpy as np
        >>> imread(file, "BGR", dtype=np.float32)[255, 0]
        array([1., 1., 1.], dtype=float32)
    """
    samples = _samples(mode, dtype)
    wanted = None if mode is None else _SWAPPED.get(mode, mode)
    wide = wanted in decode16.CHANNELS
    image = LazyImage(source, "I;16" if wide else wanted, exif=exif, jpeg_tables=jpeg_tables, colorspace=colorspace)
    if wanted is not None and wide:
        return decode16.read(image, wanted, region, out, samples)
    return decode.read(image, region, out, samples)


def _samples(mode: str | None, dtype: Any) -> decode.Samples:
    """What the mode, where it is OpenCV's, and the dtype ask for.

    Raises:
        TypeError: what is no dtype.
        ValueError: a dtype that is not float32.
    """
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
    """A handle of an encoded image that is decoded when, and as far as, its pixels are wanted.

    It is a loader for torchvision's ``ImageFolder``: a ``Compose`` of fastaug's then decodes only its crop.

    Args:
        source: path, bytes or open file, as for :func:`imread`.
        mode: one of Pillow's modes to convert to, or None for the file's own.
        exif: whether to flip and turn the image as the file's Exif orientation says.
        jpeg_tables: tables of an abbreviated JPEG stream.
        colorspace: what the three components of a JPEG stream are, as for :func:`imread`.

    Returns:
        A :class:`LazyImage`.

    Raises:
        TypeError, ValueError: as :class:`LazyImage`. That a file is missing or broken shows when it is first wanted.

    Example:
        >>> import io
        >>> import fastaug.io, fastaug.transforms as T
        >>> from PIL import Image
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60)).save(file, "JPEG")
        >>> T.Compose([T.RandomResizedCrop(32), T.ToTensor()])(fastaug.io.lazy(file)).shape
        torch.Size([3, 32, 32])
    """
    return LazyImage(source, mode, exif=exif, jpeg_tables=jpeg_tables, colorspace=colorspace)


@dataclass(frozen=True)
class ImageInfo:
    """What the header of an image says, in Pillow's terms.

    Attributes:
        size: (width, height) as the image is stored.
        mode: the mode in which Pillow opens it.
        format: ``"JPEG"``, ``"PNG"`` and so on.
        orientation: the Exif orientation, 1 to 8; 1 when there is none.
        bits: of a sample: of the file for JPEG and PNG, else of the mode.

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
    """Size, mode and the like of an image, by its header alone.

    Args:
        source: path, bytes or open file, as for :func:`imread`.

    Returns:
        An :class:`ImageInfo`, of what ``Image.open(source)`` would say.

    Raises:
        fastaug.DecodeError: the header is broken, or of no known format.
        OSError: the file cannot be read.
        PIL.Image.DecompressionBombError: it announces more than twice ``PIL.Image.MAX_IMAGE_PIXELS`` pixels.
        TypeError: ``source`` is nothing that an image can be read from.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> from fastaug.io import image_info
        >>> file = io.BytesIO()
        >>> Image.new("L", (80, 60)).save(file, "PNG")
        >>> image_info(file)
        ImageInfo(size=(80, 60), mode='L', format='PNG', orientation=1, bits=8)
    """
    image = LazyImage(source, None)
    if image.path is not None and os.path.getsize(image.path) > _LARGE:
        with open(image.path, "rb") as file:
            start = file.read(len(pillow.PNG_MAGIC))
            # Those may have their Exif data behind the pixels; these are mapped.
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
