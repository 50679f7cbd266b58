"""Loaders whose batches are on a device: those of the CPU, bit for bit. No GPU is needed, or used."""

from __future__ import annotations

import collections
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from loader_cases import (
    Drawing,
    Pairs,
    Several,
    drawing_target,
    folder_of,
    generators,
    listed,
    mixed,
    run,
    same,
)
from PIL import ImageOps
from torch.utils.data import Dataset
from torchvision.datasets import ImageFolder

import fastaug.io
import fastaug.transforms as T
from fastaug._cuda import memory
from fastaug.data import DataLoader
from fastaug.data._load.moving import moved
from support.devices import HostBackend, HostDevice, install
from support.outcomes import seed_all

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

IMAGENET = T.Compose(
    [
        T.RandomResizedCrop(24),
        T.RandomHorizontalFlip(),
        T.ColorJitter(0.4, 0.4),
        T.ToTensor(),
        T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]
)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> HostBackend:
    return install(monkeypatch)


@pytest.fixture
def device(backend: HostBackend) -> HostDevice:
    return backend.devices[0]


def imagenet(root: Path, **options: Any) -> ImageFolder:
    return ImageFolder(str(root), transform=IMAGENET, loader=fastaug.io.lazy, **options)


def tensors_of(data: Any) -> list[torch.Tensor]:
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, dict):
        return tensors_of(list(data.values()))
    return [one for part in data for one in tensors_of(part)] if isinstance(data, (list, tuple)) else []


def batches_of(given: list[Any]) -> list[Any]:
    """Of what `run` gives, without the generators."""
    return [one for one in given if not (isinstance(one, tuple) and len(one) == 3)]


def both(device: HostDevice, dataset: Any, options: dict[str, Any], **more: Any) -> list[Any]:
    """Compares a loader with itself on a device, over epochs, and where all generators are after each batch.

    Returns:
        The batches on the device.
    """
    options = {"batch_size": 4, "threads": None if isinstance(dataset, Drawing) else True, **options}
    expected = run(DataLoader, dataset, **options, **more)
    got = run(DataLoader, dataset, device="cuda", **options, **more)
    assert same(got, expected)
    assert batches_of(got)
    for one in tensors_of(batches_of(got)):
        assert device.owns(one)
    return batches_of(got)


