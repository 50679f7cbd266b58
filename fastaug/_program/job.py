"""A program, the image that it runs on, and the form of its result: all that the native core gets of a draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fastaug import _C
from fastaug._program import pil
from fastaug._program.kinds import PIL_IMAGE, TENSOR

#: Runs jobs: _C.run or a replacement.
Run = Callable[[Sequence[tuple[bytes, _C.Source, _C.Target]], int], None]

#: The native core's number of each dtype, and the bytes of a sample.
DTYPES = {getattr(torch, name): (number, getattr(torch, name).itemsize) for name, number in _C.DTYPES.items()}

_BY_NUMBER = {number: dtype for dtype, (number, _) in DTYPES.items()}

_empty = torch.empty
_cpu = torch.device("cpu")
_uint8 = torch.uint8


@dataclass(slots=True, eq=False, repr=False)
class Job:
    """One image, in memory or encoded, and its program."""

    program: bytes
    source: _C.Source
    #: PIL_IMAGE, ARRAY or TENSOR.
    kind: int
    #: (height, width, channels)
    size: tuple[int, int, int]
    #: Of a PIL image.
    mode: str | None = None
    #: Of a tensor.
    dtype: torch.dtype = _uint8
    #: The result has no channel axis.
    flat: bool = False
    #: A CHW tensor is a view of HWC memory.
    interleaved: bool = False

    @classmethod
    def of_form(cls, size: tuple[int, int, int], dtype: int, interleaved: bool) -> Job:
        """Return a job for the form of its result alone, a tensor of that size and number of a dtype."""
        nothing: Any = None
        return cls(b"", nothing, TENSOR, size, dtype=_BY_NUMBER[dtype], interleaved=interleaved)

    def execute(self, run: Run = _C.run, rewrites: int = _C.EXACT) -> Any:
        memory, target = self.allocate()
        run(((self.program, self.source, target),), rewrites)
        return self.delivered(memory)

    def begin(self) -> tuple[Any, Any]:
        """Return memory for the result, as of `allocate`, and the job as the core takes it."""
        memory, target = self.allocate()
        return memory, (self.program, self.source, target)

    def allocate(self) -> tuple[Any, _C.Target]:
        """Return memory for the result, and a target for the core. `delivered` makes the result of the memory."""
        kind = self.kind
        if kind == PIL_IMAGE:
            assert self.mode is not None
            return pil.allocate(self.mode, self.size)
        if kind != TENSOR:
            array = np.empty(self.size[:2] if self.flat else self.size, np.uint8)
            return array, _C.into_array(array)
        height, width, channels = self.size
        # Sizes one by one: torch parses them faster than a tuple.
        if self.interleaved:
            tensor = _empty(height, width, channels, dtype=self.dtype, device=_cpu)
        elif self.flat:
            tensor = _empty(height, width, dtype=self.dtype, device=_cpu)
        else:
            tensor = _empty(channels, height, width, dtype=self.dtype, device=_cpu)
        return tensor, self.target(tensor.data_ptr(), tensor)

    def allocate_by(self, empty: Callable[[tuple[int, ...], torch.dtype], torch.Tensor]) -> tuple[Any, _C.Target]:
        """Return the same for a tensor in memory that `empty` gives."""
        height, width, channels = self.size
        if self.interleaved:
            shape: tuple[int, ...] = height, width, channels
        else:
            shape = (height, width) if self.flat else (channels, height, width)
        tensor = empty(shape, self.dtype)
        return tensor, self.target(tensor.data_ptr(), tensor)

    def target(self, address: int, owner: Any) -> _C.Target:
        """Return a target in a dense tensor at an address."""
        height, width, channels = self.size
        number, size = DTYPES[self.dtype]
        if self.interleaved:
            row, pixel, channel = size * width * channels, size * channels, size
        else:
            row, pixel, channel = size * width, size, size * width * height
        return _C.into_pointer(address, number, height, width, channels, row, pixel, channel, owner)

    def delivered(self, memory: Any) -> Any:
        if self.kind == PIL_IMAGE:
            assert self.mode is not None
            return pil.delivered(memory, self.mode, self.size)
        return memory.permute(2, 0, 1) if self.kind == TENSOR and self.interleaved else memory
