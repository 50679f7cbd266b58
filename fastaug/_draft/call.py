"""The settings that one call of a pipeline shares: the source of its random numbers, its log and its tape."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch

from fastaug import _C
from fastaug._draft.draws import DEFAULT, Draws, TorchDraws

if TYPE_CHECKING:
    from fastaug._cuda.kernels import Family

_Drawn = TypeVar("_Drawn")


class Tape(Protocol):
    """A tape keeps the parameters that transforms draw, or returns those that were kept."""

    def take(self, transform: Any, draft: Any) -> Any:
        """Return parameters instead of transform._sample(draft)."""

    # Of transforms of samples.

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        """Return what `draw` returns: whether, in what order or which of its transforms are done."""

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the result of make_params."""

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        """Run a transform of single images, or a container of these, with its own tape."""

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        """Return the generator of a transform's noise; None for that of `draws`, whose state is kept."""


class Drawing:
    """A tape that draws and keeps nothing, because an outline keeps what was drawn in its works."""

    def take(self, transform: Any, draft: Any) -> Any:
        return transform._sample(draft)


class Drawn:
    """The base of what has been drawn for an image, a sample or views, whose pixels are not made yet."""

    __slots__ = ()

    call: Call

    @abstractmethod
    def finish(self) -> Any:
        """Make the pixels, and return the result."""

    def after(self, take: Callable[[Any], None]) -> Any:
        """Return the result after a function has changed this, and give the generator back to torch in any case."""
        try:
            take(self)
            return self.finish()
        finally:
            self.call.draws.release()

    @property
    def alone(self) -> Any:
        """The draft of the only image; None if there is more than that."""
        return None

    @property
    def complete(self) -> bool:
        """True if a job may make the result."""
        return True

    def drafted(self) -> Any:
        """Return the object that the pipeline finishes."""
        return self


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """The settings of a call."""

    draws: Draws = DEFAULT
    rewrites: int = _C.EXACT
    #: Records how an image is changed (fastaug._inspect.log.ImageLog), or None.
    log: Any = None
    tape: Tape | None = None
    #: torch has to see every op on a tensor.
    traced: bool = False
    #: The kernels for devices; None for the shared family.
    family: Family | None = None
    #: uint8 tensors, too, follow Pillow's rules.
    pillow: bool = False
    #: Has pending drafts besides this one, to settle before user code gets an image (fastaug._views.drawn), or None.
    beside: Any = None
    #: Observes a sample (fastaug._inspect.log.Log), or None.
    watch: Any = None
    #: Runs jobs, as _C.run does.
    run: Any = field(init=False)

    def __post_init__(self) -> None:
        self.run = _C.run if self.log is None else self.log.run

    def as_traced(self) -> Call:
        """Return the same call for the time that torch traces."""
        if self is PLAIN:
            return _TRACED
        if self.traced:
            return self
        return self.like(draws=TorchDraws(self.draws.generator), traced=True)

    def like(self, **settings: Any) -> Call:
        """Return the same call with other arguments of the constructor."""
        return replace(self, **settings)


#: An exact call without a log or a tape.
PLAIN = Call()

_TRACED = Call(TorchDraws(), traced=True)
