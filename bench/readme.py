"""python -m bench.readme [RESULTS.json ...]: puts what was measured where it is told.

That is README.md and docs/benchmarks.md, between markers, and the chart of both, docs/speed-light.svg and -dark.svg. Of
each suite these are the results that are named, or else the newest in bench/results.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import chart
from bench.case import FAST, OURS
from bench.cases import PIPELINES, RECIPES
from bench.measure import ROOT
from bench.report import figure, markdown

RESULTS = ROOT / "bench" / "results"
#: Suites whose results stand in files that begin with their names; all others are those of `python -m bench` itself.
SUITES = ("clients", "decoding", "loading", "samples", "tensors")
SPEED = "speed"
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
CLOCK = {"wall": "wall-clock time", "cpu": "processor time, on a machine that was also doing other work"}


@dataclass(frozen=True)
class Shown:
    """A bar of the chart: its suite and the case."""

    label: str
    suite: str
    case: str


BARS = (
    Shown("histology tile to 512 (P)", SPEED, "P, 512, rotation nearest"),
    Shown("ImageNet train", SPEED, "ImageNet train, 500x375 to 224"),
    Shown("ImageNet eval", SPEED, "ImageNet eval, 500x375 to 224"),
    Shown("segmentation", SPEED, "segmentation, 1024x1024 to 512"),
    Shown("crop of a JPEG file", "decoding", "JPEG 1024x1024, crop 224"),
    Shown("SSD, image and boxes", "samples", "detection, SSD, 8 boxes [PIL]"),
)


class Results:
    """What a run measured, by case, and the machine that it ran on."""

    def __init__(self, path: Path, named: bool = False) -> None:
        read = json.loads(path.read_text())
        first = path.stem.split("-")[0]
        self.suite = first if first in SUITES else SPEED
        self.about: dict[str, Any] = read["about"]
        self.rows: dict[str, dict[str, Any]] = {row["case"]: row["libraries"] for row in read["rows"]}
        self.named = named
        self.labels = list(dict.fromkeys(label for row in self.rows.values() for label in row))

    @property
    def machine(self) -> str:
        return f"{self.about['cpu']}, {self.about['isa'].upper()}"

    def caption(self) -> str:
        about = self.about
        versions = ", ".join(f"{name} {about[name.lower()]}" for name in ("torch", "torchvision", "Pillow"))
        return f"{self.machine}; {versions}; {about['date']}. Medians of {CLOCK[about.get('clock', 'wall')]}."

    def times_faster(self, case: str) -> float:
        """Than torchvision, by the medians that stand beside it."""
        return float(self.rows[case]["torchvision"]["median"] / self.rows[case][OURS]["median"])

    def table(self, corner: str, cases: tuple[str, ...], columns: list[str], reference: str = "torchvision") -> str:
        """Columns of milliseconds; each of ours is followed by how many times as fast as the reference it is."""
        faster = "faster" if reference == "torchvision" else f"faster than {reference}"
        head, lines = [corner], []
        for label in columns:
            head += ["fast mode" if label == FAST else label, *([faster] if label in (OURS, FAST) else [])]
        for case in cases:
            if case not in self.rows:
                continue  # it is younger than these results
            line = [case]
            for label in columns:
                times = self.rows[case].get(label)
                ours = label in (OURS, FAST)
                cells = ["", ""] if times is None else [figure(times["median"]), f"{times['ratio']:.1f}x"]
                line += [f"**{cell}**" if cell else "" for cell in cells] if ours else cells[:1]
            lines.append(line)
        return markdown([head, *lines])


def newest(given: list[Path]) -> dict[str, list[Results]]:
    """The results by suite, newest first; those that are given come before all others."""
    found: dict[str, list[Results]] = {}
    stored = [Results(path) for path in sorted(RESULTS.glob("*.json"))]
    for one in [Results(path, named=True) for path in given] + sorted(
        stored, key=lambda one: one.about["date"], reverse=True
    ):
        found.setdefault(one.suite, []).append(one)
    return found


def processors(found: dict[str, list[Results]]) -> list[Results]:
    """The newest results of pipelines for each processor: the one that was named, then AVX2, which most people have."""
    by_machine: dict[str, Results] = {}
    for one in found[SPEED]:
        by_machine.setdefault(one.machine, one)
    return sorted(by_machine.values(), key=lambda one: (not one.named, one.about["isa"] != "avx2"))


def shown_pipelines(several: list[Results]) -> str:
    """Milliseconds of the first processor, and for each how many times as fast as torchvision it is."""
    first = several[0]
    head = ["one core, on PIL images", "torchvision, ms", "fastaug, ms", *(one.about["isa"].upper() for one in several)]
    lines = [
        [
            case,
            figure(first.rows[case]["torchvision"]["median"]),
            f"**{figure(first.rows[case][OURS]['median'])}**",
            *(f"**{one.times_faster(case):.1f}x**" for one in several),
        ]
        for case in SHORT
    ]
    machines = "; ".join(f"{one.machine}, {one.about['date']}" for one in several)
    assert all(one.rows[case][OURS]["pixels"] == "equal" for one in several for case in SHORT)
    said = f"Medians of one run each: {machines}. Times are of the first. All pixels are equal."
    return f"{markdown([head, *lines])}\n\n{said}"


def charts(found: dict[str, list[Results]]) -> tuple[dict[str, str], str]:
    """The chart in each theme, and in words: of one processor, with a bar for each suite that it has results of."""
    machine = processors(found)[0].machine
    bars, notes = [], []
    for shown in BARS:
        results = next((one for one in found[shown.suite] if one.machine == machine), None)
        if results is None:
            continue
        note = f"{results.machine}, {results.about['date']}"
        if note not in notes:
            notes.append(note)
        times = results.rows[shown.case]
        told = f"{figure(times['torchvision']['median'])} ms to {figure(times[OURS]['median'])} ms"
        bars.append(chart.Bar(shown.label, results.times_faster(shown.case), told, notes.index(note)))
    pictures = {name: chart.drawn(bars, notes, theme) for name, theme in chart.THEMES.items()}
    return pictures, chart.described(bars)


def figures(found: dict[str, list[Results]]) -> tuple[dict[str, str], dict[str, str]]:
    """The sections of README.md, and those of docs/benchmarks.md."""
    speed, decoding = found[SPEED][0], found["decoding"][0]
    with_peers = next((one for one in found[SPEED] if set(PEERS) & set(one.labels)), None)
    every = tuple(case.name for case in PIPELINES + RECIPES)
    corner, columns = "one core, ms a call", ["torchvision", OURS, FAST]
    beside = ""
    if with_peers is not None:
        present = [label for label in PEERS if label in with_peers.labels]
        beside = with_peers.table(corner, every, ["torchvision", OURS, *present])
        beside += f"\n\n{with_peers.caption()} {', '.join(present)} give other pixels in most rows."
    of_files = ["torchvision", OURS, "Pillow"]
    others = [
        label
        for label in decoding.labels
        if label not in of_files and not label.startswith(OURS) and not label.endswith("threads")
    ]
    equal = f"{speed.caption()} fastaug's pixels equal torchvision's, but for those of fast mode."
    _, words = charts(found)
    picture = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="docs/speed-dark.svg">\n'
        f'  <img src="docs/speed-light.svg" width="640" alt="{words}">\n</picture>'
    )
    readme = {"chart": picture, "speed": shown_pipelines(processors(found))}
    files = decoding.table("one core, ms", tuple(decoding.rows), [*of_files, *others], "Pillow")
    page = {
        "speed": f"{speed.table(corner, every, [*columns, TENSORS])}\n\n{equal}",
        "peers": beside,
        "decode": f"{files}\n\n{decoding.caption()}",
    }
    return readme, page


def filled(text: str, sections: dict[str, str]) -> str:
    """A page with the sections between its markers, in the place of what stands there."""
    for name, section in sections.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{section}\n\n{end}{rest.split(end)[1]}"
    return text


def written(given: list[Path]) -> dict[Path, str]:
    """The files that show figures, and what has to stand in them."""
    found = newest(given)
    pages = {path: path.read_text() for path in (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")}
    texts = {path: filled(text, sections) for (path, text), sections in zip(pages.items(), figures(found))}
    pictures, _ = charts(found)
    return texts | {ROOT / "docs" / f"speed-{name}.svg": text for name, text in pictures.items()}


def main(names: list[str]) -> None:
    for path, text in written([Path(name) for name in names]).items():
        path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
