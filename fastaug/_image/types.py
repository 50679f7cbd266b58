"""Types of images for type checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from PIL import Image
from torch import Tensor

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

Array = np.ndarray[Any, Any]

#: The container of an image and of its result; unions for callers that do not know which.
ImageT = TypeVar(
    "ImageT",
    Image.Image,
    Tensor,
    Array,
    Image.Image | Tensor,
    Image.Image | Array,
    Tensor | Array,
    Image.Image | Tensor | Array,
)

#: An input of functions of v2, which return the same type. tv_tensors are tensors.
InputT = TypeVar("InputT", bound=Image.Image | Tensor)
