"""Processes that are forked for tests do what fresh ones do, see nothing of one another, and end with who asked."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.processes import LEAN, WHOLE, Server, python

INTERPRETER = """
import os, signal, sys, threading, warnings
main = sys.modules["__main__"]
print(__name__, __spec__, __doc__, sorted({*vars(main)} - {"__annotations__"}), main.__dict__ is globals(), __loader__)
print(sys.argv, sys.orig_argv, sys.path[0], sys.stdin.read(), os.getcwd())
print(sys.flags, sys.warnoptions, sys._xoptions, sys.excepthook is sys.__excepthook__)
print(sys.stdout.name, sys.stdout.encoding, sys.stdout.line_buffering, sys.stderr.line_buffering)
print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE)], signal.set_wakeup_fd(-1))
print([thread.name for thread in threading.enumerate()], os.listdir("/proc/self/task") == [str(os.getpid())])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
print(sorted(os.listdir("/proc/self/fd")), sorted(name for name in os.environ if name != "LC_CTYPE"))
"""

ENDING = """
import atexit, sys, threading, time
class Last:
    def __del__(self):
        print("deleted")
last = Last()
atexit.register(print, "first registered")
atexit.register(lambda: (sys.stdout.write("second registered, "), 1 / 0))
def work():
    time.sleep(0.05)
    print("a thread is waited for")
threading.Thread(target=work).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
sys.stderr.write("not a whole line")
"""

SPAWNED = """
import multiprocessing, os, sys
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(len, ["abc"]), pool.apply(os.getpid) != os.getpid(), __file__)
else:
    print(__name__, __file__, sys.argv, flush=True)
"""

WARNING = "import warnings, sys; warnings.warn('a', UserWarning); warnings.warn('b', FutureWarning); print(1)"

#: Arguments after which forked and fresh processes write and end alike.
PROGRAMS: dict[str, list[str]] = {
    "interpreter": ["-c", INTERPRETER, "an argument", "-c"],
    "interpreter with options": ["-W", "error::UserWarning", "-W", "ignore", "-c", INTERPRETER],
    "interpreter of a script": ["interpreter.py", "an argument", "-m"],
    "interpreter of a module": ["-m", "interpreter", "an argument"],
    "a package": ["-m", "folder.package"],
    "no such module": ["-m", "folder.missing"],
    "ending": ["-c", ENDING],
    "ending of a script": ["ending.py"],
    "spawned": ["spawned.py", "an argument"],
    "nothing": ["-c", ""],
    "number": ["-c", "import sys; print('out'); sys.exit(7)"],
    "large number": ["-c", "raise SystemExit(300)"],
    "none": ["-c", "import sys; sys.exit()"],
    "message": ["-c", "import sys; sys.exit('a message')"],
    "at once": ["-c", "import os; print('lost'); os._exit(5)"],
    "error": ["-c", "def f():\n  raise LookupError('said')\nf()"],
    "error of a script": ["error.py"],
    "syntax": ["-c", "1 +"],
    "interrupt": ["-c", "raise KeyboardInterrupt"],
    "hook": ["-c", "import sys; sys.excepthook = lambda *given: print(given[:2]); 1 / 0"],
    "in a thread": ["-c", "import threading; threading.Thread(target=lambda: 1 / 0).start()"],
    "killed": ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
    "crash": ["-c", "import ctypes; ctypes.string_at(0)"],
    "warnings": ["-c", WARNING],
    "warnings are errors": ["-W", "error", "-c", WARNING],
    "some warnings are errors": ["-W", "error::FutureWarning", "-c", WARNING],
    "no warnings": ["-W", "ignore", "-c", WARNING],
    "text": ["-c", "import sys; sys.stdout.buffer.write('ü\\r\\n\\rx'.encode()); print('ß', file=sys.stderr)"],
    "much": ["-c", "import sys; print('o' * 300_000); print('e' * 300_000, file=sys.stderr); print('o' * 300_000)"],
    "future": ["-c", "print(f.__annotations__ if (f := lambda: 0) else 0); x: int = 3; print(__annotations__)"],
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One that has imported nothing."""
    one = Server(())
    yield one
    one.close()


