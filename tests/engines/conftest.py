"""What every engine's tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines.photographs import Reference, write_photographs
from engines.sections import run_section


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Engines may warn; that our own loader does is an error."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default"))
        item.add_marker(pytest.mark.filterwarnings("error:fastaug"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, where the folder `photographs` is."""
    monkeypatch.chdir(tmp_path)
    return write_photographs(tmp_path)


@pytest.fixture
def section(place: Path) -> Callable[[str], dict[str, Any]]:
    """Runs a section of the page, and gives the names that it leaves."""
    return run_section


@pytest.fixture
def reference(place: Path) -> Reference:
    return Reference(place)
