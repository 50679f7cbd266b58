"""The runs of a suite that are kept for a processor: the newest whole, and of earlier ones what a comparison needs."""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import ROOT

#: How many are kept, and how many a figure rests on where there are so many.
KEPT, WANTED = 5, 3

Run = dict[str, Any]


def commit() -> str:
    """The commit that is checked out, with a plus sign if files were changed since."""
    try:
        done = subprocess.run(["git", "rev-parse", "--short=9", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        dirty = subprocess.run(
            ["git", "status", "--porcelain", "-uno", "fastaug", "csrc"], cwd=ROOT, capture_output=True
        )
    except OSError:
        return "unknown"
    return done.stdout.strip() + "+" * bool(dirty.stdout) if done.returncode == 0 else "unknown"


def stored(path: Path) -> list[Run]:
    """The runs in a file, newest first; none if there is no file."""
    if not path.exists():
        return []
    runs: list[Run] = json.loads(path.read_text())["runs"]
    return runs


def kept(run: Run, earlier: list[Run]) -> list[Run]:
    """A new run, and before it as many of the earlier ones as are kept, each cut down to what is compared."""
    return [run, *map(brief, earlier)][:KEPT]


def brief(run: Run) -> Run:
    """Of each case and column the median, the ratio and whether pixels were equal."""
    few = ("median", "ratio", "pixels")
    rows = [
        {
            "case": row["case"],
            "libraries": {label: {name: times[name] for name in few} for label, times in row["libraries"].items()},
        }
        for row in run["rows"]
    ]
    return {"about": run["about"], "rows": rows}


def text(runs: list[Run]) -> str:
    """What a file holds: a line for each row."""
    parts = []
    for run in runs:
        rows = ",\n".join("  " + json.dumps(row) for row in run["rows"])
        parts.append(f'{{"about": {json.dumps(run["about"])}, "rows": [\n{rows}\n]}}')
    return '{"runs": [\n' + ",\n".join(parts) + "\n]}\n"


@dataclass(frozen=True)
class Spread:
    """A figure of several runs: the median, the lowest and the highest."""

    median: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        said = f"{self.median:.1f}x"
        return said if self.runs == 1 else f"{said} ({self.low:.1f}-{self.high:.1f})"


class Runs:
    """The runs that a figure rests on: those since a date, or the newest three if these are fewer.

    Args:
        given: of one suite and processor, newest first.
        since: a date, such as "2026-11-27".
    """

    def __init__(self, given: list[Run], since: str = "") -> None:
        late = [run for run in given if run["about"]["date"] >= since]
        self.runs = late if len(late) >= WANTED else given[:WANTED]
        self.about: dict[str, Any] = given[0]["about"]
        self._tables = [{row["case"]: row["libraries"] for row in run["rows"]} for run in self.runs]
        cases = dict.fromkeys(case for table in self._tables for case in table)
        self.labels = {
            case: list(dict.fromkeys(label for table in self._tables for label in table.get(case, {})))
            for case in cases
        }

    def __contains__(self, case: str) -> bool:
        return case in self.labels

    def __iter__(self) -> Any:
        return iter(self.labels)

    def equal(self, case: str, label: str) -> bool:
        """Whether all runs found equal pixels."""
        return all(times["pixels"] == "equal" for times in self._of(case, label))

    def time(self, case: str, label: str) -> float | None:
        """The median over runs, in milliseconds; None if the column was not measured."""
        found = [times["median"] for times in self._of(case, label)]
        return statistics.median(found) if found else None

    def faster(self, case: str, label: str, reference: str) -> Spread:
        """How many times as fast as the reference: the medians divided, and the lowest and highest of one run."""
        both = [table[case] for table in self._tables if {label, reference} <= table.get(case, {}).keys()]
        ratios = [one[reference]["median"] / one[label]["median"] for one in both]
        whole = statistics.median(one[reference]["median"] for one in both) / statistics.median(
            one[label]["median"] for one in both
        )
        return Spread(whole, min(ratios), max(ratios), len(ratios))

    def _of(self, case: str, label: str) -> list[dict[str, Any]]:
        return [table[case][label] for table in self._tables if label in table.get(case, {})]

    def when(self) -> str:
        """How many runs there are, and of which days and commits."""
        dates = sorted({run["about"]["date"] for run in self.runs})
        days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        commits = dict.fromkeys(run["about"].get("commit", "") for run in self.runs)
        said = ", ".join(name for name in commits if name)
        count = "one run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"{count}, {days}" + (f" ({said})" if said else "")
