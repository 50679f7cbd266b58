"""python -m bench.decode: times decoding, alone and in front of a pipeline, beside Pillow and other libraries."""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
from pathlib import Path

from bench import report
from bench.case import FAST, OURS, selected
from bench.encoded import BY_REGION, CASES, CODES, REFERENCE, TWO_THREADS, EncodedCase, bag_file
from bench.environments import DECODERS, peer_columns
from bench.measure import ROOT, Column, Row, isa_of, measure, started

SUITE = "bench.decoders"
NOTE = """\
Milliseconds for one whole call on one core; the median, and the 10th to 90th percentile. Images are encoded bytes in
memory, but where a row names files. A whole image becomes an HWC uint8 array (a CHW tensor in torchvision and
torchcodec), a pipeline's a tensor: Pillow stands for torchvision's transforms on the PIL image, torchvision and
torchcodec for the same transforms on the tensor that they decode. "x" is how many times faster than Pillow: the median
over rounds, in each of which every library had its turn at the same images. "=": every pixel equals Pillow's, and in a
pipeline those of torchvision's transforms for the same seed; "~": they do not; unmarked: draws and filters of its own.
"The fastest equal" of a goal is the fastest other library with "=". "libjpeg-turbo by region" is fastaug with
FASTAUG_JPEG=libjpeg, which crops and skips by libjpeg-turbo's functions for that. "codes alone" is a floor: the entropy
codes that have to be read for what is wanted, by fastaug's decoder, which makes one pixel of them."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.decode", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="install further libraries under .venv-peers; time them")
    parser.add_argument("--only", metavar="PATTERN", default="*", help='cases by shell pattern, such as "PNG*"')
    parser.add_argument("--seconds", type=float, default=8, help="for a row, about; it has at least nine rounds")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return parser.parse_args()


def columns_for(cases: list[EncodedCase], peers: bool) -> list[Column]:
    columns = [Column(name, name, suite=SUITE) for name in (REFERENCE, OURS, "torchvision")]
    if any(case.format == "JPEG" for case in cases):
        columns.append(Column(BY_REGION, BY_REGION, suite=SUITE, env={"FASTAUG_JPEG": "libjpeg"}))
        columns.append(Column(CODES, CODES, suite=SUITE, env={"FASTAUG_JPEG": "own"}))
    if any(case.makes == "tensor" for case in cases):
        columns.append(Column(FAST, FAST, suite=SUITE))
    if any(case.makes == "arrays" for case in cases):
        names = (TWO_THREADS, "Pillow, 2 threads", "torchvision, 2 threads")
        columns += [Column(name, name, suite=SUITE, cores=2) for name in names]
    found = {"torchcodec": "torchcodec", "OpenCV": "cv2", "imagecodecs": "imagecodecs"}
    found |= {name: name for name in ("simplejpeg", "pyspng")}
    others = {
        name: Column(name, name, suite=SUITE) for name, module in found.items() if importlib.util.find_spec(module)
    }
    if peers:
        others |= {column.label: column for column in peer_columns(DECODERS, SUITE)}
    return [*columns, *others.values()]


def run(cases: list[EncodedCase], columns: list[Column], seconds: float) -> tuple[list[Row], dict[str, str]]:
    """The rows, and the versions of everything that took part."""
    with started(columns, (REFERENCE, OURS)) as workers, tempfile.TemporaryDirectory() as folder:

        def rows_of(case: EncodedCase) -> list[Row]:
            bag, checks = bag_file(case, Path(folder))
            return [measure(case, bag, workers, seconds, checks, "wall")]

        rows = report.measured(cases, rows_of, isa_of(workers), REFERENCE)
        versions = {name: version for worker in workers for name, version in worker.versions.items()}
    return rows, versions


def unequal(rows: list[Row]) -> list[str]:
    """Where fastaug's pixels are not Pillow's."""
    return [
        f"{row.case.name} ({label}, by up to {times.difference:g})"
        for row in rows
        for label, times in row.times.items()
        if label.startswith(OURS) and label != FAST and times.pixels != "equal"
    ]


def main() -> int:
    options = arguments()
    cases = selected(CASES, options)
    if not cases:
        return 0 if options.list else 2

    load = os.getloadavg()[0]
    rows, versions = run(cases, columns_for(cases, options.peers), options.seconds)
    about = report.machine(versions) | {"load before": f"{load:.1f}"}
    folder = options.out if options.only == "*" else None
    report.show(rows, about, folder, "Decoding", REFERENCE, NOTE, whole=len(rows) == len(cases))
    if differing := unequal(rows):
        print("DIFFERS FROM PILLOW: " + "; ".join(differing))
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
