"""Interruptions at random moments, and forks while other threads are in the middle of calls.

Whatever Ctrl-C or a fork cuts short: no lock stays locked, no image stays in memory, no result is half done, torch's
generator is where some draw of torchvision's ended, and the next call gives torchvision's result.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import os
import random
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.data import DataLoader, Dataset

import fastaug
import fastaug.transforms as T
import random_v2
from fastaug._draft.draws import DEFAULT
from fastaug.io import imread_batch
from random_pipelines import WAYS, build, draw_case, evaluate, one_difference
from support.outcomes import clone, run, seed_all, snapshot
from support.v2_outcomes import run_v2

#: Seconds after which something hangs, on the busiest of machines.
PATIENCE = 60

# Holds something while a signal means an interruption. The handler empties it, so that there is one at most.
_armed: list[bool] = []


@dataclass
class Finished:
    """An interruption came too late for the call."""

    value: Any


def _handle(number: int, frame: Any) -> None:
    if _armed:
        _armed.clear()
        raise KeyboardInterrupt


def _ignore(unraisable: Any) -> None:
    """Python drops what is raised in a callback of a weak reference and the like. That is not ours to mend."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)


def _end(failure: Any) -> None:
    """A thread was interrupted between two of its tries."""
    if failure.exc_type is not KeyboardInterrupt:
        threading.__excepthook__(failure)


@contextlib.contextmanager
def interruptions() -> Iterator[None]:
    """Interruptions are possible, in the main thread."""
    handler = signal.signal(signal.SIGALRM, _handle)
    hooks = sys.unraisablehook, threading.excepthook
    sys.unraisablehook, threading.excepthook = _ignore, _end
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        sys.unraisablehook, threading.excepthook = hooks


def interrupted(call: Callable[[], Any], seconds: float) -> Finished | None:
    """Calls, and interrupts that after so many seconds, if it takes so long."""
    try:
        try:
            _armed.append(True)
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
            return Finished(call())
        finally:
            _armed.clear()
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return None


class Boundaries(TorchFunctionMode):
    """Collects the states of torch's generator between the functions of torch that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.states = {self._state()}

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        result = function(*arguments, **(named or {}))
        self.states.add(self._state())
        return result

    @staticmethod
    def _state() -> bytes:
        return torch.get_rng_state().numpy().tobytes()

    def hold(self) -> bool:
        """Whether the generator is in one of the states now."""
        return self._state() in self.states


def is_free() -> bool:
    """Whether another thread can draw from torch's generator."""
    drawn: list[float] = []

    def draw() -> None:
        drawn.append(DEFAULT.rand())
        DEFAULT.release()

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return bool(drawn)


def alive(images: list[weakref.ref[Any]]) -> int:
    """How many of the images are still in memory."""
    if any(image() is not None for image in images):
        gc.collect()
    return sum(image() is not None for image in images)


# ---- one thread


