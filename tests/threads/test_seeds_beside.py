"""Images and samples with seeds of their own: what one thread alone gives, whatever others draw meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.transforms as T
from fastaug.data import DataLoader
from fastaug.transforms import v2
from support.images import PHOTOS, photo
from support.outcomes import numpy_state

IMAGES = [photo(PHOTOS[number % 4], 40 + number, 50) for number in range(8)]
SEEDS = [7, 8, 7, 2**40, 0, 1, 3, 7]


def states() -> tuple[Any, ...]:
    return torch.get_rng_state().numpy().tobytes(), random.getstate(), numpy_state()


def chosen(package: Any, *more: Any) -> Any:
    """Draws from torch's and Python's generators."""
    jitter = package.RandomChoice([package.ColorJitter(0.4), package.RandomInvert(1.0)])
    end = [package.ToTensor()] if package is T else [package.PILToTensor()]
    return package.Compose([package.RandomResizedCrop(24), jitter, package.RandomHorizontalFlip(), *more, *end])


def noisy(image: Any) -> Any:
    """A callable of the user's, which draws from all three."""
    shift = int(9 * (torch.rand(1) + random.random() + np.random.rand()))  # noqa: NPY002
    return image.point(lambda value: value + shift)


PIPELINES: dict[str, Callable[[], Any]] = {
    "v1": lambda: chosen(T),
    "v2": lambda: chosen(v2),
    "views": lambda: fastaug.Views([chosen(T), chosen(T)]),
    "generator": lambda: fastaug.compile(chosen(T), generator=torch.Generator()),
    "callable": lambda: chosen(T, noisy),
}


def expected_of(transform: Any, image: Any, seed: int) -> Any:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if getattr(transform, "generator", None) is not None:
        transform.generator.manual_seed(seed)
    return transform(image)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return len(one) == len(other) and all(map(same, one, other))


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Another thread draws from all generators, and seeds them."""
    done = threading.Event()

    def draw() -> None:
        while not done.is_set():
            torch.manual_seed(random.getrandbits(20))
            torch.rand(3)
            np.random.rand()  # noqa: NPY002

    thread = threading.Thread(target=draw)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("name", PIPELINES)
def test_seeds_mean_all_generators_and_move_none(name: str) -> None:
    transform = PIPELINES[name]()
    expected = [expected_of(transform, *pair) for pair in zip(IMAGES, SEEDS, strict=True)]
    before = states()
    batch = transform.batch(IMAGES, seeds=SEEDS, num_threads=2)
    rows = [[part[k] for part in batch] for k in range(8)] if name == "views" else list(batch)
    assert all(map(same, rows, expected))
    assert all(map(same, transform.map(IMAGES, seeds=iter(SEEDS), num_threads=2), expected))
    pairs = transform.map(itertools.cycle(IMAGES), ordered=False, seeds=itertools.cycle(SEEDS), num_threads=2)
    for number, result in itertools.islice(pairs, 12):
        assert same(result, expected[number % 8])
    assert states() == before


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "callable"])
def test_beside_a_thread_that_draws(name: str) -> None:
    transform = PIPELINES[name]()
    expected = transform.batch(IMAGES, seeds=SEEDS, num_threads=1)
    with drawing():
        assert all(same(transform.batch(IMAGES, seeds=SEEDS, num_threads=1), expected) for _ in range(10))


@pytest.mark.parametrize("name", PIPELINES)
def test_in_two_threads(name: str) -> None:
    transform = PIPELINES[name]()
    expected = transform.batch(IMAGES, seeds=SEEDS, num_threads=1)
    wrong: list[Any] = []

    def work() -> None:
        results = (transform.batch(IMAGES, seeds=SEEDS, num_threads=1) for _ in range(10))
        wrong.extend(result for result in results if not same(result, expected))

    threads = [threading.Thread(target=work) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_of_a_loader_beside_a_thread_that_draws(workers: int, tmp_path: Path) -> None:
    for number, image in enumerate(IMAGES):
        (tmp_path / str(number % 2)).mkdir(exist_ok=True)
        image.save(tmp_path / str(number % 2) / f"{number}.png")
    folder = ImageFolder(str(tmp_path), chosen(T))

    def epoch(rng: str) -> list[Any]:
        loader = DataLoader(folder, 3, num_workers=workers, rng=rng, generator=torch.Generator().manual_seed(3))
        return [images for images, _ in loader]

    # Without workers, rng="torch" draws from the process's generators, as torch's loader does.
    for rng in ("torch", "sample") if workers else ("sample",):
        before = states()
        expected = epoch(rng)
        assert states() == before
        with drawing():
            assert all(same(epoch(rng), expected) for _ in range(5))


@pytest.mark.parametrize(
    ("seeds", "error", "says"),
    [(3, TypeError, "seeds should be an iterable"), (["a"], TypeError, "integer"), ([1], ValueError, "one for each")],
)
def test_bad_seeds_of_a_stream(seeds: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        list(chosen(T).map(IMAGES, seeds=seeds))
