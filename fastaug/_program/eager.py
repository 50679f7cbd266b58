"""Find out if torch traces, because a trace does not see the native core.

Under torch.jit.trace, make_fx, torch.export, torch.compile, vmap, FakeTensorMode and the like every op must be one of
torch's own. The graph then has it, and tensors without memory of their own are never read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: True while torch.compile reads this code. Dynamo knows the function by its name, which is another one in 2.2.
compiling: Callable[[], bool] = getattr(torch.compiler, "is_dynamo_compiling", None) or torch._utils.is_compiling
#: True while torch.jit.trace records.
recording = torch._C._is_tracing
#: The number of modes that see every op: make_fx, FakeTensorMode, torch.export, counters of FLOPs.
modes = torch._C._len_torch_dispatch_stack
#: The innermost transform of torch.func, such as vmap; None outside of them.
level = torch._C._functorch.peek_interpreter_stack

_memory_of_its_own = torch._C._disabled_torch_dispatch_impl


def traced() -> bool:
    """Return True if torch has to see every op."""
    return bool(compiling() or recording() or modes() or level() is not None)


# Larger tensors are made anew: they take their time by themselves.
_MOST_KEPT = 1 << 16


def kept(make: Callable[[int, int, torch.dtype, torch.device], Tensor]) -> Callable[..., Tensor]:
    """Keep what a function makes for the pixels of a small image on the CPU, unless torch traces. Never write to it."""

    @functools.lru_cache(maxsize=16)
    def known(height: int, width: int, dtype: torch.dtype, default: torch.dtype) -> Tensor:
        with torch.inference_mode(False):
            return make(height, width, dtype, torch.device("cpu"))

    def kept_or_made(height: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        if device.type != "cpu" or height * width > _MOST_KEPT or traced():
            return make(height, width, dtype, device)
        return known(height, width, dtype, torch.get_default_dtype())

    return kept_or_made


def keeps_its_samples(cls: type[Tensor]) -> bool:
    """Return True if tensors of this class do not only stand for others."""
    return cls.__torch_dispatch__ is _memory_of_its_own


def addressable(tensor: Tensor) -> bool:
    """Return True if the samples of a CPU tensor lie at its data_ptr, unless torch is tracing."""
    return tensor.layout is torch.strided and keeps_its_samples(type(tensor)) and not tensor.is_neg()


def as_array(encoded: Tensor) -> Any:
    """Return the bytes of an encoded image, as an array that shares their memory."""
    # Pixels in a trace would be the same in every run of the graph.
    if traced() or not addressable(encoded):
        raise RuntimeError("A tensor that holds an encoded image cannot be decoded while torch traces")
    return encoded.detach().numpy()