def calls(rng: random.Random) -> str:
    """Calls of a random pipeline are interrupted, and then it is called once more."""
    case = draw_case(rng.getrandbits(30), rng.random() < 0.25)
    image, given = evaluate(case)
    first = image if case.as_pil else given
    torchvisions = build(case.pipeline(), TV)
    theirs = run(torchvisions, first, case.seed)
    seed_all(case.seed)
    with Boundaries() as boundaries, contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torchvisions(clone(first))

    way = rng.choice(sorted(WAYS))
    pipeline = WAYS[way](case.pipeline())
    begun = time.perf_counter()
    usual = run(pipeline, given, case.seed)
    seconds = time.perf_counter() - begun
    images: list[weakref.ref[Any]] = []
    text = f"{way}: {case.pipeline()} on {case.container} {case.mode} {case.height}x{case.width}"
    for _ in range(5):
        copy = clone(given)
        images.append(weakref.ref(copy))
        seed_all(case.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                done = interrupted(lambda image=copy: pipeline(image), rng.uniform(0, seconds))
            except Exception as error:
                if type(error) is not type(usual.error):
                    return f"{error!r} in place of an interruption; {text}"
                done = None
        if not boundaries.hold():
            return f"torch's generator is in the middle of a draw; {text}"
        if snapshot(copy) != snapshot(given):
            return f"the input was modified; {text}"
        if done is not None and snapshot(done.value) != snapshot(usual.value):
            return f"a call that went through after all gave something else; {text}"
        copy = done = None
    if not is_free():
        return f"torch's generator stays locked; {text}"
    found_after = one_difference(case, run(pipeline, given, case.seed), theirs)
    if found_after is not None:
        return f"the call after interrupted ones: {found_after}; {text}"
    if count := alive(images):
        return f"{count} images of interrupted calls are kept; {text}"
    return ""


def samples(rng: random.Random) -> str:
    """Calls of a random pipeline of v2 with a whole sample are interrupted, and then it is called once more."""
    case = random_v2.draw_case(rng.getrandbits(30))
    torchvisions = random_v2.build_or_none(case.pipeline())
    if torchvisions is None:
        return ""
    theirs = run_v2(torchvisions, case.sample.build(), case.seed)
    seed_all(case.seed)
    with Boundaries() as boundaries, contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torchvisions(*case.sample.build())
    way = rng.choice(["fastaug", "op by op", "compiled"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = random_v2.WAYS[way](case.pipeline())
    begun = time.perf_counter()
    usual = run_v2(pipeline, case.sample.build(), case.seed)
    seconds = time.perf_counter() - begun
    text = f"{way}: {case.pipeline()} on {case.sample.source()}, seed {case.seed}"
    leaves: list[weakref.ref[Any]] = []
    for _ in range(5):
        given = case.sample.build()
        leaves += [weakref.ref(leaf) for leaf in tree_leaves(given) if isinstance(leaf, (torch.Tensor, Image.Image))]
        seed_all(case.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                interrupted(lambda given=given: pipeline(*given), rng.uniform(0, seconds))
            except Exception as error:
                if type(error) is not type(usual.error):
                    return f"{error!r} in place of an interruption; {text}"
        if theirs.error is None and not boundaries.hold():
            return f"torch's generator is in the middle of a draw; {text}"
        given = None
    if not is_free():
        return f"torch's generator stays locked; {text}"
    after = run_v2(pipeline, case.sample.build(), case.seed)
    found = random_v2.compared(case, way, after, theirs)
    if found is not None:
        return f"the call after interrupted ones: {found}; {text}"
    if count := alive(leaves):
        return f"{count} leaves of interrupted calls are kept; {text}"
    return ""


# ---- many images


def encoded(rng: random.Random, count: int) -> list[bytes]:
    files = []
    for _ in range(count):
        height, width = rng.randint(1, 90), rng.randint(1, 90)
        pixels = np.random.default_rng(rng.getrandbits(32)).integers(0, 256, (height, width, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, rng.choice(["PNG", "JPEG"]))
        files.append(file.getvalue())
    return files


def pythons_own(error: BaseException) -> bool:
    """Whether Python's own code for threads stumbled over the interruption."""
    return isinstance(error, RuntimeError) and isinstance(error.__context__, KeyboardInterrupt)


def batches(rng: random.Random) -> str:
    """imread_batch is interrupted: it ends, its threads end, and it reads the same once more."""
    files, threads = encoded(rng, rng.randint(1, 12)), rng.choice([1, 2, 4])
    expected = snapshot([np.asarray(Image.open(io.BytesIO(file)).convert("RGB")) for file in files])
    broken = rng.random() < 0.3
    given = [*files, b"\x89PNG\r\n\x1a\nbroken"] if broken else files
    begun = time.perf_counter()
    imread_batch(files, num_threads=threads)
    seconds = time.perf_counter() - begun
    for _ in range(8):
        try:
            done = interrupted(lambda: imread_batch(given, num_threads=threads), rng.uniform(0, seconds))
        except fastaug.DecodeError as error:
            if not broken or error.index != len(files):
                return f"{error!r} of {error.index} in place of an interruption"
            continue
        except RuntimeError as error:
            if not pythons_own(error):
                return f"{error!r} in place of an interruption"
            continue
        if done is not None and (broken or snapshot(done.value) != expected):
            return "a batch that went through after all is not whole"
    limit = time.monotonic() + PATIENCE
    while any(thread.name.startswith("imread_batch") and thread.is_alive() for thread in threading.enumerate()):
        if time.monotonic() > limit:
            return "threads of an interrupted batch do not end"
        time.sleep(1e-3)
    if snapshot(imread_batch(files, num_threads=threads)) != expected:
        return "the batch after interrupted ones differs"
    return ""


# ---- other threads


def augmentation(package: Any, *, noisy: bool = True) -> Any:
    """Draws from torch's generator alone, in every way; only some of them are the native core's if it is `noisy`."""
    return package.Compose(
        [
            package.RandomResizedCrop(24, scale=(0.3, 1.0)),
            package.RandomApply([package.ColorJitter(0.4, 0.3, 0.2, 0.1)], p=0.7),
            package.RandomHorizontalFlip(),
            package.RandAugment(),
            *([package.AugMix()] if noisy else []),
            package.ToTensor(),
            package.Normalize([0.5] * 3, [0.25] * 3),
            package.RandomErasing(0.5, value="random" if noisy else 0),
        ]
    )


def some_image(rng: random.Random) -> Image.Image:
    shape = (rng.randint(8, 60), rng.randint(8, 60), 3)
    return Image.fromarray(np.random.default_rng(rng.getrandbits(32)).integers(0, 256, shape, dtype=np.uint8))


@contextlib.contextmanager
def at_work(*works: Callable[[], Any]) -> Iterator[list[threading.Thread]]:
    """Threads that do these over and over."""
    stop = threading.Event()

    def until_stopped(work: Callable[[], Any]) -> bool:
        try:
            while not stop.is_set():
                work()
        except KeyboardInterrupt:
            return False
        return True

    def loop(work: Callable[[], Any]) -> None:
        while not until_stopped(work):
            pass

    threads = [threading.Thread(target=loop, args=(work,), daemon=True) for work in works]
    # Signals are for the thread that is to be interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    for thread in threads:
        thread.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    try:
        yield threads
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)


def raise_in(thread: threading.Thread) -> None:
    """Has a KeyboardInterrupt raised in another thread, wherever that is."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))


def threads(rng: random.Random) -> str:
    """Calls in two threads are interrupted, while a third has its results to give."""
    images = [some_image(rng) for _ in range(3)]
    seed = rng.getrandbits(32)
    shared = augmentation(T)
    generator = torch.Generator().manual_seed(seed)
    own = fastaug.compile(augmentation(T), generator=generator)
    expected = []
    for image in images:
        for _ in range(4):
            state = generator.get_state()
            expected.append((image, state, snapshot(own(image))))
    wrong: list[str] = []
    done = [0]

    def steady() -> None:
        image, state, value = expected[done[0] % len(expected)]
        generator.set_state(state)
        if snapshot(own(image)) != value:
            wrong.append("a thread got another result while others were interrupted")
        done[0] += 1

    with at_work(lambda: shared(images[0]), steady) as (victim, worker):
        for _ in range(6):
            interrupted(lambda: shared(images[1]), rng.uniform(0, 2e-3))
            raise_in(victim)
            time.sleep(rng.uniform(0, 2e-3))
        begun, limit = done[0], time.monotonic() + PATIENCE
        while done[0] < begun + 3 and time.monotonic() < limit:
            time.sleep(1e-3)
        time.sleep(2e-3)  # what was raised arrives while the thread expects it
    if victim.is_alive() or worker.is_alive():
        return "a thread hangs"
    if done[0] < begun + 3:
        return "a thread does not get on"
    return next(iter(wrong), "") or after(images[2], seed)


def after(image: Image.Image, seed: int) -> str:
    """What is wrong with a call now."""
    if not is_free():
        return "torch's generator stays locked"
    ours, theirs = (run(augmentation(package), image, seed) for package in (T, TV))
    if theirs.error is not None or snapshot(ours.value) != snapshot(theirs.value):
        return f"another result than torchvision's, {ours.error!r} and {theirs.error!r}"
    if not torch.equal(ours.torch_state, theirs.torch_state):
        return "torch's generator was left in another state"
    return ""


# ---- other processes


def busy(rng: random.Random) -> list[Callable[[], Any]]:
    """What threads do while their process forks.

    torch itself draws without Python's lock, behind one of its generator's own, which would stay locked in a child.
    """
    image, files, large = some_image(rng), encoded(rng, 4), np.zeros((700, 600, 3), np.uint8)
    shared, resize = augmentation(T, noisy=False), T.Resize(90)
    works = [lambda: shared(image), lambda: resize(large), lambda: imread_batch(files, num_threads=2)]
    return rng.sample(works, 2)


def forks(rng: random.Random) -> str:
    """Forks while other threads are in the middle of calls; a child calls, and so does the parent."""
    image, seed, files = some_image(rng), rng.getrandbits(32), encoded(rng, 3)
    expected = snapshot(run(augmentation(TV), image, seed).value)
    decoded = snapshot(imread_batch(files))

    def is_right() -> bool:
        value = snapshot(run(augmentation(T), image, seed).value)
        return value == expected and snapshot(imread_batch(files, num_threads=2)) == decoded

    with at_work(*busy(rng)) as workers:
        for _ in range(3):
            time.sleep(rng.uniform(0, 3e-3))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python warns of forks in processes with threads
                child = os.fork()
            if child == 0:
                code = 1
                try:
                    signal.signal(signal.SIGALRM, signal.SIG_DFL)
                    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
                    code = 0 if is_right() else 2
                finally:
                    os._exit(code)
            status = os.waitpid(child, 0)[1]
            if os.WIFSIGNALED(status):
                return f"a child hangs, or dies of signal {os.WTERMSIG(status)}"
            if os.WEXITSTATUS(status):
                return "a child raises" if os.WEXITSTATUS(status) == 1 else "a child has another result"
    if any(worker.is_alive() for worker in workers):
        return "a thread hangs"
    return after(image, seed)


class Images(Dataset[Any]):
    """The same few images, transformed."""

    def __init__(self, package: Any, images: list[Image.Image]) -> None:
        self.transform = augmentation(package)
        self.images = images

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        value: torch.Tensor = self.transform(self.images[index % len(self.images)])
        return value


def loaders(rng: random.Random) -> str:
    """Workers of a DataLoader are forked while other threads are in the middle of calls."""
    images, seed = [some_image(rng) for _ in range(3)], rng.getrandbits(32)
    results = []
    for package in (TV, T):
        with at_work(*(busy(rng) if package is T else ())):
            loader = DataLoader(
                Images(package, images),
                batch_size=2,
                num_workers=2,
                multiprocessing_context="fork",
                timeout=PATIENCE,
                generator=torch.Generator().manual_seed(seed),
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append(snapshot(list(loader)))
    return "" if results[0] == results[1] else "workers have another result"


#: What is tried, and how often each of it.
KINDS: dict[Callable[[random.Random], str], int] = {
    calls: 120,
    samples: 40,
    batches: 24,
    threads: 12,
    forks: 3,
    loaders: 1,
}


def check(number: int) -> str:
    """What went wrong in the case of this number; empty if nothing did. To be called in the main thread."""
    rng = random.Random(f"interrupts {number}")
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    with interruptions():
        found = kind(rng)
    return found and f"interrupt {number}, {kind.__name__}: {found}"
