"""A program, the image that it runs on, and what its result is to be: all that the native core is told of a draft."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from fastaug import _C
from fastaug._program.kinds import PIL_IMAGE, TENSOR
from fastaug._program.pil import Run, run_into_pil

#: The native core's number of each dtype, and the bytes of a sample.
DTYPES = {getattr(torch, name): (number, getattr(torch, name).itemsize) for name, number in _C.DTYPES.items()}

_empty = torch.empty
_cpu = torch.device("cpu")
_uint8 = torch.uint8


class Job:
    """One image in memory, or encoded, and what is to become of it."""

    __slots__ = (
        "dtype",  # of a tensor
        "flat",  # the result has no channel axis
        "interleaved",  # a CHW tensor is a view of HWC memory
        "kind",  # PIL_IMAGE, ARRAY or TENSOR
        "mode",  # of a PIL image
        "program",
        "size",  # (height, width, channels)
        "source",
    )

    def __init__(
        self,
        program: bytes,
        source: _C.Source,
        kind: int,
        size: tuple[int, int, int],
        mode: str | None = None,
        dtype: torch.dtype = _uint8,
        flat: bool = False,
        interleaved: bool = False,
    ) -> None:
        self.program = program
        self.source = source
        self.kind = kind
        self.size = size
        self.mode = mode
        self.dtype = dtype
        self.flat = flat
        self.interleaved = interleaved

    def execute(self, run: Run = _C.run, rewrites: int = _C.EXACT) -> Any:
        """The result. `run` may be another than _C.run, with its arguments."""
        kind = self.kind
        if kind == PIL_IMAGE:
            assert self.mode is not None
            return run_into_pil(self.program, self.source, self.mode, self.size, run, rewrites)
        height, width, channels = self.size
        if kind != TENSOR:
            array = np.empty((height, width) if self.flat else self.size, np.uint8)
            run(((self.program, self.source, _C.into_array(array)),), rewrites)
            return array
        dtype = self.dtype
        number, size = DTYPES[dtype]
        # Sizes one by one: torch parses them faster than a tuple.
        if self.interleaved:
            result = _empty(height, width, channels, dtype=dtype, device=_cpu)
            row, pixel, channel = size * width * channels, size * channels, size
        else:
            if self.flat:
                result = _empty(height, width, dtype=dtype, device=_cpu)
            else:
                result = _empty(channels, height, width, dtype=dtype, device=_cpu)
            row, pixel, channel = size * width, size, size * width * height
        target = _C.into_pointer(result.data_ptr(), number, height, width, channels, row, pixel, channel, result)
        run(((self.program, self.source, target),), rewrites)
        return result.permute(2, 0, 1) if self.interleaved else result
