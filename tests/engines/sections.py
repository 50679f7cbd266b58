"""Sections of docs/engines.md, in this process or as scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.pages import blocks, run_blocks

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def run_section(heading: str) -> dict[str, Any]:
    """The names that the section leaves; the beginning of the page stands before it."""
    # Functions of a script go to other processes as they are, and those of a module by their names.
    names: dict[str, Any] = {"__name__": "__main__"}
    run_blocks(PAGE, names, {"", heading})
    return names


def write_script(heading: str, path: Path, end: str) -> Path:
    """The section as a script for processes of their own, whose last lines are those."""
    text = "".join(text for _, text, _ in blocks(PAGE, {"", heading}))
    path.write_text(f'{text}\nif __name__ == "__main__":\n    {end}\n')
    return path
