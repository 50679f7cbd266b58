"""The report at the end of a program, with the counts of the processes that it started."""

from __future__ import annotations

import atexit
import json
import multiprocessing.util
import os
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from fastaug._switch import report, times

#: The environment variable with the folder in which processes leave their counts.
_FOLDER = "FASTAUG_INSTALL_REPORTS"


class _Armed:
    """An object that multiprocessing refers to."""


_armed = _Armed()


def arm() -> None:
    """Have this process print the report at its end; or leave its counts for the process that will."""
    times.wanted = True
    prints = _FOLDER not in os.environ
    if prints:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="fastaug-")
    atexit.register(_end, os.getpid(), prints)
    # Children of multiprocessing end without Python's exit functions.
    multiprocessing.util.register_after_fork(_armed, _in_child)


def _in_child(_: _Armed) -> None:
    twins = sys.modules.get("fastaug._switch.twins")
    if twins is not None:
        twins.recount()
    multiprocessing.util.Finalize(None, _leave, exitpriority=0)


def _end(process: int, prints: bool) -> None:
    if os.getpid() != process:
        return
    if not prints:
        _leave()
        return
    folder = Path(os.environ.pop(_FOLDER))
    others = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    shutil.rmtree(folder, ignore_errors=True)
    found = [report.rows(), *([report.Row(**row) for row in rows] for rows in others)]
    print(report.merged(found), file=sys.stderr)


def _leave() -> None:
    path = Path(os.environ.get(_FOLDER, "")) / f"{os.getpid()}.json"
    rows = [asdict(row) for row in report.rows()]
    if rows and path.parent.is_dir():
        path.write_text(json.dumps(rows))
