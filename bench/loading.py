"""python -m bench loading: times images on their way to a training loop, beside torchvision in torch's DataLoader."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np

import fastaug
from bench import report
from bench.case import REFERENCE, selected
from bench.loaded import CASES, LIMIT, MEMORY, OURS_6, SIMULATED, TORCHVISION_6, LoadedCase, Measured, Pictures, store
from bench.measure import ROOT, Column, Row, Times, Worker, WorkerError, spread, started

NOTE = """\
torchvision is torch's DataLoader with two worker processes (six, where it says so) and torchvision's transforms on PIL
images; fastaug is `transform.batch` and `map` for tiles in memory, and fastaug.data.DataLoader with as many workers for
data sets. Each epoch begins with a new iterator. "CPU ms an image" is processor time of the process and its workers
over the images of the epoch. "calling thread" is that of the training loop's thread alone: a million over it is the
most images a second that one process loads, with any number of cores. "16 cores" is wall-clock time with 16 workers and
threads that wait as long as their work took on the cores that there are; "32" and "64 cores" are computed, as processor
time over the cores, or that of the calling thread if it is more. "ms an image" is wall-clock time over the images, and
"first batch" passes until the first batch: these two hang on what else the machine does. "memory" is what a fresh
process and its workers hold most in an epoch with 0.2 s between batches, less what it held before: private memory, what
forked processes share in parts, and shared memory, also of batches that wait between two processes; pages of files are
the system's. The median over epochs, and the 10th to 90th percentile. "x" is how many times less than torchvision: the
median over rounds, in each of which every column had its turn at the same images under the same seed. "=": every sample
equals torchvision's for the same seed. "limit" is the most that a figure is to be."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench loading", description=__doc__)
    parser.add_argument("--images", type=Path, metavar="DIR", help="photographs of your own (default: scikit-image's)")
    parser.add_argument("--only", metavar="PATTERN", default="*", help='cases by shell pattern, such as "JPEG*"')
    parser.add_argument("--rounds", type=int, default=7, help="epochs of every column")
    parser.add_argument("--processes", type=int, default=3, help="fresh processes of every column, for its memory")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    options = parser.parse_args()
    if options.images is not None and not options.images.is_dir():
        parser.error(f"{options.images} is not a directory")
    return options


def columns_of(case: LoadedCase) -> list[Column]:
    labels = [label for label in case.columns if label != LIMIT]
    return [Column(label, label, suite="bench.loaders", cores=2, serves=True) for label in labels]


def check(workers: list[Worker]) -> dict[str, str]:
    """By column, that what it loads equals what torchvision loads.

    Raises:
        WorkerError: it differs.
    """
    digests = {worker.label: worker.ask("result") for worker in workers}
    # Other workers draw other numbers.
    peers = {label: TORCHVISION_6 if label in (TORCHVISION_6, OURS_6) else workers[0].label for label in digests}
    if differing := [label for label, peer in peers.items() if digests[label] != digests[peer]]:
        raise WorkerError(f"{', '.join(differing)}: other samples than torchvision's")
    return dict.fromkeys(digests, "equal")


def memory(case: LoadedCase, folder: Path, processes: int) -> list[dict[str, float]]:
    """Of each round, by column."""
    found = []
    for _ in range(processes):
        turn = {}
        for column in columns_of(case):
            worker = Worker(column)
            try:
                worker.ask("open", case.name, folder)
                turn[column.label] = worker.ask("memory")
            finally:
                worker.close()
        found.append(turn)
    return found


def row_of(case: LoadedCase, figure: str, rounds: list[dict[str, float]], pixels: dict[str, str]) -> Row:
    """Of what each round gave, by column."""
    row = Row(Measured(case, figure), len(rounds), 1)
    row.medians = {label: np.array([turn[label] for turn in rounds]) for label in rounds[0]}
    if case.limit is not None:
        row.medians[LIMIT] = np.full(len(rounds), case.limit)
    against = row.medians[case.columns[0]]
    for label in case.columns:
        samples = row.medians[label]
        row.times[label] = Times(*spread(samples), *spread(against / samples), pixels.get(label, "none"))
    return row


def measure(case: LoadedCase, folder: Path, rounds: int, processes: int) -> tuple[list[Row], dict[str, str]]:
    """A row for each figure, and the versions of what took part."""
    epochs: list[dict[str, dict[str, float]]] = []
    columns = columns_of(case)
    with started(columns, [column.library for column in columns]) as workers:
        for worker in workers:
            worker.ask("open", case.name, folder)
        pixels = check(workers)
        for number in range(rounds):
            shift = number % len(workers)
            turns = workers[shift:] + workers[:shift]
            epochs.append({worker.label: worker.ask("epoch", number) for worker in turns})
            if SIMULATED in case.figures:
                for worker in turns:
                    epochs[-1][worker.label][SIMULATED] = worker.ask("simulated")
        versions = {name: version for worker in workers for name, version in worker.versions.items()}
    rows = []
    for figure in case.figures:
        if figure == MEMORY:
            found = memory(case, folder, processes)
        else:
            found = [{label: figures[figure] for label, figures in epoch.items()} for epoch in epochs]
        rows.append(row_of(case, figure, found, pixels))
    return rows, versions


def main() -> int:
    options = arguments()
    cases = selected(CASES, options)
    if not cases:
        return 0 if options.list else 2

    load = os.getloadavg()[0]
    versions: dict[str, str] = {}
    done = []
    with tempfile.TemporaryDirectory() as folder:

        def rows_of(case: LoadedCase) -> list[Row]:
            files = store(case.files, Pictures(options.images), Path(folder))
            found, added = measure(case, files, options.rounds, options.processes)
            versions.update(added)
            done.append(case)
            return found

        rows = report.measured(cases, rows_of, fastaug.isa(), unit="")
    about = report.machine(versions) | {
        "cores": str(len(os.sched_getaffinity(0))),
        "photographs": "scikit-image's" if options.images is None else "others",
        "load before": f"{load:.1f}",
        "load after": f"{os.getloadavg()[0]:.1f}",
    }
    target = options.out if options.only == "*" else None
    report.show(rows, about, target, "Loading", REFERENCE, NOTE, unit="", whole=len(done) == len(cases))
    missed = [
        f"{row.case.name}, {verdict}"
        for row in rows
        for label in row.times
        for verdict in report.verdicts(row, label, about["isa"])
        if not verdict.met
    ]
    if missed:
        print("goals missed: " + "; ".join(missed))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
