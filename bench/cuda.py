"""python -m bench.cuda: checks fastaug on a GPU bit by bit, and times it beside other libraries; `make gpu` runs it.

It needs neither a network nor pip, but fastaug, PyTorch with CUDA, and the folders bench and tests. A few images are
compared with the CPU's first, then cases are timed, then the rest is checked, what takes long last; each part has its
share of the time. What was found is printed, and written to bench/results/cuda-<GPU>.json and .md after each part. It
ends with 1 if a check failed. Without a GPU it says so and ends with 0, or with 1 where FASTAUG_REQUIRE_CUDA is 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

_BEGUN = time.perf_counter()

# ruff: noqa: E402
import torch

from bench.gpu import cases, checks, fresh, machine, timing
from bench.gpu.clock import Clock
from bench.gpu.machine import Machine
from bench.gpu.parts import Part, watched
from bench.gpu.report import Report


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cuda", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=9, help="for everything; what is not done by then is left out")
    parser.add_argument("--checks", metavar="PATTERN", nargs="*", default=["*"], help="by shell patterns; '' for none")
    parser.add_argument("--cases", metavar="PATTERN", nargs="*", default=["*"], help="to be timed; '' for none")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench" / "results", help="folder of the results")
    parser.add_argument("--emulate", action="store_true", help="an emulated device, to try this program")
    parser.add_argument("--short", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--profiled", metavar="CASE", help=argparse.SUPPRESS)
    return parser.parse_args()


def opened(emulate: bool) -> Machine | None:
    """The device; None, with a line, where there is none."""
    if emulate:
        return machine.Emulated()
    reason = machine.why_no_gpu()
    if reason is None:
        return machine.Gpu()
    print(f"No GPU that fastaug can use: {reason}")
    return None


def parts(device: Machine, options: argparse.Namespace, kept: Report) -> list[Part]:
    """List what is done, in its order."""

    def matches(name: str, patterns: Sequence[str]) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    names = [name for name in checks.TESTS if matches(name, options.checks)]
    chosen = [case for case in cases.CASES if matches(case.title, options.cases)]
    found = [checks.part(name, device) for name in names]
    if chosen:
        measures = [Part("times", 200, partial(timing.times, device, chosen, kept))]
        late = []
        if not device.emulated:
            measures.insert(0, Part("rates", 15, lambda clock: timing.rates(device, kept)))
            measures.append(Part("first calls", 30, partial(fresh.compilation, kept)))
            late = [Part("instructions", 40, partial(fresh.counted, kept))]
        first = [part for part in found if part.name == checks.SMOKE]
        last = [part for part in found if part.name in checks.LAST]
        found = [*first, *measures, *(part for part in found if part not in (*first, *last)), *late, *last]
    return found


def main() -> int:
    options = arguments()
    clock = Clock(60 * options.minutes - (time.perf_counter() - _BEGUN))
    if options.first:
        print(json.dumps(fresh.first(_BEGUN)))
        return 0
    device = opened(options.emulate)
    if device is None:
        return int(os.environ.get("FASTAUG_REQUIRE_CUDA") == "1")
    if options.short:
        print(f"seen: {checks.Sanitizers(tuple(options.short)).short(device, clock)}")
        return 0
    if options.profiled:
        fresh.profiled(device, options.profiled)
        return 0

    torch.set_num_threads(1)
    about = machine.about()
    if device.emulated:
        about["gpu"] = "emulated"
    print("\n".join(f"{name}: {value}" for name, value in about.items()), flush=True)
    # Kernels of this run alone, which its other processes find.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("FASTAUG_CACHE_DIR", folder)
        kept = Report(options.out, about)
        status = watched(parts(device, options, kept), kept, clock)
    # A compiler may still be at work on a kernel that nothing waits for.
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    raise SystemExit(main())
