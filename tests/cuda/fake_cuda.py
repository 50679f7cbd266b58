"""Cases that run under fake_cuda.c, in a process of their own: the bindings then find it and no real driver.

Run as `python fake_cuda.py LIBRARY MODULE FOLDER`, it prints {case: its traceback, or ""} of the functions `case_*` of
a module. Each gets a driver that nobody has used, and an empty folder.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.processes import python

#: CUdevice_attribute: value. A GPU of compute capability 9.0.
ATTRIBUTES = {75: 9, 76: 0, 16: 132, 38: 60 << 20, 8: 48 << 10, 97: 227 << 10, 81: 228 << 10}
MAJOR = 75
INVALID_VALUE, OUT_OF_MEMORY, INVALID_IMAGE, INVALID_CONTEXT, NOT_FOUND = 1, 2, 200, 201, 500
CAPTURE_IMPLICIT, LAUNCH_FAILED = 906, 719

LAUNCHED = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_uint,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
)


class Fake:
    """What a test says to the driver, and reads of it."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self._library.fake_log.restype = ctypes.c_char_p
        self._launched: Any = None

    def reset(self) -> None:
        """As if nobody had called it: one device."""
        self._library.fake_reset()
        for attribute, value in ATTRIBUTES.items():
            self.attribute(0, attribute, value)

    def log(self) -> list[str]:
        """The calls so far, with their arguments."""
        return self._library.fake_log().decode().splitlines()

    def names(self) -> list[str]:
        """The functions called so far."""
        return [line.split()[0] for line in self.log()]

    def fail(self, name: str, n: int, code: int) -> None:
        """The call number `n` of a function from now on fails with a CUresult."""
        self._library.fake_fail(name.encode(), n, code)

    def hide(self, name: str) -> None:
        """A function that cuGetProcAddress does not find."""
        self._library.fake_hide(name.encode())

    def devices(self, count: int) -> None:
        self._library.fake_devices(count)

    def attribute(self, device: int, attribute: int, value: int) -> None:
        self._library.fake_attribute(device, attribute, value)

    def capture(self, stream: int, status: int) -> None:
        """What cuStreamIsCapturing says of a stream; below zero, the CUresult it fails with."""
        self._library.fake_capture(ctypes.c_void_p(stream), status)

    def shared(self, size: int) -> None:
        """Bytes of shared memory that kernels have of their own."""
        self._library.fake_shared(size)

    def on_launch(self, function: Callable[..., int]) -> None:
        """What cuLaunchKernel runs: (name, grid, block, shared, stream, addresses of parameters) to a CUresult."""

        def launched(name: bytes, grid: Any, block: Any, shared: int, stream: int | None, params: Any, _: Any) -> int:
            return function(name.decode(), tuple(grid[:3]), tuple(block[:3]), shared, stream or 0, params)

        self._launched = LAUNCHED(launched)
        self._library.fake_on_launch(self._launched)

    @property
    def modules(self) -> int:
        """Those loaded and not unloaded."""
        return self._library.fake_modules()

    def retained(self, device: int) -> int:
        """How often a primary context is held."""
        return self._library.fake_retained(device)

    @property
    def depth(self) -> int:
        """Contexts that this thread pushed and did not pop."""
        return self._library.fake_depth()


def launch(address: int, function: int, grid: tuple[int, ...], block: tuple[int, ...], **options: Any) -> int:
    """Calls cuLaunchKernel as native code does; `params` is a list of ctypes objects."""
    sizes = [ctypes.c_uint] * 7
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *sizes, *[ctypes.c_void_p] * 3)(address)
    params = options.get("params", [])
    array = (ctypes.c_void_p * len(params))(*[ctypes.addressof(one) for one in params])
    return call(function, *grid, *block, options.get("shared", 0), options.get("stream", 0), array, None)


def cases(module: str) -> list[str]:
    """The names of a module's cases."""
    return [name for name in vars(importlib.import_module(module)) if name.startswith("case_")]


def outcomes(library: Path, module: str, folder: Path) -> dict[str, str]:
    """What each case of a module says in a process of its own: "", or how it failed."""
    result = python([__file__, str(library), module, str(folder)], folder=Path(__file__).parent)
    if result.returncode != 0:
        pytest.fail(f"{module} ended with {result.returncode}:\n{result.stdout}\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def fresh(fake: Fake) -> None:
    """Everything is as in a new process."""
    from fastaug._cuda import driver, kernels

    driver._owner = None
    driver._device.cache_clear()
    driver._primaries.clear()
    kernels._shared.cache_clear()
    fake.reset()


def run_all(library: str, module: str, folder: str) -> dict[str, str]:
    # Before anything that might load a real one.
    fake = Fake(library)
    from cuda.bindings import driver

    # The bindings look up all functions at their first call.
    driver.cuDriverGetVersion()
    found = {}
    for name in cases(module):
        fresh(fake)
        own = Path(folder) / name
        own.mkdir()
        os.environ["FASTAUG_CACHE_DIR"] = str(own / "cache")
        try:
            getattr(sys.modules[module], name)(fake, own)
            found[name] = ""
        except (Exception, pytest.fail.Exception):
            found[name] = traceback.format_exc()
    return found


if __name__ == "__main__":
    faulthandler.enable()
    print(json.dumps(run_all(*sys.argv[1:])))
