"""Type checkers know what comes out of what goes in: those of users, at their strictest, on a script of theirs.

Lines of the script that have to be refused say so in a comment; a comment that nothing is wrong with is an error, too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastaug
import fastaug.transforms as T
from fastaug.transforms import v2
from support.images import photo

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("typed_script.py")


def checked(command: list[str], **variables: str) -> None:
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.main
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy() -> None:
    options = ["--strict", "--follow-imports=silent", "--cache-dir=.mypy_cache/script", "--config-file="]
    checked([sys.executable, "-m", "mypy", *options, str(SCRIPT)], MYPYPATH=str(ROOT))


@pytest.mark.main
def test_pyright(tmp_path: Path) -> None:
    """basedpyright is pyright with all that it needs in its wheel; "strict" is pyright's."""
    pyright = shutil.which("basedpyright", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if pyright is None:
        pytest.skip("basedpyright is not installed")
    settings = {
        "include": [str(SCRIPT)],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    checked([pyright, "--project", str(tmp_path), "--pythonpath", sys.executable])


def test_public_names_are_all_that_is_listed() -> None:
    assert dir(fastaug) == sorted(fastaug.__all__)
    assert all(getattr(fastaug, name) is not None for name in dir(fastaug))
    assert not [name for name in dir(fastaug) if name.startswith("_") and name != "__version__"]


@pytest.mark.parametrize("module", [T, v2])
def test_transforms_without_brackets(module: object) -> None:
    compose = module.Compose  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"Compose takes its transforms in one list: Compose\(\[a, b\]\).*got ToTensor"):
        compose(T.Resize(20), T.ToTensor())
    assert compose([T.Resize(20)], "fast").mode == "fast"


def test_an_image_and_its_target() -> None:
    image = photo("coffee", 30, 40)
    transform = T.Compose([T.Resize(20)])
    for pipeline in (transform, fastaug.compile(transform)):
        with pytest.raises(TypeError, match=r"takes one image, and was called with 2 arguments.*transforms\.v2"):
            pipeline(image, 3)  # type: ignore[arg-type]
    assert v2.Compose([v2.Resize(20)])(image, 3)[1] == 3
