"""Views of one image: their parameters are drawn call by call, and their pixels are made together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastaug import _C
from fastaug._draft.call import Call, Drawn
from fastaug._draft.finish import Together
from fastaug._draft.through import draft_through
from fastaug._image.encoded import NOT_DECODED, is_encoded
from fastaug._image.kept import Once
from fastaug._image.lazy import LazyImage
from fastaug._program.job import Job
from fastaug._program.kinds import ENCODED, OTHER, TENSOR
from fastaug._sample.sample import Sample, flatten, unflatten

if TYPE_CHECKING:
    from fastaug._views.program import Program, Step

# A value that no call has made yet.
_NOTHING: Any = object()


class Jobs:
    """The jobs of all views of one image, used as the job of a task. Each makes one of the numbered values."""

    __slots__ = ("kind", "parts", "values")

    def __init__(self, values: list[int], parts: list[Job]) -> None:
        self.values = values
        self.parts = parts
        self.kind = TENSOR if all(part.kind == TENSOR for part in parts) else OTHER

    def begin(self) -> tuple[list[Any], Any]:
        begun = [part.begin() for part in self.parts]
        return [memory for memory, _ in begun], tuple([job for _, job in begun])

    def delivered(self, memories: list[Any]) -> dict[int, Any]:
        """Return the results in memory from `begin`, by the numbers of their values."""
        return {value: part.delivered(memory) for value, part, memory in zip(self.values, self.parts, memories)}


class DrawnViews(Drawn):
    """The values of a program, some of which are drafts, with a tape for each step if there are tapes."""

    def __init__(self, program: Program, inputs: tuple[Any, ...], call: Call, tapes: list[Any] | None = None) -> None:
        self.program = program
        self.inputs = inputs
        self.call = call
        self.tapes = tapes
        self.values: list[Any] = [_NOTHING] * program.count
        self.values[0] = inputs if len(inputs) > 1 else inputs[0]
        #: Drafts, by the numbers of their values, and their pipelines.
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
                self._decoders = list(map(self._once, program.opened(image)))
        #: The input of transforms of v2.
        self._samples = self._opened(inputs) if self._decoders is None and program.sampled else inputs

    def _opened(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments with handles that belong to this call."""
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
        """Return the settings of a pipeline, with the draws of this call unless it has its own generator."""
        own = pipeline._call
        call = self._calls.get(id(own))
        if call is None:
            draws = self.call.draws if own.draws.generator is None else own.draws
            call = Call(draws, own.rewrites, self.call.log, None, False, None, own.pillow, self)
            self._calls[id(own)] = call
        return call

    def draw(self) -> None:
        """Draft all steps in their order, and make those that cannot be drafted."""
        hooks = any(self.program.hooks)
        for number, step in enumerate(self.program.steps):
            self._draw(number, step, hooks)

    def _draw(self, number: int, step: Step, hooks: bool) -> None:
        pipeline = step.pipeline
        # Looks at attributes of modules take longer than those at attributes of their classes.
        cls = type(pipeline)
        begun = self.waiting.pop(step.source, None) if step.fused else None
        call = self._call_of(pipeline)
        if self.tapes is not None:
            call = call.like(tape=self.tapes[number])
        if number == self.program.last_use:
            for handle in self._handles:
                handle._kept.together = True  # type: ignore[attr-defined]
        several = step.source == 0 and len(self.inputs) > 1 and not step.sampled
        if several or (step.sampled and step.writes):
            self.settle()
        if several:
            call.draws.release()
            self.values[step.value] = pipeline.transforms[0](*self.inputs)
            return
        if begun is not None:
            draft = begun[0]
            pipeline._go_on(draft, call)
        elif step.sampled and step.source == 0 and self._decoders is None:
            draft = Sample(self._samples, call)
        else:
            draft = cls._drafted(pipeline, self._value_of(step), call)
        if step.sampled and not cls._is_own(pipeline):
            draft.apart(pipeline)
        elif hooks and pipeline._has_hooks():
            draft_through((pipeline,), draft)
        else:
            cls._draft_all(pipeline, draft)
        self.waiting[step.value] = draft, pipeline
        if call.draws is not self.call.draws:
            call.draws.release()

    def _value_of(self, step: Step) -> Any:
        """Return the input of a step. A draft is made first, once for all steps that take it."""
        source = step.source
        if source == 0:
            return self.values[0] if self._decoders is None else self._decoders[step.decoder]
        if source in self.waiting:
            self.call.draws.release()
            self._make([source])
        return self.values[source]

    def settle(self) -> None:
        """Make all drafts of images that the next callable may write to."""
        if self._making:
            return
        self.settled = True
        exposed = [value for value, (draft, _) in self.waiting.items() if not _is_of_encoded(draft)]
        if exposed:
            self._make(exposed)

    def finish(self) -> None:
        """Make all drafts that belong to the result, and release the generator."""
        self.call.draws.release()
        wanted = self.program.outputs
        self._make([value for value in self.waiting if value in wanted])
        self.waiting.clear()

    def _make(self, values: list[int]) -> None:
        """Make drafts, all their jobs in one native call. After an interrupt, the others still wait."""
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
                    ends.append(_started(draft, pipeline, jobs))
                except NOT_DECODED:
                    ends.append(None)
            done = all(self._ran(jobs, rewrites) for rewrites, jobs in runs.items())
            for value, ended in zip(values, ends):
                draft, pipeline = self.waiting[value]
                # If the core defers to Pillow, or refuses, each draft finishes alone, with Pillow's pixels.
                self.values[value] = ended() if done and ended is not None else pipeline._delivered(draft)
                del self.waiting[value]
        finally:
            self._making = False

    def _ran(self, jobs: Together, rewrites: int) -> bool:
        """Run the jobs. Return False if the core does not decode an image, so that none counts as done."""
        if not jobs:
            return True
        try:
            _C.run(jobs, rewrites)
        except NOT_DECODED as error:
            if len(self._handles) == 1 and isinstance(error, _C.Deferred):
                # Views do not ask the core again for an image that it leaves to Pillow.
                kept = self._handles[0]._kept
                assert type(kept) is Once
                kept.deferred = error
            return False
        return True

    def jobs(self) -> Jobs | None:
        """Return the jobs that make the whole result; None if it needs other work, or several modes."""
        wanted = self.program.outputs
        values, parts = [], []
        for value, (draft, pipeline) in self.waiting.items():
            if value not in wanted:
                continue
            if draft.call.rewrites != self.call.rewrites:
                return None
            job = _job_of(draft, pipeline)
            if job is None:
                return None
            values.append(value)
            parts.append(job)
        return Jobs(values, parts) if parts else None

    def put(self, results: dict[int, Any]) -> None:
        for value, result in results.items():
            draft, pipeline = self.waiting[value]
            self.values[value] = pipeline._presented(draft, result)


def _is_of_encoded(draft: Any) -> bool:
    """Return whether a draft reads only encoded bytes, to which user code does not write."""
    return draft.alone is not None and draft.alone.source == ENCODED


def _job_of(draft: Any, pipeline: Any) -> Job | None:
    """Return the job that makes the whole result of a draft, or None."""
    if not draft.complete or draft.alone.device is not None:
        return None
    job: Job | None = pipeline._job(draft)
    return job


def _started(draft: Any, pipeline: Any, jobs: Together) -> Callable[[], Any] | None:
    """Append the jobs of a draft, and return a function that gives its result; None if the draft finishes alone."""
    job = _job_of(draft, pipeline)
    if job is not None:
        memory, native = job.begin()
        jobs.append(native)
        return lambda: pipeline._presented(draft, job.delivered(memory))
    if draft.alone is not None:
        return None
    ended = draft.start(jobs)
    return lambda: pipeline._formatted(ended())