OPTIONS: dict[str, dict[str, Any]] = {
    "no workers": {"num_workers": 0, "shuffle": True},
    "one": {"num_workers": 1, "shuffle": True},
    "two": {"num_workers": 2, "drop_last": True, "num_threads": 1},
    "persistent": {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 1},
    "mixed": {"num_workers": 2, "collate_fn": mixed},
    "mixed by one": {"num_workers": 1, "collate_fn": mixed},
    "mixed by none": {"num_workers": 0, "collate_fn": mixed},
    "sample": {"num_workers": 2, "rng": "sample", "seed": 7, "shuffle": True},
    "sample without workers": {"num_workers": 0, "rng": "sample", "seed": 7},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_folder(name: str, pictures: Path, device: HostDevice) -> None:
    batches = both(device, imagenet(pictures), OPTIONS[name])
    assert device.launches == device.ahead > 0
    (side,) = device.sides
    assert len(side.given) == len(batches)
    if "collate_fn" not in OPTIONS[name]:
        assert [starts for _, starts in side.given] == [
            [one.untyped_storage().data_ptr() for one in batch] for batch in batches
        ]


@pytest.mark.parametrize("workers", [0, 2])
def test_what_threads_do(workers: int, pictures: Path, device: HostDevice) -> None:
    """Noise is the host's, and torchvision's loader gives images that are no files."""
    both(device, folder_of(pictures, T), {"num_workers": workers, "shuffle": True})


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_epochs_that_are_left_early(workers: int, persistent: bool, pictures: Path, device: HostDevice) -> None:
    options = {"num_workers": workers, "shuffle": True, "persistent_workers": persistent and workers > 0}
    both(device, imagenet(pictures, target_transform=drawing_target), options, epochs=3, stop=2)


def test_batches_are_begun_before_they_are_wanted(pictures: Path, device: HostDevice) -> None:
    """On one stream of the loader's for all epochs, and each is given when all that makes it has been launched."""
    loader = DataLoader(imagenet(pictures), batch_size=4, num_workers=2, device="cuda")
    for _ in range(2):
        for number, (images, targets) in enumerate(loader):
            (side,) = device.sides
            launches, starts = side.given[-1]
            assert starts == [images.untyped_storage().data_ptr(), targets.untyped_storage().data_ptr()]
            assert device.launches >= launches >= number + 1
    assert len(side.given) == 12


def test_the_next_batch_is_launched_with_this_one(pictures: Path, device: HostDevice) -> None:
    """What threads have decoded by then."""
    loader = DataLoader(imagenet(pictures), batch_size=4, num_workers=2, device="cuda")
    iterator = iter(loader)
    next(iterator)
    chunks = [chunk for flight in iterator._flying for chunk in flight._ahead._waiting]
    iterator._crew.wait_until(lambda: not any(chunk.open for chunk in chunks))
    given = len(device.sides[0].given)
    next(iterator)
    assert len(device.sides[0].given) == given + 1
    assert iterator._flying[0]._sent is not None
    assert device.launches >= 3


def test_results_of_several_sizes_are_an_error(pictures: Path, device: HostDevice) -> None:
    folder = ImageFolder(str(pictures), transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        next(iter(DataLoader(folder, batch_size=4, num_workers=2, device="cuda")))


def test_lists_of_several_sizes(pictures: Path, device: HostDevice) -> None:
    folder = ImageFolder(str(pictures), transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))
    both(device, folder, {"num_workers": 2, "collate_fn": listed})
    assert device.launches


def framed(image: Any) -> Any:
    return ImageOps.expand(image, 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_folder_with_a_function_of_the_users_is_moved(workers: int, pictures: Path, device: HostDevice) -> None:
    folder = ImageFolder(str(pictures), transform=T.Compose([T.RandomCrop(30), framed, T.ToTensor()]))
    both(device, folder, {"num_workers": workers})
    assert not device.launches


@pytest.mark.parametrize(
    ("kind", "workers"), [(Pairs, 0), (Pairs, 2), (Several, 2), (Drawing, 0), (Drawing, 1)], ids=str
)
def test_other_data_sets_are_moved(kind: Any, workers: int, device: HostDevice) -> None:
    both(device, kind(T), {"num_workers": workers, "shuffle": True})
    both(device, kind(T), {"num_workers": workers, "rng": "sample"}, epochs=1)
    assert not device.launches


def test_samples_without_batches_are_moved(device: HostDevice) -> None:
    both(device, Pairs(T), {"num_workers": 2, "batch_size": None})


def test_collations_of_other_data_sets(device: HostDevice) -> None:
    both(device, Several(T), {"num_workers": 2, "collate_fn": mixed})


@pytest.mark.parametrize("number", [0, 1])
def test_the_report_says_where(number: int, pictures: Path, backend: HostBackend) -> None:
    where = f"cuda:{number}"
    loader = DataLoader(imagenet(pictures), batch_size=4, num_workers=2, device=torch.device("cuda", number))
    given = [one for batch in loader for one in batch]
    assert all(map(backend.devices[number].owns, given))
    report = loader.profile()
    assert report.made == f"on {where}"
    assert report.launch > 0
    assert f"made on {where}\n" in str(report)
    assert "  launch" in str(report)
    for threads, made in ((True, "on the CPU"), (None, "by 2 worker processes")):
        loader = DataLoader(Pairs(T), batch_size=4, num_workers=2, device=where, threads=threads)
        list(loader)
        assert f"made {made} and moved to {where}\n" in str(loader.profile())
    loader = DataLoader(imagenet(pictures), batch_size=4, num_workers=2, device="cpu")
    list(loader)
    assert "made on the CPU\n" in str(loader.profile())
    assert "launch" not in str(loader.profile())
    loader = DataLoader(Pairs(T), device=where)
    next(iter(loader))
    assert f"made in next() and moved to {where}\n" in str(loader.profile())


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", ["truncated", "missing", "target", "small"])
def test_errors(kind: str, workers: int, pictures: Path, tmp_path: Path, device: HostDevice) -> None:
    """By their types, with the number of the sample; the next batch comes, with the draws that it has without one."""

    def refuse(target: int) -> float:
        if target > 1:
            raise KeyError(target)
        return float(torch.rand(1))

    given = []
    for where in (None, "cuda"):
        folder = imagenet(pictures, target_transform=refuse)
        bad = tmp_path / "bad.jpg"
        if kind == "truncated":
            bad.write_bytes(Path(folder.samples[5][0]).read_bytes()[:700])
        if kind in ("truncated", "missing"):
            folder.samples[5] = str(bad), 0
        elif kind == "small":
            folder.transform = T.Compose([T.RandomCrop(60), T.ToTensor()])
        else:
            folder.samples[5] = folder.samples[5][0], 2
        seed_all(5)
        iterator = iter(DataLoader(folder, batch_size=4, num_workers=workers, device=where, threads=True))
        outcomes: list[Any] = []
        for _ in range(6):
            try:
                outcomes.append(next(iterator))
            except (OSError, ValueError, KeyError) as error:
                located = error.index, getattr(error, "path", None)  # type: ignore[attr-defined]
                outcomes.append((type(error).__name__, str(error), *located))
            outcomes.append(generators())
        given.append(outcomes)
    assert any(
        isinstance(one, tuple) and one[0] in ("DecodeError", "FileNotFoundError", "KeyError", "ValueError")
        for one in given[0]
    )
    assert same(given[1], given[0])
    assert all(map(device.owns, tensors_of(given[1][-2])))


@pytest.mark.parametrize("left", [0, 4 * 3 * 24 * 24 * 4, 60_000])
def test_out_of_memory(left: int, pictures: Path, device: HostDevice) -> None:
    """It is the error of the batch that it came with; what is drawn for other batches does not depend on it."""
    options = {"batch_size": 4, "num_workers": 2, "rng": "sample"}
    expected = list(DataLoader(imagenet(pictures), **options))
    device.left = left
    iterator = iter(DataLoader(imagenet(pictures), device="cuda", **options))
    given = [batch_or_error(iterator) for _ in range(2)]
    device.left = 1 << 30
    given += [batch_or_error(iterator) for _ in range(4)]
    failed = [number for number, one in enumerate(given) if isinstance(one, torch.cuda.OutOfMemoryError)]
    assert failed
    assert max(failed) <= 4  # what had been begun by then
    for number in set(range(6)) - set(failed):
        assert same(given[number], expected[number])
    with pytest.raises(StopIteration):
        next(iterator)


def batch_or_error(iterator: Any) -> Any:
    try:
        return next(iterator)
    except torch.cuda.OutOfMemoryError as error:
        return error


def test_capture(pictures: Path, device: HostDevice) -> None:
    """It takes nothing away."""
    for dataset, workers in ((imagenet(pictures), 2), (Pairs(T), 2), (Pairs(T), 0)):
        options = {"batch_size": 4, "num_workers": workers}
        seed_all(3)
        expected = list(DataLoader(dataset, **options))
        seed_all(3)
        iterator = iter(DataLoader(dataset, device="cuda", **options))
        device.capturing = True
        before = generators()
        with pytest.raises(RuntimeError, match="captured"):
            next(iterator)
        assert same(generators(), before)
        device.capturing = False
        assert same(list(iterator), expected)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (0, TypeError, "device should be a string"),
        ("gpu", ValueError, "device should be 'cuda'"),
        ("meta", ValueError, "device should be a CUDA device or the CPU"),
        ("cuda:2", ValueError, "there are 2 CUDA devices"),
    ],
)
def test_bad_devices(given: Any, error: type[Exception], says: str, backend: HostBackend) -> None:
    with pytest.raises(error, match=says):
        DataLoader(range(4), device=given)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu() -> None:
    with pytest.raises(RuntimeError):
        DataLoader(range(4), device="cuda")


