"""What fastaug.compile returns for views."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch

import fastaug.transforms as T
from fastaug._compile.adopt import Reader
from fastaug._compile.compiled import Compiled, converted
from fastaug._compile.read_samples import parts_of, takes_samples
from fastaug._compile.samples import CompiledSamples
from fastaug._compile.trace import inside
from fastaug._draft.call import Call
from fastaug._draft.pipeline import Pipeline
from fastaug._views.program import Value, built
from fastaug._views.views import Views


def views_of(transform: Any) -> Views | None:
    """The views of an image that a transform makes; None where it makes one image, or that is not known.

    Views are themselves; an object that calls transforms and returns more than the last one's result, as DINO's and
    SimCLR's do, is looked into; and so is whatever ends in one.
    """
    return _views_of(transform, frozenset())


def _views_of(transform: Any, around: frozenset[int]) -> Views | None:
    if isinstance(transform, Views):
        return transform
    if id(transform) in around:
        return None
    around |= {id(transform)}
    if isinstance(transform, Pipeline) and not transform._is_own():
        return None
    steps = parts_of(transform)
    if steps is None and (seen := inside(transform)) is not None:
        if seen.inputs > 1 or seen.optional:
            return None
        steps = seen.chain
        if steps is None:
            read = any(_is_read(call[0]) for call in seen.calls)
            return Views._of_calls(seen.calls, seen.result) if read else None
    if not steps:
        return None
    last = _views_of(steps[-1], around)
    if last is None or len(steps) == 1:
        return last
    # What they are of is made once, by what stands before them.
    before = T.Compose(steps[:-1])
    calls = [(one, source + 1, value + 1) for one, source, value in last.calls]
    return Views._of_calls([(before, 0, 1), *calls], built(last.result, _Shifted()))


class _Shifted:
    """For each number of a value the one after it."""

    def __getitem__(self, index: int) -> Value:
        return Value(index + 1)


def _is_read(transform: Any) -> bool:
    """Whether more is known of a transform, or of one inside of it, than how to call it."""
    return takes_samples(transform) or Reader().is_read(transform)


class CompiledViews(Views, Compiled):
    """Views whose transforms were read once, each as :func:`fastaug.compile` reads it.

    It is called as the original is. Its attributes are those of :class:`Compiled`; ``transforms`` are those of the
    views, compiled.
    """

    __init__ = Compiled.__init__

    def _read(self, views: Views) -> str | None:
        """Each call's transform of what `views_of` found is read by itself."""
        sources = {source for _, source, _ in views.calls}
        # Where something is read, nothing needs to be said of what is not.
        part = any(_is_read(transform) for transform, _, _ in views.calls)

        def compiled(transform: Any, value: int) -> Any:
            if isinstance(transform, Compiled):
                if not transform._is_plain():
                    return transform  # it draws from, or gives, what it was told
                transform = transform.original
            # What goes on into another call is converted at its end.
            formats = (None, None) if value in sources else (self.dtype, self.memory_format)
            made: type[Compiled] = CompiledSamples if takes_samples(transform) else Compiled
            return made(transform, self._mode, None, formats[0], formats[1], self._arithmetic, part)

        self.calls = tuple((compiled(transform, value), source, value) for transform, source, value in views.calls)
        self.result = views.result
        return None

    def _prepare(self) -> None:
        self._call = self._own_call()
        self._plan()

    def _seen(self, pipeline: Any) -> Any:
        if self.generator is None or pipeline.generator is not None:
            return pipeline
        own = copy.copy(pipeline)
        own.generator = self.generator
        own._prepare()
        return own

    def _sources(self) -> set[int]:
        return {source for _, source, _ in self.calls}

    def _draft_all(self, draft: Any) -> None:
        if self.generator is not None:
            self._follow_worker()
        super()._draft_all(draft)

    def _delivered(self, draft: Any) -> Any:
        draft.finish()
        self._convert(draft)
        return super()._delivered(draft)

    def _presented(self, drawn: Any, result: Any) -> Any:
        drawn.put(result)
        self._convert(drawn)
        return super()._presented(drawn, {})

    def _job(self, draft: Any) -> Any:
        # A value that is to be converted after others have taken it is none that a job makes.
        return None if self._both() else super()._job(draft)

    def _both(self) -> set[int]:
        """Values that are results, and go on into other calls."""
        if self.dtype is None and self.memory_format is None:
            return set()
        return {value for value in self._program.outputs if value > 0 and value in self._sources()}

    def _convert(self, drawn: Any) -> None:
        for value in self._both():
            drawn.values[value] = converted(drawn.values[value], self.dtype, self.memory_format)

    def _run_inputs(self, inputs: tuple[Any, ...], call: Call, tapes: list[Any] | None = None) -> Any:
        try:
            return super()._run_inputs(inputs, call, tapes)
        finally:
            self._call.draws.release()

    def prepare(self, device: str | torch.device = "cuda", sizes: Iterable[int | tuple[int, int]] | None = None) -> int:
        """Compiles the kernels that the views of an image need on a CUDA device, as :meth:`Compiled.prepare` does."""
        chosen = None if sizes is None else list(sizes)
        return sum(step.pipeline.prepare(device, chosen) for step in self._program.steps if step.source == 0)

    def __repr__(self) -> str:
        return Compiled.__repr__(self)

    def __getstate__(self) -> dict[str, Any]:
        state = Compiled.__getstate__(self)
        state.pop("_program", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        Compiled.__setstate__(self, state)
