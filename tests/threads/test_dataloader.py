"""DataLoader workers of every start method give torchvision's batches after the parent has used fastaug."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from torch.utils.data import DataLoader, Dataset

import fastaug.transforms as T
from support.images import PHOTOS, photo, to_chw


def pipeline(package: Any) -> Callable[[Any], torch.Tensor]:
    return package.Compose(
        [
            package.ToPILImage(),
            package.RandomRotation(25, interpolation=package.InterpolationMode.BILINEAR),
            package.RandomResizedCrop(96, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
            package.RandomHorizontalFlip(),
            package.RandomVerticalFlip(),
            package.RandomApply([package.ColorJitter(0.2, 0.1, 0.05, 0.02)]),
            package.RandomOrder([package.RandomGrayscale(0.3), package.Pad(2)]),
            package.ToTensor(),
            package.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
        ]
    )


class Tiles(Dataset):
    """Sixteen tiles of the photographs."""

    def __init__(self, transform: Callable[[Any], torch.Tensor]) -> None:
        self.transform = transform
        self.tiles = [to_chw(photo(name, 110 + 3 * k, 120 - 5 * k)) for k in range(4) for name in PHOTOS]

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.tiles[index])


def batches(package: Any, **options: Any) -> list[torch.Tensor]:
    torch.manual_seed(11)
    return list(DataLoader(Tiles(pipeline(package)), batch_size=4, shuffle=True, **options))


def test_in_the_parent() -> None:
    for ours, theirs in zip(batches(T), batches(TV), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(
    ("method", "count"),
    [
        ("fork", 2),
        pytest.param("spawn", 1, marks=pytest.mark.main),
        pytest.param("spawn", 2, marks=pytest.mark.main),
        pytest.param("forkserver", 2, marks=pytest.mark.main),
    ],
)
def test_workers(method: str, count: int) -> None:
    pipeline(T)(to_chw(photo("ihc", 120, 120)))  # the parent has used the native core
    ours = batches(T, num_workers=count, multiprocessing_context=method)
    theirs = batches(TV, num_workers=count, multiprocessing_context="fork")
    assert len(ours) == len(theirs) == 4
    for a, b in zip(ours, theirs, strict=True):
        assert torch.equal(a, b)


def test_persistent_forked_workers_over_epochs() -> None:
    results = []
    for package in (T, TV):
        torch.manual_seed(5)
        loader = DataLoader(Tiles(pipeline(package)), batch_size=4, num_workers=1, persistent_workers=True)
        results.append([batch for _ in range(3) for batch in loader])
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def child(queue: Any, image: torch.Tensor) -> None:
    torch.manual_seed(3)
    queue.put(pipeline(T)(image).numpy())


def test_fork_of_a_fork() -> None:
    """A worker that forks again, as some readers do."""
    context = multiprocessing.get_context("fork")
    image = to_chw(photo("ihc", 120, 120))
    torch.manual_seed(3)
    expected = pipeline(TV)(image)

    queue: Any = context.Queue()
    process = context.Process(target=grandchild, args=(queue, image))
    process.start()
    result = torch.from_numpy(queue.get(timeout=60))
    process.join(60)
    assert process.exitcode == 0
    assert torch.equal(result, expected)


def grandchild(queue: Any, image: torch.Tensor) -> None:
    pipeline(T)(image)
    process = multiprocessing.get_context("fork").Process(target=child, args=(queue, image))
    process.start()
    process.join(60)
    assert process.exitcode == 0