def test_a_device_that_is_gone(pictures: Path, device: HostDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as in a fork: iter() says so, before anything is drawn."""

    def gone(index: int) -> Any:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")

    loader = DataLoader(imagenet(pictures), shuffle=True, num_workers=2, device="cuda")
    monkeypatch.setattr(memory.backend, "open", gone)
    before = generators()
    with pytest.raises(RuntimeError, match="forked subprocess"):
        iter(loader)
    assert same(generators(), before)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("made", ["folder", "items", "processes"])
def test_going_on(made: str, workers: int, pictures: Path, device: HostDevice) -> None:
    """A state has nothing of the device: either kind of loader goes on from that of the other."""
    sets = {"folder": lambda: imagenet(pictures), "items": lambda: Pairs(T), "processes": lambda: Drawing(T)}
    options = {"batch_size": 4, "shuffle": True, "num_workers": workers}
    for first, second in (("cuda", "cuda"), ("cuda", None), (None, "cuda")):
        seed_all(4)
        loader = DataLoader(sets[made](), device=first, **options)
        iterator = iter(loader)
        for _ in range(2):
            next(iterator)
        state = loader.state_dict()
        expected = list(iterator)
        again = DataLoader(sets[made](), device=second, **options)
        again.load_state_dict(state)
        got = list(again)
        assert same(got, expected)
        assert all(device.owns(one) == (second is not None) for one in tensors_of(got))


def test_pickled_and_kept(pictures: Path, device: HostDevice) -> None:
    loader = DataLoader(imagenet(pictures), batch_size=4, num_workers=2, device="cuda")
    list(loader)
    again = pickle.loads(pickle.dumps(loader))
    assert again.device == torch.device("cuda", 0)
    assert same(*(run(DataLoader, one.dataset, device=one.device, num_workers=1) for one in (loader, again)))
    assert DataLoader(range(3), device="cpu").device is None


class Point(NamedTuple):
    at: Any
    name: str


class Boxes:
    """Knows how to go to a device by itself."""

    def __init__(self, where: Any = "here") -> None:
        self.where = where

    def to(self, where: Any) -> Boxes:
        return Boxes(where)


def test_moved(device: HostDevice) -> None:
    """Types stay, strides too, and what there is nothing to move of is the same object."""
    counted = collections.defaultdict(list, one=torch.arange(3))
    data = {
        "point": Point(torch.ones(2, 2).t(), "corner"),
        "pair": (torch.zeros(()), [torch.zeros(0, 3, dtype=torch.bool)]),
        "counted": counted,
        "words": ["one", b"two"],
        "range": range(3),
        "boxes": Boxes(),
        "channels last": torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        "here": device.put(torch.arange(4)),
    }
    result = moved(data, device)
    assert list(result) == list(data)
    assert type(result["point"]) is Point
    assert result["point"].name == "corner"
    assert isinstance(result["pair"], tuple)
    assert result["counted"].default_factory is list
    for name in ("words", "range", "here"):
        assert result[name] is data[name]
    assert result["boxes"].where == torch.device("cuda", 0)
    assert result["channels last"].stride() == data["channels last"].stride()
    assert type(data["counted"]["one"]) is torch.Tensor
    assert not device.owns(data["counted"]["one"])
    assert len(tensors_of(result)) == 6
    assert all(map(device.owns, tensors_of(result)))
    assert same(tensors_of(result), tensors_of(data))


class Grids(Dataset):
    """Samples that a device has already."""

    def __init__(self, device: HostDevice) -> None:
        self.samples = [device.put(torch.full((2, 3), float(k))) for k in range(6)]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.samples[index]


def test_what_is_there_stays_there(device: HostDevice) -> None:
    data = Grids(device)
    given = list(DataLoader(data, batch_size=None, num_workers=1, device="cuda", collate_fn=itself, threads=True))
    assert [one.data_ptr() for one in given] == [one.data_ptr() for one in data.samples]


def itself(sample: Any) -> Any:
    return sample
