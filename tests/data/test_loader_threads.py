"""What a thread draws from in the place of torch's default generator, and loaders at a fork."""

from __future__ import annotations

import os
import random
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from loader_cases import Pairs, augmentation, generators, same

import fastaug.transforms as T
from fastaug._draft.draws import DEFAULT, drawing_from
from fastaug.data import DataLoader
from support.images import photo
from support.outcomes import seed_all


def in_a_thread(work: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def drawn() -> list[Any]:
    """What pipelines, `get_params` and noise draw."""
    image, transform = photo("chelsea", 60, 80), augmentation(T)
    elastic = T.Compose([T.ElasticTransform(), T.AugMix(), T.ToTensor()])
    given = [transform(image) for _ in range(4)]
    given += [
        elastic(image),
        T.RandomCrop.get_params(image, (9, 9)),
        T.ElasticTransform.get_params([9.0] * 2, [1.0] * 2, [20, 20]),
    ]
    given += transform.batch([image, image], num_threads=2)
    return given


def test_a_thread_draws_from_what_it_is_told() -> None:
    seed_all(7)
    expected, after = drawn(), generators()
    seed_all(3)
    before = generators()
    own, python = torch.Generator().manual_seed(7), random.Random(7)

    def work() -> list[Any]:
        with drawing_from(own, python):
            assert DEFAULT.generator is own
            given = drawn()
        assert DEFAULT.generator is None
        return given

    assert same(in_a_thread(work), expected)
    assert same(generators(), before)
    assert same((own.get_state(), python.getstate()), after[:2])


def test_what_a_thread_is_told_ends_with_an_error() -> None:
    def fail(inner: torch.Generator) -> None:
        with drawing_from(inner, random.Random()):
            DEFAULT.rand()
            raise ValueError

    def work() -> bool:
        outer, inner = torch.Generator(), torch.Generator()
        with drawing_from(outer, random.Random()):
            with pytest.raises(ValueError):
                fail(inner)
            assert DEFAULT.generator is outer
        return DEFAULT.generator is None

    assert in_a_thread(work)


def test_torch_is_asked_off_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each call, as its workers may be threads."""
    own = torch.Generator().manual_seed(7)
    asked = []

    def thread_safe_generator() -> Any:
        asked.append(threading.current_thread())
        return own if threading.current_thread() is not threading.main_thread() else None

    image = photo("chelsea", 60, 80)
    transform = T.Compose([T.RandomResizedCrop(24), T.ColorJitter(0.4, 0.4), T.RandomHorizontalFlip()])
    seed_all(7)
    expected, after = [transform(image) for _ in range(3)], torch.get_rng_state()
    monkeypatch.setattr(torch, "thread_safe_generator", thread_safe_generator, raising=False)
    seed_all(3)
    before = generators()
    assert in_a_thread(lambda: [transform(image) for _ in range(3)]) == expected
    assert same(generators(), before)
    assert torch.equal(own.get_state(), after)
    assert len(asked) == 3
    transform(image)
    assert len(asked) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_an_iterator_ends_at_a_fork() -> None:
    loader = DataLoader(Pairs(T), batch_size=2, num_workers=2, threads=True)
    iterator = iter(loader)
    next(iterator)
    child = os.fork()
    if child == 0:
        try:
            next(iterator)
        except RuntimeError as error:
            fresh = len(list(DataLoader(Pairs(T), batch_size=2, num_workers=2, threads=True)))
            os._exit(0 if "ends at a fork" in str(error) and fresh == len(loader) else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(iterator)) == len(loader) - 1


def test_torchs_warning_of_many_processes_comes_with_processes() -> None:
    many = 2 * len(os.sched_getaffinity(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = DataLoader(Pairs(T), num_workers=many, threads=True)
        iter(loader)
        loader = DataLoader(Pairs(T), num_workers=many, timeout=50)
    with pytest.warns(UserWarning, match="This DataLoader will create"):
        iter(loader)
