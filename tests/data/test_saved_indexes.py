"""Saved indexes: what a folder gets, who uses it, and what becomes of files that are not what they were."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.datasets import ImageFolder

import fastaug.io
import fastaug.transforms as T
from fastaug import _C
from fastaug import __main__ as command_line
from fastaug._image import indexes
from fastaug.data import IndexResult, index
from support.images import photo

pytestmark = pytest.mark.skipif(_C.jpeg_decoder() != "own", reason="JPEGs are decoded by libjpeg here")

NAMES = ("cats/1.jpg", "cats/2.jpg", "cups/1.jpg")
REGION = (250, 300, 40, 50)


@pytest.fixture
def src(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    for number, name in enumerate(NAMES):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        photo(("chelsea", "coffee", "astronaut")[number], 300, 420).save(path, quality=95)
    photo("coffee", 300, 420).save(folder / "cups" / "2.jpg", progressive=True)
    photo("coffee", 30, 20).save(folder / "cups" / "3.jpg")
    photo("coffee", 300, 420).save(folder / "cups" / "4.png")
    return folder


def pixels(path: Path) -> np.ndarray:
    top, left, height, width = REGION
    return np.asarray(Image.open(path).convert("RGB"))[top : top + height, left : left + width]


def saved(path: Path) -> bytes | None:
    indexes.forget()
    found = indexes.saved(str(path))
    return None if found is None else found.save()


def test_each_folder_gets_a_file(src: Path) -> None:
    assert index(src) == IndexResult(3, 0, 3, [])
    for name in NAMES:
        assert saved(src / name) == _C.Encoded((src / name).read_bytes()).scan_index().save()
    for name in ("cups/2.jpg", "cups/3.jpg", "cups/4.png", "cups/none.jpg", "none/1.jpg"):
        assert saved(src / name) is None
    file = src / "cats" / indexes.NAME
    jpegs = sum(path.stat().st_size for path in (src / "cats").glob("*.jpg"))
    assert file.stat().st_size <= jpegs / 100 + 100
    before = file.stat()
    assert index(src, num_threads=2) == IndexResult(0, 3, 3, [])
    assert file.stat() == before


def test_what_opens_a_path_uses_it(src: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index(src)
    used = []
    find = indexes.saved

    def seen(path: str) -> Any:
        found = find(path)
        used.append(found is not None and len(found) > 1)
        return found

    monkeypatch.setattr(indexes, "saved", seen)
    path = src / NAMES[0]
    crop = T.RandomCrop(30)
    transform = T.Compose([T.Decode(), crop])
    with Image.open(path) as opened:
        image = opened.convert("RGB")
    assert np.array_equal(fastaug.io.imread(path, region=REGION), pixels(path))
    lazy = fastaug.io.lazy(path)
    dataset = ImageFolder(str(src), transform=crop, loader=fastaug.io.lazy)
    for make in (
        lambda: transform(str(path)),
        lambda: crop(lazy),
        lambda: dataset[0][0],
        lambda: transform.batch([path])[0],
    ):
        count = len(used)
        torch.manual_seed(1)
        ours = np.asarray(make())
        torch.manual_seed(1)
        assert np.array_equal(ours, np.asarray(crop(image)))
        assert len(used) > count
    assert all(used)


def test_a_file_that_has_changed(src: Path) -> None:
    index(src)
    first, second = (src / name for name in NAMES[:2])
    shutil.copy(second, first)
    assert np.array_equal(fastaug.io.imread(first, region=REGION), pixels(second))
    assert index(src) == IndexResult(1, 2, 3, [])
    assert saved(first) == saved(second)
    first.unlink()
    assert index(src) == IndexResult(0, 2, 3, [])
    assert saved(first) is None


def test_a_folder_without_any(src: Path) -> None:
    index(src)
    for name in NAMES[:2]:
        photo("coffee", 20, 20).save(src / name)
    assert index(src) == IndexResult(0, 1, 5, [])
    assert not (src / "cats" / indexes.NAME).exists()


def test_files_that_are_no_indexes(src: Path) -> None:
    index(src)
    path = src / NAMES[0]
    file = path.parent / indexes.NAME
    whole = file.read_bytes()
    expected = pixels(path)
    random = np.random.default_rng(0)
    cases = [b"", whole[:10], whole[:30], whole[:-50], whole + b"more", whole[:16] + b"\xff" * 8 + whole[24:]]
    cases += [whole[:24] + bytes(len(whole) - 24), whole[:24] + b"\xff" * (len(whole) - 24)]
    for _ in range(300):
        changed = bytearray(whole)
        at = random.integers(*((0, len(whole)) if random.random() < 0.5 else (16, 60)))
        changed[at] ^= 1 << random.integers(8)
        cases.append(bytes(changed))
    for case in cases:
        other = file.with_name("other")
        other.write_bytes(case)
        os.replace(other, file)
        indexes.forget()
        assert np.array_equal(fastaug.io.imread(path, region=REGION), expected)


def test_a_broken_image(src: Path) -> None:
    path = src / NAMES[0]
    path.write_bytes(path.read_bytes()[:9000])
    written, present, without, failed = index(src)
    assert (written, present, without) == (2, 0, 3)
    assert [(name, type(error)) for name, error in failed] == [(str(path), fastaug.DecodeError)]


def test_an_image_that_cannot_be_read(src: Path) -> None:
    (src / "cats" / "0.jpg").symlink_to("nowhere")
    written, _, _, failed = index(src)
    assert written == 3 and [(path, type(error)) for path, error in failed] == [
        (str(src / "cats" / "0.jpg"), FileNotFoundError)
    ]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = command_line.main(["index", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_the_command(src: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, src, "--verify")[:2] == (0, "0 files compared, 0 different, 6 without an index\n")
    assert run(capsys, src)[:2] == (0, "3 files indexed, 0 were already, 3 have no use for it\n")
    assert run(capsys, src) == (0, "0 files indexed, 3 were already, 3 have no use for it\n", "")
    assert run(capsys, src, "--verify", "--num-threads", 2)[:2] == (
        0,
        "3 files compared, 0 different, 3 without an index\n",
    )
    path = src / NAMES[1]
    shutil.copy(src / NAMES[0], path)
    code, out, err = run(capsys, src, "--verify")
    assert (code, out) == (1, "3 files compared, 1 different, 3 without an index\n")
    assert f"differs: {path}" in err
    (src / "cats" / "0.jpg").symlink_to("nowhere")
    code, _, err = run(capsys, src)
    assert code == 1 and "failed: " in err
    for wrong, said in ((("nowhere",), "src should be a folder"), ((src, "--num-threads", 0), "num_threads should be")):
        code, _, err = run(capsys, *wrong)
        assert code == 2 and f"fastaug index: {said}" in err
