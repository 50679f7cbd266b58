"""Who watches a sample on its way through transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watch:
    """Hears what becomes of a sample. This one does nothing about it.

    A sample knows who watches it, and these know no samples: they have no type here.
    """

    def begin(self, transform: Any, sample: Any) -> None:
        """A transform is about to change the sample. Calls nest: containers begin before, and end after, the others."""

    def end(self, transform: Any, sample: Any) -> None:
        """It has."""

    def log(self, sample: Any, index: int) -> Any:
        """What hears of the draft of a leaf (fastaug._draft.call.Log), or None."""

    def arrive(self, sample: Any, index: int) -> None:
        """The transform that began last is about to be called with a leaf."""

    def leave(self, sample: Any, index: int, before: Any) -> None:
        """It has been: with this leaf, in whose place the sample has the result."""

    def finishing(self, sample: Any) -> None:
        """All that is to be done to the drafts so far is about to be done."""

    def finished(self, sample: Any) -> None:
        """It has been, and results are in the places of drafts."""

    def called(self, function: Callable[..., Any], sample: Any) -> None:
        """After `finished`, a function was called with the sample, and returned what it now is."""
