"""Tar files of WebDataset's layout as a data set, in loaders, and broken ones."""

from __future__ import annotations

import contextlib
import copy
import gc
import gzip
import io
import json
import multiprocessing
import os
import pickle
import tarfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import Subset
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.io
import fastaug.transforms as T
from data.loader_cases import augmentation, drawing_target, run, same, write_folder
from fastaug import _C
from fastaug._batch.batch import Task
from fastaug.data import DataLoader, TarDataset
from support.outcomes import seed_all

Members = Iterable["tuple[str, bytes]"]


def write_tar(path: Path, entries: Members, **options: Any) -> Path:
    with tarfile.open(path, "w", **options) as tar:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def entries_of(folder: ImageFolder) -> list[tuple[str, bytes]]:
    entries = []
    for number, (path, label) in enumerate(folder.samples):
        key, suffix = f"train/{number:04}", Path(path).suffix
        text = json.dumps({"label": label, "name": Path(path).name})
        entries += [(key + suffix, Path(path).read_bytes()), (f"{key}.cls", b"%d\n" % label)]
        entries.append((f"{key}.json", text.encode()))
    return entries


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pictures, and the same in three shards."""
    root = tmp_path_factory.mktemp("tar")
    entries = entries_of(ImageFolder(str(write_folder(root / "pictures"))))
    for number, start in enumerate((0, 24, 30)):
        stop = (24, 30, len(entries))[number]
        write_tar(
            root / f"{number:03}.tar", entries[start:stop], format=(tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)[number % 2]
        )
    return root


def shards_of(files: Path) -> str:
    return str(files / "{000..002}.tar")


def augmented(package: Any) -> Any:
    return package.Compose([package.RandomResizedCrop(24), package.RandomHorizontalFlip(), package.ToTensor()])


def test_samples_are_those_of_a_folder(files: Path) -> None:
    folder, dataset = ImageFolder(str(files / "pictures")), TarDataset(shards_of(files))
    assert len(dataset) == len(folder)
    assert dataset.targets == folder.targets
    assert dataset.keys == [f"train/{number:04}" for number in range(len(folder))]
    for (image, label), (expected, target) in zip(dataset, folder):
        assert type(image) is Image.Image
        assert image.mode == expected.mode
        assert np.array_equal(image, expected)
        assert (type(label), label) == (int, target)
    assert np.array_equal(dataset[-1][0], folder[-1][0])
    with pytest.raises(IndexError):
        dataset[len(folder)]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("__key__", lambda number, label, name: f"train/{number:04}"),
        ("json", lambda number, label, name: {"label": label, "name": name}),
        ("CLS", lambda number, label, name: label),
    ],
)
def test_targets(files: Path, target: str, expected: Callable[[int, int, str], Any]) -> None:
    dataset = TarDataset(shards_of(files), target=target)
    for number, (path, label) in enumerate(ImageFolder(str(files / "pictures")).samples):
        assert dataset[number][1] == expected(number, label, Path(path).name)
    assert (dataset.targets is None) == (target != "CLS")


def test_text_bytes_and_numbers(tmp_path: Path) -> None:
    data = jpeg()
    entries = [("a.jpg", data), ("a.txt", "ä".encode()), ("a.seg.png", b"12"), ("a.seg.id", b" 7 ")]
    shard = write_tar(tmp_path / "0.tar", entries)
    found = [TarDataset(shard, target=target)[0][1] for target in ("txt", "seg.png", "seg.id")]
    assert found == ["ä", b"12", 7]


def jpeg(side: int = 40) -> bytes:
    stream = io.BytesIO()
    Image.effect_noise((side, side), 90).convert("RGB").save(stream, "JPEG")
    return stream.getvalue()


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("make", [augmented, augmentation])
def test_batches_are_torchs(files: Path, make: Callable[[Any], Any], workers: int) -> None:
    options: dict[str, Any] = {"batch_size": 4, "shuffle": True, "num_workers": workers}
    theirs = run(TorchLoader, ImageFolder(str(files / "pictures"), make(TV)), **options)
    for cls in (DataLoader, TorchLoader):
        assert same(run(cls, TarDataset(shards_of(files), make(T)), **options), theirs)


def test_torchvisions_transforms(files: Path) -> None:
    options: dict[str, Any] = {"batch_size": 4, "num_workers": 1}
    theirs = run(TorchLoader, ImageFolder(str(files / "pictures"), augmented(TV)), **options)
    loader = partial(DataLoader, TarDataset(shards_of(files), augmented(TV)), **options)
    assert not loader().explain().threads
    assert same(run(lambda _, **rest: loader(), None), theirs)


def test_the_core_reads_and_draws(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise AssertionError("Python reads or draws")

    dataset = TarDataset(shards_of(files), augmented(T))
    images = [number for number, name in enumerate(dataset._names) if name.endswith("jpg")]
    loader = DataLoader(Subset(dataset, images[:8]), batch_size=4, num_workers=2)
    choice = loader.explain()
    assert choice.threads
    next(iter(loader))
    monkeypatch.setattr(Task, "draw", fails)
    monkeypatch.setattr("fastaug._image.members.read", fails)
    assert len(list(loader)) == 2
    assert dataset[images[0]][0].shape == (3, 24, 24)


def test_a_target_transform(files: Path) -> None:
    for change in (float, drawing_target):
        options: dict[str, Any] = {"batch_size": 4, "num_workers": 1}
        folder = ImageFolder(str(files / "pictures"), augmented(TV), change)
        dataset = TarDataset(shards_of(files), augmented(T), change)
        assert same(run(DataLoader, dataset, threads=True, **options), run(TorchLoader, folder, **options))
        assert DataLoader(dataset, **options).explain().threads == (change is float)


def test_with_seeds(files: Path) -> None:
    dataset = TarDataset(shards_of(files), augmented(T))
    loader = DataLoader(dataset, batch_size=4, num_workers=2, rng="sample", seed=3)
    images, _ = next(iter(loader))
    torch.manual_seed(fastaug.data.sample_seed(3, 0, 2))
    assert torch.equal(images[2], dataset[2][0])


class Named(TarDataset):
    """Has nothing of its own."""


class Counting(TarDataset):
    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index)


def test_subclasses(files: Path) -> None:
    assert DataLoader(Named(shards_of(files), augmented(T)), num_workers=1).explain().threads
    assert not DataLoader(Counting(shards_of(files), augmented(T)), num_workers=1).explain().threads


def test_pickles(files: Path) -> None:
    dataset = TarDataset(shards_of(files), augmented(T), target="json")
    for other in (pickle.loads(pickle.dumps(dataset)), copy.deepcopy(dataset)):
        assert len(other) == len(dataset)
        for number in (0, 9, 20):
            seed_all(number)
            image, target = dataset[number]
            seed_all(number)
            again, same_target = other[number]
            assert torch.equal(image, again)
            assert target == same_target
    member = dataset._entry(3)[0]
    handle = pickle.loads(pickle.dumps(fastaug.io.LazyImage(member)))
    assert handle.filename == f"{files / '000.tar'}/{member.name}"
    assert np.array_equal(handle, TarDataset(shards_of(files))[3][0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(files: Path, method: str) -> None:
    dataset = TarDataset(shards_of(files), T.Compose([T.CenterCrop(20), T.ToTensor()]))
    expected = [image for image, _ in dataset]
    context = multiprocessing.get_context(method)
    loader = TorchLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=context)
    assert all(torch.equal(image, one) for (image, _), one in zip(loader, expected))


def open_files(folder: Path) -> int:
    """The number of files in a folder that this process has open."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself is closed by now
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return sum(link.startswith(str(folder)) for link in links)


