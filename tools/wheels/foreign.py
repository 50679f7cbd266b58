"""Tries things for aarch64 on another machine, under qemu-user.

    python tools/wheels/foreign.py wheel [WHEEL]   tests/smoke.py with the wheel of dist/ for CPython 3.11
    python tools/wheels/foreign.py check [WHEEL]   the self-test: every op against torchvision and Pillow
    python tools/wheels/foreign.py native          the native tests, compiled by zig, on NEON and scalar kernels

Programs run in a folder that Debian's packages for arm64 are unpacked into; nothing of the system changes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from compiler import TARGETS
from sources import NotFoundError, unpacked

from build import ROOT, FailedError, Workshop, defines

#: Debian 12's Python.
TAG = "cp311-cp311"
SYSTEM = ("python3.11", "libgomp1", "libstdc++6")
#: The last torch for aarch64 that asks for no CUDA libraries; a wheel of fastaug serves any torch. What it needs, by
#: name: pip would look at this machine to find out.
PACKAGES = ("torch==2.9.1", "torchvision==0.24.1", "numpy", "pillow", "tqdm", "typing_extensions", "filelock")
PACKAGES += ("sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec")
ROOM = ROOT / "build" / "foreign"


def system(folder: Path) -> Path:
    """The folder with Debian's packages for arm64 and what they need."""
    root = folder / "system"
    if root.is_dir():
        return root
    print(f"unpacking {', '.join(SYSTEM)} for arm64", flush=True)
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "APT::Install-Recommends": "false",
        "Dir::State::status": state / "status",
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state / "cache",
    }
    apt = ["apt-get", *(word for key, value in options.items() for word in ("-o", f"{key}={value}")), "--quiet=2"]
    # Repositories without packages for arm64 fail, which does not matter.
    subprocess.run([*apt, "update"], stderr=subprocess.DEVNULL)
    subprocess.run([*apt, "install", "--yes", "--download-only", *SYSTEM], check=True, stdout=subprocess.DEVNULL)
    part = folder / "system.part"
    shutil.rmtree(part, ignore_errors=True)
    for package in sorted((state / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", package, part], check=True)
    part.rename(root)
    return root


def run(root: Path, command: Sequence[object], env: dict[str, str]) -> int:
    print(" ".join(f"{name}={value}" for name, value in env.items()), *command, flush=True)
    return subprocess.run(
        ["qemu-aarch64", "-L", str(root), *map(str, command)], env={**os.environ, **env}, cwd="/"
    ).returncode


def try_wheel(wheel: Path, arguments: Sequence[object]) -> int:
    root = system(ROOM)
    packages = ROOM / "packages"
    if not packages.is_dir():
        print(f"installing {PACKAGES[0]}, {PACKAGES[1]} and what they need", flush=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        where = ["--only-binary=:all:", "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311"]
        where += ["--abi", "none"]
        for platform in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014"):
            where += ["--platform", f"{platform}_aarch64"]
        part = ROOM / "packages.part"
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run([*pip, *where, "--target", part, *PACKAGES], check=True)
        part.rename(packages)
    site = ROOM / "site-packages"
    shutil.rmtree(site, ignore_errors=True)
    # Each module of the packages by a link: the wheel lies among them, and is the only one that is new.
    site.mkdir()
    for entry in packages.iterdir():
        (site / entry.name).symlink_to(entry)
    subprocess.run(["unzip", "-q", wheel, "-d", site], check=True)
    # -I would leave PYTHONPATH out; this is all that is on the path.
    python = root / "usr" / "bin" / "python3.11"
    env = {"PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr"), "PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1"}
    return run(root, [python, *arguments], env)


def try_native() -> int:
    target = TARGETS["aarch64"]
    shop = Workshop(ROOT / "build" / "wheels", unpacked(ROOT / "build" / "wheels" / "sources"))
    build = shop.folder / target.name / "native"
    settings = {
        **shop.settings(target),
        # Assertions are part of the tests.
        "CMAKE_CXX_FLAGS_RELEASE": "-O2",
        "FASTAUG_PYTHON": "OFF",
        "FASTAUG_TESTS": "ON",
        "DOCTEST_INCLUDE_DIR": doctest(),
    }
    shop.run("native", ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, *defines(settings)])
    print("compiling the native tests for aarch64", flush=True)
    shop.run("native", ["cmake", "--build", build, "--target", "fastaug_tests"])
    root = system(ROOM)
    kernels = run(root, [build / "fastaug_tests", "--source-file=*tests/kernels/*"], {})
    return kernels or max(
        run(root, [build / "fastaug_tests", "--source-file-exclude=*tests/kernels/*"], {"FASTAUG_ISA": isa})
        for isa in ("neon", "scalar")
    )


def doctest() -> Path:
    """A folder that has doctest's header and nothing else of this machine's."""
    folder = ROOM / "include"
    (folder / "doctest").mkdir(parents=True, exist_ok=True)
    shutil.copy("/usr/include/doctest/doctest.h", folder / "doctest")
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries things for aarch64 under qemu-user.")
    parser.add_argument("what", choices=("wheel", "check", "native"))
    parser.add_argument("wheel", nargs="?", type=Path, help="default: the one of dist/ for CPython 3.11")
    args = parser.parse_args()
    ROOM.mkdir(parents=True, exist_ok=True)
    if args.what == "native":
        return try_native()
    wheels = [args.wheel] if args.wheel else list((ROOT / "dist").glob(f"*-{TAG}-*_aarch64.whl"))
    if len(wheels) != 1:
        print("no wheel for aarch64 and CPython 3.11 in dist/: `make wheel MACHINES=aarch64` makes it", file=sys.stderr)
        return 1
    arguments = ["-m", "fastaug", "check"] if args.what == "check" else [ROOT / "tests" / "smoke.py"]
    return try_wheel(wheels[0].resolve(), arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FailedError, NotFoundError, subprocess.CalledProcessError) as error:
        sys.exit(f"failed: {error}")
