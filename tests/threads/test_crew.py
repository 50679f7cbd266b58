"""Crews of threads: what ends a thread elsewhere, threads that are not to be had, and ends that wait for nobody."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset

import fastaug.transforms as T
from fastaug._batch.each import each
from fastaug._batch.threads import Crew
from fastaug.data import DataLoader
from support.images import photo
from support.processes import python

pytestmark = pytest.mark.usefixtures("no_threads")


def crew_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fastaug")]


class Stop(BaseException):
    """What a test framework raises to end a run."""


class Stopping(Dataset[Any]):
    def __init__(self, error: BaseException | None, index: int = 5) -> None:
        self.error, self.index = error, index

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        if index == self.index and self.error is not None:
            raise self.error
        return torch.tensor(index)


ERRORS = [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), Stop("enough")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("options", [{}, {"rng": "sample"}, {"persistent_workers": True}], ids=str)
def test_what_ends_a_worker_is_an_error_of_its_batch(error: BaseException, options: dict[str, Any]) -> None:
    data = Stopping(error)
    loader = DataLoader(data, 4, num_workers=2, threads=True, **options)
    for _ in range(2):
        iterator = iter(loader)
        assert next(iterator).tolist() == [0, 1, 2, 3]
        with pytest.raises(RuntimeError, match="exited unexpectedly") as raised:
            next(iterator)
        assert raised.value.__cause__ is error
        assert "[4, 5, 6, 7]" in str(raised.value) and "Stopping" in str(raised.value)
        assert [batch.tolist() for batch in iterator] == [[8, 9, 10, 11], [12, 13, 14, 15]]
        del iterator
    data.error = None
    assert len(list(loader)) == 4


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_without_workers_it_is_raised_as_it_is(error: BaseException) -> None:
    with pytest.raises(type(error)):
        list(DataLoader(Stopping(error), 4))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_threads_outlive_it(error: BaseException) -> None:
    """The caller does the work of a batch again, and raises what it raises."""

    def fail() -> None:
        raise error

    done: list[int] = []
    crew = Crew(3, "fastaug-test", helps=False)
    crew.start()
    for number in range(20):
        crew.push(fail if number % 2 else lambda number=number: done.append(number), then=lambda: None)  # type: ignore[misc]
    crew.settle()
    assert len(crew_threads()) == 3
    assert sorted(done) == list(range(0, 20, 2))
    crew.cancel()
    assert not crew_threads()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has the system give so many threads, and no more."""

    def allow(count: int) -> None:
        start, left = threading.Thread.start, [count]

        def starting(thread: threading.Thread) -> None:
            if not left[0]:
                raise RuntimeError("can't start new thread")
            left[0] -= 1
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", starting)

    return allow


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_thread_to_be_had(count: int, few: Any) -> None:
    images = [photo("chelsea", 40 + k, 50) for k in range(9)]
    transform = T.Compose([T.RandomResizedCrop(24), T.ToTensor()])
    torch.manual_seed(3)
    expected = [transform(image) for image in images]
    for persistent in (False, True):
        few(count)
        loader = DataLoader(
            Stopping(None), 4, num_workers=3, num_threads=3, persistent_workers=persistent, threads=True
        )
        assert [int(batch.sum()) for batch in loader] == [6, 22, 38, 54]
        assert not crew_threads()
        assert len(list(loader)) == 4
    few(count)
    torch.manual_seed(3)
    assert torch.equal(transform.batch(images, num_threads=4), torch.stack(expected))
    few(count)
    torch.manual_seed(3)
    assert all(map(torch.equal, transform.map(images, num_threads=4), expected))
    few(count)
    assert each(lambda item: -item, range(30), 4, "fastaug-test") == [-item for item in range(30)]
    assert not crew_threads()


class Locked(Stopping):
    """Samples that wait for a lock of the caller's."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lock = threading.Lock()

    def __getitem__(self, index: int) -> Any:
        if index > 7:
            with self.lock:
                pass
        return torch.tensor(index)


@pytest.mark.parametrize("persistent", [False, True])
def test_an_iterator_is_dropped_under_a_lock_that_its_samples_want(persistent: bool) -> None:
    data = Locked()
    loader = DataLoader(data, 4, num_workers=2, persistent_workers=persistent, threads=True)
    iterator = iter(loader)
    with data.lock:
        next(iterator)
        next(iterator)
        start = time.monotonic()
        del iterator, loader
        assert time.monotonic() - start < 30
    deadline = time.monotonic() + 30
    while crew_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not crew_threads()


LEFT = """
import gc, threading, torch
from fastaug.data import DataLoader
lock = threading.Lock()
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        if index > 7:
            with lock:
                pass
        return torch.tensor(index)
iterator = iter(DataLoader(Data(), 4, num_workers=2, threads=True))
next(iterator)
lock.acquire()
"""


@pytest.mark.parametrize(
    "rest", ["", "cycle = [iterator]; cycle.append(cycle); del cycle, iterator; gc.collect(); lock.release()"]
)
def test_the_interpreter_ends_while_a_sample_waits(rest: str) -> None:
    result = python(["-c", LEFT + rest])
    assert (result.returncode, result.stderr) == (0, "")
