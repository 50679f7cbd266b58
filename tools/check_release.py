"""check_release.py TAG: whether the tag, the version and the changelog are of the same release."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """What is not as RELEASING.md has it."""

    def found(file: str, pattern: str) -> str | None:
        match = re.search(pattern, (root / file).read_text(), re.MULTILINE)
        return match[1] if match else None

    version = found("fastaug/__init__.py", r'^__version__ = "(.+)"$')
    said = []
    if tag != f"v{version}":
        said.append(f"the tag is {tag}, the version of fastaug/__init__.py {version}")
    if found("CITATION.cff", r"^version: (.+)$") != version:
        said.append(f"the version of CITATION.cff is not {version}")
    if found("CHANGELOG.md", rf"^## \[({re.escape(str(version))})\] - \d{{4}}-\d\d-\d\d$") is None:
        said.append(f"CHANGELOG.md has no section [{version}] with its date")
    if "." in (found("CHANGELOG.md", r"^## \[Unreleased\]\n((?:(?!^## ).*\n)*)") or ""):
        said.append("CHANGELOG.md still has something under [Unreleased]")
    return said


def main() -> int:
    said = problems(sys.argv[1])
    print("\n".join(said) or "Tag, version and changelog are of the same release.")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
