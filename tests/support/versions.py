"""What older versions of torch and torchvision do not have."""

from __future__ import annotations

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


def take_names() -> None:
    """Let an older torchvision take an interpolation by its name, as tests give it."""
    from torchvision.transforms.v2 import _auto_augment
    from torchvision.transforms.v2.functional import _geometry

    own = _geometry._check_interpolation

    def check(interpolation: Any) -> Any:
        return own(TV.InterpolationMode(interpolation) if isinstance(interpolation, str) else interpolation)

    if not since(0, 28):
        for module in (_geometry, _auto_augment):
            module._check_interpolation = check