def test_more_shards_than_stay_open(tmp_path: Path) -> None:
    data = jpeg(16)
    paths = [write_tar(tmp_path / f"{k:03}.tar", [("a.jpg", data), ("a.cls", b"%d" % k)]) for k in range(300)]
    dataset = TarDataset(paths, T.Compose([T.ToTensor()]))
    for _ in range(2):
        labels = torch.cat([labels for _, labels in DataLoader(dataset, batch_size=50, num_workers=2)])
        assert labels.tolist() == list(range(300))
    if os.path.isdir("/proc/self/fd"):
        assert 0 < open_files(tmp_path) <= 256
        del dataset
        # A thread may still be about to give up the last image that it read, and a cycle may hold another one.
        end = time.monotonic() + 10
        while open_files(tmp_path) > 0 and time.monotonic() < end:
            gc.collect()
            time.sleep(0.01)
        assert open_files(tmp_path) == 0


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("{08..11}.tar", ["08.tar", "09.tar", "10.tar", "11.tar"]),
        ("{a,b}{0..1}.tar", ["a0.tar", "a1.tar", "b0.tar", "b1.tar"]),
        ("{a}.tar", ["{a}.tar"]),
    ],
)
def test_braces(tmp_path: Path, given: str, names: list[str]) -> None:
    for number, name in enumerate(names):
        write_tar(tmp_path / name, [("a.jpg", jpeg()), ("a.cls", b"%d" % number)])
    for shards in (str(tmp_path / given), [tmp_path / name for name in names]):
        dataset = TarDataset(shards)
        assert dataset.shards == [str(tmp_path / name) for name in names]
        assert dataset.targets == list(range(len(names)))


