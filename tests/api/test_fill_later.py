"""Attributes that torchvision's v2 reads when a transform is made, and not when it is called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torchvision.transforms.v2 as TV2

import fastaug
from fastaug.transforms import v2
from support.images import pil, to_chw

FILLED = {
    "Pad": lambda api: api.Pad(3, fill=9),
    "RandomCrop": lambda api: api.RandomCrop(50, padding=4, pad_if_needed=True, fill=9),
    "RandomRotation": lambda api: api.RandomRotation((30, 30), fill=9),
    "RandomAffine": lambda api: api.RandomAffine((30, 30), fill=9),
    "RandomPerspective": lambda api: api.RandomPerspective(0.5, 1.0, fill=9),
    "RandomZoomOut": lambda api: api.RandomZoomOut(fill=9, p=1.0),
    "RandAugment": lambda api: api.RandAugment(4, 20, fill=9),
}


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("container", ["image", "tensor"])
def test_a_fill_that_is_set_later_is_ignored(name: str, container: str) -> None:
    """In every call: a pipeline that has been called some times is one call of the core."""
    sample: Any = pil("RGB", 40, 44, 1)
    sample = to_chw(sample) if container == "tensor" else sample
    theirs, own = FILLED[name](TV2), FILLED[name](v2)
    theirs.fill = own.fill = 200
    ways = (own, v2.Compose([own]), fastaug.compile(theirs), fastaug.compile(TV2.Compose([theirs])))
    torch.manual_seed(3)
    expected = theirs(sample)
    for transform in ways:
        for _ in range(8):
            torch.manual_seed(3)
            result = transform(sample)
            same = torch.equal(result, expected) if container == "tensor" else result == expected
            assert same


def test_a_fill_that_is_set_later_in_use() -> None:
    """Between calls, when there is a call of the core already."""
    own = v2.RandomCrop(50, pad_if_needed=True, fill=9)
    pipeline, sample = v2.Compose([own]), to_chw(pil("RGB", 40, 44, 1))
    torch.manual_seed(0)
    expected = pipeline(sample)
    for number in range(12):
        own.fill = number
        torch.manual_seed(0)
        assert torch.equal(pipeline(sample), expected)
