"""Kernels of real pipelines, and of every op, keep all they need in registers, on GPUs old and new.

All of them, for all GPUs: `make cuda-all`.
"""

from __future__ import annotations

from typing import Any

import pytest

import pipelines
from fastaug import _C
from fastaug._cuda import nvrtc
from fastaug._cuda.kernels import Sources, fitting, tiles

#: Of Turing, the oldest that NVRTC knows; of Hopper; of Blackwell without a data centre.
_ARCHS = ("sm_90", "sm_75", "sm_120")
_SOURCES = Sources()


def _cases() -> list[tuple[pipelines.Kernel, str]]:
    """Those that matter most for all three; of other recipes for Hopper and, by turns, another.

    What is left, fast mode, 16-bit floats, and ops by themselves, is compiled for one, by turns.
    """
    cases = []
    for k, kernel in enumerate(pipelines.kernels(dtypes=("float32",))):
        exact = kernel.mode == "exact"
        if exact and kernel.pipeline.startswith(pipelines.MAIN):
            archs = _ARCHS
        elif exact and kernel.pipeline in pipelines.RECIPES:
            archs = (_ARCHS[0], _ARCHS[1 + k % 2])
        else:
            archs = (_ARCHS[k % 3],)
        cases += [(kernel, arch) for arch in archs]
    main = tuple(name for name in pipelines.RECIPES if name.startswith(pipelines.MAIN))
    known = {kernel.spec for kernel, _ in cases}
    half = [kernel for kernel in pipelines.kernels(main, ("bfloat16",)) if kernel.spec not in known]
    return [*cases, *((kernel, _ARCHS[k % 3]) for k, kernel in enumerate(half))]


def _params() -> list[Any]:
    """The fast tier has one for some of the ways to read a source, for Hopper where there is one."""
    cases = _cases()
    fast: dict[int, tuple[pipelines.Kernel, str]] = {}
    for kernel, arch in sorted(cases, key=lambda case: case[1] != _ARCHS[0]):
        fast.setdefault(kernel.spec[0], (kernel, arch))
    some = list(fast.values())[::4]
    return [pytest.param(*case, marks=[] if case in some else [pytest.mark.main]) for case in cases]


def _name(value: object) -> str:
    if isinstance(value, pipelines.Kernel):
        return f"{value.pipeline}, {value.mode}, {'.'.join(map(str, value.spec))}"
    return str(value)


@pytest.mark.parametrize(("kernel", "arch"), _params(), ids=_name)
def test_tiles_spill_nothing(kernel: pipelines.Kernel, arch: str, nvrtc_here: None) -> None:
    binary = fitting(tiles(_SOURCES, kernel.spec), lambda text: nvrtc.compile(text, _SOURCES.headers, arch))
    _check(binary, "fastaug_tile")


@pytest.mark.parametrize("arch", [_ARCHS[0], *(pytest.param(arch, marks=pytest.mark.main) for arch in _ARCHS[1:])])
def test_preparation_spills_nothing(arch: str, nvrtc_here: None) -> None:
    _check(nvrtc.compile(_SOURCES.prepare(), _SOURCES.headers, arch), "fastaug_prepare")


def _check(binary: nvrtc.Binary, entry: str) -> None:
    assert binary.kind == "cubin"
    (report,) = binary.reports
    assert report.name == entry
    assert (report.stack_frame, report.spill_stores, report.spill_loads) == (0, 0, 0), binary.log
    assert 0 < report.registers <= 255
    assert "warning" not in binary.log, binary.log


def test_every_op_has_a_kernel() -> None:
    """All but AugMix, whose results are bytes, end in one that stores floats."""
    assert set(pipelines.NAMES) >= {name for name, _ in _C.OPS} - set(_C.HOST_OPS)
    for name in pipelines.NAMES:
        for mode in pipelines.MODES:
            for dtype in pipelines.DTYPES:
                last = "uint8" if name == "AugMix" else dtype
                assert any(spec[2] == _C.DTYPES[last] for spec in pipelines.specs(name, mode, dtype)), (
                    name,
                    mode,
                    dtype,
                )


def test_a_gpu_may_hold_fewer_blocks() -> None:
    spec = pipelines.specs("ImageNet eval", "exact", "float32")[0]
    three, two, one = tiles(_SOURCES, spec)
    assert three == _C.cuda_source(spec)
    assert three.replace("(256, 3)", "(256, 2)") == two != three
    assert three.replace("(256, 3)", "(256, 1)") == one
    for blocks in (0, 5, -1):
        with pytest.raises(ValueError, match=f"blocks should be 1 to 4, got {blocks}"):
            _C.cuda_source(spec, blocks)
