"""Cases of fastaug._cuda.memory.Device; fake_cuda.py runs them.

What torch does on a device is done on the host, and heard: it has no GPU here. The driver's kernels are emulated.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

import fastaug
import fastaug.transforms as T
from fake_cuda import LAUNCH_FAILED, Fake
from fastaug import _C
from fastaug._cuda import driver, kernels, memory, nvrtc
from on_device import expect_same, pipeline, seeded, tensors

CURRENT, COPIES, OTHERS = 0x70, 0x71, 0x72


class Heard:
    """torch.cuda, as far as it is called, in words."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.now = CURRENT
        self.streams = iter((COPIES, OTHERS))

    def say(self, word: str) -> None:
        self.words.append(word)

    @contextlib.contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        before, self.now = self.now, stream.cuda_stream
        yield
        self.now = before

    def current_stream(self) -> Any:
        return mock.Mock(
            cuda_stream=self.now, wait_event=lambda event: self.say(f"{self.now:x} waits for {event.recorded:x}")
        )

    def make_stream(self, index: int) -> Any:
        assert index == 0
        self.say("new stream")
        return mock.Mock(cuda_stream=next(self.streams))

    def make_event(self, blocking: bool = False) -> Any:
        event = mock.Mock(recorded=None)

        def record(stream: Any) -> None:
            event.recorded = stream.cuda_stream
            self.say(f"event on {stream.cuda_stream:x}")

        event.record = record
        event.synchronize = lambda: self.say(f"the process waits for {event.recorded:x}, {blocking=}")
        return event

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        count = torch.Size(shape).numel() * dtype.itemsize
        whole = torch.full((count + 256,), 0xA5, dtype=torch.uint8)
        start = -whole.data_ptr() % 256
        part = whole[start : start + count].view(dtype).view(shape)
        part.record_stream = lambda stream: self.say(f"kept for {stream.cuda_stream:x}")  # type: ignore[method-assign]
        self.say(f"memory of {self.now:x}")
        return part


def compiled(source: str, headers: Mapping[str, str], arch: str) -> nvrtc.Binary:
    entry = kernels.TILE if kernels.TILE in source else kernels.PREPARE
    return nvrtc.Binary("ptx", f".version 9.0\n.entry {entry}()\0".encode(), "")


@contextlib.contextmanager
def opened() -> Iterator[tuple[memory.Device, Heard]]:
    """The device, in the place of the only one that there is."""
    heard = Heard()
    names = {
        "current_stream": heard.current_stream,
        "stream": heard.stream,
        "Stream": heard.make_stream,
        "Event": heard.make_event,
        "device": lambda index: contextlib.nullcontext(),
    }
    device = memory.Device(0)
    device._kernels = kernels.Kernels(0, compile=compiled)
    device.empty = heard.empty  # type: ignore[method-assign]
    device.pinned = lambda count: torch.full((count,), 0xA5, dtype=torch.uint8)  # type: ignore[method-assign]
    backend = mock.Mock(index=lambda where: 0, open=lambda index: device)
    with mock.patch.multiple(torch.cuda, **names), mock.patch.object(memory, "backend", backend):
        yield device, heard


def emulating(launched: list[tuple[Any, ...]]) -> Callable[..., int]:
    def launch(name: str, grid: Any, block: Any, shared: int, stream: int, params: Any) -> int:
        blob, scratch = (ctypes.cast(params[k], ctypes.POINTER(ctypes.c_uint64))[0] for k in range(2))
        offset = ctypes.cast(params[2], ctypes.POINTER(ctypes.c_uint32))[0]
        count = ctypes.cast(params[3], ctypes.POINTER(ctypes.c_int32))[0]
        launched.append((name, block, stream))
        kernel = -1 if name == kernels.PREPARE else 0
        _C.emulate_launch((kernel, offset, count, grid[0], shared), blob, scratch, 2)
        return 0

    return launch


