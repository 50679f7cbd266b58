"""The time that a loader takes of a training step."""

from __future__ import annotations

import time
from typing import NamedTuple


class LoaderReport(NamedTuple):
    """The seconds that an iterator of a :class:`fastaug.data.DataLoader` has spent so far.

    ``steps`` is the time from the first batch to the last, and ``waited`` the part of it that the training loop spent
    in the loader. That includes ``drawing`` for random parameters, ``collate`` for making batches and, with
    ``device=``, ``launch`` for starting copies and kernels. Threads spent ``read`` on files and their headers,
    ``decode`` on pixels, ``transform`` on transforms, and ``samples`` on whole samples of data sets that are not
    folders. Several threads may spend more seconds than have passed. ``made`` describes where batches are made, and
    ``workers`` what makes the samples: ``"threads"``, or ``"processes"`` or ``"next()"``, which report only
    ``samples``.

    Example:
        >>> import torch
        >>> from fastaug.data import DataLoader
        >>> loader = DataLoader(torch.utils.data.TensorDataset(torch.arange(4)), num_workers=1)
        >>> for batch in loader:
        ...     continue
        >>> loader.profile().batches
        4
    """

    batches: int
    images: int
    steps: float
    waited: float
    drawing: float
    collate: float
    read: float
    decode: float
    transform: float
    samples: float
    made: str = "on the CPU"
    launch: float = 0.0
    workers: str = "threads"

    def __str__(self) -> str:
        if not self.batches:
            return "no batches yet"
        rows = [
            ("the training loop waited", self.waited),
            ("  drawing", self.drawing),
            ("  collate", self.collate),
            *([("  launch", self.launch)] if self.launch else []),
        ]
        if self.workers == "threads":
            rows += [(f"threads: {name}", getattr(self, name)) for name in ("read", "decode", "transform")]
        rows.append((f"{self.workers}: samples", self.samples))
        lines = [
            f"{self.batches} batches of {self.images} images, {self.steps / self.batches * 1e3:.2f} ms a step, made "
            f"{self.made}",
            f"{'':<26}{'ms a step':>10}{'of a step':>11}",
        ]
        for name, seconds in rows:
            share = seconds / self.steps if self.steps else 0.0
            lines.append(f"{name:<26}{seconds / self.batches * 1e3:>10.2f}{share:>10.1%} ")
        return "\n".join(line.rstrip() for line in lines)


# The labels of threads, in the order of a report.
_LABELS = ("read", "decode", "transform", "samples")


class Times:
    def __init__(self, workers: str = "threads") -> None:
        self.made = "on the CPU"
        self._workers = workers
        self.begin({})

    def begin(self, threads: dict[str, float]) -> None:
        """Begin an epoch, before which `threads` had these seconds."""
        self.drawing = self.collating = self.launching = self._waited = 0.0
        self._batches = self._images = 0
        self._start = self._end = time.perf_counter()
        self._before = self._threads = threads

    def add(self, start: float, end: float, images: int, threads: dict[str, float]) -> None:
        """Add a batch that the training loop waited for from `start` to `end`."""
        self._waited += end - start
        self._end = end
        self._batches += 1
        self._images += images
        self._threads = threads

    def report(self) -> LoaderReport:
        spent = {name: self._threads.get(name, 0.0) - self._before.get(name, 0.0) for name in _LABELS}
        return LoaderReport(
            batches=self._batches,
            images=self._images,
            steps=self._end - self._start,
            waited=self._waited,
            drawing=self.drawing,
            collate=self.collating,
            made=self.made,
            launch=self.launching,
            workers=self._workers,
            **spent,
        )
