"""What scripts that run random cases for as long as one likes have in common."""

from __future__ import annotations

import faulthandler
import gc
import os
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from tqdm import tqdm

#: Seconds after which a child hangs.
PATIENCE = 30

ENOUGH = 5

#: Bytes by which resident memory may grow after the first fifth of the time.
GROWTH = 40e6

#: What a child ends with that has not ended by itself in time, and one that raised.
HANGS, RAISES = 1, 4


def forked(work: Callable[[], int]) -> int:
    """What a child ends with that does some work: with what that returns."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = RAISES
        try:
            # Its thread needs nothing of Python's: it ends the child, and says where that was.
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + 2 * PATIENCE
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(child, 9)
        time.sleep(1e-3)
    return os.waitstatus_to_exitcode(ended[1])


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def left_over(files: int) -> str:
    """What is wrong when nothing that was tried is left."""
    gc.collect()
    # Those that feed torch's worker processes end a moment later.
    end = time.monotonic() + PATIENCE
    while (threading.active_count() > 1 or open_files() > files) and time.monotonic() < end:
        time.sleep(1e-3)
    if threading.active_count() > 1:
        return f"threads are left: {[thread.name for thread in threading.enumerate()]}"
    if open_files() > files:
        names = [name for name in os.listdir("/proc/self/fd") if name != "0"]
        links = [os.readlink(f"/proc/self/fd/{name}") for name in names if os.path.lexists(f"/proc/self/fd/{name}")]
        return f"{open_files() - files} more files are open than before: {links}"
    return ""


def grown(sizes: list[int]) -> str:
    """Whether memory grew after the first fifth of the time."""
    fifth = len(sizes) // 5
    if fifth < 5:
        return ""
    before, after = statistics.median(sizes[fifth : 2 * fifth]), statistics.median(sizes[-fifth:])
    return f"memory grew from {before / 1e6:.0f} to {after / 1e6:.0f} MB" if after > before + GROWTH else ""


def main(soak: Callable[[float, int, Path], list[str]], minutes: float) -> int:
    """Of a script whose arguments are how long it runs, and the number of the first case."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else minutes
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tqdm.monitor_interval = 0  # its thread is none of ours
    torch.set_num_threads(1)
    # Python 3.12 and later warn of a fork in a process with threads, which is what is tried here.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder:
        wrong = soak(minutes, first, Path(folder))
    print("\n".join([f"{len(wrong)} wrong", *wrong]) if wrong else "nothing wrong")
    return int(bool(wrong))
