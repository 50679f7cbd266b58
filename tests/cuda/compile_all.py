"""Compiles the kernels of pipelines.py for every architecture that NVRTC knows, and prints what they take.

    python tests/cuda/compile_all.py [--archs 75,90] [--jobs 2] [PIPELINE ...]

Exits with 1 where a thread of a kernel needs memory of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pipelines
from fastaug._cuda import nvrtc
from fastaug._cuda.kernels import Sources, fitting, tiles

_SOURCES = Sources()


class Compiled(NamedTuple):
    """A kernel for an architecture."""

    kernel: pipelines.Kernel | None  # None: what prepares
    arch: int
    blocks: int
    registers: int
    stack: int
    spill: int
    size: int
    seconds: float

    @property
    def spills(self) -> bool:
        return self.stack + self.spill > 0

    def row(self) -> tuple[str, ...]:
        name = f"{self.kernel.pipeline}, {self.kernel.mode}" if self.kernel else "prepare"
        spec = str(self.kernel.spec) if self.kernel else ""
        numbers = (self.arch, self.blocks, self.registers, self.stack, self.spill, self.size)
        return name, spec, *map(str, numbers), f"{self.seconds:.2f}"


def compiled(task: tuple[pipelines.Kernel | None, int]) -> Compiled:
    kernel, arch = task
    start = time.thread_time()
    sources = [_SOURCES.prepare()] if kernel is None else tiles(_SOURCES, kernel.spec)
    made: list[tuple[nvrtc.Binary, str]] = []

    def compile(source: str) -> nvrtc.Binary:
        made.append((nvrtc.compile(source, _SOURCES.headers, f"sm_{arch}"), source))
        return made[-1][0]

    binary = fitting(sources, compile)
    (used,) = (source for one, source in made if one is binary)
    bounds = re.search(r"__launch_bounds__\(\d+, (\d+)\)", used)
    (report,) = binary.reports
    return Compiled(
        kernel,
        arch,
        int(bounds[1]) if bounds else 1,
        report.registers,
        report.stack_frame,
        report.spill_stores + report.spill_loads,
        len(binary.data),
        time.thread_time() - start,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile kernels for all architectures.")
    parser.add_argument("pipelines", nargs="*", help="names of pipelines.NAMES; default: all")
    parser.add_argument("--archs", help="75,90; default: all that NVRTC knows")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    unknown = set(options.pipelines) - set(pipelines.NAMES)
    if unknown:
        parser.error(f"no such pipelines: {sorted(unknown)}; there are {list(pipelines.NAMES)}")
    archs = [int(arch) for arch in options.archs.split(",")] if options.archs else list(nvrtc.supported())
    kernels = [*pipelines.kernels(tuple(options.pipelines) or pipelines.NAMES), None]
    done = []
    _print(("pipeline", "spec", "arch", "blocks", "registers", "stack", "spill", "bytes", "CPU s"))
    with ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(compiled, [(kernel, arch) for kernel in kernels for arch in archs]):
            _print(one.row())
            done.append(one)
    print()
    for arch in archs:
        _summarise(f"sm_{arch}", [one for one in done if one.arch == arch])
    return int(any(one.spills for one in done))


def _print(row: tuple[str, ...]) -> None:
    name, spec, *numbers = row
    print(f"{name:<34} {spec:<40}", *(f"{number:>9}" for number in numbers), flush=True)


def _summarise(arch: str, made: list[Compiled]) -> None:
    ranges = (
        f"{min(values):g} to {max(values):g} {what}"
        for what, values in (
            ("registers", [one.registers for one in made]),
            ("bytes", [one.size for one in made]),
            ("s", [round(one.seconds, 2) for one in made]),
        )
    )
    fewer = ", ".join(f"{sum(one.blocks == blocks for one in made[:-1])} with {blocks}" for blocks in (3, 2, 1))
    spilling = sum(one.spills for one in made)
    print(f"{arch}: {len(made)} kernels, {', '.join(ranges)}; blocks: {fewer}; {spilling} spill")


if __name__ == "__main__":
    sys.exit(main())
