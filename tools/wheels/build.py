"""Builds an sdist and the wheels in dist/: one for each interpreter and each kind of machine, on any of them.

    python tools/wheels/build.py [--target x86_64] [--sources DIR] [PYTHON ...]

Each PYTHON is an interpreter of this machine whose version gets wheels; without any, those that are found. zig compiles
for manylinux_2_28, from sources whose digests stand in sources.py; libraries are linked in. `--check-only macos-arm64`
compiles for a system that has no wheels yet, as far as that goes, and makes nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bill import bill_of_materials
from check import problems
from compiler import TARGETS, Target, toolchain, unwinder
from sources import NotFoundError, unpacked

ROOT = Path(__file__).resolve().parents[2]
#: What wheels are made for: `tag of Python and ABI: name of its interpreter`.
VERSIONS = {
    "cp310-cp310": "python3.10",
    "cp311-cp311": "python3.11",
    "cp312-cp312": "python3.12",
    "cp313-cp313": "python3.13",
    "cp314-cp314": "python3.14",
    "cp314-cp314t": "python3.14t",
}
BUILD_TOOLS = ("scikit-build-core", "pybind11", "wheel")


@dataclass(frozen=True)
class Interpreter:
    path: Path
    tag: str

    @property
    def suffix(self) -> str:
        """Of its extension modules, but for the machine."""
        return "cpython-" + self.tag.partition("-cp")[2]


def asked(path: Path) -> Interpreter | None:
    """The interpreter at the path, where there is a CPython that wheels are made for."""
    code = (
        "import sys, sysconfig; t = 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''; v = '%d%d' %"
        " sys.version_info[:2]; print(sys.implementation.name, f'cp{v}-cp{v}{t}')"
    )
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True)
    except OSError:
        return None
    name, _, tag = done.stdout.strip().partition(" ")
    return Interpreter(path, tag) if name == "cpython" and tag in VERSIONS else None


def found() -> Iterator[Interpreter]:
    """The first of each version: of pyenv, of GitHub's runners, of /opt/python, or on PATH."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    runner = Path(os.environ.get("RUNNER_TOOL_CACHE", "/opt/hostedtoolcache")) / "Python"
    for tag, name in VERSIONS.items():
        version = name.removeprefix("python").rstrip("t")
        places = [*sorted(pyenv.glob(f"{version}.*/bin/python")), *sorted(runner.glob(f"{version}.*/*/bin/python"))]
        places.append(Path(f"/opt/python/{tag}/bin/python"))
        on_path = shutil.which(name)
        for path in [*places, *([Path(on_path)] if on_path else [])]:
            if (interpreter := asked(path)) is not None and interpreter.tag == tag:
                yield interpreter
                break


def named(word: str, others: Sequence[Interpreter]) -> Interpreter:
    """Return the interpreter of a name or path. A version manager's shim that runs nothing stands for one of `others`.

    Raises:
        FailedError: there is none; with what it printed, and with what to give instead.
    """
    path = Path(shutil.which(word) or word)
    interpreter = asked(path)
    if interpreter is None:
        tags = [tag for tag, name in VERSIONS.items() if name == Path(word).name]
        interpreter = next((other for other in others if other.tag in tags), None)
    if interpreter is None:
        try:
            done = subprocess.run([path, "--version"], capture_output=True, text=True)
            said = (done.stderr or done.stdout).strip().partition("\n")[0]
        except OSError as error:
            said = str(error.strerror)
        there = ", ".join(str(other.path) for other in others) or "none"
        raise FailedError(
            f"{word} is not a CPython of {', '.join(VERSIONS)}: {said or 'it prints no version'}. Give the path of an "
            f"interpreter; found were {there}"
        )
    return interpreter


class FailedError(RuntimeError):
    """A command that failed; what it printed stands in its log."""


