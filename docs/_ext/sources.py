"""Where the source of a public name is: classes and functions go by public modules, and viewcode looks for the file."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer


def home(module: str, name: str) -> str | None:
    """The module of fastaug that the source of an attribute of a module is written in, if it is in one."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    if inspect.isfunction(value):
        written = inspect.unwrap(value).__globals__.get("__name__")
        return written if isinstance(written, str) and written.startswith("fastaug") else None
    first = name.split(".")[0]
    whole = getattr(sys.modules.get(module), first, None)
    for other in list(sys.modules):
        if other.startswith("fastaug") and vars(sys.modules[other]).get(first) is whole and _defines(other, name):
            return other
    return None


def _defines(module: str, name: str) -> bool:
    try:
        return name in ModuleAnalyzer.for_module(module).find_tags()
    except PycodeError:  # made of C++, or of nothing
        return False


def follow(_: Any, module: str, name: str) -> str | None:
    """For Sphinx's event viewcode-follow-imported."""
    return home(module, name) if module else None
