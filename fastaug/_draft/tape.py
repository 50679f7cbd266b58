"""Parameters as plain data: kept while a pipeline draws them, and used again instead of new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import torch

from fastaug._draft.draws import Draws
from fastaug._draft.generators import get_states, moved

_Drawn = TypeVar("_Drawn")

#: One entry for each transform that drew, in their order: the name of its class under "transform", and its parameters
#: by their names.
Params = list[dict[str, Any]]

# The types of most parameters. The check for an iterator takes longer.
_PLAIN = frozenset((int, float, bool, str, type(None)))


def at_once(drawn: Any) -> Any:
    """Return the result of `_sample` with lists instead of iterators, which draw as they advance."""
    if type(drawn) in _PLAIN:
        return drawn
    if isinstance(drawn, tuple):
        return tuple([part if type(part) in _PLAIN else at_once(part) for part in drawn])
    return list(map(at_once, drawn)) if isinstance(drawn, Iterator) else drawn


def while_used(drawn: Any) -> tuple[Any, Any]:
    """Return a replacement for the result of `_sample`, and the same with lists, which fill while it is used."""
    if isinstance(drawn, tuple):
        parts = [while_used(part) for part in drawn]
        return tuple(used for used, _ in parts), tuple(kept for _, kept in parts)
    return _filling(drawn, []) if isinstance(drawn, Iterator) else (drawn, drawn)


def _filling(drawn: Iterator[Any], kept: list[Any]) -> tuple[Iterator[Any], list[Any]]:
    def use() -> Iterator[Any]:
        for part in drawn:
            used, keeping = while_used(part)
            kept.append(keeping)
            yield used

    return use(), kept


# The packages whose classes are transforms, and their classes that call user code.
_TRANSFORMS, _OF_FUNCTIONS = ("torchvision.transforms.", "fastaug."), ("Lambda",)


def called(tape: Any, transform: Any, call: Callable[[], Any]) -> Any:
    """Return the result of a transform that is called, so that no tape keeps its draws.

    User code may draw. A strict tape refuses a transform that draws.

    Raises:
        ValueError: the transform drew.
    """
    if not getattr(tape, "strict", False) or not _is_transform(transform):
        return call()
    before = get_states()
    result = call()
    if moved(before, get_states()):
        name = type(transform).__name__
        raise ValueError(
            f"sample and replay cannot keep what {name} draws: it is called as it is, and draws while it transforms. "
            f"They take pipelines of which fastaug knows what every transform draws, so leave out {name}, let "
            "fastaug.compile read it, or derive it from fastaug.Drawn"
        )
    return result


def _is_transform(transform: Any) -> bool:
    """Return whether a callable is a transform of torchvision or of this package, or is derived from one."""
    names = [base.__name__ for base in type(transform).__mro__ if base.__module__.startswith(_TRANSFORMS)]
    return bool(names) and names[0] not in _OF_FUNCTIONS


class Recording:
    """A tape that keeps what transforms draw, in `entries`, one for each that draws.

    Parameters are numbers, strings, None, lists and tuples, and can be pickled. They survive JSON too, except for noise
    (of ElasticTransform, of GaussianNoise, and of RandomErasing with value="random"). Noise is kept as bytes, the
    earlier state of torch's generator. The result of a user's get_params is kept as it is, and the draws of other
    callables are not recorded. An entry of a transform of samples has its decision ("applied", "choice" or "order") and
    the results of its make_params; one of single images has the entries of its own tape, under "params".

    Args:
        strict: whether a transform that is called, and draws, is an error.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.entries: Params = []
        self._last: Any = None  # the transform of the last entry, if that is a decision

    def take(self, transform: Any, draft: Any) -> Any:
        used, drawn = while_used(transform._sample(draft))
        names = transform._drawn
        entry = {"transform": type(transform).__name__}
        if len(names) == 1:
            entry[names[0]] = drawn
        else:
            entry.update(dict.fromkeys(names) if drawn is None else zip(names, drawn))
        self.entries.append(entry)
        return used

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        value = draw()
        self.entries.append({"transform": type(transform).__name__, name: value})
        self._last = transform
        return value

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        params = {name: at_once(value) for name, value in draw().items()}
        if self._last is not transform or set(self.entries[-1]) != {"transform", "applied"}:
            self.entries.append({"transform": type(transform).__name__})
        self.entries[-1].update(params)
        self._last = None
        return params

    def inner(self, transform: Any, run: Callable[[Any], Any]) -> Any:
        tape = Recording(self.strict)
        result = run(tape)
        self.drawn(transform, "params", lambda: tape.entries)
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        self.drawn(transform, "noise", partial(noise_state, draws))
        return None


