"""Images of data sets whose pipeline threads can run: those of folders, of tar files, and of arrays in memory."""

from __future__ import annotations

import contextlib
import functools
import sys
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch.utils.data import ConcatDataset, Subset

from fastaug._batch.methods import BatchPipeline
from fastaug._batch.sources import Rows
from fastaug._draft.call import PLAIN, Call, Drawing
from fastaug._draft.generators import Generators, untouched
from fastaug._draft.known import draws_nothing, unknown
from fastaug._draft.outline import Outline
from fastaug._draft.pipeline import Pipeline
from fastaug._image.lazy import LazyImage
from fastaug._program.kinds import PIL_IMAGE, TENSOR
from fastaug._sample.pipeline import SamplePipeline
from fastaug._views.views import Views
from fastaug.data._tar import TarDataset
from fastaug.io import lazy


@dataclass
class Images:
    """The images of a data set, or of a subset of it, with one pipeline."""

    subsets: list[Sequence[int]]  # the indices of nested subsets, from the outermost one
    transform: BatchPipeline
    target_transform: Any

    #: Returns the handle of an encoded image.
    handle: Callable[[Any], LazyImage]

    @staticmethod
    def of(dataset: Any) -> Images | None:
        """Return the images of a data set that known code looks up and only opens, or None."""
        subsets = []
        while isinstance(dataset, Subset):
            if overrides(dataset, Subset, "__getitem__", "__getitems__"):
                return None
            subsets.append(dataset.indices)
            dataset = dataset.dataset
        kinds: tuple[Any, ...] = (Folder, Tar, Arrays, Parts)
        return next((found for kind in kinds if (found := kind.in_subsets(dataset, subsets)) is not None), None)

    @abstractmethod
    def item(self, index: Any, opened: bool = True) -> tuple[Any, Any]:
        """Return an image as the pipeline gets it, and its target. Unless `opened`, it may be a path instead."""

    def items(
        self, indices: Sequence[Any], opened: bool, errors: dict[int, Exception]
    ) -> tuple[Sequence[Any], list[Any]]:
        """Return images and targets of these indices. Where there is an error, it is added to `errors` by position."""
        together = None if opened else self._together(indices)
        if together is not None:
            return together
        found: list[tuple[Any, Any]] = []
        for position, index in enumerate(indices):
            try:
                found.append(self.item(index, opened))
            except Exception as error:  # noqa: PERF203
                errors[position] = error
                found.append((None, None))
        return [item for item, _ in found], [target for _, target in found]

    def _together(self, indices: Sequence[Any]) -> tuple[Sequence[Any], list[Any]] | None:
        """Return unopened images and targets that are looked up in a row, or None where they are one by one."""
        return None

    @functools.cached_property
    def is_quiet(self) -> bool:
        """True if only the pipeline may draw."""
        return draws_nothing(self.target_transform)

    def _within(self, index: Any) -> Any:
        """Return the index in the data set for one in the outermost subset."""
        for indices in self.subsets:
            index = indices[index]
        return index


@dataclass
class Folder(Images):
    """The files of a folder."""

    samples: Sequence[tuple[str, Any]]  # path of the image, and target

    @classmethod
    def in_subsets(cls, dataset: Any, subsets: list[Sequence[int]]) -> Folder | None:
        folders = sys.modules.get("torchvision.datasets.folder")
        if folders is None or not isinstance(dataset, folders.DatasetFolder):
            return None
        transform = _transform_of(dataset, folders.DatasetFolder)
        handle = _handle_of(dataset.loader, folders)
        if transform is None or handle is None:
            return None
        return cls(subsets, transform, dataset.target_transform, handle, dataset.samples)

    def item(self, index: Any, opened: bool = True) -> tuple[Any, Any]:
        path, target = self.samples[self._within(index)]
        return self.handle(path) if opened or type(path) is not str else path, target

    def _together(self, indices: Sequence[Any]) -> tuple[list[str], list[Any]] | None:
        """Return paths and targets of these indices, or None if one is an error or something else."""
        try:
            for subset in self.subsets:
                indices = [subset[index] for index in indices]
            samples = [self.samples[index] for index in indices]
            paths = [path for path, _ in samples if type(path) is str]
            targets = [target for _, target in samples]
        except Exception:
            return None
        return (paths, targets) if len(paths) == len(targets) else None


