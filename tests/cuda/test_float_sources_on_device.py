"""Pipelines for a device whose images become floats on the way, by a callable of the user's: the CPU does the rest."""

from __future__ import annotations

import torch

import fastaug.transforms as T
from support.devices import HostDevice


def to_floats(image: torch.Tensor) -> torch.Tensor:
    return image.float() / 255


def test_a_batch_for_a_device(device: HostDevice) -> None:
    images = [torch.randint(0, 256, (3, 30 + k, 40 - k), dtype=torch.uint8) for k in range(4)]
    steps = [to_floats, T.RandomCrop(20), T.RandomHorizontalFlip(), T.Normalize([0.5] * 3, [0.25] * 3)]
    pipeline = T.Compose([*steps, T.RandomErasing()])
    torch.manual_seed(3)
    got = pipeline.batch(images, device="cuda")
    torch.manual_seed(3)
    for image, result in zip(images, got):
        assert torch.equal(result, pipeline(image))


def test_a_device_is_said_not_to_read_floats(device: HostDevice) -> None:
    pipeline = T.Compose([T.RandomHorizontalFlip(1.0), T.Normalize([0.5] * 3, [0.25] * 3)])
    text = str(pipeline.explain(torch.rand(3, 20, 20), device="cuda"))
    assert "a device does what begins with bytes, and this does with floats" in text
