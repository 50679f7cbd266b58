"""Compile CUDA C++ by NVRTC, which needs neither a toolkit nor a GPU."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastaug._cuda import bindings

#: Options of every compilation. Products and sums are rounded apart, as in the reference. Functions without a mark are
#: the device's, so that headers are shared with the host. ptxas reports registers and memory.
OPTIONS = ("--fmad=false", "--std=c++20", "-default-device", "--ptxas-options=-v")


def _in_std(names: str) -> str:
    """Return C++ that puts global names into the namespace std."""
    return "namespace std {\n" + "".join(f"using ::{name};\n" for name in names.split()) + "}  // namespace std\n"


#: The parts of the standard library that device code uses. NVRTC has none, but knows these functions of <cmath> and
#: <cstring> as built-in ones of the global namespace. Types are those of 64-bit Linux, where int64_t is long.
SHIMS: Mapping[str, str] = {
    "cstdint": """#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807L - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
"""
    + _in_std("int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t"),
    "cstddef": """#pragma once
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std
""",
    "cmath": "#pragma once\n"
    + _in_std(
        "abs ceil copysign cos exp fabs floor fma fmax fmin fmod isfinite isinf isnan llrint "
        "log lrint lround nearbyint pow rint round signbit sin sqrt trunc"
    ),
    "cstring": "#pragma once\n" + _in_std("memcpy memset"),
}


class CompileError(RuntimeError):
    """An error in a source, with NVRTC's log."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Report:
    """The registers and the bytes of local memory that a thread of a kernel takes."""

    name: str
    registers: int
    stack_frame: int
    spill_stores: int
    spill_loads: int


@dataclass(frozen=True)
class Binary:
    """The result of a compilation."""

    #: "cubin", machine code; or "ptx", which the driver compiles when it is loaded.
    kind: str
    data: bytes
    #: The output of NVRTC and ptxas.
    log: str

    @property
    def reports(self) -> tuple[Report, ...]:
        """A report for each kernel, in the order of the log. PTX has none."""
        return reports(self.log)


_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)'")
_MEMORY = re.compile(r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+)")
_REGISTERS = re.compile(r"Used (?P<registers>\d+) registers")


def reports(log: str) -> tuple[Report, ...]:
    """Read the reports in a log of ptxas with `--ptxas-options=-v`."""
    found = []
    starts = [match.start() for match in _ENTRY.finditer(log)]
    for start, stop in zip(starts, [*starts[1:], len(log)]):
        text = log[start:stop]
        name, memory, registers = _ENTRY.search(text), _MEMORY.search(text), _REGISTERS.search(text)
        if name and memory and registers:
            taken = [int(memory[field]) for field in ("stack", "stores", "loads")]
            found.append(Report(name["name"], int(registers["registers"]), *taken))
    return tuple(found)


