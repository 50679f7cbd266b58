"""What tests of batches on devices share: pipelines, images, and a comparison with the CPU."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fastaug
import fastaug.transforms as T
from support.images import PHOTOS, photo, to_chw
from support.outcomes import seed_all

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

#: Each ends in tensors, from what `head` made floats of.
PIPELINES: dict[str, Callable[[Any], Any]] = {
    "P": lambda head: [
        T.RandomRotation(180),
        T.RandomCrop(40),
        T.Resize(24),
        T.ColorJitter(0.3, 0.3, 0.3, 0.1),
        head,
        T.Normalize(MEAN, STD),
    ],
    "imagenet": lambda head: [T.RandomResizedCrop(32), T.RandomHorizontalFlip(), head, T.Normalize(MEAN, STD)],
    "evaluation": lambda head: [T.Resize(48), T.CenterCrop(40), head, T.Normalize(MEAN, STD)],
    "simclr": lambda head: [
        T.RandomResizedCrop(32),
        T.RandomApply([T.ColorJitter(0.4, 0.4, 0.2, 0.1)], 0.8),
        T.RandomGrayscale(0.2),
        T.GaussianBlur(5),
        head,
    ],
    "segmentation": lambda head: [T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2)), T.Pad(4), T.RandomCrop(48), head],
    "rand_augment": lambda head: [T.RandAugment(), T.RandomCrop(40), head, T.Normalize(MEAN, STD)],
    "trivial": lambda head: [T.TrivialAugmentWide(), T.Resize((30, 40)), head],
    "augmix": lambda head: [T.AugMix(), T.RandomCrop(40), head],
    "erasing": lambda head: [T.RandomCrop(40), head, T.Normalize(MEAN, STD), T.RandomErasing(1.0, value=0.5)],
}

SIZES = ((64, 80), (70, 61), (101, 67), (64, 80))


def pipeline(name: str, tensors: bool = True) -> Any:
    """For tensors, or for what ToTensor takes."""
    return T.Compose(PIPELINES[name](T.ConvertImageDtype(torch.float32) if tensors else T.ToTensor()))


def tensors(sizes: Any = SIZES) -> list[torch.Tensor]:
    return [to_chw(photo(PHOTOS[k % 4], *size)) for k, size in enumerate(sizes)]


def states() -> list[Any]:
    words = np.random.get_state()[1]  # noqa: NPY002
    return [torch.get_rng_state().tolist(), random.getstate(), list(words)]


def seeded(call: Callable[..., Any], *arguments: Any, seed: int = 3, **named: Any) -> tuple[Any, list[Any]]:
    """What a call gives after all generators were seeded, and where it leaves them."""
    seed_all(seed)
    result = call(*arguments, **named)
    return result, states()


def expect_same(result: Any, expected: Any) -> None:
    """Equal bits, dtypes, shapes and strides."""
    if isinstance(expected, (list, tuple)):
        assert type(result) is type(expected)
        assert len(result) == len(expected)
        for one, other in zip(result, expected):
            expect_same(one, other)
        return
    assert result.dtype is expected.dtype
    assert result.shape == expected.shape
    assert result.stride() == expected.stride()
    assert torch.equal(result.cpu(), expected)


def compiled(*settings: Any) -> Any:
    """The pipeline of ImageNet as fastaug.compile makes it."""
    mode, dtype, memory_format = settings
    return fastaug.compile(pipeline("imagenet"), mode, dtype=dtype, memory_format=memory_format)


def require_gpu() -> None:
    """Skips where torch finds none; fails where FASTAUG_REQUIRE_CUDA is 1."""
    if torch.cuda.is_available():
        return
    reason = "torch finds no CUDA GPU on this machine"
    if os.environ.get("FASTAUG_REQUIRE_CUDA") == "1":
        pytest.fail(f"FASTAUG_REQUIRE_CUDA=1, but {reason}")
    pytest.skip(reason)
