"""torchvision.io's functions that encode and write images, with its signatures: Pillow's encoders do the work."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from PIL import Image

if TYPE_CHECKING:
    import torch


@overload
def encode_jpeg(input: torch.Tensor, quality: int = 75) -> torch.Tensor: ...
@overload
def encode_jpeg(input: list[torch.Tensor], quality: int = 75) -> list[torch.Tensor]: ...
def encode_jpeg(input: torch.Tensor | list[torch.Tensor], quality: int = 75) -> torch.Tensor | list[torch.Tensor]:
    """Images as JPEG files, as ``torchvision.io.encode_jpeg`` makes them: baseline, with half the colour resolution.

    The bytes are those of torchvision on the CPU where Pillow has the same libjpeg-turbo. A tensor on another device is
    encoded on the CPU.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width), or a list of such.
        quality: between 1 and 100.

    Returns:
        One-dimensional uint8 tensor of the bytes, on the device of the input; or a list of such.

    Raises:
        RuntimeError: a tensor of another dtype or shape, or one that JPEG has no room for.
        ValueError: another quality, or an empty list.

    Example:
        >>> import torch
        >>> from fastaug.io import decode_jpeg, encode_jpeg
        >>> decode_jpeg(encode_jpeg(torch.zeros(3, 60, 80, dtype=torch.uint8))).shape
        torch.Size([3, 60, 80])
    """
    if quality < 1 or quality > 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    if not isinstance(input, list):
        return _encoded(input, "JPEG", quality=quality)
    if not input:
        raise ValueError("encode_jpeg requires at least one input tensor when a list is passed")
    return [_encoded(image, "JPEG", quality=quality) for image in input]


def encode_png(input: torch.Tensor, compression_level: int = 6) -> torch.Tensor:
    """An image as a PNG file, as ``torchvision.io.encode_png`` makes it.

    It decodes to the same pixels as torchvision's, which are those of the input; the bytes are Pillow's.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width).
        compression_level: between 0, fast, and 9, small.

    Returns:
        One-dimensional uint8 CPU tensor of the bytes.

    Raises:
        RuntimeError: a tensor of another dtype or shape, or one that is not on the CPU; another level.

    Example:
        >>> import torch
        >>> from fastaug.io import decode_png, encode_png
        >>> image = torch.arange(48, dtype=torch.uint8).reshape(3, 4, 4)
        >>> torch.equal(decode_png(encode_png(image)), image)
        True
    """
    if not 0 <= compression_level <= 9:
        raise RuntimeError("Compression level should be between 0 and 9")
    if input.device.type != "cpu":
        raise RuntimeError("Input tensor should be on CPU")
    return _encoded(input, "PNG", compress_level=compression_level)


def write_file(filename: str | Path, data: torch.Tensor) -> torch.Tensor:
    """Writes bytes to a file, as ``torchvision.io.write_file`` does; also those that lie apart in memory.

    Args:
        filename: path of the file.
        data: one-dimensional uint8 CPU tensor.

    Returns:
        The same tensor.

    Raises:
        RuntimeError: a tensor of another dtype or shape, or one that is not on the CPU; a file that cannot be written.

    Example:
        >>> import tempfile, torch
        >>> from fastaug.io import read_file, write_file
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = write_file(file.name, torch.tensor([1, 2, 3], dtype=torch.uint8))
        ...     read_file(file.name)
        tensor([1, 2, 3], dtype=torch.uint8)
    """
    import torch

    if data.device.type != "cpu":
        raise RuntimeError("Input tensor should be on CPU")
    if data.dtype is not torch.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if data.dim() != 1:
        raise RuntimeError("Input data should be a 1-dimensional tensor")
    try:
        Path(filename).write_bytes(_array(data).tobytes())
    except OSError as error:
        raise RuntimeError(f"Error writing output file: {error}") from error
    return data


def write_jpeg(input: torch.Tensor, filename: str | Path, quality: int = 75) -> torch.Tensor:
    """Writes an image as a JPEG file: :func:`encode_jpeg` of it.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width).
        filename: path of the file.
        quality: between 1 and 100.

    Returns:
        The bytes, as a one-dimensional uint8 tensor.

    Raises:
        RuntimeError: as :func:`encode_jpeg` and :func:`write_file`.
        ValueError: as :func:`encode_jpeg`.

    Example:
        >>> import tempfile, torch
        >>> from fastaug.io import read_image, write_jpeg
        >>> with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
        ...     _ = write_jpeg(torch.zeros(1, 60, 80, dtype=torch.uint8), file.name)
        ...     read_image(file.name).shape
        torch.Size([1, 60, 80])
    """
    return write_file(filename, encode_jpeg(input, quality).cpu())


def write_png(input: torch.Tensor, filename: str | Path, compression_level: int = 6) -> torch.Tensor:
    """Writes an image as a PNG file: :func:`encode_png` of it.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width).
        filename: path of the file.
        compression_level: between 0, fast, and 9, small.

    Returns:
        The bytes, as a one-dimensional uint8 tensor.

    Raises:
        RuntimeError: as :func:`encode_png` and :func:`write_file`.

    Example:
        >>> import tempfile, torch
        >>> from fastaug.io import read_image, write_png
        >>> with tempfile.NamedTemporaryFile(suffix=".png") as file:
        ...     _ = write_png(torch.zeros(3, 60, 80, dtype=torch.uint8), file.name, compression_level=9)
        ...     read_image(file.name).shape
        torch.Size([3, 60, 80])
    """
    return write_file(filename, encode_png(input, compression_level))


def _array(tensor: torch.Tensor) -> Any:
    from fastaug._program.eager import as_array

    return as_array(tensor)


def _encoded(image: torch.Tensor, format: str, **options: int) -> torch.Tensor:
    import torch

    if image.dtype is not torch.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if image.dim() != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    channels = image.shape[0]
    if channels not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {channels}")
    pixels = _array(image.cpu().permute(1, 2, 0).contiguous())
    file = io.BytesIO()
    try:
        Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels).save(file, format, **options)
    except (OSError, SystemError, ValueError) as error:
        raise RuntimeError(f"The image cannot be a {format} file: {error}") from error
    return torch.frombuffer(bytearray(file.getbuffer()), dtype=torch.uint8).to(image.device)
