"""The image readers and decoders of ``torchvision.io``, with its signatures and results."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image import decode, decode16, pillow
from fastaug._image.encoded import NOT_DECODED, check_pixels
from fastaug._image.lazy import LazyImage
from fastaug._image.pillow import DecodeError
from fastaug.io import _exif, _png

if TYPE_CHECKING:
    import torch

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ImageReadMode(Enum):
    """The conversion that a decoder of torchvision's interface applies.

    ``UNCHANGED`` keeps the file's channels. ``GRAY``, ``GRAY_ALPHA``, ``RGB`` and ``RGB_ALPHA`` (alias ``RGBA``) have
    1, 2, 3 and 4 channels. Not every format has all of them. Decoders also accept the names, in upper or lower case.

    Example:
        >>> from fastaug.io import ImageReadMode
        >>> ImageReadMode.RGBA
        <ImageReadMode.RGB_ALPHA: 4>
    """

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = RGB_ALPHA


class _DecodeRuntimeError(DecodeError, RuntimeError):
    """A DecodeError where torchvision raises RuntimeError."""


def _with_runtime_errors(function: _Function) -> _Function:
    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except DecodeError as error:
            raise _DecodeRuntimeError(str(error.args[0]), error.filename, error.format, error.offset) from error

    return wrapped  # type: ignore[return-value]


def read_file(path: str | Path) -> torch.Tensor:
    """Read the bytes of a file, like ``torchvision.io.read_file``.

    Args:
        path: of the file.

    Returns:
        One-dimensional uint8 tensor.

    Raises:
        RuntimeError: the file is missing, unreadable or empty.

    Example:
        >>> import fastaug, fastaug.io
        >>> fastaug.io.read_file(fastaug.sample_file())[:3]
        tensor([255, 216, 255], dtype=torch.uint8)
    """
    import torch

    try:
        data = np.fromfile(str(path), np.uint8)
    except OSError as error:
        raise RuntimeError(str(error)) from error
    if not data.size:
        raise RuntimeError(f"Expected a non empty file: '{path}'")
    return torch.from_numpy(data)


@_with_runtime_errors
def decode_jpeg(
    input: torch.Tensor | list[torch.Tensor],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    device: str | torch.device = "cpu",
    apply_exif_orientation: bool = False,
) -> torch.Tensor | list[torch.Tensor]:
    """Decode JPEG images, like ``torchvision.io.decode_jpeg``.

    ``GRAY`` is the luma plane of the file, unlike Pillow's conversion from RGB. ``UNCHANGED`` CMYK has the samples of
    the file, the inverse of Pillow's. Images for other devices are decoded on the CPU and copied.

    Args:
        input: one-dimensional uint8 CPU tensor of the bytes, or a list of them.
        mode: UNCHANGED, GRAY or RGB.
        device: device of the result.
        apply_exif_orientation: flip and turn the image by its Exif orientation.

    Returns:
        uint8 of shape (channels, height, width) in [0, 255], channels last in memory, or a list of them.

    Raises:
        RuntimeError: not a JPEG, a broken one, another mode, or a tensor of another shape or dtype.
        ValueError: an empty list, a list of anything but tensors, or a tensor that is not on the CPU.

    Example:
        >>> import fastaug, fastaug.io
        >>> fastaug.io.decode_jpeg(fastaug.io.read_file(fastaug.sample_file()), "gray").shape
        torch.Size([1, 300, 451])
    """
    mode = _mode(mode)
    if not isinstance(input, list):
        if input.device.type != "cpu":
            raise ValueError("Input tensor must be a CPU tensor")
        return _decode_jpeg(_bytes(input), mode, apply_exif_orientation).to(device)
    import torch

    if not input:
        raise ValueError("Input list must contain at least one element")
    if not all(isinstance(item, torch.Tensor) for item in input):
        raise ValueError("All elements of the input list must be tensors.")
    if not all(item.device.type == "cpu" for item in input):
        raise ValueError("Input list must contain tensors on CPU.")
    return [_decode_jpeg(_bytes(item), mode, apply_exif_orientation).to(device) for item in input]


@_with_runtime_errors
def decode_png(
    input: torch.Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> torch.Tensor:
    """Decode a PNG image, like ``torchvision.io.decode_png``.

    16-bit files stay 16-bit. Gray is libpng's, not Pillow's. A transparent colour counts for palettes and is ignored in
    gray and RGB files. ``UNCHANGED`` palette files are indices. torchvision returns uninitialised memory in two cases.
    For these, this returns opaque alpha for a palette without alpha, and one index per pixel for palettes of fewer than
    8 bits.

    Args:
        input: one-dimensional uint8 tensor of the bytes.
        mode: an ImageReadMode.
        apply_exif_orientation: flip and turn the image by its Exif orientation.

    Returns:
        uint8 in [0, 255] or uint16 in [0, 65535], of shape (channels, height, width), channels last in memory.

    Raises:
        RuntimeError: not a PNG, a broken one, or a tensor of another shape or dtype.

    Example:
        >>> import io, torch
        >>> from PIL import Image
        >>> from fastaug.io import decode_png
        >>> file = io.BytesIO()
        >>> Image.new("I;16", (80, 60)).save(file, "PNG")
        >>> image = decode_png(torch.frombuffer(file.getbuffer(), dtype=torch.uint8))
        >>> image.shape, image.dtype
        (torch.Size([1, 60, 80]), torch.uint16)
    """
    return _decode_png(_bytes(input), _mode(mode), apply_exif_orientation)


@_with_runtime_errors
def decode_webp(input: torch.Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> torch.Tensor:
    """Decode a WebP image, like ``torchvision.io.decode_webp``.

    Args:
        input: one-dimensional uint8 tensor of the bytes.
        mode: UNCHANGED, RGB or RGBA. The gray modes warn and mean UNCHANGED.

    Returns:
        uint8 of shape (3 or 4, height, width) in [0, 255], channels last in memory.

    Raises:
        RuntimeError: not a WebP, a broken or animated one, or a tensor of another shape or dtype.

    Example:
        >>> import io, torch
        >>> from PIL import Image
        >>> from fastaug.io import decode_webp
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60)).save(file, "WEBP")
        >>> decode_webp(torch.frombuffer(file.getbuffer(), dtype=torch.uint8), "RGBA").shape
        torch.Size([4, 60, 80])
    """
    return _decode_colour(_bytes(input), _mode(mode), "WEBP", "a WebP")


@_with_runtime_errors
def decode_avif(input: torch.Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> torch.Tensor:
    """Decode an AVIF image by Pillow, with the interface of ``torchvision.io.decode_avif``.

    torchvision needs an extra package for it, whose decoder may round differently.

    Args:
        input, mode: as for :func:`decode_webp`.

    Returns:
        As :func:`decode_webp`.

    Raises:
        RuntimeError: not an AVIF, a broken one, more than 8 bits a sample (Pillow returns only 8), a tensor of another
            shape or dtype, or a Pillow without AVIF.

    Example:
        >>> import io, torch
        >>> from PIL import Image
        >>> from fastaug.io import decode_avif
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60)).save(file, "AVIF")
        >>> decode_avif(torch.frombuffer(file.getbuffer(), dtype=torch.uint8)).shape
        torch.Size([3, 60, 80])
    """
    data = _bytes(input)
    # The second highest bit in the third byte of the codec's configuration is set for longer samples.
    found = data.find(b"av1C")
    if found >= 0 and any(byte & 0x40 for byte in data[found + 6 : found + 7]):
        raise RuntimeError("AVIF files of more than 8 bits a sample are not supported.")
    return _decode_colour(data, _mode(mode), "AVIF", "an AVIF")


@_with_runtime_errors
def decode_heic(input: torch.Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> torch.Tensor:
    """Decode a HEIC image by Pillow, with the interface of ``torchvision.io.decode_heic``.

    It needs the package pillow-heif and a call of ``pillow_heif.register_heif_opener()``.

    Args:
        input, mode: as for :func:`decode_webp`.

    Returns:
        As :func:`decode_webp`.

    Raises:
        RuntimeError: not a HEIC, a broken one, a tensor of another shape or dtype, or a Pillow that cannot decode it.

    Example:
        >>> import torch
        >>> from fastaug.io import decode_heic
        >>> decode_heic(torch.zeros(100, dtype=torch.uint8))
        Traceback (most recent call last):
        ...
        RuntimeError: Not a HEIC file that Pillow decodes: that takes pillow_heif.register_heif_opener()
    """
    data = _bytes(input)
    Image.init()
    if "HEIF" not in Image.OPEN or data[4:8] != b"ftyp":
        raise RuntimeError("Not a HEIC file that Pillow decodes: that takes pillow_heif.register_heif_opener()")
    return _decode_colour(data, _mode(mode), "HEIF", "a HEIC")


@_with_runtime_errors
def decode_gif(input: torch.Tensor) -> torch.Tensor:
    """Decode a GIF image, or all images of an animated one, like ``torchvision.io.decode_gif``.

    Args:
        input: one-dimensional uint8 tensor of the bytes.

    Returns:
        uint8 of shape (3, height, width), or (images, 3, height, width) if there are several, in [0, 255], channels
        last in memory.

    Raises:
        RuntimeError: not a GIF, a broken one, or a tensor of another shape or dtype.

    Example:
        >>> import io, torch
        >>> from PIL import Image
        >>> from fastaug.io import decode_gif
        >>> file = io.BytesIO()
        >>> Image.new("P", (80, 60)).save(file, "GIF")
        >>> decode_gif(torch.frombuffer(file.getbuffer(), dtype=torch.uint8)).shape
        torch.Size([3, 60, 80])
    """
    return _decode_gif(_bytes(input))


@_with_runtime_errors
def decode_image(
    input: torch.Tensor | str | Path,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> torch.Tensor:
    """Decode a JPEG, PNG, GIF or WebP image, like ``torchvision.io.decode_image``.

    Args:
        input: one-dimensional uint8 tensor of the bytes, or a path.
        mode: an ImageReadMode; see :func:`decode_jpeg`, :func:`decode_png` and :func:`decode_webp`. GIF is always RGB.
        apply_exif_orientation: flip and turn a JPEG or PNG image by its Exif orientation.

    Returns:
        uint8 of shape (channels, height, width) in [0, 255]; uint16 for 16-bit PNG files; shape (images, 3, height,
        width) for an animated GIF. Channels are last in memory.

    Raises:
        RuntimeError: another format, a broken image, a missing file, or a tensor of another shape or dtype.

    Example:
        >>> import fastaug, fastaug.io
        >>> fastaug.io.decode_image(fastaug.sample_file()).shape
        torch.Size([3, 300, 451])
    """
    import torch

    if not isinstance(input, torch.Tensor):
        input = read_file(str(input))
    chosen = _mode(mode)
    data = _bytes(input)
    if data.startswith(b"\xff\xd8\xff"):
        return _decode_jpeg(data, chosen, apply_exif_orientation)
    if data.startswith(b"\x89PNG"):
        return _decode_png(data, chosen, apply_exif_orientation)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _decode_gif(data)
    if data.startswith(b"RIFF") and data[8:15] == b"WEBPVP8":
        return _decode_colour(data, chosen, "WEBP", "a WebP")
    raise RuntimeError("Unsupported image file. Only jpeg, png, webp and gif are currently supported.")


def read_image(
    path: str | Path, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> torch.Tensor:
    """Read the image in a file by :func:`decode_image`, like ``torchvision.io.read_image``.

    Args:
        path: of the file.
        mode, apply_exif_orientation: as for :func:`decode_image`.

    Returns:
        As :func:`decode_image`.

    Raises:
        RuntimeError: as :func:`decode_image`.

    Example:
        >>> import fastaug, fastaug.io
        >>> fastaug.io.read_image(fastaug.sample_file(), "gray").shape
        torch.Size([1, 300, 451])
    """
    return decode_image(read_file(path), mode, apply_exif_orientation)


def _mode(mode: Any) -> ImageReadMode:
    if isinstance(mode, str):
        return ImageReadMode[mode.upper()]
    # torchvision's own members mean the same.
    return mode if isinstance(mode, ImageReadMode) else ImageReadMode(mode.value)


def _bytes(input: Any) -> bytes:
    import torch

    from fastaug._program.eager import as_array

    if not isinstance(input, torch.Tensor):
        raise RuntimeError(f"Expected a tensor, got {type(input).__name__}")
    if not input.is_contiguous():
        raise RuntimeError("Input tensor must be contiguous.")
    if input.dtype is not torch.uint8:
        raise RuntimeError(f"Input tensor must have uint8 data type, got {input.dtype}")
    if input.dim() != 1 or not input.numel():
        raise RuntimeError(
            f"Input tensor must be 1-dimensional and non-empty, got {input.dim()} dims and {input.numel()} numels."
        )
    data: bytes = as_array(input).tobytes()
    return data


def _chw(array: np.ndarray, orientation: int = 1) -> torch.Tensor:
    """Return an HW or HWC array as a tensor, turned by an Exif orientation."""
    import torch

    array = decode.orient(array, orientation)
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")
    return torch.from_numpy(array.reshape(*array.shape[:2], -1)).permute(2, 0, 1)


def _decode_jpeg(data: bytes, mode: ImageReadMode, exif: bool) -> torch.Tensor:
    if mode not in (ImageReadMode.UNCHANGED, ImageReadMode.GRAY, ImageReadMode.RGB):
        raise RuntimeError("The provided mode is not supported for JPEG files")
    if not data.startswith(b"\xff\xd8"):
        raise RuntimeError(f"Not a JPEG file: starts with 0x{data[0]:02x} 0x{data[1:2].hex()}")
    image = LazyImage(data, None)
    stored = image.mode
    if stored not in ("L", "RGB", "CMYK"):
        raise RuntimeError(f"Not a JPEG file of 1, 3 or 4 channels: {stored}")
    if mode is ImageReadMode.RGB:
        pixels = decode.read(image.convert("RGB"))
    elif mode is ImageReadMode.GRAY and stored != "L":
        pixels = decode.luma(image)
    else:
        pixels = decode.read(image)
        pixels = 255 - pixels if stored == "CMYK" else pixels
    return _chw(pixels, _exif.of_jpeg(data) if exif else 1)


def _decode_png(data: bytes, mode: ImageReadMode, exif: bool) -> torch.Tensor:
    if len(data) < len(pillow.PNG_MAGIC):
        raise RuntimeError("Content is too small for png!")
    if not data.startswith(pillow.PNG_MAGIC):
        raise RuntimeError("Content is not png!")
    image = LazyImage(data, None)
    if not image.encoded(keep=True)[1].native:
        image = LazyImage(_png.bare(data), None)
    header = image.header
    orientation = _exif.of_tiff(_png.exif_of(data)) if exif else 1
    stored = decode16.stored_samples if decode16.is_16_bit(data) else _png.stored_samples
    if mode is ImageReadMode.UNCHANGED:
        return _chw(stored(image), orientation)
    direct = _png.by_core(image, mode.value)
    if direct is not None:
        return _chw(direct, orientation)
    gamma = _png.gamma_of(data)
    indexed = header.mode == "P"
    if indexed and mode is ImageReadMode.GRAY and header.conversions:
        return _chw(_png.gray_of_indices(decode.read(image), data, gamma), orientation)
    # A transparent colour counts for palettes only.
    samples = decode.read(image.convert("RGBA")) if indexed else stored(image)
    return _chw(_png.to_channels(samples, mode.value, header.bits, gamma), orientation)


def _decode_colour(data: bytes, mode: ImageReadMode, format: str, name: str) -> torch.Tensor:
    """Decode a format that always has colours and sometimes alpha."""
    image = LazyImage(data, None)
    encoded = image.encoded(keep=True)[1]
    if not encoded.native or encoded.format != format:
        if image.format != format:
            raise RuntimeError(f"Not {name} file, but {image.format}")
        # The core takes still images only.
        opened: Any = image.open(data) if format == "WEBP" else None
        if opened is not None and opened.n_frames > 1:
            raise RuntimeError("Animated WebP files are not supported.")
    if mode in (ImageReadMode.GRAY, ImageReadMode.GRAY_ALPHA):
        warnings.warn(
            f"{format if format == 'AVIF' else format.capitalize()} does not support grayscale conversions. "
            "The returned tensor will be in the colorspace of the original image.",
            stacklevel=4,
        )
    alpha = mode is ImageReadMode.RGB_ALPHA or (mode is not ImageReadMode.RGB and "A" in image.mode)
    return _chw(decode.read(image.convert("RGBA" if alpha else "RGB")))


def _decode_gif(data: bytes) -> torch.Tensor:
    import torch

    try:
        file = _C.Gif(data)
        check_pixels(file.pixels, 1)
        pixels = np.empty(file.shape, np.uint8)
        file.draw(pixels.__array_interface__["data"][0])
    except NOT_DECODED as reason:
        message, at = reason.args
        raise DecodeError(
            f"cannot decode {len(data)} bytes (GIF): {message}", format="GIF", offset=None if at < 0 else at
        ) from None
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2)
    return images[0] if len(images) == 1 else images
