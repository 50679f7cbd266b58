"""Python threads may share transforms and images; the native core keeps nothing between calls."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

import fastaug.transforms as T
from support.images import noise, photo
from support.outcomes import snapshot
from support.processes import python
from support.programs import execute, random_program, reference


def test_shared_deterministic_pipeline() -> None:
    pipeline = T.Compose(
        [T.Resize(97), T.CenterCrop(80), T.RandomHorizontalFlip(1.0), T.ToTensor(), T.Normalize([0.5] * 3, [0.2] * 3)]
    )
    images = [photo(name, 300 + 17 * k, 320 - 13 * k) for k in range(6) for name in ("ihc", "coffee", "chelsea")]
    expected = [snapshot(pipeline(image)) for image in images]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(5):
            assert [snapshot(result) for result in pool.map(pipeline, images)] == expected


def test_one_image_read_by_many_threads() -> None:
    image = photo("ihc")
    transforms = [T.Resize(40 + k) for k in range(12)] + [T.CenterCrop(30 + k) for k in range(12)]
    expected = [snapshot(transform(image)) for transform in transforms]
    with ThreadPoolExecutor(8) as pool:
        assert [snapshot(r) for r in pool.map(lambda transform: transform(image), transforms)] == expected


def test_random_programs_at_the_same_time() -> None:
    """Arenas and strips of different sizes side by side."""
    jobs = []
    for seed in range(200):
        rng = random.Random(50_000 + seed)
        image = noise(rng.randint(1, 80), rng.randint(1, 80), rng.choice([1, 3, 4]), seed)
        ops = random_program(rng, image)
        jobs.append((ops, image, reference(ops, image)))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda job: np.array_equal(execute(job[0], job[1]), job[2]), jobs * 3))
    assert all(results)


def test_random_draws_stay_one_sequence() -> None:
    """Threads interleave their draws in any order, but the generator itself must stay sound: nothing is drawn twice
    and none is lost."""
    flips = 8 * 200
    pipeline = T.Compose([T.RandomHorizontalFlip(0.5)])
    image = noise(2, 2)
    torch.manual_seed(9)
    expected = torch.rand(flips + 1)
    torch.manual_seed(9)

    def work(_: int) -> int:
        return sum(int(pipeline(image) is not image) for _ in range(200))

    with ThreadPoolExecutor(8) as pool:
        flipped = sum(pool.map(work, range(8)))
    assert torch.equal(torch.rand(1), expected[-1:])
    assert flipped == int((expected[:-1] < 0.5).sum())


def test_the_interpreter_runs_while_pixels_are_worked_on() -> None:
    """The GIL is released during a native call: a counting thread gets on in the meantime."""
    image = np.tile(noise(512, 512), (6, 6, 1))
    transform = T.Resize((3000, 2999), interpolation=T.InterpolationMode.LANCZOS)
    counted, running = [0], threading.Event()

    def count() -> None:
        running.set()
        while running.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    running.wait()
    before = counted[0]
    transform(image)
    during = counted[0] - before
    running.clear()
    thread.join()
    assert during > 0


def test_native_call_on_a_thread_that_ends() -> None:
    """Per-thread memory goes with its thread."""
    results = []

    def work() -> None:
        results.append(snapshot(T.Resize(33)(photo("coffee"))))

    for _ in range(30):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(set(results)) == 1


DAEMONS = """
import threading
from fastaug import _C
for number in range(40):
    threading.Thread(target=_C.Queue().take, args=(0.005 * number,), daemon=True).start()
"""


def test_daemon_threads_in_native_calls_at_exit() -> None:
    """They come back when the interpreter ends or has ended, and do not take the process with them."""
    result = python(["-c", DAEMONS])
    assert (result.returncode, result.stderr) == (0, "")
