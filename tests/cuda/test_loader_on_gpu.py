"""What only a GPU can show of a loader: its streams, memory, and who waits for whom."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.tv_tensors
from torch.utils.data import Dataset, default_collate
from torchvision.datasets import ImageFolder

import fastaug.io
from fastaug.data import DataLoader
from on_device import expect_same, pipeline, require_gpu, states
from support.images import PHOTOS, photo
from support.outcomes import seed_all

COUNT = 96


@pytest.fixture(autouse=True, scope="module")
def _gpu() -> None:
    require_gpu()


@pytest.fixture(scope="module")
def pictures(_gpu: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pictures")
    for number in range(COUNT):
        folder = root / str(number % 2)
        folder.mkdir(exist_ok=True)
        photo(PHOTOS[number % 4], 200 + number, 330 - number).save(folder / f"{number:03}.jpg", quality=90)
    return root


def folder_of(root: Path, name: str = "imagenet") -> ImageFolder:
    return ImageFolder(str(root), transform=pipeline(name, tensors=False), loader=fastaug.io.lazy)


def run(dataset: Any, epochs: int = 2, **options: Any) -> list[Any]:
    """All batches, and where the generators are after each."""
    seed_all(5)
    loader = DataLoader(dataset, **{"batch_size": 16, "shuffle": True, **options})
    return [(batch, states()) for _ in range(epochs) for batch in loader]


def expect_same_runs(got: list[Any], expected: list[Any]) -> None:
    assert len(got) == len(expected)
    for (batch, after), (other, then) in zip(got, expected):
        assert after == then
        for one, wanted in zip(batch, other, strict=True):
            assert one.is_cuda
            expect_same(one, wanted)


@pytest.mark.parametrize("name", ["P", "imagenet", "simclr", "rand_augment", "augmix", "erasing"])
@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": 0},
        {"num_workers": 2},
        {"num_workers": 2, "persistent_workers": True, "drop_last": True},
        {"num_workers": 2, "rng": "sample", "seed": 3, "pin_memory": True},
    ],
    ids=["none", "two", "persistent", "sample"],
)
def test_folder(name: str, options: dict[str, Any], pictures: Path) -> None:
    dataset = folder_of(pictures, name)
    expect_same_runs(run(dataset, device="cuda", **options), run(dataset, **{**options, "pin_memory": False}))


def halved(samples: list[Any]) -> Any:
    """Exact on any device; made where the images are."""
    images, targets = default_collate(samples)
    return images * 0.5, targets, torch.tensor(images.is_cuda)


def test_a_function_that_collates_gets_what_is_on_the_device(pictures: Path) -> None:
    dataset = folder_of(pictures)
    got = run(dataset, device="cuda", num_workers=2, collate_fn=halved)
    assert all(batch[2] for batch, _ in got)
    expected = run(dataset, num_workers=2, collate_fn=halved)
    expect_same_runs([(batch[:2], after) for batch, after in got], [(batch[:2], after) for batch, after in expected])


class Mixtures(Dataset):
    """Samples of several kinds of tensors."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {
            "sparse": torch.eye(3).mul(index).to_sparse(),
            "mask": torchvision.tv_tensors.Mask(torch.full((2, 2), index)),
            "turned": torch.arange(6.0).view(2, 3).t() + index,
            "there": torch.tensor(index, device="cuda"),
            "name": str(index),
        }


@pytest.mark.parametrize("pin_memory", [False, True])
@pytest.mark.parametrize("workers", [0, 1])
def test_other_data_sets(workers: int, pin_memory: bool) -> None:
    options = {"batch_size": None, "num_workers": workers, "pin_memory": pin_memory and workers == 1}
    loader = DataLoader(Mixtures(), device="cuda", threads=True, **options)
    for number, sample in enumerate(loader):
        assert sample["name"] == str(number)
        assert all(sample[name].is_cuda for name in ("sparse", "mask", "turned", "there"))
        assert type(sample["mask"]) is torchvision.tv_tensors.Mask
        assert sample["turned"].stride() == (1, 3)
        assert torch.equal(sample["sparse"].to_dense().cpu(), torch.eye(3) * number)
        assert torch.equal(sample["turned"].cpu(), torch.arange(6.0).view(2, 3).t() + number)


def test_processes_pin_with_torchs_thread() -> None:
    loader = DataLoader(range(8), 4, num_workers=1, timeout=60, pin_memory=True, device="cuda")
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_batches_are_for_the_current_stream(pictures: Path) -> None:
    """Whose work on a batch may come long after the batch was given up: its memory is not used again before."""
    dataset = folder_of(pictures)
    expected = [batch for batch, _ in run(dataset, num_workers=2, epochs=3)]
    run(dataset, device="cuda", num_workers=2, epochs=1)
    stream = torch.cuda.Stream()
    copies = []
    with torch.cuda.stream(stream):
        seed_all(5)
        loader = DataLoader(dataset, 16, True, num_workers=2, device="cuda")
        for _ in range(3):
            for images, targets in loader:
                torch.cuda._sleep(50_000_000)
                copies.append([images.clone(), targets.clone()])
                del images, targets
        torch.cuda.synchronize()
    for copy, batch in zip(copies, expected, strict=True):
        expect_same(copy, batch)


def test_nobody_waits(pictures: Path) -> None:
    """The device sleeps, and two batches come meanwhile, the second of which has been made beside that."""
    loader = DataLoader(folder_of(pictures), batch_size=16, num_workers=2, device="cuda")
    for _ in range(2):
        list(loader)
    iterator = iter(loader)
    next(iterator)
    time.sleep(1)  # the threads are ahead
    torch.cuda.synchronize()
    current = torch.cuda.current_stream()
    torch.cuda.set_sync_debug_mode("error")
    try:
        torch.cuda._sleep(4_000_000_000)
        next(iterator)
        time.sleep(0.2)
        assert loader._side is not None
        assert loader._side._stream.query()  # type: ignore[attr-defined]
        next(iterator)
        assert not current.query()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(list(iterator)) == 3


def test_nobody_runs_ahead_for_ever(pictures: Path) -> None:
    """While the device is at the first batches, no more come than it has memory for."""
    loader = DataLoader(folder_of(pictures), batch_size=8, num_workers=2, device="cuda")
    list(loader)
    torch.cuda.synchronize()
    ends = []
    for _ in loader:
        assert len(ends) < 3 or ends[-3].query()
        torch.cuda._sleep(20_000_000)
        ends.append(torch.cuda.Event())
        ends[-1].record()


def test_memory_is_used_again(pictures: Path) -> None:
    loader = DataLoader(folder_of(pictures), batch_size=16, num_workers=2, device="cuda")
    sizes = []
    for _ in range(6):
        for images, _ in loader:
            images.sum()
        del images
        torch.cuda.synchronize()
        sizes.append((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()))
    allocated, reserved = zip(*sizes)
    assert len(set(allocated)) == 1
    assert reserved[-1] <= 2 * reserved[1]


def test_capture(pictures: Path) -> None:
    dataset = folder_of(pictures)
    expected = run(dataset, epochs=1, num_workers=2)
    seed_all(5)
    iterator = iter(DataLoader(dataset, 16, True, num_workers=2, device="cuda"))
    with pytest.raises(RuntimeError, match="captured"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        next(iterator)
    for batch, (wanted, _) in zip(iterator, expected, strict=True):
        expect_same(batch, wanted)
