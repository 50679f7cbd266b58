"""Streams of images give what torchvision gives for one after the other, keep nothing, lose nothing, and end."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug.transforms as T
from fastaug._batch.together import Alone
from fastaug._draft.outline import Outline
from fastaug._image.lazy import LazyImage
from support.batches import THREADS, encoded, names_of_threads, one_by_one, photographs, train
from support.images import photo
from support.outcomes import seed_all, snapshot
from support.processes import python


def test_map_comes_in_order_or_as_it_is_done() -> None:
    images = photographs(20)
    seed_all(3)
    expected = one_by_one(train(TV), images)
    for threads in (1, 3):
        seed_all(3)
        pairs = list(train(T).map(iter(images), ordered=False, num_threads=threads))
        assert sorted(index for index, _ in pairs) == list(range(20))
        assert all(torch.equal(result, expected[index]) for index, result in pairs)


def test_map_takes_endless_streams_and_few_at_a_time() -> None:
    taken = itertools.count()
    most = 0

    def stream() -> Iterator[Image.Image]:
        nonlocal most
        image = photo("ihc", 60, 60)
        while True:
            most = next(taken)
            yield image

    mapped = train(T).map(stream(), num_threads=3)
    for number, _ in zip(range(1, 51), mapped):
        assert most <= number + 24
    mapped.close()
    with pytest.raises(StopIteration):
        next(mapped)
    lazily = train(T).map(stream(), num_threads=1)
    begun = most
    next(lazily)
    assert most == begun + 1, "with one thread an image is taken when its result is wanted"


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("threads", THREADS)
def test_map_keeps_no_results(threads: int, ordered: bool) -> None:
    """What nobody holds is gone: of jobs, of what Python does, and of images that fail."""
    results: list[weakref.ref[Any]] = []

    def broken(number: int) -> Any:
        return 5 if number % 4 == 1 else photo("ihc", 60, 60)

    for pipeline in (train(T), T.Compose([T.AugMix(), *train(T).transforms]), T.Compose([T.RandomCrop(40)])):
        mapped = pipeline.map(map(broken, range(20)), ordered, threads)
        for _ in range(20):
            with contextlib.suppress(TypeError):
                result = next(mapped)
                results.append(weakref.ref(result if ordered else result[1]))
                del result
        assert [result() for result in results] == [None] * len(results)
    assert len(results) == 3 * 15


class Interrupted:
    """Ctrl-C when it has been asked so many times for something."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self, image: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return image


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("place", ["images", "draws", "work", "read", "wait"])
def test_map_goes_on_after_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, place: str, threads: int, ordered: bool
) -> None:
    images = photographs(12)
    steps = [T.CenterCrop(60), T.ToTensor()]
    expected = one_by_one(T.Compose(steps), images)
    interrupted = Interrupted(5)

    def hit(owner: Any, name: str) -> None:
        own = getattr(owner, name)

        def instead(*given: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                interrupted(None)
            return own(*given)

        monkeypatch.setattr(owner, name, instead)

    stream: Any = iter(images)
    if place == "images":
        stream = map(interrupted, images)
    elif place == "draws":
        steps = [interrupted, *steps]
    elif place == "work":
        hit(Outline, "drafted")
        steps = [T.AugMix(severity=1, mixture_width=1, alpha=1e-9), *steps]
    elif place == "read":
        stream = iter([encoded(image, "PNG") for image in images])
        hit(LazyImage, "in_memory")
    else:
        hit(Alone, "finish")
    mapped = T.Compose(steps).map(stream, ordered, threads)
    results: list[Any] = []
    with contextlib.suppress(KeyboardInterrupt):
        results.extend(mapped)
    results.extend(mapped)
    if place in ("images", "draws", "wait") or threads == 1:
        assert interrupted.left <= 0
    if place == "images":
        del expected[4]  # the stream's own
    assert len(results) == len(expected)
    if not ordered:
        results = [result for _, result in sorted(results, key=lambda pair: pair[0])]
    if place != "work":
        assert snapshot(results) == snapshot(expected)
    assert all(result.shape == expected[0].shape for result in results)


@pytest.mark.parametrize("threads", THREADS)
def test_map_goes_on_after_an_error(threads: int) -> None:
    mapped = T.Compose([T.CenterCrop(20), T.ToTensor()]).map(
        [photo("ihc", 30, 30), 5, photo("ihc", 30, 40)], num_threads=threads
    )
    assert next(mapped).shape == (3, 20, 20)
    with pytest.raises(TypeError) as raised:
        next(mapped)
    assert raised.value.index == 1
    assert next(mapped).shape == (3, 20, 20)
    with pytest.raises(StopIteration):
        next(mapped)


def test_threads_end_with_what_they_are_for(no_threads: None) -> None:
    train(T).batch(photographs(), num_threads=4)
    assert not names_of_threads()
    mapped = train(T).map(photographs(), num_threads=4)
    next(mapped)
    assert len(names_of_threads()) == 3
    del mapped
    assert not names_of_threads()


@pytest.mark.parametrize("left", ["mapped", "cycle = [mapped]; cycle.append(cycle); del mapped", "sys.left = mapped"])
def test_an_iterator_that_is_left_is_no_trouble_at_exit(left: str) -> None:
    program = f"""
import itertools, sys
from PIL import Image
import fastaug.transforms as T
transform = T.Compose([T.AugMix(), T.CenterCrop(20), T.ToTensor()])
mapped = transform.map(itertools.repeat(Image.new("RGB", (50, 50))), num_threads=4)
next(mapped)
{left}
"""
    ended = python(["-c", program])
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_has_batches_of_its_own_and_no_iterator_of_its_parent() -> None:
    mapped = train(T).map(itertools.repeat(photo("ihc", 60, 60)), num_threads=3)
    next(mapped)
    seed_all(0)
    expected = train(T).batch(photographs(), num_threads=2)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                next(mapped)
            except RuntimeError:
                seed_all(0)
                code = 0 if torch.equal(train(T).batch(photographs(), num_threads=2), expected) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert next(mapped).shape == (3, 48, 48)
