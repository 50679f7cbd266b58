"""tools/check_pages.py, which looks at the documentation after it is built."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

TOOL = Path(__file__).parents[2] / "tools" / "check_pages.py"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

pytestmark = pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="there is no Chromium")


def looked(site: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, TOOL, site], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


def page(inside: str) -> str:
    return f'<!doctype html><meta name="viewport" content="width=device-width"><body>{inside}</body>'


def test_what_fits_passes_and_what_sticks_out_is_named(tmp_path: Path) -> None:
    scrolls = '<div style="overflow-x: auto"><div style="width: 3000px">a table</div></div>'
    (tmp_path / "index.html").write_text(page("<p>Some words that wrap where the window ends.</p>" + scrolls))
    code, said = looked(tmp_path)
    assert code == 0 and "1 pages looked at, dark" in said and "1 pages looked at, light" in said
    (tmp_path / "notes.html").write_text(page('<div style="width: 500px">too wide</div>'))
    code, said = looked(tmp_path)
    assert code == 1 and "notes.html" in said and "360" in said and "1400: " not in said and "too wide" in said


def test_a_word_of_a_heading_that_is_broken_in_two_is_named(tmp_path: Path) -> None:
    begin = "<style>h1 { overflow-wrap: anywhere }</style><h1>"
    (tmp_path / "index.html").write_text(page(begin + "Some words that wrap where the window ends, one by one"))
    assert looked(tmp_path)[0] == 0
    (tmp_path / "index.html").write_text(page(begin + "transforms.functional.sanitize_bounding_boxes"))
    code, said = looked(tmp_path)
    assert code == 1 and "window of 360: a word of <h1>" in said and "820: " not in said


def test_a_folder_without_pages_is_an_error(tmp_path: Path) -> None:
    assert looked(tmp_path)[0] == 1


#: A page with a playground of one slider, and what the slider does.
PLAYGROUND = """
<div id="playground"><select><option selected>Resize</option></select><img src="0.png">
<input type="range" min="0" max="1" value="0"></div><div class="playground-code"><pre>Resize(0)</pre></div>
<script>
document.querySelector("input").addEventListener("input", event => {{
  const value = event.target.value;
  {does}
}});
</script>
"""
PICTURE = 'document.querySelector("img").src = value + ".png";'
PROGRAM = 'document.querySelector("pre").textContent = `Resize(${value})`;'


def test_a_playground_is_played(tmp_path: Path) -> None:
    for name in ("0", "1"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    (tmp_path / "index.html").write_text(page(PLAYGROUND.format(does=PICTURE + PROGRAM)))
    code, said = looked(tmp_path)
    assert code == 0 and "1 transforms of the playground tried, dark" in said


def test_a_playground_that_does_not_follow_is_named(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "0.png")
    wrong = {
        PICTURE: "Resize: the slider to 1 leaves the program as it is",
        PROGRAM: "Resize: the slider to 1 leaves the picture as it is",
        PICTURE + PROGRAM: "Resize: there is no picture",
    }
    for number, does in enumerate(wrong):
        (tmp_path / f"{number}.html").write_text(page(PLAYGROUND.format(does=does)))
    (tmp_path / "3.html").write_text(page('<div id="playground"></div>'))
    code, said = looked(tmp_path)
    assert code == 1
    for number, what in enumerate([*wrong.values(), "the playground is empty"]):
        assert any(f"{number}.html" in line and what in line for line in said.splitlines()), what
