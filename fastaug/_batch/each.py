"""The same done to each of many items, by several threads. Without torch, which readers of images do not import."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def bar_of(progress: bool, total: int) -> AbstractContextManager[Any]:
    """A bar of tqdm over images, where it is wanted and the output is a terminal or a notebook; else None."""
    if not progress:
        return nullcontext()
    from tqdm.auto import tqdm

    bar: AbstractContextManager[Any] = tqdm(total=total, unit="image", disable=None)
    return bar


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    name: str,
    bar: Any = None,
    failed: Callable[[BaseException, int], None] = lambda error, index: None,
) -> list[Result]:
    """What `work` makes of the items, in their order; the caller's thread is one of those that do it.

    Args:
        threads: how many work at a time. They are made for the call, and end with it.
        name: of the threads.
        bar: of tqdm, which is told how many are done.
        failed: called with an error, before it is raised, and the number of its item.

    Raises:
        BaseException: of the first item, in their order, for which `work` raises one. Those behind it are not begun.
    """
    results: list[Any] = [None] * len(items)
    failures: list[tuple[int, BaseException]] = []
    # Each number is taken by one thread, without Python's lock too: itertools.count promises that nowhere.
    numbers = deque(range(len(items)))

    def run(bar: Any = None) -> None:
        while not failures:
            try:
                index = numbers.popleft()
            except IndexError:
                return
            try:
                results[index] = work(items[index])
            except BaseException as error:
                failures.append((index, error))
                return
            if bar is not None:
                # By this thread alone, and of all threads: as many are done as are begun, but for a few.
                bar.update(index + 1 - bar.n)

    others = [
        threading.Thread(target=run, name=f"{name}-{number}", daemon=True)
        for number in range(1, min(threads, len(items)))
    ]
    try:
        for thread in others:
            try:
                thread.start()
            except RuntimeError:  # noqa: PERF203 - the system has no more threads: those that there are do the work
                break
        run(bar)
    except BaseException as interruption:
        failures.append((len(items), interruption))  # the threads see it and end
        raise
    finally:
        for thread in others:
            if thread.is_alive():  # one that an interruption came before was not even started
                thread.join()
    if failures:
        # Items are begun in their order: of all that fail, the first one is among these. Ctrl-C goes before any.
        index, first = min(failures, key=lambda failure: (isinstance(failure[1], Exception), failure[0]))
        failed(first, index)
        try:
            raise first
        finally:
            del first, failures[:]  # they hold on to this frame
    if bar is not None:
        bar.update(len(items) - bar.n)
    return results
