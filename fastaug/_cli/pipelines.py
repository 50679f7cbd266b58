"""Load a user's pipeline, and report errors of the user and images that cannot be read."""

from __future__ import annotations

import argparse
import importlib
import operator
import re
import runpy
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastaug
from fastaug._draft.pipeline import Pipeline
from fastaug._inspect import words

#: The largest number of failed images to print.
_SHOWN = 20


class CommandError(RuntimeError):
    """An error of the user, in words."""


def load(spec: str, name: str | None, mode: Any) -> Any:
    """Return the pipeline with that name in a user's file or module.

    Args:
        spec: path of a file or name of a module, optionally followed by a colon and a name.
        name: name of the variable, instead of the one in `spec`.
        mode: mode to compile it in, or None for its own.
    """
    where, _, after = (spec, "", "") if Path(spec).is_file() else spec.partition(":")
    if after and name and after != name:
        raise CommandError(f"{spec} names one variable, and --name {name} another one")
    wanted = after or name or "transform"
    names = _names_in(where)
    try:
        value = operator.attrgetter(wanted)(argparse.Namespace(**names))
    except AttributeError:
        found = [
            key
            for key, other in names.items()
            if callable(other) and not isinstance(other, type) and not key.startswith("_")
        ]
        hint = f"; it has {', '.join(sorted(found))}: choose with --name" if found else ""
        raise CommandError(f"{where} defines no variable {wanted!r}{hint}") from None
    if not callable(value):
        raise CommandError(f"{wanted!r} in {where} is no transform but {type(value).__name__}")
    if mode is None and isinstance(value, Pipeline):
        return value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = fastaug.compile(value, mode="exact" if mode is None else mode)
    for one in caught:
        note(str(one.message))
    return compiled


def _names_in(where: str) -> dict[str, Any]:
    """Return the variables that a file or a module defines."""
    path = Path(where)
    is_module = not path.is_file() and re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", where) and not where.endswith(".py")
    if not path.is_file() and not is_module:
        raise CommandError(f"there is no file {where}")
    # Like `python pipeline.py` or `python -m`.
    sys.path.insert(0, str(Path.cwd() if is_module else path.resolve().parent))
    try:
        if is_module:
            return vars(importlib.import_module(where))
        return runpy.run_path(where, run_name="__fastaug__")
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if is_module and missing is not None and f"{where}.".startswith(f"{missing}."):
            raise CommandError(f"there is no file and no module {where}") from None
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename}:{last.lineno}"
        raise CommandError(f"{where} cannot be run: {words.failure(error)} ({place})") from error
    finally:
        sys.path.pop(0)


def note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def reported(failed: Sequence[tuple[str, Exception]]) -> int:
    """Print the images that cannot be read with their errors, and return the exit code: 1 if there are any."""
    for path, error in failed[:_SHOWN]:
        print(f"failed: {path}: {words.failure(error)}", file=sys.stderr)
    if len(failed) > _SHOWN:
        print(f"  and {len(failed) - _SHOWN} more", file=sys.stderr)
    return int(bool(failed))
