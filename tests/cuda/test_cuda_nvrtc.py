"""NVRTC compiles here, on machines without a GPU too."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fastaug._cuda import bindings, nvrtc
from support.processes import python

pytestmark = pytest.mark.usefixtures("nvrtc_here")

FILL = 'extern "C" __global__ void fill(float* to, float value) { to[threadIdx.x] = value; }'

#: What device code may rely on.
SHIMS_HOLD = """
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cstdint>
template <class A, class B> inline constexpr bool kSame = false;
template <class A> inline constexpr bool kSame<A, A> = true;
static_assert(sizeof(int8_t) == 1 && sizeof(int16_t) == 2 && sizeof(int32_t) == 4 && sizeof(int64_t) == 8);
static_assert(sizeof(uint8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(uint32_t) == 4 && sizeof(uint64_t) == 8);
static_assert(sizeof(intptr_t) == sizeof(void*) && sizeof(uintptr_t) == sizeof(void*));
static_assert(kSame<std::uint8_t, uint8_t> && kSame<std::int64_t, int64_t> && kSame<std::size_t, size_t>);
static_assert(kSame<std::ptrdiff_t, decltype((char*)0 - (char*)0)> && kSame<std::size_t, decltype(sizeof(0))>);
static_assert(kSame<std::nullptr_t, decltype(nullptr)>);
static_assert(int8_t(-1) < 0 && uint8_t(-1) == UINT8_MAX && int16_t(INT16_MIN) < 0 && uint16_t(-1) == UINT16_MAX);
static_assert(INT32_MIN < 0 && INT32_MAX + 1u == 1u << 31 && UINT32_MAX + 1 == 0 && UINT64_MAX + 1 == 0);
static_assert(INT64_MIN < 0 && INT64_MAX + 1ul == 1ul << 63 && kSame<decltype(INT64_MAX), int64_t>);
static_assert(INT8_MIN == -INT8_MAX - 1 && INT16_MAX == 32767);
static_assert(kSame<decltype(std::floor(1.5f)), float> && kSame<decltype(std::floor(1.5)), double>);
extern "C" __global__ void shims(double* to, const float* from, int64_t count) {
  to[0] = std::trunc(to[1]) + std::pow(to[2], to[3]) + std::sqrt(from[0]) + std::nearbyint(from[1]);
  std::memcpy(to + 4, from, 8);
  std::memset(to + 5, 0, static_cast<std::size_t>(count));
}
"""

#: Holds sixty numbers at once.
SPILLS = """
extern "C" __global__ void spills(volatile float* data) {
  float held[60];
#pragma unroll
  for (int k = 0; k < 60; ++k) held[k] = data[k];
#pragma unroll
  for (int k = 59; k >= 0; --k) data[k + 60] = held[k] * held[(k * 7 + 1) % 60];
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_machine_code(arch: str) -> None:
    binary = nvrtc.compile(FILL, {}, arch)
    assert binary.kind == "cubin"
    assert binary.data[:4] == b"\x7fELF"
    # The machine of an ELF file: EM_CUDA.
    assert int.from_bytes(binary.data[18:20], "little") == 190
    assert f"'fill' for '{arch}'" in binary.log
    (report,) = binary.reports
    assert report.name == "fill"
    assert 0 < report.registers < 64
    assert (report.stack_frame, report.spill_stores, report.spill_loads) == (0, 0, 0)


@pytest.mark.parametrize(("arch", "virtual"), [("sm_999", "121"), ("sm_76", "75")])
def test_unknown_architectures_get_ptx(arch: str, virtual: str) -> None:
    if virtual == "121":
        virtual = str(nvrtc.supported()[-1])
    binary = nvrtc.compile(FILL, {}, arch)
    assert binary.kind == "ptx"
    assert f".target sm_{virtual}".encode() in binary.data
    assert b".entry fill" in binary.data
    assert binary.data.endswith(b"\0"), "the driver reads it to its end"
    assert binary.reports == ()


def test_what_is_compiled_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "supported", lambda: (75, 80, 90, 100))
    assert nvrtc.target("sm_90") == ("cubin", "sm_90")
    assert nvrtc.target("sm_89") == ("ptx", "compute_80")
    assert nvrtc.target("sm_121") == ("ptx", "compute_100")
    with pytest.raises(RuntimeError, match=r"compute capability 7\.5 and later; the GPU has 7\.0"):
        nvrtc.target("sm_70")


@pytest.mark.parametrize("arch", ["90", "sm_9", "compute_90", "sm_90a", ""])
def test_bad_architecture(arch: str) -> None:
    with pytest.raises(ValueError, match=r"arch is .*'sm_90'"):
        nvrtc.compile(FILL, {}, arch)


def test_shims() -> None:
    assert nvrtc.compile(SHIMS_HOLD, {}, "sm_75").reports[0].name == "shims"


def test_a_broken_assertion_is_seen() -> None:
    with pytest.raises(nvrtc.CompileError):
        nvrtc.compile(SHIMS_HOLD + "static_assert(sizeof(std::uint8_t) == 2);", {}, "sm_75")


def test_headers() -> None:
    source = '#include "a/b.h"\n#include <cstring>\nextern "C" __global__ void k(Value* to) { *to = kValue; }'
    headers = {"a/b.h": "#include <cstdint>\nusing Value = uint8_t;", "cstring": "constexpr Value kValue = 3;"}
    assert nvrtc.compile(source, headers, "sm_75").reports[0].name == "k"


def test_errors_carry_the_log() -> None:
    with pytest.raises(nvrtc.CompileError, match="did not compile a kernel for sm_75") as raised:
        nvrtc.compile('extern "C" __global__ void k(int* to) {\n  *to = missing;\n}', {}, "sm_75")
    assert 'fastaug.cu(2): error: identifier "missing" is undefined' in raised.value.log
    assert raised.value.log in str(raised.value)


def test_a_bad_option() -> None:
    with pytest.raises(nvrtc.CompileError, match="INVALID_OPTION"):
        nvrtc.compile(FILL, {}, "sm_75", ["--no-such-option"])


def test_warnings_are_kept() -> None:
    log = nvrtc.compile(FILL.replace("{", "{ int unused = 1; ", 1), {}, "sm_75").log
    assert "unused" in log


def test_products_and_sums_are_rounded_apart() -> None:
    """fma rounds once where the reference rounds twice."""
    source = 'extern "C" __global__ void k(float* a) { a[0] = a[1] * a[2] + a[3]; }'
    assert b"fma.rn" not in nvrtc.compile(source, {}, "sm_999").data
    without = [option for option in nvrtc.OPTIONS if "fmad" not in option]
    assert b"fma.rn" in nvrtc.compile(source, {}, "sm_999", without).data


def test_spills_are_reported() -> None:
    reports = nvrtc.compile(SPILLS + FILL, {}, "sm_90", [*nvrtc.OPTIONS, "--maxrregcount=32"]).reports
    found = {report.name: report for report in reports}
    assert set(found) == {"spills", "fill"}
    assert found["spills"].registers <= 32
    assert found["spills"].stack_frame > 0
    assert found["spills"].spill_stores > 0
    assert found["spills"].spill_loads > 0
    assert found["fill"].spill_stores == 0
    assert nvrtc.compile(SPILLS, {}, "sm_90").reports[0].spill_stores == 0


LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
ptxas         .     96 bytes stack frame, 12 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 96 bytes cumulative stack size
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'cut short' for 'sm_90'
"""


def test_reports() -> None:
    assert nvrtc.reports(LOG) == (nvrtc.Report("first", 64, 96, 12, 28), nvrtc.Report("second", 255, 0, 0, 0))
    assert nvrtc.reports("") == ()


def test_threads() -> None:
    sources = [FILL.replace("value;", f"value + {k};") for k in range(6)]
    alone = [nvrtc.compile(source, {}, "sm_90").data for source in sources]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda source: nvrtc.compile(source, {}, "sm_90").data, sources)) == alone
    assert len(set(alone)) == 6


@pytest.mark.parametrize("before", ["", "import torch", "ctypes.CDLL(str(nvrtc._on_path()))"])
def test_libraries_are_found(before: str) -> None:
    """Alone, beside torch, which loads NVRTC itself, and where somebody has loaded it without what it needs."""
    code = f"""
import ctypes, sys
from fastaug._cuda import nvrtc
{before}
print(nvrtc.compile({FILL!r}, {{}}, "sm_90").kind, "torch" in sys.modules)
print([path.name.split(".so")[0] for path in nvrtc._mapped()])
"""
    result = python(["-W", "error", "-c", code], fresh=True)
    assert result.stdout.splitlines() == [
        f"cubin {'torch' in before}",
        "['libnvrtc-builtins', 'libnvrtc']",
    ], result.stderr


def test_the_version_tells_builds_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "libnvrtc.so.13").write_bytes(b"12345")
    monkeypatch.setattr(nvrtc, "_mapped", lambda: [tmp_path / "libnvrtc-builtins.so.13.0", tmp_path / "libnvrtc.so.13"])
    _, major, minor = nvrtc._nvrtc().nvrtcVersion()
    assert nvrtc.version.__wrapped__() == f"{major}.{minor} (5 bytes)"


def failing(*, reason: str = "no libnvrtc.so.13 anywhere") -> types.SimpleNamespace:
    def version() -> Sequence[int]:
        raise RuntimeError(reason)

    return types.SimpleNamespace(nvrtcVersion=version)


def test_no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "load", lambda name: failing())
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(RuntimeError, match=r"pip install cuda-bindings nvidia-cuda-nvrtc \(no libnvrtc"):
        nvrtc._load.__wrapped__()


def test_no_usable_nvrtc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"not a library")
    monkeypatch.setattr(bindings, "load", lambda name: failing())
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(RuntimeError, match=r"pip install cuda-bindings nvidia-cuda-nvrtc .*libnvrtc\.so\.13"):
        nvrtc._load.__wrapped__()


def test_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    with pytest.raises(RuntimeError, match=r"needs cuda\.bindings\.nvrtc.*pip install cuda-bindings"):
        nvrtc._load.__wrapped__()
