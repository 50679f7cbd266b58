"""python -m bench: times every case beside torchvision and ends in one table.

python -m bench decode|loading|quality|cuda|tensors|samples|operations|functionals|clients|floors|pathology|startup|
switch: another suite.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import tempfile
from pathlib import Path

from bench import report
from bench.case import Case, selected
from bench.cases import CASES
from bench.environments import peer_columns
from bench.images import bag_file
from bench.measure import ROOT, Column, Row, isa_of, measure, started


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="install further libraries under .venv-peers; time them")
    parser.add_argument("--only", metavar="PATTERN", help='cases by shell pattern, such as "P,*"')
    parser.add_argument("--seconds", type=float, default=8, help="for a pipeline; an operation gets a quarter")
    parser.add_argument("--isa", nargs="*", metavar="ISA", help="instruction sets beside the default one (pipelines)")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: on a machine that others use")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return parser.parse_args()


def importable() -> list[Column]:
    """The libraries that this interpreter has."""
    names = ("torchvision tensors", "torchvision v2 tensors", "Pillow")
    columns = [Column(name, name) for name in names]
    modules = {"OpenCV": "cv2", "Albumentations": "albumentations", "kornia-rs": "kornia_rs"}
    return columns + [Column(name, name) for name, module in modules.items() if importlib.util.find_spec(module)]


def run(
    cases: list[Case], columns: list[Column], of_pipelines: list[Column], seconds: float, clock: str
) -> tuple[list[Row], dict[str, str]]:
    """The rows, and the versions of everything that took part."""
    with (
        started([*columns, *of_pipelines], (report.REFERENCE, report.OURS)) as workers,
        tempfile.TemporaryDirectory() as folder,
    ):
        variants = {column.label for column in of_pipelines}
        everyone = [worker for worker in workers if worker.label not in variants]

        def rows_of(case: Case) -> list[Row]:
            budget, checks = (seconds, 12) if case.pipeline else (seconds / 4, 4)
            taking_part = workers if case.pipeline else everyone
            return [measure(case, bag_file(case.bag, Path(folder)), taking_part, budget, checks, clock)]

        rows = report.measured(cases, rows_of, isa_of(everyone))
        versions = {name: version for worker in everyone for name, version in worker.versions.items()}
    return rows, versions


SUITES = ("decode", "loading", "quality", "cuda", "tensors", "samples", "functionals", "clients", "floors", "pathology")
SUITES += ("startup", "switch", "operations")
#: The module of a suite, where it has another name.
MODULES = {"operations": "behind"}


def main() -> int:
    if sys.argv[1:2] and sys.argv[1] in SUITES:
        word = sys.argv.pop(1)
        suite = importlib.import_module(f"bench.{MODULES.get(word, word)}")
        return int(suite.main())
    options = arguments()
    cases = selected(CASES, options)
    if not cases:
        return 0 if options.list else 2

    import fastaug._C

    others = [isa for isa in ("avx2", "sse4", "scalar") if isa in fastaug._C.isas() and isa != fastaug.isa()]
    variants = [Column(report.FAST, report.FAST)] + [
        Column(f"fastaug {isa}", "fastaug", env={"FASTAUG_ISA": isa})
        for isa in (others if options.isa is None else options.isa)
    ]
    found = {column.label: column for column in importable()}
    if options.peers:
        found |= {column.label: column for column in peer_columns()}
    columns = [Column("torchvision", "torchvision"), Column("fastaug", "fastaug"), *found.values()]
    rows, versions = run(cases, columns, variants, options.seconds, options.clock)

    about = report.machine(versions) | {"clock": options.clock}
    report.show(rows, about, options.out if options.only is None else None, whole=len(rows) == len(cases))
    unequal = [
        f"{row.case.name} ({label}, by up to {times.difference:g})"
        for row in rows
        for label, times in row.times.items()
        if label.startswith("fastaug") and label != report.FAST and times.pixels != "equal"
    ]
    if unequal:
        print("DIFFERS FROM TORCHVISION: " + "; ".join(unequal))
    return 1 if unequal else 0


if __name__ == "__main__":
    raise SystemExit(main())
