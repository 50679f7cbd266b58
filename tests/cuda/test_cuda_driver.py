"""Calls of the driver: their order, arguments, errors, and what they leave behind. No GPU is needed, or used."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

import fake_cuda
from support.processes import python


@pytest.fixture(scope="module")
def outcomes(fake_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return fake_cuda.outcomes(fake_library, "driver_cases", tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("case", fake_cuda.cases("driver_cases"))
def test_driver(case: str, outcomes: dict[str, str]) -> None:
    assert not outcomes[case], outcomes[case]


WRONG = """
def case_wrong(fake, folder):
    assert fake.log() == ["cuInit 0"]

def case_right(fake, folder):
    assert fake.log() == []
"""


def test_failures_are_seen(fake_library: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong_cases.py").write_text(WRONG)
    folder = tmp_path / "cases"
    folder.mkdir()
    result = python([fake_cuda.__file__, str(fake_library), "wrong_cases", str(folder)], folder=tmp_path)
    assert "AssertionError" in result.stdout, result.stderr
    assert '"case_right": ""' in result.stdout


def test_an_old_driver(fake_library: Path) -> None:
    """The bindings look functions up once, so what is not there has to be missing from the start."""
    code = f"""
import fake_cuda
fake = fake_cuda.Fake({str(fake_library)!r})
fake.hide("cuStreamIsCapturing")
from fastaug._cuda import driver
with driver.current(0):
    try:
        driver.is_capturing(0)
    except RuntimeError as error:
        print(error)
"""
    result = python(["-c", code], folder=Path(__file__).parent)
    assert "this CUDA driver is too old: it has no cuStreamIsCapturing" in result.stdout, result.stderr


def test_no_driver() -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        pytest.skip("there is a CUDA driver")
    result = python(["-c", "from fastaug._cuda import driver; driver.device(0)"])
    assert "RuntimeError: no CUDA driver: libcuda.so.1 cannot be loaded" in result.stderr


def test_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    from fastaug._cuda import driver

    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(RuntimeError, match="pip install cuda-bindings"):
        driver.device(0)


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = """
import sys
import torch
modules, mapped = set(sys.modules), open("/proc/self/maps").read()
import fastaug._cuda.kernels
print(sorted(name for name in set(sys.modules) - modules if name.split(".")[0] == "cuda"))
print("libcuda.so" in open("/proc/self/maps").read() and "libcuda.so" not in mapped)
"""
    result = python(["-c", code], lean=True)
    assert result.stdout.split() == ["[]", "False"], result.stderr
