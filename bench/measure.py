"""The measurement: equality first, then rounds in which every library has its turn."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.case import FASTEST, OURS, Goal

ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "NO_ALBUMENTATIONS_UPDATE": "1",
}


class WorkerError(RuntimeError):
    """What a worker answered instead of a result."""


class Timed(Protocol):
    """What is known here of a row's case: `bench.case.Case` is one."""

    @property
    def name(self) -> str: ...
    def goals(self, label: str, isa: str) -> list[Goal]: ...
    def described(self) -> dict[str, Any]: ...


@dataclass
class Column:
    """A library as it is started: which Python, what is set in its environment, and on how many cores.

    `suite` is the module that has the libraries, by name, and the cases; or, with `serves`, that answers by itself.
    """

    label: str
    library: str
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)
    suite: str = "bench.libraries"
    cores: int = 1
    serves: bool = False

    def command(self) -> list[str]:
        modules = [self.suite] if self.serves else ["bench.worker", self.suite]
        return [self.python, "-m", *modules, self.library]


class Worker:
    """The parent's end of a `bench.worker` process, kept on its processor cores."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.label = column.label
        self.process = subprocess.Popen(
            column.command(),
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, **column.env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self.process.pid, sorted(os.sched_getaffinity(0))[-column.cores :])
        try:
            hello = self.ask("hello")
        except Exception:
            self.close()
            raise
        self.versions: dict[str, str] = hello["versions"]
        self.same_draws: bool = hello["same_draws"]

    def ask(self, name: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            pickle.dump((name, arguments), self.process.stdin)
            self.process.stdin.flush()
            succeeded, answer = pickle.load(self.process.stdout)
        except (EOFError, OSError) as error:
            raise WorkerError(f"{self.label} ended with status {self.process.wait()}") from error
        if not succeeded:
            raise WorkerError(f"{self.label}: {answer}")
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def started(columns: Iterable[Column], needed: Collection[str]) -> Iterator[list[Worker]]:
    """The columns' processes, until the end of the block.

    A library that does not load is left out, after saying why; one that is among `needed` raises WorkerError.
    """

    def start(column: Column) -> Worker | None:
        try:
            return Worker(column)
        except WorkerError as error:
            if column.library in needed:
                raise
            print(f"left out: {error}")
            return None

    workers: list[Worker] = []
    try:
        workers.extend(worker for column in columns if (worker := start(column)))
        yield workers
    finally:
        for worker in workers:
            worker.close()


def isa_of(workers: Iterable[Worker]) -> str:
    """The instruction set of fastaug in the workers."""
    return next(worker.versions["isa"] for worker in workers if "isa" in worker.versions)


@dataclass
class Times:
    """One library at one case. Times in milliseconds; ratios are the reference's time over this library's."""

    median: float
    p10: float
    p90: float
    ratio: float
    ratio_p10: float
    ratio_p90: float
    #: "equal"; "differs", by at most `difference` in the output's unit; "own draws", so nothing to compare.
    pixels: str
    difference: float | None = None


@dataclass
class Row:
    case: Timed
    rounds: int = 0
    calls_per_turn: int = 0
    times: dict[str, Times] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    #: The columns whose results are views of their images.
    views: set[str] = field(default_factory=set)
    #: What a suite keeps of a row beside this.
    more: dict[str, Any] = field(default_factory=dict)
    #: Of each round, in nanoseconds.
    medians: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def opponent(self, against: str) -> str | None:
        """The column that a goal names; None where it was not measured."""
        if against != FASTEST:
            return against if against in self.times else None
        times = {label: times for label, times in self.times.items() if not label.startswith(OURS)}
        equal = [label for label in times if times[label].pixels == "equal"]
        return min(equal, key=lambda label: times[label].median, default=None)

    def ratio(self, label: str, against: str) -> float:
        """How many times faster one column was than another: the median over rounds."""
        return spread(self.medians[against] / self.medians[label])[0]


def compare(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """The largest difference; infinity where shape or dtype differ."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    if np.array_equal(ours, theirs):
        return 0.0
    return float(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max())


def check(worker: Worker, reference: Worker, calls: range) -> tuple[str, float | None]:
    if not worker.same_draws:
        return "own draws", None
    difference = max(compare(worker.ask("result", i), reference.ask("result", i)) for i in calls)
    return ("equal", 0.0) if difference == 0 else ("differs", difference)


def spread(values: NDArray[np.float64]) -> tuple[float, float, float]:
    median, low, high = np.percentile(values, [50, 10, 90])
    return float(median), float(low), float(high)


def measure(case: Timed, bag: Path, workers: list[Worker], seconds: float, checks: int, clock: str) -> Row:
    """Times a case in all workers; the first is the reference.

    Round r is calls r * n to r * n + n - 1 in each worker in turn, so the ratio of a round compares the same images
    under the same seeds, moments apart. Who goes first changes from round to round.
    """
    row = Row(case)
    reference, pixels = workers[0], {}

    def takes_part(worker: Worker) -> bool:
        try:
            if worker.ask("open", case.name, bag, clock):
                row.views.add(worker.label)
            pixels[worker.label] = check(worker, reference, range(checks))
        except WorkerError as error:
            if worker is reference or worker.column.library == "fastaug":
                raise
            row.absent[worker.label] = str(error)
        return worker.label in pixels

    taking_part = [worker for worker in workers if takes_part(worker)]

    # Short calls are timed several to a turn, about two milliseconds of the fastest library.
    fastest = min(min(worker.ask("run", 0, 3)) for worker in taking_part)
    n = row.calls_per_turn = int(np.clip(2_000_000 // max(fastest, 1), 1, 16))
    samples: dict[str, list[list[int]]] = {worker.label: [] for worker in taking_part}
    started = time.monotonic()
    while row.rounds < 9 or (row.rounds < 201 and time.monotonic() - started < seconds):
        shift = row.rounds % len(taking_part)
        for worker in taking_part[shift:] + taking_part[:shift]:
            samples[worker.label].append(worker.ask("run", row.rounds * n, n))
        row.rounds += 1

    calls = {label: np.array(sample, np.float64) for label, sample in samples.items()}
    row.medians = {label: np.median(sample, axis=1) for label, sample in calls.items()}
    for label, sample in calls.items():
        ratios = row.medians[reference.label] / row.medians[label]
        row.times[label] = Times(*spread(sample / 1e6), *spread(ratios), *pixels[label])
    for worker in taking_part:
        worker.ask("close")
    return row
