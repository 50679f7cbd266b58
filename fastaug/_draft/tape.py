"""Parameters as plain data: kept while a pipeline draws them, and handed out again in place of new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from fastaug._draft.draws import Draws
from fastaug._draft.generators import get_states, moved

#: One entry for each transform that drew, in the order in which they did: its class's name under "transform", and its
#: parameters by their names.
Params = list[dict[str, Any]]


# Most of what is drawn. To ask whether something is an iterator takes longer.
_PLAIN = frozenset((int, float, bool, str, type(None)))


def at_once(drawn: Any) -> Any:
    """What `_sample` returned, with lists in the place of iterators, which draw the more the further they get."""
    if type(drawn) in _PLAIN:
        return drawn
    if isinstance(drawn, tuple):
        return tuple([part if type(part) in _PLAIN else at_once(part) for part in drawn])
    return list(map(at_once, drawn)) if isinstance(drawn, Iterator) else drawn


def while_used(drawn: Any) -> tuple[Any, Any]:
    """What `_sample` returned, to be used in its place; and the same with lists, which fill as it is used."""
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


# The packages whose classes are transforms, and those of them that call functions of the user's.
_TRANSFORMS, _OF_FUNCTIONS = ("torchvision.transforms.", "fastaug."), ("Lambda",)


def called(tape: Any, transform: Any, call: Callable[[], Any]) -> Any:
    """What a transform gives that is called, and whose draws no tape keeps.

    A function of the user's draws what it draws. A tape that is strict refuses a transform that does.

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
    """Whether a callable is a transform of torchvision's or of this package, or is derived from one."""
    names = [base.__name__ for base in type(transform).__mro__ if base.__module__.startswith(_TRANSFORMS)]
    return bool(names) and names[0] not in _OF_FUNCTIONS


class Recording:
    """Keeps what transforms draw, in `params`.

    That is made of numbers, strings, None, lists and tuples, and pickles. It survives JSON too, but for noise (of
    ElasticTransform and of RandomErasing with value="random"), which is kept as the state that torch's generator had
    before it: bytes. What a user's own get_params returns is kept as it is. Callables that are no transforms of this
    package draw for themselves and are not recorded.

    Args:
        strict: whether a transform that is called, and draws, is an error.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.params: Params = []

    def take(self, transform: Any, draft: Any) -> Any:
        """Draws, and keeps it."""
        used, drawn = while_used(transform._sample(draft))
        names = transform._drawn
        entry = {"transform": type(transform).__name__}
        if len(names) == 1:
            entry[names[0]] = drawn
        else:
            entry.update(dict.fromkeys(names) if drawn is None else zip(names, drawn))
        self.params.append(entry)
        return used


class Entries:
    """Parameters that were kept, from which a tape reads one entry after the other.

    Args:
        entries: what a recording of the same pipeline kept, also after a round trip through JSON.
        strict: whether a transform that is called, and draws, is an error.

    Raises:
        TypeError: not a sequence of dictionaries.
    """

    def __init__(self, entries: Sequence[dict[str, Any]], strict: bool = False) -> None:
        self.strict = strict
        if isinstance(entries, (str, bytes, dict)) or not isinstance(entries, Sequence):
            raise TypeError(f"params should be a list of dictionaries, as sample() returns it. Got {type(entries)}")
        for entry in entries:
            if not isinstance(entry, dict):
                raise TypeError(f"params should be a list of dictionaries, as sample() returns it. Got {entry!r} in it")
        self.entries = entries
        self._position = 0

    def end(self) -> None:
        """Check that the pipeline has used all entries.

        Raises:
            ValueError: there are entries left.
        """
        if self._position < len(self.entries):
            raise ValueError(
                f"params do not belong to this pipeline: it used {self._position} of {len(self.entries)} entries, and "
                f"the next one is of {self.entries[self._position].get('transform')}"
            )


class Replaying(Entries):
    """Hands out parameters that were kept, in their order. Nothing is drawn.

    Args:
        params, strict: as for `Entries`.
        subset: whether entries of transforms that the pipeline does not have are skipped.
    """

    def __init__(self, params: Sequence[dict[str, Any]], subset: bool = False, strict: bool = False) -> None:
        super().__init__(params, strict)
        self.subset = subset

    def take(self, transform: Any, draft: Any) -> Any:
        """The next parameters.

        Raises:
            ValueError: they are not such as `transform` draws.
        """
        name, names = type(transform).__name__, transform._drawn
        if self.subset:
            self._skip(name, names)
        if self._position == len(self.entries):
            raise ValueError(
                f"params do not belong to this pipeline: {name} needs {_listed(names)}, but all {len(self.entries)} "
                "entries have been used"
            )
        entry = self.entries[self._position]
        if entry.get("transform") != name or entry.keys() != {"transform", *names}:
            raise ValueError(
                f"params do not belong to this pipeline: {name} needs {_listed(names)}, but entry {self._position} "
                f"is of {entry.get('transform')} with {_listed(key for key in entry if key != 'transform')}"
            )
        self._position += 1
        if len(names) == 1:
            return entry[names[0]]
        drawn = tuple(entry[key] for key in names)
        return None if all(value is None for value in drawn) else drawn

    def _skip(self, name: str, names: Any) -> None:
        """Goes to the next entry of a transform of this name."""
        for position in range(self._position, len(self.entries)):
            if self.entries[position].get("transform") == name:
                self._position = position
                return
        raise ValueError(
            f"params lack what this pipeline needs: {name} needs {_listed(names)}, but of the {len(self.entries)} "
            f"entries none from entry {self._position} on is of {name}"
        )

    def end(self) -> None:
        if not self.subset:
            super().end()


def _listed(names: Any) -> str:
    return ", ".join(map(str, names)) or "nothing"


def noise_state(draws: Draws) -> bytes:
    """The state of the generator that torch itself is about to draw from: what noise is kept as."""
    generator = torch.default_generator if draws.generator is None else draws.generator
    state: bytes = generator.get_state().numpy().tobytes()
    return state


def generator_at(state: bytes) -> torch.Generator:
    """A generator of its own that draws what torch's drew from there.

    Raises:
        TypeError: not bytes: JSON does not keep them.
    """
    if not isinstance(state, bytes):
        raise TypeError(f"noise should be the bytes that were recorded. Got {type(state)}")
    generator = torch.Generator()
    generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    return generator
