"""Functions that are read by what their code says: ``lambda image: image.convert("RGB")``, wherever it stands."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fastaug import pillow
from fastaug._compile.drawn import Drawn
from fastaug._draft.progress import is_pil, pixels

# What has more than the arguments that it names, or does not return what its last line says.
_OTHERWISE = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


class Convert(Drawn):
    """``image.convert(mode)`` of a PIL image; of anything else, what a method of that name of its own does."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def apply(self, image: Any, params: None) -> Any:
        return pillow.convert(image, self.mode) if is_pil(image) else pixels(image).convert(self.mode)


def read(function: FunctionType) -> Convert | None:
    """What does the same as a function that does no more than to convert a PIL image; None for any other."""
    code = function.__code__
    if code.co_argcount != 1 or code.co_kwonlyargcount or code.co_freevars or code.co_flags & _OTHERWISE:
        return None
    for mode in {constant for constant in code.co_consts if isinstance(constant, str)}:
        if _instructions(function) in map(_instructions, _templates(mode)):
            return Convert(mode)
    return None


def _templates(mode: str) -> list[Callable[[Any], Any]]:
    """Such functions, as this version of Python compiles them."""
    return [eval(f"lambda image: image.convert({argument}{mode!r})") for argument in ("", "mode=")]


def _instructions(function: Callable[[Any], Any]) -> list[tuple[str, Any]]:
    """What the code of a function does, whatever its argument is called."""
    return [
        (one.opname, one.arg if one.opname.startswith("LOAD_FAST") else one.argval)
        for one in dis.get_instructions(function)
    ]
