"""What older versions of torch and torchvision do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torchvision.transforms.v2 as TV

from fastaug._draft import releases

#: The dtype, where there is one.
UINT16 = [torch.uint16] if hasattr(torch, "uint16") else []

RELEASE = releases.installed() or releases.FOLLOWED


def since(*release: int) -> bool:
    """Whether the torchvision that is installed is of that release, or a later one."""
    return release <= RELEASE


def compiles_halves_for_minutes() -> bool:
    """Whether torch hangs, in torchvision too, where it convolves float16 with kernels of 15x15 and more.

    Its oneDNN compiles such a kernel at its first use, on processors with AVX512-FP16 for half an hour and more.
    """
    flags = Path("/proc/cpuinfo")
    return flags.exists() and "avx512_fp16" in flags.read_text()


def spell_as_today() -> None:
    """Let an older torchvision go by the names of today: of interpolations, and of methods of its transforms."""
    from torchvision.transforms.v2 import _auto_augment
    from torchvision.transforms.v2.functional import _geometry

    own = _geometry._check_interpolation

    def check(interpolation: Any) -> Any:
        return own(TV.InterpolationMode(interpolation) if isinstance(interpolation, str) else interpolation)

    if not since(0, 28):
        for module in (_geometry, _auto_augment):
            module._check_interpolation = check
    if not since(0, 21):
        TV.Transform.make_params = lambda self, leaves: self._get_params(leaves)


def differs(name: str) -> bool:
    """Whether a class of transforms.v2 is not there, or gives other results, in the torchvision that is installed."""
    return not hasattr(TV, name) or releases.left("v2", name) is not None
