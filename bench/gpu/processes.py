"""Processes that end in time, together with those that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Those that run now.
_RUNNING: set[int] = set()


class Late(Exception):
    """A process was not done in time."""


def run(command: Sequence[str], seconds: float, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the root of the checkout; `environment` is added to that of this process.

    Raises:
        Late: it was not done after so many seconds. It is ended then, and all that it started.
    """
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        _RUNNING.add(process.pid)
        try:
            printed, said = process.communicate(timeout=max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            raise Late(f"not done after {max(seconds, 0.0):.0f} s") from None
        finally:
            # The child of a tool outlives it and keeps its pipes open.
            _kill(process.pid)
            _RUNNING.discard(process.pid)
    return subprocess.CompletedProcess(list(command), process.returncode, printed, said)


def stop() -> None:
    """End all that `run` has begun."""
    for group in list(_RUNNING):
        _kill(group)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
