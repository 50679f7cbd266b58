"""One table of what was measured: text for the terminal, Markdown and JSON for bench/results."""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import os
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tqdm import tqdm

from bench import runs
from bench.case import FAST as FAST
from bench.case import OURS as OURS
from bench.case import REFERENCE as REFERENCE
from bench.measure import Row, Times
from fastaug._inspect.info import processor

NOTE = """\
Milliseconds for one whole call (parameter draws and output allocation included) on one core; the median, and the 10th
to 90th percentile. "x" is how many times faster than torchvision on PIL images: the median over rounds, in each of
which every library had its turn at the same cold images of a bag. "=": every pixel equals torchvision's for the same
seed; "~": same parameters, other pixels (those of fast mode are within its contract); unmarked: parameters and filters
of its own, so not the same picture."""


def compiler(library: Path) -> str:
    """What the compiler wrote about itself into a shared library."""
    found = re.findall(rb"(GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+)", library.read_bytes())
    return str(found[0].decode()) if found else "unknown"


def machine(versions: dict[str, str]) -> dict[str, str]:
    import fastaug._C

    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": runs.commit(),
        "cpu": processor(),
        "isa": versions["isa"],
        "compiler": compiler(Path(fastaug._C.__file__)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", "torchvision", "pillow", "numpy")},
        **{name: version for name, version in versions.items() if name != "isa"},
    }


