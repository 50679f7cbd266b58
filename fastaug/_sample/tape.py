"""The parameters that transforms of samples draw, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import torch

from fastaug._draft.call import Tape
from fastaug._draft.draws import Draws
from fastaug._draft.tape import Entries, Recording, Replaying, at_once, generator_at, noise_state

_Drawn = TypeVar("_Drawn")


class SampleTape(Protocol):
    """A record of what transforms draw, which keeps it or returns it again."""

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        """Return what `draw` returns: whether, in what order or which of its transforms are done."""

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the parameters of a transform."""

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        """Run a transform of single images, or a container of these, with its own tape."""

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        """Return the generator of a transform's noise; None for that of `draws`, whose state is kept."""


def _name(transform: Any) -> str:
    return type(transform).__name__


class SampleRecording:
    """A tape that appends to `entries` what transforms draw, one entry for each that draws.

    An entry has the name of the transform's class under "transform". It also has whether the transform was applied, its
    choice or its order, and its parameters by torchvision's names. A transform of single images has the entries of its
    own tape under "params". Noise is the state of torch's generator before it, as bytes. If the tape is `strict`, a
    transform that is called, and draws, is an error.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.entries: list[dict[str, Any]] = []
        self._last: Any = None

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        value = draw()
        self._add(transform, name, value)
        self._last = transform
        return value

    def _add(self, transform: Any, name: str, value: Any) -> None:
        self.entries.append({"transform": _name(transform), name: value})
        self._last = None

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        params = {name: at_once(value) for name, value in draw().items()}
        if transform._draws:
            if self._last is not transform or set(self.entries[-1]) != {"transform", "applied"}:
                self.entries.append({"transform": _name(transform)})
            self.entries[-1].update(params)
        self._last = None
        return params

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        tape = Recording(self.strict)
        result = run(tape)
        self._add(transform, "params", tape.entries)
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        self._add(transform, "noise", noise_state(draws))
        return None


class SampleReplaying(Entries):
    """A tape that returns the entries of a `SampleRecording`, in their order. Nothing is drawn."""

    _last: Any = None

    def _next(self, transform: Any) -> dict[str, Any]:
        if self._position == len(self.entries):
            raise ValueError(
                f"params do not belong to this pipeline: it has used all {len(self.entries)} entries, and the next "
                f"transform that draws is {_name(transform)}"
            )
        entry = self.entries[self._position]
        if entry.get("transform") != _name(transform):
            raise ValueError(
                f"params do not belong to this pipeline: entry {self._position} is of {entry.get('transform')}, and "
                f"the next transform that draws is {_name(transform)}"
            )
        self._position += 1
        return entry

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        value: _Drawn = self._value(transform, name)
        self._last = transform
        return value

    def _value(self, transform: Any, name: str) -> Any:
        self._last = None
        entry = self._next(transform)
        if name not in entry:
            raise ValueError(f"params lack {name!r} of {_name(transform)} in entry {self._position - 1}")
        return entry[name]

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        tape = Replaying(self._value(transform, "params"), strict=self.strict)
        result = run(tape)
        tape.end()
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        return generator_at(self._value(transform, "noise"))

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if not transform._draws:
            return draw()
        last, self._last = self._last, None
        entry = self.entries[self._position - 1] if last is transform else self._next(transform)
        return {name: value for name, value in entry.items() if name not in ("transform", "applied")}