def test_what_is_no_member(tmp_path: Path) -> None:
    shard = tmp_path / "0.tar"
    with tarfile.open(shard, "w") as tar:
        folder = tarfile.TarInfo("b.jpg")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, data in (("__meta.json__", b"{}"), ("README", b"text"), ("b/x.JPG", jpeg()), ("b/x.cls", b"1")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("b/x.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    dataset = TarDataset(shard, image="png;jpg")
    assert (dataset.keys, dataset.targets) == (["b/x"], [1])


def test_odd_names(tmp_path: Path) -> None:
    names = ["ä" * 120, "x" * 300, os.fsdecode(b"\xff\xfe")]
    entries = [(f"{name}.{part}", data) for name in names for part, data in (("jpg", jpeg()), ("cls", b"2"))]
    for number, form in enumerate((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)):
        shard = write_tar(tmp_path / f"ü{number}.tar", entries, format=form)
        dataset = TarDataset(shard, augmented(T))
        assert dataset.keys == names
        assert len(list(DataLoader(dataset, num_workers=1))) == 3


SOUND = [("a.jpg", jpeg()), ("a.cls", b"1"), ("b.jpg", jpeg(90)), ("b.cls", b"2")]


def sound() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in SOUND:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def places() -> dict[str, int]:
    with tarfile.open(fileobj=io.BytesIO(sound())) as tar:
        return {info.name: info.offset for info in tar}


def with_size(data: bytes, name: str, size: bytes) -> bytes:
    """Change the size in a header, and its sum."""
    start = places()[name]
    header = bytearray(data[start : start + 512])
    header[124:136] = size.ljust(12, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return data[:start] + bytes(header) + data[start + 512 :]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: b"", "at its beginning: empty file"),
        (lambda data: data[:100], "at its beginning"),
        (lambda data: b"\x89PNG" + data[4:], "at its beginning"),
        (gzip.compress, "is compressed"),
        (lambda data: data[: places()["b.jpg"] + 700], "cut short.*'b.jpg'"),
        (lambda data: data[: places()["b.jpg"] + 100], "cut short, after member 'a.cls'"),
        (lambda data: data[: places()["b.jpg"]], "cut short, after member 'a.cls'"),
        (lambda data: data[: places()["b.cls"] + 512], "cut short: 1 bytes of member 'b.cls'"),
        (lambda data: data[: places()["b.jpg"]] + b"x" * 9999, "after member 'a.cls': there is no header at byte"),
        (lambda data: with_size(data, "b.jpg", b"77777777777"), "cut short.*'b.jpg'"),
        (lambda data: with_size(data, "b.jpg", b"\xff" * 12), "b.jpg|a.cls"),
        (lambda data: with_size(data, "b.jpg", b"\x80" + b"\x7f" * 11), "'b.jpg'|a.cls"),
        (lambda data: with_size(data, "b.jpg", b"zz"), "after member 'a.cls'"),
    ],
)
def test_broken_shards(tmp_path: Path, change: Callable[[bytes], bytes], words: str) -> None:
    shard = tmp_path / "broken.tar"
    shard.write_bytes(change(sound()))
    with pytest.raises(tarfile.ReadError, match=words) as caught:
        TarDataset(shard)
    assert str(shard) in str(caught.value)


def test_cut_anywhere(tmp_path: Path) -> None:
    data, shard = sound(), tmp_path / "cut.tar"
    end = places()["b.cls"] + 2 * 512
    for length in (*range(0, end, 97), end, end + 511):
        shard.write_bytes(data[:length])
        with pytest.raises(tarfile.ReadError, match=r"cut\.tar"):
            TarDataset(shard)
    shard.write_bytes(data[: end + 512])
    assert TarDataset(shard).targets == [1, 2]


def test_changed_anywhere(tmp_path: Path) -> None:
    data, shard = sound(), tmp_path / "changed.tar"
    rng = np.random.default_rng(0)
    starts = list(places().values())
    messages = []
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            changed[starts[rng.integers(len(starts))] + rng.integers(512)] = rng.integers(256)
        shard.write_bytes(changed)
        try:
            dataset = TarDataset(shard, T.Compose([T.Resize(8), T.ToTensor()]))
            for index in range(len(dataset)):
                dataset[index]
        except (tarfile.ReadError, ValueError, OSError) as error:
            messages.append(str(error))
    assert all("changed.tar" in message for message in messages)
    assert messages


