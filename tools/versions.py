"""Tries one wheel with several torch, torchvision and Pillow, and writes what was found into docs/versions.md.

    python tools/versions.py [--wheel dist/..whl] [--only 0.20 0.26] [--jobs 1] [--delete]
    python tools/versions.py --page      writes the page anew from docs/versions.json

Each combination gets an environment of its own in .venv-versions, with the wheel and nothing of the checkout. There
fastaug.check() is run, and then the tests, or a tenth of them, on a copy without fastaug beside them. What differs by
import is known, by the table in fastaug/_draft/releases.py: the exit code is 1 where anything else differs or fails.
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
RULE_MARKS = ("<!-- rules: begin -->", "<!-- rules: end -->")

#: Each release of torchvision from 0.20 on, the oldest that fastaug takes, and what pip installs today.
COMBINATIONS = {
    "0.17": ("torch==2.2.2", "torchvision==0.17.2", "pillow==11.3.0", "numpy<2"),
    "0.20": ("torch==2.5.1", "torchvision==0.20.1", "pillow==11.3.0", "numpy"),
    "0.21": ("torch==2.6.0", "torchvision==0.21.0", "pillow==11.3.0", "numpy"),
    "0.22": ("torch==2.7.1", "torchvision==0.22.1", "pillow==11.3.0", "numpy"),
    "0.23": ("torch==2.8.0", "torchvision==0.23.0", "pillow==12.3.0", "numpy"),
    "0.24": ("torch==2.9.1", "torchvision==0.24.1", "pillow==12.3.0", "numpy"),
    "0.25": ("torch==2.10.0", "torchvision==0.25.0", "pillow==12.3.0", "numpy"),
    "0.26": ("torch==2.11.0", "torchvision==0.26.0", "pillow==12.3.0", "numpy"),
    "0.27": ("torch==2.12.1", "torchvision==0.27.1", "pillow==13.0.0", "numpy"),
    "0.28": ("torch==2.13.0", "torchvision==0.28.0", "pillow==13.0.0", "numpy"),
    "newest": ("torch", "torchvision", "pillow", "numpy"),
}
#: Of these all tests are run, of others a tenth, and of the oldest none: many of v2's are about what that has not.
WHOLE = ("0.20", "0.26", "newest")
UNTESTED = ("0.17",)
PACKAGES = ("torch", "torchvision", "pillow", "numpy")
#: What depends on the version of torch or NumPy, and is taken as that asks for it.
FREE = {*PACKAGES, "cuda-bindings", "setuptools"}
#: The tests that compare with torchvision or Pillow, but for the slowest.
FILES = [
    *(
        f"tests/parity/test_{name}.py"
        for name in (
            "compiled",
            "compiled_settings",
            "containers",
            "convert",
            "draws",
            "pil",
            "pil_special",
            "pillow_ops",
            "pipelines",
            "recipes",
            "releases",
            "torch_gamma",
            "torch_resize",
            "v2_classes",
            "v2_color",
            "v2_draws",
            "v2_geometry",
            "v2_misc",
            "v2_resize",
        )
    ),
    *(f"tests/codec/test_{name}.py" for name in ("orientation", "torchvision_io")),
]
#: Prints what fastaug.check() finds. fastaug comes first, for the sake of libraries that an old torchvision brings.
SELF_TEST = """
import json, fastaug
found = fastaug.check()
def named(cells):
    return sorted({f"{'v2' if cell.package.endswith('v2') else 'v1'} {cell.op}" for cell in cells})
