"""Corners whose products do not fit 64 bits are torchvision's error."""

from __future__ import annotations

from typing import Any

import pytest
import torchvision.transforms.functional as TF
import torchvision.transforms.v2.functional as TF2

import fastaug.transforms.functional as F
from fastaug.transforms.v2 import functional as F2
from support.images import pil, to_chw


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**63) - 1, 2**62])
@pytest.mark.parametrize("container", ["image", "tensor"])
def test_overflow(value: int, container: str) -> None:
    image: Any = pil("RGB", 20, 24)
    image = to_chw(image) if container == "tensor" else image
    corners = [[0, 0], [value, 0], [20, 20], [0, 20]], [[1, 0], [23, 0], [20, 20], [0, 20]]
    for theirs, ours in ((TF, F), (TF2, F2)):
        with pytest.raises((ValueError, RuntimeError)) as expected:
            theirs.perspective(image, *corners)
        with pytest.raises(type(expected.value), match="Overflow"):
            ours.perspective(image, *corners)
