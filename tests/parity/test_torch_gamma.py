"""TORCH_GAMMA: certain tables are torchvision's, and its v2's, wherever in a tensor a sample lies; few are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torchvision.transforms import _functional_tensor as tensor_functional
from torchvision.transforms.v2 import functional as v2_functional

from fastaug import _C
from support.programs import execute
from tables.op_table import Op

#: Every sample in whole vectors, and at the end of a row of another length, where torch takes powers one by one.
SAMPLES = torch.arange(256, dtype=torch.uint8).reshape(1, 1, 256)
PIECES = [SAMPLES, *(torch.arange(start, start + 3, dtype=torch.uint8).reshape(1, 1, 3) for start in range(0, 253, 3))]


CERTAIN = {tensor_functional: _C.torch_gamma_is_certain, v2_functional: _C.v2_gamma_is_certain}


def check(functional: Any, exponent: float, gain: float, pieces: list[torch.Tensor]) -> None:
    table = execute([Op("TORCH_GAMMA", f=(exponent, gain))], SAMPLES.permute(1, 2, 0).numpy()).ravel()
    for piece in pieces:
        expected = functional.adjust_gamma(piece, exponent, gain)
        assert np.array_equal(table[piece.numpy()], expected.numpy()), (exponent, gain)


@pytest.mark.parametrize("functional", CERTAIN)
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_exponents_that_torch_treats_by_themselves(functional: Any, exponent: float) -> None:
    for gain in (1.0, 0.37, 1.9, -1.0, 0.0, 1e30):
        assert CERTAIN[functional](exponent, gain)
        check(functional, exponent, gain, PIECES)


@pytest.mark.parametrize("functional", CERTAIN)
def test_nearly_all_tables_are_certain_and_right(functional: Any) -> None:
    rng = np.random.default_rng(7)
    cases = [
        *((float(e), 1.0) for e in rng.uniform(0, 4, 3000)),
        *((float(e), float(g)) for e, g in zip(rng.uniform(0, 10, 1000), rng.uniform(0, 3, 1000), strict=True)),
        *((round(k * 0.01, 2), 1.0) for k in range(1, 500)),
    ]
    certain = [case for case in cases if CERTAIN[functional](*case)]
    assert len(certain) > 0.99 * len(cases)
    for number, case in enumerate(certain):
        check(functional, *case, PIECES if number % 50 == 0 else PIECES[:1])


@pytest.mark.parametrize("functional", CERTAIN)
@pytest.mark.parametrize("operands", [(40.0, 1e20), (9.5, 1e25), (1e-9, 1.0), (1e29, 1.0), (2.0000001, 1.0)])
def test_powers_of_any_size(functional: Any, operands: tuple[float, float]) -> None:
    if CERTAIN[functional](*operands):
        check(functional, *operands, PIECES)


def test_what_torch_does_not_take_is_not_certain() -> None:
    for operands in ((-1.0, 1.0), (1e39, 1.0), (1.0, 1e39), (float("nan"), 1.0), (1.0, float("inf"))):
        assert not any(certain(*operands) for certain in CERTAIN.values())


def test_v2_has_a_few_tables_of_its_own() -> None:
    """Its shares of 255 are other floats than v1's."""
    rng = np.random.default_rng(8)
    ours = 0
    for exponent in rng.uniform(0, 4, 3000):
        if not _C.torch_gamma_is_certain(exponent, 1.0):
            assert not _C.v2_gamma_is_certain(exponent, 1.0)
            continue
        table = execute([Op("TORCH_GAMMA", f=(exponent, 1.0))], SAMPLES.permute(1, 2, 0).numpy()).ravel()
        if not np.array_equal(table, v2_functional.adjust_gamma(SAMPLES, exponent).numpy().ravel()):
            ours += 1
            assert not _C.v2_gamma_is_certain(exponent, 1.0)
    assert 0 < ours < 30