print(json.dumps({
    "calls": sum(cell.calls for cell in found.cells),
    "differ": named(cell for cell in found.differing if cell.expected),
    "unexpected": [f"{cell.package}.{cell.op}, {cell.container}, {cell.route}: {cell.differences[0]}"
                   for cell in found.unexpected],
    "isa": found.info.isa.upper(),
}))
"""


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
    """What a junit file says: how many tests pass, fail and are skipped, and of which functions some fail."""
    counts = Counter({"passed": 0, "failed": 0, "skipped": 0})
    failing: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        # A file that cannot be collected is a case without a class.
        file = f"{(place or name).replace('.', '/')}.py"
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
            failing[f"{file}::{name.partition('[')[0]}" if place else file] += 1
        else:
            counts["passed" if case.find("skipped") is None else "skipped"] += 1
    return {**counts, "failing": dict(sorted(failing.items()))}


def self_tested(python: Path) -> dict[str, Any]:
    """What fastaug.check() finds there."""
    where = "import fastaug; print(fastaug.__file__)"
    found = subprocess.run([python, "-c", where], cwd=WORK, check=True, capture_output=True, text=True).stdout
    assert Path(found.strip()).is_relative_to(PLACE), f"not the wheel's: {found}"
    done = subprocess.run([python, "-c", SELF_TEST], cwd=WORK, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def tested(python: Path, folder: Path, jobs: int, whole: bool) -> dict[str, Any]:
    """Runs the tests, or a tenth of them; what they found."""
    report = WORK / "report.xml"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "-n", str(jobs)]
    command += [f"--junit-xml={report}", *FILES]
    tier = ["-m", "not nightly"] if whole else ["-m", "not main and not nightly"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "FASTAUG_SCALE": "1" if whole else "0.1"}
    done = subprocess.run([*command, *tier], cwd=folder, env=environment)
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}")
    return {"whole": whole, **counted(report)}


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


def _listed(ops: list[str]) -> str:
    return ", ".join(f"`{op}`" for op in ops) or "equal"


def table(found: dict[str, Any]) -> str:
    """The first part of the page between the marks: of each release what differs."""
    lines = [
        "| torchvision | torch, Pillow, NumPy | what differs by import | compiled | calls; tests |",
        "| --- | --- | --- | --- | --: |",
    ]
    for run in sorted(found["runs"], key=key):
        tests = run["tests"]
        said = f"{run['calls']:,}"
        if tests is not None:
            said += f"; {tests['passed']:,} passed" + (f", {tests['failed']:,} failed" if tests["failed"] else "")
            said += "" if tests["whole"] else " (a tenth)"
        compiled = _listed(sorted({one.partition(",")[0] for one in run["unexpected"]}))
        versions = f"{run['torch']}, {run['pillow']}, {run['numpy']}"
        lines.append(f"| {run['torchvision']} | {versions} | {_listed(run['differ'])} | {compiled} | {said} |")
    lines += ["", f"Python {found['python']}, {found['machine']}, {found['isa']}; {found['date']}."]
    if any(run["name"] == "newest" for run in found["runs"]):
        lines[-1] += " The last were the newest that there were."
    return "\n".join(lines)


def rules() -> str:
    """The second part: the table by which fastaug goes."""
    from fastaug._draft import releases

    lines = ["| before | of | what they do | on |", "| --- | --- | --- | --- |"]
    for rule in releases.RULES:
        begins = f"{releases.spelled(rule.begins)} to " if rule.begins > (0, 0) else ""
        ops = rule.called if rule.called not in rule.ops else f"`{rule.called}`"
        cells = f"{begins}{releases.spelled(rule.since)}", f"{rule.api}: {ops}", rule.differs, rule.on or "all"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text: str, found: dict[str, Any]) -> str:
    """The page with both parts between its marks."""
    for marks, part in ((MARKS, table(found)), (RULE_MARKS, rules())):
        before, rest = text.split(marks[0])
        text = f"{before}{marks[0]}\n\n{part}\n\n{marks[1]}{rest.split(marks[1])[1]}"
    return text


def wrong(run: dict[str, Any]) -> list[str]:
    """What nobody knew of a release."""
    failing = [] if run["tests"] is None else [f"{test} fails" for test in run["tests"]["failing"]]
    return [f"torchvision {run['torchvision']}: {one}" for one in (*run["unexpected"], *failing)]


def write_page() -> None:
    PAGE.write_text(page(PAGE.read_text(), json.loads(FOUND.read_text())))


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
    runs: dict[str, Any] = {}
    if FOUND.exists() and set(options.only) != set(COMBINATIONS):
        runs = {one["name"]: one for one in json.loads(FOUND.read_text())["runs"]}
    failed: list[str] = []
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    machine = {"python": platform.python_version(), "machine": platform.machine(), "date": today}
    for number, name in enumerate(options.only, 1):
        versions = resolved(COMBINATIONS[name])
        print(f"{number} of {len(options.only)}, {name}: {versions}", flush=True)
        python = environment(versions, wheel)
        found = self_tested(python)
        machine["isa"] = found.pop("isa")
        tests = None if name in UNTESTED else tested(python, folder, options.jobs, name in WHOLE)
        runs[name] = {"name": name, **versions, **found, "tests": tests}
        failed += [] if name in UNTESTED else wrong(runs[name])
        ordered = [runs[one] for one in COMBINATIONS if one in runs]
        # After each, so that what was found is kept if a later one cannot be installed.
        FOUND.write_text(json.dumps({**machine, "runs": ordered}, indent=1) + "\n")
        if options.delete:
            shutil.rmtree(python.parents[1])
    write_page()
    print("\n".join(failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
