"""The first module of its name in programs that ``python -m fastaug run`` starts: it runs the next, and switches."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _run_next() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    elsewhere = [path for path in sys.path if os.path.abspath(path or ".") != _here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _run_next()
finally:
    # fastaug may be half removed, or another Python's.
    with contextlib.suppress(Exception):
        importlib.import_module("fastaug._switch.auto")
