"""The encoders and writers of ``torchvision.io``, with its signatures. JPEG is the core's, PNG Pillow's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from PIL import Image

from fastaug import _C

if TYPE_CHECKING:
    import torch


@overload
def encode_jpeg(input: torch.Tensor, quality: int = 75) -> torch.Tensor: ...
@overload
def encode_jpeg(input: list[torch.Tensor], quality: int = 75) -> list[torch.Tensor]: ...
def encode_jpeg(input: torch.Tensor | list[torch.Tensor], quality: int = 75) -> torch.Tensor | list[torch.Tensor]:
    """Encode images as baseline JPEG with half the colour resolution, like ``torchvision.io.encode_jpeg``.

    The bytes equal torchvision's on the CPU. Tensors on other devices are encoded on the CPU.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width), or a list of them.
        quality: 1 to 100.

    Returns:
        One-dimensional uint8 tensor of the bytes, on the device of the input, or a list of them.

    Raises:
        RuntimeError: another dtype or shape, or an image too large for JPEG.
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
        return _jpeg(input, quality)
    if not input:
        raise ValueError("encode_jpeg requires at least one input tensor when a list is passed")
    return [_jpeg(image, quality) for image in input]


def encode_png(input: torch.Tensor, compression_level: int = 6) -> torch.Tensor:
    """Encode an image as PNG, like ``torchvision.io.encode_png``.

    The file decodes to the pixels of the input, but its bytes are Pillow's, not torchvision's.

    Args:
        input: uint8 tensor of shape (1 or 3, height, width).
        compression_level: 0 (fast) to 9 (small).

    Returns:
        One-dimensional uint8 CPU tensor of the bytes.

    Raises:
        RuntimeError: another dtype, shape or level, or a tensor that is not on the CPU.

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
    return _png(input, compression_level)


def write_file(filename: str | Path, data: torch.Tensor) -> torch.Tensor:
    """Write bytes to a file, like ``torchvision.io.write_file``, also from tensors that are not contiguous.

    Args:
        filename: path of the file.
        data: one-dimensional uint8 CPU tensor.

    Returns:
        The same tensor.

    Raises:
        RuntimeError: another dtype or shape, a tensor that is not on the CPU, or a file that cannot be written.

    Example:
        >>> import tempfile, torch
        >>> from fastaug.io import read_file, write_file
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = write_file(file.name, torch.tensor([1, 2, 3], dtype=torch.uint8))
        ...     read_file(file.name)
        tensor([1, 2, 3], dtype=torch.uint8)
    """
    import torch

    from fastaug._program.eager import as_array

    if data.device.type != "cpu":
        raise RuntimeError("Input tensor should be on CPU")
    if data.dtype is not torch.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if data.dim() != 1:
        raise RuntimeError("Input data should be a 1-dimensional tensor")
    try:
        Path(filename).write_bytes(as_array(data).tobytes())
    except OSError as error:
        raise RuntimeError(f"Error writing output file: {error}") from error
    return data


def write_jpeg(input: torch.Tensor, filename: str | Path, quality: int = 75) -> torch.Tensor:
    """Encode an image by :func:`encode_jpeg` and write it to a file.

    Args:
        input, quality: as for :func:`encode_jpeg`, of one image.
        filename: path of the file.

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
    """Encode an image by :func:`encode_png` and write it to a file.

    Args:
        input, compression_level: as for :func:`encode_png`.
        filename: path of the file.

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


def _jpeg(image: torch.Tensor, quality: int) -> torch.Tensor:
    import torch

    from fastaug._program.borrow import borrow_tensor

    _check(image)
    samples = torch.from_numpy(_as_array(image))
    try:
        if not samples.numel():
            raise ValueError("it has no pixels")
        data = _C.jpeg_encode(borrow_tensor(samples), quality)
    except ValueError as error:
        raise RuntimeError(f"The image cannot be a JPEG file: {error}") from error
    return torch.frombuffer(data, dtype=torch.uint8).to(image.device)


def _png(image: torch.Tensor, level: int) -> torch.Tensor:
    import torch

    channels = _check(image)
    pixels = np.ascontiguousarray(_as_array(image).transpose(1, 2, 0))
    file = io.BytesIO()
    try:
        Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels).save(file, "PNG", compress_level=level)
    except (OSError, SystemError, ValueError) as error:
        raise RuntimeError(f"The image cannot be a PNG file: {error}") from error
    return torch.frombuffer(bytearray(file.getbuffer()), dtype=torch.uint8)


def _check(image: torch.Tensor) -> int:
    """Return the number of channels, or raise torchvision's errors."""
    import torch

    if image.dtype is not torch.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if image.dim() != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    channels: int = image.shape[0]
    if channels not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {channels}")
    return channels


def _as_array(image: torch.Tensor) -> np.ndarray:
    from fastaug._program.eager import as_array

    array: np.ndarray = as_array(image.cpu())
    return array
