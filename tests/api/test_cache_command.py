"""python -m fastaug cache|stats: what they print, what they leave behind, and their exit codes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug.transforms as T
from fastaug import __main__ as command_line
from fastaug._cli import folders
from fastaug._cli.pipelines import CommandError
from fastaug.data import mean_std, sample_seed
from support.images import photo

PIPELINE = """
import fastaug.transforms as T

transform = T.Compose([T.RandomCrop(16), T.RandomHorizontalFlip()])
floats = T.Compose([T.RandomCrop(16), T.ToTensor()])
"""


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src" / "cats").mkdir(parents=True)
    photo("chelsea", 60, 80).save(tmp_path / "src" / "cats" / "1.jpg")
    photo("coffee", 60, 80).save(tmp_path / "src" / "cats" / "2.png")
    (tmp_path / "src" / "notes.txt").write_text("no image")
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    code = command_line.main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def broken() -> None:
    data = Path("src/cats/1.jpg").read_bytes()
    Path("src/cats/0.jpg").write_bytes(data[: len(data) // 2])


def test_cache(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "cache", "src", "dst")
    assert (code, out) == (0, "2 files written, 0 already there\n")
    assert err == "note: skipped 1 file without the suffix of an image\n"
    assert np.array_equal(np.load("dst/cats/2.npy"), np.asarray(Image.open("src/cats/2.png")))
    assert run(capsys, "cache", "src", "dst")[:2] == (0, "0 files written, 2 already there\n")


def test_a_bad_image(capsys: pytest.CaptureFixture[str]) -> None:
    broken()
    code, out, err = run(capsys, "cache", "src", "dst", "--num-threads", 2)
    assert (code, out) == (1, "2 files written, 0 already there\n")
    assert "failed: src/cats/0.jpg: DecodeError: cannot decode src/cats/0.jpg" in err
    assert "Traceback" not in err


def test_size_mode_and_stack(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "cache", "src", "dst", "--size", 24, "--mode", "L", "--stack")[:2] == (
        0,
        "1 file written, 0 already there\n",
    )
    wanted = T.Resize(24)(Image.open("src/cats/2.png").convert("L"))
    stack = np.load("dst/cats.npy")
    assert stack.shape == (2, 24, 32)
    assert np.array_equal(stack[1], np.asarray(wanted))
    photo("coffee", 50, 80).save("src/cats/3.png")
    code, _, err = run(capsys, "cache", "src", "other", "--stack")
    assert code == 1
    assert "src/cats/1.jpg has height 60 and width 80 and src/cats/3.png has height 50 and width 80" in err


def test_the_files_own_mode(capsys: pytest.CaptureFixture[str]) -> None:
    photo("coffee", 50, 40).convert("L").save("src/cats/3.png")
    assert run(capsys, "cache", "src", "dst", "--mode", "own")[0] == 0
    assert np.load("dst/cats/3.npy").shape == (50, 40)


def test_transform(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "cache", "src", "dst", "--transform", "pipeline.py", "--draws", 2, "--seed", 5)
    assert (code, out) == (0, "4 files written, 0 already there\n")
    torch.manual_seed(sample_seed(5, 1, 0))
    crop = T.Compose([T.RandomCrop(16), T.RandomHorizontalFlip()])(Image.open("src/cats/1.jpg"))
    assert np.array_equal(np.load("dst/cats/1.1.npy"), np.asarray(crop))
    code, out, _ = run(
        capsys, "cache", "src", "dst", "--transform", "pipeline.py", "--draws", 2, "--seed", 5, "--verify"
    )
    assert (code, out) == (0, "4 files compared, 0 different, 0 not there\n")
    code, out, _ = run(capsys, "cache", "src", "dst", "--transform", "pipeline.py", "--draws", 2, "--verify")
    assert (code, out) == (1, "4 files compared, 4 different, 0 not there\n")


@pytest.mark.parametrize("stack", [(), ("--stack",)])
def test_verify(capsys: pytest.CaptureFixture[str], stack: tuple[str, ...]) -> None:
    code, out, _ = run(capsys, "cache", "src", "dst", "--verify", *stack)
    assert (code, out) == (0, f"0 files compared, 0 different, {2 - len(stack)} not there\n")
    assert not Path("dst").exists()
    run(capsys, "cache", "src", "dst", *stack)
    assert run(capsys, "cache", "src", "dst", "--verify", *stack)[0] == 0
    path = Path("dst/cats.npy" if stack else "dst/cats/2.npy")
    array = np.load(path, mmap_mode="r+")
    array[..., -1, -1, -1] ^= 1
    array.flush()
    before = path.read_bytes()
    code, out, err = run(capsys, "cache", "src", "dst", "--verify", *stack)
    assert (code, out) == (1, f"{2 - len(stack)} file{'s' * (not stack)} compared, 1 different, 0 not there\n")
    assert f"differs: {path}\n" in err
    assert path.read_bytes() == before
    path.write_bytes(before[:-1])
    assert run(capsys, "cache", "src", "dst", "--verify", *stack)[0] == 1
    broken()
    code, _, err = run(capsys, "cache", "src", "dst", "--verify", *stack)
    assert code == 1


def test_budget(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    need = 2 * (60 * 80 * 3 + 128)
    code, out, err = run(capsys, "cache", "src", "dst", "--budget", need - 1)
    assert (code, out) == (2, "29.1 KB to be written\n")
    assert "29.1 KB would be written, which is more than --budget 29.1 KB" in err
    assert not Path("dst").exists()
    assert run(capsys, "cache", "src", "dst", "--size", 10, "--budget", "1K")[0] == 2
    assert run(capsys, "cache", "src", "dst", "--size", 10, "--budget", "1.1k")[0] == 0
    usage = folders.shutil.disk_usage(".")
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda path: usage._replace(free=100))
    code, _, err = run(capsys, "cache", "src", "dst2/deep", "--budget", "20G")
    assert code == 2
    assert re.search(r"29.1 KB would be written, and .* has 100 B left", err)
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("17", 17), ("500M", 500_000_000), ("20g", 20 * 10**9), ("1.5 k", 1500), ("2TB", 2 * 10**12)],
)
def test_budgets(text: str, count: int) -> None:
    if " " in text:
        with pytest.raises(CommandError, match="--budget should be a number of bytes"):
            folders.bytes_of(text)
    else:
        assert folders.bytes_of(text) == count


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cache", "nowhere", "dst"], "src should be a folder of images, got nowhere"),
        (["cache", "src", "src"], "dst should be another folder than src"),
        (["cache", "src", "dst", "--budget", "many"], "--budget should be a number of bytes, such as 500M or 20G"),
        (["cache", "src", "dst", "--budget", "1G", "--verify"], "--verify writes nothing"),
        (["cache", "src", "dst", "--draws", "2"], "draws are of a transform"),
        (["cache", "src", "dst", "--seed", "-1"], "seed should be at least 0"),
        (["cache", "src", "dst", "--num-threads", "0"], "num_threads should be at least 1"),
        (["cache", "src", "dst", "--size", "0"], "size"),
        (["cache", "src", "dst", "--transform", "none.py"], "there is no file none.py"),
        (["cache", "src", "dst", "--transform", "pipeline.py:none"], "defines no variable 'none'"),
        (["cache", "src", "dst", "--transform", "pipeline.py", "--stack"], "neither size nor stack"),
        (["cache", "src", "dst", "--transform", "pipeline.py:floats"], "transform should give images of uint8"),
        (["stats", "nowhere"], "src should be a folder of images, got nowhere"),
        (["stats", "src", "--num-threads", "0"], "num_threads should be at least 1"),
    ],
)
def test_what_the_user_got_wrong(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert f"fastaug {arguments[0]}: " in err
    assert said in err
    assert not Path("dst").exists()


@pytest.mark.parametrize("size", [None, 24])
def test_stats(capsys: pytest.CaptureFixture[str], size: int | None) -> None:
    photo("ihc", 40, 30).convert("L").save("src/gray.png")
    code, out, _ = run(capsys, "stats", "src", *([] if size is None else ["--size", size]))
    assert code == 0
    paths = ["src/cats/1.jpg", "src/cats/2.png", "src/gray.png"]
    mean, std = mean_std(paths, None if size is None else T.Resize(size))
    normalize = eval(out, {"T": T})  # it is there to be pasted
    assert np.allclose(normalize.mean, mean, atol=1e-6)
    assert np.allclose(normalize.std, std, atol=1e-6)
    assert "3 files" in out


def test_stats_of_a_bad_image(capsys: pytest.CaptureFixture[str]) -> None:
    _, sound, _ = run(capsys, "stats", "src")
    broken()
    code, out, err = run(capsys, "stats", "src")
    assert (code, out) == (1, sound)
    assert "failed: src/cats/0.jpg: DecodeError: cannot decode src/cats/0.jpg" in err
    assert run(capsys, "stats", "src", "--strict")[:2] == (1, "")


@pytest.mark.parametrize("pipeline", ["pipeline.py", "pipeline.py:files"])
def test_other_commands_read_the_files_too(capsys: pytest.CaptureFixture[str], pipeline: str) -> None:
    with open("pipeline.py", "a") as file:
        file.write("files = T.Compose([T.Decode(), T.RandomCrop(16)])\n")
    run(capsys, "cache", "src", "dst")
    np.save("dst/no.npy", np.zeros(3))
    code, out, err = run(capsys, "check", pipeline, "--images", "dst", "--seeds", 3)
    assert code == 1
    assert "2 images, 3 seeds" in out
    assert "dst/no.npy: DecodeError: cannot decode dst/no.npy (NPY): its dtype is not uint8" in err
