"""Prints the requirements of extras of pyproject.toml, one a line: requirements.py test lint."""

from __future__ import annotations

import sys
from importlib.metadata import requires

EXTRA = "; extra == "


def main(extras: list[str]) -> None:
    for requirement in requires("fastaug") or []:
        specifier, _, extra = requirement.partition(EXTRA)
        if extra.strip("\"'") in extras:
            print(specifier)


if __name__ == "__main__":
    main(sys.argv[1:])