def case_a_batch(fake: Fake, folder: Path) -> None:
    """From images of the host to results, by way of cuLaunchKernel."""
    launched: list[tuple[Any, ...]] = []
    expected, _ = seeded(pipeline("P").batch, tensors())
    with opened() as (_, heard):
        fake.on_launch(emulating(launched))
        result, _ = seeded(pipeline("P").batch, tensors(), device="cuda")
    expect_same(result, expected)
    assert {name for name, _, _ in launched} == {kernels.TILE, kernels.PREPARE}
    assert all(block == (256, 1, 1) and stream == CURRENT for _, block, stream in launched)
    assert fake.depth == 0
    begin = heard.words.index("new stream")
    # The copy is in memory of its own stream, which is kept for the one that reads it.
    ahead = [
        f"memory of {COPIES:x}",
        f"event on {COPIES:x}",
        f"{CURRENT:x} waits for {COPIES:x}",
        f"kept for {CURRENT:x}",
    ]
    assert heard.words[begin + 1 : begin + 5] == ahead
    assert heard.words.count(f"memory of {COPIES:x}") == 1


def case_a_stream_aside(fake: Fake, folder: Path) -> None:
    """What is made there has memory of that stream, kept for the one that gets it; which may be two things behind."""
    with opened() as (device, heard):
        device._copying()
        side = device.side()
        with side.active():
            made = device.empty((3,), torch.uint8)
            event = side.mark()
        begun = ["new stream", "new stream", f"memory of {OTHERS:x}", f"event on {OTHERS:x}"]
        assert heard.words == begun
        given = [f"event on {CURRENT:x}", f"{CURRENT:x} waits for {OTHERS:x}", f"kept for {CURRENT:x}"]
        waits = f"the process waits for {CURRENT:x}, blocking=True"
        for _ in range(4):
            side.give(event, [made])
        assert heard.words == [*begun, *given, *given, *given, waits, *given, waits]


def case_halves(fake: Fake, folder: Path) -> None:
    transform = fastaug.compile(pipeline("imagenet"), dtype=torch.float16, memory_format=torch.channels_last)
    expected, _ = seeded(transform.batch, tensors())
    with opened():
        fake.on_launch(emulating([]))
        expect_same(seeded(transform.batch, tensors(), device="cuda")[0], expected)


def case_a_launch_that_fails(fake: Fake, folder: Path) -> None:
    with opened():
        fake.on_launch(emulating([]))
        transform = pipeline("imagenet")
        seeded(transform.batch, tensors(), device="cuda")
        fake.fail("cuLaunchKernel", 1, LAUNCH_FAILED)
        with pytest.raises(driver.DriverError, match="cuLaunchKernel failed with") as caught:
            seeded(transform.batch, tensors(), device="cuda")
        assert caught.value.code == LAUNCH_FAILED
        seeded(transform.batch, tensors(), device="cuda")


def case_capture(fake: Fake, folder: Path) -> None:
    with opened():
        fake.capture(CURRENT, 1)
        before = torch.get_rng_state()
        with pytest.raises(RuntimeError, match="cannot be captured"):
            pipeline("imagenet").batch(tensors(), device="cuda")
        assert torch.equal(torch.get_rng_state(), before)
        assert "cuLaunchKernel" not in fake.names()


def case_prepared(fake: Fake, folder: Path) -> None:
    """Nothing is compiled after prepare(), and nothing launched by it."""
    transform = fastaug.compile(T.Compose([*pipeline("simclr").transforms]))
    with opened() as (device, _):
        assert transform.prepare(sizes=[(64, 80), (70, 61), (101, 67)])
        assert "cuLaunchKernel" not in fake.names()
        device._kernels._compile = None  # type: ignore[assignment]
        fake.on_launch(emulating([]))
        seeded(transform.batch, tensors(), device="cuda")


def case_limits(fake: Fake, folder: Path) -> None:
    """Half of the cache, and a third of a multiprocessor's shared memory without what blocks have of their own."""
    assert memory.Device(0).limits == (30 << 20, 75 << 10)
