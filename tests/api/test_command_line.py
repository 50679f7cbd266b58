"""python -m fastaug, as a user who is new to it would try it: files, folders, broken ones, exit codes."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug import __main__ as command_line
from fastaug._cli import demo
from fastaug._inspect import check, explain, twin
from fastaug._inspect.words import called
from support.images import photo
from support.processes import python

IMAGE = photo("chelsea", 120, 150)
PIPELINE = """
import torch
import fastaug.transforms as T
from fastaug.transforms import v2

def darken(image):
    return image.point(lambda value: value // 2)

class Sometimes:
    def __call__(self, image):
        if torch.rand(()) < 0.5:
            raise KeyError("no luck")
        return image

class Views:
    def __init__(self, transform):
        self.transform = transform

    def __call__(self, image):
        return [self.transform(image)] * 2 if image.width else []

transform = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ToTensor()])
array = T.Compose([T.ToPILImage(), T.Resize(20)])
files = T.Compose([T.Decode(), T.Resize(20)])
named = T.Compose([T.Resize(20), darken, lambda image: image, T.Lambda(darken)])
always = T.Compose([T.RandomCrop(500)])
sometimes = T.Compose([Sometimes(), T.Pad(1)])
views = Views(transform)
fast = T.Compose([T.RandomRotation(20, T.InterpolationMode.BILINEAR), T.Resize(20)], mode="fast")
samples = v2.Compose([v2.RandomResizedCrop(32), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
raising = v2.Compose([v2.RandomCrop(500)])
number = 3
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    (tmp_path / "broken.py").write_text("import fastaug.transforms as T\ntransform = T.Resize(None)\n")
    package = tmp_path / f"package_{abs(hash(tmp_path.name))}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("SIZE = 9\n")
    (package / "data.py").write_text(
        "import fastaug.transforms as T\nfrom .sizes import SIZE\n\n\nclass Train:\n    crop = T.CenterCrop(SIZE)\n"
    )
    (package / "lost.py").write_text("import nowhere_to_be_found\n")
    for name in ("images", "mixed", "empty"):
        (tmp_path / name).mkdir()
    IMAGE.save(tmp_path / "images" / "cat.jpg")
    for name in ("a.jpg", "c.png"):
        IMAGE.save(tmp_path / "mixed" / name)
    data = (tmp_path / "mixed" / "a.jpg").read_bytes()
    (tmp_path / "mixed" / "b.jpg").write_bytes(data[: len(data) // 2])
    (tmp_path / "mixed" / "notes.txt").write_text("no image")
    monkeypatch.chdir(tmp_path)
    return package


@pytest.mark.parametrize(("program", "name"), [("/usr/bin/fastaug", "fastaug"), ("__main__.py", "python -m fastaug")])
def test_without_a_command(
    program: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [program])
    assert command_line.main() == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: {name} ")
    for command in ("demo", "info", "cache", "stats", *command_line.SEEING):
        assert re.search(rf"^ +{command} ", out, re.MULTILINE)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command_line.main(["--version"])
    assert capsys.readouterr().out == f"fastaug {fastaug.__version__}\n"


def test_every_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images = ["--images", "images"]

    def printed(*arguments: str) -> str:
        assert command_line.main([arguments[0], "pipeline.py", *arguments[1:]]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    assert "PIL RGB 512x512 -> tensor float32 3x32x32" in printed("explain")
    assert "PIL RGB 40x50" in printed("explain", "--size", "40x50", "--seed", "1")
    assert "120x150" in printed("explain", *images, "--out", "plan.png")
    assert "array uint8 30x30x3" in printed("explain", "--name", "array", "--size", "30")
    assert "a call" in printed("profile", *images, "--seeds", "1", "--out", "bars.png")
    assert "Equal" in printed("check", *images, "--seeds", "2", "--out", "report.txt")
    assert "Equal" in printed("check", "--size", "50x60", "--name", "array")
    assert "contract of fast mode is kept in all 3 calls" in printed("check", *images, "--seeds", "3", "--name", "fast")
    printed("show", *images, "--seeds", "3", "--out", "sheet.png")
    assert "PIL RGB 120x150 -> Image float32 3x32x32" in printed("explain", "--name", "samples", *images)
    assert "Equal" in printed("check", *images, "--seeds", "2", "--name", "samples")
    assert "Equal" in Path("report.txt").read_text()
    for name in ("plan.png", "bars.png", "sheet.png"):
        with Image.open(name) as drawn:
            assert drawn.width > 300


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("pipeline.py:transform", "tensor float32 3x32x32"),
        ("{package}.data:Train.crop", "PIL RGB 9x9"),
        ("pipeline", "tensor float32 3x32x32"),
        ("{folder}/pipeline.py:files", "PIL RGB 20x20"),
    ],
)
def test_files_and_modules(spec: str, size: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop("pipeline", None)
    spec = spec.format(package=files.name, folder=files.parent)
    assert command_line.main(["explain", spec]) == 0
    assert size in capsys.readouterr().out
    sys.modules.pop("pipeline", None)


def test_check_ends_with_1_where_pixels_differ(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "twin_of", lambda pipeline: twin.Twin(T.ToTensor(), [], "of this test"))
    assert command_line.main(["check", "pipeline.py", "--images", "images"]) == 1
    assert "  images/cat.jpg, seeds 0-9: tensor float32 3x32x32, where" in capsys.readouterr().out


def test_check_ends_with_1_where_the_pipeline_raises(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", "pipeline.py:always", "--images", "images", "--seeds", "3"]) == 1
    out = capsys.readouterr().out
    assert "NOTHING TO COMPARE in all 3 calls" in out and "Equal" not in out
    assert "  images/cat.jpg, seeds 0-2: ValueError: Required crop size" in out
    assert command_line.main(["check", "pipeline.py:sometimes", "--images", "images", "--seeds", "6"]) == 1
    out = capsys.readouterr().out
    assert "KeyError: 'no luck'" in out and "Equal" in out


@pytest.mark.parametrize("name", ["always", "raising"])
@pytest.mark.parametrize("command", ["explain", "profile", "show"])
def test_a_pipeline_that_raises_is_told_in_a_line(
    command: str, name: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main([command, f"pipeline.py:{name}", "--images", "images"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"fastaug {command}: the pipeline raises ValueError: Required crop size (500, 500)")
    assert err.count("\n") == 1
    (files / "raises.py").write_text("import fastaug.transforms as T\ntransform = T.Compose([lambda image: 1 // 0])\n")
    assert command_line.main([command, str(files / "raises.py"), "--images", "images"]) == 1
    assert re.search(r"ZeroDivisionError: .* \(.*raises\.py:2\)$", capsys.readouterr().err, re.MULTILINE)


def test_a_fault_of_the_tools_is_no_error_of_the_pipeline(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(explain, "Explanation", fails)
    with pytest.raises(RuntimeError, match="a fault"):
        command_line.main(["explain", "pipeline.py"])


@pytest.mark.parametrize("name", ["transform", "files"])
def test_files_that_cannot_be_read_are_named(name: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By every command, whether or not the pipeline decodes them itself; the rest goes on."""
    for command in ("check", "show", "profile"):
        given = [command, f"pipeline.py:{name}", "--images", "mixed", "--seeds", "1"]
        assert command_line.main(given) == 1
        out, err = capsys.readouterr()
        assert command != "check" or "2 images, 1 seed" in out
        assert err == f"note: skipped 1 file without the suffix of an image\n{err[err.index('failed: ') :]}"
        assert err.splitlines()[1].startswith("failed: mixed/b.jpg: DecodeError: ") and err.count("\n") == 2
        assert command_line.main([*given, "--strict"]) == 1
        out, err = capsys.readouterr()
        assert out == "" and "failed: mixed/b.jpg: DecodeError: " in err
    for path, said in (("mixed/b.jpg", "DecodeError: "), ("mixed/notes.txt", "UnidentifiedDecodeError: ")):
        assert command_line.main(["check", f"pipeline.py:{name}", "--images", path]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"failed: {path}: {said}")
    for k in range(29):
        (files.parent / "mixed" / f"z{k:02}.jpg").write_text("no image")
    assert command_line.main(["show", "pipeline.py", "--images", "mixed", "--seeds", "2"]) == 1
    err = capsys.readouterr().err
    assert "failed: mixed/z18.jpg: UnidentifiedDecodeError" in err and "z19" not in err and "  and 10 more\n" in err


def test_images_that_are_not_used_are_counted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(4):
        IMAGE.save(files.parent / "images" / f"{k}.png")
    assert command_line.main(["check", "pipeline.py", "--images", "images", "--seeds", "1", "--most", "2"]) == 0
    out, err = capsys.readouterr()
    assert "2 images" in out and err == "note: 2 of 5 files are used; --most N for more\n"


def test_files_are_decoded_from_what_they_are(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["explain", "pipeline.py:files", "--images", "images/cat.jpg"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("mode exact: JPEG RGB 120x150 -> PIL RGB 20x25\n")
    assert "decode  JPEG, all of 120x150" in out and "PNG" not in out
    assert command_line.main(["explain", "pipeline.py:files", "--images", "mixed/c.png"]) == 0
    assert capsys.readouterr().out.startswith("mode exact: PNG RGB 120x150 -> ")
    for arguments in (["profile", "--seeds", "1"], ["check", "--seeds", "1"], ["show", "--seeds", "1"]):
        command, *rest = arguments
        assert command_line.main([command, "pipeline.py:files", "--images", "images", *rest]) == 0


def test_functions_have_names(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["explain", "pipeline.py:named", "--images", "images"]) == 0
    out = capsys.readouterr().out
    line = next(k for k, text in enumerate(PIPELINE.splitlines(), 1) if text.startswith("named ="))
    for name in ("darken", f"lambda at pipeline.py:{line}", "Lambda(darken)"):
        assert f"{name} by Python" in out
        assert re.search(rf"kept apart by\n(.*\n)*  step \d, {re.escape(name)}: a function of yours", out)
    assert "function by" not in out


def test_what_compile_cannot_read_is_a_note(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", "pipeline.py:views", "--images", "images", "--seeds", "1"]) == 0
    out, err = capsys.readouterr()
    assert "Equal: all 6,144 samples of 1 result" in out
    assert re.match(r"note: fastaug\.compile cannot read .*Views: .* inside it instead: its transform\.\n$", err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "missing.py"], "there is no file missing.py"),
        (["explain", "missing/pipeline"], "there is no file missing/pipeline"),
        (["explain", "missing_module:transform"], "there is no file and no module missing_module"),
        (["explain", "{package}.missing"], ".missing"),
        (["explain", "{package}.lost"], "cannot be run: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        (["explain", "broken.py"], "cannot be run: TypeError"),
        (["explain", "pipeline.py", "--name", "other"], "no variable 'other'; it has"),
        (["explain", "pipeline.py:other"], "no variable 'other'; it has"),
        (["explain", "pipeline.py:fast", "--name", "other"], "and --name other another one"),
        (["explain", "pipeline.py", "--name", "number"], "is no transform but int"),
        (["explain", "pipeline.py", "--size", "0x3"], "--size should be HxW"),
        (["explain", "pipeline.py", "--out", "missing/plan.png"], "cannot write"),
        (["explain", "pipeline.py", "--out", "plan.unknown"], "cannot write"),
        (["check", "pipeline.py"], "needs --images"),
        (["check", "pipeline.py", "--images", "missing"], "there is no file or folder missing"),
        (["check", "pipeline.py", "--images", "empty"], "no image that Pillow can read"),
        (["check", "pipeline.py", "--images", "images", "--size", "3"], "--size is for calls without"),
        (["show", "pipeline.py", "--images", "images", "--seeds", "0"], "--seeds should be at least 1"),
        (["show", "pipeline.py", "--images", "images", "--most", "0"], "--most should be at least 1"),
    ],
)
def test_what_the_user_got_wrong(
    arguments: list[str], message: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main([argument.format(package=files.name) for argument in arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith(f"fastaug {arguments[0]}: ")


def test_as_a_process(files: Path) -> None:
    """The exit code arrives, and no progress bar where the output is no terminal."""
    finished = python(["-m", "fastaug", "check", "pipeline.py:always", "--images", "images", "--seeds", "2"])
    assert (finished.returncode, finished.stderr) == (1, "")
    assert "NOTHING TO COMPARE in all 2 calls" in finished.stdout
    with pytest.raises(SystemExit) as ended:
        command_line.main(["profile"])
    assert ended.value.code == 2


def test_no_progress_bars_in_a_log_file(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fastaug.io.imread_batch(["images/cat.jpg"] * 3, progress=True)
    tiles = demo.bag(Path("images"), 2)
    outcome = demo.play(tiles, 32, "nearest", None)
    assert len(outcome.ours) == 2
    assert capfd.readouterr() == ("", "")


# ---- names


class Mine:
    def method(self, image: object) -> object:
        return image


def test_names() -> None:
    line = sys._getframe().f_lineno + 1
    assert called(lambda image: image) == f"lambda at test_command_line.py:{line}"

    def inner(image: object) -> object:
        return image

    for transform, name in (
        (photo, "photo"),
        (inner, "inner"),
        (Mine().method, "Mine.method"),
        (functools.partial(inner, 3), "partial of inner"),
        (functools.lru_cache(inner), "inner"),
        (T.Lambda(inner), "Lambda(inner)"),
        (Mine, "Mine"),
        (Mine(), "Mine"),
        (np.asarray, "asarray"),
        (T.Pad(1), "Pad"),
        (torch.nn.Sequential(), "Sequential"),
    ):
        assert called(transform) == name
