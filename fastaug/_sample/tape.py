"""What transforms of samples draw, as plain data: kept, or handed out again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import torch

from fastaug._draft.call import Tape
from fastaug._draft.draws import Draws
from fastaug._draft.tape import Recording, Replaying, at_once, generator_at, noise_state

_Drawn = TypeVar("_Drawn")


class SampleTape(Protocol):
    """Keeps what transforms draw, or hands out what was kept."""

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        """What `draw` gives, or what it gave: whether, in what order or which of its transforms are done."""

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The parameters of a transform."""

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        """What a transform of single images gives, or one that holds such, run with a tape of its own."""

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        """What a transform is to draw noise from; None for the generator of `draws`, which is kept as it is now."""


def _name(transform: Any) -> str:
    return type(transform).__name__


class SampleRecording:
    """Keeps what transforms draw in `entries`, one for each transform that draws, in the order in which they do.

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
        self.entries.append({"transform": _name(transform), "params": tape.params})
        self._last = None
        return result

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        self.entries.append({"transform": _name(transform), "noise": noise_state(draws)})
        self._last = None
        return None


class SampleReplaying:
    """Hands out what was kept, in its order. Nothing is drawn.

    Args:
        entries: of a `SampleRecording` of the same pipeline.
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
        self._last: Any = None

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

    def end(self) -> None:
        """The pipeline is through.

        Raises:
            ValueError: there are entries left.
        """
        if self._position < len(self.entries):
            raise ValueError(
                f"params do not belong to this pipeline: it used {self._position} of {len(self.entries)} entries, and "
                f"the next one is of {self.entries[self._position].get('transform')}"
            )
