"""Fresh Python processes that see the same packages as the tests do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fastaug import _C

TESTS = Path(__file__).parents[1]

#: Every instruction set the project knows, best last; those this machine lacks are skipped.
KNOWN_ISAS = ("scalar", "sse4", "avx2", "avx512", "avx512vbmi", "neon")
ISAS = [
    pytest.param(name, marks=[] if name in _C.isas() else pytest.mark.skip(reason=f"this machine has no {name}"))
    for name in KNOWN_ISAS
]


def python(
    arguments: list[str], *, isa: str | None = None, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `python ARGUMENTS` with sys.path as it is here, warnings as errors and, if given, FASTAUG_ISA set."""
    path = [str(part) for part in (folder, TESTS, *sys.path) if part]
    variables = {name: value for name, value in os.environ.items() if name != "FASTAUG_ISA"}
    variables.update(environment, PYTHONPATH=os.pathsep.join(path))
    if isa is not None:
        variables["FASTAUG_ISA"] = isa
    return subprocess.run(
        [sys.executable, *arguments], env=variables, capture_output=True, text=True, timeout=240, check=False
    )
