"""fastaug.check(): the self-test of a machine finds what differs, and says so."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as V2

import fastaug
import fastaug.pillow
import fastaug.transforms as T
from fastaug import __main__ as command_line
from fastaug._draft import releases
from fastaug._self_test import cases
from fastaug._self_test.run import SelfTest
from fastaug.transforms import v2
from support.processes import python

# Containers, functions of the user's, and what needs arguments of a certain size.
APART = {"Lambda", "LinearTransformation", "Transform", "AutoAugmentPolicy", "InterpolationMode"}


def classes(package: Any) -> set[str]:
    """Those that torchvision has, too."""
    theirs = TV if package is T else V2
    return {name for name in package.__all__ if isinstance(getattr(theirs, name, None), type)} - APART


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[cases.Factory]]:
    """A self-test of three ops of torchvision's, one of Pillow's and no files, to which tests add."""
    ops = {name: cases.BOTH[name] for name in ("CenterCrop", "RandomHorizontalFlip", "hflip")}
    monkeypatch.setattr(cases, "PACKAGES", {"transforms": ops, "transforms.v2": ops})
    monkeypatch.setattr(cases, "PILLOW", [row for row in cases.PILLOW if row[0] == "flip"])
    monkeypatch.setattr(cases, "files", dict)
    return ops


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, int], None]]:
    """Makes a process one with another release of torchvision, as far as rules go."""

    def choose(*release: int) -> None:
        monkeypatch.setattr(releases, "installed", lambda: release)
        releases.rules.cache_clear()

    yield choose
    releases.rules.cache_clear()


def test_all_ops_are_there() -> None:
    assert classes(T) <= cases.BOTH.keys()
    assert classes(v2) <= {"RandomApply", "RandomChoice", "RandomOrder", *cases.BOTH, *cases.V2}
    for package, ops in cases.PACKAGES.items():
        theirs = TV if package == "transforms" else V2
        assert [op for op in ops if not hasattr(theirs, op) and not hasattr(theirs.functional, op)] == []
    assert {name for name, _, _ in cases.PILLOW} == set(fastaug.pillow.__all__)
    assert {"JPEG", "PNG", "WebP"} <= cases.files().keys()


@pytest.mark.main
def test_this_machine() -> None:
    torch.manual_seed(3)
    random.seed(3)
    states = torch.get_rng_state(), random.getstate()
    result = fastaug.check()
    assert result, str(result)
    assert result.torchvision
    assert not result.differing
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert result.seconds > 0
    verdicts = {cell.verdict for cell in result.cells}
    assert verdicts <= {"equal", "raises", "within 1e-5"}
    assert all(cell.calls for cell in result.cells)
    # Each op does something to an image or a sample.
    for package, op in {(cell.package, cell.op) for cell in result.cells}:
        found = [cell for cell in result.cells if (cell.package, cell.op) == (package, op)]
        assert any(cell.raised < cell.calls for cell in found), (package, op)
    assert "blurs: as torch's convolution, which is asked; of its classes of shapes so far none" not in str(result.info)


def test_it_prints_as_a_table(three: dict[str, list[cases.Factory]]) -> None:
    result = fastaug.check()
    printed = str(result)
    assert printed == repr(result)
    assert f"fastaug {fastaug.__version__} ({fastaug.isa()}) against torchvision " in printed
    assert "op                    v1 PIL  v1 uint8  v1 float  v2 PIL  v2 uint8  v2 float  v2 samples\n" in printed
    assert "CenterCrop            equal   equal     equal     equal   equal     equal     equal\n" in printed
    assert "pillow.flip  PIL  equal" in printed
    assert result
    assert f"Equal in all {sum(cell.calls for cell in result.cells):,} calls" in printed
    shown = result._repr_html_()
    assert "<td" in shown
    assert "CenterCrop" in shown


def ours(transforms: Any) -> bool:
    return transforms in (T, v2)


def crop(transforms: Any) -> Any:
    return transforms.CenterCrop(24 if ours(transforms) else 23)


def draw(transforms: Any) -> Any:
    return lambda image: (image, torch.rand(1 + ours(transforms)))[0]


def refuse(transforms: Any) -> Any:
    def call(image: Any) -> Any:
        if ours(transforms):
            raise ValueError("no")
        return image

    return call


def both_refuse(transforms: Any) -> Any:
    def call(image: Any) -> Any:
        raise ValueError("ours" if ours(transforms) else "theirs")

    return call


def add(amount: float) -> cases.Factory:
    def factory(transforms: Any) -> Any:
        def call(image: Any) -> Any:
            floats = isinstance(image, torch.Tensor) and image.is_floating_point()
            return image + amount if floats and ours(transforms) else image

        return call

    return factory


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (crop, "where"),
        (draw, "the random generators are left in another state"),
        (refuse, "ValueError: no, where"),
        (add(2e-5), "100 % of the samples differ"),
    ],
)
def test_differences_are_found(three: dict[str, list[cases.Factory]], factory: cases.Factory, words: str) -> None:
    three["hflip"] = [*three["hflip"], factory]
    result = fastaug.check()
    assert not result
    assert {(cell.op, cell.route) for cell in result.differing} == {("hflip", "import")}
    assert result.unexpected == result.differing
    assert {cell.verdict for cell in result.differing} == {"DIFFERS"}
    assert "NOT EQUAL in " in str(result)
    assert words in str(result)


def test_what_is_no_difference(three: dict[str, list[cases.Factory]]) -> None:
    three["hflip"] = [both_refuse]
    three["CenterCrop"] = [add(5e-6)]
    result = fastaug.check()
    assert result
    cells = [cell for cell in result.cells if (cell.package, cell.container) == ("transforms", "float")]
    found = {cell.op: cell for cell in cells if cell.route == "import"}
    assert (found["hflip"].verdict, found["CenterCrop"].verdict) == ("raises", "within 1e-5")
    assert "Floating-point images are within 1e-05: by up to 5.0e-06 here." in str(result)


def test_differences_of_compiled_objects_are_found(
    three: dict[str, list[cases.Factory]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastaug, "compile", lambda transform: T.CenterCrop(9))
    result = fastaug.check()
    assert {(cell.op, cell.route) for cell in result.differing} >= {("CenterCrop", "compile")}
    assert "transforms.CenterCrop, PIL, compiled: " in str(result)


def test_an_older_torchvision(
    three: dict[str, list[cases.Factory]], installed: Callable[[int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(0, 25)

    def elastic(transforms: Any) -> Any:
        # As if this were 0.25's; what is compiled of it is called.
        return transforms.ElasticTransform(50.0 if ours(transforms) else 40.0)

    three["ElasticTransform"] = [elastic]
    result = fastaug.check()
    assert not result
    assert result.unexpected == []
    assert {(cell.op, cell.route, cell.verdict) for cell in result.differing} == {
        ("ElasticTransform", "import", "as 0.29")
    }
    assert "As torchvision 0.29, and not as " in str(result)
    assert "fastaug.compile gives what " in str(result)


def test_the_command(three: dict[str, list[cases.Factory]], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", "--out", str(tmp_path / "report.txt")]) == 0
    printed = capsys.readouterr().out
    assert "Equal in all " in printed
    assert (tmp_path / "report.txt").read_text() == printed
    assert command_line.main(["check", "--out", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err
    three["hflip"] = [crop]
    assert command_line.main(["check"]) == 1
    assert "NOT EQUAL" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--images", "x"], ["--size", "30"], ["--name", "t"], ["--mode", "fast"]])
def test_options_of_pipelines(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", *option]) == 2
    assert f"{option[0]} is for a pipeline" in capsys.readouterr().err


def test_other_commands_need_a_pipeline() -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["explain"])
    assert ended.value.code == 2


def test_without_torchvision() -> None:
    program = (
        "from support import without_torchvision; import sys; from fastaug import __main__ as m; "
        "sys.exit(m.main(['check']))"
    )
    done = python(["-c", program], lean=True)
    assert done.returncode == 2, done.stderr
    assert "torchvision is not installed: compared with Pillow alone." in done.stdout
    assert "pillow.solarize" in done.stdout
    assert "CenterCrop" not in done.stdout


def test_an_empty_one_is_true() -> None:
    assert SelfTest(fastaug.info())
