"""Tries the wheels of this kind of machine: `python tools/wheels/trial.py [--suite] [WHEEL ...]`.

Without WHEEL, all of dist/. Each is installed, by the interpreter that it is for, into an environment that has what pip
brings for it and nothing else; there tests/smoke.py runs, far from the checkout. With `--suite`, the whole suite of
pytest runs on each of them too: over a copy of the checkout whose folder fastaug is the wheel's.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from check import NAME

from build import ROOT, found

JOBS = str(os.cpu_count() or 1)


def environment(folder: Path, python: Path, *requirements: str) -> Path:
    """A fresh one; its interpreter."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    own = folder / "bin" / "python"
    pip = [own, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--constraint", ROOT / "constraints.txt", *requirements], check=True)
    return own


def smoke(wheel: Path, python: Path, room: Path) -> None:
    shutil.copy(ROOT / "tests" / "smoke.py", room)
    own = environment(room / "venv", python, str(wheel))
    subprocess.run([own, "-I", room / "smoke.py"], check=True, cwd="/")


def suite(wheel: Path, python: Path, room: Path, arguments: list[str]) -> None:
    own = environment(room / "venv", python, f"{wheel}[test,lint]")
    copy = room / "checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith("fastaug/") and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(copy, [name for name in opened.namelist() if name.startswith("fastaug/")])
    # Some tests ask git what there is.
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=copy, check=True)
    subprocess.run(
        [own, "-m", "pytest", "-p", "no:benchmark", "-n", JOBS, *arguments],
        check=True,
        cwd=copy,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{own.parent}:{os.environ['PATH']}"},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries fastaug's wheels.")
    parser.add_argument("--suite", action="store_true", help="run the whole suite of pytest on each")
    parser.add_argument("--pytest", default="", metavar="ARGUMENTS", help="further arguments of pytest")
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL", help="default: those of dist/")
    args = parser.parse_args()
    interpreters = {interpreter.tag: interpreter.path for interpreter in found()}
    tried = 0
    for wheel in args.wheels or sorted((ROOT / "dist").glob("*.whl")):
        match = NAME.fullmatch(wheel.name)
        if match is None or match["machine"] != platform.machine():
            print(f"{wheel.name}: not for this machine, left out")
            continue
        python = interpreters.get(f"{match['python']}-{match['abi']}")
        if python is None:
            print(f"{wheel.name}: its interpreter is not here, left out")
            continue
        print(f"{wheel.name}:", flush=True)
        with tempfile.TemporaryDirectory() as room:
            smoke(wheel.resolve(), python, Path(room))
            if args.suite:
                suite(wheel.resolve(), python, Path(room), args.pytest.split())
        tried += 1
    if not tried:
        print("no wheel was tried: `make wheel` makes them", file=sys.stderr)
    return not tried


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {error}")
