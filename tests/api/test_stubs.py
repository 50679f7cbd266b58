"""The types of the extension are those that are generated from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fastaug


def test_the_stub_is_that_of_the_extension(tmp_path: Path) -> None:
    pytest.importorskip("pybind11_stubgen")
    command = [sys.executable, "-m", "pybind11_stubgen", "fastaug._C", "--output-dir", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    kept = Path(fastaug.__file__).with_name("_C.pyi")
    assert kept.read_text() == (tmp_path / "fastaug" / "_C.pyi").read_text(), (
        "remove fastaug/_C.pyi, and run `make lint`"
    )
