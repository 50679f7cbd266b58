"""Pipelines of v2 in batches on a device: the CPU's results, bit for bit. No GPU is needed, or used."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torchvision.transforms import v2 as TV

import fastaug
from fastaug.transforms import v2
from on_device import expect_same, seeded, tensors
from support.devices import HostDevice
from support.images import photo

_FLOAT = {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.25]}


def pipelines(library: Any) -> dict[str, Any]:
    ends = [library.ToImage(), library.ToDtype(torch.float32, scale=True), library.Normalize(**_FLOAT)]
    jitter = library.ColorJitter(0.4, 0.4, 0.4, 0.1)
    return {
        "classification": library.Compose([library.RandomResizedCrop(24), library.RandomHorizontalFlip(), *ends]),
        "colours": library.Compose([library.CenterCrop(30), jitter, library.RandomAutocontrast(0.5), *ends]),
        "distorted": library.Compose([library.RandomPhotometricDistort(p=0.8), library.CenterCrop(28), *ends]),
        "warps": library.Compose([library.RandomRotation(20, fill=9), library.RandomPerspective(), *ends]),
        "filters": library.Compose([library.GaussianBlur(5), library.RandomAdjustSharpness(2.0), *ends]),
    }


@pytest.mark.parametrize("name", pipelines(v2))
@pytest.mark.parametrize("of", ["PIL", "tensors", "on the device"])
def test_as_on_the_cpu(name: str, of: str, device: HostDevice) -> None:
    images = [photo("chelsea", 40 + k, 50) for k in range(3)] if of == "PIL" else list(tensors())
    transform = fastaug.compile(pipelines(TV)[name])
    expected, state = seeded(transform.batch, images)
    given = [device.put(image) for image in images] if of == "on the device" else images
    result, after = seeded(lambda batch: transform.batch(batch, device="cuda"), given)
    expect_same(result, expected)
    assert after == state
    for one in result if isinstance(result, list) else [result]:
        assert device.owns(one)
    assert device.launches > 0
