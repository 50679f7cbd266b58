"""tools/versions.py, and the page that it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

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


def test_what_a_report_says(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    found = versions.counted(tmp_path / "report.xml")
    assert found["areas"]["v1, images"] == {"equal": 1, "differ": 2, "skipped": 0}
    assert found["areas"]["v2"] == {"equal": 0, "differ": 0, "skipped": 1}
    assert found["differ"] == {"tests/codec/test_orientation.py": 1, "tests/parity/test_pil.py::test_one": 2}


def test_what_fails_anew_is_told_from_what_is_known() -> None:
    run: dict[str, Any] = {"torchvision": "0.17.2", "pillow": "11.3.0", "differ": {"one": 3, "two": 1}}
    assert versions.unknown(run, []) == ["one", "two"]
    assert versions.unknown(run, [{**run, "differ": {"one": 3, "two": 2}}]) == []
    assert versions.unknown(run, [{**run, "differ": {"one": 2, "two": 1}}]) == ["one"]
    assert versions.unknown(run, [{**run, "pillow": "13.0.0"}]) == ["one", "two"]


def test_files_of_areas_are_there() -> None:
    files = [file for area in versions.AREAS.values() for file in area]
    assert len(files) == len(set(files)) and all((ROOT / file).exists() for file in files)


def test_constraints_leave_open_what_is_tried() -> None:
    names = {line.partition("=")[0] for line in versions.pinned()}
    assert {"pytest", "scikit-image"} <= names and not names & set(versions.PACKAGES)


def test_page_has_what_was_found() -> None:
    """`tools/versions.py --page` would change nothing."""
    text = versions.PAGE.read_text()
    assert text.partition(versions.MARKS[0])[2].partition(versions.MARKS[1])[0].strip() == versions.table(FOUND)


def test_oldest_and_newest_were_tried_and_the_newest_is_equal() -> None:
    runs = sorted(FOUND["runs"], key=versions.key)
    assert [run["name"] for run in runs] == list(versions.COMBINATIONS)
    assert runs[-1]["differ"] == {}


@pytest.mark.parametrize("package", ["torch", "torchvision", "pillow"])
def test_oldest_is_what_pyproject_allows(package: str) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    pin = next(one for one in versions.COMBINATIONS["oldest"] if one.startswith(f"{package}=="))
    least = pin.partition("==")[2].rpartition(".")[0]
    assert f'"{package}>={least}"' in text
