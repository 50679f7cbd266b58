"""python -m bench startup: what an import takes once torch is there, in time and memory, beside torchvision's."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fastaug
from bench import report
from bench.case import OURS, REFERENCE, Goal
from bench.measure import ROOT, Row, Times, spread

NOTE = """\
Each import in a fresh process that has imported torch, with files in the page cache: processor time, and the resident
memory that it adds. The median, and the 10th to 90th percentile; the columns take turns."""

#: What is imported in each column, by row.
MODULES = {
    "import transforms": {REFERENCE: "torchvision.transforms", OURS: "fastaug.transforms"},
    "import transforms.v2": {REFERENCE: "torchvision.transforms.v2", OURS: "fastaug.transforms.v2"},
}

_CODE = """
import json, os, sys, time, torch

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

before, start = held(), time.process_time()
__import__(sys.argv[1])
taken = time.process_time() - start
print(json.dumps([taken * 1e3, (held() - before) * os.sysconf("SC_PAGE_SIZE") / 1e6]))
"""


@dataclass(frozen=True)
class Imported:
    """A row, which has no goals."""

    name: str

    def goals(self, label: str, isa: str) -> list[Goal]:
        return []

    def described(self) -> dict[str, Any]:
        return {}


def taken(module: str) -> list[float]:
    """Milliseconds and megabytes of one import."""
    done = subprocess.run([sys.executable, "-c", _CODE, module], capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def rows_of(case: str, modules: dict[str, str], rounds: int) -> list[Row]:
    found = [{label: taken(module) for label, module in modules.items()} for _ in range(rounds)]
    rows = []
    for figure, unit in enumerate(("ms", "MB")):
        row = Row(Imported(f"{case}, {unit}"), rounds, 1)
        values = {label: np.array([turn[label][figure] for turn in found]) for label in modules}
        for label, times in values.items():
            row.times[label] = Times(*spread(times), *spread(values[REFERENCE] / times), "none")
        rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="fresh processes of every column")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    options = parser.parse_args()
    cases = [Imported(name) for name in MODULES]
    rows = report.measured(
        cases, lambda case: rows_of(case.name, MODULES[case.name], options.rounds), fastaug.isa(), unit=""
    )
    about = report.machine({"isa": fastaug.isa(), "fastaug": fastaug.__version__}) | {"clock": "cpu"}
    whole = len(rows) == 2 * len(cases)
    report.show(rows, about, options.out, "Startup", REFERENCE, NOTE, unit="", whole=whole)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
