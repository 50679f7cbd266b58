"""Loaders at the end of a process, in a forked one, at Ctrl-C; and what they leave behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from loader_cases import folder_of
from torch.utils.data import Dataset
from torchvision.datasets import ImageFolder

import fastaug.io
import fastaug.transforms as T
from fastaug.data import DataLoader, PairedRandomCrop
from support.images import photo
from support.outcomes import seed_all, snapshot
from support.processes import python

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

PROCESS = Path("/proc/self/fd")

needs_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")


class Numbers(Dataset[Any]):
    """Samples that nothing but threads make; each takes a while."""

    def __init__(self, seconds: float = 0.0, count: int = 40) -> None:
        self.seconds, self.count = seconds, count
        self.flip = T.RandomHorizontalFlip()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        time.sleep(self.seconds)
        return self.flip(torch.arange(12.0).view(1, 3, 4)), index


class StoredPairs(Dataset[Any]):
    """Patches of pairs of .npy files, which are mapped."""

    def __init__(self, folder: Path) -> None:
        for number in range(3):
            high = np.asarray(photo("coffee", 120, 160))
            np.save(folder / f"{number}.high.npy", high)
            np.save(folder / f"{number}.low.npy", high[::2, ::2])
        self.pairs = list(zip(sorted(folder.glob("*.low.npy")), sorted(folder.glob("*.high.npy"))))
        self.crop, self.tensor = PairedRandomCrop(24, scale=2), T.ToTensor()

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> Any:
        low, high = self.crop([fastaug.io.lazy(path) for path in self.pairs[index % 3]])
        return self.tensor(low), self.tensor(high)


def threads_of_loaders() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fastaug")]


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No collection of garbage: what goes, goes with its last reference."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# ---- what is left


def folder(pictures: Path) -> Any:
    return folder_of(pictures, T)


def numbers(pictures: Path) -> Any:
    return Numbers()


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("dataset", [folder, numbers])
def test_threads_and_batches_end_with_their_last_reference(
    dataset: Callable[[Path], Any], persistent: bool, pictures: Path, uncollected: None
) -> None:
    loader = DataLoader(
        dataset(pictures), batch_size=2, num_workers=3, num_threads=3, persistent_workers=persistent, threads=True
    )
    for _ in range(2):
        iterator = iter(loader)
        batch, _ = next(iterator)
        assert len(threads_of_loaders()) == 3
        seen = weakref.ref(batch)
        iterated = weakref.ref(iterator)
        del batch
        assert seen() is None
        del iterator
    del loader
    assert not threads_of_loaders()
    assert iterated() is None


@pytest.mark.parametrize("rng", ["torch", "sample"])
def test_processes_end_with_the_last_reference(rng: Any, uncollected: None) -> None:
    """A collection of garbage would end their queues first, and wait five seconds for each of them."""
    loader = DataLoader(Numbers(), batch_size=2, num_workers=1, persistent_workers=True, rng=rng)
    list(loader)
    process = loader._iterator._workers[0]  # type: ignore[union-attr]
    assert process.is_alive()
    del loader
    assert not process.is_alive()


def test_an_epoch_ends_its_threads(pictures: Path) -> None:
    loader = DataLoader(folder(pictures), batch_size=4, num_workers=2)
    iterator = iter(loader)
    for _ in iterator:
        assert threads_of_loaders()
    assert not threads_of_loaders()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_keeps_no_batch(workers: int, pictures: Path, tmp_path: Path, uncollected: None) -> None:
    broken = tmp_path / "a" / "broken.jpg"
    broken.parent.mkdir()
    broken.write_bytes(b"\xff\xd8\xff\xe0 no more")
    dataset = folder(pictures)
    dataset.samples = [*dataset.samples[:4], (str(broken), 0), *dataset.samples[4:]]
    loader = DataLoader(dataset, batch_size=4, num_workers=workers)
    iterator = iter(loader)
    first, _ = next(iterator)
    seen = weakref.ref(first)
    del first
    with pytest.raises(fastaug.DecodeError) as raised:
        next(iterator)
    assert raised.value.index == 4
    second, _ = next(iterator)
    gone = weakref.ref(second)
    del second, raised
    assert seen() is None
    assert gone() is None
    del iterator, loader
    assert not threads_of_loaders()


@pytest.mark.skipif(not PROCESS.exists(), reason="this system does not say which files are open")
@pytest.mark.parametrize("stop", [None, 2])
def test_files_are_closed(stop: int | None, pictures: Path, tmp_path: Path, uncollected: None) -> None:
    """Those that were read, and those that were mapped; of an epoch that is left early, too."""
    datasets = [StoredPairs(tmp_path), folder(pictures)]
    for dataset in datasets * 2:
        before = len(os.listdir(PROCESS))
        loader = DataLoader(dataset, batch_size=2, num_workers=2, num_threads=3, threads=True)
        for number, _ in enumerate(loader):
            if number == stop:
                break
        del loader
        assert len(os.listdir(PROCESS)) == before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say so")
def test_memory_is_flat(pictures: Path) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def epochs(count: int) -> None:
        for number in range(count):
            dataset = ImageFolder(str(pictures), T.Compose([T.RandomResizedCrop(160), T.ToTensor()]))
            iterator = iter(DataLoader(dataset, batch_size=11, num_workers=3, shuffle=True))
            for _ in range(1 + number % 2):
                next(iterator)

    epochs(10)
    before = resident()
    epochs(40)  # 130 MB of batches
    assert resident() - before < 25e6


def test_a_batch_that_is_ready_is_given_at_once(pictures: Path) -> None:
    """With a training loop that takes its time, nobody waits for threads that have nothing to do."""
    iterator = iter(DataLoader(folder(pictures), batch_size=2, num_workers=2))
    next(iterator)
    waited = []
    for _ in range(7):
        time.sleep(0.1)
        start = time.perf_counter()
        next(iterator)
        waited.append(time.perf_counter() - start)
    assert min(waited) < 0.03


# ---- the end of a process

PROGRAM = """
import sys, warnings
import numpy as np
import torch
from PIL import Image
from torchvision.datasets import ImageFolder
import fastaug.transforms as T
from fastaug.data import DataLoader

