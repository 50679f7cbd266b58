"""Images, videos and masks."""

from __future__ import annotations

from typing import Any

import torch
from PIL import Image as PillowImage

from fastaug._draft.draft import Draft
from fastaug._tv_tensors.base import TVTensor


def _unpacked(data: Any) -> Any:
    """Return the samples of a PIL image, (channels, height, width), and anything else unchanged."""
    if not isinstance(data, PillowImage.Image):
        return data
    draft = Draft(data)
    draft.to_uint8_tensor()
    return draft.finish()


class Image(TVTensor):
    """A tensor that is an image, or a batch of images, of shape (..., channels, height, width).

    Args:
        data: PIL image, whose samples come as they are, uint8 for modes of 8 bits; or what ``torch.as_tensor`` takes,
            of any dtype. (height, width) gets a channel in front. Tensors and arrays share their memory with the
            result.
        dtype: of the result; that of ``data`` by default. Values are cast, and not scaled.
        device: of the result; that of ``data`` by default.
        requires_grad: whether autograd records what is done; by default as a tensor given as ``data`` has it.

    Raises:
        ValueError: fewer than two dimensions.
        TypeError: what ``torch.as_tensor`` does not take.

    Example:
        >>> from PIL import Image
        >>> from fastaug import tv_tensors
        >>> image = tv_tensors.Image(Image.new("RGB", (80, 60)))
        >>> image.shape, image.dtype
        (torch.Size([3, 60, 80]), torch.uint8)
    """

    def __new__(
        cls,
        data: Any,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> Image:
        tensor = cls._to_tensor(_unpacked(data), dtype, device, requires_grad)
        if tensor.ndim < 2:
            raise ValueError(f"Tensor must be 2D or higher, got {tensor.ndim}D tensor.")
        return (tensor.unsqueeze(0) if tensor.ndim == 2 else tensor).as_subclass(cls)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr()


class Video(TVTensor):
    """A tensor that is a video, or a batch of videos, of shape (..., frames, channels, height, width).

    Args:
        data: tensor or array, of any dtype, that shares its memory with the result.
        dtype, device, requires_grad: as in :class:`Image`.

    Raises:
        ValueError: fewer than four dimensions.
        AttributeError: lists and numbers, which have no ``ndim``.
        TypeError: what ``torch.as_tensor`` does not take.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> tv_tensors.Video(torch.zeros(16, 3, 60, 80, dtype=torch.uint8)).shape
        torch.Size([16, 3, 60, 80])
    """

    def __new__(
        cls,
        data: Any,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> Video:
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if data.ndim < 4:
            raise ValueError(f"Tensor must be 4D or higher, (..., T, C, H, W), got {data.ndim}D.")
        return tensor.as_subclass(cls)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr()


class Mask(TVTensor):
    """A tensor of labels of pixels, of shape (..., height, width), which transforms resample without mixing values.

    Args:
        data: PIL image, which gets a channel in front; or what ``torch.as_tensor`` takes, of any dtype. Tensors and
            arrays share their memory with the result.
        dtype, device, requires_grad: as in :class:`Image`.

    Raises:
        TypeError: what ``torch.as_tensor`` does not take.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> tv_tensors.Mask(torch.tensor([[0, 1], [1, 2]]))
        Mask([[0, 1],
              [1, 2]])
    """

    def __new__(
        cls,
        data: Any,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> Mask:
        return cls._to_tensor(_unpacked(data), dtype, device, requires_grad).as_subclass(cls)
