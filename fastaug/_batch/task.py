"""One image of a batch: its parameters are drawn, and it waits for a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastaug._draft import finish
from fastaug._program.job import Job
from fastaug._program.kinds import PIL_IMAGE

if TYPE_CHECKING:
    from fastaug._batch.slots import Slots
    from fastaug._draft.call import Call
    from fastaug._draft.outline import Outline
    from fastaug._draft.pipeline import Pipeline


class Drawing:
    """A tape that draws, and keeps nothing: what was drawn is in the works of an outline."""

    def take(self, transform: Any, draft: Any) -> Any:
        return transform._sample(draft)


class Task:
    """What is to be done to an image, and what came of it.

    A pipeline that the native core does in one run is a job; anything else, and a job that failed, is done by `work`,
    as the pipeline would do it, with the parameters that were drawn.
    """

    __slots__ = (
        "_memory",
        "_outline",
        "_pipeline",
        "done",
        "error",
        "index",
        "item",
        "job",
        "owed",
        "placed",
        "result",
        "slots",
    )

    def __init__(self, pipeline: Pipeline, index: int, error: Exception | None = None, item: Any = None) -> None:
        self.index = index
        self.item = item  # what the image was made of
        self.done = False
        self.owed = False  # `work` is to do it, and has not done it
        self._pipeline = pipeline
        self._outline: Outline | None = None
        self._memory: Any = None
        self.job: Job | None = None
        self.slots: Slots | None = None
        self.placed = False  # the result is in its slot
        self.result: Any = None
        self.error = error

    def draw(self, image: Any, call: Call) -> None:
        """Draws the parameters. The caller releases the generator."""
        pipeline = self._pipeline
        try:
            if not pipeline._is_own():
                self.result = pipeline(image)
                self.done = True
                return
            outline = self._outline = self._outlined(image, call)
            pipeline._draft_all(outline)
            if outline.complete and self._takes(outline):
                self.job = pipeline._job(outline)
        except Exception as error:
            self.error = error

    def _outlined(self, image: Any, call: Call) -> Outline:
        outline: Outline = self._pipeline._begin(image, call)
        return outline

    def _takes(self, outline: Outline) -> bool:
        """Whether the job of an outline that has one is done as a job."""
        return outline.device is None

    @property
    def is_on_device(self) -> bool:
        """Whether it is drawn, and a device does what it begins with."""
        return self._outline is not None and self._outline.device is not None

    def prepare(self, slots: Slots | None) -> Any:
        """The job, or jobs, for the native core, into its slot where there are slots that it fits."""
        self.slots = slots
        job = self.job
        if job is None:
            self.owed = True
            return None
        if slots is not None and slots.fits(job):
            self.placed = True
            return slots.job(self.index, job)
        self._memory, native = job.begin()
        return native

    def work(self) -> None:
        """Does it with Python's lock, by the way of any call."""
        self.owed = True
        self.placed = False
        self.job = None
        outline: Any = self._outline
        try:
            result = self._pipeline._delivered(outline.drafted())
            if self.slots is not None and self.slots.put(self.index, result):
                self.placed = True
            else:
                self.result = result
        except Exception as error:
            self.error = error
        self.owed = False
        del self  # of this frame, to which an error leads

    def finish(self) -> None:
        """Makes the result of a job that has been run, and gives up what it was made of."""
        if self.owed:
            self.work()  # Ctrl-C interrupted it
        elif self.job is not None and not self.placed and self.error is None:
            self.result = self._pipeline._presented(self._outline, self.job.delivered(self._memory))
            if self.job.kind == PIL_IMAGE:
                self.result.info = finish.copied_info(self._outline)
        self._outline = self._memory = self.job = None
        self.done = True
