"""Tries one wheel with several torch, torchvision and Pillow, and writes what was found into docs/versions.md.

    python tools/versions.py [--wheel dist/..whl] [--only oldest 2.11] [--jobs 1] [--delete] [-k NAMES]
    python tools/versions.py --page      writes the page anew from docs/versions.json

Each combination gets an environment of its own in .venv-versions, with the wheel and nothing of the checkout; the tests
are run on a copy without fastaug beside them. Exits with 1 where a test fails. Tests that are about a newer
torchvision are marked so, with what differs as the reason (tests/support/versions.py), and the page lists those, too.
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
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-versions"
WORK = ROOT / "build" / "versions"
FOUND = ROOT / "docs" / "versions.json"
PAGE = ROOT / "docs" / "versions.md"
MARKS = ("<!-- versions: begin -->", "<!-- versions: end -->")

#: What is tried. The second is in the middle; those of constraints.txt are what results are compared with elsewhere.
COMBINATIONS = {
    "oldest": ("torch==2.2.2", "torchvision==0.17.2", "pillow==11.3.0", "numpy<2"),
    "2.11": ("torch==2.11.0", "torchvision==0.26.0", "pillow==12.3.0", "numpy"),
    "reference": ("torch", "torchvision", "pillow", "numpy"),
    "newest": ("torch", "torchvision", "pillow", "numpy"),
}
PACKAGES = ("torch", "torchvision", "pillow", "numpy")
#: What depends on the version of torch or NumPy, and is taken as that asks for it.
FREE = {*PACKAGES, "cuda-bindings", "setuptools"}
#: Area: the tests that are run for it, and which of their files are of it.
AREAS = {
    "names, signatures": ("tests/api/test_signatures.py", "tests/api/test_v2_names.py"),
    "transforms": ("tests/parity",),
    "v2": ("tests/parity/test_v2_",),
    "files": ("tests/codec",),
}
SELECTED = ("tests/api/test_signatures.py", "tests/api/test_v2_names.py", "tests/parity", "tests/codec")
#: How a reason begins that says how versions differ.
DIFFERS = "differs: "


def pip(python: Path | str, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments]
    return subprocess.run(command, check=True, text=True, **settings)


def pinned(but: set[str] = FREE) -> list[str]:
    """The lines of constraints.txt, but for some packages."""
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text().splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    return [line for line in named if re.split(r"[=<>;]", line)[0].lower() not in but]


def resolved(wanted: list[str]) -> dict[str, str]:
    """The version of each of these packages that pip would install today."""
    report = pip(
        sys.executable, "--dry-run", "--ignore-installed", "--report", "-", *wanted, stdout=subprocess.PIPE
    ).stdout
    installed = {one["metadata"]["name"].lower(): one["metadata"]["version"] for one in json.loads(report)["install"]}
    return {name: installed[name] for name in PACKAGES if name in installed}


def requirements(name: str) -> list[str]:
    if name != "reference":
        return list(COMBINATIONS[name])
    # pip reads the markers of constraints.txt: they are requirements here.
    return [line for line in pinned(set()) if re.split(r"[=<>;]", line)[0] in PACKAGES]


def environment(versions: dict[str, str], wheel: Path, tests: bool = True) -> Path:
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
        ours = f"fastaug{'[test]' if tests else ''} @ {wheel.as_uri()}"
        pip(python, "--constraint", str(constraints), *pins, ours)
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


def area_of(test: str) -> str:
    """The area of a test's file; the last that fits, since v2's are a part of those of transforms."""
    return [name for name, begins in AREAS.items() if test.startswith(begins)][-1]


def counted(report: Path) -> dict[str, Any]:
    """What a junit file says: numbers by area, what failed, and the reasons that say how versions differ."""
    areas = {name: {"equal": 0, "differ": 0, "skipped": 0} for name in AREAS}
    failed: list[str] = []
    reasons: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        # A file that cannot be collected is a case without a class.
        name = f"{place.replace('.', '/')}.py::{name}" if place else f"{name.replace('.', '/')}.py"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            kind = "differ"
            failed.append(name)
        elif skipped is not None:
            kind = "skipped"
            reason = skipped.get("message", "")
            if DIFFERS in reason:
                reasons[reason.partition(DIFFERS)[2]] += 1
        else:
            kind = "equal"
        areas[area_of(name)][kind] += 1
    return {"areas": areas, "failed": sorted(failed), "reasons": dict(sorted(reasons.items()))}


def tried(python: Path, folder: Path, jobs: int, further: list[str]) -> dict[str, Any]:
    """Runs the tests; what they found."""
    report = WORK / "report.xml"
    report.unlink(missing_ok=True)
    where = "import fastaug; print(fastaug.__file__)"
    found = subprocess.run([python, "-c", where], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert Path(found.strip()).is_relative_to(PLACE), f"not the wheel's: {found}"
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", str(jobs), f"--junit-xml={report}"]
    done = subprocess.run([*command, *SELECTED, *further], cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}")
    return counted(report)


def alone(wheel: Path, newest: str, delete: bool) -> dict[str, str] | None:
    """What the smoke test, whose digests are torchvision's, says of the newest torch where no torchvision takes it."""
    versions = {"torch": resolved(["torch"])["torch"]}
    if versions["torch"] == newest:
        return None
    python = environment(versions, wheel, tests=False)
    done = subprocess.run([python, "-I", ROOT / "tests" / "smoke.py"], cwd="/", capture_output=True, text=True)
    print(done.stdout, done.stderr, flush=True)
    if delete:
        shutil.rmtree(python.parents[1])
    return {**versions, "said": "passes" if done.returncode == 0 else "fails"}


