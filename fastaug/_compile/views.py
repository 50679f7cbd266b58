"""The result of fastaug.compile for views."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch

import fastaug.transforms as T
from fastaug._compile.adopt import Keep, Reader
from fastaug._compile.compiled import Compiled, calls_hooks, converted
from fastaug._compile.read_samples import parts_of, takes_samples
from fastaug._compile.samples import CompiledSamples
from fastaug._compile.trace import inside
from fastaug._draft.pipeline import Pipeline
from fastaug._program import eager
from fastaug._views.drawn import DrawnViews
from fastaug._views.program import Value, built
from fastaug._views.views import Views


def views_of(transform: Any, around: frozenset[int] = frozenset()) -> Views | None:
    """Return the views that a transform makes, or None if it makes one image or its code is unclear.

    They are those of a Views, of an object that returns several results of its transforms, as DINO's and SimCLR's do,
    or of a transform that ends in one. `around` holds the ids of its containers.
    """
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
    last = views_of(steps[-1], around)
    if last is None or len(steps) == 1:
        return last
    # The steps before them run once, for all views.
    before = T.Compose(steps[:-1])
    calls = [(one, source + 1, value + 1) for one, source, value in last.calls]
    values = [Value(number + 1) for number in range(len(calls) + 1)]
    return Views._of_calls([(before, 0, 1), *calls], built(last.result, values))


def _is_read(transform: Any) -> bool:
    return takes_samples(transform) or Reader().is_read(transform)


class CompiledViews(Views, Compiled):
    """Views whose transforms are compiled, each as by :func:`fastaug.compile`.

    It is called like the original. Its attributes are those of :class:`Compiled`, with compiled ``transforms``.
    """

    __init__ = Compiled.__init__

    def __call__(self, image: Any, *others: Any) -> Any:
        if calls_hooks(self.__dict__):
            return torch.nn.Module.__call__(self, image, *others)
        return self.forward(image, *others)

    def forward(self, image: Any, *others: Any) -> Any:
        """Return the views, without a call of hooks."""
        if eager.traced():
            return self._one_by_one((image, *others))
        own = self.__dict__
        # Transforms draw from a generator of the views only through a common call.
        if not others and own["generator"] is None and (values := self._in_turn(image)) is not None:
            self._convert(values)
            return built(own["result"], values)
        # As `_done`, with few looks at attributes.
        drawn = DrawnViews(own["_program"], (image, *others), own["_call"])
        try:
            CompiledViews._draft_all(self, drawn)
            return CompiledViews._delivered(self, drawn)
        finally:
            drawn.call.draws.release()

    def _read(self, views: Views, keep: Keep) -> str | None:
        """Compile each transform of the views."""
        sources = {source for _, source, _ in views.calls}
        # If one is read, the others cause no warnings.
        part = any(_is_read(transform) for transform, _, _ in views.calls)

        def compiled(transform: Any, value: int) -> Any:
            if isinstance(transform, Compiled):
                if not transform._is_plain():
                    return transform  # it has its own generator or format
                transform = transform.original
            # Inputs of other calls are converted at the end.
            formats = (None, None) if value in sources else (self.dtype, self.memory_format)
            made: type[Compiled] = CompiledSamples if takes_samples(transform) else Compiled
            return made(transform, self._mode, None, formats[0], formats[1], self._arithmetic, part, keep=keep)

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

    def _draft_all(self, draft: Any) -> None:
        if self.__dict__["generator"] is not None:
            self._follow_worker()
        draft.draw()

    def _delivered(self, draft: Any) -> Any:
        draft.finish()
        own = self.__dict__
        self._convert(draft.values)
        return built(own["result"], draft.values)

    def _presented(self, drawn: Any, result: Any) -> Any:
        drawn.put(result)
        self._convert(drawn.values)
        return super()._presented(drawn, {})

    def _job(self, draft: Any) -> Any:
        # A job cannot convert a value after other calls have used it.
        return None if self._both() else super()._job(draft)

    def _both(self) -> set[int]:
        """Return the values that are results, but also inputs of other calls, and must be converted."""
        if self._format() is None:
            return set()
        own = self.__dict__
        sources = {source for _, source, _ in own["calls"]}
        return {value for value in own["_program"].outputs if value > 0 and value in sources}

    def _convert(self, values: list[Any]) -> None:
        for value in self._both():
            values[value] = converted(values[value], self.dtype, self.memory_format)

    def prepare(self, device: str | torch.device = "cuda", sizes: Iterable[int | tuple[int, int]] | None = None) -> int:
        """Compile the kernels of the views on a CUDA device, as :meth:`Compiled.prepare` does."""
        chosen = None if sizes is None else list(sizes)
        return sum(step.pipeline.prepare(device, chosen) for step in self._program.steps if step.source == 0)

    __repr__ = Compiled.__repr__
    __setstate__ = Compiled.__setstate__

    def __getstate__(self) -> dict[str, Any]:
        state = Compiled.__getstate__(self)
        state.pop("_program", None)
        return state
