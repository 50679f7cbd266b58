"""Numbers and tables of what was found on a GPU, and the files that keep them; no device is asked here."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.report import figure, markdown, text

NOTE = """\
Microseconds for one image; the median, and the 10th to 90th percentile. "batch": a whole warm call of batch(), draws
and output allocation included, between two CUDA events. "kernels": the same bags launched again, with nothing in
between. "host": processor time of the calling thread, of which so much is drawing, planning (the bag) and launching.
"floor": the larger of the bytes over the copy rate and, where a profiler counted them, the warps' instructions over the
issue rate; the bytes are what the program reads of the image, the result, and what a bag keeps between its parts,
twice. "of floor": floor over kernels. Other libraries draw parameters of their own, so their pictures are others."""


@dataclass(frozen=True)
class Spread:
    """Of many values: the median, the 10th and 90th percentile, and how many there were."""

    median: float
    p10: float
    p90: float
    count: int

    def __str__(self) -> str:
        return f"{figure(self.median)} ({figure(self.p10)}-{figure(self.p90)})"


def spread(values: Iterable[float], scale: float = 1.0) -> Spread:
    """Of values times `scale`; percentiles lie between two values as numpy's do.

    Example:
        >>> spread([1.0, 2.0, 3.0], scale=10).median
        20.0
    """
    ordered = sorted(value * scale for value in values)
    if not ordered:
        raise ValueError("a spread needs at least one value")

    def percentile(share: float) -> float:
        position = share * (len(ordered) - 1)
        below = int(position)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (ordered[above] - ordered[below]) * (position - below)

    return Spread(percentile(0.5), percentile(0.1), percentile(0.9), len(ordered))


@dataclass(frozen=True)
class Work:
    """What an image costs at least: bytes, and instructions of warps where they are known."""

    read: float = 0.0
    written: float = 0.0
    kept: float = 0.0
    instructions: float | None = None

    @property
    def bytes(self) -> float:
        """Read, written, and what is kept between parts, which is written and read."""
        return self.read + self.written + 2 * self.kept


@dataclass(frozen=True)
class Rates:
    """What the device did in this run: bytes and instructions of warps a second."""

    copy: float
    issue: float | None = None


def floor(work: Work, rates: Rates) -> float:
    """Seconds that `work` takes at least."""
    least = work.bytes / rates.copy
    if work.instructions is not None and rates.issue:
        least = max(least, work.instructions / rates.issue)
    return least


def mean_work(works: Sequence[Work]) -> Work:
    """Of several images; its instructions are not known."""
    return Work(*(sum(getattr(work, name) for work in works) / len(works) for name in ("read", "written", "kept")))


@dataclass
class Row:
    """A case at one place of its images. Times are seconds an image."""

    case: str
    images: int
    place: str
    batch: Spread | None = None
    kernels: Spread | None = None
    host: Spread | None = None
    #: Medians: drawing, planning, launching.
    parts: tuple[float, float, float] | None = None
    work: Work | None = None
    #: Of the other libraries.
    others: dict[str, Spread] = field(default_factory=dict)
    #: Why something was not measured, by column.
    absent: dict[str, str] = field(default_factory=dict)


def _us(value: Spread | None) -> str:
    return "" if value is None else str(Spread(value.median * 1e6, value.p10 * 1e6, value.p90 * 1e6, value.count))


def table(rows: Sequence[Row], rates: Rates | None) -> list[list[str]]:
    """The header and the lines."""
    others = list(dict.fromkeys(name for row in rows for name in row.others))
    header = ["case", "images", "on the", "batch, us", "kernels, us", "host, us", "draw / plan / launch"]
    lines = [[*header, "KB", "floor, us", "of floor", *(f"{name}, us" for name in others)]]
    for row in rows:
        line = [row.case, str(row.images), row.place, _us(row.batch), _us(row.kernels), _us(row.host)]
        line.append(" / ".join(figure(part * 1e6) for part in row.parts) if row.parts else "")
        least = floor(row.work, rates) if row.work and rates else None
        line.append(figure(row.work.bytes / 1e3) if row.work else "")
        line.append("" if least is None else figure(least * 1e6))
        line.append("" if least is None or row.kernels is None else f"{least / row.kernels.median:.0%}")
        for name in others:
            times = row.others.get(name)
            ratio = f", {times.median / row.batch.median:.1f}x" if times and row.batch else ""
            line.append(_us(times) + ratio)
        lines.append(line)
    return lines


@dataclass
class Check:
    """What became of a check: "passed", "failed" or "skipped", and why."""

    name: str
    outcome: str
    seconds: float
    note: str = ""


def checked(checks: Sequence[Check]) -> str:
    """A line for each check, those that failed with all that is to be said."""
    lines = []
    for check in checks:
        note = check.note if check.outcome == "failed" else check.note.splitlines()[0] if check.note else ""
        lines.append(f"{check.outcome:8}{check.name} ({check.seconds:.1f} s)" + (f": {note}" if note else ""))
    return "\n".join(lines)


def instructions_of(output: str) -> float | None:
    """The instructions of warps in Nsight Compute's CSV (`ncu --csv --metrics smsp__inst_executed.sum`), added up.

    What it prints beside the table is skipped. None where there is no such metric.

    Example:
        >>> instructions_of('"ID","Metric Name","Metric Value"\\n"0","smsp__inst_executed.sum","1,200"')
        1200.0
    """
    lines = output.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"') and "Metric Name" in line), None)
    if start is None:
        return None
    found = [
        float(row["Metric Value"].replace(",", ""))
        for row in csv.DictReader(line for line in lines[start:] if line.startswith('"'))
        if row["Metric Name"] == "smsp__inst_executed.sum"
    ]
    return sum(found) if found else None


def slug(name: str) -> str:
    """A name of a GPU as files have it: "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@dataclass
