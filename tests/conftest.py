"""Settings that every test shares."""

from __future__ import annotations

import gc
import importlib.util
import signal
from collections.abc import Iterator

import hypothesis
import pytest
import torch

from support import leftovers
from support.batches import names_of_threads
from support.scale import cases
from support.versions import spell_as_today

# The engines, the clients and the peers of stains have environments of their own (`make test-engines`,
# `make test-clients`, `make test-pathology`).
collect_ignore = [
    path
    for path, package in (("engines", "ray"), ("clients", "timm"), ("pathology/test_peers.py", "torchstain"))
    if importlib.util.find_spec(package) is None
]

# The same examples on every run: a red test must be red again for the one who repairs it.
hypothesis.settings.register_profile(
    "fastaug",
    max_examples=cases(100),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)
hypothesis.settings.load_profile("fastaug")


spell_as_today()

# Ctrl-C is ignored in what a shell runs in the background, and tests that send it would wait for its effect for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave what there is by now out of all collections of garbage.

    They would go through millions of objects, in each forked child too, which then gets copies of their pages.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_torch_thread() -> None:
    """torch's own pool would fight the workers of a parallel test run."""
    torch.set_num_threads(1)


# What tests of this process have left behind.
_left_behind: list[str] = []


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test that would make later ones fail fails itself."""
    before = leftovers.threads()
    yield
    found = list(leftovers.left(before))
    with leftovers.keeping_generators():
        found += filter(None, [leftovers.difference()])
    # Later tests only find the same.
    new = [text for text in found if text not in _left_behind]
    _left_behind.extend(new)
    assert not new, f"left behind: {'; '.join(new)}"


@pytest.fixture
def no_threads() -> None:
    """None of fastaug's threads is there: what the errors of other tests refer to may have kept an iterator."""
    gc.collect()
    assert not names_of_threads()
