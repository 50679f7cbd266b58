"""The observer of a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SampleObserver:
    """An observer of a sample, whose methods do nothing. Samples are untyped here, as their module imports this one."""

    def begin(self, transform: Any, sample: Any) -> None:
        """Called before a transform changes the sample. Calls nest: containers begin first, and end last."""

    def end(self, transform: Any, sample: Any) -> None:
        """Called after a transform has changed the sample."""

    def image_log(self, sample: Any, index: int) -> Any:
        """Return the log of the draft of a leaf (fastaug._draft.call.Log), or None."""

    def arrive(self, sample: Any, index: int) -> None:
        """Called before the transform that began last gets a leaf."""

    def leave(self, sample: Any, index: int, before: Any) -> None:
        """Called when the result of the transform has replaced the leaf `before`."""

    def finishing(self, sample: Any) -> None:
        """Called before the drafts are finished."""

    def finished(self, sample: Any) -> None:
        """Called when results have replaced the drafts."""

    def called(self, function: Callable[..., Any], sample: Any) -> None:
        """Called after a function got the finished sample, and the sample became what it returned."""
