"""What older versions of torch, torchvision and Pillow do not have, or do otherwise; docs/versions.md lists the reasons."""

from __future__ import annotations

import PIL
import pytest
import torch
import torchvision

#: (major, minor)
TORCH, TORCHVISION, PILLOW = (
    tuple(int(part) for part in version.split(".")[:2])
    for version in (torch.__version__, torchvision.__version__, PIL.__version__)
)

#: The dtype, where there is one.
UINT16 = [torch.uint16] if hasattr(torch, "uint16") else []


def differs(condition: bool, how: str) -> pytest.MarkDecorator:
    """For tests of what the installed versions do otherwise, where the condition is true: what it is that differs."""
    return pytest.mark.skipif(condition, reason=f"differs: {how}")