def test_a_sparse_member(tmp_path: Path) -> None:
    shard = tmp_path / "sparse.tar"
    with tarfile.open(shard, "w") as tar:
        info = tarfile.TarInfo("a.jpg")
        info.size, info.type = 512, tarfile.GNUTYPE_SPARSE
        tar.addfile(info, io.BytesIO(bytes(512)))
    with pytest.raises(tarfile.ReadError, match=r"sparse\.tar: member 'a\.jpg' is sparse"):
        TarDataset(shard)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([], "have none"),
        ([("a.jpg", b""), ("a.jpg", b"")], "'a' of .* has jpg twice"),
        ([("a.jpg", b""), ("b.cls", b"1")], "'a' of .* should have cls, it has jpg"),
        ([("a.cls", b"1")], "should have jpg;jpeg;png;webp"),
        ([("a.jpg", b""), ("a.cls", b"one")], r"member 'a\.cls' should be an integer, got b'one'"),
        ([("a.jpg", b""), ("a.cls", b"1" * 9999)], r"member 'a\.cls' should be an integer"),
    ],
)
def test_other_samples(tmp_path: Path, entries: Members, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TarDataset(write_tar(tmp_path / "0.tar", entries))


def test_broken_members(tmp_path: Path) -> None:
    entries = [("a.jpg", jpeg()), ("a.json", b"{}"), ("b.jpg", b"no image"), ("b.json", b"{}")]
    entries += [("c.jpg", b""), ("c.json", b"{"), ("d.jpg", jpeg()), ("d.json", b"[" * 99999)]
    shard = write_tar(tmp_path / "0.tar", entries)
    dataset = TarDataset(shard, T.Compose([T.ToTensor()]), target="json")
    loader = iter(DataLoader(dataset, batch_size=2, num_workers=1, collate_fn=list))
    for one in (partial(dataset.__getitem__, 1), partial(next, loader)):
        with pytest.raises(fastaug.io.DecodeError, match=r"0\.tar/b\.jpg") as caught:
            one()
    assert caught.value.path == f"{shard}/b.jpg"  # type: ignore[attr-defined]
    for index in (2, 3):
        with pytest.raises(ValueError, match=rf"0\.tar/{'abcd'[index]}\.json"):
            dataset[index]
    with pytest.raises(ValueError, match=r"0\.tar/c\.json"):
        next(loader)


@pytest.mark.parametrize(
    "change", [os.remove, lambda path: os.truncate(path, 700), lambda path: os.utime(path, (1, 1))]
)
def test_a_shard_that_changes(tmp_path: Path, change: Callable[[Path], None]) -> None:
    shard = write_tar(tmp_path / "0.tar", SOUND)
    dataset = TarDataset(shard, T.Compose([T.ToTensor()]))
    change(shard)
    loader = iter(DataLoader(dataset, batch_size=1, num_workers=1))
    for one in (partial(dataset.__getitem__, 0), partial(next, loader)):
        with pytest.raises((tarfile.ReadError, FileNotFoundError), match=r"0\.tar"):
            one()


def test_a_shard_that_is_cut_while_it_is_open(tmp_path: Path) -> None:
    shard = write_tar(tmp_path / "0.tar", SOUND)
    dataset = TarDataset(shard, T.Compose([T.ToTensor()]))
    dataset[0]
    os.truncate(shard, places()["b.jpg"] + 600)
    with pytest.raises(tarfile.ReadError, match=r"0\.tar/b\.jpg: the archive has changed"):
        dataset[1]


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        TarDataset([])
    with pytest.raises(FileNotFoundError):
        TarDataset(tmp_path / "none.tar")
    with pytest.raises(IsADirectoryError):
        TarDataset(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.tar")
        with pytest.raises(OSError, match="not a regular file"):
            TarDataset(tmp_path / "pipe.tar")


def test_members_of_the_core(tmp_path: Path) -> None:
    """Anything may be asked of an archive."""
    shard = write_tar(tmp_path / "0.tar", SOUND)
    size, written = shard.stat().st_size, shard.stat().st_mtime_ns
    for path, offset, count in ((str(shard), size - 3, 9), (str(shard), 1 << 62, 1 << 62), (str(tmp_path), 0, 9)):
        handle = fastaug.io.LazyImage(_C.Member(_C.Archive(path, size, written), "a", offset, count))
        with pytest.raises((OSError, tarfile.ReadError)):
            T.ToTensor()(handle)
    with pytest.raises(ValueError, match="null"):
        _C.Archive("a\0b", 1, 1)
