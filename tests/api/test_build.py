"""What CMake makes of a packager's settings; nothing is compiled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CMAKE = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
@pytest.mark.parametrize(
    ("build_type", "given", "expected"),
    [
        ("Release", None, "-O3 -DNDEBUG"),
        ("Release", "-O1", "-O1"),
        ("RelWithDebInfo", None, "-O3 -g"),
        ("RelWithDebInfo", "-O2 -g1", "-O2 -g1"),
    ],
)
def test_flags_of_a_build_type_are_the_packagers(
    tmp_path: Path, build_type: str, given: str | None, expected: str
) -> None:
    settings = {"CMAKE_BUILD_TYPE": build_type, "FASTAUG_PYTHON": "OFF", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}
    if given is not None:
        settings[f"CMAKE_CXX_FLAGS_{build_type.upper()}"] = given
    defines = [f"-D{name}={value}" for name, value in settings.items()]
    done = subprocess.run([str(CMAKE), "-S", ROOT, "-B", tmp_path, *defines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert commands
    # The flags of the build type stand between what every file gets and the standard.
    for entry in commands:
        flags = entry["command"].split(" -std=")[0].split()
        assert [flag for flag in flags if flag.startswith(("-O", "-g", "-DNDEBUG"))] == expected.split()
