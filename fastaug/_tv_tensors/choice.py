"""The choice of the classes of a process: torchvision's if it is installed, otherwise our own, but never both."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_chosen: ModuleType | None = None


def chosen() -> ModuleType:
    """Return the module of the classes. The first call imports torchvision, which takes a second.

    A torchvision that is too old to have tv_tensors counts as absent. A broken one raises its own error.
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
    """Return the module of the classes, or None if it is not loaded, so that no objects of them exist."""
    return chosen() if _chosen or "torchvision.tv_tensors" in sys.modules else None


def classes(*names: str) -> tuple[Any, ...]:
    """Return the loaded classes of these names. Older versions of torchvision have no key points."""
    module = loaded()
    return tuple([getattr(module, name) for name in names if hasattr(module, name)])


def is_tv_tensor(inpt: Any) -> bool:
    return isinstance(inpt, classes("TVTensor"))


def wrapped(tensor: Any, like: Any, **attributes: Any) -> Any:
    """Return a tensor, as a tv_tensor if `like` is one."""
    return chosen().wrap(tensor, like=like, **attributes) if is_tv_tensor(like) else tensor


_builtin: dict[type, bool] = {}


def is_builtin(cls: type) -> bool:
    """Return whether a class is one of torchvision's or ours, and not a user's subclass."""
    known = _builtin.get(cls)
    if known is None:
        homes = ("torchvision.tv_tensors", "fastaug.tv_tensors", "fastaug._tv_tensors")
        known = _builtin[cls] = cls.__module__.startswith(homes)
    return known
