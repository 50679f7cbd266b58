"""Functions that are called with modules when these are imported, or at once if they are."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Use = Callable[[ModuleType], None]

_waiting: dict[str, list[Use]] = {}
_busy = threading.local()

#: What went wrong, by the names of modules.
failures: dict[str, str] = {}


def when_imported(name: str, use: Use) -> None:
    """Call a function with a module that is imported, or else as soon as it is. Import nothing."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _call(use, module)
        return
    _waiting.setdefault(name, []).append(use)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def forget() -> None:
    """Wait for no module any longer."""
    _waiting.clear()
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def _call(use: Use, module: ModuleType) -> None:
    try:
        use(module)
    except Exception as error:  # the program goes on with torchvision as it is
        failures[module.__name__] = f"{type(error).__name__}: {error}"


class _Finder:
    """A finder that finds what the others find, and has the loader tell when the module is there."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        busy: frozenset[str] = getattr(_busy, "names", frozenset())
        if name not in _waiting or name in busy:
            return None
        _busy.names = busy | {name}
        try:
            spec = importlib.util.find_spec(name)
        finally:
            _busy.names = busy
        return spec if spec is None or spec.loader is None else _told(spec, name)


def _told(spec: ModuleSpec, name: str) -> ModuleSpec:
    loader: Any = spec.loader
    run: Any = getattr(loader, "exec_module", None)

    def exec_module(module: ModuleType) -> None:
        run(module)
        for use in _waiting.pop(name, ()):
            _call(use, module)

    if run is not None:
        # The loader is the module's own, except for built-in modules, for which nobody waits.
        loader.exec_module = exec_module
    return spec


_finder = _Finder()
