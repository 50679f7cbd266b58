"""README.md: short, in order, true of what was measured, and its first lines run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import chart, readme, runs
from support.pages import FENCE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def test_is_short() -> None:
    assert len(TEXT.splitlines()) <= 90
    assert len(TEXT.split()) < 700, "the rest belongs into docs/"


def test_order() -> None:
    parts = ["# fastaug\n", "the same seed", "```python", "chart: begin", "- **Drop-in.**", "\n> **Alpha.**"]
    parts += ["\n## Install", "make demo", "make test", "**P**", "speed: begin", "\n## Where to go"]
    places = [TEXT.index(part) for part in parts]
    assert places == sorted(places)
    start = re.sub(r"<!-- chart: begin -->.*<!-- chart: end -->", "", TEXT[: TEXT.index("**P**")], flags=re.DOTALL)
    assert not re.search(r"\bP\b", start), "P is defined before it is used"


def test_tables_fit_beside_what_people_use() -> None:
    tables = [[line.strip("|\n ").split(" | ") for line in table.splitlines()] for table in TABLE.findall(TEXT)]
    assert len(tables) == 1
    for head, _, *rows in tables:
        assert len(rows) <= 5 and len(head) <= 6
        assert head[1:4] == ["torchvision, ms", "fastaug, ms", "AVX2"]
        for _, theirs, ours, first, *_ in rows:
            # Ratios divide, as far as their three digits go.
            assert abs(float(theirs) / float(ours.strip("*")) / float(first.strip("*x")) - 1) < 0.02


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT) + re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_packages_are_those_of_the_makefile() -> None:
    (made,) = re.findall(r"^SYSTEM_PACKAGES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert f"apt-get install {made}\n" in TEXT


def test_code_runs_as_it_stands(tmp_path: Path) -> None:
    """In an empty folder; and with the import that the first line replaces, for the same tensor."""
    first, example = (code for _, code in FENCE.findall(TEXT))
    ours, before = first.strip().split("  # before: ")
    (made,) = re.findall(r"^transform = .*$", example, re.MULTILINE)
    checked = f"{example}\nimport torch\nfound = []\n"
    for line in (ours, before):
        checked += f"{line}\n{made}\ntorch.manual_seed(5)\nfound.append(transform(image))\n"
    checked += "assert type(transform).__module__[:5] == 'torch'\n"
    checked += "assert found[0].shape == (3, 224, 224) and torch.equal(*found)\n"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{checked}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_figures_are_those_of_the_results() -> None:
    """`python -m bench.readme` would change nothing."""
    for path, text in readme.written().items():
        assert path.read_text() == text, f"{path.name}: run python -m bench.readme"


def test_results_that_are_named_come_first(tmp_path: Path) -> None:
    machine = readme.newest()[readme.SPEED][-1].machine
    named = next(path for path in sorted(readme.RESULTS.glob("amd*.json")) if readme.Results(path).machine == machine)
    kept = runs.stored(named)
    for run in kept:
        run["about"]["cpu"] = "abacus"
    (tmp_path / "abacus.json").write_text(runs.text(kept))
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
