"""Folders of images whose pipeline threads can run."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils.data import Subset

from fastaug._batch.methods import BatchPipeline
from fastaug._draft.call import PLAIN, Call, Drawing
from fastaug._draft.generators import untouched
from fastaug._draft.known import unknown
from fastaug._draft.outline import Outline
from fastaug._draft.pipeline import Pipeline
from fastaug._image.lazy import LazyImage
from fastaug._program.kinds import PIL_IMAGE, TENSOR
from fastaug._sample.pipeline import SamplePipeline
from fastaug._views.views import Views
from fastaug.data._load.streams import WorkerStream
from fastaug.io import lazy


@dataclass
class Folder:
    """A torchvision folder of images, or a subset, with one pipeline."""

    samples: Sequence[tuple[str, Any]]  # path of the image, and target
    subsets: list[Sequence[int]]  # the indices of nested subsets, from the outermost one
    transform: BatchPipeline
    target_transform: Any
    handle: Callable[[str], LazyImage]

    def __getitem__(self, index: Any) -> tuple[LazyImage, Any]:
        path, target = self.entry(index)
        return self.handle(path), target

    def entry(self, index: Any) -> tuple[str, Any]:
        """Return the path of an image, and its target."""
        for indices in self.subsets:
            index = indices[index]
        path, target = self.samples[index]
        return path, target

    @classmethod
    def of(cls, dataset: Any) -> Folder | None:
        subsets = []
        while isinstance(dataset, Subset):
            if overrides(dataset, Subset, "__getitem__", "__getitems__"):
                return None
            subsets.append(dataset.indices)
            dataset = dataset.dataset
        folders = sys.modules.get("torchvision.datasets.folder")
        if folders is None or not isinstance(dataset, folders.DatasetFolder):
            return None
        if overrides(dataset, folders.DatasetFolder, "__getitem__") or hasattr(dataset, "__getitems__"):
            return None
        transform = dataset.transform
        if not isinstance(transform, BatchPipeline) or not transform._is_own():
            return None
        handle = _handle_of(dataset.loader, folders)
        if handle is None:
            return None
        return cls(dataset.samples, subsets, transform, dataset.target_transform, handle)


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


def is_drafted(folder: Folder, index: Any) -> bool:
    """Return whether all transforms of an image of the folder are drafted, and give pixels alone."""
    # User callables may draw from the process's generators.
    kept = contextlib.nullcontext() if unknown(folder.transform, generator=True) is None else untouched()
    with kept, contextlib.suppress(Exception):  # an error of the sample is raised in its turn
        handle, _ = folder[index]
        draws = WorkerStream(0, 0)
        with draws.in_thread():
            return _follows(folder.transform, handle, PLAIN.like(tape=Drawing()))
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
