"""Every call of CUDA's driver that Python makes.

Modules are loaded into a device's primary context, which is torch's too. It is made current meanwhile, so any thread
may load.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from fastaug._cuda import bindings

#: cuLaunchKernel came with CUDA 4.0, and has been the same since.
_LAUNCH_VERSION = 4000
_SUCCESS = 0
_OUT_OF_MEMORY = 2
_NO_DEVICE = 100
_NOT_FOUND = 500
_CAPTURE_IMPLICIT = 906


class DriverError(RuntimeError):
    """An error of the driver: `code` is the CUresult and `name` its name, such as "CUDA_ERROR_INVALID_IMAGE"."""

    def __init__(self, message: str, code: int, name: str) -> None:
        super().__init__(message)
        self.code = code
        self.name = name


@dataclass(frozen=True)
class Device:
    """The properties of a device that plans depend on."""

    index: int
    #: Compute capability: (9, 0).
    capability: tuple[int, int]
    multiprocessors: int
    #: Bytes.
    l2: int
    #: Bytes of shared memory: of a block by default, of a block at most, and of all blocks of a multiprocessor.
    shared_per_block: int
    shared_per_block_most: int
    shared_per_multiprocessor: int

    @property
    def arch(self) -> str:
        """The architecture for NVRTC, such as "sm_90"."""
        return "sm_{}{}".format(*self.capability)


class Module:
    """Kernels in a device's memory until `unload`, from a cubin, or PTX with a NUL at its end."""

    def __init__(self, index: int, image: bytes) -> None:
        self._index = index
        with current(index):
            self._module = _call("cuModuleLoadData", image)

    def function(self, name: str) -> int:
        """Return the address (CUfunction) of a kernel, which may use all shared memory of a block."""
        attribute = _driver().CUfunction_attribute
        with current(self._index):
            function = _call("cuModuleGetFunction", self._module, name.encode())
            fixed = _call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
            most = device(self._index).shared_per_block_most - fixed
            _call("cuFuncSetAttribute", function, attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
        return int(function)

    def unload(self) -> None:
        """Free the memory. No kernel may be running or be launched later. A second call does nothing."""
        module, self._module = self._module, None
        if module is not None:
            with current(self._index):
                _call("cuModuleUnload", module)


def device(index: int) -> Device:
    """Return the properties of a device.

    Raises:
        ValueError: there is no such device.
        RuntimeError: there is no driver or GPU, or this is a fork of a process that used one.
    """
    _initialise()
    return _device(index)


@contextlib.contextmanager
def current(index: int) -> Iterator[None]:
    """Make a device's primary context this thread's, and restore the one before."""
    _initialise()
    _call("cuCtxPushCurrent", _primary(index))
    try:
        yield
    finally:
        _call("cuCtxPopCurrent")


def launch_address() -> int:
    """Return the address of cuLaunchKernel. Its stream 0 is the legacy default stream, which is torch's."""
    _initialise()
    flag = _driver().CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_LEGACY_STREAM
    try:
        address, _ = _call("cuGetProcAddress", b"cuLaunchKernel", _LAUNCH_VERSION, int(flag))
    except DriverError as error:
        raise (_lacking("cuLaunchKernel") if error.code == _NOT_FOUND else error) from error
    return int(address)


def is_capturing(stream: int, index: int | None = None) -> bool:
    """Return True if work on a stream is recorded into a CUDA graph.

    Args:
        stream: a CUstream's address; 0 is the legacy default stream.
        index: the stream's device; by default that of this thread's current context.
    """
    _initialise()
    with current(index) if index is not None else contextlib.nullcontext():
        try:
            status = _call("cuStreamIsCapturing", stream)
        except DriverError as error:
            # The legacy stream refuses this while another stream that waits for it is captured.
            if error.code == _CAPTURE_IMPLICIT:
                return True
            raise
    return int(status) != 0


def refuse_capture(stream: int, index: int | None = None) -> None:
    """Raise a RuntimeError if `is_capturing`."""
    if is_capturing(stream, index):
        raise RuntimeError(
            "fastaug cannot be captured into a CUDA graph: parameters are drawn on the host at every call, and a graph"
            " would repeat those of the first; call it before the capture, or outside of it"
        )


# The process that called cuInit; forks of it cannot use the driver.
_owner: int | None = None
_STARTING = threading.Lock()


def _initialise() -> None:
    global _owner
    if _owner is not None and _owner == os.getpid():
        return
    if _owner is not None or torch.cuda._is_in_bad_fork():  # type: ignore[attr-defined, unused-ignore]
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn'"
            " start method"
        )
    with _STARTING:
        if _owner is None:
            _call("cuInit", 0)
            _owner = os.getpid()


