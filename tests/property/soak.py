"""soak.py [CASES] [FIRST]: random cases of everything that CHECKS lists, as many as one likes, on every core.

Stops at the fifth that differs. Each is printed and kept, as a script where it is a pipeline, under build/soak;
`soak.py 1 NUMBER` runs it again. Exits with 1 if there was one, or if a worker died.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import torch
from tqdm import tqdm

import random_aliasing
import random_arguments
import random_failures
import random_fast
import random_interrupts
import random_pipelines
import random_rewrites
import random_v2
import random_views

#: What each number is a case of: a name, what says of a number what differs, and the suffix of that text.
CHECKS = (
    ("pipeline", random_pipelines.check, "py"),
    ("tensor", partial(random_pipelines.check, tensors=True), "py"),
    ("v2", random_v2.check, "py"),
    ("fast", random_fast.check, "txt"),
    ("fast-tensor", partial(random_fast.check, tensors=True), "txt"),
    ("views", random_views.check, "txt"),
    ("program", random_rewrites.check, "txt"),
    ("failure", random_failures.check, "txt"),
    ("interrupt", random_interrupts.check, "txt"),
    ("alias", random_aliasing.check, "txt"),
    ("argument", random_arguments.check, "txt"),
)

ENOUGH, BLOCK = 5, 16
FOLDER = Path(__file__).parents[2] / "build" / "soak"


def prepare() -> None:
    """One thread for each worker: there is a worker for each core."""
    torch.set_num_threads(1)


def check_block(numbers: range) -> list[tuple[str, str]]:
    """Names and texts of what differs."""
    cases = ((number, *check) for number in numbers for check in CHECKS)
    found = ((f"{name}-{number}.{suffix}", check(number)) for number, name, check, suffix in cases)
    return [(name, text) for name, text in found if text]


def soak(numbers: range) -> tuple[list[str], list[range]]:
    """The names of what differs, and the blocks that were running when a worker died."""
    workers = len(os.sched_getaffinity(0))
    blocks = (numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK))
    names: list[str] = []
    context = get_context("spawn")
    with (
        ProcessPoolExecutor(workers, context, prepare) as pool,
        tqdm(total=len(numbers), unit="case", smoothing=0.02, mininterval=1) as progress,
    ):
        running: dict[Future[list[tuple[str, str]]], range] = {
            pool.submit(check_block, block): block for block in islice(blocks, 3 * workers)
        }
        try:
            while running and len(names) < ENOUGH:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    for name, text in future.result():
                        names.append(name)
                        FOLDER.mkdir(parents=True, exist_ok=True)
                        (FOLDER / name).write_text(text + "\n")
                        tqdm.write(text)
                    progress.update(len(running.pop(future)))
                for block in islice(blocks, len(done)):
                    running[pool.submit(check_block, block)] = block
        except BrokenProcessPool:
            return names, list(running.values())
        pool.shutdown(cancel_futures=True)
    return names, []


def main() -> int:
    given = [int(text) for text in sys.argv[1:]]
    count, first = (*given, *(20_000, 0)[len(given) :])
    names, dead = soak(range(first, first + count))
    if dead:
        print("a worker died at one of " + ", ".join(f"{block.start} to {block.stop - 1}" for block in dead))
    if names:
        print(f"{len(names)} differ, kept in {FOLDER}: " + ", ".join(names))
    if not dead and not names:
        print(f"cases {first} to {first + count - 1}: all equal")
    return int(bool(dead or names))


if __name__ == "__main__":
    sys.exit(main())
