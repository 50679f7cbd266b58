"""soak.py [CASES] [FIRST]: random pipelines against torchvision, as many as one likes, on every core.

Stops at the fifth that differs; prints a script for each. Exits with 1 if there was one.
"""

from __future__ import annotations

import multiprocessing
import os
import sys

import torch
from tqdm import tqdm

from random_pipelines import check

ENOUGH = 5


def prepare() -> None:
    """One thread for each worker: there is a worker for each core."""
    torch.set_num_threads(1)


def main() -> int:
    given = [int(text) for text in sys.argv[1:]]
    count, first = (*given, *(20_000, 0)[len(given) :])
    failures: list[str] = []
    workers = len(os.sched_getaffinity(0))
    with multiprocessing.get_context("spawn").Pool(workers, prepare) as pool:
        results = pool.imap_unordered(check, range(first, first + count), chunksize=8)
        for text in tqdm(results, total=count, unit="case", smoothing=0.02):
            if text is not None:
                failures.append(text)
                tqdm.write(text)
            if len(failures) == ENOUGH:
                break
    print(f"{len(failures)} differ" if failures else f"cases {first} to {first + count - 1}: all equal")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
