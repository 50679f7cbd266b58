"""Tapes that keep the draws of transforms of samples as plain data, or return them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import torch

from fastaug._draft.call import Tape
from fastaug._draft.draws import Draws
from fastaug._draft.tape import Recording, Replaying, at_once, generator_at, noise_state

_Drawn = TypeVar("_Drawn")


class SampleTape(Protocol):
    """A tape that keeps what transforms draw, or returns it again."""

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        """Return what `draw` returns or returned: whether, in what order or which transforms are done."""

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the parameters of a transform."""

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        """Return what a transform of images, or a container of them, gives when it runs with a tape of its own."""

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        """Return the generator that noise is drawn from; None for that of `draws`, whose state is kept."""


def _name(transform: Any) -> str:
    return type(transform).__name__


class SampleRecording:
    """A tape that keeps what transforms draw in `entries`, one for each transform that draws, in their order.

    An entry has the name of the transform's class under "transform". Whether it was applied, its choice or its order,
    and its parameters by torchvision's names, are in the same entry. One of single images, or a container of such, that
    is called has the entries of its own tape under "params". Noise of one number for each sample is kept as the
    state of torch's generator before it: bytes.

    Args:
        strict: whether a transform that is called, and draws, is an error.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.entries: list[dict[str, Any]] = []
        self._last: Any = None

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        value = draw()
        self.entries.append({"transform": _name(transform), name: value})
        self._last = transform
        return value

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
        self.entries.append({"transform": _name(transform), "params": tape.entries})
        self._last = None
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        self.entries.append({"transform": _name(transform), "noise": noise_state(draws)})
        self._last = None
        return None


class SampleReplaying(Replaying):
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
        entry = self._next(transform)
        if name not in entry:
            raise ValueError(f"params lack {name!r} of {_name(transform)} in entry {self._position - 1}")
        return entry[name]

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        self._last = None
        tape = Replaying(self._value(transform, "params"), strict=self.strict)
        result = run(tape)
        tape.end()
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        self._last = None
        return generator_at(self._value(transform, "noise"))

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if not transform._draws:
            return draw()
        last, self._last = self._last, None
        if last is transform:
            entry = self.entries[self._position - 1]
        else:
            entry = self._next(transform)
        return {name: value for name, value in entry.items() if name not in ("transform", "applied")}
