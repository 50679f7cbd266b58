"""The device that is measured: a CUDA device by torch, or one that is emulated on the host."""

from __future__ import annotations

import ctypes
import datetime
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

from fastaug._cuda import driver, memory, nvrtc

ROOT = Path(__file__).resolve().parents[2]

#: Libraries that do such things on GPUs, by their modules.
OTHERS = {"torchvision": "torchvision", "Kornia": "kornia", "DALI": "nvidia.dali", "CV-CUDA": "cvcuda"}


class Machine(Protocol):
    """What checks and times need of a device."""

    @property
    def emulated(self) -> bool: ...
    @property
    def bags(self) -> memory.Device:
        """The same device, as fastaug sees it."""

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy there, with the same strides."""

    def synchronize(self) -> None: ...
    def time(self, call: Callable[[], Any]) -> float:
        """Seconds between a point of the stream before a call, and one after all that it asked for."""

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy on the host that the device can read by itself."""

    def free(self) -> int:
        """Bytes that can still be had there."""

    def forget_kernels(self) -> None:
        """Unloads all kernels, so that the next ones are made for what asks for them."""


class Gpu:
    """The current CUDA device."""

    emulated = False

    def __init__(self) -> None:
        self._device = torch.device("cuda", torch.cuda.current_device())
        self.bags = memory.of(self._device)

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        there = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=self._device)
        return there.copy_(tensor)

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def time(self, call: Callable[[], Any]) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        kept = call()
        end.record()
        end.synchronize()
        del kept
        return begin.elapsed_time(end) / 1e3

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.pin_memory()

    def free(self) -> int:
        held = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(torch.cuda.mem_get_info()[0]) + held

    def forget_kernels(self) -> None:
        from fastaug._cuda import kernels

        torch.cuda.synchronize()
        kernels.of(self._device.index).close()


class Emulated:
    """The host instead of a device, with the tests' emulation: for trying this program, not for times.

    Args:
        patch: pytest's, by which fastaug gets it; one that is never undone by default.
    """

    emulated = True

    def __init__(self, patch: Any = None) -> None:
        sys.path.insert(0, str(ROOT / "tests"))
        import pytest

        from support import devices

        self.bags: Any = devices.install(patch or pytest.MonkeyPatch()).devices[0]

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        there: torch.Tensor = self.bags.put(tensor)
        return there

    def synchronize(self) -> None:
        """Everything is done when it is begun."""

    def time(self, call: Callable[[], Any]) -> float:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    def free(self) -> int:
        return 1 << 40  # a few images are small

    def forget_kernels(self) -> None:
        """There are none."""


def why_no_gpu() -> str | None:
    """Why fastaug can use none here; None if it can."""
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} sees no CUDA device"
    try:
        memory.of(torch.device("cuda"))
    except (RuntimeError, ValueError) as error:
        return str(error)
    return None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def found() -> dict[str, bool]:
    """Which of the other libraries are here."""
    return {name: importable(module) for name, module in OTHERS.items()}


def tool(name: str) -> str | None:
    """The path of one of NVIDIA's tools: on PATH, where CUDA is installed, or beside Python's packages."""
    if path := shutil.which(name):
        return path
    homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", *sys.path]
    patterns = (f"bin/{name}", f"{name}/{name}", f"nvidia/*/bin/{name}", f"nvidia/*/{name}/{name}")
    for home in filter(None, homes):
        for pattern in patterns:
            for path in Path(home).glob(pattern):
                if path.is_file() and os.access(path, os.X_OK):
                    return str(path)
    return None


def _driver() -> str:
    version = driver._call("cuDriverGetVersion")
    cuda = f"for CUDA {version // 1000}.{version % 1000 // 10}"
    try:
        number = re.search(r"\d{3,}\.[\d.]+", Path("/proc/driver/nvidia/version").read_text())
    except OSError:
        return cuda
    return f"{number[0]}, {cuda}" if number else cuda


