"""Products and sums of kernels are rounded apart, as everywhere else: the machine code has no multiply-adds of its own.

Those that are there are in divisions, which need them, or are called by name: the short form of stores, a fused blur.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fastaug import _C
from fastaug._cuda import nvrtc
from fastaug._cuda.kernels import Spec

_ARCHS = ("sm_75", "sm_90", "sm_120")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@\S+\s+)?([A-Z0-9]+)", re.MULTILINE)
#: HFMA2 is not among them: it is how constants come into registers.
_FUSED = ("FFMA", "FFMA2", "DFMA")

_BYTES, _FLOAT32 = 0, 1
_READ, _KEEP, _STORE = 2, 1, 2  # flags, ends, ends
_PART = _C.cuda_headers()["cuda/part.h"]


def _params(values: Iterable[str], fast: Collection[str]) -> list[Any]:
    """Of these the fast tier has some: of architectures one, and of cases each way to read a source, and divisions."""
    return [pytest.param(value, marks=[] if value in fast else [pytest.mark.main]) for value in values]


def _enumerators(name: str) -> list[str]:
    """Of an enumeration that begins at 0, in their order."""
    found = re.search(rf"enum {name} [^{{]*{{([^}}]*)}}", _PART)
    assert found is not None
    return re.findall(r"\bk\w+", found[1])


def _constant(name: str) -> int:
    """What a name stands for that is written as a number, or as 1 << number."""
    found = re.search(rf"\b{name} = (?:1 << )?(\d+)", _PART)
    assert found is not None
    return int(found[1])


_STEPS = {name: 1 << number for number, name in enumerate(_enumerators("StepKind"))}
_FILTERS = _STEPS["kAcross"] | _STEPS["kDown"]
_COLOURED = _STEPS["kStepKinds"] << _constant("kColoured")
_DIVISION = 1 << _constant("kHasDivision")
_LOOKUPS = 1 << _constant("kHasLookups")


@functools.cache
def _disassembler() -> str | None:
    """CUDA's, or the one that Triton brings."""
    found = shutil.which("nvdisasm")
    triton = importlib.util.find_spec("triton")
    if found is None and triton is not None:
        for place in triton.submodule_search_locations or []:
            path = Path(place) / "backends/nvidia/bin/nvdisasm"
            found = str(path) if path.exists() else found
    return found


@pytest.fixture(scope="module", autouse=True)
def disassembler(nvrtc_here: None) -> None:
    if _disassembler() is None:
        pytest.skip("no nvdisasm, neither of CUDA's toolkit nor of Triton")


@functools.cache
def _instructions(source: str, arch: str, options: Sequence[str] = nvrtc.OPTIONS) -> Counter[str]:
    """How often the machine code of a source has each instruction."""
    binary = nvrtc.compile(source, _C.cuda_headers(), arch, options)
    path = _disassembler()
    assert path is not None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary.data)
        file.flush()
        text = subprocess.run([path, "-c", file.name], capture_output=True, text=True, check=True, timeout=60).stdout
    counted = Counter(_INSTRUCTION.findall(text))
    assert counted["EXIT"] > 0, text[:2000]
    return counted


def _fused(source: str, arch: str) -> tuple[int, ...]:
    counted = _instructions(source, arch)
    return tuple(counted[name] for name in _FUSED)


@functools.cache
def _of_divisions(floats: int, doubles: int, arch: str) -> tuple[int, ...]:
    """What so many divisions take, and nothing else."""
    lines = [f"f[{k}] = f[{k + 100}] / f[{k + 200}];" for k in range(floats)]
    lines += [f"d[{k}] = d[{k + 100}] / d[{k + 200}];" for k in range(doubles)]
    return _fused(f'extern "C" __global__ void divide(float* f, double* d) {{ {" ".join(lines)} }}', arch)


def _bits(*ops: str) -> int:
    numbers = {name: number for number, (name, _) in enumerate(_C.OPS)}
    return sum(1 << numbers[op] for op in ops)


def _coloured(dtype: int, *ops: str, channels: int = 3) -> Spec:
    return (0, channels, dtype, _COLOURED, _STORE, _bits(*ops), _READ)


class Case(NamedTuple):
    """A spec whose results are bytes, and the divisions that its bodies have in float32 and float64."""

    spec: Spec
    floats: int = 0
    doubles: int = 0


