"""python -m bench.history BASE [HEAD]: whether one commit is slower than another, by instructions and processor time.

Both are built by the running interpreter, under build/history. The rows that are compared are a few of bench.cases,
which stay the same ones. Processor time is taken in turns, so that what else the machine does falls on both alike;
instructions are counted by callgrind, which knows no AVX-512, on AVX2. The exit code is 1 where a row of the later
commit takes more than 3 % more of either.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.cases import BY_NAME
from bench.images import bag_file
from bench.measure import ROOT, Column, Worker

#: What decides. A row that is added here is compared from the next commit on; none is taken away for being slow.
ROWS = (
    "P, 512, rotation nearest",
    "P, 224, rotation bilinear",
    "ImageNet train, 500x375 to 224",
    "ImageNet eval, 500x375 to 224",
    "super-resolution crop 96 of 2040x1356",
    "ToTensor and Normalize, 224x224",
    "ToTensor and Normalize, 1x1",
    "segmentation, 1024x1024 to 512",
)
LIMIT = 1.03
_PARTS = ("fastaug", "csrc", "cmake", "CMakeLists.txt")
_WARM = 4


@dataclass(frozen=True)
class Found:
    """What a row takes of the later commit, in times what it takes of the earlier; None where it was not measured."""

    row: str
    time: float | None
    instructions: float | None

    def slower(self, instructions_decide: bool) -> bool:
        """Whether that is too much; by instructions alone where times are of a machine that others use."""
        deciding = [self.instructions] if instructions_decide else [self.time, self.instructions]
        return any(ratio is not None and ratio > LIMIT for ratio in deciding)


class Counted(Column):
    """A worker under callgrind, that begins a new file of counts where srand48 is called, or what that calls."""

    def command(self) -> list[str]:
        out = self.env["FASTAUG_HISTORY_COUNTS"]
        options = [f"--callgrind-out-file={out}", "--dump-before=srand48*", "--combine-dumps=no"]
        return ["valgrind", "--quiet", "--tool=callgrind", *options, *super().command()]


def built(commit: str) -> Path:
    """The folder of a commit's sources with its extension, made where it is not there yet."""
    name = subprocess.check_output(
        ["git", "rev-parse", "--short=12", f"{commit}^{{commit}}"], cwd=ROOT, text=True
    ).strip()
    folder = ROOT / "build" / "history" / name
    if list(folder.glob("fastaug/_C*.so")):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", name, *_PARTS], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
    # The same path for both, so that ccache finds what has not changed.
    source = ROOT / "build" / "history" / "source"
    source.unlink(missing_ok=True)
    source.symlink_to(folder)
    import pybind11

    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "FASTAUG_WERROR": "OFF",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11.get_cmake_dir(),
    }
    defines = [f"-D{key}={value}" for key, value in settings.items()]
    print(f"building {name}", flush=True)
    subprocess.run(["cmake", "-S", source, "-B", source / "made", "-G", "Ninja", *defines], check=True, stdout=2)
    subprocess.run(["cmake", "--build", source / "made"], check=True, stdout=2)
    for module in (folder / "made").glob("_C*.so"):
        shutil.copy(module, folder / "fastaug")
    return folder


def column(folder: Path) -> Column:
    return Column(
        folder.name, "fastaug", suite="bench.history_rows", serves=True, env={"FASTAUG_HISTORY_TREE": str(folder)}
    )


def ratio(workers: Sequence[Worker], count: int, rounds: int) -> float:
    """The median over the rounds of what so many calls take the second worker, in times what they take the first."""
    ratios = []
    for number in range(rounds):
        # Who comes first changes from round to round.
        turns = [1, 0] if number % 2 else [0, 1]
        taken = {turn: sum(workers[turn].ask("run", number * count, count)) for turn in turns}
        ratios.append(taken[1] / taken[0])
    return statistics.median(ratios)