@dataclass
class Tar(Images):
    """The members of tar files."""

    dataset: TarDataset

    @classmethod
    def in_subsets(cls, dataset: Any, subsets: list[Sequence[int]]) -> Tar | None:
        if not is_tar(dataset):
            return None
        transform = _transform_of(dataset, TarDataset)
        return None if transform is None else cls(subsets, transform, dataset.target_transform, LazyImage, dataset)

    def item(self, index: Any, opened: bool = True) -> tuple[Any, Any]:
        member, target = self.dataset._entry(self._within(index))
        return self.handle(member) if opened else member, target


def is_tar(dataset: Any) -> bool:
    """Return whether a data set looks samples up as TarDataset does."""
    if not isinstance(dataset, TarDataset):
        return False
    cls = type(dataset)
    own = ("__getitem__", "__getitems__", "__getattribute__", "_entry")
    return not overrides(dataset, TarDataset, *own) and not any(hasattr(cls, name) for name in _CALLABLES)


_CALLABLES = ("transform", "target_transform")


class _Kind(NamedTuple):
    """A class of torchvision.datasets whose images lie in an array, its attribute `data`."""

    module: str
    name: str
    labels: str  # the attribute
    channels: int
    planes: bool = False  # the array is [N, C, H, W]
    as_int: bool = True  # labels become Python's integers


_KINDS = (
    _Kind("cifar", "CIFAR10", "targets", 3, as_int=False),
    _Kind("mnist", "MNIST", "targets", 1),
    _Kind("semeion", "SEMEION", "labels", 1),
    _Kind("stl10", "STL10", "labels", 3, planes=True),
    _Kind("svhn", "SVHN", "labels", 3, planes=True),
    _Kind("usps", "USPS", "targets", 1),
)


@dataclass
class Arrays(Images):
    """Images that lie in one array, of which torchvision makes PIL images."""

    kind: _Kind
    data: Any
    labels: Any
    pixels: np.ndarray  # `data` as [N, H, W, C]

    @classmethod
    def in_subsets(cls, dataset: Any, subsets: list[Sequence[int]]) -> Arrays | None:
        for kind in _KINDS:
            base = getattr(sys.modules.get(f"torchvision.datasets.{kind.module}"), kind.name, None)
            if base is not None and isinstance(dataset, base):
                break
        else:
            return None
        parts = ("data", kind.labels, "transform", "target_transform")
        own = vars(dataset)
        if not own.keys() >= set(parts) or any(hasattr(type(dataset), part) for part in parts):
            return None
        transform = _transform_of(dataset, base)
        pixels = _pixels_of(own["data"], kind)
        if transform is None or pixels is None:
            return None
        labels = own[kind.labels]
        return cls(subsets, transform, own["target_transform"], LazyImage, kind, own["data"], labels, pixels)

    def item(self, index: Any, opened: bool = True) -> tuple[Any, Any]:
        index = self._within(index)
        pixels, label = self.data[index], self._label(index)
        if isinstance(pixels, torch.Tensor):
            pixels = pixels.numpy()
        return Image.fromarray(np.transpose(pixels, (1, 2, 0)) if self.kind.planes else pixels), label

    def _together(self, indices: Sequence[Any]) -> tuple[Rows, list[Any]] | None:
        """Return the images and labels, or None if one has another index than an integer, or an error."""
        count = len(self.pixels)
        with contextlib.suppress(Exception):  # the sample that has the error raises it
            numbers = [self._within(index) for index in indices] if self.subsets else indices
            if _INTEGERS.issuperset(map(type, numbers)) and -count <= min(numbers) and max(numbers) < count:
                return Rows(self.pixels, [int(number) % count for number in numbers]), self._labels_of(numbers)
        return None

    def _labels_of(self, numbers: Sequence[int]) -> list[Any]:
        labels = self.labels
        if not self.kind.as_int:
            return [labels[number] for number in numbers]
        if type(labels) in (np.ndarray, torch.Tensor):
            array = np.asarray(labels)
            if array.ndim == 1 and array.dtype.kind in "iu":
                integers: list[int] = array[list(numbers)].tolist()
                return integers
        return [self._label(number) for number in numbers]

    def _label(self, index: Any) -> Any:
        if not self.kind.as_int:
            return self.labels[index]
        return None if self.labels is None else int(self.labels[index])


