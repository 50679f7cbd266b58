"""How `python -m bench.cuda` goes from part to part, within its time, and what is kept of a run that is ended."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from bench import cuda
from bench.gpu import checks, fresh, machine, parts, processes, timing
from bench.gpu.cases import CASES
from bench.gpu.clock import Clock
from bench.gpu.parts import Part, Skipped
from bench.gpu.report import Report
from fastaug import _C
from support.processes import python


@pytest.fixture
def kept(tmp_path: Path) -> Report:
    return Report(tmp_path, {"gpu": "emulated"})


def outcomes(kept: Report) -> dict[str, str]:
    """As they are written."""
    written = json.loads(kept.paths[0].read_text())
    return {check["name"]: check["outcome"] for check in written["checks"]}


# ---- parts


def failing(clock: Clock) -> str:
    raise AssertionError("2 of 3 differ")


def broken(clock: Clock) -> str:
    raise ZeroDivisionError("by nothing")


def absent(clock: Clock) -> str:
    raise Skipped("not here")


def test_a_part_that_raises_stops_no_other(kept: Report) -> None:
    before: list[dict[str, str]] = []

    def looking(clock: Clock) -> str:
        before.append(outcomes(kept))
        return "seen"

    works = {"failing": failing, "broken": broken, "absent": absent, "looking": looking}
    assert parts.watched([Part(name, 1, work) for name, work in works.items()], kept, Clock()) == 1
    assert before == [{"failing": "failed", "broken": "failed", "absent": "skipped"}]
    assert outcomes(kept) == {**before[0], "looking": "passed"}
    notes = [check.note for check in kept.checks]
    assert notes[0] == "2 of 3 differ" and "in broken" in notes[1] and notes[2:] == ["not here", "seen"]
    assert kept.state == "complete"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_each_part_has_its_share(kept: Report) -> None:
    shares: list[float] = []

    def timed(clock: Clock) -> str:
        shares.append(clock.left)
        return ""

    parts.run([Part(str(k), share, timed) for k, share in enumerate((1, 2, 5))], kept, Clock(800))
    # What one leaves is for those that follow, by their weights.
    assert shares == pytest.approx([100, 800 * 2 / 7, 800], rel=0.02)


def test_nothing_is_begun_after_the_time(kept: Report) -> None:
    options = argparse.Namespace(checks="*", cases="*")
    found = cuda.parts(mock.Mock(emulated=True), options, kept)
    assert [part.name for part in found[:2]] == ["smoke", "times"]
    assert [part.name for part in found[-3:]] == ["random programs", "memcheck", "racecheck"]
    parts.run(found, kept, Clock(0))
    assert len(kept.checks) == len(found)
    assert {(check.outcome, check.note) for check in kept.checks} == {("skipped", "no time was left")}
    assert not kept.failures


def test_parts_of_a_gpu_in_their_order(kept: Report) -> None:
    found = cuda.parts(mock.Mock(emulated=False), argparse.Namespace(checks="*", cases="*"), kept)
    names = [part.name for part in found]
    assert names[:4] == ["smoke", "rates", "times", "first calls"]
    assert names[-4:] == ["random programs", "instructions", "memcheck", "racecheck"]
    assert set(checks.TESTS) < set(names)
    found = cuda.parts(mock.Mock(emulated=False), argparse.Namespace(checks=["memc*", "out"], cases=[""]), kept)
    assert [part.name for part in found] == ["out", "memcheck"]


def test_how_much_was_done() -> None:
    assert parts.so_far(3, 3, "ops") == "3 ops"
    assert parts.so_far(1200, 3000, "programs") == "1200 of 3000 programs in the time"
    with pytest.raises(Skipped, match="none of 3 ops in the time"):
        parts.so_far(0, 3, "ops")


# ---- processes


def gone(process: int) -> bool:
    """Or nothing but an entry that its parent has not looked at."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_a_process_ends_in_time_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    with pytest.raises(processes.Late, match="not done after 0 s"):
        processes.run(["sh", "-c", f"sleep 600 & echo $! > {child}; wait"], 0.3)
    wait_for(lambda: gone(int(child.read_text())))
    done = processes.run(["sh", "-c", "echo $SAID; echo more >&2; pwd; exit 3"], 60, SAID="this")
    assert (done.returncode, done.stdout, done.stderr) == (3, f"this\n{machine.ROOT}\n", "more\n")


