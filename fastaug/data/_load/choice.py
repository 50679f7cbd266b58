"""The choice between threads and torch's iterators, by what is known to draw nothing by itself."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import ConcatDataset, IterableDataset, MapDataPipe, Subset, TensorDataset

from fastaug._draft.known import draws_nothing, is_plain, named, unknown
from fastaug._draft.pipeline import Pipeline
from fastaug.data._load.sources import Images, is_tar, overrides

_LISTS = (list, tuple)
_INDICES = (list, tuple, range, np.ndarray, torch.Tensor)

# Classes of torchvision.datasets that only look a sample up, read its file, and call their transforms.
_LOOKED_UP = frozenset([
    "CIFAR10", "CIFAR100", "CLEVRClassification", "Caltech101", "Caltech256", "CelebA", "Cityscapes", "DTD",
    "EMNIST", "FER2013", "FGVCAircraft", "FashionMNIST", "Flowers102", "Food101", "GTSRB", "INaturalist",
    "Imagenette", "KMNIST", "LFWPairs", "LFWPeople", "MNIST", "Omniglot", "OxfordIIITPet", "Places365", "QMNIST",
    "RenderedSST2", "SEMEION", "STL10", "SUN397", "SVHN", "StanfordCars", "USPS", "VOCDetection", "VOCSegmentation",
])  # fmt: skip

#: The advice where threads would be right.
PROMISE = (
    "threads=True is the promise that it draws by transforms of fastaug alone and may be called by several threads"
)


class LoaderChoice(NamedTuple):
    """The way in which a :class:`fastaug.data.DataLoader` makes its samples. Print it.

    ``threads`` is true for threads, ``made`` names what makes the samples, and ``reason`` explains it.

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
    """Choose by the arguments and the data set of a loader, without calling them."""
    dataset, workers = loader.dataset, loader.num_workers
    images = Images.of(dataset) if loader._auto_collation else None
    reason, what = _needs_torch(loader), "all"
    if reason is None and not workers and images is None:
        reason = "there are no workers, and threads make the images of a folder or an array alone without them"
    if reason is None and loader.threads is None:
        collate = unknown(loader.collate_fn)
        reason = unknown_data(dataset, images is not None) if collate is None else f"of collate_fn, {collate}"
        if reason is not None and collate is None and images is not None and not workers:
            # next() calls a target_transform in a loop's order.
            reason, what = unknown_data(dataset, True, targets=False), "all but the target_transform"
    if reason is None and images is None and (owner := _with_generator(dataset)) is not None:
        reason = f"{owner} draws from a generator of its own"
    if reason is not None:
        return LoaderChoice(False, "worker processes" if workers else "next()", reason)
    if loader.threads:
        return LoaderChoice(True, "threads", "threads=True promises that this is right")
    return LoaderChoice(True, "threads", f"{what} of {type(dataset).__name__} is known to draw nothing by itself")


def _needs_torch(loader: Any) -> str | None:
    if isinstance(loader.dataset, (IterableDataset, MapDataPipe)):
        return f"{type(loader.dataset).__name__} has no indices, or is a DataPipe"
    if loader.threads is False:
        return "threads=False"
    if loader.num_workers:
        for name in ("worker_init_fn", "multiprocessing_context", "timeout"):
            if getattr(loader, name) not in (None, 0):
                return f"{name} is for processes"
    return None


def unknown_data(dataset: Any, generator: bool = False, targets: bool = True) -> str | None:
    """Return the part of a data set that may draw by itself, in words; None if there is none.

    With `generator`, transforms may have their own generators, because one thread makes all draws. Without `targets`, a
    target_transform may do anything.
    """
    cls = type(dataset)
    if "__getitems__" in getattr(dataset, "__dict__", {}):
        return named(dataset)
    if cls in (Subset, ConcatDataset):
        parts = [dataset.dataset] if cls is Subset else dataset.datasets
        if cls is Subset and type(dataset.indices) not in _INDICES:
            return named(dataset.indices)
        return next((found for part in parts if (found := unknown_data(part, generator, targets)) is not None), None)
    if cls is TensorDataset:
        return next((named(one) for one in dataset.tensors if type(one) is not torch.Tensor), None)
    if cls in (range, torch.Tensor, str, bytes) or (cls is np.ndarray and not dataset.dtype.hasobject):
        return None
    if cls in (list, tuple, dict, OrderedDict):
        return None if is_plain(dataset) else f"what is in a {cls.__name__} is not all numbers, arrays and images"
    if _is_folder(dataset) or is_tar(dataset) or _is_looked_up(cls):
        return _unknown_parts(dataset, generator, targets)
    return named(dataset)


def _is_folder(dataset: Any) -> bool:
    folders = sys.modules.get("torchvision.datasets.folder")
    if folders is None or not isinstance(dataset, folders.DatasetFolder):
        return False
    cls = type(dataset)
    if overrides(dataset, folders.DatasetFolder, "__getitem__", "__getitems__", "__getattribute__"):
        return False
    parts = ("loader", "samples", "transform", "target_transform")
    return not any(hasattr(cls, name) for name in parts) and type(dataset.samples) in _LISTS


def _is_looked_up(cls: type) -> bool:
    if cls.__name__ not in _LOOKED_UP or not cls.__module__.startswith("torchvision.datasets."):
        return False
    return getattr(sys.modules.get("torchvision.datasets"), cls.__name__, None) is cls


def _unknown_parts(dataset: Any, generator: bool, targets: bool) -> str | None:
    """Do the same as `unknown_data` for the callables of a data set that only looks samples up."""
    standard = getattr(sys.modules.get("torchvision.datasets.vision"), "StandardTransform", None)
    own = vars(dataset)
    for name in ("loader", "transform", "target_transform", "transforms"):
        part = own.get(name)
        if name == "transforms" and type(part) is standard:
            parts = [part.transform, *([part.target_transform] if targets else [])]
        else:
            parts = [part] if targets or name != "target_transform" else []
        for one in parts:
            if name == "target_transform" and draws_nothing(one):
                continue
            if (found := unknown(one, generator=generator and name != "target_transform")) is not None:
                return f"of its {name}, {found}"
    return None


def _with_generator(dataset: Any) -> str | None:
    """Return the class of a transform whose own generator threads would share."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    for value in getattr(dataset, "__dict__", {}).values():
        if isinstance(value, Pipeline) and value._call.draws.generator is not None:
            return type(value).__name__
    return None
