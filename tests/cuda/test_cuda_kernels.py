"""Which kernels are compiled, when, and that none is lost; see kernel_cases.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import fake_cuda


@pytest.fixture(scope="module")
def outcomes(nvrtc_here: None, fake_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return fake_cuda.outcomes(fake_library, "kernel_cases", tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("case", fake_cuda.cases("kernel_cases"))
def test_kernels(case: str, outcomes: dict[str, str]) -> None:
    assert not outcomes[case], outcomes[case]
