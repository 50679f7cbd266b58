"""Loading with more cores than there are: threads and worker processes wait as long as their work was measured to take.

What the training loop's thread does is real, and so is reading the headers of files, on the cores that there are.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import torch
from torch.utils.data import DataLoader, Dataset

from fastaug import _C
from fastaug._batch.threads import Crew


class Waiting(Dataset[Any]):
    """Batches in shared memory, which a worker hands out once it has waited for so many seconds an image."""

    def __init__(self, count: int, batch: int, shape: torch.Size, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.images = torch.zeros((batch, *shape)).share_memory_()
        self.labels = torch.zeros(batch, dtype=torch.int64).share_memory_()

    def __len__(self) -> int:
        return self.count

    def __getitems__(self, indices: list[int]) -> int:
        time.sleep(self.seconds * len(indices))
        return len(indices)

    def together(self, count: int) -> list[torch.Tensor]:
        return [self.images[:count], self.labels[:count]]


def torchs(count: int, batch: int, shape: torch.Size, seconds: float, workers: int) -> Iterator[Any]:
    dataset = Waiting(count, batch, shape, seconds)
    return iter(DataLoader(dataset, batch, True, num_workers=workers, collate_fn=dataset.together))


@contextlib.contextmanager
def threads_wait(seconds: float) -> Iterator[None]:
    """Have threads wait for so many seconds for each image, instead of making it."""
    push = Crew.push

    def waiting(self: Crew, work: Any, job: Any = None, *arguments: Any, **options: Any) -> int:
        if isinstance(job, _C.Works) and options.get("label") != "read":
            job = _C.waiting(len(job), seconds)
        return push(self, work, job, *arguments, **options)

    with patch.object(Crew, "push", waiting):
        yield


def steady(batches: Iterator[Any]) -> float:
    """Seconds of wall-clock time that an image takes, without those of the first batches, which are waited for."""
    start, images = 0.0, 0
    for number, batch in enumerate(batches):
        if number == 0:
            start = time.perf_counter()
        else:
            images += len(batch[1])
        del batch
    return (time.perf_counter() - start) / images
