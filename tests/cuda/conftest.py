"""A CUDA driver without a GPU, and NVRTC. There is no __init__.py here: it would hide NVIDIA's package `cuda`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from support.devices import HostBackend, HostDevice, install


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fake_cuda.c, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("fake") / "libcuda.so.1"
    source = Path(__file__).with_name("fake_cuda.c")
    options = ["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([compiler, *options, "-o", str(library), str(source)], check=True, timeout=120)
    return library


@pytest.fixture(scope="session")
def nvrtc_here() -> None:
    """NVRTC comes with PyTorch's CUDA builds."""
    if torch.version.cuda is None:
        pytest.skip("PyTorch is built without CUDA, so there is no NVRTC")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> HostBackend:
    """Devices whose memory is the host's."""
    return install(monkeypatch)


@pytest.fixture
def device(backend: HostBackend) -> HostDevice:
    """cuda:0."""
    return backend.devices[0]