def compile(source: str, headers: Mapping[str, str], arch: str, options: Sequence[str] = OPTIONS) -> Binary:
    """Compile a source with `extern "C"` kernels for an architecture, such as "sm_90".

    Threads may compile at once. NVRTC starts a CUDA driver (cuInit), so a fork of a process that compiled cannot use
    CUDA.

    Args:
        source: CUDA C++.
        headers: {name: text} of included files, beside `SHIMS`.
        arch: if it is unknown to NVRTC, the result is PTX for the newest before it.
        options: further options.

    Raises:
        CompileError: the source has errors.
        RuntimeError: NVRTC is not there, or cannot compile for `arch`.
    """
    kind, name = target(arch)
    nvrtc = _nvrtc()
    included = {**SHIMS, **headers}
    arguments = [f"--gpu-architecture={name}".encode(), *(option.encode() for option in options)]
    texts, names = [text.encode() for text in included.values()], [name.encode() for name in included]
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"fastaug.cu", len(names), texts, names))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(arguments), arguments)
        log = _text(nvrtc, "ProgramLog", program).rstrip(b"\0\n").decode(errors="replace")
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise _refused(nvrtc, status, arch, log)
        return Binary(kind, _text(nvrtc, "CUBIN" if kind == "cubin" else "PTX", program), log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def target(arch: str) -> tuple[str, str]:
    """Return the kind and target for an architecture: ("cubin", "sm_90"), or ("ptx", "compute_90") if it is unknown."""
    match = re.fullmatch(r"sm_(\d{2,3})", arch)
    if not match:
        raise ValueError(f"arch is {arch!r}; sm_ and the compute capability without its point are accepted: 'sm_90'")
    wanted = int(match[1])
    known = supported()
    if wanted in known:
        return "cubin", arch
    older = [one for one in known if one < wanted]
    if not older:
        raise RuntimeError(
            f"NVRTC {version()} compiles for GPUs of compute capability {known[0] // 10}.{known[0] % 10} and later; the"
            f" GPU has {wanted // 10}.{wanted % 10}"
        )
    return "ptx", f"compute_{max(older)}"


@functools.cache
def supported() -> tuple[int, ...]:
    """Return the architectures that NVRTC supports, ascending; 90 is sm_90."""
    return tuple(sorted(_checked(_nvrtc().nvrtcGetSupportedArchs())))


@functools.cache
def version() -> str:
    """Return NVRTC's version, and the size of its file, which differs between builds: "13.0 (109172616 bytes)"."""
    nvrtc = _nvrtc()
    _, major, minor = nvrtc.nvrtcVersion()
    sizes = [os.stat(path).st_size for path in _mapped() if _is_nvrtc(path) and path.exists()]
    return f"{major}.{minor} ({', '.join(map(str, sizes))} bytes)"


_LOADING = threading.Lock()


def _nvrtc() -> Any:
    with _LOADING:
        return _load()


@functools.cache
def _load() -> Any:
    nvrtc = bindings.load("nvrtc")
    try:
        versions = nvrtc.nvrtcVersion()
    except Exception as error:
        # The bindings do not search all of sys.path, but find a loaded library by its name.
        path = _on_path()
        if path is None:
            raise _missing(error) from error
        try:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            versions = nvrtc.nvrtcVersion()
        except Exception as second:
            raise _missing(second) from second
    status, major, minor = versions
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise _missing(status)
    _load_builtins(f"libnvrtc-builtins.so.{major}.{minor}")
    return nvrtc


def _load_builtins(name: str) -> None:
    """Load a library that NVRTC opens only by its name."""
    mapped = _mapped()
    if any(path.name.startswith(name) for path in mapped):
        return
    for path in mapped:
        beside = path.with_name(name)
        if _is_nvrtc(path) and beside.exists():
            ctypes.CDLL(str(beside), mode=ctypes.RTLD_GLOBAL)
            return
    # If it is elsewhere, NVRTC may find it by the loader's own search, or raises an error.


def _is_nvrtc(path: Path) -> bool:
    return path.name.startswith(("libnvrtc.so", "libnvrtc-")) and "builtins" not in path.name


def _mapped() -> list[Path]:
    """Return the loaded files of NVRTC."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "libnvrtc" in line}
    return sorted(map(Path, paths))


def _on_path() -> Path | None:
    """Return the newest NVRTC of NVIDIA's packages on sys.path."""
    found = [path for folder in sys.path for path in Path(folder or ".").glob("nvidia/*/lib/libnvrtc.so.*")]
    numbered = [(int(number), path) for path in found if (number := path.name.rsplit(".", 1)[-1]).isdigit()]
    return max(numbered, key=lambda pair: pair[0])[1] if numbered else None


def _missing(reason: object) -> RuntimeError:
    return RuntimeError(
        "fastaug compiles its kernels for CUDA devices with NVRTC (libnvrtc.so), which cannot be loaded; PyTorch's CUDA"
        f" builds bring it, or: pip install cuda-bindings nvidia-cuda-nvrtc ({reason})"
    )


def _refused(nvrtc: Any, status: Any, arch: str, log: str) -> Exception:
    result = nvrtc.nvrtcResult
    if status == result.NVRTC_ERROR_OUT_OF_MEMORY:
        return MemoryError(f"NVRTC ran out of memory while it compiled for {arch}")
    if status == result.NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
        return RuntimeError(f"NVRTC did not find libnvrtc-builtins, which belongs beside libnvrtc.so ({log})")
    return CompileError(f"NVRTC {version()} did not compile a kernel for {arch} ({status.name}):\n{log}", log)


def _checked(result: tuple[Any, ...]) -> Any:
    status, value = result
    if status != type(status).NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC failed with {status.name}")
    return value


def _text(nvrtc: Any, what: str, program: Any) -> bytes:
    """Return a result of a program, with the NUL at its end, if it has one."""
    size: int = _checked(getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    # The bindings write into the bytes, and Python shares equal bytes of length one.
    if size <= 1:
        return b""
    text = b"\0" * size
    (status,) = getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC failed with {status.name}")
    return text
