"""Kernels that are compiled on all cores, while those that are done are used already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, NamedTuple

from bench.gpu.clock import Clock
from bench.gpu.machine import Machine
from fastaug._cuda.kernels import Family, Spec


class _Asked(NamedTuple):
    """A bag as far as a device is asked for its kernels: one of each spec, and none that makes tables."""

    specs: Sequence[Spec]
    launches: tuple[()] = ()


class Ahead:
    """Kernels that threads have a device make, in the order in which they are asked for.

    Those that have begun when the block is left go on, since nothing stops a compiler. The others are not begun.
    """

    def __init__(self, machine: Machine) -> None:
        self._device = machine.bags
        self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)), "ahead")

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def ask(self, specs: Iterable[Spec], family: Family) -> list[Future[Any]]:
        """Ask for a kernel of each spec, of a family that is as wide as it will be."""
        return [self._pool.submit(self._device.kernels, _Asked([spec]), family) for spec in specs]


def made(kernels: Iterable[Future[Any]], clock: Clock) -> bool:
    """Wait for kernels, and say whether they are made before the time is over; raise as making them does."""
    done, open_ = wait(list(kernels), max(clock.left, 0.0))
    for kernel in done:
        kernel.result()
    return not open_
