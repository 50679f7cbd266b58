"""What one call of a pipeline shares: where its random numbers come from, and who else wants to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fastaug import _C
from fastaug._draft.draws import DEFAULT, Draws, TorchDraws

if TYPE_CHECKING:
    from fastaug._cuda.kernels import Family


class Log(Protocol):
    """Hears what becomes of an image on its way through a pipeline.

    A draft knows its call; a call knows no drafts, so these have no type here.
    """

    def begin(self, transform: Any, draft: Any) -> None:
        """A transform is about to be drafted. Calls nest: containers begin before, and end after, what they hold."""

    def end(self, transform: Any, draft: Any) -> None:
        """It has been."""

    def barrier(self, transform: Any, draft: Any) -> None:
        """`transform` cannot be drafted and will be called with the image so far."""

    def replaced(self, draft: Any, name: str) -> None:
        """What stands in the place of the function `name` is about to be called with the image so far."""

    def eager(self, draft: Any, name: str) -> None:
        """Pillow or torch are about to do the op `name` on the image so far: the native core does not."""

    def decoding(self, draft: Any, reason: str) -> None:
        """Pillow is about to decode the draft's image."""

    def kept(self, draft: Any, before: bool) -> None:
        """The draft's image has the pixels that it keeps: since before this call, or it was just decoded for it."""

    def delegated(self, draft: Any, library: str) -> None:
        """`library` is about to do the draft's one op."""

    def run(self, jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], rewrites: int) -> None:
        """In place of _C.run, with its arguments."""


class Tape(Protocol):
    """Keeps the parameters that transforms draw, or hands out those that were kept."""

    def take(self, transform: Any, draft: Any) -> Any:
        """In place of transform._sample(draft)."""


class Beside(Protocol):
    """Has drafts that wait, of images which somebody who is handed an image may write to."""

    def settle(self) -> None:
        """Does all that waits."""


class Call:
    """The settings of a call."""

    __slots__ = (
        "beside",  # what waits beside the draft; None where nothing does
        "draws",
        "family",  # of the kernels for devices; None is that of all calls which have none of their own
        "log",
        "pillow",  # uint8 tensors, too, are computed by Pillow's rules
        "rewrites",
        "run",
        "tape",
        "traced",  # torch has to see every op on a tensor
    )

    def __init__(
        self,
        draws: Draws = DEFAULT,
        rewrites: int = _C.EXACT,
        log: Log | None = None,
        tape: Tape | None = None,
        traced: bool = False,
        family: Family | None = None,
        pillow: bool = False,
        beside: Beside | None = None,
    ) -> None:
        self.beside = beside
        self.draws = draws
        self.family = family
        self.pillow = pillow
        self.rewrites = rewrites
        self.log = log
        self.tape = tape
        self.run: Any = _C.run if log is None else log.run
        self.traced = traced

    def as_traced(self) -> Call:
        """The same call while torch traces."""
        if self is PLAIN:
            return _TRACED
        if self.traced:
            return self
        return self.like(draws=TorchDraws(self.draws.generator), traced=True)

    def like(self, **settings: Any) -> Call:
        """The same call but for these arguments of the constructor."""
        for name in _SETTINGS:
            settings.setdefault(name, getattr(self, name))
        return Call(**settings)


_SETTINGS = ("draws", "rewrites", "log", "tape", "traced", "family", "pillow", "beside")


#: An exact call that nobody watches.
PLAIN = Call()

_TRACED = Call(TorchDraws(), traced=True)
