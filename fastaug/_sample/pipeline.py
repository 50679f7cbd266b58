"""What pipelines of v2 share: one call over all transforms and all leaves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from PIL import Image
from torch.utils._pytree import tree_map_only

from fastaug._draft import finish
from fastaug._draft.call import Call
from fastaug._draft.leaf import ImageDraft
from fastaug._draft.pipeline import Pipeline, checked_size
from fastaug._program.eager import compiling
from fastaug._program.job import Job
from fastaug._program.kinds import TENSOR
from fastaug._sample.observer import SampleObserver
from fastaug._sample.sample import Sample
from fastaug._sample.tape import SampleRecording, SampleReplaying, SampleTape


class DrawnSample(Sample):
    """A sample whose parameters are drawn, and that waits to be finished: what an outline is to a single image."""

    __slots__ = ()

    # There are no drafts of floats among leaves.
    floats = False

    @property
    def alone(self) -> Any:
        """The draft of an image that is all that there is to be done; None if there is other work."""
        if not self.rebuilt or self.spec is not None or type(self.leaves[0]) is not ImageDraft:
            return None
        return self.leaves[0]

    @property
    def complete(self) -> bool:
        """Whether there may be one job that does it."""
        draft = self.alone
        return draft is not None and draft.touched

    # Of the only image, for whoever has its job.

    @property
    def device(self) -> Any:
        draft = self.alone
        return None if draft is None else draft.device

    @property
    def source(self) -> Any:
        return self.leaves[0].source

    @property
    def image(self) -> Any:
        return self.leaves[0].image

    @property
    def kind(self) -> Any:
        """The container of the result, where that is an image."""
        draft = self.alone
        return TENSOR if draft is None else draft.kind

    @property
    def info(self) -> Any:
        return self.leaves[0].info

    def drafted(self) -> DrawnSample:
        return self

    def leave_device(self) -> None:
        """There is nothing to be moved before somebody finishes it."""


def sample_of(size: Any) -> Any:
    """A black RGB image of a size, (height, width) or an int for a square; anything else is a sample itself."""
    pair = isinstance(size, (tuple, list)) and len(size) == 2 and all(type(side) is int for side in size)
    if isinstance(size, int) or pair:
        height, width = checked_size(size)
        return Image.new("RGB", (width, height))
    return size


class SamplePipeline(Pipeline):
    """Transforms of samples, one after the other, in one call."""

    @abstractmethod
    def _take(self, sample: Sample) -> None:
        """Has all transforms change a sample."""

    def _called(self, inputs: tuple[Any, ...]) -> Any:
        """What a call with these arguments gives."""
        if len(inputs) == 1 and not compiling():
            result = self._at_once(inputs[0])
            if result is not NotImplemented:
                return result
        return self._run_sample(inputs)

    def _run_sample(
        self,
        inputs: tuple[Any, ...],
        call: Call | None = None,
        tape: SampleTape | None = None,
        watch: SampleObserver | None = None,
    ) -> Any:
        """As a call of the pipeline with these arguments, with other settings."""
        sample = Sample(inputs, self._call if call is None else call, tape, watch)
        try:
            self._take(sample)
            return self._formatted(sample.finish())
        finally:
            sample.call.draws.release()

    def _run(self, img: Any, call: Call) -> Any:
        return self._run_sample((img,), call)

    # For batches: fastaug._batch.task.Task.

    def _begin(self, image: Any, call: Call) -> Any:
        return DrawnSample((image,), call.like(tape=None))

    def _draft_all(self, draft: Any) -> None:
        self._take(draft)

    def _delivered(self, draft: Any) -> Any:
        return self._formatted(draft.finish())

    def _job(self, draft: Any) -> Job | None:
        return finish.one_job(draft.alone)

    def _presented(self, drawn: Any, result: Any) -> Any:
        cls = drawn.leaves[0].cls
        return result if cls is None else result.as_subclass(cls)

    def sample(self, size: Any) -> Any:
        """Draws the parameters for one sample, as a call would, and finishes no pixels.

        The random generators go on as in a call. A callable of your own, and whatever else fastaug does not know, is
        called with the sample that the transforms before it were applied to.

        Args:
            size: a sample, which is not changed; or (height, width), or an int for a square: of a black RGB image.

        Returns:
            A list of dictionaries, one for each transform that draws, with the parameters by torchvision's names.
            Those that are tensors, such as displacements, stay tensors. :meth:`replay` takes it.

        Raises:
            ValueError: a transform that is called as it is draws: its parameters are not known.

        Example:
            >>> from PIL import Image
            >>> from fastaug.transforms import v2
            >>> transform = v2.Compose([v2.RandomHorizontalFlip(p=1.0)])
            >>> params = transform.sample((60, 80))
            >>> params
            [{'transform': 'RandomHorizontalFlip', 'applied': True}]
        """
        tape = SampleRecording(strict=True)
        # Of copies, since some transforms write to their input where they are asked to.
        given = tree_map_only(torch.Tensor, lambda leaf: leaf.clone(), sample_of(size))
        sample = Sample((given,), self._call, tape)
        try:
            self._take(sample)
        finally:
            self._call.draws.release()
        return tape.entries

    def replay(self, image: Any, params: Any, subset: bool = False) -> Any:
        """The transformed sample, with parameters that :meth:`sample` has drawn. Draws nothing.

        Args:
            image: a sample, as a call takes it in one argument; of any size that the parameters fit.
            params: what :meth:`sample` returned, unchanged or edited.
            subset: not of samples, whose transforms know what is to be done to masks; only False is taken.

        Raises:
            TypeError: ``params`` are no list of dictionaries.
            ValueError: ``params`` are of another pipeline; ``subset`` is true; or a transform that is called as it is
                draws.

        Example:
            >>> from PIL import Image
            >>> from fastaug.transforms import v2
            >>> transform = v2.Compose([v2.RandomHorizontalFlip()])
            >>> image = Image.new("RGB", (80, 60))
            >>> params = transform.sample(image)
            >>> transform.replay(image, params) == transform.replay(image, params)
            True
        """
        if subset:
            raise ValueError("subset is of pipelines of single images: a sample is transformed as a whole")
        tape = SampleReplaying(params, strict=True)
        result = self._run_sample((image,), None, tape)
        tape.end()
        return result
