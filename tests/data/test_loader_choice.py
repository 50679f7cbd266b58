"""What a loader makes samples by is decided by what is known, never by trying; and a promise is held to."""

from __future__ import annotations

import random
import typing
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from loader_cases import (
    Drawing,
    Pairs,
    Several,
    drawing_target,
    folder_of,
    generators,
    listed,
    numpy_draw,
    same,
    torch_draw,
)
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset, get_worker_info
from torchvision.datasets import CIFAR10, DatasetFolder, FakeData, ImageFolder

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug.data import DataLoader
from fastaug.transforms import v2
from support.outcomes import seed_all

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Mine(ImageFolder):
    """A subclass that names its classes otherwise."""

    def find_classes(self, directory: Any) -> Any:
        return super().find_classes(directory)


class Noisy(ImageFolder):
    def __getitem__(self, index: int) -> Any:
        return random.random(), super().__getitem__(index)[1]


class Documented(T.Compose):
    """Nothing else."""


class Recorded(T.RandomCrop):
    @staticmethod
    def get_params(img: Any, output_size: Any) -> Any:
        return 0, 0, *output_size


class Loose(list):
    def __getitem__(self, index: Any) -> Any:
        return random.random()


def view(*steps: Any) -> Any:
    return T.Compose([T.RandomCrop(20), *steps, T.ToTensor()])


def inverted(image: Any) -> Any:
    return image


def cifar(transform: Any) -> Any:
    data = CIFAR10.__new__(CIFAR10)
    data.data, data.targets = np.zeros((6, 32, 32, 3), np.uint8), [0] * 6
    data.transform, data.target_transform, data.transforms = transform, None, None
    return data


KNOWN: dict[str, Callable[[Path], Any]] = {
    "folder": lambda root: folder_of(root, T),
    "lazy": lambda root: folder_of(root, T, loader=partial(fastaug.io.lazy, mode="RGB")),
    "subset": lambda root: Subset(folder_of(root, T), [1, 2, 3]),
    "concat": lambda root: ConcatDataset([folder_of(root, T), Subset(folder_of(root, T), range(3))]),
    "subclass": lambda root: Mine(str(root), view()),
    "pipeline with a name": lambda root: ImageFolder(str(root), Documented(view().transforms)),
    "compiled": lambda root: ImageFolder(str(root), fastaug.compile(TV.Compose([TV.RandomCrop(20), TV.ToTensor()]))),
    "v2": lambda root: ImageFolder(
        str(root),
        v2.Compose([v2.ToImage(), v2.RandomCrop(20), v2.RandomApply([v2.AutoAugment()]), v2.ToDtype(torch.float32)]),
    ),
    "views": lambda root: ImageFolder(str(root), fastaug.Views([view(), view(T.RandomOrder([T.RandomInvert()]))])),
    "target": lambda root: folder_of(root, T, target_transform=int),
    "arrays": lambda root: DatasetFolder(str(root), np.load, extensions=("jpg",)),
    "looked up": lambda root: cifar(T.ToTensor()),
    "tensors": lambda root: TensorDataset(torch.arange(6)),
    "list": lambda root: [(torch.arange(2), {"a": 1}), (torch.arange(2), {"a": 2})],
    "range": lambda root: range(9),
    "array": lambda root: np.zeros((4, 2)),
}