def times(folders: Sequence[Path], rows: Sequence[str], bag: Path, rounds: int) -> dict[str, float]:
    """The median over the rounds of the later commit's time in times the earlier's."""
    workers = [Worker(column(folder)) for folder in folders]
    found = {}
    try:
        for row in rows:
            for worker in workers:
                worker.ask("open", row, bag_file(BY_NAME[row].bag, bag), "cpu")
            once = statistics.median(workers[0].ask("run", 0, _WARM))
            workers[1].ask("run", 0, _WARM)
            # A turn takes about 30 ms, so that what comes between turns is little of it.
            count = max(2, min(2000, int(30e6 / once)))
            found[row] = ratio(workers, count, rounds)
            if found[row] > LIMIT:
                # A busy machine does that, too: what is slower is so a second time, in more rounds.
                found[row] = min(found[row], ratio(workers, count, 3 * rounds))
    finally:
        for worker in workers:
            worker.close()
    return found


def instructions(folder: Path, rows: Sequence[str], bag: Path, count: int) -> dict[str, int]:
    """The instructions of so many calls of each row, with Python's and those of libraries."""
    with tempfile.TemporaryDirectory() as kept:
        out = Path(kept) / "counts"
        started = column(folder)
        env = {**started.env, "FASTAUG_HISTORY_COUNTS": str(out), "FASTAUG_ISA": "avx2", "PYTHONHASHSEED": "0"}
        worker = Worker(Counted(started.label, started.library, suite=started.suite, serves=True, env=env))
        found = {}
        try:
            for row in rows:
                worker.ask("open", row, bag_file(BY_NAME[row].bag, bag), "cpu")
                worker.ask("run", 0, _WARM)
                known = set(out.parent.iterdir())
                worker.ask("counted", _WARM, count)
                files = sorted(set(out.parent.iterdir()) - known, key=lambda path: int(path.suffix[1:]))
                # The first is of what came before these calls.
                found[row] = sum(total(path.read_text()) for path in files[1:])
        finally:
            worker.close()
    return found


def total(counts: str) -> int:
    """The instructions of a file of callgrind's.

    Raises:
        ValueError: it has no sum.
    """
    match = re.search(r"^(?:totals|summary): (\d+)", counts, re.MULTILINE)
    if match is None:
        raise ValueError("callgrind wrote no sum")
    return int(match[1])


def table(found: Sequence[Found], instructions_decide: bool) -> str:
    """In words: beyond 1 the later commit takes more."""
    width = max(len(one.row) for one in found)
    lines = [f"{'row':{width}}  {'time':>7}  {'instructions':>12}"]
    for one in found:
        time, count = ("" if ratio is None else f"{ratio:.3f}" for ratio in (one.time, one.instructions))
        mark = f"  SLOWER than {LIMIT}" if one.slower(instructions_decide) else ""
        lines.append(f"{one.row:{width}}  {time:>7}  {count:>12}{mark}")
    return "\n".join(lines)


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.history", description=__doc__)
    parser.add_argument("base", help="the earlier commit")
    parser.add_argument("head", nargs="?", default="HEAD", help="the later commit (default: HEAD)")
    parser.add_argument("--rounds", type=int, default=21, help="turns of each commit at each row; 0: no times")
    parser.add_argument("--calls", type=int, default=8, help="calls whose instructions are counted; 0: none are")
    parser.add_argument("--rows", nargs="*", default=list(ROWS), metavar="NAME", help="of bench.cases")
    parser.add_argument("--instructions-decide", action="store_true", help="times are shown, and decide nothing")
    options = parser.parse_args(given)
    if options.calls and shutil.which("valgrind") is None:
        parser.error("valgrind is not installed: apt install valgrind, or --calls 0")
    if options.instructions_decide and not options.calls:
        parser.error("--instructions-decide without any that are counted")
    folders = [built(options.base), built(options.head)]
    with tempfile.TemporaryDirectory() as kept:
        bag = Path(kept)
        took = times(folders, options.rows, bag, options.rounds) if options.rounds else {}
        counts = [instructions(folder, options.rows, bag, options.calls) for folder in folders] if options.calls else []
    found = [Found(row, took.get(row), counts[1][row] / counts[0][row] if counts else None) for row in options.rows]
    print(f"{folders[1].name} in times {folders[0].name}, on {os.cpu_count()} cores")
    print(table(found, options.instructions_decide))
    return int(any(one.slower(options.instructions_decide) for one in found))


if __name__ == "__main__":
    sys.exit(main())
