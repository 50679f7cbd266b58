"""Data sets of torchvision's that lie in memory as arrays: the loader draws and makes their images as torch's does."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from torch.nn.functional import one_hot
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import Subset
from torchvision import datasets
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.transforms as T
from data.loader_cases import drawing_target, generators, run, same
from fastaug._batch.batch import Task
from fastaug._batch.sources import Rows
from fastaug._batch.together import Together
from fastaug.data import DataLoader, sample_seed
from fastaug.transforms import v2
from support.outcomes import seed_all

COUNT = 22


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape, dtype=np.uint8)


def steps(package: Any) -> list[Any]:
    return [package.RandomCrop(12, padding=2), package.RandomHorizontalFlip(), package.RandomRotation(20)]


def transform_of(package: Any) -> Any:
    return package.Compose([*steps(package), package.ToTensor(), package.Normalize([0.5], [0.25])])


def planes(*shape: int) -> np.ndarray:
    """An array of planes whose rows are the columns of another, as SVHN has it."""
    return noise(*reversed(shape)).transpose()


def integers(dtype: Any) -> np.ndarray:
    return np.arange(COUNT).astype(dtype) % 10


# The attributes of an object of each class, as its constructor makes them of files.
KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "CIFAR10": lambda: {"data": noise(COUNT, 3, 16, 14).transpose(0, 2, 3, 1), "targets": integers(int).tolist()},
    "CIFAR100": lambda: {"data": noise(COUNT, 16, 14, 3), "targets": integers(int).tolist()},
    "EMNIST": lambda: {"data": torch.from_numpy(noise(COUNT, 15, 14)), "targets": torch.from_numpy(integers(int))},
    "FashionMNIST": lambda: {"data": torch.from_numpy(noise(COUNT, 14, 14)), "targets": torch.arange(COUNT)},
    "KMNIST": lambda: {"data": torch.from_numpy(noise(14, 15, COUNT)).permute(2, 0, 1), "targets": torch.ones(COUNT)},
    "MNIST": lambda: {
        "data": torch.from_numpy(noise(COUNT, 14, 16)),
        "targets": torch.arange(COUNT, dtype=torch.uint8),
    },
    "SEMEION": lambda: {"data": noise(COUNT, 16, 16), "labels": integers(np.int64)},
    "STL10": lambda: {"data": noise(COUNT, 3, 20, 18), "labels": integers(np.uint8)},
    "SVHN": lambda: {"data": planes(COUNT, 3, 15, 17), "labels": integers(np.int64)},
    "USPS": lambda: {"data": noise(COUNT, 16, 16), "targets": integers(int).tolist()},
}


def dataset_of(kind: str, transform: Any, target_transform: Any = None) -> Any:
    cls = getattr(datasets, kind)
    made = cls.__new__(cls)
    vars(made).update(KINDS[kind](), transform=transform, target_transform=target_transform, transforms=None)
    return made


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The numbers of the images for which Python drew, and what was given to the core."""
    found: dict[str, list[Any]] = {"by Python": [], "by the core": []}
    draw, begin = Task.draw, Together.__init__

    def counted(self: Task, *arguments: Any) -> None:
        found["by Python"].append(self.index)
        draw(self, *arguments)

    def begun(self: Together, *arguments: Any) -> None:
        found["by the core"].append(type(arguments[4]))
        begin(self, *arguments)

    monkeypatch.setattr(Task, "draw", counted)
    monkeypatch.setattr(Together, "__init__", begun)
    return found


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_torchs(kind: str, workers: int, drawn: dict[str, list[Any]]) -> None:
    options: dict[str, Any] = {"batch_size": 4, "shuffle": True, "num_workers": workers}
    theirs = run(TorchLoader, dataset_of(kind, transform_of(TV)), **options)
    assert same(run(DataLoader, dataset_of(kind, transform_of(T)), **options), theirs)
    assert not drawn["by Python"]
    assert set(drawn["by the core"]) == {Rows}


