"""The core computes the weights of Gaussian blurs by itself, with torch's bits; where these differ, torch is asked."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import torchvision.transforms._functional_tensor as of_v1
import torchvision.transforms.v2.functional._misc as of_v2

from fastaug import _C
from fastaug._draft.draft import FUNCTIONS  # which the core has by then
from support.processes import python
from support.scale import cases

IMAGE = torch.zeros((3, 40, 50), dtype=torch.uint8)
TORCHVISION: dict[bool, Callable[..., torch.Tensor]] = {
    False: of_v1._get_gaussian_kernel1d,
    True: of_v2._get_gaussian_kernel1d,
}
MOST = 2 * _C.BLUR_WEIGHTS - 1


def halves(sizes: tuple[int, int], sigmas: tuple[float, float], v2: bool) -> np.ndarray | None:
    """The weights in the op: of the first halves and centres, across and, unless it is square, down."""
    draft = _C.Draft()
    draft.begin_with(IMAGE)
    draft.v2 = v2
    if draft.gaussian_blur(sizes, sigmas):
        return None
    return np.frombuffer(draft.program(0), np.float32, _C.BLUR_WEIGHTS, 32)


def expected(size: int, sigma: float, v2: bool) -> list[float]:
    weights: list[float] = TORCHVISION[v2](size, sigma, torch.float32, torch.device("cpu")).tolist()
    return weights[: size // 2 + 1]


@pytest.mark.parametrize("v2", [False, True])
def test_weights_are_torchs(v2: bool) -> None:
    rng = random.Random(3)
    for size in range(1, MOST + 1, 2):
        narrow = [0.1, 0.5, 1.0, 2.0, 1e-12, 1e18, size * 0.15 + 0.35]
        for sigma in narrow + [rng.choice((1, size)) * rng.uniform(0.01, 2) for _ in range(cases(300))]:
            found = halves((size, size), (sigma, sigma), v2)
            assert found is not None
            assert found[: size // 2 + 1].tolist() == expected(size, sigma, v2), (size, sigma)


@pytest.mark.parametrize("v2", [False, True])
def test_kernels_that_are_not_square(v2: bool) -> None:
    for sizes, sigmas in (((3, 9), (1.0, 1.0)), ((5, 5), (0.7, 2.0)), ((1, 27), (0.3, 4.0)), ((15, 15), (3.0, 2.9))):
        found = halves(sizes, sigmas, v2)
        wanted = expected(sizes[0], sigmas[0], v2) + expected(sizes[1], sigmas[1], v2)
        assert found is not None
        assert found.tolist() == wanted + [0.0] * (_C.BLUR_WEIGHTS - len(wanted))


def test_kernels_that_are_torchs_own() -> None:
    assert halves((MOST, 3), (1.0, 1.0), False) is None  # too many weights
    assert halves((3, 3), (1e-13, 1e-13), False) is None
    assert halves((3, 3), (1e19, 1e19), False) is None


@pytest.mark.parametrize("v2", [False, True])
def test_torch_is_asked_once(v2: bool) -> None:
    halves((5, 5), (1.0, 1.0), v2)
    names = ("weights", "positions", "fuses", "exp")
    asked = {name: mock.Mock(side_effect=FUNCTIONS[name]) for name in names}
    with mock.patch.dict(FUNCTIONS, asked):
        halves((5, 5), (1.5, 1.5), v2)
    if torch.backends.cpu.get_cpu_capability() == "AVX2":  # on others torch may compute in another way
        assert not any(function.called for function in asked.values())


def test_a_torch_with_other_weights_is_asked() -> None:
    done = python(["-c", f"from {__name__} import check_others; check_others()"], fresh=True)
    assert done.returncode == 0, done.stderr[-2000:]


def check_others() -> None:
    """Run in a process of its own, where nothing has been asked yet."""
    asked: list[int] = []
    theirs = FUNCTIONS["weights"]

    def weights(exponents: memoryview, v2: bool) -> None:
        numbers: Any = np.frombuffer(exponents, np.float32)
        asked.append(len(numbers))
        theirs(exponents, v2)
        numbers[-1] += numbers[-1] * 2.0**-23  # one unit in the last place of one weight

    with mock.patch.dict(FUNCTIONS, {"weights": weights}):
        for v2 in (False, True):
            halves((5, 5), (1.0, 1.0), v2)
            asked.clear()
            found = halves((7, 7), (1.5, 1.5), v2)
            assert asked == [7]
            assert found is not None
            assert found[:4].tolist() == expected(7, 1.5, v2)