@pytest.fixture
def run(server: Server) -> Any:
    def run(*arguments: str, timeout: float = 60, **variables: str) -> subprocess.CompletedProcess[str]:
        return server.run(list(arguments), {**os.environ, **variables}, timeout)

    return run


def comparable(text: str) -> list[str]:
    """Lines without addresses, and without those of sources, which Python 3.13 writes of `-c` too."""
    return [re.sub("0x[0-9a-f]+", "0x", line) for line in text.splitlines() if not line.startswith("    ")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_forked_as_fresh(name: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "folder" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys; print(__package__, __spec__.name, sys.argv, sys.path[0])")
    for script, text in (("interpreter", INTERPRETER), ("ending", ENDING), ("spawned", SPAWNED), ("error", "1 / 0")):
        (tmp_path / f"{script}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    arguments = PROGRAMS[name]
    command, variables = [sys.executable, *arguments], dict(os.environ)
    fresh = subprocess.run(
        command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    forked = server.run(arguments, variables, 60)
    assert (forked.args, forked.returncode) == (fresh.args, fresh.returncode)
    assert comparable(forked.stdout) == comparable(fresh.stdout)
    assert comparable(forked.stderr) == comparable(fresh.stderr)


def test_what_one_does_the_next_does_not_see(run: Any) -> None:
    code = "import os, sys, signal, warnings; print(os.environ.get('A'), 'wave' in sys.modules, signal.SIGINT.name)"
    change = "; import wave; os.environ['A'] = '2'; os.chdir('/'); warnings.resetwarnings()"
    assert run("-c", code + change, A="1").stdout == "1 False SIGINT\n"
    assert run("-c", code).stdout == "None False SIGINT\n"


def test_generators_are_not_shared() -> None:
    """Those that are seeded by the time are so in each process; torch's begins as it does in every fresh one."""
    code = "import random, numpy, torch; print(random.random(), numpy.random.random(), torch.rand(1).item())"
    one, other = (python(["-c", code], lean=True).stdout.split() for _ in range(2))
    assert one[0] != other[0] and one[1] != other[1] and one[2] == other[2]


def test_environment_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text("import os; print(os.environ['FASTAUG_JPEG'], os.environ.get('FASTAUG_ISA'))")
    monkeypatch.setenv("FASTAUG_ISA", "bogus")
    assert python(["-c", "import own"], folder=tmp_path, FASTAUG_JPEG="own").stdout == "own None\n"
    assert python(["-c", "import own"], isa="scalar", folder=tmp_path, FASTAUG_JPEG="1").stdout == "1 scalar\n"
    # Its own processes find what it finds.
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import own, support'], check=True)"
    assert python(["-c", code], folder=tmp_path, FASTAUG_JPEG="2").stdout == "2 None\n"


@pytest.mark.parametrize("lean", [True, False])
def test_what_there_is_at_the_start(lean: bool) -> None:
    """Nothing of fastaug, which reads FASTAUG_ISA when it is imported; no threads; no more files than in fresh ones."""
    code = """
import os, sys
names = {name.partition(".")[0] for name in sys.modules}
print(sorted(names & {"fastaug", "torch", "torchvision", "pytest", "hypothesis"}))
print([len(os.listdir(f"/proc/{process}/task")) for process in ("self", os.getppid())])
print(len(os.listdir("/proc/self/fd")))
"""
    modules = ["torch"] if lean else ["pytest", "torch", "torchvision"]
    assert python(["-c", code], lean=lean).stdout == f"{modules}\n[1, 1]\n4\n"
    assert set(LEAN) < set(WHOLE)


def test_all_that_holds_the_output_is_waited_for(run: Any) -> None:
    code = "import os, time; os.fork() or (time.sleep(0.1), print('a child'))"
    assert run("-c", code).stdout.split("\n").count("a child") == 1


def test_many_at_once(run: Any) -> None:
    """Each waits for a file of the other."""
    code = """if True:
        import sys, time, pathlib
        folder, own, other = map(pathlib.Path, sys.argv[1:])
        (folder / own).touch()
        while not (folder / other).exists():
            time.sleep(0.001)
        print(own)
    """

    def one(folder: str, number: int) -> str:
        return str(run("-c", code, folder, str(number), str(number ^ 1)).stdout)

    with ThreadPoolExecutor(6) as pool:
        folder = str(run("-c", "import tempfile; print(tempfile.mkdtemp())").stdout.strip())
        assert list(pool.map(one, [folder] * 6, range(6))) == [f"{k}\n" for k in range(6)]


def is_gone(process: int) -> bool:
    """Whether a process has ended, if nobody may have asked for its status."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(process: int) -> None:
    end = time.monotonic() + 60
    while not is_gone(process):
        assert time.monotonic() < end, f"process {process} is still there"
        time.sleep(0.005)


def test_a_process_that_hangs_is_killed(run: Any) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as raised:
        run("-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)", timeout=1)
    assert raised.value.timeout == 1
    wait_until_gone(int(raised.value.output))
    assert run("-c", "print(1)").stdout == "1\n"


ASKING = """
import os, sys, threading, time
from support.processes import Server
server = Server(())
code = "import os, time; print(os.getpid(), file=open(os.environ['SAID'], 'w')); time.sleep(60)"
threading.Thread(target=server.run, args=(["-c", code], dict(os.environ), 60), daemon=True).start()
while not (os.path.exists(os.environ["SAID"]) and open(os.environ["SAID"]).read()):
    time.sleep(0.005)
print(server.process.pid, open(os.environ["SAID"]).read(), end="", flush=True)
"""


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)", "os._exit(0)", "raise SystemExit(0)"])
def test_nothing_outlives_the_one_who_asks(end: str, tmp_path: Path) -> None:
    result = python(["-c", ASKING + end], SAID=str(tmp_path / "said"))
    processes = [int(word) for word in result.stdout.split()]
    assert len(processes) == 2, result.stderr
    for process in processes:
        wait_until_gone(process)


def test_closing_kills_what_runs() -> None:
    own = Server(())
    pipe, end = os.pipe()
    with ThreadPoolExecutor(1) as pool, os.fdopen(pipe) as said:
        code = f"import os, time; print(os.getpid(), file=open('/proc/{os.getpid()}/fd/{end}', 'w')); time.sleep(60)"
        running = pool.submit(own.run, ["-c", code], dict(os.environ), 60)
        process = int(said.readline())
        own.close()
        assert running.result().returncode == -signal.SIGKILL
    os.close(end)
    assert is_gone(process)
    assert own.process.returncode == 0


def test_a_server_that_cannot_start_says_why() -> None:
    own = Server(["never_installed"])
    with pytest.raises(RuntimeError, match=r"(?s)has ended.*No module named 'never_installed'"):
        own.run(["-c", ""], dict(os.environ), 60)
    own.close()


@pytest.mark.parametrize(
    "arguments", [[], ["-c"], ["-X", "dev", "-c", "1"], ["-I", "-c", "1"], ["-W", "error"], ["-m"]]
)
def test_what_only_an_interpreter_can_do(arguments: list[str]) -> None:
    with pytest.raises(ValueError, match=r"arguments should be .*SCRIPT, got \["):
        python(arguments)
    with pytest.raises(ValueError, match="OMP_NUM_THREADS is read when a process starts: pass fresh=True"):
        python(["-c", "1"], OMP_NUM_THREADS="7")


def test_fresh(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import os, sys; print(os.environ['OMP_NUM_THREADS'], sys.flags.dev_mode)")
    result = python(["-X", "dev", "-m", "own"], folder=tmp_path, fresh=True, OMP_NUM_THREADS="7")
    assert (result.returncode, result.stdout, result.stderr) == (0, "7 True\n", "")
    with pytest.raises(subprocess.TimeoutExpired):
        python(["-c", "import time; time.sleep(60)"], fresh=True, timeout=0.1)
