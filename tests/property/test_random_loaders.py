"""A tenth of the random data sets for loaders; `make soak-loader` runs all of them."""

from __future__ import annotations

import pytest

from random_loaders import COUNT, WAYS, difference, drawn
from support.scale import cases

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

NUMBERS = range(0, COUNT, max(1, COUNT // cases(COUNT)))


@pytest.mark.parametrize("workers", range(4))
def test_random_data_sets(workers: int) -> None:
    found = [text for number in NUMBERS if (text := difference(number, workers))]
    assert not found, "\n".join(found)


def test_the_cases_are_worth_running() -> None:
    """Nearly all ways to draw are among them, and all shapes."""
    assert len({number % len(WAYS) for number in NUMBERS}) >= len(WAYS) - 2
    cases = [drawn(number, 2) for number in NUMBERS]
    kinds = {type(data).__name__ for data, _ in cases}
    assert kinds >= {"Mapped", "Streamed", "Subset"} and kinds & {"Nested", "Together"}
    for name in ("batch_sampler", "worker_init_fn", "collate_fn", "persistent_workers", "generator"):
        assert any(options.get(name) for _, options in cases), name
