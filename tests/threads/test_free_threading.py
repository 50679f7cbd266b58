"""Eight threads in one pipeline, and in many: the same pixels as one after the other.

Where Python has no lock, nothing but the core's own care keeps them apart.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

import fastaug.transforms as T
from fastaug.transforms import v2
from support.images import noise, photo
from support.outcomes import snapshot

THREADS = 8
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def train() -> T.Compose:
    return T.Compose(
        [
            T.RandomRotation(25, interpolation=T.InterpolationMode.BILINEAR),
            T.RandomResizedCrop(64),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            T.ToTensor(),
            T.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
        ]
    )


def plain() -> T.Compose:
    return T.Compose([T.Resize(97), T.CenterCrop(80), T.GaussianBlur(5, (1.0, 1.0)), T.ToTensor()])


def plain_v2() -> v2.Compose:
    return v2.Compose([v2.ToImage(), v2.Resize(97), v2.CenterCrop(80), v2.ToDtype(torch.float32, scale=True)])


@pytest.mark.skipif(not FREE, reason="this Python has a lock")
def test_the_lock_stays_off() -> None:
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]  # of 3.13 and later


def at_once(work: Callable[[int], Any], count: int) -> list[Any]:
    """What work gives for each number, by eight threads that begin together."""
    barrier = threading.Barrier(THREADS)

    def share(first: int) -> list[Any]:
        barrier.wait()
        return [work(number) for number in range(first, count, THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        shares = list(pool.map(share, range(THREADS)))
    return [shares[number % THREADS][number // THREADS] for number in range(count)]


@pytest.mark.parametrize("make", [plain, plain_v2])
def test_eight_threads_in_one_pipeline(make: Callable[[], Any]) -> None:
    images = [photo(("ihc", "coffee", "chelsea")[k % 3], 120 + 7 * k, 140 - 3 * k) for k in range(24)]
    pipeline = make()
    expected = [snapshot(make()(image)) for image in images]
    assert at_once(lambda number: snapshot(pipeline(images[number % 24])), 240) == expected * 10


@pytest.mark.parametrize("make", [plain, plain_v2])
def test_eight_threads_in_many_pipelines(make: Callable[[], Any]) -> None:
    """Made, used once and let go, while others do the same."""
    images = [noise(90 + 5 * k, 100 - 2 * k, 3, k) for k in range(16)]
    pipeline = make()
    expected = [snapshot(pipeline(image)) for image in images]
    assert at_once(lambda number: snapshot(make()(images[number % 16])), 160) == expected * 10


def test_eight_threads_replay_what_was_drawn() -> None:
    """Draws come from one generator, in any order; what each was is kept, and gives its pixels again."""
    image = photo("ihc", 150, 170)
    pipeline = train()

    def drawn(_: int) -> bool:
        params = pipeline.sample(image)
        once, twice = (pipeline.replay(image, params) for _ in range(2))
        return torch.equal(once, twice) and snapshot(train().replay(image, params)) == snapshot(once)

    assert all(at_once(drawn, 200))


def test_eight_threads_with_a_batch_each() -> None:
    images = [photo("coffee", 100, 110 + k) for k in range(12)]
    pipeline = plain()
    expected = torch.stack([pipeline(image) for image in images])
    assert all(at_once(lambda _: torch.equal(pipeline.batch(images, num_threads=2), expected), 16))


def test_changes_of_a_pipeline_are_seen_whole() -> None:
    """One thread exchanges a transform while others run the pipeline: each result is of one or of the other."""
    image = noise(60, 50, 3, 1)
    flips = (T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0))
    pipeline = T.Compose([flips[0], T.ToTensor()])
    either = [snapshot(T.Compose([flip, T.ToTensor()])(image)) for flip in flips]

    def work(number: int) -> bool:
        if number % THREADS == 0:
            pipeline.transforms[0] = flips[number // THREADS % 2]
        return snapshot(pipeline(image)) in either

    assert all(at_once(work, 800))
