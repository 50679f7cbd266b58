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


@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
@pytest.mark.parametrize(
    ("absent", "packages"),
    [
        (["highway", "jpeg", "deflate"], "libhwy-dev libjpeg62-turbo-dev libdeflate-dev"),
        (["deflate"], "libdeflate-dev"),
        (["webp"], "libwebp-dev"),
        (["highway", "pybind11"], "libhwy-dev"),
        (["pybind11"], None),
    ],
)
def test_all_that_is_missing_is_named_at_once(tmp_path: Path, absent: list[str], packages: str | None) -> None:
    hidden = {
        "highway": "-DHWY_INCLUDE_DIR=/nowhere",
        "jpeg": "-DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON",
        "deflate": "-DDEFLATE_INCLUDE_DIR=",
        "webp": "-DWEBP_INCLUDE_DIR=;-DFASTAUG_WEBP=ON",
        "pybind11": "-DCMAKE_DISABLE_FIND_PACKAGE_pybind11=ON",
    }
    said = {
        "highway": "Highway",
        "jpeg": "libjpeg-turbo",
        "deflate": "libdeflate",
        "webp": "libwebp",
        "pybind11": "pybind11",
    }
    options = [option for name in absent for option in hidden[name].split(";")]
    options.append(f"-DFASTAUG_PYTHON={'ON' if 'pybind11' in absent else 'OFF'}")
    done = subprocess.run([str(CMAKE), "-S", ROOT, "-B", tmp_path, *options], capture_output=True, text=True)
    assert done.returncode != 0
    message = done.stderr[done.stderr.index("Not found") :]
    for name, text in said.items():
        assert (f"  {text}" in message) == (name in absent)
    assert ("apt install" in message) == (packages is not None)
    if packages is not None:
        assert f"  apt install {packages}\n" in message
    assert message.count("Not found") == 1 and done.stderr.count("CMake Error") == 1


@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
@pytest.mark.parametrize("option", ["-DWEBP_INCLUDE_DIR=", "-DFASTAUG_WEBP=OFF"])
def test_without_libwebp(tmp_path: Path, option: str) -> None:
    """Pillow decodes WebP files then."""
    command = [
        str(CMAKE),
        "-S",
        ROOT,
        "-B",
        tmp_path,
        "-DFASTAUG_PYTHON=OFF",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        option,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Without libwebp" in done.stdout
    assert "FASTAUG_WEBP" not in (tmp_path / "compile_commands.json").read_text()
