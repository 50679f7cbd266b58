"""Cases of fastaug._cuda.driver; fake_cuda.py runs them."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from unittest import mock

import pytest
import torch

import fake_cuda
from fake_cuda import Fake
from fastaug._cuda import driver

PTX = b"// .version 9.0\n.visible .entry tile() {}\n\0"
LOAD = ["cuCtxPushCurrent", "cuModuleLoadData", "cuCtxPopCurrent"]


def case_device(fake: Fake, _: Path) -> None:
    device = driver.device(0)
    assert device == driver.Device(0, (9, 0), 132, 60 << 20, 48 << 10, 227 << 10, 228 << 10)
    assert device.arch == "sm_90"
    log = fake.log()
    assert log[:3] == ["cuInit 0", "cuDeviceGetCount", "cuDeviceGet 0"]
    assert {line.split()[0] for line in log[3:]} == {"cuDeviceGetAttribute"}
    driver.device(0)
    assert fake.log() == log, "asked once"


def case_several_devices(fake: Fake, _: Path) -> None:
    fake.devices(2)
    fake.attribute(1, fake_cuda.MAJOR, 12)
    assert driver.device(1).arch == "sm_120"
    assert driver.device(0).arch == "sm_90"
    driver.Module(1, PTX)
    assert (fake.retained(0), fake.retained(1)) == (0, 1)


def case_no_such_device(fake: Fake, _: Path) -> None:
    for index in (1, -1):
        with pytest.raises(ValueError, match=f"index is {index}, and there are 1"):
            driver.device(index)
    with pytest.raises(ValueError, match="index is 7"):
        driver.Module(7, PTX)


def case_no_gpu(fake: Fake, _: Path) -> None:
    fake.devices(0)
    with pytest.raises(RuntimeError, match=r"no CUDA GPU is available .cuInit failed with CUDA_ERROR_NO_DEVICE"):
        driver.device(0)
    fake.devices(1)
    assert driver.device(0).index == 0


def case_driver_does_not_start(fake: Fake, _: Path) -> None:
    fake.fail("cuInit", 1, fake_cuda.LAUNCH_FAILED)
    with pytest.raises(driver.DriverError, match="cuInit failed with CUDA_ERROR_LAUNCH_FAILED: what") as raised:
        driver.device(0)
    assert (raised.value.code, raised.value.name) == (719, "CUDA_ERROR_LAUNCH_FAILED")


def case_unknown_error(fake: Fake, _: Path) -> None:
    fake.fail("cuDeviceGetCount", 1, 12345)
    with pytest.raises(RuntimeError, match=r"cuDeviceGetCount failed .*12345"):
        driver.device(0)


def case_error_without_words(fake: Fake, _: Path) -> None:
    """CUDA_ERROR_ECC_UNCORRECTABLE, which this driver does not know."""
    fake.fail("cuDeviceGetCount", 1, 214)
    with pytest.raises(driver.DriverError, match=r"cuDeviceGetCount failed with 214$"):
        driver.device(0)


def case_module(fake: Fake, _: Path) -> None:
    driver.device(0)
    start = len(fake.log())
    module = driver.Module(0, PTX)
    assert fake.modules == 1
    assert fake.log()[start:] == [
        "cuDeviceGet 0",
        "cuDevicePrimaryCtxRetain 0",
        "cuCtxPushCurrent 0",
        f"cuModuleLoadData ptx {len(PTX)}",
        "cuCtxPopCurrent",
    ]
    start = len(fake.log())
    fake.shared(1000)
    assert module.function("tile") > 0
    most = (227 << 10) - 1000
    assert fake.log()[start:] == [
        "cuCtxPushCurrent 0",
        "cuModuleGetFunction tile",
        "cuFuncGetAttribute 1",
        f"cuFuncSetAttribute 8 {most}",
        "cuCtxPopCurrent",
    ]
    start = len(fake.log())
    module.unload()
    module.unload()
    assert fake.names()[start:] == ["cuCtxPushCurrent", "cuModuleUnload", "cuCtxPopCurrent"]
    assert (fake.modules, fake.depth, fake.retained(0)) == (0, 0, 1)


def case_module_memory(fake: Fake, _: Path) -> None:
    fake.fail("cuModuleLoadData", 2, fake_cuda.OUT_OF_MEMORY)
    driver.Module(0, PTX)
    with pytest.raises(torch.cuda.OutOfMemoryError, match=r"CUDA out of memory.*cuModuleLoadData"):
        driver.Module(0, PTX)
    assert (fake.modules, fake.depth) == (1, 0)
    driver.Module(0, PTX)
    assert fake.modules == 2


def case_bad_image(fake: Fake, _: Path) -> None:
    with pytest.raises(driver.DriverError) as raised:
        driver.Module(0, b"neither one nor the other\0")
    assert raised.value.name == "CUDA_ERROR_INVALID_IMAGE"
    assert (fake.modules, fake.depth) == (0, 0)


def case_no_such_function(fake: Fake, _: Path) -> None:
    module = driver.Module(0, PTX)
    with pytest.raises(driver.DriverError) as raised:
        module.function("other")
    assert raised.value.code == fake_cuda.NOT_FOUND
    assert fake.depth == 0


def case_context_fails(fake: Fake, _: Path) -> None:
    fake.fail("cuCtxPushCurrent", 1, fake_cuda.INVALID_CONTEXT)
    with pytest.raises(driver.DriverError, match="cuCtxPushCurrent"):
        driver.Module(0, PTX)
    assert fake.names()[-1] == "cuCtxPushCurrent", "nothing was pushed, so nothing is popped"
    fake.fail("cuDevicePrimaryCtxRetain", 1, fake_cuda.OUT_OF_MEMORY)
    driver._primaries.clear()
    with pytest.raises(torch.cuda.OutOfMemoryError):
        driver.Module(0, PTX)
    driver.Module(0, PTX)
    assert (fake.modules, fake.depth) == (1, 0)


def case_threads(fake: Fake, _: Path) -> None:
    barrier = threading.Barrier(4)
    failed: list[BaseException] = []

    def load() -> None:
        try:
            barrier.wait()
            driver.Module(0, PTX).function("tile")
            assert fake.depth == 0
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    names = fake.names()
    assert (names.count("cuInit"), names.count("cuDevicePrimaryCtxRetain"), fake.modules) == (1, 1, 4)


def case_launch(fake: Fake, _: Path) -> None:
    """Native code gets the address; here ctypes calls it, and Python stands in for the kernel."""
    calls = []

    def add(name: str, grid: object, block: object, shared: int, stream: int, params: ctypes.Array) -> int:
        total = ctypes.cast(params[0], ctypes.POINTER(ctypes.c_int))
        total[0] += ctypes.cast(params[1], ctypes.POINTER(ctypes.c_int))[0]
        calls.append((name, grid, block, shared, stream))
        return 0

    fake.on_launch(add)
    address = driver.launch_address()
    assert "cuGetProcAddress cuLaunchKernel 4000 1" in fake.log()
    function = driver.Module(0, PTX).function("tile")
    params = [ctypes.c_int(40), ctypes.c_int(2)]
    options = {"params": params, "shared": 100 << 10, "stream": 0xABC0}
    assert fake_cuda.launch(address, function, (7, 5, 1), (256, 1, 1)) == fake_cuda.INVALID_CONTEXT
    with driver.current(0):
        assert fake_cuda.launch(address, function, (7, 5, 1), (256, 1, 1), **options) == 0
        assert fake_cuda.launch(address, function, (7, 5, 1), (2048, 1, 1), **options) == fake_cuda.INVALID_VALUE
        options["shared"] = 228 << 10
        assert fake_cuda.launch(address, function, (7, 5, 1), (256, 1, 1), **options) == fake_cuda.INVALID_VALUE
    assert params[0].value == 42
    assert calls == [("tile", (7, 5, 1), (256, 1, 1), 100 << 10, 0xABC0)]
    assert f"cuLaunchKernel tile 7,5,1 256,1,1 {100 << 10} 0xabc0" in fake.log()


def case_no_launch(fake: Fake, _: Path) -> None:
    fake.hide("cuLaunchKernel")
    with pytest.raises(RuntimeError, match="driver is too old: it has no cuLaunchKernel"):
        driver.launch_address()


def case_launch_lookup_fails(fake: Fake, _: Path) -> None:
    driver.device(0)
    fake.fail("cuGetProcAddress", 1, fake_cuda.OUT_OF_MEMORY)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        driver.launch_address()


def case_capture(fake: Fake, _: Path) -> None:
    fake.capture(0x10, 1)
    fake.capture(0x20, 2)
    fake.capture(0x30, -fake_cuda.CAPTURE_IMPLICIT)
    fake.capture(0x40, -fake_cuda.LAUNCH_FAILED)
    assert not driver.is_capturing(0, 0)
    driver.refuse_capture(0, 0)
    for stream in (0x10, 0x20, 0x30):
        assert driver.is_capturing(stream, 0)
        with pytest.raises(RuntimeError, match="cannot be captured into a CUDA graph"):
            driver.refuse_capture(stream, 0)
    with pytest.raises(driver.DriverError, match="LAUNCH_FAILED"):
        driver.is_capturing(0x40, 0)
    assert fake.depth == 0
    streams = [line.split()[1] for line in fake.log() if line.startswith("cuStreamIsCapturing")]
    assert streams == ["(nil)", "(nil)", "0x10", "0x10", "0x20", "0x20", "0x30", "0x30", "0x40"]


def case_capture_in_the_current_context(fake: Fake, _: Path) -> None:
    fake.capture(0x10, 1)
    with pytest.raises(driver.DriverError, match="INVALID_CONTEXT"):
        driver.is_capturing(0x10)
    with driver.current(0):
        start = len(fake.log())
        assert driver.is_capturing(0x10)
        assert fake.names()[start:] == ["cuStreamIsCapturing"]


def case_fork(fake: Fake, _: Path) -> None:
    driver.device(0)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            driver.device(0)
        except RuntimeError as error:
            said = str(error)
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(reading, 4096).decode()
    assert "Cannot re-initialize CUDA in forked subprocess" in said, said
    assert "'spawn'" in said
    driver.Module(0, PTX)


def case_fork_before_first_use(fake: Fake, _: Path) -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if driver.device(0).index == 0 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def case_fork_after_torch_had_started(fake: Fake, _: Path) -> None:
    with (
        mock.patch.object(torch.cuda, "_is_in_bad_fork", return_value=True),
        pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"),
    ):
        driver.device(0)
    assert fake.log() == []
