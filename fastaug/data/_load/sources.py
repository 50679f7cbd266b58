"""What a DataLoader takes samples from, and what of it threads can do."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

from torch.utils.data import Subset

from fastaug._batch.methods import BatchPipeline
from fastaug._image.lazy import LazyImage
from fastaug.io import lazy


class Folder:
    """A folder of images of torchvision's, or a part of one, whose images go through one pipeline.

    Args:
        samples: the paths of the images, and what goes with each.
        subsets: from the outermost to the innermost, which of the next one's samples each has.
        transform: of the images.
        target_transform: of what goes with them.
        handle: of a path.
    """

    def __init__(
        self,
        samples: Sequence[tuple[str, Any]],
        subsets: list[Sequence[int]],
        transform: BatchPipeline,
        target_transform: Any,
        handle: Any,
    ) -> None:
        self.transform = transform
        self.target_transform = target_transform
        self._samples = samples
        self._subsets = subsets
        self._handle = handle

    def __getitem__(self, index: Any) -> tuple[LazyImage, Any]:
        """A handle of the image, and what goes with it."""
        for indices in self._subsets:
            index = indices[index]
        path, target = self._samples[index]
        return self._handle(path), target

    @classmethod
    def of(cls, dataset: Any) -> Folder | None:
        """None of any other data set."""
        subsets = []
        while isinstance(dataset, Subset):
            if _overrides(dataset, Subset, "__getitem__", "__getitems__"):
                return None
            subsets.append(dataset.indices)
            dataset = dataset.dataset
        folders = sys.modules.get("torchvision.datasets.folder")
        if folders is None or not isinstance(dataset, folders.DatasetFolder):
            return None
        if _overrides(dataset, folders.DatasetFolder, "__getitem__") or hasattr(dataset, "__getitems__"):
            return None
        transform = dataset.transform
        if not isinstance(transform, BatchPipeline) or not transform._is_own():
            return None
        handle = _handle_of(dataset.loader, folders)
        if handle is None:
            return None
        return cls(dataset.samples, subsets, transform, dataset.target_transform, handle)


def _overrides(dataset: Any, cls: type, *names: str) -> bool:
    return any(getattr(type(dataset), name, None) is not getattr(cls, name, None) for name in names)


def _handle_of(loader: Any, folders: Any) -> Any:
    """What makes handles of what a loader of a folder makes images of; None if that is not known."""
    if loader is lazy or (isinstance(loader, functools.partial) and loader.func is lazy):
        return loader
    if loader is folders.pil_loader:
        return LazyImage
    if loader is folders.default_loader and sys.modules["torchvision"].get_image_backend() == "PIL":
        return LazyImage
    return None
