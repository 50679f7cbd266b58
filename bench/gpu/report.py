"""Numbers and tables of what was measured on a GPU; no device and no clock is asked here."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
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


def failures(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.outcome == "failed"]


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


def printed(rows: Sequence[Row], rates: Rates | None) -> str:
    """The table for a terminal."""
    return text(table(rows, rates))


def write(
    folder: Path,
    about: dict[str, Any],
    checks: Sequence[Check],
    rows: Sequence[Row],
    rates: Rates | None,
    compiled: dict[str, Any],
) -> list[Path]:
    """Writes cuda-<GPU>.json and .md; their paths.

    Args:
        about: names and versions.
        compiled: what calls took that had to compile kernels, or to read them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"cuda-{slug(str(about.get('gpu', 'no gpu')))}"
    plain = {
        "about": about,
        "rates": dataclasses.asdict(rates) if rates else None,
        "compilation": compiled,
        "checks": [dataclasses.asdict(check) for check in checks],
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    stem.with_suffix(".json").write_text(json.dumps(plain, indent=1) + "\n")
    lines = [f"# Speed on a GPU, {about.get('gpu', 'none')}", ""]
    lines += [f"- {name}: {value}" for name, value in about.items()]
    if rates:
        lines.append(f"- copy on the device: {rates.copy / 1e9:.0f} GB/s, counting bytes read and written")
        if rates.issue:
            lines.append(f"- issue rate: {rates.issue / 1e9:.0f} billion instructions of warps a second")
    lines += [f"- {name}: {value}" for name, value in compiled.items()]
    lines += ["", NOTE, "", *([markdown(table(rows, rates)), ""] if rows else [])]
    lines += ["## Checks", "", *(f"- {line}" for line in _brief(checks)), ""]
    stem.with_suffix(".md").write_text("\n".join(lines))
    return [stem.with_suffix(".json"), stem.with_suffix(".md")]


def _brief(checks: Sequence[Check]) -> list[str]:
    return [
        f"{check.outcome}: {check.name}" + (f" ({check.note.splitlines()[0]})" if check.note else "")
        for check in checks
    ]
