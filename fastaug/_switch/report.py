"""A report of the switch: transforms, calls, reasons, time."""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from fastaug._switch import late, options

#: Rows of transforms that a printed report has at most.
_ROWS = 20

#: The size of the image for which passes are planned: height and width.
_SIZE = (375, 500)


@dataclass
class Row:
    """The transforms of a name that were called for the same reason.

    Attributes:
        name: of the class, with the names of what it holds.
        calls: of all such transforms.
        switched: the calls that were fastaug's.
        compiled: how often one was compiled.
        why: the reason for torchvision's own calls, in words; None where all but the first are fastaug's.
        saved: seconds of processor time; 0 without ``report=True``.
        apart: what keeps passes over the pixels apart, and could be changed.
    """

    name: str
    calls: int
    switched: int
    compiled: int
    why: str | None
    saved: float = 0.0
    apart: list[str] = field(default_factory=list)

    def line(self) -> str:
        saved = f", {self.saved:.1f} s saved" if self.saved else ""
        return f"{self.switched:>8} of {self.calls:>8} calls{saved}  {self.name}"


@dataclass
class Report:
    """A report of :func:`fastaug.install` so far. Prints as text, and as a table in notebooks.

    Attributes:
        rows: one for each kind of transform, most calls first.
        processes: the number of processes that were counted.
        problems: what could not be switched, and why.
    """

    rows: list[Row]
    processes: int
    problems: list[str]

    @property
    def covered(self) -> list[Row]:
        """The rows with calls by fastaug."""
        return [row for row in self.rows if row.switched]

    @property
    def left(self) -> list[Row]:
        """The rows whose calls were all torchvision's."""
        return [row for row in self.rows if not row.switched]

    @property
    def saved(self) -> float:
        """The seconds of processor time that were saved, as far as they were measured."""
        return sum(row.saved for row in self.rows)

    def json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(asdict(self))

    def _head(self) -> str:
        calls, switched = (sum(getattr(row, name) for row in self.rows) for name in ("calls", "switched"))
        where = "" if self.processes == 1 else f" in {self.processes} processes"
        saved = f"; {self.saved:.1f} s of processor time saved" if self.saved else ""
        return f"fastaug: {switched} of {calls} calls of torchvision's transforms switched{where}{saved}"

    def __str__(self) -> str:
        lines = [self._head()]
        for row in self.rows[:_ROWS]:
            lines.append(f"  {row.line()}")
            if row.why is not None:
                lines.append(f"{'':>12}torchvision's own: {row.why}")
            lines += [f"{'':>12}passes kept apart by {reason}" for reason in row.apart]
        if len(self.rows) > _ROWS:
            lines.append(f"  and {len(self.rows) - _ROWS} more")
        return "\n".join([*lines, *(f"  {problem}" for problem in self.problems)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names = ("name", "calls", "switched", "compiled", "saved", "why", "apart")
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(getattr(row, name)))}</td>" for name in names) + "</tr>"
            for row in self.rows
        )
        return f"<p>{html.escape(self._head())}</p><table><tr>{head}</tr>{body}</table>"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "; ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def report() -> Report:
    """Return what :func:`install` has done in this process so far.

    With ``report=True``, or ``python -m fastaug run --report``, it also measures the time that was saved, and is
    printed at the end, with the processes that the program started.

    Returns:
        An object that prints as text. Its attributes are ``rows``, ``covered`` and ``left``, ``saved`` seconds,
        ``processes`` and ``problems``; ``json()`` returns all.

    Example:
        >>> import fastaug
        >>> from PIL import Image
        >>> from torchvision import transforms
        >>> crop = transforms.Compose([transforms.RandomCrop(32), transforms.ToTensor()])
        >>> with fastaug.install():
        ...     results = [crop(Image.new("RGB", (80, 60))) for _ in range(3)]
        ...     row = next(row for row in fastaug.report().rows if row.name.startswith("Compose"))
        >>> row.name, row.calls, row.switched
        ('Compose(RandomCrop, ToTensor)', 3, 2)
    """
    return merged([rows()])


def rows() -> list[Row]:
    """Return the rows of this process."""
    twins = sys.modules.get("fastaug._switch.twins")
    if twins is None:
        return []
    found = []
    for note, calls, switched in twins.counts():
        apart = [] if note.twin is None else _apart(note.twin)
        found.append(Row(note.name, calls, switched, note.compiled, note.why, note.times.saved(switched), apart))
    for (name, why), (calls, switched, compiled, saved) in twins.gone.items():
        found.append(Row(name, calls, switched, compiled, why, saved))
    return found


def _apart(twin: Any) -> list[str]:
    try:
        return [f"{barrier['name']}: {barrier['reason']}" for barrier in twin.explain(_SIZE).barriers]
    except Exception:  # the transform takes no such image
        return []


def merged(processes: Iterable[list[Row]]) -> Report:
    """Return one report of several processes, with one row for each name and reason."""
    whole: dict[tuple[str, str | None], Row] = {}
    count = 0
    for found in processes:
        count += 1
        for row in found:
            before = whole.setdefault((row.name, row.why), Row(row.name, 0, 0, 0, row.why))
            before.calls += row.calls
            before.switched += row.switched
            before.compiled += row.compiled
            before.saved += row.saved
            before.apart = before.apart or row.apart
    calls = sys.modules.get("fastaug._switch.calls")
    problems = [f"{name} could not be switched: {why}" for name, why in late.failures.items()]
    problems += [f"{name} was replaced by other code, and stayed" for name in (calls.replaced if calls else ())]
    if not options.current and not whole:
        problems.append("it is not installed; call fastaug.install() first")
    return Report(sorted(whole.values(), key=lambda row: -row.calls), count, problems)
