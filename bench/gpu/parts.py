"""The parts of a run, one after the other. Each has a share of the time, and none keeps the others from running."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench.gpu import processes
from bench.gpu.clock import Clock
from bench.gpu.report import Check, Report
from bench.gpu.watch import watching

#: Seconds after its time at which a run is ended. Parts look at their clocks between steps, so they may overrun them.
GRACE = 12.0


class Skipped(Exception):
    """What a part needs is not here, or there was no time for any of it."""


class Part(NamedTuple):
    """Something to be done.

    Attributes:
        share: of the time that is left, weighed against the shares of those that follow.
        work: raises AssertionError, or anything else, or says in a line what it has seen.
    """

    name: str
    share: float
    work: Callable[[Clock], str]


def so_far(done: int, count: int, what: str) -> str:
    """Say how much of something was done in the time.

    Raises:
        Skipped: nothing.

    Example:
        >>> so_far(1200, 3000, "programs")
        '1200 of 3000 programs in the time'
    """
    if not done and count:
        raise Skipped(f"none of {count} {what} in the time")
    return f"{done} {what}" if done == count else f"{done} of {count} {what} in the time"


def run(parts: Sequence[Part], report: Report, clock: Clock) -> None:
    """Do parts in their order, and write the report after each of them."""
    for number, part in enumerate(parts):
        share = part.share / sum(one.share for one in parts[number:])
        report.begin(part.name)
        report.add(_done(part, clock.part(share)))


def _done(part: Part, clock: Clock) -> Check:
    """Do one, and print what became of it."""
    print(f"{part.name} ...", flush=True)
    start = time.perf_counter()
    try:
        if clock.over:
            raise Skipped("no time was left")
        outcome, note = "passed", part.work(clock)
    except Skipped as reason:
        outcome, note = "skipped", str(reason)
    except AssertionError as error:
        outcome, note = "failed", str(error) or repr(error)
    except Exception as error:
        outcome, note = "failed", "".join(traceback.format_exception(error)[-4:]).strip()
    done = Check(part.name, outcome, time.perf_counter() - start, note)
    print(f"  {outcome} ({done.seconds:.1f} s)" + (f": {note}" if note else ""), flush=True)
    return done


def watched(parts: Sequence[Part], report: Report, clock: Clock) -> int:
    """Do as `run`, and then print all of the report.

    At SIGTERM and SIGINT, and some seconds after the time is over, the report is written and the process ends, wherever
    it is.

    Returns:
        The status to exit with.
    """

    def end(why: str, status: int) -> None:
        try:
            # What goes on after its time waits for something that does not come.
            report.interrupt(why, "failed" if status == 1 else "skipped")
            processes.stop()
            print(f"\n{report.printed()}\n{why}", flush=True)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)

    with watching(max(clock.left, 0.0) + GRACE, end):
        run(parts, report, clock)
        report.finish()
    print(f"\n{report.printed()}", flush=True)
    return 1 if report.failures else 0
