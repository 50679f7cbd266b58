"""Seeds of samples, with which each image of each epoch has its own draws."""

from __future__ import annotations

from typing import Any

from fastaug import _C
from fastaug._program.integers import integer

_WORD = (1 << 64) - 1

#: The index for the collation of the first batch of an epoch. Those of later batches follow.
COLLATION = 1 << 63


def sample_seed(seed: int, epoch: int, index: int) -> int:
    """Return a seed for ``torch.manual_seed`` from the seed of a run, an epoch and the index of a sample.

    With it, the draws of a sample depend on no worker, thread, machine or earlier sample. Neighbouring numbers give
    unrelated seeds.

    The formula never changes. In 64 bits, with splitmix64's step ``s``::

        s(x):  z = x + 0x9E3779B97F4A7C15
               z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
               z = (z ^ (z >> 27)) * 0x94D049BB133111EB
               return z ^ (z >> 31)
        sample_seed(seed, epoch, index) = s(s(s(seed) ^ epoch) ^ index) >> 1

    Args:
        seed, epoch, index: integers in [0, 2**64).

    Returns:
        An integer in [0, 2**63).

    Raises:
        TypeError: one of them is not an integer.
        ValueError: one of them is out of range.

    Example:
        >>> from fastaug.data import sample_seed
        >>> sample_seed(0, 0, 0), sample_seed(0, 0, 1)
        (1279368494785126216, 1700482428262628912)
    """
    seeds = _C.sample_seeds(word("seed", seed), word("epoch", epoch), [word("index", index)])
    return seeds[0]


def word(name: str, value: Any) -> int:
    """Return an unsigned integer of 64 bits, or raise TypeError or ValueError."""
    number = integer(name, value)
    if not 0 <= number <= _WORD:
        raise ValueError(f"{name} should be at least 0 and less than 2**64, got {number}")
    return number
