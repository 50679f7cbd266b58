"""python -m bench.readme RESULTS.json: puts what was measured into README.md, between its two markers.

RESULTS.json is of bench, whose pipelines are shown, or of bench.decode.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench import encoded
from bench.case import OURS
from bench.cases import PIPELINES, RECIPES
from bench.measure import ROOT
from bench.report import figure, markdown

BEGIN, END = "<!-- speed: begin -->\n", "<!-- speed: end -->\n"
DECODE_BEGIN, DECODE_END = "<!-- decode: begin -->\n", "<!-- decode: end -->\n"
PEERS = ("torchvision v2 tensors", "Pillow-SIMD", "OpenCV", "Albumentations", "kornia-rs")


def bold(times: dict[str, Any]) -> list[str]:
    return [f"**{figure(times['median'])}**", f"**{times['ratio']:.1f}x**"]


def section(results: dict[str, Any]) -> str:
    about, rows = results["about"], {row["case"]: row["libraries"] for row in results["rows"]}
    peers = [peer for peer in PEERS if any(peer in libraries for libraries in rows.values())]
    lines = [["one core, ms a call", "torchvision", "fastaug", "faster", "fast mode", "faster", *peers]]
    for case in PIPELINES + RECIPES:
        libraries = rows[case.name]
        ours = libraries["fastaug"]
        others = [figure(libraries[peer]["median"]) if peer in libraries else "" for peer in peers]
        theirs = figure(libraries["torchvision"]["median"])
        pair = [text for times in (ours, libraries["fastaug fast"]) for text in bold(times)]
        lines.append([case.name, theirs, *pair, *others])
    clock = {"wall": "wall-clock time", "cpu": "processor time, on a machine that was also doing other work"}
    caption = (
        f"{about['cpu']}, {about['isa'].upper()}; {about['compiler']}; torch {about['torch']}, torchvision "
        f"{about['torchvision']}, Pillow {about['pillow']}; {about['date']}. Medians of {clock[about['clock']]}."
    )
    note = " fastaug's pixels equal torchvision's, but for those of fast mode"
    if peers:
        note += f"; {', '.join(peers)} give other pixels in most rows"
    return f"{BEGIN}\n{markdown(lines)}\n\n{caption}{note}.\n\n{END}"


def decode_section(results: dict[str, Any]) -> str:
    about, rows = results["about"], results["rows"]
    labels = dict.fromkeys(label for row in rows for label in row["libraries"])
    others = [label for label in labels if not label.startswith(OURS) and not label.endswith("threads")]
    lines = [["one core, ms", *others, "fastaug", "faster than Pillow"]]
    for row in rows:
        libraries = row["libraries"]
        theirs = [figure(libraries[label]["median"]) if label in libraries else "" for label in others]
        lines.append([row["case"], *theirs, *bold(libraries[OURS])])
    versions = ", ".join(f"{name} {about[name]}" for name in ("torchvision", "pillow"))
    caption = f"{about['cpu']}, {about['isa'].upper()}; {versions}; {about['date']}. Medians of wall-clock time."
    return f"{DECODE_BEGIN}\n{markdown(lines)}\n\n{caption}\n\n{DECODE_END}"


def main(path: str) -> None:
    readme, results = ROOT / "README.md", json.loads(Path(path).read_text())
    decodes = {row["case"] for row in results["rows"]} <= encoded.BY_NAME.keys()
    begin, end = (DECODE_BEGIN, DECODE_END) if decodes else (BEGIN, END)
    before, rest = readme.read_text().split(begin)
    after = rest.split(end)[1]
    readme.write_text(before + (decode_section if decodes else section)(results) + after)


if __name__ == "__main__":
    main(sys.argv[1])