PIPELINES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "v2": (
        lambda: TV2.Compose([*steps(TV2), TV2.ToImage(), TV2.ToDtype(torch.float32, scale=True)]),
        lambda: v2.Compose([*steps(v2), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]),
    ),
    "compiled": (lambda: transform_of(TV), lambda: fastaug.compile(transform_of(TV))),
    "nothing drawn": (lambda: TV.Compose([TV.ToTensor()]), lambda: T.Compose([T.ToTensor()])),
    "bytes": (
        lambda: TV.Compose([TV.RandomCrop(9), TV.PILToTensor()]),
        lambda: T.Compose([T.RandomCrop(9), T.PILToTensor()]),
    ),
    "Python draws": (
        lambda: TV.Compose([TV.RandomChoice([TV.RandomCrop(9), TV.CenterCrop(9)]), TV.ToTensor()]),
        lambda: T.Compose([T.RandomChoice([T.RandomCrop(9), T.CenterCrop(9)]), T.ToTensor()]),
    ),
    "large": (
        lambda: TV.Compose([TV.Resize(40), TV.ColorJitter(0.4, 0.4), TV.GaussianBlur(3), TV.ToTensor()]),
        lambda: T.Compose([T.Resize(40), T.ColorJitter(0.4, 0.4), T.GaussianBlur(3), T.ToTensor()]),
    ),
}


@pytest.mark.parametrize("kind", ["CIFAR10", "MNIST", "SVHN"])
@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name: str, kind: str) -> None:
    options: dict[str, Any] = {"batch_size": 5, "num_workers": 1}
    theirs, ours = (make() for make in PIPELINES[name])
    assert same(
        run(DataLoader, dataset_of(kind, ours), **options), run(TorchLoader, dataset_of(kind, theirs), **options)
    )


def test_views_of_arrays() -> None:
    views = fastaug.Views([transform_of(T), transform_of(T)])

    class Two:
        def __call__(self, image: Any) -> Any:
            return [transform_of(TV)(image), transform_of(TV)(image)]

    options: dict[str, Any] = {"batch_size": 4, "num_workers": 2}
    theirs = run(TorchLoader, dataset_of("CIFAR10", Two()), **options)
    assert same(run(DataLoader, dataset_of("CIFAR10", views), **options), theirs)


@pytest.mark.parametrize("kind", ["CIFAR10", "FashionMNIST", "STL10"])
@pytest.mark.parametrize(
    "indices",
    [[3, 3, 0, 21, -1, -22, 7], np.arange(1, 12), range(2, 9), torch.arange(5), [np.int64(4), 3, np.int32(2)]],
    ids=lambda indices: type(indices).__name__,
)
def test_subsets(kind: str, indices: Any) -> None:
    options: dict[str, Any] = {"batch_size": 3, "num_workers": 2}
    theirs, ours = (
        Subset(Subset(dataset_of(kind, transform_of(package)), range(COUNT)), indices) for package in (TV, T)
    )
    assert same(run(DataLoader, ours, **options), run(TorchLoader, theirs, **options))


