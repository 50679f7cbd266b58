"""sample_seed: the same numbers for ever, and as good as random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fastaug.data import sample_seed
from support.differences import each

LARGEST = 2**64 - 1


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((0, 0, 0), 1279368494785126216),
        ((0, 0, 1), 1700482428262628912),
        ((0, 1, 0), 2482289063980384216),
        ((1, 0, 0), 6396520470166291297),
        ((42, 3, 1281166), 8760790245162203684),
        ((LARGEST, LARGEST, LARGEST), 3219383215636640653),
    ],
)
def test_the_numbers_stay_as_they_are(numbers: tuple[int, int, int], expected: int) -> None:
    assert sample_seed(*numbers) == expected


def by_formula(seed: int, epoch: int, index: int) -> int:
    """As the docstring has it, in NumPy's arithmetic of 64 bits."""

    def step(x: np.uint64) -> np.uint64:
        with np.errstate(over="ignore"):
            z = x + np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    state = step(np.uint64(seed)) ^ np.uint64(epoch)
    return int(step(step(state) ^ np.uint64(index))) >> 1


def test_is_the_documented_formula() -> None:
    rng = np.random.default_rng(0)
    for numbers in rng.integers(0, LARGEST, (500, 3), np.uint64, endpoint=True).tolist():
        assert sample_seed(*numbers) == by_formula(*numbers)


def test_neighbours_have_nothing_in_common() -> None:
    seeds = [sample_seed(seed, epoch, index) for seed in range(8) for epoch in range(8) for index in range(256)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)
    bits = np.array(seeds, np.uint64)[:, None] >> np.arange(63, dtype=np.uint64) & np.uint64(1)
    assert np.abs(bits.mean(0) - 0.5).max() < 0.02
    changes = (bits[1:] ^ bits[:-1]).mean(0)
    assert np.abs(changes - 0.5).max() < 0.02


def test_torch_takes_it() -> None:
    torch.manual_seed(sample_seed(LARGEST, 1, 2))
    first = torch.rand(3)
    torch.manual_seed(sample_seed(np.uint64(LARGEST), np.int64(1), np.uint8(2)))  # type: ignore[arg-type]
    assert torch.equal(torch.rand(3), first)


@each("place", range(3))
@each(
    ("wrong", "error"), [(-1, ValueError), (2**64, ValueError), (1.0, TypeError), ("1", TypeError), (None, TypeError)]
)
def test_bad_numbers(place: int, wrong: Any, error: type[Exception]) -> None:
    numbers: list[Any] = [1, 2, 3]
    numbers[place] = wrong
    name = ("seed", "epoch", "index")[place]
    with pytest.raises(error, match=rf"^{name} should be .*, got {wrong!r}$"):
        sample_seed(*numbers)
