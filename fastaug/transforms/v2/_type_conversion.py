"""Transforms between PIL images, arrays, tensors and tv_tensors, and between dtypes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import PIL.Image
import torch

from fastaug import transforms as _v1
from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._tv_tensors.choice import loaded
from fastaug._tv_tensors.draft import PlacesDraft
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import Keeping, Transform
from fastaug.transforms.v2._utils import settled, tv_named, tv_types, type_of
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = ["ConvertImageDtype", "PILToTensor", "ToDtype", "ToImage", "ToPILImage", "ToPureTensor", "ToTensor"]


class PILToTensor(Transform):
    """PIL images as CHW tensors of the same samples.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.PILToTensor()(Image.new("L", (4, 3))).shape
        torch.Size([1, 3, 4])
    """

    _by_functional = True
    _retypes = True

    _transformed_types = (PIL.Image.Image,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.pil_to_tensor(inpt)

    def _packed(self) -> Packed:
        return ("PILToTensor",)


class ToImage(Transform):
    """Tensors, HWC arrays and PIL images as ``tv_tensors.Image`` of the same samples.

    Raises:
        ValueError: when called, a tensor of fewer than 2 dimensions.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> isinstance(v2.ToImage()(Image.new("L", (4, 3))), tv_tensors.Image)
        True
    """

    _by_functional = True
    _retypes = True
    #: Where it is the first of a pipeline, the core gets arrays as tensors.
    _takes_arrays = True

    _transformed_types = (is_pure_tensor, PIL.Image.Image, np.ndarray)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_image(inpt)

    def _packed(self) -> Packed:
        if loaded() is None:
            raise NoRecipe  # the first call decides whose class it is
        return ("ToImage",)


class ToPILImage(Transform):
    """CHW tensors and HWC arrays as PIL images.

    Args:
        mode: mode of the images; by default from the number of channels and the dtype.

    Raises:
        TypeError: when called, a dtype that no mode holds.
        ValueError: when called, not 2 or 3 dimensional, more than 4 channels, or a ``mode`` for another number of them.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.ToPILImage()(torch.zeros(3, 4, 6, dtype=torch.uint8)).size
        (6, 4)
    """

    _by_functional = True
    _retypes = True

    _transformed_types = tv_types(is_pure_tensor, "Image", np.ndarray)

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_pil_image(inpt, mode=self.mode)


class ToPureTensor(Transform):
    """tv_tensors as plain tensors of the same memory, without what else they hold.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> v2.ToPureTensor()(tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(10, 10)))
        tensor([[1., 2.]])
    """

    _retypes = _spares_images = True

    _by_functional = True
    _transformed_types = tv_types("TVTensor")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, ImageDraft):
            inpt.unclass()
            return inpt
        if isinstance(inpt, PlacesDraft):
            return inpt.plain()
        # Masks and videos that are plain tensors are images to what follows, and so no drafts of their kind any more.
        return settled(inpt).as_subclass(torch.Tensor)

    def _packed(self) -> Packed:
        return ("ToPureTensor",)


class ToTensor(Transform):
    """PIL images and HWC arrays as CHW float tensors, uint8 samples in [0, 1]. Deprecated by torchvision.

    The quotients are those of ``fastaug.transforms.ToTensor``; ``ToDtype(torch.float32, scale=True)`` multiplies by
    1/255 instead.

    Raises:
        ValueError: when called, an array that is not 2 or 3 dimensional.

    Example:
        >>> import warnings
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     transform = v2.ToTensor()
        >>> transform(Image.new("RGB", (4, 3))).shape
        torch.Size([3, 3, 4])
    """

    _retypes = True

    _transformed_types = (PIL.Image.Image, np.ndarray)

    def __init__(self) -> None:
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release of torchvision. Please "
            "use `v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`, which gives the same up to float "
            "precision.",
            stacklevel=2,
        )
        super().__init__()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, ImageDraft):
            inpt.to_float()
            inpt.touched = True
            return inpt
        return _v1.functional.to_tensor(inpt)


class ToDtype(Keeping):
    """Leaves with another dtype.

    Args:
        dtype: of images and videos; or a dictionary of dtypes by types of leaves, with "others" for all other types and
            None for leaves that stay as they are.
        scale: whether the samples of images and videos are scaled to the range of the dtype.

    Raises:
        ValueError: neither a dtype nor a dictionary; when called, a dictionary without a leaf's type.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.ToDtype(torch.float32, scale=True)(torch.full((1, 1, 1), 51, dtype=torch.uint8))
        tensor([[[0.2000]]])
    """

    _by_functional = True
    _transformed_types = (torch.Tensor,)

    def __init__(self, dtype: torch.dtype | dict[Any, torch.dtype | None], scale: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, (dict, torch.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        images = tv_named("Image", "Video")
        if isinstance(dtype, dict) and torch.Tensor in dtype and any(cls in dtype for cls in images):
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. "
                "Note that a plain `torch.Tensor` will *not* be transformed by this (or any other transformation) "
                "in case a `tv_tensors.Image` or `tv_tensors.Video` is present in the input.",
                stacklevel=2,
            )
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        drafted = isinstance(inpt, (ImageDraft, VideoDraft)) and inpt.dtype is not None
        if drafted and type(self.dtype) is torch.dtype:
            return self._call_kernel(F.to_dtype, inpt, self.dtype, self.scale)
        cls = type_of(inpt)
        scalable = is_pure_tensor(inpt) or issubclass(cls, tv_named("Image", "Video"))
        if isinstance(self.dtype, torch.dtype):
            if not scalable:
                return inpt
            dtype: torch.dtype | None = self.dtype
        elif cls in self.dtype:
            dtype = self.dtype[cls]
        elif "others" in self.dtype:
            dtype = self.dtype["others"]
        else:
            raise ValueError(
                f"No dtype was specified for type {cls}. To convert images and videos alone, pass their dtype, such as "
                'dtype=torch.float32. In a dict, "others" is for all other types: dtype={tv_tensors.Mask: torch.int64, '
                '"others": None} leaves the rest as it is.'
            )
        if dtype is None:
            if self.scale and scalable:
                warnings.warn(
                    "scale was set to True but no dtype was specified for images or videos: no scaling will be done.",
                    stacklevel=2,
                )
            return inpt
        return self._call_kernel(F.to_dtype, inpt, dtype=dtype, scale=self.scale)

    def _packed(self) -> Packed:
        if self.scale is not True:
            raise NoRecipe
        return "ToDtype", *_recipe.casts(self.dtype)


class ConvertImageDtype(Keeping):
    """Tensors with another dtype, samples of images and videos scaled. Deprecated: use :class:`ToDtype`.

    It converts masks, boxes and points too, unscaled.

    Args:
        dtype: dtype of the result.

    Raises:
        RuntimeError: when called, a conversion of floats to integers that they cannot count.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.ConvertImageDtype(torch.float32)(torch.full((1, 1, 1), 51, dtype=torch.uint8))
        tensor([[[0.2000]]])
    """

    _by_functional = True
    _v1_transform_cls = _v1.ConvertImageDtype

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.to_dtype, inpt, dtype=self.dtype, scale=True)
