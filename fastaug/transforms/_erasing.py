"""Random erasing."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug import _fallback_tensor
from fastaug._draft import Draft
from fastaug.transforms._base import Transform, happens, need_shape

__all__ = ["RandomErasing"]


class RandomErasing(Transform):
    """A tensor image with a random box of it overwritten, with probability ``p``.

    Draws whether it happens, then area and proportions, up to ten times until the box fits, then the noise if there is
    to be any, then the top row and the left column of the box. If no box fits, the image stays as it is.

    Args:
        p: probability.
        scale: range of the area, as a share of the image's.
        ratio: range of height / width.
        value: what is written: a number, one per channel, or "random" for normally distributed noise.
        inplace: write into the tensor that is given.

    Raises:
        TypeError: wrong type of an argument; when it happens, something that is not a tensor.
        ValueError: a string other than "random", ``p`` or ``scale`` out of range; when it happens, wrong length of
            ``value``.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> image = T.RandomErasing(p=1.0)(torch.ones(3, 24, 32))
        >>> 0 < (image == 0).sum() < image.numel()
        tensor(True)
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | str | Sequence[float] = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError(f"Argument value should be either a number or str or a sequence. Got {value!r}")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"If value is str, it should be 'random'. Got {value!r}")
        if not isinstance(scale, Sequence):
            raise TypeError(f"Scale should be a sequence. Got {scale!r}")
        if not isinstance(ratio, Sequence):
            raise TypeError(f"Ratio should be a sequence. Got {ratio!r}")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError(f"Scale should be between 0 and 1. Got {scale}")
        if p < 0 or p > 1:
            raise ValueError(f"Random erasing probability should be between 0 and 1. Got {p}")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None = None
    ) -> tuple[int, int, int, int, Tensor]:
        """Draws (top, left, height, width, what is written); None for ``value`` means noise.

        Example:
            >>> import fastaug.transforms as T
            >>> import torch
            >>> *_, height, width, _ = T.RandomErasing.get_params(torch.ones(1, 8, 8), (0.25, 0.25), (1, 1), [0.0])
            >>> height, width
            (4, 4)
        """
        channels, image_height, image_width = img.shape[-3], img.shape[-2], img.shape[-1]
        area = image_height * image_width
        low, high = torch.log(torch.tensor(ratio))[:2].tolist()
        draw = torch.empty(1)
        for _ in range(10):
            target = area * draw.uniform_(scale[0], scale[1]).item()
            aspect = draw.uniform_(low, high).exp_().item()
            height, width = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
            if height >= image_height or width >= image_width:
                continue
            if value is None:
                filling = torch.empty([channels, height, width], dtype=torch.float32).normal_()
            else:
                filling = torch.tensor(value)[:, None, None]
            top = int(draw.random_(0, image_height - height + 1).item())
            left = int(draw.random_(0, image_width - width + 1).item())
            return top, left, height, width, filling
        return 0, 0, image_height, image_width, img

    def _draft(self, draft: Draft) -> None:
        if not happens(self.p):
            return
        source = draft.image
        fresh = bool(draft.ops or draft.store or draft.copied or draft.kind != draft.source)
        image = draft.flush()
        need_shape(image, "img")
        channels = image.shape[-3]
        value: Any = self.value
        if isinstance(value, str):
            value = None
        elif isinstance(value, (int, float)):
            value = [float(value)]
        elif isinstance(value, (list, tuple)):
            value = [float(number) for number in value]
        if value is not None and len(value) not in (1, channels):
            raise ValueError(
                f"If value is a sequence, it should have either a single value or {channels} (number of input "
                f"channels). Got {value}"
            )
        top, left, height, width, filling = self.get_params(image, scale=self.scale, ratio=self.ratio, value=value)
        if not isinstance(image, Tensor):
            raise TypeError(f"img should be Tensor Image. Got {type(image)}")
        # What has just been made is nobody else's yet and need not be copied, unless it is a view of the source.
        if fresh and isinstance(source, Tensor):
            fresh = image.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()
        draft.reset(_fallback_tensor.erase(image, top, left, height, width, filling, self.inplace or fresh))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}, "
            f"inplace={self.inplace})"
        )
