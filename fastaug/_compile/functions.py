"""Read functions by their code: ``lambda image: image.convert("RGB")``."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fastaug import pillow
from fastaug._compile.drawn import Drawn
from fastaug._draft.progress import is_pil, pixels

# Flags of functions with more arguments than their names, or with another result than their last line.
_OTHERWISE = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class Convert(Drawn):
    """A call of ``image.convert(mode)``, by Pillow for a PIL image, or else by a method of the object."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def apply(self, image: Any, params: None) -> Any:
        return pillow.convert(image, self.mode) if is_pil(image) else pixels(image).convert(self.mode)


def read(function: FunctionType) -> Convert | None:
    """Return a transform for a function that only converts a PIL image, or None for any other."""
    code = function.__code__
    if code.co_argcount != 1 or code.co_kwonlyargcount or code.co_freevars or code.co_flags & _OTHERWISE:
        return None
    for mode in {constant for constant in code.co_consts if isinstance(constant, str)}:
        if _instructions(function) in map(_instructions, _templates(mode)):
            return Convert(mode)
    return None


def _templates(mode: str) -> list[Callable[[Any], Any]]:
    """Return such functions, compiled by this version of Python."""
    return [eval(f"lambda image: image.convert({argument}{mode!r})") for argument in ("", "mode=")]


def _instructions(function: Callable[[Any], Any]) -> list[tuple[str, Any]]:
    """Return the code of a function without the name of its argument."""
    return [
        (one.opname, one.arg if one.opname.startswith("LOAD_FAST") else one.argval)
        for one in dis.get_instructions(function)
    ]
