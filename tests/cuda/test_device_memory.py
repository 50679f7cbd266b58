"""Torch's side of a device, and the errors of machines that have none; see device_cases.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import fake_cuda
from fastaug._cuda import nvrtc
from on_device import pipeline, states, tensors
from support.outcomes import seed_all
from support.processes import python


@pytest.fixture(scope="module")
def outcomes(nvrtc_here: None, fake_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return fake_cuda.outcomes(fake_library, "device_cases", tmp_path_factory.mktemp("device"))


@pytest.mark.parametrize("case", fake_cuda.cases("device_cases"))
def test_device(case: str, outcomes: dict[str, str]) -> None:
    assert not outcomes[case], outcomes[case]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:3", torch.device("cuda")])
def test_no_gpu(device: str | torch.device) -> None:
    seed_all(1)
    before = states()
    with pytest.raises(RuntimeError, match="CUDA"):
        pipeline("imagenet").batch(tensors(), device=device)
    assert states() == before


def test_torch_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(RuntimeError, match=r"device is cuda, but PyTorch .* is built without CUDA"):
        pipeline("imagenet").batch(tensors(), device="cuda")


FORKED = """
import os, sys
import torch
import fastaug.transforms as T
torch.cuda._is_in_bad_fork = lambda: True
try:
    T.Compose([T.ToTensor()]).batch([torch.zeros(3, 3)], device="cuda")
except RuntimeError as error:
    print(error)
"""


def test_a_fork_of_a_process_that_used_cuda() -> None:
    result = python(["-c", FORKED])
    assert "Cannot re-initialize CUDA in forked subprocess" in result.stdout, result.stderr


def test_nothing_of_cuda_is_imported_before_it_is_wanted() -> None:
    code = """
import sys
import torch
import fastaug, fastaug.transforms as T
transform = fastaug.compile(T.Compose([T.RandomCrop(8), T.ConvertImageDtype(torch.float32)]))
transform.batch([torch.zeros(3, 20, 20, dtype=torch.uint8)] * 3)
print([name for name in sys.modules if name.startswith("fastaug._cuda")], torch.cuda.is_initialized())
"""
    result = python(["-c", code])
    assert result.stdout.split() == ["[]", "False"], result.stdout + result.stderr


def test_no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anything is drawn."""
    from fastaug._cuda import driver, memory

    def missing() -> str:
        raise RuntimeError("no NVRTC")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(driver, "device", lambda index: driver.Device(index, (9, 0), 132, 1, 1, 1, 1))
    monkeypatch.setattr(nvrtc, "version", missing)
    monkeypatch.setattr(memory, "_opened", lambda index, process: memory.Device(index))
    seed_all(1)
    before = states()
    with pytest.raises(RuntimeError, match="no NVRTC"):
        pipeline("imagenet").batch(tensors(), device="cuda:0")
    assert states() == before
