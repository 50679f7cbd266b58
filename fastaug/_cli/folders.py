"""Run ``python -m fastaug cache|index|stats`` on a whole folder of images."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from fastaug._cli.pipelines import CommandError, load, note, reported
from fastaug.data._cache import Mirror, Options
from fastaug.data._folder import images_in
from fastaug.data._index import Indexes
from fastaug.data._statistics import MeanStd, counted
from fastaug.transforms._geometry import Resize

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def run(options: argparse.Namespace) -> int:
    """Run one of the commands. The exit code is 0, or 1 if an image fails or differs."""
    try:
        return _COMMANDS[options.command](options)
    except (OSError, TypeError, ValueError) as error:
        raise CommandError(str(error)) from error


def bytes_of(text: str) -> int:
    """Parse a number of bytes, such as 500M."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", text.strip().upper())
    if found is None:
        raise CommandError(f"--budget should be a number of bytes, such as 500M or 20G, not {text}")
    return int(float(found[1]) * _UNITS[found[2]])


def _cache(options: argparse.Namespace) -> int:
    if options.verify and options.budget is not None:
        raise CommandError("--verify writes nothing, and needs no --budget")
    budget = None if options.budget is None else bytes_of(options.budget)
    transform = None if options.transform is None else load(options.transform, None, None)
    mode = None if options.mode == "own" else options.mode
    made = Options(options.size, mode, transform, options.draws, options.seed, options.stack)
    mirror = Mirror(options.src, options.dst, None, made, options.num_threads, progress=True, strict=options.strict)
    _note_skipped(mirror.skipped)
    if options.verify:
        different, result = mirror.verify()
        return _compared(different, result, f"{len(mirror.jobs) - result.present} not there")
    if budget is not None:
        _check_room(mirror, budget, options.dst)
    result = mirror.write()
    print(f"{_files(result.written)} written, {result.present} already there")
    return reported(result.failed)


def _compared(different: list[str], result: Any, rest: str) -> int:
    for name in different:
        print(f"differs: {name}", file=sys.stderr)
    print(f"{_files(result.present)} compared, {len(different)} different, {rest}")
    return max(reported(result.failed), int(bool(different)))


def _check_room(mirror: Mirror, budget: int, dst: Path) -> None:
    """Check that the files fit in the budget and on the disk."""
    needed = mirror.estimate()
    print(f"{_said(needed)} to be written")
    if needed > budget:
        raise CommandError(f"{_said(needed)} would be written, which is more than --budget {_said(budget)}")
    there = dst.absolute()
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if needed > free:
        raise CommandError(f"{_said(needed)} would be written, and {there} has {_said(free)} left")


def _index(options: argparse.Namespace) -> int:
    made = Indexes(options.src, options.num_threads, progress=True, strict=options.strict)
    _note_skipped(made.skipped)
    if options.verify:
        different, result = made.verify()
        return _compared(different, result, f"{result.without} without an index")
    result = made.write()
    print(f"{_files(result.written)} indexed, {result.present} were already, {result.without} have no use for it")
    return reported(result.failed)


def _note_skipped(count: int) -> None:
    if count:
        note(f"skipped {_files(count)} without the suffix of an image")


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _said(count: int) -> str:
    """Format a number of bytes with its unit."""
    unit = max((unit for unit in _UNITS if count >= _UNITS[unit]), key=_UNITS.__getitem__, default="")
    return f"{count / _UNITS[unit]:.1f} {unit}B" if unit else f"{count} B"


def _stats(options: argparse.Namespace) -> int:
    paths, skipped, refused = images_in(options.src)
    _note_skipped(skipped)
    failed = [*refused]
    if failed and options.strict:
        return reported(failed[:1])
    transform = None if options.size is None else Resize(options.size)
    counts = counted(paths, transform, options.num_threads, sys.stderr.isatty(), failed=failed, strict=options.strict)
    code = reported(failed)
    if counts is None or (failed and options.strict):
        return code
    mean, std = MeanStd.from_histogram(counts)
    used = len(paths) + len(refused) - len(failed)
    print(f"T.Normalize(mean={_rounded(mean)}, std={_rounded(std)})  # {_files(used)}")
    return code


def _rounded(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(number, 6) for number in numbers)


_COMMANDS = {"cache": _cache, "index": _index, "stats": _stats}
