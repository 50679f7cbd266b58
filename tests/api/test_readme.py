"""README.md: short, in order, true of what was measured, and its first lines run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import chart, readme
from support.pages import FENCE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def test_is_short() -> None:
    assert len(TEXT.split()) < 700, "the rest belongs into docs/"


def test_order() -> None:
    parts = ["# fastaug\n", "precompiled", "\nAlpha", "```python", "\n**P** ", "chart: begin", "\n## Install"]
    parts += ["make demo", "make test", "speed: begin", "\n## Where to go"]
    places = [TEXT.index(part) for part in parts]
    assert places == sorted(places)
    assert not re.search(r"\bP\b", TEXT[: TEXT.index("**P**")]), "P is defined before it is used"


def test_tables_fit_beside_what_people_use() -> None:
    tables = [[line.strip("|\n ").split(" | ") for line in table.splitlines()] for table in TABLE.findall(TEXT)]
    assert len(tables) == 2
    for head, _, *rows in tables:
        assert len(rows) <= 5 and len(head) <= 6
        assert head[1:3] == ["torchvision", "fastaug"]


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT) + re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_packages_are_those_of_the_makefile() -> None:
    (made,) = re.findall(r"^SYSTEM_PACKAGES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert f"apt-get install {made}\n" in TEXT


def test_first_lines_run_as_they_stand(tmp_path: Path) -> None:
    """In an empty folder, and with the import that they replace for the same tensor."""
    code = FENCE.findall(TEXT)[0][1]
    lines = [line for line in code.splitlines() if line]
    assert len(lines) == 2
    first, second = lines
    ours, before = first.split("  # before: ")
    checked = f"{ours}\nimport torch\n_ = torch.manual_seed(5)\n{second}\nours = tensor\n"
    checked += f"{before}\n_ = torch.manual_seed(5)\n{second}\nassert type(T.Resize(2)).__module__[:5] == 'torch'\n"
    checked += "assert tensor.shape == (3, 224, 224) and torch.equal(ours, tensor)\n"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{checked}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_figures_are_those_of_the_results() -> None:
    """`python -m bench.readme` would change nothing."""
    for path, text in readme.written([]).items():
        assert path.read_text() == text, f"{path.name}: run python -m bench.readme"


def test_results_that_are_named_come_first(tmp_path: Path) -> None:
    stem = readme.newest([])[readme.SPEED][-1]
    named = next(path for path in readme.RESULTS.glob("*.json") if readme.Results(path).about == stem.about)
    changed = json.loads(named.read_text())
    changed["about"]["cpu"] = "abacus"
    (tmp_path / "abacus.json").write_text(json.dumps(changed))
    texts = readme.written([tmp_path / "abacus.json"])
    for name in ("README.md", "benchmarks.md", "speed-light.svg", "speed-dark.svg"):
        (text,) = (text for path, text in texts.items() if path.name == name)
        assert "abacus" in text


@pytest.mark.parametrize("theme", chart.THEMES)
def test_chart(theme: str) -> None:
    """Bars are as long as their figures say, end within the picture, and every text does."""
    bars = [chart.Bar("one", 2.0, "2 ms to 1 ms", 0), chart.Bar("<two>", 8.0, "8 ms to 1 ms", 1)]
    root = ElementTree.fromstring(chart.drawn(bars, ["here", "there"], chart.THEMES[theme]))
    name = "{http://www.w3.org/2000/svg}"
    _, first, second = root.iter(f"{name}rect")
    assert float(second.attrib["width"]) == 4 * float(first.attrib["width"])
    texts = {text.text: text.attrib for text in root.iter(f"{name}text")}
    assert {"one", "<two> (1)", "2.0x", "8.0x", "here", "(1) there"} <= texts.keys()
    assert all(float(one["y"]) < float(root.attrib["height"]) for one in texts.values())
    assert float(texts["8.0x"]["x"]) + 50 < chart.WIDTH
    line = root.find(f"{name}path")
    assert line is not None
    times_one = float(line.attrib["d"][1:].split()[0]) - float(first.attrib["x"])
    assert abs(times_one - float(first.attrib["width"]) / 2) < 0.2
