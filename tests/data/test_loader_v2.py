"""Loaders of pipelines of transforms.v2: torchvision's batches, by threads where torch has processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from loader_cases import COUNT, generators
from PIL import Image
from torch.utils._pytree import tree_flatten
from torch.utils.data import Dataset
from torchvision import tv_tensors as tvt
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2 as TV

import fastaug
import fastaug.io
from fastaug.data import DataLoader
from fastaug.transforms import v2 as T
from support.images import PHOTOS, photo
from support.outcomes import seed_all
from support.processes import START_METHODS
from support.random_samples import boxes, mask

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def end(v2: Any) -> list[Any]:
    return [v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5, 0.4, 0.6], [0.2, 0.3, 0.25])]


def native(v2: Any) -> Any:
    return v2.Compose([v2.RandomResizedCrop(24), v2.RandomHorizontalFlip(), v2.RandAugment(), v2.ToImage(), *end(v2)])


def first(v2: Any) -> Any:
    return v2.Compose([v2.ToImage(), v2.RandomResizedCrop(24), v2.ColorJitter(0.4, 0.4), *end(v2), v2.ToPureTensor()])


def noisy(v2: Any) -> Any:
    return v2.Compose([v2.ToImage(), v2.RandomResizedCrop(24), *end(v2), v2.RandomErasing(0.5, value="random")])


def doubled(image: Any) -> Any:
    return image * 2


def called(v2: Any) -> Any:
    return v2.Compose([v2.ToImage(), v2.RandomResizedCrop(24), *end(v2), doubled])


PIPELINES: dict[str, Callable[[Any], Any]] = {make.__name__: make for make in (native, first, noisy, called)}
#: Whether each image is made by what is known of the pipeline, straight into the tensor of its batch.
KNOWN = ("native", "first")


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    (one, structure), (other, expected) = tree_flatten(ours), tree_flatten(theirs)
    assert structure == expected
    for leaf, reference in zip(one, other, strict=True):
        assert type(leaf) is type(reference)
        if isinstance(reference, torch.Tensor):
            assert torch.equal(leaf.as_subclass(torch.Tensor), reference.as_subclass(torch.Tensor))
        else:
            assert leaf == reference


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", PIPELINES)
def test_folders(name: str, workers: int, pictures: Path) -> None:
    make = PIPELINES[name]
    options: dict[str, Any] = {"batch_size": 5, "shuffle": True, "num_workers": workers}
    seed_all(3)
    theirs = list(torch.utils.data.DataLoader(ImageFolder(str(pictures), make(TV)), **options))
    after = generators()
    for transform in (make(T), fastaug.compile(make(TV))):
        for given in ({}, {"loader": fastaug.io.lazy}):
            seed_all(3)
            loader = DataLoader(ImageFolder(str(pictures), transform, **given), **options)
            assert_same(list(loader), theirs)
            assert all(torch.equal(*pair) for pair in zip(generators()[:1], after[:1]))
            assert (loader.profile().read > 0) == (name in KNOWN)


def test_a_subclass_of_the_users_is_called(pictures: Path) -> None:
    class Darker(T.Compose):
        def forward(self, *inputs: Any) -> Any:
            return super().forward(*inputs) / 2

    class Named(T.Compose):
        """A pipeline."""

    whole = native(T)
    assert whole._is_own() and Named(whole.transforms)._is_own()
    darker = Darker(whole.transforms)
    assert not darker._is_own()
    images = [photo(PHOTOS[0], 40, 50)] * 3
    assert torch.equal(darker.batch(images, seeds=[1, 2, 3]), whole.batch(images, seeds=[1, 2, 3]) / 2)
    seen: list[Any] = []
    whole.register_forward_hook(lambda module, inputs, result: seen.append(result))
    assert not whole._is_own()
    whole.batch(images)
    assert len(seen) == 3


class Detection(Dataset[Any]):
    """Images with boxes, masks and labels, whole samples through one pipeline."""

    def __init__(self, v2: Any) -> None:
        fill = {tvt.Mask: 0, "others": 7}
        crop = [v2.RandomZoomOut(fill), v2.RandomIoUCrop(), v2.RandomHorizontalFlip(), v2.SanitizeBoundingBoxes()]
        self.transform = v2.Compose([v2.ToImage(), v2.RandomPhotometricDistort(), *crop, v2.Resize((24, 24)), *end(v2)])

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        image = photo(PHOTOS[index % 4], 50 + index, 70)
        canvas = (image.height, image.width)
        target = {
            "boxes": boxes("XYWH", 3, canvas, "float32", "soft", index),
            "masks": mask("uint8", index, 3, *canvas),
            "labels": torch.arange(3),
        }
        return self.transform(image, target)


def listed(samples: list[Any]) -> list[Any]:
    return samples


@pytest.mark.parametrize("workers", [0, 2])
def test_samples(workers: int) -> None:
    options: dict[str, Any] = {"batch_size": 4, "num_workers": workers, "collate_fn": listed, "shuffle": True}
    results = []
    for kind, v2 in ((torch.utils.data.DataLoader, TV), (torch.utils.data.DataLoader, T), (DataLoader, T)):
        seed_all(4)
        results.append(list(kind(Detection(v2), **options)))
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


@pytest.mark.parametrize("context", START_METHODS)
def test_worker_processes(context: str, pictures: Path) -> None:
    results = []
    for transform in (noisy(TV), noisy(T), fastaug.compile(noisy(TV))):
        folder = ImageFolder(str(pictures), transform)
        seed_all(3)
        options: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": context, "batch_size": 4}
        results.append(list(torch.utils.data.DataLoader(folder, **options)))
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


def test_a_generator_of_its_own(pictures: Path) -> None:
    """Each worker goes on from it in a way of its own, and a loader gives the same each time."""
    results = []
    for _ in range(2):
        seed_all(3)
        compiled = fastaug.compile(first(TV), generator=torch.Generator().manual_seed(8), dtype=torch.float16)
        loader = DataLoader(ImageFolder(str(pictures), compiled), batch_size=4, num_workers=2)
        results.append(list(loader))
    assert_same(results[0], results[1])
    assert results[0][0][0].dtype == torch.float16
    assert not torch.equal(results[0][0][0], results[0][1][0])


def test_broken_files_are_named(pictures: Path, tmp_path: Path) -> None:
    for number in range(6):
        Image.new("RGB", (40, 30), (number, 0, 0)).save(tmp_path / f"{number}.png")
    (tmp_path / "one").mkdir()
    for path in tmp_path.glob("*.png"):
        path.rename(tmp_path / "one" / path.name)
    broken = tmp_path / "one" / "3.png"
    broken.write_bytes(broken.read_bytes()[:60])
    loader = DataLoader(ImageFolder(str(tmp_path), first(T)), batch_size=2, num_workers=2)
    iterator = iter(loader)
    next(iterator)
    with pytest.raises(OSError) as caught:
        next(iterator)
    assert caught.value.index == 3 and caught.value.path == str(broken)  # type: ignore[attr-defined]
    assert next(iterator)[0].shape == (2, 3, 24, 24)
