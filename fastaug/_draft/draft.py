"""The class of drafts, which are images with pending ops.

Each transform appends its ops to a draft instead of touching pixels. The native core runs all of them in one call, when
the result is needed. Pillow or torch does at once what the core does not: other dtypes, rare modes, errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from fastaug import _C
from fastaug._draft.color import ColorDraft
from fastaug._draft.filter import FilterDraft
from fastaug._draft.geometry import GeometryDraft
from fastaug._draft.libraries import FUNCTIONS
from fastaug._draft.pillow import PillowDraft
from fastaug._fallback import tensor as tensor_fallback
from fastaug._program import arguments, ops
from fastaug._program.kinds import OTHER, PIL_IMAGE, TENSOR

_C.help_drafts(FUNCTIONS)

#: The modes for tensors and arrays, by their number of channels. The first is the default.
MODES_OF = {1: ("L",), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK")}


class Draft(PillowDraft):
    """A draft, with one method for each op."""

    __slots__ = ()

    def _await_pixels(self) -> None:
        self.__class__ = UnreadDraft

    def to_float(self) -> None:
        """ToTensor."""
        if self.core.kind == TENSOR or self.core.kind == OTHER:
            raise TypeError(f"pic should be PIL Image or ndarray. Got {type(self.finish())}")
        if not self.core.to_float():
            return
        if self.core.kind == PIL_IMAGE:
            self._eager("to_tensor")
        else:
            array = self.finish()
            if array.ndim not in (2, 3):
                raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
            self.reset(tensor_fallback.array_to_tensor(array))

    def to_uint8_tensor(self) -> None:
        """PILToTensor."""
        if self.core.kind != PIL_IMAGE:
            raise TypeError(f"pic should be PIL Image. Got {type(self.finish())}")
        if self.core.to_uint8_tensor():
            self._eager("pil_to_tensor")

    def to_pil(self, mode: str | None) -> None:
        """ToPILImage."""
        if self.core.to_pil(mode):
            self.reset(tensor_fallback.to_pil_image(self.finish(), mode))
        elif self.core.source == TENSOR and type(self.image) is not torch.Tensor:
            self.image = self.image.as_subclass(torch.Tensor)

    def convert_dtype(self, dtype: torch.dtype) -> None:
        if self.core.kind != TENSOR:
            raise TypeError("Input img should be Tensor Image")
        core_has = dtype is torch.float32 or dtype is torch.uint8
        if not core_has or self.core.convert_dtype(dtype is torch.float32):
            self._eager("convert_image_dtype", dtype)

    def normalize(self, mean: Any, std: Any, inplace: Any) -> None:
        if self.core.kind != TENSOR:
            raise TypeError(f"img should be Tensor Image. Got {type(self.finish())}")
        packed = packed_normalization(mean, std, self.core.channels) if self.core.stored or self.core.floats else None
        if packed is not None and type(inplace) is bool and not self.core.normalize(packed, inplace):
            return
        self._eager("normalize", mean, std, inplace)

    def erase(self, top: int, left: int, height: int, width: int, values: Sequence[float]) -> bool:
        """Overwrite a box inside an image of floats, by one value or one for each channel.

        Return False, with nothing done, if the core does not hold such an image.
        """
        return not self.core.erase(top, left, height, width, values)

    def _erase_natively(self, top: Any, left: Any, height: Any, width: Any, values: Any) -> bool:
        """Do the same for arguments of any type."""
        if not self.core.stored or not type(top) is type(left) is type(height) is type(width) is int:
            return False
        if (
            top < 0
            or left < 0
            or height <= 0
            or width <= 0
            or top + height > self.core.height
            or left + width > self.core.width
        ):
            return False
        numbers = _of_channels(values, self.core.channels)
        return numbers is not None and self.erase(top, left, height, width, numbers)

    def overwrite(self, top: Any, left: Any, height: Any, width: Any, values: Any, inplace: Any) -> None:
        """Do the function erase to an image in progress."""
        if self.core.kind != TENSOR:
            raise TypeError(f"img should be Tensor Image. Got {type(self.finish())}")
        if type(inplace) is not bool or not self._erase_natively(top, left, height, width, values):
            self.apart(lambda draft: draft._overwrite(top, left, height, width, values, inplace))

    def _overwrite(self, *arguments: Any) -> None:
        *box, values, inplace = arguments
        # No other code has what the core has just made.
        fresh = bool(self.core.stored) or self.core.source != TENSOR
        top, left, height, width = box
        self.reset(tensor_fallback.erase(self.handed(), top, left, height, width, values, inplace or fresh))


def packed_normalization(mean: Any, std: Any, channels: int) -> Any:
    """Return the NORMALIZE op, or one for every four channels, or None if torch must interpret the arguments."""
    if type(mean) is not tuple:
        mean = _values(mean)
    if type(std) is not tuple:
        std = _values(std)
    try:
        return _pack(mean, std, channels)
    except TypeError:
        return None  # not hashable, so not numbers


def _values(argument: Any) -> tuple[Any, ...] | None:
    """Return the numbers in a list, array or tensor, or None for anything else."""
    if isinstance(argument, (torch.Tensor, np.ndarray)):
        argument = argument.tolist() if argument.ndim == 1 else None
    try:
        return tuple(argument)
    except TypeError:
        return None


def _of_channels(values: Any, channels: int) -> list[float] | None:
    """Return the one number, or those of the channels, to overwrite a box with, or None for anything else."""
    if isinstance(values, (int, float)):
        return [float(values)]
    if not isinstance(values, torch.Tensor) or values.requires_grad or not values.is_cpu:
        return None
    if not (values.numel() == 1 and values.ndim <= 3) and values.shape != (channels, 1, 1):
        return None
    numbers: list[float] = values.to(torch.float32).flatten().tolist()
    return numbers


@functools.lru_cache(maxsize=256)
def _pack(mean: tuple[Any, ...] | None, std: tuple[Any, ...] | None, channels: int) -> Any:
    if mean is None or std is None or len(mean) not in (1, channels) or len(std) not in (1, channels):
        return None
    means, stds = ([arguments.real(value) for value in values] * (channels // len(values)) for values in (mean, std))
    # Divisions by zero and numbers that are not finite are torch's to handle.
    if not (np.isfinite(means).all() and np.isfinite(stds).all() and np.asarray(stds, np.float32).all()):
        return None
    packed = tuple(ops.normalize(means[k : k + 4], stds[k : k + 4]) for k in range(0, channels, 4))
    return packed[0] if channels <= 4 else packed


class UnreadDraft(Draft):
    """A draft of a file that Pillow has opened but may not have read.

    The first op on pixels reads them after it is drafted, and makes this a plain draft. So an unreadable file is an
    error where torchvision has one, after its draws and checks. A file without ops stays unread.
    """

    __slots__ = ()

    def load(self) -> None:
        image = self.image
        image.load()
        self.reset(image, True)

    def reset(self, image: Any, read: bool = False) -> None:
        self.__class__ = Draft  # type: ignore[assignment]
        self.reset(image, read)


def _reading(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a plain draft for unread ones."""

    @functools.wraps(method)
    def drafted(draft: Draft, *arguments: Any, **named: Any) -> Any:
        result = method(draft, *arguments, **named)
        touched = draft.core.count or draft.core.copied or draft.core.stored or draft.core.kind != PIL_IMAGE
        if not touched or type(draft) is not UnreadDraft:
            return result
        image = draft.image
        header = image.mode, image.size, dict(image.info)
        image.load()
        draft.__class__ = Draft  # type: ignore[assignment]
        if (image.mode, image.size, image.info) != header:
            # Some formats find these only now.
            draft.reset(image, True)
            return method(draft, *arguments, **named)
        return result

    return drafted


for _owner in (GeometryDraft, FilterDraft, ColorDraft, PillowDraft, Draft):
    for _name, _method in vars(_owner).items():
        if not _name.startswith("_"):
            setattr(UnreadDraft, _name, _reading(_method))
