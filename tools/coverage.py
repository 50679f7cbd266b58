"""Which lines of some files a build with --coverage has run: python tools/coverage.py BUILD PATTERN... [--least 95].

Patterns are of paths in the repository, such as "csrc/codec/jpeg*". A line that is compiled several times, as those of
kernels are, was run if one of them was. The exit code is 1 where a file has less than the least.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def counts_of(build: Path, patterns: list[str]) -> dict[str, dict[int, int]]:
    """By file and line, how often it was run."""
    counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for data in sorted(build.rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", str(data)]
        text = subprocess.run(command, cwd=build, check=True, capture_output=True, text=True).stdout
        for part in text.splitlines():
            for file in json.loads(part)["files"]:
                path = (build / file["file"]).resolve()
                name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
                if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                    for line in file["lines"]:
                        counts[name][line["line_number"]] += line["count"]
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("patterns", nargs="+", metavar="PATTERN")
    parser.add_argument("--least", type=float, default=0, help="per cent of the lines of each file")
    options = parser.parse_args()
    few = False
    for name, lines in sorted(counts_of(options.build.resolve(), options.patterns).items()):
        never = sorted(number for number, count in lines.items() if not count)
        share = 100 * (1 - len(never) / len(lines))
        few |= share < options.least
        print(f"{share:6.1f} % of {len(lines):4} lines  {name}{'  never: ' if never else ''}{str(never)[1:-1]}")
    return int(few)


if __name__ == "__main__":
    sys.exit(main())
