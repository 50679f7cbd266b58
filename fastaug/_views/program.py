"""Programs of views: the input and output value of each transform, and the result of all."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch.nn import ModuleList

from fastaug._draft.pipeline import Pipeline, first_of
from fastaug._draft.written import global_hooks, global_pre_hooks
from fastaug._image.lazy import LazyImage
from fastaug._names import is_ours
from fastaug._sample.pipeline import SamplePipeline
from fastaug.transforms import Compose


@dataclass(frozen=True, repr=False)
class Value:
    """The placeholder of a value in the result of a program.

    Value 0 is the input, and each call makes one of the others. The same value several times is one object.
    """

    index: int

    def __reduce__(self) -> tuple[Any, ...]:
        return Value, (self.index,)

    def __repr__(self) -> str:
        return f"Value({self.index})"


#: A transform, the number of its input value, and the number of its output value.
ViewCall = tuple[Callable[..., Any], int, int]


class Step(NamedTuple):
    pipeline: Any  # does the same as the transform
    source: int
    value: int
    sampled: bool  # it is a transform of v2, which takes whole samples
    writes: bool  # it may write to its input
    decoder: int  # the index in the program's decoders, which open encoded bytes
    fused: bool  # it continues the draft of `source`, which is not used otherwise


class Chain(NamedTuple):
    """Steps in a row of which each continues the one before, and a pipeline that does the same."""

    pipeline: Any
    source: int
    value: int
    made_of: tuple[tuple[Any, Any], ...]  # the pipelines of several steps, with the settings that they had


class Program:
    """The calls of views, in the order in which they draw, and their result."""

    def __init__(self, calls: Sequence[ViewCall], result: Any) -> None:
        made = {0}
        for number, (transform, source, value) in enumerate(calls):
            if not callable(transform):
                raise TypeError(f"the transform of call {number} should be callable, got {type(transform)}")
            if source not in made:
                raise ValueError(f"call {number} takes value {source}, which nothing has made before it")
            if value in made:
                raise ValueError(f"call {number} makes value {value}, which has been made before it")
            made.add(value)
        self.outputs = tuple(dict.fromkeys(value.index for value in values_of(result)))
        for index in self.outputs:
            if index not in made:
                raise ValueError(f"the result has value {index}, which no call makes")
        self.count = max(made) + 1
        uses = Counter(source for _, source, _ in calls)
        uses.update(set(self.outputs))
        pipelines = [pipeline_of(transform) for transform, _, _ in calls]
        makers = {value: pipeline for pipeline, (_, _, value) in zip(pipelines, calls)}
        self.decoders: list[Any] = []
        self.steps = tuple(
            Step(
                pipeline,
                source,
                value,
                isinstance(pipeline, SamplePipeline),
                _writes(pipeline),
                self._decoder(pipeline),
                source > 0 and uses[source] == 1 and _joins(makers[source], pipeline),
            )
            for pipeline, (_, source, value) in zip(pipelines, calls)
        )
        self.sampled = any(step.sampled for step in self.steps)
        own = [hooks for pipeline in pipelines for hooks in pipeline._own_hooks()]
        #: The dictionaries of hooks which decide whether a pipeline has hooks.
        self.hooks = (*own, global_hooks, global_pre_hooks) if own else ()
        #: The number of the last call of value 0, or -1.
        self.last_use = max((number for number, (_, source, _) in enumerate(calls) if source == 0), default=-1)
        # Whether each value is taken by something.
        self._all_used = all(uses[value] for value in made - {0})

    @functools.cached_property
    def _chains(self) -> tuple[Chain, ...]:
        chains: list[Chain] = []
        for step in self.steps:
            last = chains[-1] if chains else None
            # Others have drawn meanwhile if the last chain is another one.
            if step.fused and last is not None and last.value == step.source and _joins(last.pipeline, step.pipeline):
                joined = last.pipeline._then(step.pipeline)
                if joined is not None:
                    own = last.made_of or ((last.pipeline, last.pipeline._call),)
                    made_of = (*own, (step.pipeline, step.pipeline._call))
                    chains[-1] = Chain(joined, last.source, step.value, made_of)
                    continue
            chains.append(Chain(step.pipeline, step.source, step.value, ()))
        return tuple(chains)

    def chains(self) -> tuple[Chain, ...] | None:
        """Return calls that make the values one after the other; None if these would do more, or a hook sees images."""
        if not self._all_used or any(self.hooks):
            return None
        chains = self._chains
        if any(pipeline._call is not call for chain in chains for pipeline, call in chain.made_of):
            self.__dict__.pop("_chains", None)  # somebody has changed a setting
            chains = self._chains
        return chains

    def _decoder(self, pipeline: Any) -> int:
        """Return the index of the pipeline's opener of encoded bytes. Equal openers are one."""
        decode = first_of(getattr(pipeline, "transforms", ()))
        opener = decode if hasattr(decode, "_lazy") and is_ours(type(decode)) else None
        for number, known in enumerate(self.decoders):
            if _settings(known) == _settings(opener):
                return number
        self.decoders.append(opener)
        return len(self.decoders) - 1

    def opened(self, source: Any) -> list[LazyImage]:
        """Return encoded bytes as each of the decoders opens them."""
        return [LazyImage(source) if decode is None else decode._lazy(source) for decode in self.decoders]


