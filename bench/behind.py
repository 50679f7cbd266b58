"""python -m bench operations: times single operations beside torchvision's, and names those that are behind."""

from __future__ import annotations

import argparse
import fnmatch
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import report
from bench.case import OURS, REFERENCE, selected
from bench.environments import PEERS, peer_columns
from bench.functionals import SLOWER, is_slower
from bench.images import bag_file
from bench.measure import ROOT, Column, Row, isa_of, measure, started
from bench.single import OPERATIONS, Single

SUITE = "bench.single"
NOTE = f"""\
Milliseconds of processor time for one whole call of one class or function, on one core; the median, and the 10th to
90th percentile. "x" is how many times faster than torchvision's on the same image: the median over rounds, in each of
which every library had its turn, and the 20th to 80th percentile. "behind": that range lies below {SLOWER}, in two
runs. Before a row is timed, fastaug's result must equal torchvision's. "view": the result lies in the memory of its
image. Of other libraries, that take arrays, "x" is their time over fastaug's, so they are ahead below 1. "Same work?"
says by how much their results differ from torchvision's, and what they leave out."""

#: Libraries, names of rows, and what they do otherwise there; the first that fits is said.
WORK = (
    ({"OpenCV", "Albumentations"}, "*resize to *RGBA*", "alpha not multiplied in"),
    ({"OpenCV", "Albumentations"}, "*resize to [17]/*bilinear*", "mean of an area"),
    ({"OpenCV", "Albumentations"}, "*resize to [17]/*bicubic*", "no antialiasing"),
    ({"OpenCV", "Albumentations"}, "*affine, *", "another matrix"),
    ({"Albumentations"}, "*ElasticTransform()*", "another field"),
    ({"kornia-rs"}, "*resize to [17]/*bilinear*", "no antialiasing"),
    ({"kornia-rs"}, "*blur by *", "another border"),
    ({"kornia-rs"}, "*brightness*", "adds instead of multiplying"),
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench operations", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="time numpy, and libraries installed under .venv-peers")
    parser.add_argument("--only", metavar="PATTERN", default="*", help='rows by shell pattern, such as "v2 invert*"')
    parser.add_argument("--seconds", type=float, default=2, help="for a row, about; it has at least nine rounds")
    parser.add_argument("--isa", metavar="ISA", help="fastaug's instruction set, not torch's (default: the best one)")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    return parser.parse_args()


def columns(isa: str | None, peers: bool) -> list[Column]:
    env = {} if isa is None else {"FASTAUG_ISA": isa}
    found = [Column(REFERENCE, REFERENCE, suite=SUITE), Column(OURS, OURS, suite=SUITE, env=env)]
    found.append(Column("Pillow", "Pillow", suite=SUITE))
    if peers:
        others = {name: PEERS[name] for name in ("OpenCV", "Albumentations", "kornia-rs")}
        found += [Column("numpy", "numpy", suite=SUITE), *peer_columns(others, SUITE)]
    return found


def ratios(row: Row) -> NDArray[np.float64]:
    """Of each round, torchvision's time over fastaug's."""
    return row.medians[REFERENCE] / row.medians[OURS]


def work(row: Row, label: str) -> str:
    """Whether a library does what torchvision does, as far as its result tells, and what it is known to leave out."""
    case, times = row.case, row.times[label]
    assert isinstance(case, Single)
    if label in row.views and REFERENCE not in row.views:
        return "a view"
    if times.pixels == "equal":
        return "yes"
    difference = 0.0 if times.difference is None else times.difference
    known = [said for labels, pattern, said in WORK if label in labels and fnmatch.fnmatchcase(case.name, pattern)]
    said = [*known, "other rounding" if difference <= 1 else "other pixels"][0]
    return f"{said}, " + ("another shape" if math.isinf(difference) else f"by {difference:.3g}")


def fill(row: Row) -> Row:
    """What is kept of a row beside its times."""
    low, high = np.percentile(ratios(row), [20, 80]).tolist()
    peers = [label for label in row.times if label not in (REFERENCE, OURS)]
    row.more = {
        "range": [low, high],
        "behind": is_slower(ratios(row).tolist()),
        "views": sorted(row.views),
        "work": {label: work(row, label) for label in peers},
    }
    return row


def cells(row: Row, peers: list[str]) -> list[str]:
    times, more = row.times, row.more
    about = row.case.described()
    low, high = more["range"]
    view = " view" * (OURS in row.views)
    line = [about["op"], str(about["size"]), about["image"], report.spread(times[REFERENCE])]
    line += [report.spread(times[OURS]) + view]
    line += [f"{times[OURS].ratio:.2f}x ({low:.2f}-{high:.2f}){report.mark(times[OURS])}", "behind" * more["behind"]]
    for label in peers:
        line.append(f"{report.figure(times[label].median)}, {row.ratio(OURS, label):.2f}x" if label in times else "")
    said: dict[str, list[str]] = {}
    for label, answer in more["work"].items():
        said.setdefault(answer, []).append(label)
    whole = [*said] if len(said) == 1 else [f"{', '.join(labels)}: {answer}" for answer, labels in said.items()]
    line.append("; ".join(whole))
    return line


def table(rows: list[Row], isa: str, reference: str = REFERENCE, unit: str = ", ms") -> list[list[str]]:
    """The header and the lines; columns that no row filled are left out."""
    peers = list(dict.fromkeys(label for row in rows for label in row.times if label not in (REFERENCE, OURS)))
    header = ["operation", "size", "image", f"{reference}{unit}", f"fastaug {isa}{unit}", "faster", "behind"]
    lines = [[*header, *peers, "same work?"], *(cells(row, peers) for row in rows)]
    filled = [i for i in range(len(lines[0])) if any(line[i] for line in lines[1:])]
    return [[line[i] for i in filled] for line in lines]


def run(cases: list[Single], taking_part: list[Column], seconds: float) -> tuple[list[Row], dict[str, str]]:
    """The rows, and the versions of everything that took part. What seems to be behind is measured a second time."""
    with started(taking_part, (REFERENCE, OURS)) as workers, tempfile.TemporaryDirectory() as folder:

        def rows_of(case: Single) -> list[Row]:
            return [fill(measure(case, bag_file(case.bag, Path(folder)), workers, seconds, 4, "cpu"))]

        def all_of(some: list[Single]) -> list[Row]:
            return report.measured(some, rows_of, isa_of(workers), tabulate=table)

        rows = all_of(cases)
        first = {row.case.name for row in rows if row.more["behind"]}
        again = {row.case.name: row for row in all_of([case for case in cases if case.name in first])}
        # Where the second run was ended early, what it did not reach is left out.
        rows = [again.get(row.case.name, row) for row in rows if row.case.name not in first.difference(again)]
        versions = {name: version for worker in workers for name, version in worker.versions.items()}
    return rows, versions


def summary(rows: list[Row]) -> list[str]:
    """How many rows are behind, and which, the worst first."""
    behind = sorted((row for row in rows if row.more["behind"]), key=lambda row: row.times[OURS].ratio)
    head = f"Behind torchvision: {len(behind)} of {len(rows)} rows."
    return [head, *(f"{row.case.name}: {told(row.times[OURS].ratio, row.more['range'])}" for row in behind)]


def told(ratio: float, spread: list[float]) -> str:
    return f"{ratio:.2f}x ({spread[0]:.2f}-{spread[1]:.2f})"


def differs(row: Row) -> bool:
    """Whether fastaug's result is another one than the contract has: floats may differ in their last bits."""
    times = row.times[OURS]
    case: Any = row.case
    return times.pixels != "equal" and not (case.kind == "float" and (times.difference or 0.0) <= 1e-5)


def main() -> int:
    options = arguments()
    cases = selected(OPERATIONS, options)
    if not cases:
        return 0 if options.list else 2
    load = os.getloadavg()[0]
    rows, versions = run(cases, columns(options.isa, options.peers), options.seconds)
    about = report.machine(versions) | {"clock": "cpu", "load before": f"{load:.1f}"}
    if options.isa is not None:
        about["forced"] = "the instruction set of fastaug; torch keeps its own"
    folder = options.out if options.only == "*" else None
    whole = len(rows) == len(cases)
    report.show(rows, about, folder, "Operations", REFERENCE, NOTE, whole=whole, tabulate=table)
    unequal = [row.case.name for row in rows if differs(row)]
    if unequal:
        print("DIFFERS FROM TORCHVISION: " + "; ".join(unequal))
    print("\n" + "\n".join(summary(rows)))
    return 1 if unequal else 0
