"""python -m bench.readme [RESULTS.json ...] [--since DATE]: puts what was measured where a reader looks for it.

That is README.md and docs/benchmarks.md, between markers, and the chart of both, docs/speed-light.svg and -dark.svg. A
figure is the median of the runs since a date, by default that of the last release, or of the newest three where these
are fewer. Results that are named come before those in bench/results.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import chart
from bench.case import FAST, OURS
from bench.cases import PIPELINES, RECIPES
from bench.measure import ROOT
from bench.report import figure, markdown
from bench.runs import Runs, stored

RESULTS = ROOT / "bench" / "results"
#: Suites whose results stand in files that begin with their names; all others are those of `python -m bench` itself.
SUITES = ("clients", "decoding", "loading", "operations", "samples", "startup", "switch", "tensors")
SPEED = "speed"
#: The reference of every ratio that a chart or a table shows, unless its heading names another.
REFERENCE = "torchvision"
#: Columns of other libraries, where they were measured.
TENSORS = "torchvision v2 tensors"
PEERS = ("Pillow-SIMD", "OpenCV", "Albumentations", "kornia-rs")
#: The rows of README.md's table.
SHORT = (
    "P, 512, rotation nearest",
    "ImageNet train, 500x375 to 224",
    "ImageNet eval, 500x375 to 224",
    "segmentation, 1024x1024 to 512",
    "super-resolution crop 96 of 2040x1356",
)
CLOCK = {"wall": "wall-clock time", "cpu": "processor time"}


@dataclass(frozen=True)
class Shown:
    """A bar of the chart: its suite and the case."""

    label: str
    suite: str
    case: str


BARS = (
    Shown("histology tile to 512", SPEED, "P, 512, rotation nearest"),
    Shown("ImageNet train", SPEED, "ImageNet train, 500x375 to 224"),
    Shown("ImageNet eval", SPEED, "ImageNet eval, 500x375 to 224"),
    Shown("segmentation", SPEED, "segmentation, 1024x1024 to 512"),
    Shown("crop of a JPEG file", "decoding", "JPEG 1024x1024, crop 224"),
    Shown("SSD, image and boxes", "samples", "detection, SSD, 8 boxes [PIL]"),
)


class Results(Runs):
    """What the runs of a suite on a processor measured."""

    def __init__(self, path: Path, since: str = "", named: bool = False) -> None:
        given = stored(path)
        super().__init__(given, since)
        #: The rows of the newest run, whole.
        self.rows: list[dict[str, Any]] = given[0]["rows"]
        first = path.stem.split("-")[0]
        self.suite = first if first in SUITES else SPEED
        self.named = named

    @property
    def machine(self) -> str:
        return f"{self.about['cpu']}, {self.about['isa'].upper()}"

    @property
    def column(self) -> str:
        """The heading of a column of the processor."""
        return str(self.about["isa"].upper())

    def caption(self) -> str:
        versions = ", ".join(f"{name} {self.about[name.lower()]}" for name in ("torch", "torchvision", "Pillow"))
        clock = CLOCK[self.about.get("clock", "wall")]
        return f"{self.machine}; {versions}. Medians of {clock}: {self.when()}."

    def table(self, corner: str, cases: Iterable[str], columns: list[str], reference: str = REFERENCE) -> str:
        """Columns of milliseconds; each of ours is followed by how many times as fast as the reference it is."""
        faster = "faster" if reference == REFERENCE else f"faster than {reference}"
        head, lines = [corner], []
        for label in columns:
            head += ["fast mode" if label == FAST else label, *([faster] if label in (OURS, FAST) else [])]
        for case in cases:
            if case not in self:
                continue  # it is younger than these results
            line = [case]
            for label in columns:
                time, ours = self.time(case, label), label in (OURS, FAST)
                cells = ["", ""] if time is None else [figure(time), str(self.faster(case, label, reference))]
                line += [f"**{cell}**" if cell else "" for cell in cells] if ours else cells[:1] if time else [""]
            lines.append(line)
        return markdown([head, *lines])


def released() -> str:
    """The day of the last release."""
    (date,) = re.findall(r"^date-released: \"?([0-9-]+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    return str(date)


def newest(given: Sequence[Path] = (), since: str | None = None) -> dict[str, list[Results]]:
    """The results by suite, newest first; those that are given come before all others."""
    found: dict[str, list[Results]] = {}
    since = released() if since is None else since
    there = [Results(path, since) for path in sorted(RESULTS.glob("*.json"))]
    for one in [Results(path, since, named=True) for path in given] + sorted(
        there, key=lambda one: str(one.about["date"]), reverse=True
    ):
        found.setdefault(one.suite, []).append(one)
    return found


def processors(found: list[Results]) -> list[Results]:
    """One of a suite for each processor: the one that was named, then AVX2, which most people have."""
    by_machine: dict[str, Results] = {}
    for one in found:
        by_machine.setdefault(one.machine, one)
    return sorted(by_machine.values(), key=lambda one: (not one.named, one.about["isa"] != "avx2"))


def by_processor(corner: str, several: list[Results], cases: Iterable[str], spreads: bool, unit: str = ", ms") -> str:
    """What the first processor takes, and for each how many times as fast as torchvision it is."""
    first = several[0]
    head = [corner, f"torchvision{unit}", f"fastaug{unit}", *(one.column for one in several)]
    lines = []
    for case in cases:
        times = [first.time(case, label) if case in first else None for label in (REFERENCE, OURS)]
        line = [case, *("" if time is None else figure(time) for time in times)]
        line[2] = f"**{line[2]}**" if line[2] else ""
        for one in several:
            known = case in one and {REFERENCE, OURS} <= set(one.labels[case])
            faster = one.faster(case, OURS, REFERENCE) if known else None
            line.append("" if faster is None else f"**{faster if spreads else f'{faster.median:.1f}x'}**")
        lines.append(line)
    return markdown([head, *lines])


def machines(several: list[Results]) -> str:
    """What the columns stand for."""
    return "; ".join(f"{one.column}: {one.about['cpu']}, {one.when()}" for one in several)


def within(several: list[Results], cases: Sequence[str]) -> str:
    """How far the runs of a processor lie apart."""
    spreads = [one.faster(case, OURS, REFERENCE) for one in several for case in cases if case in one]
    most = max(max(one.high / one.median, one.median / one.low) - 1 for one in spreads)
    return f"Ratios of single runs lie within {100 * most:.0f} % of these."


def charts(found: dict[str, list[Results]]) -> tuple[dict[str, str], str]:
    """The chart in each theme, and in words: of one processor, with a bar for each suite that it has results of.

    Raises:
        ValueError: a bar's case has no time of torchvision, with which all bars are compared.
    """
    machine = processors(found[SPEED])[0].machine
    bars, notes = [], []
    for shown in BARS:
        results = next((one for one in found.get(shown.suite, []) if one.machine == machine), None)
        if results is None:
            continue
        note = f"{results.machine}, {results.when()}"
        if note not in notes:
            notes.append(note)
        theirs, ours = (results.time(shown.case, label) for label in (REFERENCE, OURS))
        if theirs is None or ours is None:
            raise ValueError(f"the chart compares with {REFERENCE}, which has no time of {shown.case!r}")
        faster = results.faster(shown.case, OURS, REFERENCE)
        bars.append(
            chart.Bar(shown.label, faster.median, f"{figure(theirs)} ms to {figure(ours)} ms", notes.index(note))
        )
    pictures = {name: chart.drawn(bars, notes, theme) for name, theme in chart.THEMES.items()}
    return pictures, chart.described(bars)


def startup(found: dict[str, list[Results]]) -> str:
    """What an import takes, in a sentence."""
    one = processors(found["startup"])[0]
    (theirs, ours), (their_memory, our_memory) = (
        [one.time(f"import transforms, {unit}", label) or 0.0 for label in (REFERENCE, OURS)] for unit in ("ms", "MB")
    )
    return (
        f"Importing it takes {ours / 1e3:.2f} s and {our_memory:.0f} MB once torch is there, where torchvision takes "
        f"{theirs / 1e3:.1f} s and {their_memory:.0f} MB."
    )


# The most processors of the table in README.md.
_SHOWN = 3


def shown_pipelines(found: dict[str, list[Results]]) -> str:
    several = processors(found[SPEED])[:_SHOWN]
    table = by_processor("one core, on PIL images", several, SHORT, spreads=False)
    said = f"{machines(several)}. Times are medians of the first. {within(several, SHORT)} All pixels are equal."
    return f"{table}\n\n{said}\n\n{startup(found)}"


def figures(found: dict[str, list[Results]]) -> tuple[dict[str, str], dict[str, str]]:
    """The sections of README.md, and those of docs/benchmarks.md."""
    several = processors(found[SPEED])
    every = tuple(case.name for case in PIPELINES + RECIPES)
    # Both pages say so.
    assert all(one.equal(case, OURS) for one in several for case in every if case in one)
    corner = "one core, ms a call"
    _, words = charts(found)
    picture = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="docs/speed-dark.svg">\n'
        f'  <img src="docs/speed-light.svg" width="640" alt="{words}">\n</picture>'
    )
    readme = {"chart": picture, "speed": shown_pipelines(found)}
    page = {
        "speed": f"{by_processor('one core', several, every, spreads=True)}\n\n{machines(several)}. Times are of the "
        "first. In brackets are the lowest and the highest of single runs. All pixels are equal.",
        "fast": f"{several[0].table(corner, every, [REFERENCE, OURS, FAST, TENSORS])}\n\n{several[0].caption()}",
        "peers": peers(found[SPEED], corner, every),
        "decode": "\n\n".join(map(decoded, processors(found["decoding"]))),
        "operations": "\n\n".join(map(behind, processors(found["operations"]))),
        "startup": imports(processors(found["startup"])),
        "loading": "\n\n".join(map(loaded, processors(found["loading"])[:1])),
    }
    for name in ("tensors", "samples"):
        suite = processors(found[name])
        cases = [case for case in suite[0] if pipeline(case, name)]
        page[name] = f"{by_processor('one core', suite, cases, spreads=True)}\n\n{machines(suite)}."
    return readme, page


def pipeline(case: str, suite: str) -> bool:
    """Whether a row is one of a whole pipeline."""
    from bench import samples, tensors

    pipelines = {"tensors": tensors.PIPELINES, "samples": samples.PIPELINES}[suite]
    return any(one.name == case for one in pipelines)


def peers(speed: list[Results], corner: str, every: tuple[str, ...]) -> str:
    """The pipelines beside other libraries, of the newest results that have them."""
    for one in speed:
        present = [label for label in PEERS if any(label in one.labels[case] for case in one)]
        if present:
            table = one.table(corner, every, [REFERENCE, OURS, *present])
            return f"{table}\n\n{one.caption()} {', '.join(present)} give other pixels in most rows."
    return ""


def decoded(one: Results) -> str:
    """Files, of one processor."""
    first = ["torchvision", OURS, "Pillow"]
    labels = dict.fromkeys(label for case in one for label in one.labels[case])
    others = [
        label for label in labels if label not in first and not label.startswith(OURS) and not label.endswith("threads")
    ]
    return f"{one.table('one core, ms', one, [*first, *others])}\n\n{one.caption()}"


def behind(one: Results) -> str:
    """The single operations in which fastaug is behind on a processor, the worst first."""
    rows = [row for row in one.rows if row["behind"]]
    forced = ", forced on fastaug alone" if "forced" in one.about else ""
    when = f"{one.about['date']}, {one.about['commit']}"
    said = f"{one.machine}{forced}: {len(rows) or 'none'} of {len(one.rows)} rows. {when}."
    if not rows:
        return said
    times = ["torchvision, ms", "fastaug, ms", "faster", "20th to 80th percentile"]
    head = ["behind on one core", "size", "image", *times]
    lines = []
    for row in sorted(rows, key=lambda row: float(row["libraries"][OURS]["ratio"])):
        theirs, ours = (row["libraries"][label] for label in (REFERENCE, OURS))
        low, high = row["range"]
        line = [row["op"], str(row["size"]), row["image"], figure(theirs["median"]), figure(ours["median"])]
        lines.append([*line, f"{ours['ratio']:.2f}x", f"{low:.2f}-{high:.2f}"])
    return f"{markdown([head, *lines])}\n\n{said}"


def imports(several: list[Results]) -> str:
    return f"{by_processor('after `import torch`', several, several[0], True, '')}\n\n{machines(several)}."


def loaded(one: Results) -> str:
    table = one.table("", [case for case in one if REFERENCE in one.labels[case]], [REFERENCE, OURS])
    return f"{table.replace('faster', 'times less', 1)}\n\n{one.caption()}"


def filled(text: str, sections: dict[str, str]) -> str:
    """A page with the sections between its markers, instead of what is there."""
    for name, section in sections.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{section}\n\n{end}{rest.split(end)[1]}"
    return text


def written(given: Sequence[Path] = (), since: str | None = None) -> dict[Path, str]:
    """The files that show figures, and what has to stand in them."""
    found = newest(given, since)
    pages = {path: path.read_text() for path in (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")}
    texts = {path: filled(text, sections) for (path, text), sections in zip(pages.items(), figures(found))}
    pictures, _ = charts(found)
    return texts | {ROOT / "docs" / f"speed-{name}.svg": text for name, text in pictures.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.readme", description=__doc__)
    parser.add_argument("results", nargs="*", type=Path, metavar="RESULTS.json", help="results to show first")
    parser.add_argument("--since", metavar="DATE", help="the first day of runs (default: the last release's)")
    options = parser.parse_args(arguments)
    for path, text in written(options.results, options.since).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
