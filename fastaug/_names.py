"""The names that classes and functions go by in pickles: those of public modules, and those of earlier versions."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Modules of earlier versions, what pickles name in them, and where that is now.
_MOVED = {
    "fastaug._compiled": {"Compiled": "fastaug"},
    "fastaug._encoded": {"LazyImage": "fastaug.io"},
    "fastaug._interpolation": {"InterpolationMode": "fastaug.transforms"},
}

#: What pickles of torchvision's tv_tensors name, in its private modules. Where torchvision is not installed, that is
#: found in fastaug.tv_tensors. They name `wrap` in a public module, which nothing may stand in for.
_TV_TENSORS = {
    "torchvision.tv_tensors._bounding_boxes": ["BoundingBoxFormat", "BoundingBoxes", "is_rotated_bounding_format"],
    "torchvision.tv_tensors._image": ["Image"],
    "torchvision.tv_tensors._keypoints": ["KeyPoints"],
    "torchvision.tv_tensors._mask": ["Mask"],
    "torchvision.tv_tensors._torch_function_helpers": ["set_return_type"],
    "torchvision.tv_tensors._tv_tensor": ["TVTensor"],
    "torchvision.tv_tensors._video": ["Video"],
}


def publish(module: dict[str, Any]) -> None:
    """Lets the classes and functions that a public module hands out go by its name; given its globals.

    Those that another public module has given its name keep that.
    """
    for name in module["__all__"]:
        value = module[name]
        if (inspect.isclass(value) or inspect.isfunction(value)) and "._" in value.__module__:
            value.__module__ = module["__name__"]


def is_ours(cls: type) -> bool:
    """Whether a class is of this package, and not a user's that is derived from one."""
    return cls.__module__.partition(".")[0] == "fastaug"


class _Moved(ModuleType):
    """A module that is no more: unpickling imports it by its name, and takes from it what it names."""

    def __getattr__(self, name: str) -> Any:
        home = _MOVED[self.__name__].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)


class _Watched(ModuleSpec):
    """The spec of a module that is told when it is imported: every import asks first whether it is initializing."""

    def __init__(self, name: str, imported: Callable[[], None]) -> None:
        super().__init__(name, None)
        self._imported = imported

    @property
    def _initializing(self) -> bool:
        self._imported()
        return False

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        """Set by the constructor, and never true."""


class _Absent(ModuleType):
    """A module of torchvision's, where torchvision is not installed: for pickles, which import it by its whole name.

    Unpickling imports the module, which it finds, and then the package, torchvision. That is there for this one import,
    so that all others of torchvision still fail and tell that it is not installed. Should it be installed later in the
    life of the process, its modules find these in their place, which then step aside.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, "Absent.")
        self.__spec__ = _Watched(name, _come)

    def __getattr__(self, name: str) -> Any:
        _go()
        if sys.modules.get("torchvision") not in (None, _PACKAGE) and not name.startswith("__"):
            for other in _TV_TENSORS:
                if isinstance(sys.modules.get(other), _Absent):
                    del sys.modules[other]
            return getattr(importlib.import_module(self.__name__), name)
        if name not in _TV_TENSORS[self.__name__]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module("fastaug.tv_tensors"), name)


# The threads that have imported such a module, and have not yet found the package.
_importing: set[int] = set()
_lock = threading.RLock()


def _come() -> None:
    with _lock:
        _importing.add(threading.get_ident())
        sys.modules.setdefault("torchvision", _PACKAGE)


def _go() -> None:
    with _lock:
        _importing.discard(threading.get_ident())
        # A thread that has ended looks for nothing any more.
        _importing.intersection_update(sys._current_frames())
        if not _importing and sys.modules.get("torchvision") is _PACKAGE:
            del sys.modules["torchvision"]


_PACKAGE = ModuleType("torchvision", "Absent.")
_PACKAGE.__spec__ = _Watched("torchvision", _go)


def _has_torchvision() -> bool:
    """Whether torchvision can be imported, found out without doing it."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"] is not None
    try:
        return importlib.util.find_spec("torchvision") is not None
    except ImportError:  # by an importer that keeps it away
        return False


def install() -> None:
    """Has what pickles name be found. Nothing is imported before a pickle names what was in a module."""
    for name in _MOVED:
        sys.modules.setdefault(name, _Moved(name, "Moved."))
    if not _has_torchvision():
        for name in _TV_TENSORS:
            sys.modules.setdefault(name, _Absent(name))