class Replaying:
    """A tape that returns parameters that were kept, in their order. Nothing is drawn.

    Args:
        params: what a recording of the same pipeline kept, also after a round trip through JSON.
        subset: whether entries of transforms that the pipeline does not have are skipped.
        strict: whether a transform that is called, and draws, is an error.

    Raises:
        TypeError: not a sequence of dictionaries.
        ValueError: from all methods, if the next entry does not belong to the transform.
    """

    def __init__(self, params: Sequence[dict[str, Any]], subset: bool = False, strict: bool = False) -> None:
        self.strict = strict
        self.subset = subset
        if isinstance(params, (str, bytes, dict)) or not isinstance(params, Sequence):
            raise TypeError(f"params should be a list of dictionaries, as sample() returns it. Got {type(params)}")
        for entry in params:
            if not isinstance(entry, dict):
                raise TypeError(f"params should be a list of dictionaries, as sample() returns it. Got {entry!r} in it")
        self.entries = params
        self._position = 0
        self._last: Any = None

    def take(self, transform: Any, draft: Any) -> Any:
        names = transform._drawn
        entry = self._next(transform, names, whole=True)
        if len(names) == 1:
            return entry[names[0]]
        drawn = tuple(entry[key] for key in names)
        return None if all(value is None for value in drawn) else drawn

    def drawn(self, transform: Any, name: str, draw: Callable[[], Any] | None = None) -> Any:
        value = self._next(transform, (name,))[name]
        self._last = transform
        return value

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        last, self._last = self._last, None
        entry = self.entries[self._position - 1] if last is transform else self._next(transform)
        return {name: value for name, value in entry.items() if name not in ("transform", "applied")}

    def inner(self, transform: Any, run: Callable[[Any], Any]) -> Any:
        tape = Replaying(self.drawn(transform, "params"), strict=self.strict)
        result = run(tape)
        tape.end()
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        return generator_at(self.drawn(transform, "noise"))

    def _next(self, transform: Any, names: Sequence[str] = (), whole: bool = False) -> dict[str, Any]:
        """Return the next entry, which has parameters of these names, and if `whole` no others."""
        self._last = None
        name = type(transform).__name__
        needs = f"{name} needs {_listed(names) or 'parameters'}"
        if self.subset:
            self._skip(name, needs)
        if self._position == len(self.entries):
            raise ValueError(
                f"params do not belong to this pipeline: {needs}, but all {len(self.entries)} entries have been used"
            )
        entry = self.entries[self._position]
        others = entry.keys() - {"transform", *names}
        if entry.get("transform") != name or not entry.keys() >= set(names) or (whole and others):
            raise ValueError(
                f"params do not belong to this pipeline: {needs}, but entry {self._position} is of "
                f"{entry.get('transform')} with {_listed(key for key in entry if key != 'transform') or 'nothing'}"
            )
        self._position += 1
        return entry

    def _skip(self, name: str, needs: str) -> None:
        """Go to the next entry of a transform of this name."""
        for position in range(self._position, len(self.entries)):
            if self.entries[position].get("transform") == name:
                self._position = position
                return
        raise ValueError(
            f"params lack what this pipeline needs: {needs}, but of the {len(self.entries)} entries none from entry "
            f"{self._position} on is of {name}"
        )

    def end(self) -> None:
        """Check that the pipeline has used all entries.

        Raises:
            ValueError: there are entries left, and this is not a `subset`.
        """
        if self._position < len(self.entries) and not self.subset:
            raise ValueError(
                f"params do not belong to this pipeline: it used {self._position} of {len(self.entries)} entries, and "
                f"the next one is of {self.entries[self._position].get('transform')}"
            )


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))


def noise_state(draws: Draws) -> bytes:
    """Return the state of the generator from which torch draws next, as which noise is kept."""
    generator = torch.default_generator if draws.generator is None else draws.generator
    state: bytes = generator.get_state().numpy().tobytes()
    return state


def generator_at(state: bytes) -> torch.Generator:
    """Return a separate generator with that state.

    Raises:
        TypeError: not bytes: JSON does not keep them.
    """
    if not isinstance(state, bytes):
        raise TypeError(f"noise should be the bytes that were recorded. Got {type(state)}")
    generator = torch.Generator()
    generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    return generator
