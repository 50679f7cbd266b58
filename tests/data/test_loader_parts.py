"""Several data sets one after the other, and parts of them: the loader makes their images as those of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from torch.utils.data import ConcatDataset, Subset, random_split
from torch.utils.data import DataLoader as TorchLoader
from torchvision.datasets import ImageFolder

import fastaug.io
import fastaug.transforms as T
from data.loader_cases import drawing_target, run, same, write_folder
from data.test_loader_arrays import Sampler, dataset_of, outcomes
from data.test_tar import entries_of, write_tar
from fastaug._batch.together import Together
from fastaug.data import DataLoader, TarDataset
from fastaug.data._load.sources import Images


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parts")
    write_tar(root / "0.tar", entries_of(ImageFolder(str(write_folder(root / "pictures")))))
    return root


def transform_of(package: Any) -> Any:
    return package.Compose([package.RandomResizedCrop(12), package.RandomHorizontalFlip(), package.ToTensor()])


def folder_of(root: Path, transform: Any, **options: Any) -> ImageFolder:
    return ImageFolder(str(root / "pictures"), transform, **options)


def tar_of(root: Path, transform: Any, ours: bool) -> Any:
    """Shards, or what torchvision has of the same images."""
    return TarDataset(root / "0.tar", transform) if ours else folder_of(root, transform)


def concat(root: Path, transform: Any, ours: bool) -> ConcatDataset[Any]:
    arrays = dataset_of("CIFAR10", transform)
    other = folder_of(root, transform, loader=fastaug.io.lazy) if ours else folder_of(root, transform)
    return ConcatDataset([folder_of(root, transform), arrays, tar_of(root, transform, ours), Subset(other, [3, 1])])


def split(root: Path, transform: Any, ours: bool) -> Any:
    generator = torch.Generator().manual_seed(3)
    return random_split(concat(root, transform, ours), [30, 38], generator)[1]


MAKES: dict[str, Callable[[Path, Any, bool], Any]] = {
    "concat": concat,
    "split": split,
    "nested": lambda root, *rest: ConcatDataset([concat(root, *rest), Subset(concat(root, *rest), range(50, 60))]),
    "of subsets": lambda root, transform, _: ConcatDataset(
        [Subset(folder_of(root, transform), [5, 6]), Subset(folder_of(root, transform), range(9))]
    ),
}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", MAKES)
def test_batches_are_torchs(name: str, workers: int, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    begin = Together.__init__
    monkeypatch.setattr(Together, "__init__", lambda *given: (begun.append(1), begin(*given))[1])
    options: dict[str, Any] = {"batch_size": 5, "shuffle": True, "num_workers": workers}
    theirs = run(TorchLoader, MAKES[name](pictures, transform_of(TV), False), **options)
    assert same(run(DataLoader, MAKES[name](pictures, transform_of(T), True), **options), theirs)
    assert begun


@pytest.mark.parametrize("changes", [(int, int), (float, None), (None, drawing_target), (drawing_target, str)])
def test_targets(changes: tuple[Any, Any], pictures: Path) -> None:
    def dataset(package: Any) -> Any:
        transform = transform_of(package)
        parts = [folder_of(pictures, transform, target_transform=change) for change in changes]
        return Subset(ConcatDataset(parts), [1, 30, 2, 31, 40, 5, 6, 7])

    for workers in (0, 1):
        promised = {"threads": True} if workers else {}
        options: dict[str, Any] = {"batch_size": 2, "num_workers": workers, "collate_fn": list}
        theirs = run(TorchLoader, dataset(TV), **options)
        assert same(run(DataLoader, dataset(T), **promised, **options), theirs)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("bad", [44, -45, "3"])
def test_indices_that_are_not_there(bad: Any, workers: int, pictures: Path) -> None:
    batches = [[1, -2], [3, 25, bad, 5], [6, -44], [0, 43]]
    theirs, ours = (
        ConcatDataset([folder_of(pictures, transform)] * 2) for transform in (transform_of(TV), transform_of(T))
    )
    expected = outcomes(TorchLoader, theirs, batches, workers)
    assert expected[2] in ("IndexError", "TypeError", "ValueError")
    assert same(outcomes(DataLoader, ours, batches, workers), expected)


class Changed(ConcatDataset[Any]):
    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index)


def test_what_is_no_such_set(pictures: Path) -> None:
    transform = transform_of(T)
    folder = partial(folder_of, pictures)
    assert Images.of(ConcatDataset([folder(transform), folder(transform)])) is not None
    others = [
        ConcatDataset([folder(transform), folder(transform_of(T))]),  # each has its own transform
        ConcatDataset([folder(transform), folder(transform_of(TV))]),
        ConcatDataset([folder(transform), [1, 2]]),
        Changed([folder(transform), folder(transform)]),
    ]
    for other in others:
        assert Images.of(other) is None
    loader = DataLoader(others[0], batch_sampler=Sampler([[0, 30]]), num_workers=1)
    assert loader.explain().threads
    assert len(list(loader)) == 1
