"""Stand-ins for private modules of torchvision's that pickles of its tv_tensors name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from fastaug._tv_tensors.choice import chosen

#: The names in each module that pickles use. They take `wrap` from a public module, which has no stand-in.
_NAMES = {
    "torchvision.tv_tensors._bounding_boxes": ["BoundingBoxFormat", "BoundingBoxes", "is_rotated_bounding_format"],
    "torchvision.tv_tensors._image": ["Image"],
    "torchvision.tv_tensors._keypoints": ["KeyPoints"],
    "torchvision.tv_tensors._mask": ["Mask"],
    "torchvision.tv_tensors._torch_function_helpers": ["set_return_type"],
    "torchvision.tv_tensors._tv_tensor": ["TVTensor"],
    "torchvision.tv_tensors._video": ["Video"],
}


class _Watched(ModuleSpec):
    """The spec of a module that calls a function at each import, because imports first read `_initializing`."""

    def __init__(self, name: str, imported: Callable[[], None]) -> None:
        self._imported = imported
        super().__init__(name, None)

    _initializing = property(lambda self: self._imported(), lambda self, value: None)


class _Absent(ModuleType):
    """A module that unpickling imports by its whole name while torchvision is not installed.

    Unpickling finds this module, and then imports the package, which exists for this one import only: others still
    fail. Once torchvision is installed, its modules replace these.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, "Absent.")
        self.__spec__ = _Watched(name, _come)

    def __getattr__(self, name: str) -> Any:
        _go()
        if sys.modules.get("torchvision") not in (None, _PACKAGE) and not name.startswith("__"):
            for other in _NAMES:
                if isinstance(sys.modules.get(other), _Absent):
                    del sys.modules[other]
            return getattr(importlib.import_module(self.__name__), name)
        if name not in _NAMES[self.__name__]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(chosen(), name)


# Threads that have imported such a module and not yet the package.
_importing: set[int] = set()
_lock = threading.RLock()


def _come() -> None:
    with _lock:
        _importing.add(threading.get_ident())
        sys.modules.setdefault("torchvision", _PACKAGE)


def _go() -> None:
    with _lock:
        _importing.discard(threading.get_ident())
        # A thread that has ended never finds the package.
        _importing.intersection_update(sys._current_frames())
        if not _importing and sys.modules.get("torchvision") is _PACKAGE:
            del sys.modules["torchvision"]


_PACKAGE = ModuleType("torchvision", "Absent.")
_PACKAGE.__spec__ = _Watched("torchvision", _go)


def _has_torchvision() -> bool:
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"] is not None
    try:
        return importlib.util.find_spec("torchvision") is not None
    except ImportError:  # from an importer that blocks it
        return False


def stand_in() -> None:
    """Install the stand-ins if torchvision is absent. They import nothing before a pickle names them."""
    if not _has_torchvision():
        for name in _NAMES:
            sys.modules.setdefault(name, _Absent(name))
