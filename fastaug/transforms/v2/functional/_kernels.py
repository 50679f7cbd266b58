"""What kernels of geometry share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.leaf import MaskDraft
from fastaug.transforms.v2.functional._utils import done

Tensor = torch.Tensor
_PIL = PIL.Image.Image
_Interpolation = InterpolationMode | str | int
_Fill = int | float | Sequence[float] | None
_BILINEAR = InterpolationMode.BILINEAR
_NEAREST = InterpolationMode.NEAREST


def _on_tensor(image: Tensor, kernel: Callable[..., Any], *args: Any) -> Tensor:
    result: Tensor = done(image, kernel, *args)
    return result


def _on_pil(image: _PIL, kernel: Callable[..., Any], *args: Any) -> _PIL:
    result: _PIL = done(image, kernel, *args)
    return result


def _on_mask(mask: Tensor, kernel: Callable[..., Any], *args: Any) -> Tensor:
    draft = MaskDraft(mask)
    kernel(draft, *args)
    draft.touched = True
    result: Tensor = draft.result()
    return result
