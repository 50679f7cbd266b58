"""check_release.py TAG: check that the tag, the version, its date and the changelog are of the same release."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Return what differs from RELEASING.md, a line each."""

    def found(file: str, pattern: str) -> str | None:
        match = re.search(pattern, (root / file).read_text(), re.MULTILINE)
        return match[1] if match else None

    version = found("fastaug/__init__.py", r'^__version__ = "(.+)"$')
    said = []
    if tag != f"v{version}":
        said.append(f"the tag is {tag}, the version of fastaug/__init__.py {version}")
    if found("CITATION.cff", r"^version: (.+)$") != version:
        said.append(f"the version of CITATION.cff is not {version}")
    if found("packaging/conda/recipe.yaml", r'^  version: "(.+)"$') != version:
        said.append(f"the version of packaging/conda/recipe.yaml is not {version}")
    date = found("CHANGELOG.md", rf"^## \[{re.escape(str(version))}\] - (\d{{4}}-\d\d-\d\d)$")
    if date is None:
        said.append(f"CHANGELOG.md has no section [{version}] with its date")
    elif found("CITATION.cff", r"^date-released: (.+)$") != date:
        said.append(f"the date of CITATION.cff is not {date}, that of the changelog")
    if "." in (found("CHANGELOG.md", r"^## \[Unreleased\]\n((?:(?!^## ).*\n)*)") or ""):
        said.append("CHANGELOG.md still has something under [Unreleased]")
    return said


def main() -> int:
    said = problems(sys.argv[1])
    print("\n".join(said) or "Tag, version and changelog are of the same release.")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
