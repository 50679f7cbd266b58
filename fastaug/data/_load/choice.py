"""What makes the samples of a loader: threads, for what is known to draw nothing by itself; else what torch has."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import ConcatDataset, IterableDataset, MapDataPipe, Subset, TensorDataset

from fastaug._draft.known import is_plain, named, unknown
from fastaug._draft.pipeline import Pipeline
from fastaug.data._load.sources import Folder

_LISTS = (list, tuple)
_INDICES = (list, tuple, range, np.ndarray, torch.Tensor)

# Classes of torchvision.datasets that look a sample up, read its file, and call their transforms; and nothing else.
_LOOKED_UP = frozenset([
    "CIFAR10", "CIFAR100", "CLEVRClassification", "Caltech101", "Caltech256", "CelebA", "Cityscapes", "DTD",
    "EMNIST", "FER2013", "FGVCAircraft", "FashionMNIST", "Flowers102", "Food101", "GTSRB", "INaturalist",
    "Imagenette", "KMNIST", "LFWPairs", "LFWPeople", "MNIST", "Omniglot", "OxfordIIITPet", "Places365", "QMNIST",
    "RenderedSST2", "SEMEION", "STL10", "SUN397", "SVHN", "StanfordCars", "USPS", "VOCDetection", "VOCSegmentation",
])  # fmt: skip

#: What to do about it, where threads would be fit.
PROMISE = (
    "threads=True is the promise that it draws by transforms of fastaug alone and may be called by several threads"
)


class LoaderChoice(NamedTuple):
    """What makes the samples of a :class:`fastaug.data.DataLoader`, and why. Print it.

    ``threads`` is whether threads do it; ``made`` names what does, and ``reason`` says why, in words.

    Example:
        >>> import torch
        >>> from fastaug.data import DataLoader
        >>> print(DataLoader(torch.utils.data.TensorDataset(torch.arange(4)), num_workers=2).explain())
        threads make the samples: all of TensorDataset is known to draw nothing by itself
    """

    threads: bool
    made: str
    reason: str

    def __str__(self) -> str:
        return f"{self.made} make{'s' * self.made.startswith('next')} the samples: {self.reason}"


def choice_of(loader: Any) -> LoaderChoice:
    """What makes the samples of a loader, by what its arguments and its data set are. Nothing of these is called."""
    dataset, workers = loader.dataset, loader.num_workers
    folder = Folder.of(dataset) if loader._auto_collation else None
    reason = _needs_torch(loader)
    if reason is None and not workers and folder is None:
        reason = "there are no workers, and threads make the images of a folder alone without them"
    if reason is None and loader.threads is None:
        reason = _unknown(loader, folder)
    if reason is None and folder is None and (owner := _with_generator(dataset)) is not None:
        reason = f"{owner} draws from a generator of its own"
    if reason is not None:
        return LoaderChoice(False, "worker processes" if workers else "next()", reason)
    if loader.threads:
        return LoaderChoice(True, "threads", "threads=True promises that this is right")
    return LoaderChoice(True, "threads", f"all of {type(dataset).__name__} is known to draw nothing by itself")


def _needs_torch(loader: Any) -> str | None:
    """What of the arguments only torch's iterators do."""
    if isinstance(loader.dataset, (IterableDataset, MapDataPipe)):
        return f"{type(loader.dataset).__name__} has no indices, or is a DataPipe"
    if loader.threads is False:
        return "threads=False"
    if loader.num_workers:
        given = {
            "worker_init_fn": loader.worker_init_fn is not None,
            "multiprocessing_context": loader.multiprocessing_context is not None,
            "timeout": loader.timeout > 0,
        }
        for name, is_given in given.items():
            if is_given:
                return f"{name} is for processes"
    return None


def _unknown(loader: Any, folder: Folder | None) -> str | None:
    collate = unknown(loader.collate_fn)
    return unknown_data(loader.dataset, folder is not None) if collate is None else f"of collate_fn, {collate}"


def unknown_data(dataset: Any, folder: bool = False) -> str | None:
    """What of a data set is not known to draw nothing by itself, in words; None if all is known.

    Args:
        folder: whether a transform may have a generator of its own, since all draws are made by one thread.
    """
    cls = type(dataset)
    if "__getitems__" in getattr(dataset, "__dict__", {}):
        return named(dataset)
    if cls in (Subset, ConcatDataset):
        parts = [dataset.dataset] if cls is Subset else dataset.datasets
        if cls is Subset and type(dataset.indices) not in _INDICES:
            return named(dataset.indices)
        return next((found for part in parts if (found := unknown_data(part, folder)) is not None), None)
    if cls is TensorDataset:
        return next((named(one) for one in dataset.tensors if type(one) is not torch.Tensor), None)
    if cls in (range, torch.Tensor, str, bytes) or (cls is np.ndarray and not dataset.dtype.hasobject):
        return None
    if cls in (list, tuple, dict, OrderedDict):
        return None if is_plain(dataset) else f"what is in a {cls.__name__} is not all numbers, arrays and images"
    if _is_folder(dataset) or _is_looked_up(cls):
        return _unknown_parts(dataset, folder)
    return named(dataset)


def _is_folder(dataset: Any) -> bool:
    folders = sys.modules.get("torchvision.datasets.folder")
    if folders is None or not isinstance(dataset, folders.DatasetFolder):
        return False
    cls = type(dataset)
    same = all(
        getattr(cls, name, None) is getattr(folders.DatasetFolder, name, None)
        for name in ("__getitem__", "__getitems__", "__getattribute__")
    )
    parts = ("loader", "samples", "transform", "target_transform")
    return same and not any(hasattr(cls, name) for name in parts) and type(dataset.samples) in _LISTS


def _is_looked_up(cls: type) -> bool:
    if cls.__name__ not in _LOOKED_UP or not cls.__module__.startswith("torchvision.datasets."):
        return False
    return getattr(sys.modules.get("torchvision.datasets"), cls.__name__, None) is cls


def _unknown_parts(dataset: Any, generator: bool) -> str | None:
    """Of a data set of torchvision's: what it calls."""
    vision = sys.modules["torchvision.datasets.vision"]
    own = vars(dataset)
    for name in ("loader", "transform", "target_transform", "transforms"):
        part = own.get(name)
        if name == "transforms" and type(part) is vision.StandardTransform:
            parts = [part.transform, part.target_transform]
        else:
            parts = [part]
        for one in parts:
            if (found := unknown(one, generator=generator and name != "target_transform")) is not None:
                return f"of its {name}, {found}"
    return None


def _with_generator(dataset: Any) -> str | None:
    """The class of a transform of the data set that draws from a generator of its own, which threads would share."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    for value in getattr(dataset, "__dict__", {}).values():
        if isinstance(value, Pipeline) and value._call.draws.generator is not None:
            return type(value).__name__
    return None