def figure(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def spread(times: Times) -> str:
    return f"{figure(times.median)} ({figure(times.p10)}-{figure(times.p90)})"


def ratios(times: Times) -> str:
    return f"{times.ratio:.1f}x ({times.ratio_p10:.1f}-{times.ratio_p90:.1f})"


def mark(times: Times) -> str:
    return {"equal": " =", "differs": " ~"}.get(times.pixels, "")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What came of a goal. No ratio where a column is missing; `against` as a reader is told."""

    column: str
    least: float
    against: str | None
    ratio: float | None

    @property
    def met(self) -> bool:
        return self.ratio is not None and self.ratio >= self.least

    def __str__(self) -> str:
        outcome = "not measured" if self.ratio is None else "met" if self.met else "MISSED"
        if self.against is None:
            return f">= {self.least:g}x {outcome}"
        measured = "" if self.ratio is None else f" ({self.ratio:.2f}x)"
        column = "" if self.column == OURS else f"{self.column} "
        return f"{column}>= {self.least:g}x {self.against} {outcome}{measured}"


def verdicts(row: Row, label: str, isa: str) -> list[Verdict]:
    """Those of a column."""
    found = []
    for goal in row.case.goals(label, isa):
        times, against, ratio = row.times.get(label), goal.against, None
        if times is not None and against is None:
            ratio = times.ratio
        elif times is not None and against is not None and (opponent := row.opponent(against)):
            ratio = row.ratio(label, opponent)
            against = against if opponent == against else f"{opponent} ({against})"
        found.append(Verdict(label, goal.least, against, ratio))
    return found


def cells(row: Row, columns: list[str], isa: str, reference: str) -> list[str]:
    line = [row.case.name]
    for label in columns:
        times = row.times.get(label)
        found = verdicts(row, label, isa)
        if label == OURS:
            # A goal against another column than the reference is told here, whose ever it is.
            others = [one for name in columns if name != OURS for one in verdicts(row, name, isa) if one.against]
            line += ["", ""] if times is None else [spread(times), f"{ratios(times)}{mark(times)}"]
            line.append("; ".join(map(str, found + others)))
        elif times is None:
            line.append("")
        elif label == reference:
            line.append(spread(times))
        else:
            goals = [verdict.least for verdict in found if verdict.against is None and not verdict.met]
            missed = "".join(f" (goal {goal:g}x MISSED)" for goal in goals)
            line.append(f"{figure(times.median)}, {times.ratio:.1f}x{mark(times)}{missed}")
    return line


def table(rows: list[Row], isa: str, reference: str = REFERENCE, unit: str = ", ms") -> list[list[str]]:
    """The header and the lines; columns that no row filled are left out."""
    labels = list(dict.fromkeys(label for row in rows for label in row.times))
    # The reference, fastaug, fastaug in other ways, the peers.
    columns = sorted(labels, key=lambda label: (label != reference, label != OURS, not label.startswith(OURS)))
    header = ["case"]
    for label in columns:
        ours = [f"fastaug {isa}{unit}", "faster" if unit else "less", "goal"]
        header += {reference: [f"{reference}{unit}"], OURS: ours}.get(label, [label])
    lines = [header, *(cells(row, columns, isa, reference) for row in rows)]
    filled = [i for i in range(len(header)) if any(line[i] for line in lines[1:])]
    return [[line[i] for i in filled] for line in lines]


#: What makes the header and the lines of rows, given the instruction set, the reference and the unit.
Tabulate = Callable[[list[Row], str, str, str], list[list[str]]]


def text(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    aligned = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join([aligned[0], "-" * len(aligned[0]), *aligned[1:]])


def markdown(lines: list[list[str]]) -> str:
    rule = ["---"] + ["--:"] * (len(lines[0]) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])


def as_run(rows: list[Row], about: dict[str, str]) -> runs.Run:
    """All that was measured, as it is kept."""
    isa = about["isa"]

    def entry(row: Row) -> dict[str, Any]:
        return {
            "case": row.case.name,
            **row.case.described(),
            "verdicts": [
                dataclasses.asdict(one) | {"met": one.met} for label in row.times for one in verdicts(row, label, isa)
            ],
            "rounds": row.rounds,
            "calls_per_turn": row.calls_per_turn,
            "libraries": {label: dataclasses.asdict(times) for label, times in row.times.items()},
            "absent": row.absent,
            **row.more,
        }

    return {"about": about, "rows": [entry(row) for row in rows]}


def earlier(found: list[runs.Run], reference: str) -> str:
    """How many times as fast each run found the rows to be, newest first."""
    tables = [{row["case"]: row["libraries"] for row in run["rows"]} for run in found]
    head = ["case", *(f"{run['about']['date']}, {run['about'].get('commit', '')}" for run in found)]
    lines = []
    for case in dict.fromkeys(case for table in tables for case in table):
        both = [table.get(case, {}) for table in tables]
        cells = [
            f"{one[reference]['median'] / one[OURS]['median']:.1f}x" if {reference, OURS} <= one.keys() else ""
            for one in both
        ]
        if any(cells):
            lines.append([case, *cells])
    return markdown([head, *lines])


def write(
    rows: list[Row],
    about: dict[str, str],
    folder: Path,
    title: str = "Speed",
    reference: str = REFERENCE,
    note: str = NOTE,
    unit: str = ", ms",
    whole: bool = True,
    tabulate: Tabulate = table,
) -> list[Path]:
    """Add a run to those that are kept for the processor and instruction set, and rewrite their page.

    A run that was ended early is kept, and leaves the page as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kind = "" if title == "Speed" else f"{title} "
    stem = re.sub(r"[^a-z0-9]+", "-", f"{kind}{about['cpu']} {about['isa']}".lower()).strip("-")
    page, data = folder / f"{stem}.md", folder / f"{stem}.json"
    found = runs.kept(as_run(rows, about), runs.stored(data))
    data.write_text(runs.text(found))
    if not whole:
        return [data]
    head = "\n".join(f"- {name}: {value}" for name, value in about.items())
    parts = [f"# {title}, {about['cpu']}, {about['isa']}", head, note]
    parts.append(markdown(tabulate(rows, about["isa"], reference, unit)))
    if len(found) > 1:
        parts += ["## The runs that are kept", "How many times as fast as the reference:", earlier(found, reference)]
    page.write_text("\n\n".join(parts) + "\n")
    return [page, data]


def show(
    rows: list[Row],
    about: dict[str, str],
    folder: Path | None,
    title: str = "Speed",
    reference: str = REFERENCE,
    note: str = NOTE,
    unit: str = ", ms",
    whole: bool = True,
    tabulate: Tabulate = table,
) -> None:
    """Prints the table; writes it too where there is a folder for it."""
    if not rows:
        return
    print("\n" + text(tabulate(rows, about["isa"], reference, unit)) + "\n\n" + note)
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    if folder is not None:
        paths = write(rows, about, folder, title, reference, note, unit, whole, tabulate)
        print("written: " + ", ".join(os.path.relpath(path) for path in paths))


class Named(Protocol):
    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=Named)


def measured(
    cases: Sequence[C],
    measure: Callable[[C], list[Row]],
    isa: str,
    reference: str = REFERENCE,
    unit: str = ", ms",
    tabulate: Tabulate = table,
) -> list[Row]:
    """Measure one case after the other, and print the rows of each as it is done. Ctrl-C ends with what there is."""
    rows: list[Row] = []
    with tqdm(cases, unit="case", disable=None) as progress:
        try:
            for case in progress:
                progress.set_description(case.name)
                done = measure(case)
                rows += done
                progress.write(text(tabulate(done, isa, reference, unit)) + "\n")
        except KeyboardInterrupt:
            progress.write(f"ended after {len(rows)} rows")
    return rows