_CASES = {
    "read": Case((0, 3, _BYTES, 0, _STORE, 0, _READ)),
    "filters": Case((0, 3, _BYTES, _FILTERS, _KEEP, 0, _READ)),
    "filters of one channel": Case((0, 1, _BYTES, _FILTERS, _KEEP, 0, _READ)),
    "nearest affine": Case((1, 3, _BYTES, 0, _KEEP, 0, _READ)),
    "linear affine": Case((2, 3, _BYTES, 0, _KEEP, 0, _READ)),
    "cubic affine": Case((3, 3, _BYTES, 0, _KEEP, 0, _READ)),
    "sharpness": Case((0, 3, _BYTES, _STEPS["kSharpen"], _STORE, 0, _READ)),
    "lookups": Case((0, 3, _BYTES, _COLOURED, _STORE, 0, _READ | _LOOKUPS)),
    "brightness and saturation": Case(_coloured(_BYTES, "BRIGHTNESS", "SATURATION")),
    # The mean is Pillow's, or torch's.
    "contrast too": Case(_coloured(_BYTES, "BRIGHTNESS", "CONTRAST", "SATURATION"), 1, 1),
    "luma": Case(_coloured(_BYTES, "LUMA")),
    # By the spread of the colours, by the largest, and by six.
    "hue": Case(_coloured(_BYTES, "HUE"), 3),
}
_FAST = ("read", "nearest affine", "linear affine", "cubic affine", "contrast too")
_QUICK = ("read", "filters", "brightness and saturation", "contrast too", "hue")


@pytest.mark.parametrize("arch", _params(_ARCHS, ["sm_90"]))
@pytest.mark.parametrize("name", _params(_CASES, _FAST))
def test_only_divisions_fuse(name: str, arch: str) -> None:
    case = _CASES[name]
    assert _fused(_C.cuda_source(case.spec), arch) == _of_divisions(case.floats, case.doubles, arch)


@pytest.mark.parametrize("arch", _params(_ARCHS, ["sm_90"]))
@pytest.mark.parametrize("name", _params(_QUICK, ["read", "contrast too"]))
def test_quick_stores_fuse_twice_a_sample(name: str, arch: str) -> None:
    """A product, a sum that is fused with another; a difference; once more. Loops may be unrolled: then all are."""
    case = _CASES[name]
    source, channels, _, steps, _, ops, flags = case.spec
    kernel = _C.cuda_source((source, channels, _FLOAT32, steps, _STORE, ops, flags))
    single, packed, double = _fused(kernel, arch)
    divisions = _of_divisions(case.floats, case.doubles, arch)
    assert (packed, double) == divisions[1:]
    stored = single - divisions[0]
    assert stored > 0 and stored % (2 * channels) == 0
    if ops == 0:
        counted = _instructions(kernel, arch)
        assert counted["FMUL"] == stored
        assert counted["FADD"] == stored // 2


@pytest.mark.parametrize("arch", _params(_ARCHS, ["sm_90"]))
def test_stores_that_divide(arch: str) -> None:
    """By 255 and by the deviation, for each channel; and the short form, which may have some in common with them."""
    single, packed, double = _fused(_C.cuda_source((0, 3, _FLOAT32, 0, _STORE, 0, _READ | _DIVISION)), arch)
    assert 0 <= single - _of_divisions(6, 0, arch)[0] <= 2 * 3
    assert (packed, double) == (0, 0)


@pytest.mark.parametrize("arch", _params(_ARCHS, ["sm_90"]))
def test_blur_fuses_where_it_is_told_to(arch: str) -> None:
    """There are two forms of it: one fuses, the other multiplies and adds as often."""
    counted = _instructions(_C.cuda_source((0, 3, _BYTES, _STEPS["kBlur"], _STORE, 0, _READ)), arch)
    assert 0 < counted["FFMA"] == counted["FADD"] < counted["FMUL"]
    assert counted["FFMA2"] == counted["DFMA"] == 0


@pytest.mark.parametrize("arch", _params(_ARCHS, ["sm_90"]))
def test_contraction_would_be_seen(arch: str) -> None:
    source = _C.cuda_source(_CASES["brightness and saturation"].spec)
    assert "--fmad=false" in nvrtc.OPTIONS
    contracted = tuple(option for option in nvrtc.OPTIONS if option != "--fmad=false")
    assert _instructions(source, arch, contracted)["FFMA"] > _instructions(source, arch)["FFMA"]
