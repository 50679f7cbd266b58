"""A draft: an image with the ops that are still to be done to it.

Each transform appends its ops to a draft instead of touching pixels; the native core runs them all in one call when
the result is asked for. What the core cannot express (other dtypes, rare Pillow modes, errors that are to be
torchvision's) is done at once, by Pillow or torch, on the result so far.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from fastaug._draft.color import ColorDraft
from fastaug._draft.filter import FilterDraft
from fastaug._draft.geometry import GeometryDraft
from fastaug._fallback import tensor as tensor_fallback
from fastaug._program import ops
from fastaug._program.kinds import OTHER, PIL_IMAGE, TENSOR

#: The modes that a tensor or array of so many channels may be given; the first is the default.
MODES_OF = {1: ("L",), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK")}


class Draft(GeometryDraft, FilterDraft, ColorDraft):
    """A draft, and one method for each op: the op's home in Python."""

    __slots__ = ()

    def _await_pixels(self) -> None:
        self.__class__ = UnreadDraft

    def to_float(self) -> None:
        """ToTensor."""
        if self.kind == TENSOR or self.kind == OTHER:
            raise TypeError(f"pic should be PIL Image or ndarray. Got {type(self.finish())}")
        if self.native and torch.get_default_dtype() is torch.float32 and not self.call.traced:
            self.kind = TENSOR
            self._append_float()
            self.flat = False
        elif self.kind == PIL_IMAGE:
            self._eager("to_tensor")
        else:
            array = self.finish()
            if array.ndim not in (2, 3):
                raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
            self.reset(tensor_fallback.array_to_tensor(array))

    def _append_float(self) -> None:
        self.store = (ops.TO_FLOAT,)
        if self.source != TENSOR:
            # Floats plane by plane take less time to write, and the input does not ask for others.
            self.channel_last = False
        self.native = False
        self.mode = self.info = None

    def to_uint8_tensor(self) -> None:
        """PILToTensor."""
        if self.kind != PIL_IMAGE:
            raise TypeError(f"pic should be PIL Image. Got {type(self.finish())}")
        if not self.native or self.call.traced:
            self._eager("pil_to_tensor")
            return
        self.kind = TENSOR
        self.channel_last = self.copied = True
        self.mode = self.info = None

    def to_pil(self, mode: str | None) -> None:
        """ToPILImage."""
        if self.native and self.kind != PIL_IMAGE and not self.lead:
            accepted = MODES_OF.get(self.channels, ())
            if accepted and (mode is None or mode in accepted):
                if self.source == TENSOR and type(self.image) is not torch.Tensor:
                    self.image = self.image.as_subclass(torch.Tensor)
                self.kind = PIL_IMAGE
                self.mode = mode or accepted[0]
                self.flat = self.channel_last = False
                return
        self.reset(tensor_fallback.to_pil_image(self.finish(), mode))

    def convert_dtype(self, dtype: torch.dtype) -> None:
        if self.kind != TENSOR:
            raise TypeError("Input img should be Tensor Image")
        if dtype is torch.float32 and self.native:
            self._append_float()
        elif not (dtype is torch.uint8 and self.native) and not (dtype is torch.float32 and self.store):
            self._eager("convert_image_dtype", dtype)

    def normalize(self, mean: Any, std: Any, inplace: Any, packed: Any = None) -> None:
        """`packed` is the op for this mean and std, or one op for every four channels."""
        if self.kind != TENSOR:
            raise TypeError(f"img should be Tensor Image. Got {type(self.finish())}")
        if packed is not None and type(inplace) is bool and len(self.store) == 1 and not self.flat and not self.erases:
            self.store = (ops.TO_FLOAT, packed)
        else:
            self._eager("normalize", mean, std, inplace)

    def erase(self, top: int, left: int, height: int, width: int, values: Sequence[float]) -> bool:
        """Overwrites a box inside an image of floats, by one value or one for each channel.

        False, with nothing done, when the core does not hold such an image.
        """
        if not self.store or self.flat or self.lead or self.bands > 4 or not all(map(math.isfinite, values)):
            return False
        if len(values) == 1:
            values = [values[0]] * self.channels
        self.erases += (ops.erase(top, left, height, width, values),)
        return True


class UnreadDraft(Draft):
    """A draft of a file that Pillow has opened and may not have read, by what its header says.

    The first op that works on pixels has them read when it has been drafted, and makes this a plain draft. So a file
    that cannot be read is an error where torchvision has one, after the draws and the checks that it makes before; and
    a file that no op works on is handed on unread.
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
    """That method of a plain draft, for an unread one."""

    @functools.wraps(method)
    def drafted(draft: Draft, *arguments: Any, **named: Any) -> Any:
        result = method(draft, *arguments, **named)
        touched = draft.ops or draft.copied or draft.store or draft.kind != PIL_IMAGE
        if not touched or type(draft) is not UnreadDraft:
            return result
        image = draft.image
        header = image.mode, image.size, dict(image.info)
        image.load()
        draft.__class__ = Draft  # type: ignore[assignment]
        if (image.mode, image.size, image.info) != header:
            # Some formats are certain of these only now.
            draft.reset(image, True)
            return method(draft, *arguments, **named)
        return result

    return drafted


for _owner in (GeometryDraft, FilterDraft, ColorDraft, Draft):
    for _name, _method in vars(_owner).items():
        if not _name.startswith("_"):
            setattr(UnreadDraft, _name, _reading(_method))
