"""Data sets for loaders, in torchvision's and in fastaug's transforms, and what a run of a loader leaves behind."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision.transforms.functional as TVF
from torch.utils.data import Dataset, default_collate
from torchvision.datasets import ImageFolder

import fastaug.transforms as T
import fastaug.transforms.functional as TF
from support.images import PHOTOS, photo
from support.outcomes import numpy_state, seed_all

COUNT = 22


def write_folder(root: Path) -> Path:
    """Two classes of JPEG, PNG and gray pictures of many sizes."""
    for number in range(COUNT):
        picture = photo(PHOTOS[number % len(PHOTOS)], 40 + 7 * number, 130 - 4 * number)
        folder = root / ("cat" if number % 3 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        if number % 5 == 4:
            picture.convert("L" if number % 2 else "P").save(folder / f"{number:02}.png")
        else:
            picture.save(folder / f"{number:02}.jpg", quality=90)
    return root


def augmentation(package: Any) -> Any:
    """Draws from torch's and from Python's generator; native, but for the noise."""
    return package.Compose(
        [
            package.RandomResizedCrop(24),
            package.RandomHorizontalFlip(),
            package.RandomChoice([package.ColorJitter(0.4, 0.4), package.RandomRotation(20)]),
            package.ToTensor(),
            package.RandomErasing(p=0.5, value="random"),
        ]
    )


def folder_of(root: Path, package: Any, **options: Any) -> ImageFolder:
    return ImageFolder(str(root), transform=augmentation(package), **options)


def drawing_target(target: int) -> torch.Tensor:
    return target + torch.rand(2) * random.random()


class Shared:
    """A function of the functional module of either package, for data sets that crop two pictures alike."""

    def __init__(self, package: Any) -> None:
        self.crop = (TF if package is T else TVF).crop


class Pairs(Dataset):
    """A picture and its mask, cropped by one draw of the transform's own, as segmentation does."""

    def __init__(self, package: Any) -> None:
        self.package, self.crop = package, Shared(package).crop
        self.jitter = package.Compose([package.ColorJitter(0.3, 0.3), package.RandomGrayscale(0.3), package.ToTensor()])

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        picture = photo("chelsea", 60 + index, 70)
        box = self.package.RandomCrop.get_params(picture, (32, 40))
        mask = self.crop(picture.convert("L"), *box)
        return {"image": self.jitter(self.crop(picture, *box)), "mask": torch.from_numpy(np.array(mask))}


class Several(Pairs):
    """Hands out samples many at a time."""

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [(index, self[index]["image"]) for index in indices]


class Drawing(Pairs):
    """Draws by itself from one of the global generators."""

    def __init__(self, package: Any, draw: Callable[[], float] = random.random) -> None:
        super().__init__(package)
        self.draw = draw

    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index)["image"] * self.draw(), index


def torch_draw() -> float:
    return float(torch.rand(1))


def numpy_draw() -> float:
    return float(np.random.rand())  # noqa: NPY002


def mixed(samples: list[Any]) -> Any:
    """A collate function that draws from all generators, as mixup does."""
    images, targets = default_collate(samples)
    weight = random.random() + torch_draw() + numpy_draw()
    return images * weight, targets


def listed(samples: list[Any]) -> list[Any]:
    """A collate function that draws nothing."""
    return samples


def generators() -> tuple[Any, ...]:
    """Where the global generators are."""
    return torch.get_rng_state(), random.getstate(), numpy_state()


def run(cls: Any, dataset: Any, epochs: int = 2, stop: int | None = None, **options: Any) -> list[Any]:
    """All that a loader gives in some epochs, and the global generators after each batch.

    Args:
        stop: how many batches are taken of each epoch but the last one.
    """
    seed_all(5)
    given: list[Any] = []
    loader = cls(dataset, **options)
    for epoch in range(epochs):
        for number, batch in enumerate(loader):
            given += [batch, generators()]
            if stop is not None and epoch < epochs - 1 and number + 1 == stop:
                break
        given.append(generators())
    return given


def same(one: Any, other: Any) -> bool:
    """Whether two results are the same, in every bit and type."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return (
            type(one) is type(other) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