def default_wheel() -> Path:
    """The newest of dist for this interpreter."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    pattern = f"fastaug-*-{tag}-{tag}{sys.abiflags}-*{platform.machine()}.whl"
    wheels = sorted((ROOT / "dist").glob(pattern), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"There is no dist/{pattern}: make wheel, or --wheel")
    return wheels[-1]


def key(run: dict[str, Any]) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", run["torch"])[:3]]


def table(found: dict[str, Any]) -> str:
    """The part of the page between the marks."""
    lines = [
        f"| torch, torchvision | Pillow, NumPy | {' | '.join(AREAS)} |",
        f"| --- | --- | {' | '.join(['--:'] * len(AREAS))} |",
    ]
    notes: list[str] = []
    for run in sorted(found["runs"], key=key):
        cells = []
        for name in AREAS:
            numbers = run["areas"][name]
            cells.append(f"{numbers['equal']}" + (f", **{numbers['differ']} fail**" if numbers["differ"] else ""))
        both = f"{run['torch']}, {run['torchvision']}"
        lines.append(f"| {both} | {run['pillow']}, {run['numpy']} | {' | '.join(cells)} |")
        notes += [f"- torchvision {run['torchvision']}: {reason}" for reason in run["reasons"]]
        notes += [f"- torchvision {run['torchvision']}: `{name}` fails" for name in run["failed"]]
    if "alone" in found:
        one = found["alone"]
        notes.append(f"- torch {one['torch']} has no torchvision yet: the smoke test of wheels {one['said']}.")
    last = sorted(found["runs"], key=key)[-1]
    ends = f"Python {found['python']}, {found['machine']}, {found['isa']}; {found['date']}. "
    ends += f"The newest that there were: torchvision {last['torchvision']} with torch {last['torch']}."
    return "\n".join([*lines, "", ends, "", *notes])


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
    parser.add_argument("-k", dest="names", help="only tests of these names; the page stays as it is")
    options = parser.parse_args()
    if options.page:
        write_page()
        return 0
    return run(options)


def run(options: argparse.Namespace) -> int:
    wheel = (options.wheel or default_wheel()).resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    folder = tree()
    found: dict[str, Any] = {"runs": []}
    if FOUND.exists() and set(options.only) != set(COMBINATIONS):
        found = json.loads(FOUND.read_text())
    failed = False
    done: list[dict[str, str]] = []
    for name in options.only:
        versions = resolved(requirements(name))
        print(f"{name}: {versions}", flush=True)
        if name == "newest":
            found["newest"] = versions
            found["alone"] = alone(wheel, versions["torch"], options.delete)
            failed = failed or bool(found["alone"] and found["alone"]["said"] != "passes")
        if versions in done:
            print(f"{name} is what has been tried already", flush=True)
            continue
        done.append(versions)
        python = environment(versions, wheel)
        result = tried(python, folder, options.jobs, ["-k", options.names] if options.names else [])
        failed = failed or bool(result["failed"])
        others = [run for run in found["runs"] if any(run[package] != versions[package] for package in PACKAGES)]
        found = {**found, **about(python), "runs": [*others, {**versions, **result}]}
        if options.delete:
            shutil.rmtree(python.parents[1])
    if not options.names:
        FOUND.write_text(json.dumps(found, indent=1) + "\n")
        write_page()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