def _settings(decode: Any) -> Any:
    return None if decode is None else (decode.mode, decode.exif, decode.jpeg_tables, decode.colorspace)


def pipeline_of(transform: Any) -> Any:
    """Return a pipeline that does the same as a transform."""
    # Views, which have a program, are called as any callable.
    if isinstance(transform, Pipeline) and transform._is_own() and not hasattr(transform, "_program"):
        return transform
    v2 = sys.modules.get("fastaug.transforms.v2")
    if v2 is not None and isinstance(transform, v2.Transform):
        return v2.Compose([transform])
    return Compose([transform])


def _joins(first: Any, second: Any) -> bool:
    """Return whether the second pipeline may continue a draft of the first."""
    if isinstance(first, SamplePipeline) is not isinstance(second, SamplePipeline):
        return False
    one, two = first._call, second._call
    same = one.rewrites == two.rewrites and one.pillow == two.pillow
    return same and getattr(first, "dtype", None) is None and getattr(first, "memory_format", None) is None


def _writes(transform: Any) -> bool:
    """Return whether a transform of v2, or one inside it, may write to leaves that are not drafted."""
    inner = getattr(transform, "transforms", ())
    several = isinstance(inner, (Sequence, ModuleList)) and any(map(_writes, inner))
    return several or bool(getattr(transform, "inplace", False))


def _inside(node: Any) -> Iterator[Any] | None:
    """Iterate over a list, tuple or the values of a dictionary; return None for other objects."""
    if isinstance(node, (list, tuple)):
        return iter(node)
    return iter(node.values()) if isinstance(node, dict) else None


def values_of(result: Any) -> Iterator[Value]:
    if isinstance(result, Value):
        yield result
        return
    for part in _inside(result) or ():
        yield from values_of(part)


def built(result: Any, values: Any) -> Any:
    """Return a result with its placeholders replaced by `values`."""
    cls = type(result)
    if cls is Value:
        return values[result.index]
    if cls is list:
        return [built(part, values) for part in result]
    if cls is dict:
        return {key: built(part, values) for key, part in result.items()}
    if isinstance(result, dict):
        return cls((key, built(part, values)) for key, part in result.items())
    if isinstance(result, (list, tuple)):
        parts = [built(part, values) for part in result]
        return cls(*parts) if hasattr(cls, "_fields") else cls(parts)
    return result


def taken(result: Any, whole: Any) -> dict[int, Any]:
    """Return the values that :func:`built` put into a whole, by number."""
    if isinstance(result, Value):
        return {result.index: whole}
    values: dict[int, Any] = {}
    if (parts := _inside(result)) is not None:
        inner = _inside(whole)
        assert inner is not None
        for part, value in zip(parts, inner):
            values |= taken(part, value)
    return values


def is_collated_by_parts(result: Any) -> bool:
    """Return whether torch's default_collate turns many results into one, with a batch for each value."""
    if type(result) is Value:
        return True
    if type(result) is list:
        return all(map(is_collated_by_parts, result))
    return type(result) is dict and all(map(is_collated_by_parts, result.values()))
