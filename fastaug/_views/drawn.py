"""Views of one image on their way: parameters are drawn, call by call; pixels are made of all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastaug import _C
from fastaug._draft import finish
from fastaug._draft.call import Call
from fastaug._draft.finish import Together
from fastaug._draft.replaced import TransformDraft
from fastaug._image.encoded import is_encoded
from fastaug._image.kept import Once
from fastaug._image.lazy import LazyImage
from fastaug._program.job import Job
from fastaug._program.kinds import ENCODED, OTHER, PIL_IMAGE, TENSOR
from fastaug._sample.pipeline import DrawnSample
from fastaug._sample.sample import flatten, unflatten

if TYPE_CHECKING:
    from fastaug._views.program import Program, Step

# Of a value that no call has made yet.
_NOTHING: Any = object()


class Jobs:
    """The jobs of all views of one image, in the place of a task's one.

    Attributes:
        values: the number of the value that each makes.
        parts: the jobs.
    """

    __slots__ = ("kind", "parts", "values")

    def __init__(self, values: list[int], parts: list[Job]) -> None:
        self.values = values
        self.parts = parts
        self.kind = TENSOR if all(part.kind == TENSOR for part in parts) else OTHER

    def begin(self) -> tuple[list[Any], Any]:
        """Memory for the results, and the jobs as the core takes them."""
        begun = [part.begin() for part in self.parts]
        return [memory for memory, _ in begun], tuple([job for _, job in begun])

    def delivered(self, memories: list[Any]) -> dict[int, Any]:
        """The results in memory of `begin`, by the numbers of their values."""
        return {value: part.delivered(memory) for value, part, memory in zip(self.values, self.parts, memories)}


class DrawnViews:
    """The values of a program, of which some are drafts: what an outline is to a single image.

    Args:
        program: the calls.
        inputs: the arguments of the call.
        call: its settings, of which draws and log count.
        tapes: of each call, what keeps its parameters or hands them out.
    """

    __slots__ = (
        "_calls",
        "_decoders",
        "_handles",
        "_making",
        "_samples",
        "call",
        "inputs",
        "kind",
        "program",
        "settled",
        "tapes",
        "values",
        "waiting",
    )

    # For fastaug._batch.task: there may be jobs that do it, and there is nothing to be moved.
    complete = True
    device = None

    def __init__(self, program: Program, inputs: tuple[Any, ...], call: Call, tapes: list[Any] | None = None) -> None:
        self.program = program
        self.inputs = inputs
        self.call = call
        self.tapes = tapes
        self.kind = OTHER
        self.values: list[Any] = [_NOTHING] * program.count
        self.values[0] = inputs if len(inputs) > 1 else inputs[0]
        #: Drafts, by the numbers of their values, and the pipelines that deliver them.
        self.waiting: dict[int, tuple[Any, Any]] = {}
        #: Whether something was finished before all was drawn.
        self.settled = False
        self._making = False
        self._calls: dict[int, Call] = {}
        self._handles: list[LazyImage] = []
        self._decoders: list[Any] | None = None
        if len(inputs) == 1:
            image = inputs[0]
            if type(image) is LazyImage:
                self._decoders = [self._once(image)] * len(program.decoders)
            elif is_encoded(image):
                self._decoders = [
                    self._once(LazyImage(image) if decode is None else decode._lazy(image))
                    for decode in program.decoders
                ]
        #: What transforms of v2 are called with.
        self._samples = self._opened(inputs) if self._decoders is None and program.sampled else inputs

    def _opened(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with handles for this call alone in the places of handles."""
        leaves: list[Any] = []
        spec = flatten(inputs, leaves)
        if LazyImage not in map(type, leaves):
            return inputs
        handles = [self._once(leaf) if type(leaf) is LazyImage else leaf for leaf in leaves]
        opened: tuple[Any, ...] = unflatten(spec, iter(handles))
        return opened

    def _once(self, handle: LazyImage) -> LazyImage:
        once = handle.once()
        self._handles.append(once)
        return once

    def _call_of(self, pipeline: Any) -> Call:
        """The settings of a pipeline, with the draws of this call."""
        own = pipeline._call
        call = self._calls.get(id(own))
        if call is None:
            # A generator of its own is its own.
            draws = self.call.draws if own.draws.generator is None else own.draws
            call = Call(draws, own.rewrites, self.call.log, None, False, None, own.pillow, self)
            self._calls[id(own)] = call
        return call

    def draw(self) -> None:
        """Drafts all calls, one after the other. Those that cannot be drafted are made."""
        for number, step in enumerate(self.program.steps):
            self._draw(number, step)

    def _draw(self, number: int, step: Step) -> None:
        pipeline = step.pipeline
        begun = self.waiting.pop(step.source, None) if step.fused else None
        tape = None if self.tapes is None else self.tapes[number]
        call = self._call_of(pipeline)
        if number == self.program.last_use:
            for handle in self._handles:
                handle._kept.together = True  # type: ignore[attr-defined]
        if step.sampled:
            if step.writes:
                self.settle()
            if begun is None:
                sample = DrawnSample(self._inputs_of(step), call, tape)
            else:
                sample = begun[0]
                sample.call, sample.tape = call, tape
            take_sample(pipeline, sample)
            self.waiting[step.value] = sample, pipeline
        elif step.source == 0 and len(self.inputs) > 1:
            self.settle()
            call.draws.release()
            self.values[step.value] = pipeline.transforms[0](*self.inputs)
        else:
            if tape is not None:
                call = call.like(tape=tape)
            if begun is None:
                draft = TransformDraft(self._value_of(step), call)
            else:
                draft = begun[0]
                draft.call = call
            if draft.device is not None:
                draft.call = pipeline._call_on_device(draft.call)
            pipeline._draft_all(draft)
            self.waiting[step.value] = draft, pipeline
        if call.draws is not self.call.draws:
            call.draws.release()

    def _inputs_of(self, step: Step) -> tuple[Any, ...]:
        return self._samples if step.source == 0 and self._decoders is None else (self._value_of(step),)

    def _value_of(self, step: Step) -> Any:
        """What a call begins with; a value that is still a draft is made, once for all that take it."""
        source = step.source
        if source == 0:
            return self.values[0] if self._decoders is None else self._decoders[step.decoder]
        if source in self.waiting:
            self.call.draws.release()
            self._make([source])
        return self.values[source]

    def settle(self) -> None:
        """Does all that waits on an image that somebody may write to who is about to be handed it."""
        if self._making:
            return  # it is being done, and nobody else is handed anything
        self.settled = True
        exposed = [value for value, (draft, _) in self.waiting.items() if not _is_of_encoded(draft)]
        if exposed:
            self._make(exposed)

    def finish(self) -> None:
        """Does all that is left of what is wanted. The random generators are torch's again."""
        self.call.draws.release()
        wanted = self.program.outputs
        self._make([value for value in self.waiting if value in wanted])
        self.waiting.clear()

    def _make(self, values: list[int]) -> None:
        """Finishes drafts: those that are jobs by one call of the core. After an interrupt, what is left waits on."""
        runs: dict[int, Together] = {}
        ends: list[Callable[[], Any] | None] = []
        self._making = True
        try:
            for value in values:
                draft, pipeline = self.waiting[value]
                jobs = runs.get(draft.call.rewrites)
                if jobs is None:
                    jobs = runs[draft.call.rewrites] = Together()
                try:
                    ends.append(started(draft, pipeline, jobs))
                except (_C.Deferred, _C.Refused):
                    ends.append(None)
            done = all(self._ran(jobs, rewrites) for rewrites, jobs in runs.items())
            for value, ended in zip(values, ends):
                draft, pipeline = self.waiting[value]
                # What the core leaves to Pillow, or refuses, each does by itself, and finds Pillow's pixels.
                self.values[value] = ended() if done and ended is not None else pipeline._delivered(draft)
                del self.waiting[value]
        finally:
            self._making = False

    def _ran(self, jobs: Together, rewrites: int) -> bool:
        """Runs jobs, if there are any. False if the core does not decode an image, so that none counts as done."""
        if not jobs:
            return True
        try:
            _C.run(jobs, rewrites)
        except (_C.Deferred, _C.Refused) as error:
            if len(self._handles) == 1 and isinstance(error, _C.Deferred):
                # No view asks the core again for an image that it leaves to Pillow.
                kept = self._handles[0]._kept
                assert type(kept) is Once
                kept.deferred = error
            return False
        return True

    # For fastaug._batch.task.

    def drafted(self) -> DrawnViews:
        return self

    def leave_device(self) -> None:
        """There is nothing to be moved before somebody finishes it."""

    def jobs(self) -> Jobs | None:
        """The jobs that make all that is wanted; None where that takes something else, or several modes."""
        wanted = self.program.outputs
        values, parts = [], []
        for value, (draft, pipeline) in self.waiting.items():
            if value not in wanted:
                continue
            if draft.call.rewrites != self.call.rewrites:
                return None
            job = job_of(draft, pipeline)
            if job is None:
                return None
            values.append(value)
            parts.append(job)
        return Jobs(values, parts) if parts else None

    def put(self, results: dict[int, Any]) -> None:
        """Takes the results of jobs for the values that they make."""
        for value, result in results.items():
            draft, pipeline = self.waiting[value]
            self.values[value] = presented(draft, pipeline, result)