# A fork while another thread starts the driver would leave the lock held.
os.register_at_fork(after_in_child=lambda: globals().update(_STARTING=threading.Lock()))


@functools.cache
def _device(index: int) -> Device:
    count = _call("cuDeviceGetCount")
    if not 0 <= index < count:
        raise ValueError(f"index is {index}, and there are {count} CUDA devices, which are numbered from 0")
    handle = _call("cuDeviceGet", index)
    attribute = _driver().CUdevice_attribute

    def value(name: str) -> int:
        return int(_call("cuDeviceGetAttribute", getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), handle))

    return Device(
        index,
        (value("COMPUTE_CAPABILITY_MAJOR"), value("COMPUTE_CAPABILITY_MINOR")),
        value("MULTIPROCESSOR_COUNT"),
        value("L2_CACHE_SIZE"),
        value("MAX_SHARED_MEMORY_PER_BLOCK"),
        value("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        value("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
    )


_RETAINING = threading.Lock()
_primaries: dict[int, Any] = {}


def _primary(index: int) -> Any:
    """Return a device's primary context, retained until the process ends."""
    with _RETAINING:
        if index not in _primaries:
            _device(index)
            _primaries[index] = _call("cuDevicePrimaryCtxRetain", _call("cuDeviceGet", index))
        return _primaries[index]


def _driver() -> Any:
    return bindings.load("driver")


def _call(name: str, *arguments: Any) -> Any:
    """Call a function of the driver, and return a value, a tuple of several, or None."""
    try:
        status, *values = getattr(_driver(), name)(*arguments)
    except AttributeError as error:
        raise RuntimeError(f"cuda.bindings has no {name}, which fastaug calls: pip install -U cuda-bindings") from error
    except ValueError as error:
        # The driver is newer than the bindings, which have no name for its CUresult.
        raise RuntimeError(f"{name} failed in a way that cuda.bindings does not know ({error})") from error
    except RuntimeError as error:
        # The bindings raise when the library, or this function of it, is not there.
        if name in str(error):
            raise _lacking(name) from error
        raise RuntimeError(
            f"no CUDA driver: libcuda.so.1 cannot be loaded, which comes with NVIDIA's driver for GPUs ({error})"
        ) from error
    if int(status) != _SUCCESS:
        raise failed(name, int(status))
    return values[0] if len(values) == 1 else tuple(values) or None


def _lacking(name: str) -> RuntimeError:
    return RuntimeError(f"this CUDA driver is too old: it has no {name}, which fastaug calls")


def failed(function: str, code: int) -> Exception:
    """Return the exception for a CUresult."""
    name, text = _word("cuGetErrorName", code), _word("cuGetErrorString", code)
    message = f"{function} failed with {name or code}" + (f": {text}" if text else "")
    if code == _OUT_OF_MEMORY:
        return torch.cuda.OutOfMemoryError(f"CUDA out of memory. {message}")
    if code == _NO_DEVICE:
        return RuntimeError(f"no CUDA GPU is available ({message})")
    return DriverError(message, code, name)


def _word(function: str, code: int) -> str:
    """Return the driver's text for a CUresult, or "" if it is unknown."""
    try:
        unknown, text = getattr(_driver(), function)(_driver().CUresult(code))
    except ValueError:
        return ""
    return text.decode() if int(unknown) == _SUCCESS and text else ""
