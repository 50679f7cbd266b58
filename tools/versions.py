"""Tries one wheel with several torch, torchvision and Pillow, and writes what was found into docs/versions.md.

    python tools/versions.py [--wheel dist/..whl] [--only oldest 2.11] [--jobs 1] [--delete]
    python tools/versions.py --page      writes the page anew from docs/versions.json

Each combination gets an environment of its own in .venv-versions, with the wheel and nothing of the checkout; the tests
are run on a copy without fastaug beside them. What differs with older versions is known, by docs/versions.json: the
exit code is 1 where more tests fail than that says.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-versions"
WORK = ROOT / "build" / "versions"
FOUND = ROOT / "docs" / "versions.json"
PAGE = ROOT / "docs" / "versions.md"
MARKS = ("<!-- versions: begin -->", "<!-- versions: end -->")

#: What is tried, beside that of constraints.txt, with which all tests are run elsewhere.
COMBINATIONS = {
    "oldest": ("torch==2.2.2", "torchvision==0.17.2", "pillow==11.3.0", "numpy<2"),
    "2.11": ("torch==2.11.0", "torchvision==0.26.0", "pillow==12.3.0", "numpy"),
    "newest": ("torch", "torchvision", "pillow", "numpy"),
}
PACKAGES = ("torch", "torchvision", "pillow", "numpy")
#: What depends on the version of torch or NumPy, and is taken as that asks for it.
FREE = {*PACKAGES, "cuda-bindings", "setuptools"}
#: Areas, and the files of tests that are theirs: those that compare with torchvision or Pillow, but for the slowest.
_PARITY = "tests/parity/test_{}.py"
_CODEC = "tests/codec/test_{}.py"
AREAS = {
    "v1, images": [_PARITY.format(name) for name in ("convert", "draws", "pil", "pil_special", "pipelines", "recipes")],
    "v1, tensors": [_PARITY.format(name) for name in ("containers", "torch_gamma")],
    "v2": [_PARITY.format(f"v2_{name}") for name in ("classes", "color", "draws", "geometry", "misc")],
    "Pillow and files": [
        _PARITY.format("pillow_ops"),
        *(_CODEC.format(name) for name in ("orientation", "torchvision_io")),
    ],
}


def pip(python: Path | str, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments]
    return subprocess.run(command, check=True, text=True, **settings)


def pinned() -> list[str]:
    """The lines of constraints.txt, but for those that are FREE."""
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text().splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    return [line for line in named if re.split(r"[=<>;]", line)[0].lower() not in FREE]


def resolved(wanted: Sequence[str]) -> dict[str, str]:
    """The version of each of these packages that pip would install today."""
    report = pip(
        sys.executable, "--dry-run", "--ignore-installed", "--report", "-", *wanted, stdout=subprocess.PIPE
    ).stdout
    installed = {one["metadata"]["name"].lower(): one["metadata"]["version"] for one in json.loads(report)["install"]}
    return {name: installed[name] for name in PACKAGES if name in installed}


def environment(versions: dict[str, str], wheel: Path) -> Path:
    """The Python of an environment with these versions, the wheel and what tests need; kept from run to run."""
    folder = PLACE / f"torch-{versions['torch']}"
    python = folder / "bin" / "python"
    pins = [f"{name}=={version}" for name, version in versions.items()]
    stamp = folder / "installed.txt"
    wanted = "\n".join([sys.version, *pins])
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"installing {', '.join(pins)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        constraints = WORK / "constraints.txt"
        constraints.write_text("\n".join(pinned()) + "\n")
        pip(python, "--constraint", str(constraints), *pins, f"fastaug[test] @ {wheel.as_uri()}")
        stamp.write_text(wanted)
    pip(python, "--no-deps", "--force-reinstall", str(wheel))
    return python


def tree() -> Path:
    """A copy of the tests without fastaug beside them, so that the wheel's is what they import."""
    folder = WORK / "tree"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("tests", "bench"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def counted(report: Path) -> dict[str, Any]:
    """What a junit file says: of each area how many tests pass, fail and are skipped; of which functions some fail."""
    area_of = {file: area for area, files in AREAS.items() for file in files}
    areas = {area: {"equal": 0, "differ": 0, "skipped": 0} for area in AREAS}
    differ: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        # A file that cannot be collected is a case without a class.
        file = f"{(place or name).replace('.', '/')}.py"
        if case.find("failure") is not None or case.find("error") is not None:
            kind = "differ"
            differ[f"{file}::{name.partition('[')[0]}" if place else file] += 1
        else:
            kind = "equal" if case.find("skipped") is None else "skipped"
        areas[area_of[file]][kind] += 1
    return {"areas": areas, "differ": dict(sorted(differ.items()))}


def tried(python: Path, folder: Path, jobs: int) -> dict[str, Any]:
    """Runs the tests; what they found."""
    report = WORK / "report.xml"
    report.unlink(missing_ok=True)
    where = "import fastaug; print(fastaug.__file__)"
    found = subprocess.run([python, "-c", where], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert Path(found.strip()).is_relative_to(PLACE), f"not the wheel's: {found}"
    command = [
        str(python),
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=line",
        "-n",
        str(jobs),
        f"--junit-xml={report}",
    ]
    files = [file for files in AREAS.values() for file in files]
    done = subprocess.run([*command, *files], cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}")
    return counted(report)


def default_wheel() -> Path:
    """The newest of dist for this interpreter."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    pattern = f"fastaug-*-{tag}-{tag}{sys.abiflags}-*{platform.machine()}.whl"
    wheels = sorted((ROOT / "dist").glob(pattern), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"There is no dist/{pattern}: make wheel, or --wheel")
    return wheels[-1]


def key(found: dict[str, Any]) -> list[int]:
    """Orders what was found by the version of torch."""
    return [int(part) for part in re.findall(r"\d+", found["torch"])[:3]]


def table(found: dict[str, Any]) -> str:
    """The part of the page between the marks."""
    runs = sorted(found["runs"], key=key)
    lines = [
        f"| torch, torchvision | Pillow, NumPy | {' | '.join(AREAS)} |",
        f"| --- | --- | {' | '.join(['--:'] * len(AREAS))} |",
    ]
    for run in runs:
        cells = [f"{run['torch']}, {run['torchvision']}", f"{run['pillow']}, {run['numpy']}"]
        for area in AREAS:
            numbers = run["areas"][area]
            cells.append(
                f"{numbers['equal']:,} equal" + (f", {numbers['differ']:,} differ" if numbers["differ"] else "")
            )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"Python {found['python']}, {found['machine']}, {found['isa']}; {found['date']}."]
    if runs[-1]["name"] == "newest":
        lines[-1] += " The last were the newest that there were."
    for run in runs:
        if run["differ"]:
            lines += ["", f"Tests that differ with torchvision {run['torchvision']}, by function:", "", "```text"]
            lines += [f"{count:5} {name.removeprefix('tests/')}" for name, count in run["differ"].items()]
            lines.append("```")
    return "\n".join(lines)


def unknown(run: dict[str, Any], before: list[dict[str, Any]]) -> list[str]:
    """The functions of which more tests fail than did with the same torchvision and Pillow before."""
    same = [one for one in before if (one["torchvision"], one["pillow"]) == (run["torchvision"], run["pillow"])]
    known = same[0]["differ"] if same else {}
    return [name for name, count in run["differ"].items() if count > known.get(name, 0)]


def write_page() -> None:
    """Puts the table between the marks of the page."""
    text = PAGE.read_text()
    before, rest = text.split(MARKS[0])
    PAGE.write_text(
        f"{before}{MARKS[0]}\n\n{table(json.loads(FOUND.read_text()))}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"
    )


def about(python: Path) -> dict[str, str]:
    isa = subprocess.run(
        [python, "-c", "import fastaug; print(fastaug.isa())"], check=True, capture_output=True, text=True, cwd="/"
    ).stdout.strip()
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"python": platform.python_version(), "machine": platform.machine(), "isa": isa.upper(), "date": today}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="default: that of dist for this interpreter")
    parser.add_argument("--only", nargs="*", choices=COMBINATIONS, default=list(COMBINATIONS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--delete", action="store_true", help="each environment after its tests, for small disks")
    parser.add_argument("--page", action="store_true", help="only writes the page, of docs/versions.json")
    options = parser.parse_args()
    if options.page:
        write_page()
        return 0
    return run(options)


def run(options: argparse.Namespace) -> int:
    wheel = (options.wheel or default_wheel()).resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    folder = tree()
    found: dict[str, Any] = json.loads(FOUND.read_text()) if FOUND.exists() else {"runs": []}
    before = found["runs"]
    if set(options.only) == set(COMBINATIONS):
        found = {"runs": []}
    failed: list[str] = []
    done: list[dict[str, str]] = []
    for name in options.only:
        versions = resolved(COMBINATIONS[name])
        print(f"{name}: {versions}", flush=True)
        if versions in done:
            print(f"{name} is what has been tried already", flush=True)
            continue
        done.append(versions)
        python = environment(versions, wheel)
        result = {"name": name, **versions, **tried(python, folder, options.jobs)}
        failed += [f"torchvision {versions['torchvision']}: {test}" for test in unknown(result, before)]
        others = [one for one in found["runs"] if any(one[package] != versions[package] for package in PACKAGES)]
        found = {**found, **about(python), "runs": [*others, result]}
        if options.delete:
            shutil.rmtree(python.parents[1])
    FOUND.write_text(json.dumps(found, indent=1) + "\n")
    write_page()
    print("\n".join([f"{test} fails, and did not before" for test in failed]))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
