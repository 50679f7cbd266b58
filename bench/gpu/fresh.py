"""What processes of their own measure: the first calls that one makes, and instructions that a profiler counts."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch

from bench.gpu import cases, compare, machine, processes, report, scenes, timing
from bench.gpu.clock import Clock
from bench.gpu.machine import Machine
from bench.gpu.parts import Skipped, so_far
from bench.gpu.report import Report, Work

#: This program, before its arguments.
PROGRAM = [sys.executable, "-m", "bench.cuda"]


def first(begun: float) -> dict[str, float]:
    """Time what a process does first: importing, opening the device, kernels, a batch, and that batch again.

    Args:
        begun: what time.perf_counter() gave before anything was imported.
    """
    times = {"import": time.perf_counter() - begun}

    def timed(name: str, call: Callable[[], Any]) -> None:
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


def compilation(kept: Report, clock: Clock) -> str:
    """Add what `first` takes with no kernels on disk, and with those that the process before it made."""
    names = ("first calls, kernels compiled", "first calls, kernels on disk")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                run = processes.run([*PROGRAM, "--first"], clock.left, FASTAUG_CACHE_DIR=folder)
                times = json.loads(run.stdout.splitlines()[-1])
            except processes.Late as late:
                kept.compiled[name] = str(late)
                raise Skipped(f"{name}: {late}") from late
            except (ValueError, IndexError):
                raise AssertionError(f"{name}: {(run.stdout + run.stderr).strip()[-2000:]}") from None
            kept.compiled[name] = ", ".join(f"{what} {seconds * 1e3:.0f} ms" for what, seconds in times.items())
            kept.write()
            print(f"  {name}: {kept.compiled[name]}", flush=True)
    return f"{len(names)} processes"


def profiled(device: Machine, title: str) -> None:
    """Launch the kernels of a case once, for a profiler to count their instructions."""
    case = next(case for case in cases.CASES if case.title == title and case.place == cases.DEVICE)
    images = cases.images_for(device, case)
    torch.manual_seed(7)
    transform = timing.compiled(case)
    timing.Planned(device, transform, images, transform._family()).launch()
    device.synchronize()


def counted(kept: Report, clock: Clock) -> str:
    """Add instructions to rows on the device, by pipelines, those of exact mode first, as long as there is time.

    They are those of warps, for an image, as Nsight Compute counts them.
    """
    path = machine.tool("ncu")
    if path is None:
        raise Skipped("ncu is not here, so instructions are not counted: floors are those of bytes alone")
    command = [path, "--csv", "--clock-control", "none", "--metrics", "smsp__inst_executed.sum"]
    command += ["--kernel-name", "regex:fastaug", *PROGRAM, "--profiled"]
    timed = {row.case for row in kept.rows if row.work is not None}
    least = {case.title: case for case in reversed(cases.CASES) if case.place == cases.DEVICE and case.title in timed}
    done = 0
    for case in sorted(least.values(), key=lambda case: (case.dtype != torch.float32, case.mode)):
        try:
            run = processes.run([*command, case.title], clock.left)
        except processes.Late:
            break
        total = report.instructions_of(run.stdout)
        if total is None:
            raise Skipped(f"{case.title}: no instructions counted: {(run.stdout + run.stderr).strip()[-300:]}")
        done += 1
        print(f"  {case.title}: {total / case.count:,.0f} instructions of warps an image", flush=True)
        for row in kept.rows:
            if row.work is not None and row.case == case.title:
                row.work = Work(row.work.read, row.work.written, row.work.kept, total / case.count)
        kept.write()
    return so_far(done, len(least), "pipelines")