warnings.filterwarnings("ignore", "This DataLoader will create")

class Arrays(torch.utils.data.Dataset):
    transform = T.Compose([T.ToPILImage(), T.AugMix(), T.ToTensor()])
    def __len__(self):
        return 400
    def __getitem__(self, index):
        return self.transform(np.zeros((64, 64, 3), np.uint8))

folder = ImageFolder(PICTURES, T.Compose([T.RandomResizedCrop(300), T.AugMix(), T.ToTensor()]))
folder.samples = folder.samples * 20
dataset = DATASET
loader = DataLoader(dataset, batch_size=4, num_workers=3, num_threads=3, persistent_workers=PERSISTENT, threads=True)
iterator = iter(loader)
next(iterator)
"""


def ended(pictures: Path, dataset: str, persistent: bool, rest: str) -> Any:
    names = {"PICTURES": repr(str(pictures)), "DATASET": dataset, "PERSISTENT": repr(persistent)}
    program = PROGRAM
    for name, value in names.items():
        program = program.replace(name, value)
    return python(["-c", program + rest])


LEFT = {
    "in use": "",
    "kept by a module": "sys.left = iterator",
    "in a cycle": "cycle = [iterator, loader]; cycle.append(cycle); del iterator, loader",
    "with batches": "sys.left = [next(iterator) for _ in range(3)], iterator",
    "after an epoch": "for _ in loader: continue",
    "with an exit": "sys.exit(0)",
}


# Each with one of the ways to load, and workers that end with an epoch or stay.
@pytest.mark.parametrize(
    ("left", "dataset", "persistent"),
    [
        ("in use", "folder", True),
        ("in use", "Arrays()", False),
        ("kept by a module", "folder", False),
        ("kept by a module", "Arrays()", True),
        ("in a cycle", "folder", True),
        ("with batches", "Arrays()", False),
        ("after an epoch", "torch.utils.data.Subset(folder, range(40))", True),
        ("with an exit", "folder", False),
    ],
)
def test_a_loader_that_is_left_is_no_trouble_at_exit(left: str, dataset: str, persistent: bool, pictures: Path) -> None:
    result = ended(pictures, dataset, persistent, LEFT[left])
    assert (result.returncode, result.stderr) == (0, "")


def test_an_error_of_the_program_in_an_epoch_ends_it(pictures: Path) -> None:
    result = ended(pictures, "folder", True, "raise LookupError('the training loop broke')")
    assert result.returncode == 1
    assert result.stderr.endswith("LookupError: the training loop broke\n")


# ---- forked processes


def forked(work: Callable[[], bool]) -> int:
    """The exit status of a child: 0 if `work` says so there. One that hangs is ended by a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@needs_forks
