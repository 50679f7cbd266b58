"""The cases under pytest-benchmark: fastaug's times, torchvision's beside them in extra_info.

`python -m bench` makes the table with every library; this is for `pytest bench --benchmark-compare` and its kin.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

from bench.case import Case
from bench.cases import CASES
from bench.images import BAGS
from bench.libraries import Fastaug, Library, as_array
from bench.turn import Turn

ROUNDS = 15


@pytest.fixture(scope="module")
def bags() -> dict[str, Any]:
    """Each kind of bag is made once."""
    return {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_speed(case: Case, bags: dict[str, Any], benchmark: Any) -> None:
    import torch

    torch.set_num_threads(1)
    if case.bag not in bags:
        bags.clear()
        bags[case.bag] = BAGS[case.bag]()
    turns = []
    for library in (Library(), Fastaug()):
        transform = library.transform(case)
        assert transform is not None
        turns.append(Turn(transform, [library.image(case, pixels) for pixels in bags[case.bag]], library.seed))
    theirs, ours = turns
    for number in range(4):
        np.testing.assert_array_equal(as_array(ours.call(number)), as_array(theirs.call(number)))

    numbers = iter(range(1, ROUNDS + 1))
    reference: list[float] = []

    def torchvision_first() -> tuple[tuple[Any], dict[str, Any]]:
        """Before every round, untimed by pytest-benchmark: torchvision's turn at the same image and seed."""
        number = next(numbers)
        reference.extend(t / 1e9 for t in theirs.run(number, 1))
        ours.call(number - 1)
        ours.seed(number)
        return (ours.images[number % len(ours.images)],), {}

    benchmark.group = "pipelines" if case.pipeline else "operations"
    benchmark.pedantic(ours.transform, setup=torchvision_first, rounds=ROUNDS, iterations=1)
    ratios = [a / b for a, b in zip(reference, benchmark.stats.stats.data)]
    benchmark.extra_info["torchvision median, s"] = statistics.median(reference)
    benchmark.extra_info["times faster than torchvision, median"] = round(statistics.median(ratios), 2)
