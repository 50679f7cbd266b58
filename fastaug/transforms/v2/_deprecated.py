"""A transform that torchvision keeps for older pipelines."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import PIL.Image

from fastaug._draft.leaf import ImageDraft
from fastaug.transforms import functional as _F
from fastaug.transforms.v2._transform import Transform

__all__ = ["ToTensor"]


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
        return _F.to_tensor(inpt)
