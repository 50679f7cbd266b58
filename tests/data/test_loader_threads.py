"""What a thread draws from in the place of torch's default generator, and loaders at a fork."""

from __future__ import annotations

import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms._functional_tensor as tensors_of_v1
from loader_cases import Pairs, augmentation, generators, same, write_folder
from torchvision.datasets import ImageFolder

import fastaug.transforms as T
from fastaug._batch.threads import torch_with_one_thread
from fastaug._draft.draws import DEFAULT, drawing_from
from fastaug._program import convolution, fields
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


def threaded(dataset: Any, **options: Any) -> DataLoader[Any]:
    return DataLoader(dataset, threads=True, **options)


class Threads(torch.utils.data.Dataset[int]):
    """How many threads torch uses where a sample is made."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return torch.get_num_threads()


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("workers", [0, 2])
def test_torch_uses_the_threads_that_it_uses_in_a_worker(workers: int, three_threads: None) -> None:
    for loader in (torch.utils.data.DataLoader, threaded):
        given = [batch.tolist() for batch in loader(Threads(), batch_size=2, num_workers=workers)]
        assert given == [[1, 1] if workers else [3, 3]] * 2
    assert torch.get_num_threads() == in_a_thread(torch.get_num_threads) == 3


@pytest.mark.parametrize("folder", [False, True], ids=["any data", "folder"])
def test_blurs_follow_torch_with_one_thread(
    folder: bool, three_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its order of summation may depend on how many it has: here it does."""
    torchs, with_more = torch.nn.functional.conv2d, []
    with torch_with_one_thread():
        fused = not convolution.fuses(1, 3, 50, 61, (5, 3))

    def conv2d(padded: torch.Tensor, weight: torch.Tensor, **options: Any) -> torch.Tensor:
        if torch.get_num_threads() == 1:
            return torchs(padded, weight, **options)
        with_more.append(threading.current_thread().name)
        rows, columns = weight.shape[-2] // 2, weight.shape[-1] // 2
        image = padded[..., rows : padded.shape[-2] - rows, columns : padded.shape[-1] - columns].contiguous()
        return fields.blurred(image, weight[0, 0], fused)

    for module in (torch.nn.functional, tensors_of_v1):
        monkeypatch.setattr(module, "conv2d", conv2d)
    images = [photo("chelsea", 50 + number, 61) for number in range(8)]

    def blurred(package: Any, loader: Any, workers: int) -> torch.Tensor:
        seed_all(5)
        steps = package.Compose([package.GaussianBlur((5, 3)), package.RandomCrop(32), package.ToTensor()])
        data: Any = Pictures(images, steps)
        if folder:
            data = ImageFolder(str(tmp_path), steps, target_transform=int)
        batches = loader(data, batch_size=4, num_workers=workers)
        return torch.cat([batch[0] if folder else batch for batch in batches])

    if folder:
        write_folder(tmp_path)
    wanted = {workers: blurred(TV, torch.utils.data.DataLoader, workers) for workers in (0, 2)}
    for workers in (2, 0):
        with_more.clear()
        assert torch.equal(blurred(T, threaded, workers), wanted[workers])
        assert bool(with_more) is (workers == 0)
    assert convolution.fuses(1, 3, 50, 61, (5, 3)) is fused  # of this thread, which has three


class Pictures(torch.utils.data.Dataset[torch.Tensor]):
    def __init__(self, images: list[Any], transform: Any) -> None:
        self.images, self.transform = images, transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        result: torch.Tensor = self.transform(self.images[index])
        return result