@pytest.mark.parametrize("dataset", [folder, numbers])
def test_a_child_has_loaders_of_its_own_and_no_iterator_of_its_parent(
    dataset: Callable[[Path], Any], pictures: Path
) -> None:
    def run() -> Any:
        seed_all(3)
        return snapshot(
            list(DataLoader(dataset(pictures), batch_size=5, shuffle=True, num_workers=2, num_threads=2, threads=True))
        )

    def child() -> bool:
        with pytest.raises(RuntimeError, match="fork"):
            next(iterator)
        return run() == expected

    expected = run()
    seed_all(4)
    whole = snapshot(list(DataLoader(dataset(pictures), batch_size=2, num_workers=3, threads=True)))
    seed_all(4)
    loader = DataLoader(dataset(pictures), batch_size=2, num_workers=3, threads=True)
    iterator = iter(loader)
    batches = []
    for batch in iterator:
        batches.append(batch)
        assert forked(child) == 0
    assert snapshot(batches) == whole


@needs_forks
def test_a_child_that_ends_with_its_parents_loader(pictures: Path) -> None:
    """By the interpreter's own end, as no exit of multiprocessing does it."""
    rest = """
import os, warnings
warnings.simplefilter("ignore")
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), len(next(iterator)))
"""
    result = ended(pictures, "folder", True, rest)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 2\n", "")


# ---- Ctrl-C


@needs_timers
@pytest.mark.parametrize("workers", [0, 2])
def test_an_interrupt_of_next_takes_one_image(workers: int, pictures: Path) -> None:
    """Not a batch, whose images would take ten times as long."""
    seconds = 0.25
    slow = Numbers(seconds)
    loader = DataLoader(slow, batch_size=10, num_workers=workers, rng="sample", threads=True)
    iterator = iter(loader)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.6)
    try:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
        assert time.monotonic() - start < 0.6 + 2 * seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    start = time.monotonic()
    del iterator
    assert not threads_of_loaders()
    assert time.monotonic() - start < 2 * seconds


# The interrupt may come where a file was opened and is in nobody's hands yet, or in a callback of the collector. Python
# warns of both.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@needs_timers
@pytest.mark.parametrize("delay", [0.001, 0.01, 0.03])
@pytest.mark.parametrize("persistent", [False, True])
def test_an_epoch_after_an_interrupted_one(persistent: bool, delay: float, pictures: Path) -> None:
    dataset = ImageFolder(str(pictures), T.Compose([T.Resize(300), T.RandomRotation(20), T.ToTensor()]))
    dataset.samples = [dataset.samples[3]] * 60
    options: dict[str, Any] = {"batch_size": 20, "num_workers": 3, "num_threads": 2}
    seed_all(1)
    expected = snapshot(next(iter(DataLoader(dataset, **options))))
    loader = DataLoader(dataset, persistent_workers=persistent, **options)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def epochs(given: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, delay)
        for _ in range(1000):
            for _ in given:
                continue

    try:
        with pytest.raises(KeyboardInterrupt):
            epochs(loader)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    seed_all(1)
    fresh = DataLoader(dataset, **options)
    assert snapshot(next(iter(fresh))) == expected
    assert sum(len(labels) for _, labels in loader) == 60
    del loader, fresh
    assert not threads_of_loaders()