# Callables of targets that are known to draw nothing, and that may draw.
TABLE = [number // 2 for number in range(COUNT)]


def looked_up(table: dict[int, int]) -> Callable[[int], int]:
    return lambda label, add=1: table[label] + add


def in_classes(label: int) -> Any:
    shifted = (label + 1) % 10
    if shifted == 5:
        return one_hot(torch.tensor(0), 10)
    return one_hot(torch.tensor(shifted), num_classes=10)


TARGETS: dict[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "tensor": torch.tensor,
    "partial": partial(torch.tensor, dtype=torch.float16),
    "dictionary": {number: number % 3 for number in range(COUNT)}.get,
    "list": [number / 2 for number in range(COUNT)].__getitem__,
    "lambda": lambda label: TABLE[label] - 1,
    "lambda of one value": lambda label: 3,
    "lambda with a call": lambda label: torch.tensor(label % 3, dtype=torch.float32),
    "lambda with a branch": lambda label: -label if label in (2, 3) or not label > 6 else min(label, 8),
    "closure": looked_up({number: number % 3 for number in range(COUNT)}),
    "function": in_classes,
}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", TARGETS)
def test_targets_that_draw_nothing(name: str, workers: int, drawn: dict[str, list[Any]]) -> None:
    options: dict[str, Any] = {"batch_size": 4, "num_workers": workers}
    theirs, ours = (dataset_of("CIFAR10", transform_of(package), TARGETS[name]) for package in (TV, T))
    assert same(run(DataLoader, ours, **options), run(TorchLoader, theirs, **options))
    assert not drawn["by Python"]
    assert drawn["by the core"]


def other(label: int) -> int:
    return label


class Counts(dict[int, int]):
    """Not a plain dictionary."""

    def __missing__(self, key: int) -> int:
        return int(torch.randint(9, ()))


COUNTS = Counts()

NOT_KNOWN: dict[str, Any] = {
    "draws": lambda label: label + torch.rand(1),
    "draws by numpy": lambda label: label + np.random.rand(),  # noqa: NPY002
    "draws by Python": lambda label: label + random.random(),
    "function of the user's": lambda label: other(label),
    "attribute": lambda label: label.real,
    "method": lambda label: label.bit_length(),
    "looked up in another dictionary": lambda label: COUNTS[label],
    "comprehension": lambda label: [label for _ in range(random.randint(1, 2))],
    "inner function": lambda label: (lambda: random.random())(),
    "closure": (lambda change: lambda label: change(label))(lambda label: random.random()),
    "default": lambda label, change=random.random: change(),
    "module": lambda label: (torch, label)[1],
    "import": lambda label: __import__("random").random(),
    "name that is not there": lambda label: not_there(label),  # type: ignore[name-defined]  # noqa: F821
    "generator": lambda label: (yield label),
    "eval": lambda label: eval("random.random()"),
    "partial": partial(lambda label, table: table[label], table=COUNTS),
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_targets_that_may_draw(name: str) -> None:
    dataset = dataset_of("CIFAR10", transform_of(T), NOT_KNOWN[name])
    choice = DataLoader(dataset, batch_size=4, num_workers=1).explain()
    assert not choice.threads
    assert choice.reason.startswith("of its target_transform, ")


class Drawing:
    """Draws for some targets, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, target: int) -> Any:
        self.calls += 1
        if target == 7:
            raise ValueError("seven")
        return target + (float(torch.rand(1)) + random.random() + np.random.rand() if target % 3 else 0)  # noqa: NPY002


def counted(cls: Any, package: Any, batches: list[list[int]], **options: Any) -> tuple[list[Any], int]:
    change = Drawing()
    dataset = dataset_of("CIFAR10", transform_of(package), change)
    return outcomes(cls, dataset, batches, **options), change.calls


@pytest.mark.parametrize("workers", [0, 2])
def test_targets_that_draw(workers: int, drawn: dict[str, list[Any]]) -> None:
    options: dict[str, Any] = {"batch_size": 4, "num_workers": workers}
    theirs, ours = (dataset_of("CIFAR10", transform_of(package), drawing_target) for package in (TV, T))
    promised = {"threads": True} if workers else {}
    assert same(run(DataLoader, ours, **promised, **options), run(TorchLoader, theirs, **options))
    assert not drawn["by Python"]
    assert drawn["by the core"]


@pytest.mark.parametrize("workers", [0, 1])
def test_targets_that_draw_or_fail(workers: int) -> None:
    batches = [[0, 1, 2, 3], [4, 5, 6, 8], [9, 8, 7, 1], [0, 1, 2, 3] * 9, [17, 1], [3, 2]]
    promised = {"threads": True} if workers else {}
    theirs, calls = counted(TorchLoader, TV, batches, workers=workers)
    ours, made = counted(DataLoader, T, batches, workers=workers, **promised)
    assert same(ours, theirs)
    assert "ValueError" in theirs
    if not workers:
        assert made >= calls  # those of a batch that failed are made again, to see where a loop stops


def test_targets_that_draw_from_seeds() -> None:
    dataset = dataset_of("CIFAR10", transform_of(T), drawing_target)
    for workers in (0, 2):
        promised = {"threads": True} if workers else {}
        loader = DataLoader(dataset, batch_size=4, num_workers=workers, rng="sample", seed=5, **promised)
        images, targets = next(iter(loader))
        for number in range(4):
            seed_all(sample_seed(5, 0, number))
            image, target = dataset[number]
            assert torch.equal(images[number], image)
            assert torch.equal(targets[number], target)


class Sampler:
    """Batches of any indices."""

    def __init__(self, batches: list[list[Any]]) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def outcomes(cls: Any, dataset: Any, batches: list[list[Any]], workers: int, **options: Any) -> list[Any]:
    """All batches, errors as their types, and the global generators after each."""
    seed_all(5)
    given: list[Any] = []
    iterator = iter(cls(dataset, batch_sampler=Sampler(batches), num_workers=workers, **options))
    for _ in batches:
        try:
            given.append(next(iterator))
        except Exception as error:
            given.append(type(error).__name__)
        given.append(generators())
    return given


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", ["CIFAR10", "MNIST", "STL10"])
@pytest.mark.parametrize("bad", [COUNT, -COUNT - 1, "3"])
def test_indices_that_are_not_there(bad: Any, kind: str, workers: int) -> None:
    batches = [[1, 2], [3, 4, bad, 5], [6, -1], [0, 7]]
    theirs, ours = (dataset_of(kind, transform_of(package)) for package in (TV, T))
    expected = outcomes(TorchLoader, theirs, batches, workers)
    assert expected[2] in ("IndexError", "TypeError", "ValueError")
    assert same(outcomes(DataLoader, ours, batches, workers), expected)


def lookup(table: dict[int, int]) -> Any:
    return table.__getitem__


@pytest.mark.parametrize("workers", [0, 1])
def test_a_target_that_fails(workers: int) -> None:
    table = {number: number for number in range(7)}
    batches = [[1, 2, 3], [4, 5, 8, 6], [0, 1], [2, 3]]
    given = []
    for cls, package in ((TorchLoader, TV), (DataLoader, T)):
        data = dataset_of("CIFAR10", transform_of(package), lookup(table))
        given.append(outcomes(cls, data, batches, workers))
    assert given[0][2] == "KeyError"
    assert same(given[1], given[0])


def test_the_first_error_of_a_batch_is_raised() -> None:
    """That of a target comes before that of a later sample which is not there."""
    data = dataset_of("CIFAR10", transform_of(T), {}.__getitem__)
    with pytest.raises(KeyError) as raised:
        next(iter(DataLoader(data, batch_sampler=Sampler([[1, 2, COUNT]]))))
    assert raised.value.index == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("workers", [0, 2])
def test_rng_by_sample(workers: int) -> None:
    data = dataset_of("CIFAR100", transform_of(T))
    loader = DataLoader(data, batch_size=4, num_workers=workers, rng="sample", seed=5)
    images = [image for batch, _ in loader for image in batch]
    for index, image in enumerate(images):
        torch.manual_seed(fastaug.data.sample_seed(5, 0, index))
        assert torch.equal(image, data[index][0])


def test_labels_of_any_kind() -> None:
    """Numbers that are no integers of 64 bits, and what torch refuses."""
    for targets in (
        [1.5] * COUNT,
        [2**63 - 1, -(2**63)] * (COUNT // 2),
        [True] * COUNT,
        ["a"] * COUNT,
        [2**70] * COUNT,
    ):
        given = []
        for cls, package in ((TorchLoader, TV), (DataLoader, T)):
            data = dataset_of("CIFAR10", transform_of(package))
            data.targets = targets
            given.append(outcomes(cls, data, [[0, 1], [2, 3]], 0))
        assert same(given[1], given[0])


@pytest.mark.parametrize("change", ["float", "subclass", "method", "gray", "class attribute"])
def test_what_is_not_plain_is_left_to_torchvision(change: str) -> None:
    given = []
    for cls, package in ((TorchLoader, TV), (DataLoader, T)):
        data = dataset_of("CIFAR10", transform_of(package))
        if change == "float":
            data.data = data.data.astype(np.float32)
        elif change == "gray":
            data.data = data.data[..., 0].copy()
        elif change == "subclass":
            data.__class__ = type("Mine", (datasets.CIFAR10,), {})
        elif change == "method":
            own = {"__getitem__": lambda self, index: (datasets.CIFAR10.__getitem__(self, index)[0], 7)}
            data.__class__ = type("Mine", (datasets.CIFAR10,), own)
        else:
            data.__class__ = type("Mine", (datasets.CIFAR10,), {"targets": property(lambda self: [3] * COUNT)})
        promise = {"threads": True} if cls is DataLoader else {}
        seed_all(5)
        try:
            given.append([*cls(data, batch_size=4, num_workers=0, **promise), generators()])
        except TypeError as error:
            given.append([type(error)])
    assert same(given[1], given[0])


def test_epochs_see_new_pixels_and_labels() -> None:
    data = dataset_of("MNIST", T.Compose([T.ToTensor()]))
    loader = DataLoader(data, batch_size=COUNT, num_workers=1)
    first, _ = next(iter(loader))
    data.data[:] = 7
    data.targets = torch.full((COUNT,), 3)
    images, labels = next(iter(loader))
    assert not torch.equal(images, first)
    assert bool((images == 7 / 255).all()) and labels.tolist() == [3] * COUNT
