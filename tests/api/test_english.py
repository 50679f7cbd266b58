"""Docstrings of the package are in plain English, as far as a machine can see."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "fastaug"

#: Patterns that a docstring must not have, and what to write instead.
NOT_ENGLISH = {
    r"^(?:What|Whether|Of|That|Such|As|Who)\b": "'Return ...', another verb, or 'A NOUN that ...'",
    r"(?<!\bthere )\b(?:is|takes) no (?!longer\b|more than\b|less than\b)": "'not a'",
    r"\bin the place of\b": "'instead of'",
    r"\b(?:is|are) to be\b": "'must be' or 'should be'",
    r"\b(?:of yours|somebody|nobody|whoever)\b": "'the user', 'user code' or 'your'",
    r"\b(?:hears|is told|tells|knows)\b": "'records', 'receives', 'returns' or 'holds'",
}


def complaints(source: str) -> Iterator[str]:
    """Yield the complaints about all docstrings of a module, with their line and a correction."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if text is None:
            continue
        words = " ".join(line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))
        prose = " ".join(re.sub(r"`+[^`]+`+", "CODE", words).split())
        for pattern, better in NOT_ENGLISH.items():
            for match in re.finditer(pattern, prose, re.IGNORECASE if pattern[0] != "^" else 0):
                around = prose[max(0, match.start() - 30) : match.end() + 30]
                yield f"line {node.body[0].lineno}, {match[0].strip()!r} in {around!r}, better: {better}"


def test_docstrings() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert modules
    wrong = [f"{path}: {complaint}" for path in modules for complaint in complaints(path.read_text())]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What a draft is.", "What"),
        ("Whether it is done.", "Whether"),
        ("A thing that is no tensor.", "is no"),
        ("Return zeros in the place of ones.", "in the place of"),
        ("Return jobs that are to be run.", "are to be"),
        ("A transform that somebody has replaced.", "somebody"),
        ("A log that hears of ops.", "hears"),
    ],
)
def test_what_is_found(text: str, found: str) -> None:
    (complaint,) = complaints(f'def function():\n    """{text}"""\n')
    assert f"line 2, {found!r}" in complaint


@pytest.mark.parametrize(
    "text",
    [
        "Assert that there is no such file.",
        "Return a draft that is no longer used.",
        "Return ``what is no tensor``.",
        "Return a number.\n\n    >>> 'nobody knows'",
    ],
)
def test_what_is_fine(text: str) -> None:
    assert not list(complaints(f'class Class:\n    """{text}\n    """\n'))