@dataclass
class Parts(Images):
    """The images of several data sets with one transform, one after the other."""

    dataset: ConcatDataset[Any]
    parts: list[Images]
    same_targets: bool  # the data sets have one target_transform

    @classmethod
    def in_subsets(cls, dataset: Any, subsets: list[Sequence[int]]) -> Parts | None:
        if not isinstance(dataset, ConcatDataset) or overrides(dataset, ConcatDataset, "__getitem__", "__getitems__"):
            return None
        parts: list[Images] = []
        for one in dataset.datasets:
            part = Images.of(one)
            if part is None or (parts and part.transform is not parts[0].transform):
                return None
            parts.append(part)
        first = parts[0]
        same = all(part.target_transform is first.target_transform for part in parts)
        change = first.target_transform if same else _changed
        return cls(subsets, first.transform, change, first.handle, dataset, parts, same)

    def item(self, index: Any, opened: bool = True) -> tuple[Any, Any]:
        index, ends = self._within(index), self.dataset.cumulative_sizes
        if index < 0:
            if -index > ends[-1]:
                raise ValueError("absolute value of index should not exceed dataset length")
            index += ends[-1]
        number = bisect_right(ends, index)
        part = self.parts[number]
        image, target = part.item(index - ends[number - 1] if number else index, opened or part.handle != self.handle)
        return image, target if self.same_targets else (part.target_transform, target)

    @functools.cached_property
    def is_quiet(self) -> bool:
        return all(part.is_quiet for part in self.parts)


def _changed(pair: tuple[Any, Any]) -> Any:
    change, target = pair
    return target if change is None else change(target)


# The types of indices that look up one row of an array.
_INTEGERS = frozenset((int, np.int32, np.int64))


def _pixels_of(data: Any, kind: _Kind) -> np.ndarray | None:
    """Return the array of a data set as [N, H, W, C], or None if it is not the one that torchvision's code makes."""
    if type(data) is torch.Tensor:
        plain = data.is_cpu and data.layout is torch.strided and data.dtype is torch.uint8
        data = data.numpy() if plain else None
    if type(data) is not np.ndarray or data.dtype != np.uint8 or not data.size:
        return None
    array: np.ndarray = data
    if kind.channels == 1:
        return array[..., None] if array.ndim == 3 else None
    if kind.planes and array.ndim == 4:
        array = array.transpose(0, 2, 3, 1)
    return array if array.ndim == 4 and array.shape[3] == kind.channels else None


def _transform_of(dataset: Any, base: type) -> BatchPipeline | None:
    """Return the pipeline of a data set that looks samples up as its base does, or None."""
    if overrides(dataset, base, "__getitem__") or hasattr(dataset, "__getitems__"):
        return None
    transform = dataset.transform
    return transform if isinstance(transform, BatchPipeline) and transform._is_own() else None


def overrides(dataset: Any, cls: type, *names: str) -> bool:
    return any(getattr(type(dataset), name, None) is not getattr(cls, name, None) for name in names)


def _handle_of(loader: Any, folders: Any) -> Any:
    if loader is lazy or (isinstance(loader, functools.partial) and loader.func is lazy):
        return loader
    if loader is folders.pil_loader:
        return LazyImage
    if loader is folders.default_loader and sys.modules["torchvision"].get_image_backend() == "PIL":
        return LazyImage
    return None


def is_drafted(images: Images, index: Any) -> bool:
    """Return whether all transforms of one of the images are drafted, and give pixels alone."""
    # User callables may draw from the process's generators.
    kept = contextlib.nullcontext() if unknown(images.transform, generator=True) is None else untouched()
    with kept, contextlib.suppress(Exception):  # an error of the sample is raised in its turn
        image, _ = images.item(index)
        with Generators().in_thread():
            return _follows(images.transform, image, PLAIN.like(tape=Drawing()))
    return True


def _follows(pipeline: Pipeline, image: Any, call: Call) -> bool:
    if isinstance(pipeline, Views):
        views = pipeline._begin(image, call)
        pipeline._draft_all(views)
        call.draws.release()
        jobs = views.jobs()
        return not views.settled and jobs is not None and jobs.kind == TENSOR
    if isinstance(pipeline, SamplePipeline):
        sample = pipeline._begin(image, call)
        first = None if sample.alone is None else sample.alone.image
        pipeline._draft_all(sample)
        call.draws.release()
        draft = sample.alone
        # Immediate ops and user callables replace the image of the draft.
        return draft is not None and draft.image is first and draft.kind != PIL_IMAGE
    outline = Outline(image, call)
    pipeline._draft_all(outline)
    call.draws.release()
    return not outline.asked and outline.kind != PIL_IMAGE
