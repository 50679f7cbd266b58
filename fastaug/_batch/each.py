"""One function for many items, on several threads. Without torch, which readers of images do not import."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def bar_of(progress: bool, total: int, unit: str = "image", disable: bool | None = None) -> AbstractContextManager[Any]:
    """Return a tqdm bar, or None; by default it shows in a terminal or a notebook."""
    if not progress:
        return nullcontext()
    from tqdm.auto import tqdm

    bar: AbstractContextManager[Any] = tqdm(total=total, unit=unit, disable=disable)
    return bar


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    name: str,
    bar: Any = None,
    failed: Callable[[BaseException, int], None] = lambda error, index: None,
) -> list[Result]:
    """Return the results of `work` for all items, by so many threads including the caller's.

    The error of the first item that fails is passed to `failed` with its number, and raised. Later items are not begun.
    """
    results: list[Any] = [None] * len(items)
    failures: list[tuple[int, BaseException]] = []
    # A deque gives each number to one thread, also without Python's lock, which itertools.count does not promise.
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
                # One thread updates it for all: only a few items are begun and not done.
                bar.update(index + 1 - bar.n)

    others = [
        threading.Thread(target=run, name=f"{name}-{number}", daemon=True)
        for number in range(1, min(threads, len(items)))
    ]
    try:
        for thread in others:
            try:
                thread.start()
            except RuntimeError:  # noqa: PERF203 - the system has no more threads
                break
        run(bar)
    except BaseException as interruption:
        failures.append((len(items), interruption))  # the threads see it and end
        raise
    finally:
        for thread in others:
            if thread.is_alive():  # an interruption may come before one is started
                thread.join()
    if failures:
        # Items are begun in their order, so the first one that fails is among these. Ctrl-C goes first.
        index, first = min(failures, key=lambda failure: (isinstance(failure[1], Exception), failure[0]))
        failed(first, index)
        try:
            raise first
        finally:
            del first, failures[:]  # they hold on to this frame
    if bar is not None:
        bar.update(len(items) - bar.n)
    return results
