"""What sources import from each other is there, in functions that no test calls too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Where modules are looked for, and the folders whose imports are looked at.
PATHS = (ROOT, ROOT / "tests")
FOLDERS = ("bench", "docs/_ext", "fastaug", "tests", "tools")


def bound(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements of a module bind, in branches too."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            yield from (
                one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )
            for part in ("body", "orelse", "finalbody", "handlers"):
                for inner in getattr(node, part, ()):
                    yield from bound(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


@cache
def names_of(module: str) -> set[str] | None:
    """Return the names in a module, its submodules included; None for one of another package or with dynamic names."""
    for path in PATHS:
        place = path / module.replace(".", "/")
        file = place / "__init__.py" if (place / "__init__.py").exists() else place.with_suffix(".py")
        if file.exists():
            names = set(bound(ast.parse(file.read_text()).body))
            return None if names & {"*", "__getattr__"} else names | {one.stem for one in place.glob("*")}
    return None


def missing(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = names_of(str(node.module))
            if names is not None:
                yield from (
                    f"{file}: {node.module} has no {one.name}" for one in node.names if one.name not in {"*", *names}
                )


def test_imported_names_are_there() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert not [line for file in files for line in missing(file)]


def test_a_missing_name_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("def main():\n    from bench.report import no_such_name, figure\n")
    assert list(missing(file)) == [f"{file}: bench.report has no no_such_name"]
