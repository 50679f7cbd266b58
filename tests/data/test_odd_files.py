"""What lies among the images of a folder and is not a file, and indexes that are cut, replaced or not files."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fastaug.io
from fastaug import _C
from fastaug import __main__ as command_line
from fastaug._image import indexes
from fastaug.data import cache, index
from fastaug.data._folder import images_in
from support.images import photo

own = pytest.mark.skipif(_C.jpeg_decoder() != "own", reason="JPEGs are decoded by libjpeg here")

PIPELINE = "import fastaug.transforms as T\ntransform = T.Compose([T.RandomResizedCrop(8), T.ToTensor()])\n"
REGION = (250, 300, 40, 50)


@pytest.fixture
def src(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    (folder / "inner").mkdir(parents=True)
    photo("chelsea", 300, 420).save(folder / "1.jpg", quality=95)
    photo("coffee", 300, 420).save(folder / "inner" / "2.jpg", quality=95)
    photo("coffee", 30, 20).save(folder / "inner" / "3.png")
    return folder


@pytest.fixture
def odd(src: Path) -> Path:
    """Nothing of which can be read: a pipe, links to one, to a device and to nothing, and a broken image."""
    os.mkfifo(src / "a.jpg")
    (src / "inner" / "b.png").symlink_to(src / "a.jpg")
    (src / "c.npy").symlink_to("/dev/zero")
    (src / "d.jpg").write_bytes((src / "1.jpg").read_bytes()[:9000])
    (src / "e.webp").symlink_to("nowhere")
    (src / "folder.jpg").mkdir()
    return src


ODD = ("a.jpg", "inner/b.png", "c.npy", "d.jpg", "e.webp")


def pixels(path: Path) -> np.ndarray:
    top, left, height, width = REGION
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))[top : top + height, left : left + width]


@pytest.mark.parametrize("command", ["stats", "index", "index --verify", "cache", "check", "show", "profile"])
def test_all_commands_name_them_and_go_on(command: str, odd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flow = odd.parent / "flow.py"
    flow.write_text(PIPELINE)
    out = odd.parent / "out"
    given = {
        "cache": ["cache", str(odd), str(out)],
        "show": ["show", str(flow), "--images", str(odd), "--seeds", "1", "--out", f"{out}.png"],
        "check": ["check", str(flow), "--images", str(odd), "--seeds", "1"],
        "profile": ["profile", str(flow), "--images", str(odd), "--seeds", "1"],
    }.get(command, [*command.split(), str(odd)])
    assert command_line.main(given) == 1
    said, err = capsys.readouterr()
    failed = [line for line in err.splitlines() if line.startswith("failed: ")]
    assert sorted(line.split(": ")[1] for line in failed) == sorted(str(odd / name) for name in ODD)
    assert "sources[" not in err and said
    assert "3 files" in said or "3 images" in said or command in ("show", "profile", "index", "index --verify")
    assert command_line.main([*given, "--strict"]) == 1
    assert capsys.readouterr().err.count("failed: ") >= 1


def test_strict_leaves_the_rest_undone(src: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (src / "0.jpg").write_bytes(b"none")
    assert command_line.main(["cache", str(src), str(src.parent / "out"), "--strict", "--num-threads", "1"]) == 1
    assert "0 files written" in capsys.readouterr().out
    assert command_line.main(["index", str(src), "--strict"]) == 1
    assert not (src / indexes.NAME).exists()


def test_a_folder_that_lies_in_itself(src: Path) -> None:
    paths = images_in(src).paths
    (src / "inner" / "loop").symlink_to(src)
    (src / "again").symlink_to(src / "inner")
    (src / "self").symlink_to(src / "self")
    found = images_in(src).paths
    assert [path for path in found if "again" not in path.parts and "loop" not in path.parts] == paths
    assert len(found) == len(paths) + 2


def test_the_same_files_as_ever(src: Path) -> None:
    """Beside the same walk by other means."""
    (src / "notes.txt").write_text("none")
    (src / "NOTES.JPG").write_bytes(b"none")
    (src / "link").symlink_to(src / "inner")
    (src / indexes.NAME).write_bytes(b"none")
    found, others, refused = images_in(src, src / "inner")
    assert (found, others, refused) == ([src / "1.jpg", src / "NOTES.JPG"], 1, [])
    everything = sorted(Path(folder, name) for folder, _, names in os.walk(src, followlinks=True) for name in names)
    expected = [path for path in everything if path.suffix.lower() in (".jpg", ".png")]
    assert images_in(src).paths == expected


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@own
@pytest.mark.parametrize("make", [make_pipe, make_folder, make_device, make_loop])
def test_an_index_that_is_not_a_file(make: Any, src: Path) -> None:
    make(src / indexes.NAME)
    indexes.forget()
    assert np.array_equal(fastaug.io.imread(src / "1.jpg", region=REGION), pixels(src / "1.jpg"))
    written, present, without, failed = index(src)
    assert (written, present, without) == (2, 0, 1)
    assert [path for path, _ in failed] == [str(src / indexes.NAME)]
    assert (src / "inner" / indexes.NAME).is_file()
    assert cache(src, src.parent / "out").written == 3


@own
@pytest.mark.parametrize("size", [0, 10, 24, 100])
def test_an_index_that_is_cut_while_it_is_used(size: int, src: Path) -> None:
    """In a process of its own, which would end with it."""
    index(src)
    code = f"""
        import os, fastaug.io
        from fastaug._image import indexes
        read = lambda: fastaug.io.imread({str(src / "1.jpg")!r}, region={REGION}).tobytes()
        first = read()
        assert len(indexes.saved({str(src / "1.jpg")!r})) > 1
        os.truncate({str(src / indexes.NAME)!r}, {size})
        assert read() == first
        assert indexes.saved({str(src / "1.jpg")!r}) is None
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@own
def test_an_index_that_is_replaced_while_it_is_used(src: Path) -> None:
    index(src)
    before = indexes.saved(str(src / "1.jpg"))
    photo("coffee", 400, 520).save(src / "0.jpg", quality=95)
    subprocess.run([sys.executable, "-m", "fastaug", "index", str(src)], check=True, capture_output=True, timeout=120)
    after = indexes.saved(str(src / "1.jpg"))
    assert before is not None and after is not None and after.save() == before.save()
    assert indexes.saved(str(src / "0.jpg")) is not None
    (src / indexes.NAME).unlink()
    assert indexes.saved(str(src / "1.jpg")) is None


def test_a_name_of_a_pipe(src: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(src / "pipe.jpg")
    (src.parent / "flow.py").write_text(PIPELINE)
    assert command_line.main(["check", str(src.parent / "flow.py"), "--images", str(src / "pipe.jpg")]) == 2
    assert "is not a file or folder" in capsys.readouterr().err
