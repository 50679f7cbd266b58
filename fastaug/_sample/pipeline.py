"""Pipelines of v2: one call over all transforms and all leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils._pytree import tree_map_only

from fastaug._draft.call import Call
from fastaug._draft.pipeline import Pipeline, checked_size
from fastaug._program.eager import compiling
from fastaug._program.job import Job
from fastaug._sample.sample import Sample


def is_size(size: Any) -> bool:
    """Return whether this is an int or a pair of ints, instead of a sample."""
    pair = isinstance(size, (tuple, list)) and len(size) == 2 and all(type(side) is int for side in size)
    return pair or isinstance(size, int)


def sample_of(size: Any) -> Any:
    """Return a black RGB image of a size, (height, width) or an int for a square, or the sample that was given."""
    if not is_size(size):
        return size
    height, width = checked_size(size)
    return Image.new("RGB", (width, height))


def _as_tensor(array: np.ndarray, transforms: Any) -> Any:
    """Return an HWC array of bytes as the tensor of which ToImage makes the same; any other array itself.

    The core takes tensors. This is torchvision's own conversion: it copies, so no result is in the array's memory.
    """
    takes = bool(transforms) and getattr(type(transforms[0]), "_takes_arrays", False)
    if not takes or array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] == 1:
        return array
    if not (array.flags.writeable and array.flags.c_contiguous):
        return array
    return torch.from_numpy(array).permute(2, 0, 1).contiguous()


class SamplePipeline(Pipeline):
    """A pipeline whose transforms change whole samples, in one call."""

    @abstractmethod
    def _draft_some(self, draft: Sample, transforms: Iterable[Any]) -> None: ...

    def _called(self, inputs: tuple[Any, ...]) -> Any:
        if not compiling():
            unpacked = len(inputs) != 1
            given: Any = inputs if unpacked else inputs[0]
            result = self._array_at_once(given) if type(given) is np.ndarray else self._at_once(given, unpacked)
            if result is not NotImplemented:
                return result
        return self._by_python(*inputs)

    def _array_at_once(self, array: np.ndarray) -> Any:
        book = self._own_book()
        given = _as_tensor(array, self.transforms) if book.takes_arrays and book.recipe is not None else array
        result = self._at_once(given)
        if given is not array and result is NotImplemented:
            # Where nothing may happen to an image, the copy would often be in vain.
            book.takes_arrays = False
        return result

    def _by_python(self, *inputs: Any) -> Any:
        return self._done(Sample(inputs, self._call))

    def _through(self, img: Any, transforms: Sequence[Any], last: bool, unpacked: bool) -> Any:
        sample = Sample((img,), self._call)
        sample.unpacked = unpacked
        try:
            self._draft_some(sample, transforms)
            return self._delivered(sample) if last else sample.finish(False)
        finally:
            sample.call.draws.release()

    def _drafted(self, image: Any, call: Call) -> Sample:
        return Sample((image,), call)

    def _begin(self, image: Any, call: Call) -> Any:
        return Sample((image,), call.like(tape=None))

    def _delivered(self, draft: Any) -> Any:
        return self._formatted(draft.finish())

    def _job(self, draft: Any) -> Job | None:
        return super()._job(draft.alone)

    def _presented(self, drawn: Any, result: Any) -> Any:
        leaf = drawn.leaves[0]
        result = super()._presented(leaf, result)
        return result if leaf.cls is None else result.as_subclass(leaf.cls)

    def _outlined(self, size: Any, call: Call) -> Any:
        # Of copies, since some transforms write to their input where they are asked to.
        return Sample((tree_map_only(torch.Tensor, torch.Tensor.clone, sample_of(size)),), call)

    def replay(self, image: Any, params: Any, subset: bool = False) -> Any:
        if subset:
            raise ValueError("subset is of pipelines of single images: a sample is transformed as a whole")
        return super().replay(image, params)
