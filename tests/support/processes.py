"""Python processes that see the same packages as the tests do."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from fastaug import _C

TESTS = Path(__file__).parents[1]

#: Every instruction set the project knows, best last; those this machine lacks are skipped.
KNOWN_ISAS = ("scalar", "sse4", "avx2", "avx512", "avx512vbmi", "neon")


def _marks(isa: str) -> list[pytest.MarkDecorator]:
    if isa not in _C.isas():
        return [pytest.mark.skip(reason=f"this machine has no {isa}")]
    return [] if isa in ("scalar", _C.isas()[-1]) else [pytest.mark.main]


#: The fast tier has plain code and the best that the machine has.
ISAS = [pytest.param(isa, marks=_marks(isa)) for isa in KNOWN_ISAS]

#: For files whose own tests run on the best. The fast tier runs them once more on plain code alone.
OTHER_ISAS = [
    pytest.param(isa, marks=[*_marks(isa), *([] if isa == "scalar" else [pytest.mark.main])]) for isa in KNOWN_ISAS
]

#: How multiprocessing starts workers.
START_METHODS = ["fork", pytest.param("spawn", marks=pytest.mark.main)]

#: What the processes that fork have imported: nothing of fastaug, which reads FASTAUG_ISA then.
LEAN = ("numpy", "PIL.Image", "torch")
WHOLE = (*LEAN, "PIL.ImageFilter", "torchvision.datasets", "torchvision.transforms.v2", "skimage.data", "pytest")

#: Variables that are read when an interpreter starts, or a library is loaded.
_AT_START = re.compile("PYTHON|LD_|LC_|LANG|OMP_|GOMP_|KMP_|MKL_|OPENBLAS_|ATEN_|TORCH_|PYTORCH_|CUDA_")

_SERVERS: dict[tuple[str, ...], Server] = {}
_STARTING = threading.Lock()


def python(
    arguments: list[str],
    *,
    isa: str | None = None,
    folder: Path | None = None,
    lean: bool = False,
    fresh: bool = False,
    timeout: float = 240,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` with sys.path as it is here after `folder`, and, if given, FASTAUG_ISA set.

    The process is forked by one that has imported the packages of others that take long. `lean`: torch, numpy and
    Pillow alone, where a program depends on torchvision not being imported. `fresh`: none, where it depends on how an
    interpreter starts, on which libraries are loaded, or on torch not being imported.
    """
    path = [str(part) for part in (folder, TESTS, *sys.path) if part]
    variables = {name: value for name, value in os.environ.items() if name != "FASTAUG_ISA"}
    variables.update(environment, PYTHONPATH=os.pathsep.join(path))
    if isa is not None:
        variables["FASTAUG_ISA"] = isa
    if not fresh:
        return _server(LEAN if lean else WHOLE).run(arguments, variables, timeout)
    return subprocess.run(
        [sys.executable, *arguments], env=variables, capture_output=True, text=True, timeout=timeout, check=False
    )


def end_workers(iterator: object) -> None:
    """End the processes of an iterator of torch's whose error keeps it.

    A collection of garbage would end its queues first, and then wait five seconds for each of its workers; in a forked
    child it would meddle with its parent's.
    """
    if isinstance(iterator, _MultiProcessingDataLoaderIter):
        iterator._shutdown_workers()  # type: ignore[no-untyped-call]


class Server:
    """A process that forks others, and ends with this one; see forking.py."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._variables = dict(os.environ)
        # It forks, so that no library may start threads of its own.
        path = os.pathsep.join(part for part in sys.path if part)
        variables = {**self._variables, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""}
        self._control, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, str(TESTS / "support" / "forking.py"), str(theirs.fileno()), path, *modules],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def close(self) -> None:
        """End it, and what it has forked."""
        atexit.unregister(self.close)
        self._control.close()
        self.process.communicate()

    def run(self, arguments: list[str], variables: dict[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
        """What subprocess.run gives for `python ARGUMENTS`, with its output as text."""
        options, rest = _options(arguments)
        for name in {*variables, *self._variables} - {"PYTHONPATH"}:
            if _AT_START.match(name) and variables.get(name) != self._variables.get(name):
                raise ValueError(f"{name} is read when a process starts: pass fresh=True")
        request = {
            "command": arguments,
            "warnings": options,
            "arguments": rest,
            "environment": variables,
            "directory": os.getcwd(),
        }
        pipes = [os.pipe() for _ in range(3)]
        reading = [pipe[0] for pipe in pipes]
        try:
            with tempfile.TemporaryFile() as file:
                file.write(json.dumps(request).encode())
                file.seek(0)
                files = [file.fileno(), *(pipe[1] for pipe in pipes)]
                with contextlib.suppress(BrokenPipeError):
                    socket.send_fds(self._control, [b"?"], files)
            for pipe in pipes:
                os.close(pipe[1])
            (output, errors, status), whole = _drained(reading, time.monotonic() + timeout)
        finally:
            for file in reading:
                os.close(file)
        numbers = [int(number) for number in status.split()]
        command = [sys.executable, *arguments]
        if not whole:
            if len(numbers) == 1:
                os.kill(numbers[0], signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout, output, errors)
        if len(numbers) != 2:
            assert self.process.stdout is not None
            raise RuntimeError(f"the process that forks has ended:\n{self.process.stdout.read().decode()}")
        return subprocess.CompletedProcess(command, numbers[1], _text(output), _text(errors))


def _server(modules: tuple[str, ...]) -> Server:
    with _STARTING:
        if modules not in _SERVERS:
            _SERVERS[modules] = Server(modules)
        return _SERVERS[modules]


def _options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What -W is given, and the arguments from -c, -m or a script on."""
    options, rest = [], list(arguments)
    while rest[:1] == ["-W"]:
        options.append(rest[1])
        del rest[:2]
    if not rest or (rest[0].startswith("-") and (rest[0] not in ("-c", "-m") or len(rest) < 2)):
        raise ValueError(f"arguments should be [-W FILTER].. and -c CODE, -m MODULE or SCRIPT, got {arguments}")
    return options, rest


def _drained(pipes: list[int], end: float) -> tuple[list[bytes], bool]:
    """What is written to pipes, and whether all were closed before a time."""
    parts: dict[int, list[bytes]] = {pipe: [] for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                part = os.read(key.fd, 1 << 16)
                parts[key.fd].append(part)
                if not part:
                    selector.unregister(key.fd)
        whole = not selector.get_map()
    return [b"".join(part) for part in parts.values()], whole


def _text(data: bytes) -> str:
    """Decoded as subprocess does, with newlines for every kind of line end."""
    return io.TextIOWrapper(io.BytesIO(data)).read()
