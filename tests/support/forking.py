"""A process that has imported what takes seconds, and forks a child for each program that it is sent.

    python forking.py SOCKET PATH MODULE..

`support.processes` sends a byte and four files: the request in JSON, the program's standard output and error, and a
pipe for its process ID and, once it has ended, its exit status. A child runs its program as `python ARGUMENTS` does, to
the interpreter's own end. When the other end of the socket is closed, the server kills what still runs and ends.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import json
import multiprocessing.process
import os
import runpy
import select
import signal
import socket
import sys
import types
import warnings
from importlib.machinery import BuiltinImporter, SourceFileLoader
from pathlib import Path
from typing import Any


def serve(control: socket.socket) -> dict[str, Any]:
    """Fork a child for each request, in which this returns the request; the server itself does not return."""
    running: dict[int, int] = {}
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended, end = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    while True:
        ready, _, _ = select.select([control, ended], [], [])
        if ended in ready:
            os.read(ended, 1 << 12)
            reap(running, os.WNOHANG)
        if control in ready:
            asked, files, _, _ = socket.recv_fds(control, 1, 4)
            if not asked:
                break
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, interrupted)
                control.close()
                for file in (ended, end, files[3], *running.values()):
                    os.close(file)
                return received(*files[:3])
            for file in files[:3]:
                os.close(file)
            running[child] = files[3]
            report(files[3], child)
    for child in running:
        os.kill(child, signal.SIGKILL)
    reap(running, 0)
    os._exit(0)


def reap(running: dict[int, int], options: int) -> None:
    """Report the exit statuses of children that have ended, or, without WNOHANG, of all."""
    for child, file in list(running.items()):
        found, status = os.waitpid(child, options)
        if found:
            report(file, os.waitstatus_to_exitcode(status))
            os.close(running.pop(child))


def report(file: int, number: int) -> None:
    """Write a line to the one who asked, who may have gone, as after a timeout."""
    with contextlib.suppress(BrokenPipeError):
        os.write(file, f"{number}\n".encode())


def received(file: int, output: int, errors: int) -> dict[str, Any]:
    """The request in a file; the other two become standard output and error."""
    with open(file, encoding="utf-8") as text:
        request = json.load(text)
    for opened, number in ((output, 1), (errors, 2)):
        os.dup2(opened, number)
        os.close(opened)
    return request


def set_up(request: dict[str, Any]) -> None:
    """What an interpreter does before the first line of a program."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    multiprocessing.process.ORIGINAL_DIR = request["directory"]  # type: ignore[attr-defined]
    sys.path[:0] = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.orig_argv[1:] = request["command"]
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def set_warnings(options: list[str], before: list[Any]) -> None:
    """As if options of -W had been there `before` the imports, whose filters go before them."""
    added = warnings.filters[: len(warnings.filters) - len(before)]
    warnings.filters[:] = before  # type: ignore[index]
    sys.warnoptions[:] = options
    warnings._processoptions(options)  # type: ignore[attr-defined]
    warnings.filters[:0] = added  # type: ignore[index]


def run(arguments: list[str]) -> None:
    """Run `-c CODE`, `-m MODULE` or `SCRIPT` as the module __main__."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    names: dict[str, Any] = vars(main)
    names["__builtins__"] = builtins
    kind, *rest = arguments
    if kind == "-m":
        sys.argv[:] = ["-m", *rest[1:]]
        sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
        return
    if kind == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        source: bytes | str = rest[0]
        name = "<string>"
        names["__loader__"] = BuiltinImporter
    else:
        sys.argv[:] = arguments
        sys.path.insert(0, str(Path(kind).resolve().parent))
        source = Path(kind).read_bytes()
        name = os.path.abspath(kind)
        names.update(__file__=name, __cached__=None, __loader__=SourceFileLoader("__main__", name))
    exec(compile(source, name, "exec", dont_inherit=True), names)


def show(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Write what an interpreter writes of an error, from the first frame of the program on."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def main(control: str, path: str, *modules: str) -> None:
    own, before = sys.path[1:], list(warnings.filters)
    sys.path[:] = [*path.split(os.pathsep), *own]
    for module in modules:
        importlib.import_module(module)
    sys.path[:] = own
    gc.collect()
    # What is there already is not looked at by the collections of children, which would copy it.
    gc.freeze()
    request = serve(socket.socket(fileno=int(control)))
    set_up(request)
    if request["warnings"]:
        set_warnings(request["warnings"], before)
    try:
        run(request["arguments"])
    except (Exception, KeyboardInterrupt):
        if sys.excepthook is sys.__excepthook__:
            sys.excepthook = show
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
