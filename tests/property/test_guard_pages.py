"""No byte outside the source is read and none outside the result written, on every instruction set."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import ISAS, python
from support.scale import cases

SCRIPT = Path(__file__).with_name("guarded.py")


@pytest.mark.parametrize("isa", ISAS)
def test_guard_pages(isa: str) -> None:
    count = cases(400)
    result = python([str(SCRIPT), "0", str(count)], isa=isa)
    last = result.stderr.strip().splitlines()[-1:] or ["(no output)"]
    assert result.returncode >= 0, f"killed by signal {-result.returncode} at {last[0]}"
    assert result.returncode == 0, result.stderr[-4000:]
    assert result.stdout.strip() == str(count)


def test_the_guard_itself_bites() -> None:
    """A read one byte past the end does end the process, so the test above can fail."""
    code = "from guarded import Guarded; import ctypes; g = Guarded(10, True); ctypes.string_at(g.address, 11)"
    assert python(["-c", code], folder=SCRIPT.parent).returncode == -11
