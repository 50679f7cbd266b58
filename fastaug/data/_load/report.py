"""Where the time of a training step goes, as far as its images are concerned."""

from __future__ import annotations

import time
from typing import NamedTuple


class LoaderReport(NamedTuple):
    """What an iterator of a :class:`fastaug.data.DataLoader` has spent so far, in seconds.

    ``steps`` is the time from the first batch to the last, and ``waited`` how much of it the training loop spent in the
    loader: of that, ``drawing`` is for random parameters and ``collate`` for making batches of samples. The threads
    spent ``read`` on files and their headers, ``decode`` on pixels and ``transform`` on transforms; ``samples`` is what
    they spent on samples of data sets that are no folders, all in one. Several threads may spend more seconds than
    there were. ``made`` says where batches are made, in words; with ``device=`` the loader also spent ``launch`` on
    having the device begin with copies and kernels. ``workers`` says what made the samples: ``"threads"``, or
    ``"processes"`` or ``"next()"``, where all that was spent on samples is in ``samples``.

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


# Of what threads are busy with, in the order of a report.
_LABELS = ("read", "decode", "transform", "samples")


class Times:
    """What a LoaderReport is made of."""

    def __init__(self, workers: str = "threads") -> None:
        self.made = "on the CPU"
        self._workers = workers
        self.begin({})

    def begin(self, threads: dict[str, float]) -> None:
        """A new epoch; `threads` were busy for so long before it."""
        self.drawing = self.collating = self.launching = self._waited = 0.0
        self._batches = self._images = 0
        self._start = self._end = time.perf_counter()
        self._before = self._threads = threads

    def add(self, start: float, end: float, images: int, threads: dict[str, float]) -> None:
        """The training loop asked for a batch at `start` and got it at `end`; `threads` were busy so long so far."""
        self._waited += end - start
        self._end = end
        self._batches += 1
        self._images += images
        self._threads = threads

    def report(self) -> LoaderReport:
        read, decode, transform, samples = (
            self._threads.get(name, 0.0) - self._before.get(name, 0.0) for name in _LABELS
        )
        return LoaderReport(
            self._batches,
            self._images,
            self._end - self._start,
            self._waited,
            self.drawing,
            self.collating,
            read,
            decode,
            transform,
            samples,
            self.made,
            self.launching,
            self._workers,
        )
