"""explain(device="cuda") says what a device would do, without one; and that is what a batch does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import fastaug.transforms as T

FLOAT = T.ConvertImageDtype(torch.float32)
IMAGE = torch.zeros((3, 60, 50), dtype=torch.uint8)


@pytest.mark.parametrize(
    ("transforms", "word"),
    [
        ([T.Resize(20), T.ColorJitter(0.3, 0.3), FLOAT], "all of it, by 2 kernels in 3 launches"),
        ([T.RandomResizedCrop(32), FLOAT], "all of it, by 1 kernel in 2 launches"),
        (
            [T.Resize(48), T.ElasticTransform(), FLOAT],
            "done on the CPU for this image, and copied, because of ElasticTransform",
        ),
        ([T.Resize(20), T.Lambda(lambda image: image + 1), FLOAT], "because of Lambda"),
        ([T.ToPILImage()], "not possible: the pipeline has to end in tensors"),
    ],
)
def test_words(transforms: list[Any], word: str) -> None:
    told = T.Compose(transforms).explain(IMAGE, device="cuda", seed=0)
    assert told.device is not None and word in told.device
    assert str(told).endswith(f"on a GPU  {told.device}")


def test_other_devices() -> None:
    with pytest.raises(ValueError, match="device should be 'cuda' or None, got 'cpu'"):
        T.Compose([FLOAT]).explain(IMAGE, device="cpu")


def test_nobody_is_told_unasked() -> None:
    told = T.Compose([T.Resize(20), FLOAT]).explain(IMAGE)
    assert told.device is None
    assert "on a GPU" not in str(told)
