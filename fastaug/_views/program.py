"""Programs of views: which transform makes which value of which, and what is made of the values."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from fastaug._draft.pipeline import Pipeline, first_of
from fastaug._names import is_ours
from fastaug._sample.pipeline import SamplePipeline
from fastaug.transforms import Compose


class Value:
    """One of the values of a program: 0 is what the program is called with, and each call makes one of the others.

    In the result of a program it stands for the value; the same one several times is one object several times.
    """

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return Value, (self.index,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and other.index == self.index

    def __hash__(self) -> int:
        return hash((Value, self.index))

    def __repr__(self) -> str:
        return f"Value({self.index})"


#: A transform, the number of the value that it is called with, and that of the value that it makes.
ViewCall = tuple[Callable[..., Any], int, int]


class Step(NamedTuple):
    """A call, and what is known of it before it is made."""

    pipeline: Any  # does what the transform does
    source: int
    value: int
    sampled: bool  # it is a transform of v2, which takes whole samples
    writes: bool  # it may write to what it is called with
    decoder: int  # which of the program's decoders encoded bytes are opened by
    fused: bool  # it goes on from a draft of `source`, which nobody else wants
    wanted: bool  # the value is part of the result, or made for several


class Program:
    """Calls, in the order in which they draw, and the result.

    Raises:
        TypeError: no callable.
        ValueError: a value that is not there when it is used, or is made twice.
    """

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
                value in self.outputs or uses[value] > 1,
            )
            for pipeline, (_, source, value) in zip(pipelines, calls)
        )
        #: Whether some take whole samples.
        self.sampled = any(step.sampled for step in self.steps)
        #: The number of the last call that is of the value 0; -1 where there is none.
        self.last_use = max((number for number, (_, source, _) in enumerate(calls) if source == 0), default=-1)

    def _decoder(self, pipeline: Any) -> int:
        """The number of what opens encoded bytes for a pipeline; those that open them alike are one."""
        decode = first_of(getattr(pipeline, "transforms", ()))
        opener = decode if hasattr(decode, "_lazy") and is_ours(type(decode)) else None
        for number, known in enumerate(self.decoders):
            if _settings(known) == _settings(opener):
                return number
        self.decoders.append(opener)
        return len(self.decoders) - 1


def _settings(decode: Any) -> Any:
    return None if decode is None else (decode.mode, decode.exif, decode.jpeg_tables, decode.colorspace)


def pipeline_of(transform: Any) -> Any:
    """A pipeline that does what a transform does."""
    # Views have a program, and are called as any callable is.
    if isinstance(transform, Pipeline) and transform._is_own() and not hasattr(transform, "_program"):
        return transform
    v2 = sys.modules.get("fastaug.transforms.v2")
    if v2 is not None and isinstance(transform, v2.Transform):
        return v2.Compose([transform])
    return Compose([transform])


def _joins(first: Any, second: Any) -> bool:
    """Whether a draft of one pipeline may go on as a draft of the next."""
    if isinstance(first, SamplePipeline) is not isinstance(second, SamplePipeline):
        return False
    one, two = first._call, second._call
    same = one.rewrites == two.rewrites and one.pillow == two.pillow
    return same and getattr(first, "dtype", None) is None and getattr(first, "memory_format", None) is None


def _writes(pipeline: Any) -> bool:
    """Whether a transform of v2 may write to leaves of which there are no drafts."""
    modules = getattr(pipeline, "modules", None)
    inner = list(modules()) if modules is not None else list(getattr(pipeline, "transforms", ()))
    return any(getattr(module, "inplace", False) for module in inner)


def _inside(node: Any) -> Iterator[Any] | None:
    """What a list, tuple or dictionary holds; None of anything else."""
    if isinstance(node, (list, tuple)):
        return iter(node)
    return iter(node.values()) if isinstance(node, dict) else None


def values_of(result: Any) -> Iterator[Value]:
    """The values in a result, one after the other."""
    if isinstance(result, Value):
        yield result
        return
    for part in _inside(result) or ():
        yield from values_of(part)


def built(result: Any, values: Any) -> Any:
    """A result, with what `values` holds, by number, in the place of values."""
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


def taken(result: Any, whole: Any, values: dict[int, Any]) -> None:
    """Puts into `values`, by number, what :func:`built` put into a whole in the places of values."""
    if isinstance(result, Value):
        values[result.index] = whole
        return
    parts = _inside(result)
    if parts is not None:
        inner = _inside(whole)
        assert inner is not None
        for part, value in zip(parts, inner):
            taken(part, value, values)


def is_collated_by_parts(result: Any) -> bool:
    """Whether torch's default_collate makes of many such results one that is as it is, with batches for values."""
    if type(result) is Value:
        return True
    if type(result) is list:
        return all(map(is_collated_by_parts, result))
    return type(result) is dict and all(map(is_collated_by_parts, result.values()))
