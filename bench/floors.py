"""python -m bench floors: where the time of the pipelines goes, pass by pass, beside what each takes at least."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench import report
from bench.case import Case, selected
from bench.cases import PIPELINES, RECIPES
from bench.images import bag_file
from bench.libraries import Fastaug, FastaugFast
from fastaug import _C
from fastaug._inspect.info import processor

NOTE = """\
Microseconds of processor time a call, medians over calls whose images are in no cache, as in the table of speed. bytes:
what a pass reads and writes of whole images, over the bandwidth of one core. cached: the same pass over the same pixels
when they are in a cache, so what its instructions take. The greater of the two is its floor until its kernel changes;
"factor" is how far above it the pass is; below 1 where a result stays in a cache and memory is not waited for. Passes
take their share of a native call that is timed as a whole, as a clock that is read at each row takes time too. A pass
that takes five times its floor waits for something else, such as another process: "unsure" stands for its share."""

_RUNS = 5

# A pass that takes so many times its floor is not measured, but disturbed.
_UNSURE = 5.0

# Calls of one kind in a row.
_SWEEP = 48

#: Kinds of passes that yield no rows.
_WHOLE = ("decode", "move", "move_warped", "keep", "turn", "statistics", "store")

#: A pass: name, and the direction of a filter.
_Key = tuple[str, str]


def bandwidth(megabytes: int = 128) -> tuple[float, float]:
    """Bytes in a nanosecond that one core reads, and writes, of memory that no cache holds."""
    memory = np.ones(megabytes << 17, np.uint64)

    def rate(work: Any) -> float:
        times = []
        for _ in range(7):
            start = time.thread_time_ns()
            work()
            times.append(time.thread_time_ns() - start)
        return memory.nbytes / min(times)

    return rate(memory.max), rate(lambda: memory.fill(2))


@dataclass
class Probe:
    """Stands in for `_C.run` in a call: times jobs, as a whole or pass by pass."""

    by_pass: bool
    native: float = 0.0
    passes: dict[_Key, float] = field(default_factory=lambda: defaultdict(float))
    cached: dict[_Key, float] = field(default_factory=lambda: defaultdict(float))
    bytes: dict[_Key, tuple[int, int]] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))

    def __call__(self, jobs: Sequence[Any], rewrites: int = _C.EXACT) -> None:
        if not self.by_pass:
            self.native += self._timed(jobs, rewrites, None)
            return
        cold = self._reports(jobs, rewrites)
        whole = min(self._timed(jobs, rewrites, None) for _ in range(_RUNS))
        runs = [self._reports(jobs, rewrites) for _ in range(_RUNS)]
        cached = [min(run[k][1] for run in runs) for k in range(len(cold))]
        # Rows that a pass yields, and those that it pulls: for each the clock is read.
        yields = [0 if one.kind in _WHOLE else one.height for one, _ in cold]
        looks = [own + before for own, before in zip(yields, [0, *yields])]
        look = max(0.0, sum(cached) - whole) / max(sum(looks), 1)
        for k, (one, seconds) in enumerate(cold):
            key = (one.name, ("down" if one.vertical else "across") if one.kind == "filter" else "")
            self.passes[key] += max(0.0, seconds - look * looks[k])
            self.cached[key] += max(0.0, cached[k] - look * looks[k])
            read, written = self.bytes[key]
            self.bytes[key] = (read + one.bytes_read, written + one.bytes_written)

    def _timed(self, jobs: Sequence[Any], rewrites: int, reports: Any) -> float:
        start = time.thread_time_ns()
        _C.run(jobs, rewrites, reports=reports)
        return time.thread_time_ns() - start

    def _reports(self, jobs: Sequence[Any], rewrites: int) -> list[tuple[Any, float]]:
        """Passes with their nanoseconds."""
        reports: list[Any] = []
        self._timed(jobs, rewrites, reports)
        return [(one, one.seconds * 1e9) for passes in reports for one in passes]


def lines(case: Case, bag: Path, library: Fastaug, calls: int, rates: tuple[float, float]) -> list[list[str]]:
    pipeline: Any = library.transform(case)
    images = library.images(case, bag)
    whole: list[float] = []
    natives: list[float] = []
    probes: list[Probe] = []

    def probed(number: int, by_pass: bool) -> Probe:
        probe = Probe(by_pass)
        call = pipeline._call.like()
        call.run = probe
        library.seed(number)
        pipeline._run(images[number % len(images)], call)
        return probe

    # The other images of the bag lie between two calls for one, so that it is in no cache; and each of the three kinds
    # of calls has others of its kind before it, since what they leave in the caches of the processor differs.
    for first in range(0, calls, _SWEEP):
        numbers = range(first, min(first + _SWEEP, calls))
        for number in numbers:
            library.seed(number)
            start = time.thread_time_ns()
            pipeline(images[number % len(images)])
            whole.append(time.thread_time_ns() - start)
        natives += [probed(number, False).native for number in numbers]
        probes += [probed(number, True) for number in numbers]
    total, inside = statistics.median(whole), statistics.median(natives)
    keys = list(dict.fromkeys(key for probe in probes for key in probe.passes))

    def mean(times: list[dict[_Key, float]], key: _Key) -> float:
        # Of the calls that have the pass the median: some of them waited for a processor.
        found = [one[key] for one in times if key in one]
        return statistics.median(found) * len(found) / len(times)

    means = {key: mean([probe.passes for probe in probes], key) for key in keys}
    share = inside / max(sum(means.values()), 1.0)
    found = [[case.name, "a call", f"{total / 1e3:.1f}", "100 %", "", "", ""]]
    for key in keys:
        taken = means[key] * share
        cached = mean([probe.cached for probe in probes], key)
        read, written = (statistics.fmean(probe.bytes[key][k] for probe in probes) for k in (0, 1))
        moved = read / rates[0] + written / rates[1]
        floor = max(cached, moved)
        part = share_of(taken, total, floor)
        figures = [f"{taken / 1e3:.1f}", part, f"{moved / 1e3:.1f}", f"{cached / 1e3:.1f}"]
        found.append(["", " ".join(key).strip(), *figures, f"{taken / floor:.2f}" if floor else ""])
    rest = total - inside
    found.append(["", "draws, Python, output", f"{rest / 1e3:.1f}", f"{100 * rest / total:.0f} %", "", "", ""])
    return found


def share_of(taken: float, total: float, floor: float) -> str:
    """A pass's share of a call in percent, unless it is too far above its floor to say."""
    return "unsure" if floor and taken > _UNSURE * floor else f"{100 * taken / total:.0f} %"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench floors", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help='cases by shell pattern, such as "P,*"')
    parser.add_argument("--fast", action="store_true", help='pipelines compiled by mode="fast"')
    parser.add_argument("--calls", type=int, default=192)
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    options = parser.parse_args()
    cases = selected([*PIPELINES, *RECIPES], options)
    if not cases:
        return 0 if options.list else 2
    import torch

    torch.set_num_threads(1)
    rates = bandwidth()
    library = FastaugFast() if options.fast else Fastaug()
    table = [["case", "pass", "us", "share", "bytes", "cached", "factor"]]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            table += lines(case, bag_file(case.bag, Path(folder)), library, options.calls, rates)
    print(report.markdown(table), NOTE, sep="\n\n")
    print(f"\n{processor()}, {_C.isa()}; one core reads {rates[0]:.1f} GB/s and writes {rates[1]:.1f} GB/s")
    return 0