UNKNOWN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "of the user's": (lambda root: Pairs(T), "Pairs"),
    "in a subset": (lambda root: Subset(Pairs(T), [1]), "Pairs"),
    "in a concat": (lambda root: ConcatDataset([folder_of(root, T), Drawing(T)]), "Drawing"),
    "subclass": (lambda root: Noisy(str(root), view()), "Noisy"),
    "list": (lambda root: Loose([1, 2]), "Loose"),
    "objects": (lambda root: [object()], "list"),
    "FakeData": (lambda root: FakeData(4, transform=T.ToTensor()), "FakeData"),
    "torchvision's transform": (lambda root: folder_of(root, TV), "of its transform, Compose"),
    "function": (lambda root: ImageFolder(str(root), view(inverted)), "function inverted"),
    "Lambda": (lambda root: ImageFolder(str(root), view(T.Lambda(inverted))), "function inverted"),
    "nested": (
        lambda root: ImageFolder(str(root), view(T.RandomApply([T.RandomChoice([inverted])]))),
        "function inverted",
    ),
    "get_params": (lambda root: ImageFolder(str(root), T.Compose([Recorded(20), T.ToTensor()])), "Recorded"),
    "loader": (lambda root: folder_of(root, T, loader=lambda path: None), "of its loader"),
    "target": (lambda root: folder_of(root, T, target_transform=drawing_target), "of its target_transform"),
    "looked up": (lambda root: cifar(TV.ToTensor()), "ToTensor"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known(name: str, pictures: Path) -> None:
    before = generators()
    choice = DataLoader(KNOWN[name](pictures), num_workers=2, num_threads=3).explain()
    assert choice.threads and choice.made == "threads", choice
    assert same(generators(), before)
    assert not DataLoader(KNOWN[name](pictures), num_workers=2, threads=False).explain().threads


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown(name: str, pictures: Path) -> None:
    make, says = UNKNOWN[name]
    choice = DataLoader(make(pictures), num_workers=2).explain()
    assert not choice.threads and says in str(choice) and str(choice).startswith("worker processes make the samples")
    alone = DataLoader(make(pictures)).explain()
    if name == "target":  # which one thread calls in a loop's order
        assert str(alone).endswith("all but the target_transform of ImageFolder is known to draw nothing by itself")
    else:
        assert str(alone).startswith("next() makes the samples")
    assert DataLoader(make(pictures), num_workers=2, threads=True).explain().threads
    with pytest.raises(ValueError, match=r"num_threads.* threads=True is the promise"):
        DataLoader(make(pictures), num_workers=2, num_threads=2)


def test_a_function_in_the_place_of_one_of_ours(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = DataLoader(folder_of(pictures, T), num_workers=2)
    with monkeypatch.context() as patched:
        patched.setattr(T.RandomResizedCrop, "get_params", staticmethod(lambda *given: (0, 0, 9, 9)))
        assert "RandomResizedCrop" in loader.explain().reason
    with monkeypatch.context() as patched:
        patched.setattr("fastaug.transforms.functional.hflip", inverted)
        assert "hflip" in loader.explain().reason
    handle = torch.nn.modules.module.register_module_forward_hook(lambda *given: None)
    assert "hooks" in loader.explain().reason
    handle.remove()
    assert loader.explain().threads


def test_collations(pictures: Path) -> None:
    folder = folder_of(pictures, T)
    assert DataLoader(folder, num_workers=1, collate_fn=torch.utils.data.default_collate).explain().threads
    assert "of collate_fn, the function listed" in DataLoader(folder, num_workers=1, collate_fn=listed).explain().reason


def test_it_is_generic() -> None:
    assert typing.get_args(DataLoader[int]) == (int,)
    assert next(iter(DataLoader[torch.Tensor]([1, 2], 2))).tolist() == [1, 2]


# ---- the promise


@pytest.mark.parametrize("draw", [torch_draw, random.random, numpy_draw])
@pytest.mark.parametrize(
    "options", [{}, {"batch_size": None}, {"rng": "sample"}, {"persistent_workers": True}], ids=str
)
def test_a_broken_promise(draw: Callable[[], float], options: dict[str, Any]) -> None:
    loader = DataLoader(Drawing(T, draw), num_workers=2, threads=True, **{"batch_size": 4, **options})
    owner = {torch_draw: "torch's", numpy_draw: "NumPy's"}.get(draw, "Python's")  # type: ignore[call-overload]
    with pytest.raises(RuntimeError, match=f"Drawing .* indices (\\[0, 1, 2, 3\\]|0) it draws by itself from {owner}"):
        list(loader)


class Some(Drawing):
    """Draws for a few samples only, and seeds."""

    def __getitem__(self, index: int) -> Any:
        if index == 13:
            torch.manual_seed(index)
        return Pairs.__getitem__(self, index)["image"]


def test_a_promise_that_few_samples_break() -> None:
    iterator = iter(DataLoader(Some(T), 4, num_workers=2, threads=True))
    for _ in range(3):
        next(iterator)
    with pytest.raises(RuntimeError, match=r"Some .* \[12, 13, 14, 15\]"):
        next(iterator)
    assert len(list(iterator)) == 2


def test_a_promise_is_not_broken_by_the_training_loop() -> None:
    """Which draws while threads make batches; nor by a sampler, a collation or transforms."""
    loader = DataLoader(Several(T), 2, shuffle=True, num_workers=2, threads=True, collate_fn=listed)
    count = 0
    for _ in loader:
        for draw in (torch_draw, random.random, numpy_draw):
            draw()
        count += 1
    assert count == 11


class Asking(Dataset[Any]):
    """What a worker is told."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        if info is None:
            return -1, -1, -1, torch.initial_seed()
        assert isinstance(info.dataset, Asking)
        return info.id, info.num_workers, info.seed, torch.initial_seed()


@pytest.mark.parametrize("options", [{}, {"rng": "sample"}], ids=str)
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_what_a_worker_is_told(workers: int, options: dict[str, Any]) -> None:
    given = []
    for threads in (False, True):
        seed_all(5)
        loader = DataLoader(Asking(), 2, num_workers=workers, threads=threads, **options)
        given.append([torch.stack(batch).tolist() for batch in loader])
        assert get_worker_info() is None
    if not options:
        seed_all(5)
        loader = torch.utils.data.DataLoader(Asking(), 2, num_workers=workers)
        given.append([torch.stack(batch).tolist() for batch in loader])
    assert given[0] == given[1] == given[-1]
    assert torch.initial_seed() == 5
