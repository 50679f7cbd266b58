"""Drafts of tensors whose samples the core does not read: torch does each op at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fastaug._draft.call import PLAIN
from fastaug._draft.draft import Draft
from fastaug._draft.leaf import ImageDraft
from fastaug._draft.traced import TracedCore
from fastaug._program.kinds import TENSOR


class _Direct(Draft):
    """The methods of drafts that look at pending ops. There are none."""

    __slots__ = ()

    def __init__(self, image: torch.Tensor) -> None:
        self.call = PLAIN
        self.device = self._info = None
        self.image = image

    def reset(self, image: Any, read: bool = False) -> None:
        self.image = image
        # `suppress` takes longer than all else here.
        try:  # noqa: SIM105
            del self.core
        except AttributeError:
            pass

    def __getattr__(self, name: str) -> Any:
        """Return the core, made when an op asks for it."""
        if name != "core":
            raise AttributeError(name)
        shape = self.image.shape
        rank = len(shape)
        self.core = core = TracedCore()
        core.begin(
            TENSOR, None, shape[-2], shape[-1], shape[-3] if rank > 2 else 1, () if rank < 4 else tuple(shape[:-3])
        )
        core.flat = rank == 2
        return core

    def handed(self) -> Any:
        return self.image

    finish = flush = handed

    def crop(self, *box: Any) -> None:
        """Crop without asking a core that will decline."""
        self._eager("crop", *box)

    def _eager(self, name: str, *arguments: Any) -> None:
        self.reset(self._torch_functions[name](self.image, *arguments))


class DirectDraft(_Direct):
    """A draft of v1's functions."""

    __slots__ = ()


class DirectImage(_Direct, ImageDraft):
    """A draft of v2's functions."""

    __slots__ = ()

    def __init__(self, image: torch.Tensor) -> None:
        self.cls = None
        self.origin = image
        self.touched = False
        _Direct.__init__(self, image)


def directly(method: Callable[..., Any], draft: type[_Direct]) -> Callable[..., Any]:
    """Return a function that does a method of drafts to a tensor; NotImplemented if that is not an image."""

    def done(image: torch.Tensor, *arguments: Any) -> Any:
        if image.dim() < 2:
            return NotImplemented
        made = draft(image)
        method(made, *arguments)
        return made.image

    return done
