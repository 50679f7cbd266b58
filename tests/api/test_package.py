"""What goes into packages: licences of all that is in them, and the metadata."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import long_description  # noqa: E402

#: What a wheel has of others, and words of their licences.
BUNDLED = {
    "libjpeg-turbo": ("bundled.txt", "Independent JPEG Group"),
    "libdeflate": ("bundled.txt", "Copyright 2016 Eric Biggers"),
    "libwebp": ("bundled.txt", "Copyright (c) 2010, Google Inc. All rights reserved."),
    "Highway": ("highway.txt", "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"),
    "pybind11": ("pybind11.txt", "Copyright (c) 2016 Wenzel Jakob"),
}


def metadata(folder: Path) -> importlib.metadata.PathDistribution:
    """Of the wheel that would be built; nothing is compiled."""
    if importlib.util.find_spec("scikit_build_core") is None:
        pytest.skip("scikit-build-core is not installed")
    code = "import sys; from scikit_build_core import build; print(build.prepare_metadata_for_build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return importlib.metadata.PathDistribution(folder / done.stdout.split()[-1])


@pytest.mark.parametrize("name", BUNDLED)
def test_licence(name: str) -> None:
    file, words = BUNDLED[name]
    text = (ROOT / "licenses" / file).read_text()
    assert name in text and words in text


def test_licences_are_of_what_is_compiled_in() -> None:
    """Whatever CMake looks for, but what the tests need, has a licence here; a library more wants one more."""
    cmake = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake" / "codecs.cmake").read_text()
    wanted = set(re.findall(r'fastaug_missing\("(\S+)', cmake)) | set(re.findall(r"find_package\((\w+)", cmake))
    assert wanted == {"Highway", "libjpeg-turbo", "libdeflate", "libwebp", "JPEG", "pybind11", "doctest"}


def test_metadata(tmp_path: Path) -> None:
    found = metadata(tmp_path)
    licences = {str(file) for file in tmp_path.glob("*.dist-info/licenses/**/*.txt")}
    assert {Path(name).name for name in licences} == {file for file, _ in BUNDLED.values()}
    named = set(found.metadata.get_all("License-File") or [])
    assert named == {"LICENSE", *(f"licenses/{file}" for file, _ in BUNDLED.values())}
    (script,) = found.entry_points
    assert (script.name, script.value, script.group) == ("fastaug", "fastaug.__main__:main", "console_scripts")
    assert callable(script.load())
    assert {"torchvision", "pytorch", "augmentation"} <= set(found.metadata["Keywords"].split(","))
    assert found.metadata["Author"] == "fastaug contributors"


def test_description_needs_nothing_beside_it(tmp_path: Path) -> None:
    """A package index shows it, where there are no files of the checkout."""
    text = metadata(tmp_path).metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# fastaug\n") and "\n## Install\n" in text and "fastaug.sample_file()" in text
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'\b(?:src|srcset|href)="([^"]+)"', text)
    assert [one for one in targets if not one.startswith(("https:", "#"))] == []


def test_description_with_a_repository() -> None:
    text = (ROOT / "README.md").read_text()
    made = long_description.with_addresses(text, "https://host.example/me/fastaug/", "v1.2")
    base = "https://host.example/me/fastaug"
    assert f"]({base}/blob/v1.2/docs/migrating.md)" in made and f"]({base}/raw/v1.2/docs/demo.png)" in made
    assert f'src="{base}/raw/v1.2/docs/speed-light.svg"' in made
    assert f'srcset="{base}/raw/v1.2/docs/speed-dark.svg"' in made
    targets = re.findall(r"\]\(([^)]+)\)", made) + re.findall(r'\b(?:src|srcset)="([^"]+)"', made)
    assert all(one.startswith("https:") for one in targets)
    assert long_description.with_addresses("[a](https://x.example) ![b](c.png)\n\n[d](e.md)", None, "v1") == (
        "[a](https://x.example) d"
    )


def test_addresses_have_one_place(tmp_path: Path) -> None:
    """[project.urls] of pyproject.toml: what repeats one of them repeats it as it is there, or has none either."""
    urls = dict(url.split(", ", 1) for url in metadata(tmp_path).metadata.get_all("Project-URL") or [])
    citation = re.search(r"^repository-code: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert (citation and citation[1].strip('"')) == urls.get("Repository")
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff"):
        text = (ROOT / name).read_text()
        assert not re.search(r"[\w.]+@[\w.]+\.\w+", text), "an address of its own"
        others = [one for one in re.findall(r"https?://[^\s)>\"]+", text) if "contributor-covenant" not in one]
        assert set(others) <= {*urls.values(), "https://citation-file-format.github.io/"}
