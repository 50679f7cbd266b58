"""Find out how torch resizes uint8 tensors on this machine: in bytes or floats, and in which order it adds.

The order in float32 depends on how torch's loop was compiled: torch 2.5 fuses all products, torch 2.8 those that groups
of four leave over. So torch resizes an image once for each filter.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

import numpy as np
import torch
from torch.nn import functional as nnf

from fastaug import _C
from fastaug._program import ops
from fastaug._program.borrow import borrow_tensor, tensor_target

#: Heights and widths before and after, by odd factors: many sums are exact halves but for their last bits.
_TELLING = (((90, 128), (30, 128)), ((90, 128), (18, 128)), ((128, 90), (128, 30)), ((128, 90), (128, 18)))

ON_ARM = platform.machine() in ("aarch64", "arm64")

_answers: dict[tuple[Any, bool], bool] = {}


def follows(cubic: bool) -> bool:
    """Return True if the core's bicubic, or else bilinear, resize of uint8 tensors is torch's in every bit."""
    # The function itself, which some replace.
    asked = nnf.interpolate, cubic
    if asked not in _answers:
        _answers[asked] = all(_equal(before, after, cubic) for before, after in _TELLING)
    return _answers[asked]


@functools.cache
def in_bytes() -> bool:
    """Return True if torchvision's v2 resizes uint8 tensors bilinearly without float32, on AVX2 and ARM."""
    return ON_ARM or torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")


def described() -> str:
    kinds = [name for name, cubic in (("bilinear", False), ("bicubic", True)) if not follows(cubic)]
    return f"by torch, which adds in another order: {' and '.join(kinds)}" if kinds else "in torch's order of additions"


def _equal(before: tuple[int, int], after: tuple[int, int], cubic: bool) -> bool:
    rng = np.random.default_rng(0)  # torch's generator stays where it is
    image = torch.from_numpy(rng.integers(0, 256, before, np.uint8))
    mode, number = ("bicubic", 3) if cubic else ("bilinear", 2)
    with torch.autocast("cpu", enabled=False):
        floats = nnf.interpolate(image[None, None].float(), size=after, mode=mode, align_corners=False, antialias=True)
    theirs = floats.clamp(0, 255).round().to(torch.uint8)[0, 0]
    ours = torch.empty(after, dtype=torch.uint8)
    _C.run([(ops.torch_resize(*after, number), borrow_tensor(image), tensor_target(ours))])
    return torch.equal(ours, theirs)
