"""Runs the examples of pages and docstrings, as a reader would type them."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
DOCTEST_FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def run_doctest(text: str, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, where, where, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=DOCTEST_FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    assert runner.tries and not runner.failures, "".join(report)


def blocks(page: Path, sections: set[str] | None = None) -> Iterator[tuple[str, str, int]]:
    """The examples of a page in Markdown, top to bottom: python or pycon, the text, and the number of the line above.

    Args:
        sections: headings of those that are wanted, "" for what stands before the first; all by default.
    """
    text = page.read_text()
    found = set()
    for block in FENCE.finditer(text):
        headings = HEADING.findall(text, 0, block.start())
        heading = headings[-1] if headings else ""
        if sections is None or heading in sections:
            found.add(heading)
            yield block[1], block[2], text[: block.start()].count("\n") + 1
    assert sections is None or found == sections, f"{page.name} has no code in {sections - found}"


def run_blocks(page: Path, names: dict[str, Any], sections: set[str] | None = None) -> None:
    """Runs the examples of a page, or of sections of it, in one namespace."""
    for language, text, line in blocks(page, sections):
        if language == "pycon":
            run_doctest(text, names, f"{page.name}:{line}")
        else:
            exec(compile("\n" * line + text, str(page), "exec"), names)
