"""tools/versions.py, and the page that it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torchvision
import torchvision.transforms.v2 as theirs

import fastaug
from fastaug._draft import releases
from fastaug._self_test import cases

ROOT = Path(__file__).parents[2]

sys.path.insert(0, str(ROOT / "tools"))
import versions  # noqa: E402

FOUND = json.loads(versions.FOUND.read_text())
REPORT = """<testsuites><testsuite>
<testcase classname="tests.parity.test_pil" name="test_one[a]"/>
<testcase classname="tests.parity.test_pil" name="test_one[b]"><failure message="a level"/></testcase>
<testcase classname="tests.parity.test_pil" name="test_one[c]"><error message="no such name"/></testcase>
<testcase classname="tests.parity.test_v2_misc" name="test_two"><skipped message="no dtype"/></testcase>
<testcase classname="" name="tests.codec.test_orientation"><error message="cannot be collected"/></testcase>
</testsuite></testsuites>"""


RUN: dict[str, Any] = {
    "torchvision": "0.20.1",
    "unexpected": [],
    "tests": {"whole": False, "passed": 3, "failed": 0, "skipped": 0, "failing": {}},
}


def test_what_a_report_says(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    found = versions.counted(tmp_path / "report.xml")
    assert (found["passed"], found["failed"], found["skipped"]) == (1, 3, 1)
    assert found["failing"] == {"tests/codec/test_orientation.py": 1, "tests/parity/test_pil.py::test_one": 2}


def test_what_nobody_knew_of_is_wrong() -> None:
    assert versions.wrong(RUN) == []
    assert versions.wrong({**RUN, "tests": None}) == []
    failing = {**RUN, "unexpected": ["transforms.Pad: a level"], "tests": {**RUN["tests"], "failing": {"one": 2}}}
    assert versions.wrong(failing) == ["torchvision 0.20.1: transforms.Pad: a level", "torchvision 0.20.1: one fails"]


def test_files_are_there() -> None:
    assert len(versions.FILES) == len(set(versions.FILES))
    assert all((ROOT / file).exists() for file in versions.FILES)


def test_the_self_test_says_what_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ops = {"hflip": cases.BOTH["hflip"], "ElasticTransform": [lambda T: lambda image: image if T is theirs else None]}
    monkeypatch.setattr(cases, "PACKAGES", {"transforms.v2": ops})
    monkeypatch.setattr(cases, "PILLOW", [])
    monkeypatch.setattr(cases, "files", dict)
    exec(versions.SELF_TEST, {})
    found = json.loads(capsys.readouterr().out)
    assert found["differ"] == []
    assert {one.partition(",")[0] for one in found["unexpected"]} == {"transforms.v2.ElasticTransform"}
    assert found["calls"] > 10
    assert found["isa"] == fastaug.isa().upper()


def test_constraints_leave_open_what_is_tried() -> None:
    names = {line.partition("=")[0] for line in versions.pinned()}
    assert {"pytest", "scikit-image"} <= names and not names & set(versions.PACKAGES)


def test_page_has_what_was_found() -> None:
    """`tools/versions.py --page` would change nothing."""
    text = versions.PAGE.read_text()
    assert versions.page(text, FOUND) == text


def test_every_release_was_tried_and_only_what_is_known_differs() -> None:
    assert [run["name"] for run in FOUND["runs"]] == list(versions.COMBINATIONS)
    tried = [run for run in FOUND["runs"] if run["name"] not in versions.UNTESTED]
    assert [line for run in tried for line in versions.wrong(run)] == []
    assert FOUND["runs"][-1]["differ"] == []
    assert {run["name"] for run in FOUND["runs"] if run["tests"] and run["tests"]["whole"]} == set(versions.WHOLE)


def test_the_followed_release_is_that_of_the_tests() -> None:
    constraints = (ROOT / "constraints.txt").read_text()
    assert f"torchvision=={releases.spelled(releases.FOLLOWED)}." in constraints
    assert releases.installed() == tuple(map(int, torchvision.__version__.split(".")[:2]))


@pytest.mark.parametrize("package", ["torch", "torchvision", "pillow"])
def test_oldest_is_what_pyproject_allows(package: str) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    pin = next(one for one in versions.COMBINATIONS["0.17"] if one.startswith(f"{package}=="))
    least = pin.partition("==")[2].rpartition(".")[0]
    assert f'"{package}>={least}"' in text
