"""The pages are in plain English, and no figure on them is written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.prose import complaints

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/notes/*/*.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path) -> None:
    assert not list(complaints(page.read_text(), figures=page.parent.name != "lab"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("It is no tensor.", "'is no tensor'"),
        ("A flip is 3.5x as fast.", "'3.5x'"),
        ("It takes 20 ms.", "'20 ms'"),
        ("It needs 12 MB of memory.", "'12 MB'"),
        ("word " * 31 + ".", "31 words"),
        (("word " * 20 + ".\n\n") * 3, "20.0 words a sentence"),
    ],
)
def test_what_is_found(text: str, complaint: str) -> None:
    assert any(complaint in found for found in complaints(text))


@pytest.mark.parametrize(
    "text",
    [
        "There is no such limit. An image of 224x224 pixels.",
        "<!-- speed: begin -->\n\nA flip is 3.5x as fast.\n\n<!-- speed: end -->",
        "The limit is `2 GiB`.\n\n```python\nassert seconds < 20 * ms  # 20 ms\n```",
        "| step | time |\n| --- | --- |\n| " + "word " * 40 + "| |",
    ],
)
def test_what_is_fine(text: str) -> None:
    assert not list(complaints(text))