def test_parts_in_processes_heed_the_clock(kept: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = mock.Mock(emulated=False)
    given: list[float] = []

    def late(command: Any, seconds: float, **environment: str) -> None:
        given.append(seconds)
        raise processes.Late(f"not done after {seconds:.0f} s")

    monkeypatch.setattr(processes, "run", late)
    monkeypatch.setattr(machine, "tool", lambda name: "/there")
    monkeypatch.setattr(checks, "tool", lambda name: "/there")
    kept.add(timing.Row("P, 512, exact, fp32", 64, "device", work=timing.Work(1, 1, 1)))
    for work in (
        lambda clock: checks.of_the_tests(gpu, clock),
        lambda clock: checks.Sanitizers((7, 5)).run("memcheck", gpu, clock),
        lambda clock: fresh.compilation(kept, clock),
        lambda clock: fresh.counted(kept, clock),
    ):
        with pytest.raises(Skipped, match=r"not done after 20 s|none of 1 pipelines in the time"):
            work(Clock(20))
    assert given == pytest.approx([20] * 4, rel=0.05)
    assert kept.compiled == {"first calls, kernels compiled": "not done after 20 s"}


def test_what_processes_find(kept: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu: Any = mock.Mock(emulated=False)
    printed: dict[str, tuple[int, str]] = {
        "memcheck": (0, "seen: 247 programs\n===== ERROR SUMMARY: 0 errors"),
        "racecheck": (9, "===== RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"),
        "pytest": (0, "........\n8 passed in 3.00s\n"),
        "--first": (0, 'a warning\n{"import": 1.5, "first batch": 0.25}\n'),
        "--profiled": (0, '"ID","Metric Name","Metric Value"\n"0","smsp__inst_executed.sum","6,400"\n'),
    }

    def run(command: list[str], seconds: float, **environment: str) -> subprocess.CompletedProcess[str]:
        status, output = next(said for name, said in printed.items() if name in command)
        return subprocess.CompletedProcess(command, status, output, "")

    monkeypatch.setattr(processes, "run", run)
    monkeypatch.setattr(machine, "tool", lambda name: "/there")
    monkeypatch.setattr(checks, "tool", lambda name: "/there")
    sanitizers = checks.Sanitizers((7, 5))
    assert sanitizers.run("memcheck", gpu, Clock()) == "ERROR SUMMARY: 0 errors; 247 programs"
    with pytest.raises(AssertionError, match=r"exit status 9:\n.*2 hazards"):
        sanitizers.run("racecheck", gpu, Clock())
    assert checks.of_the_tests(gpu, Clock()) == "8 passed in 3.00s"
    assert fresh.compilation(kept, Clock()) == "2 processes"
    assert set(kept.compiled.values()) == {"import 1500 ms, first batch 250 ms"} and len(kept.compiled) == 2
    for count in (64, 512):
        kept.add(timing.Row("P, 512, exact, fp32", count, "device", work=timing.Work(1, 2, 3)))
    assert fresh.counted(kept, Clock()) == "1 pipelines"
    assert [row.work for row in kept.rows] == [timing.Work(1, 2, 3, 100.0)] * 2
    printed["--profiled"] = (1, "==ERROR== ERR_NVGPUCTRPERM")
    with pytest.raises(Skipped, match="no instructions counted: ==ERROR== ERR_NVGPUCTRPERM"):
        fresh.counted(kept, Clock())


# ---- a run that is ended

#: Its last part but one waits in native code, as for a device that does not answer, in which no handler is run.
STUCK = """
import ctypes, os, signal, sys, threading
from pathlib import Path
from bench.gpu import parts, processes
from bench.gpu.clock import Clock
from bench.gpu.parts import Part
from bench.gpu.report import Report

folder, number = Path(sys.argv[1]), int(sys.argv[2])

def child(clock):
    threading.Thread(target=processes.run, args=(["sh", "-c", "echo $$ > child; exec sleep 600"], 600)).start()
    while not Path("child").exists():
        pass
    return "begun"

def stuck(clock):
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    if number:
        threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)

processes.ROOT = folder
os.chdir(folder)
parts.GRACE = 0.2
works = {"broken": lambda clock: 1 / 0, "child": child, "stuck": stuck, "never": lambda clock: "seen"}
parts.watched(
    [Part(name, 1, work) for name, work in works.items()], Report(folder, {"gpu": "A"}), Clock(600 if number else 4)
)
"""


@pytest.mark.parametrize(
    ("number", "status", "outcome", "why"),
    [
        (signal.SIGTERM, 143, "skipped", "ended by SIGTERM"),
        (signal.SIGINT, 130, "skipped", "ended by SIGINT"),
        (0, 1, "failed", "the time was over"),
    ],
)
def test_a_part_that_does_not_end(number: int, status: int, outcome: str, why: str, tmp_path: Path) -> None:
    run = python(["-c", STUCK, str(tmp_path), str(int(number))], lean=True)
    assert run.returncode == status, run.stderr
    written = json.loads((tmp_path / "cuda-a.json").read_text())
    assert [(one["name"], one["outcome"]) for one in written["checks"]] == [
        ("broken", "failed"),
        ("child", "passed"),
        ("stuck", outcome),
    ]
    assert written["state"] == written["checks"][-1]["note"] == why
    assert f"this run is not complete: {why}" in (tmp_path / "cuda-a.md").read_text()
    assert "ZeroDivisionError" in run.stdout and run.stdout.rstrip().endswith(why)
    wait_for(lambda: gone(int((tmp_path / "child").read_text())))


#: As a shell runs it where there is no torchvision, and with a signal, if any, as soon as a row is written.
PROGRAM = """
import os, runpy, sys, threading, time
from pathlib import Path
import support.without_torchvision

number, folder = int(sys.argv.pop(1)), Path(sys.argv[2])
sys.modules.pop("__main__")

def ending():
    while '"batch"' not in (folder / "cuda-emulated.json").read_text():
        time.sleep(0.01)
    os.kill(os.getpid(), number)

if number:
    threading.Thread(target=ending, daemon=True).start()
runpy.run_module("bench.cuda", run_name="__main__", alter_sys=True)
"""


def program(number: int, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of a run with an emulated device."""
    (folder / "cuda-emulated.json").touch()
    command = ["-c", PROGRAM, str(int(number)), "--out", str(folder), "--minutes", "60", "--emulate", *arguments]
    run = python(command, lean=True)
    written = (folder / "cuda-emulated.json").read_text()
    assert written, run.stderr
    return run.returncode, json.loads(written)


def test_an_emulated_run(tmp_path: Path) -> None:
    names = ["smoke", "each op", "random*", "out", "capture"]
    status, written = program(0, tmp_path, "--checks", *names, "--cases", "ImageNet*fast, bf16")
    done = {check["name"]: (check["outcome"], check["note"]) for check in written["checks"]}
    assert status == 0, done
    assert done == {
        "smoke": ("passed", "P and ImageNet, 6 images, 3 ways"),
        "times": ("passed", "1 cases"),
        "out": ("passed", "a batch and a call"),
        "capture": ("skipped", "needs a GPU"),
        "each op": ("passed", mock.ANY),
        "random programs, fast": ("passed", "60 programs, 0 of them left to the CPU"),
        "random programs": ("passed", "60 programs, 0 of them left to the CPU"),
    }
    assert done["each op"][1].startswith(f"{len(_C.OPS)} ops, ")
    (row,) = written["rows"]
    assert (row["case"], row["images"], row["place"]) == ("ImageNet, 224, fast, bf16", 3, "device")
    assert row["batch"]["count"] >= 7 and row["work"]["read"] > 0
    assert written["state"] == "complete" and written["about"]["gpu"] == "emulated"
    assert "| ImageNet, 224, fast, bf16 | 3 | device |" in (tmp_path / "cuda-emulated.md").read_text()


def test_an_emulated_run_that_is_ended(tmp_path: Path) -> None:
    status, written = program(signal.SIGTERM, tmp_path, "--checks", "smoke", "random*", "--cases", "*")
    assert status == 128 + signal.SIGTERM
    assert [(one["name"], one["outcome"]) for one in written["checks"]] == [("smoke", "passed"), ("times", "skipped")]
    assert 1 <= len(written["rows"]) < len(CASES)
    assert written["state"] == "ended by SIGTERM"


#: Says how it was run; what a test calls torch can be missing.
INTERPRETER = """#!/bin/sh
case "$1 $2" in
"-c import torch"*) [ "$TORCH" = 1 ] || { echo "No module named 'torch'" >&2; exit 1; } ;;
-m*) echo "$0 $* in $PWD" ;;
--version*) echo "Python 3.12.1" ;;
esac
"""


def test_an_interpreter_by_a_relative_path(tmp_path: Path) -> None:
    for folder in ("bin", "tools", "bench", "tests", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").touch()
    script = shutil.copy(machine.ROOT / "tools" / "run_gpu.sh", tmp_path / "tools")
    own = tmp_path / "bin" / "interpreter"
    own.write_text(INTERPRETER)
    own.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(own)

    def run(python: str, torch: str = "1") -> subprocess.CompletedProcess[str]:
        command = [script, python, "", "--minutes", "5"]
        env = os.environ | {"TORCH": torch}
        return subprocess.run(command, cwd=tmp_path / "elsewhere", env=env, capture_output=True, text=True, check=False)

    done = run("../bin/python")
    place, results = tmp_path / "build" / "gpu", tmp_path / "bench" / "results"
    called = f"{tmp_path}/elsewhere/../bin/python -m bench.cuda --out {results} --minutes 5 in {place}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, called, "")
    missing = run("../bin/python3")
    assert (missing.returncode, missing.stderr) == (2, "PYTHON is ../bin/python3, and there is no such program\n")
    without = run("../bin/python", torch="0")
    assert without.returncode == 2 and without.stderr.startswith("No module named 'torch'\n")
    assert "bin/python (Python 3.12.1) cannot import torch and fastaug, as it says above" in without.stderr


@pytest.mark.skipif(machine.why_no_gpu() is None, reason="there is a GPU")
@pytest.mark.parametrize(("required", "status"), [("0", 0), ("1", 1)])
def test_without_a_gpu_it_says_so(
    required: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FASTAUG_REQUIRE_CUDA", required)
    monkeypatch.setattr("sys.argv", ["bench.cuda"])
    assert cuda.main() == status
    assert capsys.readouterr().out.startswith("No GPU that fastaug can use: ")
