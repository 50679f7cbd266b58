"""Transforms between PIL images, arrays and tensors, and between dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft, packed_normalization
from fastaug._image.types import Array
from fastaug._inspect.methods import Shown
from fastaug.transforms import functional as F
from fastaug.transforms._base import OneMethod, Transform, need_shape

__all__ = ["ConvertImageDtype", "LinearTransformation", "Normalize", "PILToTensor", "ToPILImage", "ToTensor"]


class _Conversion(Shown):
    """The base of transforms that are not modules."""

    def __init__(self) -> None:
        super().__init__()

    def _packed(self) -> recipe.Packed:
        return (type(self).__name__,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToTensor(_Conversion):
    """A PIL image or HWC array as a CHW float tensor; uint8 samples in [0, 1], as :func:`functional.to_tensor` says.

    In a :class:`Compose`, this and a following :class:`Normalize` are part of the same pass.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.ToTensor()(Image.new("RGB", (4, 3))).shape
        torch.Size([3, 3, 4])
    """

    def __call__(self, pic: Image.Image | Array) -> Tensor:
        return F.to_tensor(pic)

    def _draft(self, draft: Draft, params: None) -> None:
        draft.to_float()


class PILToTensor(_Conversion):
    """A PIL image as a CHW tensor of the same samples, as :func:`functional.pil_to_tensor` says.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.PILToTensor()(Image.new("L", (4, 3))).dtype
        torch.uint8
    """

    def __call__(self, pic: Image.Image) -> Tensor:
        return F.pil_to_tensor(pic)

    def _draft(self, draft: Draft, params: None) -> None:
        draft.to_uint8_tensor()


class ToPILImage(_Conversion):
    """A CHW tensor or HWC array as a PIL image, as :func:`functional.to_pil_image` says.

    In a :class:`Compose`, a PIL image is made only where the result needs one.

    Args:
        mode: mode of the image; by default from the number of channels and the dtype.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.ToPILImage()(torch.zeros(3, 4, 6, dtype=torch.uint8)).size
        (6, 4)
    """

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Tensor | Array) -> Image.Image:
        return F.to_pil_image(pic, self.mode)

    def _draft(self, draft: Draft, params: None) -> None:
        draft.to_pil(self.mode)

    def _packed(self) -> recipe.Packed:
        if self.mode is not None:
            raise recipe.NoRecipe
        return super()._packed()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(OneMethod):
    """A tensor with another dtype, its samples scaled, as :func:`functional.convert_image_dtype` says.

    Args:
        dtype: dtype of the result.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.ConvertImageDtype(torch.float32)(torch.full((1, 1, 1), 51, dtype=torch.uint8))
        tensor([[[0.2000]]])
    """

    _method, _taken = "convert_dtype", ("dtype",)

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def _packed(self) -> recipe.Packed:
        if self.dtype is not torch.float32 and self.dtype is not torch.uint8:
            raise recipe.NoRecipe
        return "ConvertImageDtype", self.dtype is torch.float32, True

    # The class that has `forward` has the rule for drafts, too: see `step_of`.
    _draft = OneMethod._draft

    def forward(self, image: Tensor) -> Any:
        return super().forward(image)


class Normalize(Transform):
    """(image - mean) / std for each channel of a float tensor.

    Args:
        mean, std: one number per channel; a sequence or a tensor.
        inplace: write into the tensor that is given.

    Raises:
        TypeError: when called, not a tensor, or not floating point.
        ValueError: when called, fewer than 3 dimensions, or a standard deviation of 0.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.Normalize([0.5], [0.25])(torch.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """

    _shown = ("mean", "std")

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def _draft(self, draft: Draft, params: None) -> None:
        draft.normalize(self.mean, self.std, self.inplace)

    def _packed(self) -> recipe.Packed:
        inplace = recipe.truth(self.inplace)
        return "Normalize", *recipe.normalization(packed_normalization, self.mean, self.std), inplace

    def forward(self, tensor: Tensor) -> Any:
        return super().forward(tensor)


def check_matrix(matrix: Tensor, mean: Tensor) -> None:
    """Check the arguments of LinearTransformation."""
    shape = tuple(matrix.size())
    if matrix.size(0) != matrix.size(1):
        raise ValueError(f"transformation_matrix should be square. Got {shape} rectangular matrix.")
    if mean.size(0) != matrix.size(0):
        raise ValueError(
            f"mean_vector should have the same length {mean.size(0)} as any one of the dimensions of the "
            f"transformation_matrix [{shape}]"
        )
    for name in ("device", "dtype"):
        of_matrix, of_mean = getattr(matrix, name), getattr(mean, name)
        if of_matrix != of_mean:
            what = "be on the same device" if name == "device" else "have the same dtype"
            raise ValueError(f"Input tensors should {what}. Got {of_matrix} and {of_mean}")


def length_for(image: Any, matrix: Tensor, mean: Tensor) -> int:
    """Return the number of samples of an image, after checking that it fits the matrix."""
    shape = image.shape
    length: int = shape[-3] * shape[-2] * shape[-1]
    if length != matrix.shape[0]:
        raise ValueError(
            f"Input tensor and transformation matrix have incompatible shape. [{shape[-3]} x {shape[-2]} x "
            f"{shape[-1]}] != {matrix.shape[0]}"
        )
    if not isinstance(image, Tensor):
        raise AttributeError(f"tensor should be a Tensor image. Got {type(image)}, which is on no device")
    if image.device.type != mean.device.type:
        raise ValueError(
            "Input tensor should be on the same device as transformation matrix and mean vector. "
            f"Got {image.device} vs {mean.device}"
        )
    return length


class LinearTransformation(Transform):
    """A tensor image, flattened, minus a mean and times a square matrix, such as whitening needs.

    Args:
        transformation_matrix: tensor of shape (D, D), with D = channels * height * width.
        mean_vector: tensor of shape (D,).

    Raises:
        ValueError: shapes, devices or dtypes that do not match; when called, an image of another size or device.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> T.LinearTransformation(torch.eye(4) * 2, torch.ones(4))(torch.ones(1, 2, 2) * 3)
        tensor([[[4., 4.],
                 [4., 4.]]])
    """

    _apart = True

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        check_matrix(transformation_matrix, mean_vector)
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def _draft(self, draft: Draft, params: None) -> None:
        draft.apart(self._transformed)

    def _transformed(self, draft: Draft) -> None:
        image = draft.flush()
        need_shape(image, "tensor")
        length = length_for(image, self.transformation_matrix, self.mean_vector)
        flat = image.view(-1, length) - self.mean_vector
        draft.reset(torch.mm(flat, self.transformation_matrix.to(flat.dtype)).view(image.shape))

    def forward(self, tensor: Tensor) -> Any:
        return super().forward(tensor)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
            f"mean_vector={self.mean_vector.tolist()})"
        )