def _is_of_encoded(draft: Any) -> bool:
    """Whether all that a draft reads is encoded, so that nobody writes to it."""
    image = draft.alone if type(draft) is DrawnSample else draft
    return image is not None and image.source == ENCODED


def take_sample(pipeline: Any, sample: DrawnSample) -> None:
    """Has a pipeline of samples change one, as its call does."""
    # What `reads_drafts` says of a Compose of v2 is that of its class and hooks, as of any transform.
    if pipeline._is_own():
        pipeline._take(sample)
    else:
        sample.apart(pipeline)


def job_of(draft: Any, pipeline: Any) -> Job | None:
    """The one job that makes what a pipeline delivers of a draft."""
    if draft.device is not None or (type(draft) is DrawnSample and not draft.complete):
        return None
    job: Job | None = pipeline._job(draft)
    return job


def presented(draft: Any, pipeline: Any, result: Any) -> Any:
    """What a pipeline delivers, of the result of the one job of a draft."""
    if type(draft) is DrawnSample:
        image = draft.alone
        result = pipeline._presented(draft, result)
    else:
        image = draft
    if image.kind == PIL_IMAGE:
        result.info = finish.copied_info(image)
    return result


def started(draft: Any, pipeline: Any, jobs: Together) -> Callable[[], Any] | None:
    """Appends the jobs that a draft is; what gives the result after them, or None where it is finished by itself."""
    job = job_of(draft, pipeline)
    if job is not None:
        memory, native = job.begin()
        jobs.append(native)
        return lambda: presented(draft, pipeline, job.delivered(memory))
    if type(draft) is DrawnSample and draft.spec is not None and draft.watch is None:
        for leaf in draft.leaves:
            if hasattr(leaf, "choose_order"):
                leaf.choose_order()
        ended = draft.start(jobs)
        return lambda: pipeline._formatted(ended())
    return None