def about() -> dict[str, Any]:
    """Names and versions, as far as there are any."""
    import fastaug
    from fastaug._inspect.info import processor

    said: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "gpu": "none",
        "cpu": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "isa": fastaug.isa(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "fastaug": fastaug.__version__,
        "torch": torch.__version__,
    }
    said |= {
        name: version for name in ("numpy", "pillow", "cuda-bindings", "torchvision") if (version := _version(name))
    }
    try:
        said["nvrtc"] = nvrtc.version()
    except RuntimeError as error:
        said["nvrtc"] = f"none ({error})"
    if why_no_gpu() is None:
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        device = driver.device(torch.cuda.current_device())
        said["gpu"] = properties.name
        said["driver"] = _driver()
        said["capability"] = "{}.{}".format(*device.capability)
        said["multiprocessors"] = device.multiprocessors
        said["L2"] = f"{device.l2 >> 20} MiB"
        said["memory"] = f"{properties.total_memory >> 30} GiB"
    said["other libraries"] = ", ".join(name for name, here in found().items() if here) or "none"
    tools = (name for name in ("ncu", "compute-sanitizer") if tool(name))
    said["tools"] = ", ".join(tools) or "none"
    return said


def copy_rate(size: int = 2 << 30) -> float:
    """Bytes a second of a copy on the device, read and written."""
    machine, source = Gpu(), torch.empty(size, dtype=torch.uint8, device="cuda").fill_(1)
    target = torch.empty_like(source)
    times = [machine.time(lambda: target.copy_(source)) for _ in range(12)]
    return 2 * size / sorted(times[2:])[5]


def upload_rate(pinned: bool, size: int = 256 << 20) -> float:
    """Bytes a second of copies to the device."""
    machine, source = Gpu(), torch.ones(size, dtype=torch.uint8)
    source = source.pin_memory() if pinned else source
    target = torch.empty(size, dtype=torch.uint8, device="cuda")
    times = [machine.time(lambda: target.copy_(source, non_blocking=pinned)) for _ in range(9)]
    return size / sorted(times[2:])[3]


#: Sixteen chains of multiplications and additions, which wait for nothing but the issue of instructions.
_CHAINS, _STEPS, _ROUNDS, _THREADS = 16, 8, 4096, 256
_ISSUE = """
extern "C" __global__ void issue(float* out, float by) {
  float x[16];
  for (int k = 0; k < 16; ++k) x[k] = threadIdx.x + k;
  for (int round = 0; round < 4096; ++round) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int k = 0; k < 16; ++k) x[k] = __fmaf_rn(x[k], by, 1.0f);
    }
  }
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def issue_rate() -> float:
    """Instructions of warps a second that the device issues at most: single-precision multiplications and additions.

    A multiprocessor issues one for each of its four schedulers a cycle (CUDA C++ Programming Guide, "Arithmetic
    Instructions": 128 results a cycle since compute capability 8.6, and 9.0).
    """
    index = torch.cuda.current_device()
    device, machine = driver.device(index), Gpu()
    module = driver.Module(index, nvrtc.compile(_ISSUE, {}, device.arch).data)
    blocks = 8 * device.multiprocessors
    out = torch.empty(blocks * _THREADS, device="cuda")
    pointer, factor = ctypes.c_void_p(out.data_ptr()), ctypes.c_float(0.5)
    parameters = (ctypes.c_void_p * 2)(*(ctypes.addressof(one) for one in (pointer, factor)))
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )
    launch, function = prototype(driver.launch_address()), module.function("issue")

    def call() -> None:
        stream = torch.cuda.current_stream().cuda_stream
        with driver.current(index):
            code = launch(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, ctypes.addressof(parameters), None)
        if code:
            raise RuntimeError(f"cuLaunchKernel failed with {code}")

    times = [machine.time(call) for _ in range(9)]
    module.unload()
    return blocks * (_THREADS // 32) * _CHAINS * _STEPS * _ROUNDS / sorted(times[2:])[3]
