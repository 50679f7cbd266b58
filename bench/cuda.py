"""python -m bench.cuda: checks fastaug on a GPU bit by bit, then times it beside other libraries; `make gpu` runs it.

It needs neither a network nor pip, but fastaug, PyTorch with CUDA, and the folders bench and tests. What it found is
printed, and written to bench/results/cuda-<GPU>.json and .md. It ends with 1 if a check failed. Without a GPU it says
so and ends with 0, or with 1 where FASTAUG_REQUIRE_CUDA is 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any

_BEGUN = time.perf_counter()

# ruff: noqa: E402
import torch

from bench.gpu import cases, checks, compare, machine, report, rivals, scenes, timing
from bench.gpu.cases import GpuCase
from bench.gpu.machine import Machine
from bench.gpu.report import Check, Rates, Row, Work

#: Checks that come last, since they may take long.
LATE = ("memcheck", "racecheck")
#: Seconds that are kept for them.
LATER = 150.0
#: For an emulated device, which has no times worth anything.
FEW = {
    "each op": partial(checks.each_op, count=2),
    "random programs": partial(checks.random_programs, count=60),
    "random programs, fast": partial(checks.random_programs, count=60, rewrites=checks._C.FAST),
    "types and memory formats": partial(checks.types, names=["ImageNet train"]),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cuda", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=9, help="for everything; what is not done by then is left out")
    parser.add_argument("--checks", metavar="PATTERN", default="*", help="checks by shell pattern; '' for none")
    parser.add_argument("--cases", metavar="PATTERN", default="*", help="cases to be timed; '' for none")
    parser.add_argument("--out", type=Path, default=machine.ROOT / "bench" / "results", help="folder of the results")
    parser.add_argument("--emulate", action="store_true", help="an emulated device, to try this program")
    parser.add_argument("--short", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--profiled", metavar="CASE", help=argparse.SUPPRESS)
    return parser.parse_args()


class Clock:
    """How much of the time that there is, is left."""

    def __init__(self, minutes: float) -> None:
        self._end = time.perf_counter() + 60 * minutes

    @property
    def left(self) -> float:
        return self._end - time.perf_counter()


def first() -> dict[str, float]:
    """Seconds of what a process does first: importing, opening the device, kernels, a batch, and that batch again."""
    times = {"import": time.perf_counter() - _BEGUN}

    def timed(name: str, call: Any) -> None:
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times[name] = time.perf_counter() - start

    timed("open the device", lambda: torch.zeros(1, device="cuda"))
    images = [image.cuda() for image in scenes.tiles(64, 256)]
    transform = timing.compiled(next(case for case in cases.CASES if case.name == "P, 512"))
    for name in ("first batch", "second batch", "third batch"):
        timed(name, lambda: transform.batch(images))
    for seed in range(timing.WARM):
        compare.seeded(lambda: transform.batch(images), seed)
    timed("warm batch", lambda: transform.batch(images))
    timed("prepare", lambda: transform.prepare("cuda"))
    return times


def compilation(clock: Clock) -> dict[str, str]:
    """What `first` takes in processes of their own, with no kernels on disk and with those that the one before made."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"FASTAUG_CACHE_DIR": folder}
        command = [sys.executable, "-m", "bench.cuda", "--first"]
        for name in ("first calls, kernels compiled", "first calls, kernels on disk"):
            try:
                run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=max(clock.left, 1))
                times = json.loads(run.stdout.splitlines()[-1])
            except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
                found[name] = f"not measured ({type(error).__name__})"
            else:
                found[name] = ", ".join(f"{what} {seconds * 1e3:.0f} ms" for what, seconds in times.items())
            print(f"  {name}: {found[name]}", flush=True)
    return found


def profiled(device: Machine, title: str) -> None:
    """Launches the kernels of a case once, for a profiler to count their instructions."""
    case = next(case for case in cases.CASES if case.title == title and case.place == cases.DEVICE)
    images = cases.images_for(device, case)
    torch.manual_seed(7)
    transform = timing.compiled(case)
    timing.Planned(device, transform, images, transform._family()).launch()
    device.synchronize()


def instructions(case: GpuCase, seconds: float) -> float | None:
    """Of warps, for an image of a case, as Nsight Compute counts them; None without it."""
    path = machine.tool("ncu")
    if path is None:
        return None
    command = [path, "--csv", "--clock-control", "none", "--metrics", "smsp__inst_executed.sum"]
    command += ["--kernel-name", "regex:fastaug", sys.executable, "-m", "bench.cuda", "--profiled", case.title]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"  {case.title}: the profiler was not done after {seconds:.0f} s")
        return None
    total = report.instructions_of(run.stdout)
    if total is None:
        print(f"  {case.title}: no instructions counted: {(run.stdout + run.stderr).strip()[-300:]}")
        return None
    return total / case.count


def counted(rows: list[Row], clock: Clock) -> None:
    """Adds instructions to rows on the device, by pipelines, those of exact mode first, as long as there is time."""
    if machine.tool("ncu") is None:
        print("  ncu is not here, so instructions are not counted: floors are those of bytes alone")
        return
    done: dict[str, float] = {}
    least = {title: case for case in reversed(cases.CASES) if (title := case.title) and case.place == cases.DEVICE}
    for case in sorted(least.values(), key=lambda case: (case.dtype != torch.float32, case.mode)):
        if clock.left < 30:
            print(f"  {case.title}: no time is left to count instructions")
        elif (number := instructions(case, min(60.0, clock.left - 5))) is not None:
            done[case.title] = number
            print(f"  {case.title}: {number:,.0f} instructions of warps an image", flush=True)
    for row in rows:
        if row.work is not None and row.case in done:
            row.work = Work(row.work.read, row.work.written, row.work.kept, done[row.case])