class Report:
    """All that a run has found so far, in cuda-<GPU>.json and .md; they are written anew with each finding.

    Attributes:
        folder: of the files.
        about: names and versions.
        compiled: what calls took that had to compile kernels, or to read them.
        state: "running", "complete", or why it ended before that.
    """

    folder: Path
    about: dict[str, Any]
    checks: list[Check] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    rates: Rates | None = None
    compiled: dict[str, str] = field(default_factory=dict)
    state: str = "running"

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._begun: tuple[str, float] | None = None
        self.write()

    @property
    def failures(self) -> list[Check]:
        return [check for check in self.checks if check.outcome == "failed"]

    @property
    def paths(self) -> list[Path]:
        stem = f"cuda-{slug(str(self.about.get('gpu', 'no gpu')))}"
        return [self.folder / f"{stem}{suffix}" for suffix in (".json", ".md")]

    def begin(self, name: str) -> None:
        """Say what is done next, in case that it does not come to an end."""
        self._begun = name, time.perf_counter()

    def add(self, found: Check | Row) -> None:
        with self._lock:
            if self.state != "running":
                return  # what an interrupt has brought about
            if isinstance(found, Row):
                self.rows.append(found)
            else:
                self.checks.append(found)
                if self._begun and self._begun[0] == found.name:
                    self._begun = None
            self.write()

    def interrupt(self, why: str, outcome: str) -> None:
        """End the run in the midst of what was begun last."""
        with self._lock:
            if self._begun:
                name, start = self._begun
                self.add(Check(name, outcome, time.perf_counter() - start, why))
            self.state = why
            self.write()

    def finish(self) -> None:
        self.state = "complete"
        self.write()

    def write(self) -> None:
        """Replace each file as a whole, so that an end at any moment leaves the one before or this one."""
        with self._lock:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path, content in zip(self.paths, (self._json(), self._page())):
                unfinished = path.with_name(f"{path.name}.tmp")
                unfinished.write_text(content)
                os.replace(unfinished, path)

    def printed(self) -> str:
        """All of it for a terminal."""
        parts = [checked(self.checks)]
        if self.rows:
            parts += [text(table(self.rows, self.rates)), NOTE]
        last = ["written: " + ", ".join(os.path.relpath(path) for path in self.paths)]
        if self.failures:
            last.append("FAILED: " + ", ".join(check.name for check in self.failures))
        return "\n\n".join([*parts, "\n".join(last)])

    def _json(self) -> str:
        plain = {
            "about": self.about,
            "state": self.state,
            "rates": dataclasses.asdict(self.rates) if self.rates else None,
            "compilation": self.compiled,
            "checks": [dataclasses.asdict(check) for check in self.checks],
            "rows": [dataclasses.asdict(row) for row in self.rows],
        }
        return json.dumps(plain, indent=1) + "\n"

    def _page(self) -> str:
        lines = [f"# Speed on a GPU, {self.about.get('gpu', 'none')}", ""]
        lines += [f"- {name}: {value}" for name, value in self.about.items()]
        if self.rates:
            lines.append(f"- copy on the device: {self.rates.copy / 1e9:.0f} GB/s, counting bytes read and written")
            if self.rates.issue:
                lines.append(f"- issue rate: {self.rates.issue / 1e9:.0f} billion instructions of warps a second")
        lines += [f"- {name}: {value}" for name, value in self.compiled.items()]
        lines += [] if self.state == "complete" else [f"- this run is not complete: {self.state}"]
        lines += ["", NOTE, "", *([markdown(table(self.rows, self.rates)), ""] if self.rows else [])]
        lines += ["## Checks", "", *(f"- {line}" for line in _brief(self.checks)), ""]
        return "\n".join(lines)


def _brief(checks: Sequence[Check]) -> list[str]:
    return [
        f"{check.outcome}: {check.name}" + (f" ({check.note.splitlines()[0]})" if check.note else "")
        for check in checks
    ]
