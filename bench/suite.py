"""A suite that times fastaug beside one reference, torchvision if not another: its command line and its run."""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import report
from bench.case import FAST, OURS, REFERENCE, Case, selected
from bench.images import bag_file
from bench.measure import ROOT, Column, Row, isa_of, measure, started

#: The modules whose rows name the native ops that they exercise.
OF_OPS = ("cases", "tensors", "samples", "pathology")


@dataclass(frozen=True)
class Suite:
    """`python -m bench WORD`, where bench.WORD has the libraries. Fast mode is timed on pipelines alone."""

    word: str
    about: str | None
    note: str
    cases: Sequence[Case]
    libraries: Collection[str]
    reference: str = REFERENCE

    def arguments(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=f"python -m bench {self.word}", description=self.about)
        parser.add_argument("--only", metavar="PATTERN", default="*", help='cases by shell pattern, such as "resize*"')
        parser.add_argument("--seconds", type=float, default=6, help="for a pipeline; an operation gets a third")
        parser.add_argument("--clock", choices=["wall", "cpu"], default="cpu", help="cpu: processor time of the thread")
        parser.add_argument(
            "--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results"
        )
        parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
        return parser.parse_args()

    def run(self, cases: list[Case], seconds: float, clock: str) -> tuple[list[Row], dict[str, str]]:
        """The rows, and the versions of everything that took part."""
        columns = [Column(name, name, suite=f"bench.{self.word}") for name in self.libraries]
        with started(columns, (self.reference, OURS)) as workers, tempfile.TemporaryDirectory() as folder:

            def rows_of(case: Case) -> list[Row]:
                budget, checks = (seconds, 12) if case.pipeline else (seconds / 3, 4)
                taking_part = [worker for worker in workers if case.pipeline or worker.label != FAST]
                return [measure(case, bag_file(case.bag, Path(folder)), taking_part, budget, checks, clock)]

            rows = report.measured(cases, rows_of, isa_of(workers), self.reference)
            versions = {name: version for worker in workers for name, version in worker.versions.items()}
        return rows, versions

    def main(self) -> int:
        options = self.arguments()
        cases = selected(self.cases, options)
        if not cases:
            return 0 if options.list else 2
        rows, versions = self.run(cases, options.seconds, options.clock)
        about = report.machine(versions) | {"clock": options.clock}
        folder = options.out if options.only == "*" else None
        whole = len(rows) == len(cases)
        report.show(rows, about, folder, self.word.capitalize(), self.reference, self.note, whole=whole)
        unequal = [row.case.name for row in rows if row.times[OURS].pixels != "equal"]
        if unequal:
            print(f"DIFFERS FROM {self.reference.upper()}: " + "; ".join(unequal))
        return 1 if unequal else 0


def covered_ops() -> set[str]:
    """The native ops that some row exercises; every name of `fastaug._C.OPS` must be among them.

    A function that torchvision does not have is compared with nothing. Its op, if one has its name, needs no row.
    """
    import torchvision.transforms.functional

    from fastaug import _C
    from fastaug.transforms import functional

    modules = [importlib.import_module(f"bench.{name}") for name in OF_OPS]
    own = {name.upper() for name in set(functional.__all__).difference(dir(torchvision.transforms.functional))}
    return own.intersection(dict(_C.OPS)).union(op for module in modules for case in module.CASES for op in case.ops)