@dataclass
class Workshop:
    """Where things are built, and kept: the second time little is compiled."""

    folder: Path
    sources: Mapping[str, Path]

    def run(self, log: str, command: Sequence[object]) -> None:
        file = self.folder / f"{log}.log"
        with file.open("a") as output:
            done = subprocess.run(
                [str(word) for word in command],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if done.returncode:
            raise FailedError(
                f"{command[0]} failed; the end of {file}:\n" + "\n".join(file.read_text().splitlines()[-40:])
            )

    def toolchain(self, target: Target) -> Path:
        """CMake's toolchain file, which libraries() writes."""
        return self.folder / target.name / "toolchain" / "toolchain.cmake"

    def libraries(self, target: Target) -> Path:
        """The static libraries of the target and their headers, compiled once."""
        room = self.folder / target.name
        file = toolchain(target, self.toolchain(target).parent)
        prefix = room / "prefix"
        if (prefix / "complete").exists():
            return prefix
        print(f"{target.name}: libjpeg-turbo, libdeflate, libwebp", flush=True)
        for part in ("include", "lib"):
            (prefix / part).mkdir(parents=True, exist_ok=True)
        jpeg = self.sources["libjpeg-turbo"]
        options = {
            "CMAKE_TOOLCHAIN_FILE": file,
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
            "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
            "ENABLE_SHARED": "OFF",
            # Nothing is installed there; libjpeg-turbo's own default for Windows is no path here.
            "CMAKE_INSTALL_PREFIX": prefix,
            "WITH_TURBOJPEG": "OFF",
            # Without its SIMD a missing assembler would go unnoticed.
            "REQUIRE_SIMD": "ON",
        }
        log = f"{target.name}-libraries"
        build = room / "libjpeg-turbo"
        self.run(log, ["cmake", "-G", "Ninja", "-S", jpeg, "-B", build, *defines(options)])
        self.run(log, ["cmake", "--build", build, "--target", "jpeg-static"])
        deflate = room / "libdeflate"
        shutil.copytree(self.sources["libdeflate"], deflate, dirs_exist_ok=True)
        programs = [f"CC={file.parent / 'cc'}", f"AR={file.parent / 'ar'}", "CFLAGS=-O3 -fPIC", "STATIC_LIB_SUFFIX=.a"]
        self.run(log, ["make", "-C", deflate, *programs, "libdeflate.a"])
        webp = self.sources["libwebp"]
        decoder = room / "libwebp"
        tools = (
            "ANIM_UTILS",
            "CWEBP",
            "DWEBP",
            "EXTRAS",
            "GIF2WEBP",
            "IMG2WEBP",
            "LIBWEBPMUX",
            "VWEBP",
            "WEBPINFO",
            "WEBPMUX",
        )
        options = {
            "CMAKE_TOOLCHAIN_FILE": file,
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
            "BUILD_SHARED_LIBS": "OFF",
            **{f"WEBP_BUILD_{tool}": "OFF" for tool in tools},
        }
        self.run(log, ["cmake", "-G", "Ninja", "-S", webp, "-B", decoder, *defines(options)])
        self.run(log, ["cmake", "--build", decoder, "--target", "webpdecoder"])
        (prefix / "include" / "webp").mkdir(exist_ok=True)
        for name in ("decode.h", "types.h"):
            shutil.copy(webp / "src" / "webp" / name, prefix / "include" / "webp")
        for library in (build / "libjpeg.a", deflate / "libdeflate.a", decoder / "libwebpdecoder.a"):
            shutil.copy(library, prefix / "lib")
        headers = [build / "jconfig.h", *(jpeg / f"{name}.h" for name in ("jpeglib", "jmorecfg", "jerror"))]
        for header in [*headers, deflate / "libdeflate.h"]:
            shutil.copy(header, prefix / "include")
        (prefix / "complete").touch()
        return prefix

    def settings(self, target: Target) -> dict[str, object]:
        """CMake's variables for fastaug itself."""
        prefix = self.libraries(target)
        return {
            "CMAKE_TOOLCHAIN_FILE": self.toolchain(target),
            "JPEG_INCLUDE_DIR": prefix / "include",
            "JPEG_LIBRARY": prefix / "lib" / "libjpeg.a",
            "DEFLATE_INCLUDE_DIR": prefix / "include",
            "DEFLATE_STATIC_LIBRARY": prefix / "lib" / "libdeflate.a",
            "FASTAUG_WEBP": "ON",
            "WEBP_INCLUDE_DIR": prefix / "include",
            "WEBP_STATIC_LIBRARY": prefix / "lib" / "libwebpdecoder.a",
            "HWY_INCLUDE_DIR": self.sources["highway"],
            "FASTAUG_WERROR": "ON",
            "CMAKE_BUILD_TYPE": "Release",
            # No path of the machine that built it stays.
            "CMAKE_CXX_FLAGS": f"-ffile-prefix-map={self.folder}=.",
        }

    def core(self, target: Target, source: Path) -> Path:
        """The library of all but what knows Python: compiled once for all interpreters."""
        build = self.folder / target.name / "core"
        settings = {**self.settings(target), "FASTAUG_PYTHON": "OFF"}
        log = f"{target.name}-core"
        if not (build / "CMakeCache.txt").exists():
            print(f"{target.name}: the core", flush=True)
        self.run(log, ["cmake", "-G", "Ninja", "-S", source, "-B", build, *defines(settings)])
        self.run(log, ["cmake", "--build", build])
        return build / "libfastaug_core.a"


def defines(options: Mapping[str, object]) -> list[str]:
    return [f"-D{name}={value}" for name, value in options.items()]


def source_distribution(shop: Workshop, dist: Path) -> Path:
    """Makes the sdist; the sources in it, from which wheels are built, so that a file missing there is found out."""
    shop.run("sdist", [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", dist, ROOT])
    (archive,) = dist.glob("*.tar.gz")
    print(f"built {archive.name}", flush=True)
    # One place for all builds, or nothing of them would be kept; files keep their dates where they are the same.
    source = shop.folder / "source"
    with tempfile.TemporaryDirectory(dir=shop.folder) as fresh:
        with tarfile.open(archive) as opened:
            opened.extractall(fresh, filter="data")
        (inner,) = Path(fresh).iterdir()
        _mirror(inner, source)
    return source


def _mirror(new: Path, old: Path) -> None:
    """Makes `old` what `new` is; files that are the same are left as they are."""
    wanted = {path.relative_to(new) for path in new.rglob("*") if path.is_file()}
    for path in [path for path in old.rglob("*") if path.is_file()]:
        if path.relative_to(old) not in wanted:
            path.unlink()
    for name in wanted:
        target = old / name
        if not target.is_file() or target.read_bytes() != (new / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new / name, target)


def wheel(shop: Workshop, target: Target, interpreter: Interpreter, source: Path, dist: Path) -> Path:
    """The wheel of one interpreter for one kind of machine, in dist."""
    log = f"{target.name}-{interpreter.tag}"
    venv = shop.folder / "venvs" / interpreter.tag
    python = venv / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    if not (venv / "complete").exists():
        shop.run(log, [interpreter.path, "-m", "venv", "--clear", venv])
        shop.run(log, [*pip, "install", "--constraint", ROOT / "constraints.txt", *BUILD_TOOLS])
        (venv / "complete").touch()
    settings = {
        **shop.settings(target),
        "FASTAUG_CORE": shop.core(target, source),
        # What is linked in is stripped.
        "CMAKE_MODULE_LINKER_FLAGS": f"-s {unwinder(shop.toolchain(target))}",
        # The interpreter that runs is of the version that the module is for, though of another machine perhaps.
        "PYBIND11_USE_CROSSCOMPILING": "OFF",
        "PYTHON_MODULE_EXTENSION": f".{interpreter.suffix}-{target.processor}-linux-gnu.so",
        "PYTHON_MODULE_DEBUG_POSTFIX": "",
    }
    config = [f"cmake.define.{name}={value}" for name, value in settings.items()]
    config += [f"build-dir={shop.folder / target.name / interpreter.tag}", "install.strip=false"]
    raw = shop.folder / target.name / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    shop.run(
        log,
        [
            *pip,
            "wheel",
            "--no-build-isolation",
            "--no-deps",
            "--wheel-dir",
            raw,
            *(f"--config-settings={one}" for one in config),
            source,
        ],
    )
    (built,) = raw.glob("*.whl")
    return finished(shop, built, target, interpreter, python, dist)


def finished(shop: Workshop, built: Path, target: Target, interpreter: Interpreter, python: Path, dist: Path) -> Path:
    """The wheel with the tag of its platform and the list of what is in it."""
    with tempfile.TemporaryDirectory(dir=shop.folder) as folder:
        shop.run("finish", [python, "-m", "wheel", "unpack", "--dest", folder, built])
        (content,) = Path(folder).iterdir()
        (info,) = content.glob("*.dist-info")
        record = info / "WHEEL"
        tag = f"{interpreter.tag}-{target.platform}"
        text = re.sub(r"^Tag: .*\n", "", record.read_text(), flags=re.MULTILINE).rstrip("\n")
        record.write_text(f"{text}\nTag: {tag}\n")
        version = re.search(r"^Version: (.*)$", (info / "METADATA").read_text(), re.MULTILINE)
        assert version is not None
        (info / "sboms").mkdir()
        (info / "sboms" / "fastaug.cdx.json").write_text(bill_of_materials(version[1]))
        shop.run("finish", [python, "-m", "wheel", "pack", "--dest-dir", dist, content])
    return dist / f"{content.name}-{tag}.whl"


def compile_only(shop: Workshop, target: Target) -> None:
    """Compiles the core for a system without wheels."""
    shop.core(target, ROOT)
    print(f"{target.name}: the core compiles; nobody has run it", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds fastaug's sdist and wheels in dist/.")
    wheels = [name for name, target in TARGETS.items() if target.platform]
    others = [name for name, target in TARGETS.items() if not target.platform]
    parser.add_argument("--target", action="append", choices=wheels, help="a kind of machine (default: this one's)")
    parser.add_argument("--check-only", choices=others, help="compile for this system, and make no wheel")
    parser.add_argument("--sources", type=Path, help="a folder with the archives that sources.py names")
    parser.add_argument("pythons", nargs="*", type=Path, metavar="PYTHON", help="interpreters (default: all found)")
    args = parser.parse_args()

    folder = ROOT / "build" / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    for log in folder.glob("*.log"):
        log.unlink()
    try:
        shop = Workshop(folder, unpacked(folder / "sources", args.sources))
        if args.check_only:
            compile_only(shop, TARGETS[args.check_only])
            return 0
        interpreters = list(found())
        if args.pythons:
            interpreters = [named(str(word), interpreters) for word in args.pythons]
        if not interpreters:
            parser.error(f"no interpreter found; expected one of {', '.join(VERSIONS.values())}")
        here = platform.machine()
        targets = [TARGETS[name] for name in args.target or ([here] if here in wheels else wheels)]
        dist = ROOT / "dist"
        for pattern in ("*.tar.gz", *(f"*{target.platform}.whl" for target in targets)):
            for old in dist.glob(pattern):
                old.unlink()
        source = source_distribution(shop, dist)
        said = []
        for target in targets:
            for interpreter in interpreters:
                made = wheel(shop, target, interpreter, source, dist)
                print(f"built {made.name}, {made.stat().st_size / 2**20:.2f} MiB", flush=True)
                said += [f"{made.name}: {problem}" for problem in problems(made)]
    except (FailedError, NotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(said), end="\n" if said else "", file=sys.stderr)
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
