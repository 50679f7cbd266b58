"""Which classes a process has: torchvision's where it is installed, and else our own. They are never mixed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_chosen: ModuleType | None = None


def chosen() -> ModuleType:
    """The module of the classes. The first call decides, and imports torchvision, which takes a second.

    A torchvision that is too old to have tv_tensors leaves the place to ours. One that is broken raises what it raises.
    """
    global _chosen
    if _chosen is None:
        try:
            _chosen = importlib.import_module("torchvision.tv_tensors")
        except ModuleNotFoundError as error:
            if error.name not in ("torchvision", "torchvision.tv_tensors"):
                raise
            from fastaug._tv_tensors import own

            _chosen = own
    return _chosen


def loaded() -> ModuleType | None:
    """The module of the classes, or None while nobody has asked for one: then no object can be of any of them."""
    return chosen() if _chosen or "torchvision.tv_tensors" in sys.modules else None


_builtin: dict[type, bool] = {}


def is_builtin(cls: type) -> bool:
    """Whether a class is one of theirs, and no user's that is derived from one."""
    known = _builtin.get(cls)
    if known is None:
        homes = ("torchvision.tv_tensors", "fastaug.tv_tensors", "fastaug._tv_tensors")
        known = _builtin[cls] = cls.__module__.startswith(homes)
    return known