def run_checks(device: Machine, names: list[str], clock: Clock) -> list[Check]:
    tests = checks.TESTS | (FEW if device.emulated else {})
    found = []
    for name in names:
        if clock.left < 20 and not device.emulated:
            found.append(Check(name, "skipped", 0.0, "no time was left"))
            print(f"  {name} skipped: no time was left")
        else:
            test = partial(checks.sanitizer, name, seconds=clock.left - 5) if name in LATE else tests[name]
            found.append(checks.check(name, test, device))
    return found


def repeatedly(device: Machine, seconds: float, work: Any) -> list[float]:
    work()
    return timing.repeated(lambda: device.time(work), seconds, 3, 30)


def run_cases(device: Machine, chosen: list[GpuCase], clock: Clock) -> tuple[list[Row], list[Check]]:
    """The rows, and a failed check for each case whose results were wrong."""
    rows: list[Row] = []
    wrong: list[Check] = []
    bag, images = None, []
    for number, case in enumerate(chosen):
        # Half of what is left goes into setting up and into calls that are not timed.
        share = 0.1 if device.emulated else min(6.0, 0.5 * (clock.left - LATER) / (len(chosen) - number))
        if share < 0.05:
            print(f"  {case.title}, {case.count} on the {case.place}: no time was left")
            continue
        if case.place == cases.DEVICE and cases.bytes_of(case) > device.free():
            print(f"  {case.title}, {case.count}: not enough memory on the device")
            continue
        print(f"  {case.title}, {case.count} on the {case.place} ...", end=" ", flush=True)
        start = time.perf_counter()
        try:
            if bag != case.bag:
                images = []
                torch.cuda.empty_cache()
                bag, images = case.bag, cases.images_for(device, case)
            row = timing.measured(device, case, images, share)
            if case.rivals:
                ours = timing.compiled(case).batch(images)
                row.others, row.absent = rivals.measured(case, images, ours, partial(repeatedly, device, share / 2))
                del ours
        except Exception as error:
            said = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
            wrong.append(Check(f"{case.title}, {case.count} on the {case.place}", "failed", 0.0, said))
            print(f"failed: {said}", flush=True)
            continue
        rows.append(row)
        print(f"{1e6 * row.batch.median:.2f} us an image ({time.perf_counter() - start:.1f} s)", flush=True)
        for name, reason in row.absent.items():
            print(f"    {name}: {reason}")
    return rows, wrong


def measured_rates(about: dict[str, Any]) -> Rates | None:
    rates = Rates(machine.copy_rate())
    about["copies from the host"] = ", ".join(
        f"{'pinned' if pinned else 'pageable'} {machine.upload_rate(pinned) / 1e9:.1f} GB/s" for pinned in (True, False)
    )
    try:
        rates = Rates(rates.copy, machine.issue_rate())
    except Exception as error:
        print(f"  no issue rate: {type(error).__name__}: {error}")
    torch.cuda.empty_cache()
    print(f"  {rates}; copies from the host: {about['copies from the host']}", flush=True)
    return rates


def opened(emulate: bool) -> Machine | None:
    """The device; None, with a line, where there is none."""
    if emulate:
        return machine.Emulated()
    reason = machine.why_no_gpu()
    if reason is None:
        return machine.Gpu()
    print(f"No GPU that fastaug can use: {reason}")
    return None


def main() -> int:
    options = arguments()
    if options.first:
        print(json.dumps(first()))
        return 0
    device = opened(options.emulate)
    if device is None:
        return int(os.environ.get("FASTAUG_REQUIRE_CUDA") == "1")
    if options.short:
        checks.short(device)
        return 0
    if options.profiled:
        profiled(device, options.profiled)
        return 0

    torch.set_num_threads(1)
    clock = Clock(options.minutes)
    # Kernels of this run alone, which its other processes find.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("FASTAUG_CACHE_DIR", folder)
        return report_all(device, options, clock)


def report_all(device: Machine, options: argparse.Namespace, clock: Clock) -> int:
    about = machine.about()
    if device.emulated:
        about["gpu"] = "emulated"
    print("\n".join(f"{name}: {value}" for name, value in about.items()), flush=True)
    names = [name for name in checks.TESTS if fnmatch.fnmatchcase(name, options.checks)]
    print("checks", flush=True)
    done = run_checks(device, [name for name in names if name not in LATE], clock)

    chosen = [case for case in cases.CASES if fnmatch.fnmatchcase(case.title, options.cases)]
    rates, compiled, rows = None, {}, []
    if chosen:
        try:
            device.forget_kernels()
            if not device.emulated:
                print("rates", flush=True)
                rates = measured_rates(about)
                compiled = compilation(clock)
        except Exception:
            # A device that a check has brought down; the rest says so too.
            done.append(Check("rates", "failed", 0.0, traceback.format_exc()))
        print("times", flush=True)
        rows, wrong = run_cases(device, chosen, clock)
        done += wrong
    late = [name for name in names if name in LATE]
    if late:
        print("more checks", flush=True)
        done += run_checks(device, late, clock)
    if rows and not device.emulated:
        print("instructions", flush=True)
        counted(rows, clock)

    print("\n" + report.checked(done))
    if rows:
        print("\n" + report.printed(rows, rates) + "\n\n" + report.NOTE)
    paths = report.write(options.out, about, done, rows, rates, compiled)
    print("written: " + ", ".join(os.path.relpath(path) for path in paths))
    failed = report.failures(done)
    if failed:
        print("FAILED: " + ", ".join(check.name for check in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
