"""What is said of wheels that are not as they should be; and what goes into those that are built."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "wheels"))
import check  # noqa: E402
import sources  # noqa: E402

import build  # noqa: E402

COMPILER = shutil.which("gcc")
MACHINE = platform.machine()
pytestmark = pytest.mark.skipif(
    COMPILER is None or MACHINE not in check.MACHINES, reason="modules of the tests are made by gcc, for Linux"
)


class Made:
    """A sound wheel, of a module that does nothing, and what a test changes of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = "void* PyInit__C(void) { return 0; }\n"
        self.flags = ["-nostdlib", "-s", "-Wl,--no-as-needed", "-lgcc_s"]
        self.tag = f"cp311-cp311-manylinux_2_28_{MACHINE}"
        self.module = f"fastaug/_C.cpython-311-{MACHINE}-linux-gnu.so"
        info = "fastaug-1.0.dist-info"
        self.files = {
            "fastaug.pth": "",
            **{f"fastaug/{name}": "" for name in ("__init__.py", "_C.pyi", "py.typed")},
            f"{info}/METADATA": "Metadata-Version: 2.4\nName: fastaug\nVersion: 1.0\n",
            f"{info}/RECORD": "",
            **{f"{info}/licenses/{name}": "" for name in check.LICENCES},
            f"{info}/sboms/fastaug.cdx.json": bill(),
        }
        self.wheel_tag: str | None = None
        self.info = info

    def problems(self) -> list[str]:
        (self.folder / "module.c").write_text(self.code)
        module = self.folder / "module.so"
        command = [str(COMPILER), "-shared", "-fPIC", "-o", module, "module.c", *self.flags]
        subprocess.run(command, check=True, cwd=self.folder)
        wheel = self.folder / f"fastaug-1.0-{self.tag}.whl"
        with zipfile.ZipFile(wheel, "w") as made:
            for name, text in self.files.items():
                made.writestr(name, text)
            made.writestr(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nTag: {self.wheel_tag or self.tag}\n")
            made.write(module, self.module)
        return check.problems(wheel)


def bill(**changed: str) -> str:
    libraries = [
        {
            "name": source.name,
            "version": changed.get(source.name, source.version),
            "hashes": [{"alg": "SHA-256", "content": source.sha256}],
        }
        for source in sources.SOURCES
    ]
    return json.dumps({"components": [*libraries, {"name": "pybind11"}, {"name": "libc++"}]})


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_a_sound_one(made: Made) -> None:
    assert made.problems() == []


def test_symbols(made: Made) -> None:
    made.code += "int jpeg_std_error;\n"
    (said,) = made.problems()
    assert "shows 2 symbols" in said


def test_stripped(made: Made) -> None:
    made.flags.remove("-s")
    assert "it is not stripped" in made.problems()


def test_libraries_of_the_system(made: Made) -> None:
    made.flags += ["-ldl", "-lstdc++"]
    assert made.problems() == ["it needs ['libstdc++.so.6'] of the system"]


def test_an_unwinder_of_its_own(made: Made) -> None:
    made.flags = ["-nostdlib", "-s"]
    assert made.problems() == ["it brings its own unwinder; expected: that of libgcc_s.so.1"]


def test_version_of_glibc(made: Made) -> None:
    made.code = "#include <string.h>\nvoid* PyInit__C(void* to, void* from, int n) { return memcpy(to, from, n); }\n"
    made.flags.remove("-nostdlib")
    assert made.problems() == []
    made.tag = f"cp311-cp311-manylinux_2_1_{MACHINE}"
    assert any("it asks libc.so.6 for GLIBC_2." in said for said in made.problems())


def test_where_libraries_are_looked_for(made: Made) -> None:
    made.flags += ["-Wl,-rpath,/nowhere"]
    (said,) = made.problems()
    assert said in ("it has DT_RUNPATH", "it has DT_RPATH")


def test_stack(made: Made) -> None:
    made.flags += ["-Wl,-z,execstack"]
    assert made.problems() == ["its stack would be executable"]


def test_paths_of_the_builder(made: Made) -> None:
    made.code += 'const char* const text __attribute__((visibility("hidden"), used)) = "/home/me/fastaug/x.cpp";\n'
    (said,) = made.problems()
    assert "/home/me/fastaug/x.cpp" in said


def test_machine(made: Made) -> None:
    (other,) = set(check.MACHINES) - {MACHINE}
    made.tag, made.module = made.tag.replace(MACHINE, other), made.module.replace(MACHINE, other)
    (said,) = made.problems()
    assert said == f"the module is for {check.MACHINES[MACHINE]}"


def test_interpreter(made: Made) -> None:
    made.module = made.module.replace("311", "312")
    (said,) = made.problems()
    assert "its modules are" in said


@pytest.mark.parametrize(
    "absent", ["fastaug/py.typed", "fastaug/_C.pyi", "licenses/highway.txt", "sboms/fastaug.cdx.json"]
)
def test_what_is_missing(made: Made, absent: str) -> None:
    made.files = {name: text for name, text in made.files.items() if not name.endswith(absent)}
    assert len(made.problems()) == 1


def test_what_should_not_be_there(made: Made) -> None:
    made.files["tests/test_wheels.py"] = ""
    assert made.problems() == ["tests/test_wheels.py should not be in it"]


def test_tags(made: Made) -> None:
    made.wheel_tag = "cp311-cp311-linux_x86_64"
    (said,) = made.problems()
    assert said.startswith("its tags are ['cp311-cp311-linux_x86_64']")
    made.tag = "cp311-cp311-linux_x86_64"
    assert len(made.problems()) == 1


def test_bill_of_materials(made: Made) -> None:
    made.files[f"{made.info}/sboms/fastaug.cdx.json"] = bill(libdeflate="1.0")
    assert made.problems() == ["the bill of materials tells another libdeflate than 1.14"]


def test_size(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MOST", 100)
    (said,) = made.problems()
    assert "more than 100" in said


def test_an_archive_that_is_another_one(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    for source in sources.SOURCES:
        (given / source.archive).write_bytes(b"something else")
    with pytest.raises(sources.NotFoundError, match="has the sha256"):
        sources.unpacked(tmp_path / "here", given)


def test_interpreters(tmp_path: Path) -> None:
    here = build.asked(Path(sys.executable))
    assert here is None or here.tag.startswith(f"cp{sys.version_info[0]}{sys.version_info[1]}-")
    assert build.asked(tmp_path / "python") is None
    assert build.Interpreter(tmp_path, "cp314-cp314t").suffix == "cpython-314t"


def test_a_shim_of_a_version_manager_stands_for_an_interpreter(tmp_path: Path) -> None:
    """One that runs nothing, as pyenv's does for a version that is installed and not chosen."""
    shim = tmp_path / "python3.12"
    shim.write_text('#!/bin/sh\necho "pyenv: python3.12: command not found" >&2\nexit 127\n')
    shim.chmod(0o755)
    others = [build.Interpreter(tmp_path / tag, tag) for tag in ("cp311-cp311", "cp312-cp312")]
    assert build.named(str(shim), others) is others[1]
    with pytest.raises(build.FailedError, match=r"command not found\. Give the path .* found were .*cp311-cp311$"):
        build.named(str(shim), others[:1])
    with pytest.raises(build.FailedError, match=r"No such file or directory\. Give .* found were none$"):
        build.named("python3.99", [])


def test_the_wheels_of_dist() -> None:
    """Those that `make wheel` left, if any."""
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        pytest.skip("no wheel in dist/: `make wheel` makes them")
    assert {wheel.name: check.problems(wheel) for wheel in wheels} == {wheel.name: [] for wheel in wheels}
