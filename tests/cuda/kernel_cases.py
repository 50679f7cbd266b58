"""Cases of fastaug._cuda.kernels; fake_cuda.py runs them.

Most of them have a compiler that writes PTX of a kernel without instructions, and counts.
"""

from __future__ import annotations

import ctypes
import logging
import os
import random
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

import fake_cuda
from fake_cuda import Fake
from fastaug._cuda import cache, driver, kernels, nvrtc
from fastaug._cuda.kernels import Family, Kernels, Spec

RGB: Spec = (0, 3, 1, 0b0011, 0b1, 0b0001, 0)


class Tiny:
    """Sources of a few lines."""

    def __init__(self, header: str = "") -> None:
        self.headers: Mapping[str, str] = {"tiny.h": header}

    def tile(self, spec: Spec, blocks: int) -> str:
        return f"{spec} + ({blocks},) fastaug_tile"

    def prepare(self) -> str:
        return "fastaug_prepare"


class Compiler:
    """Takes the place of nvrtc.compile; hears what is compiled, and may do something meanwhile.

    Args:
        spilled: bytes that are said to be spilled, by the blocks that are asked for.
    """

    def __init__(
        self, meanwhile: Callable[[], object] = lambda: None, spilled: Mapping[int, int] = types.MappingProxyType({})
    ) -> None:
        self.sources: list[str] = []
        self.meanwhile = meanwhile
        self.spilled = spilled

    def __call__(self, source: str, headers: Mapping[str, str], arch: str) -> nvrtc.Binary:
        self.sources.append(source)
        self.meanwhile()
        entry = source.split()[-1]
        bytes = self.spilled.get(asked(source)[-1], 0) if entry == kernels.TILE else 0
        log = (
            f"Compiling entry function '{entry}'\n0 bytes stack frame, {bytes} bytes spill stores, 0 \nUsed 8 registers"
        )
        return nvrtc.Binary("ptx", f"// {source} {arch} {headers}\n.version 9.0\n.entry {entry}()\0".encode(), log)

    @property
    def specs(self) -> list[Any]:
        """What was compiled, as specs."""
        return [asked(source)[:-1] for source in self.sources]


def asked(source: str) -> Any:
    """The spec, and last the blocks, of a source of Tiny."""
    return eval(source.removesuffix("fastaug_tile"))


def never(*_: object) -> nvrtc.Binary:
    raise AssertionError("compiled")


def made(compiler: Callable[..., nvrtc.Binary], sources: kernels.Sources | None = None) -> Kernels:
    return Kernels(0, sources or Tiny(), compile=compiler)


def with_masks(*masks: int) -> Spec:
    return (0, 3, 1, *masks)  # type: ignore[return-value]


def in_threads(*tasks: Callable[[], object]) -> list[object]:
    """What each gives or raises."""
    results: list[object] = [None] * len(tasks)

    def run(k: int) -> None:
        try:
            results[k] = tasks[k]()
        except BaseException as error:
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


def case_covers_and_union(_: Fake, __: Path) -> None:
    rng = random.Random(1)
    for _ in range(2000):
        a, b = ((*(rng.randrange(2) for _ in range(3)), *(rng.randrange(8) for _ in range(4))) for _ in range(2))
        bits = all(x | y == x for x, y in zip(a[3:], b[3:]))
        assert kernels.covers(a, b) == (a[:3] == b[:3] and bits)
        if a[:3] == b[:3]:
            both = kernels.union(a, b)
            assert kernels.covers(both, a)
            assert kernels.covers(both, b)
            assert kernels.union(b, a) == both
            assert sum(map(int.bit_count, both[3:])) == sum((x | y).bit_count() for x, y in zip(a[3:], b[3:]))


def case_once(fake: Fake, _: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    (function,) = one.get([RGB], Family())
    assert compiler.specs == [RGB]
    log = fake.log()
    assert one.get([RGB, RGB], Family()) == [function, function]
    assert one.get([], Family()) == []
    assert (compiler.specs, fake.log()) == ([RGB], log), "nothing else is called"
    assert "cuModuleGetFunction fastaug_tile" in log


def case_more_bits_serve(_: Fake, __: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    narrow, wide, wider = with_masks(1, 1, 1, 0), with_masks(3, 1, 1, 0), with_masks(7, 1, 3, 0)
    (widest,) = one.get([wider], Family())
    assert one.get([narrow], Family()) == [widest]
    assert compiler.specs == [wider]
    # Of those that serve, the one that does the least.
    other = made(compiler)
    more, less = (other.get([spec], Family())[0] for spec in (with_masks(15, 15, 15, 15), with_masks(31, 0, 0, 0)))
    assert more != less
    assert other.get([with_masks(3, 0, 0, 0)], Family()) == [less]
    assert other.get([wide], Family()) == [more]


def case_the_first_three_are_exact(_: Fake, __: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    specs = [RGB, (1, *RGB[1:]), (0, 1, *RGB[2:]), (0, 3, 0, *RGB[3:])]
    assert len(set(one.get(specs, Family()))) == 4
    assert set(compiler.specs) == set(specs)


def case_families_widen(_: Fake, __: Path) -> None:
    """A pipeline that draws other ops at every call compiles no more often than there are bits, and then no more."""
    rng = random.Random(2)
    compiler = Compiler()
    one = made(compiler)
    family = Family()
    asked = with_masks(0, 0, 0, 0)
    for _ in range(300):
        spec = with_masks(rng.randrange(1, 8), 1, rng.randrange(32), rng.randrange(2))
        before = len(compiler.sources)
        one.get([spec], family)
        if len(compiler.sources) > before:
            asked = compiler.specs[-1]
        assert kernels.covers(asked, spec) or before == len(compiler.sources)
    assert compiler.specs[-1] == with_masks(7, 1, 31, 1)
    assert len(compiler.sources) <= 3 + 1 + 5 + 1 + 1
    for first, second in zip(compiler.specs, compiler.specs[1:]):
        assert kernels.covers(second, first), "each holds all that was asked for before"


def case_families_are_apart(_: Fake, __: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    one.get([with_masks(1, 1, 1, 0)], Family())
    one.get([with_masks(2, 1, 0, 0)], Family())
    assert compiler.specs == [with_masks(1, 1, 1, 0), with_masks(2, 1, 0, 0)]


def case_one_call_one_kernel(_: Fake, __: Path) -> None:
    """What a call asks for together is compiled together."""
    compiler = Compiler()
    specs = [with_masks(1, 1, 0, 0), with_masks(2, 1, 4, 0), with_masks(1, 1, 0, 0)]
    assert len(set(made(compiler).get(specs, Family()))) == 1
    assert compiler.specs == [with_masks(3, 1, 4, 0)]


def case_several_at_once(_: Fake, __: Path) -> None:
    barrier = threading.Barrier(2)
    compiler = Compiler(lambda: barrier.wait(30))
    one = made(compiler)
    with mock.patch.object(os, "sched_getaffinity", return_value={0, 1}):
        functions = one.get([RGB, (0, 1, *RGB[2:])], Family())
    assert len(set(functions)) == 2
    assert one.get([(0, 1, *RGB[2:]), RGB], Family()) == functions[::-1]


def case_threads_wait_for_each_other(fake: Fake, _: Path) -> None:
    started, go = threading.Event(), threading.Event()

    def meanwhile() -> None:
        started.set()
        assert go.wait(30)

    compiler = Compiler(meanwhile)
    one = made(compiler)

    def second() -> list[int]:
        assert started.wait(30)
        threading.Timer(0.2, go.set).start()
        return one.get([with_masks(1, 1, 1, 0)], Family())

    results = in_threads(lambda: one.get([RGB], Family()), second)
    assert results[0] == results[1]
    assert compiler.specs == [RGB]
    assert fake.modules == 1


def case_many_threads(fake: Fake, _: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    family = Family()

    def work() -> int:
        rng = random.Random(threading.get_ident())
        for _ in range(100):
            specs = [(0, rng.choice((1, 3)), 1, *(rng.randrange(4) for _ in range(4))) for _ in range(3)]
            assert all(one.get(specs, family))
        return one.prepare_kernel()

    results = in_threads(*[work] * 6)
    assert len(set(results)) == 1, results
    assert isinstance(results[0], int), results
    assert len(compiler.sources) == len(set(compiler.sources)) == fake.modules


def case_failure_reaches_all_who_wait(fake: Fake, _: Path) -> None:
    started, go = threading.Event(), threading.Event()
    errors = [nvrtc.CompileError("no", "log"), KeyboardInterrupt()]

    def meanwhile() -> None:
        started.set()
        assert go.wait(30)
        if errors:
            raise errors[0]

    one = made(Compiler(meanwhile))

    def second() -> object:
        assert started.wait(30)
        threading.Timer(0.2, go.set).start()
        return one.get([RGB], Family())

    first, other = in_threads(lambda: one.get([RGB], Family()), second)
    assert first is other is errors.pop(0)
    # An interrupt is the thread's own.
    started.clear()
    go.clear()
    first, other = in_threads(lambda: one.get([RGB], Family()), second)
    assert first is errors.pop()
    assert isinstance(other, RuntimeError)
    assert "interrupted" in str(other)
    assert fake.modules == 0
    assert one.get([RGB], Family()), "and is tried again"


def case_one_of_several_fails(fake: Fake, _: Path) -> None:
    compiler = Compiler()

    def fails_once(source: str, headers: Mapping[str, str], arch: str) -> nvrtc.Binary:
        if asked(source)[1] == 1 and not compiler.meanwhile():
            compiler.meanwhile = lambda: True
            raise nvrtc.CompileError("no", "log")
        return compiler(source, headers, arch)

    one = made(fails_once)
    specs = [RGB, (0, 1, *RGB[2:]), (0, 4, *RGB[2:])]
    with pytest.raises(nvrtc.CompileError):
        one.get(specs, Family())
    functions = one.get(specs, Family())
    assert len(set(functions)) == 3
    assert fake.modules == 3


def case_no_leaks(fake: Fake, _: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    fake.fail("cuModuleLoadData", 1, fake_cuda.OUT_OF_MEMORY)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        one.get([RGB], Family())
    for name in ("cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute"):
        fake.fail(name, 1, fake_cuda.LAUNCH_FAILED)
        with pytest.raises(driver.DriverError, match=name):
            one.get([RGB], Family())
        fake.fail(name, 1, fake_cuda.LAUNCH_FAILED)
        with pytest.raises(driver.DriverError, match=name):
            one.prepare_kernel()
        assert (fake.modules, fake.depth) == (0, 0)
    assert one.get([RGB], Family())
    assert fake.modules == 1
    assert len(compiler.sources) == 2, "what was compiled is on disk"


def case_prepare(fake: Fake, _: Path) -> None:
    compiler = Compiler()
    one = made(compiler)
    function = one.prepare_kernel()
    assert one.prepare_kernel() == function
    assert one.get([RGB], Family()) != [function]
    assert compiler.sources[0] == "fastaug_prepare"
    assert "cuModuleGetFunction fastaug_prepare" in fake.log()
    assert fake.modules == 2


def case_close(fake: Fake, _: Path) -> None:
    one = made(Compiler())
    one.get([RGB], Family())
    one.prepare_kernel()
    one.close()
    assert fake.modules == 0
    one.close()
    assert one.get([RGB], Family()) != [0]
    assert fake.modules == 1


def case_fewer_blocks_where_registers_spill(_: Fake, folder: Path) -> None:
    def kept() -> list[Any]:
        files = (folder / "cache" / "kernels").iterdir()
        texts = [path.read_bytes().decode(errors="replace") for path in files]
        return [asked(text[text.index("// ") + 3 : text.index(" sm_90")]) for text in texts]

    for masks, spilled, tried, chosen in (
        (1, {}, [3], 3),
        (2, {3: 8}, [3, 2], 2),
        (4, {3: 8, 2: 4}, [3, 2, 1], 1),
        (8, {3: 8, 2: 4, 1: 4}, [3, 2, 1], 2),
    ):
        compiler = Compiler(spilled=spilled)
        spec = with_masks(masks, 0, 0, 0)
        made(compiler).get([spec], Family())
        assert [asked(source)[-1] for source in compiler.sources] == tried
        assert (*spec, chosen) in kept()
        # The disk has that one, whatever was tried before it.
        made(never).get([spec], Family())
    assert len(kept()) == 4


def case_disk(fake: Fake, folder: Path) -> None:
    made(Compiler()).get([RGB], Family())
    (file,) = (folder / "cache" / "kernels").iterdir()
    made(never).get([RGB], Family())
    # Another header, another GPU, another version of NVRTC.
    others = Compiler()
    made(others, Tiny("// changed")).get([RGB], Family())
    with mock.patch.object(nvrtc, "version", return_value="99.0"):
        made(others).get([RGB], Family())
    fake.attribute(0, fake_cuda.MAJOR, 12)
    driver._device.cache_clear()
    made(others).get([RGB], Family())
    assert others.specs == [RGB] * 3
    # Damage is repaired.
    fake.attribute(0, fake_cuda.MAJOR, 9)
    driver._device.cache_clear()
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    again = Compiler()
    made(again).get([RGB], Family())
    assert again.specs == [RGB]
    assert file.read_bytes() == whole
    made(never).get([RGB], Family())


def case_no_disk(_: Fake, folder: Path) -> None:
    (folder / "file").write_bytes(b"")
    for disk in (cache.Cache(None), cache.Cache(folder / "file")):
        assert Kernels(0, Tiny(), disk, Compiler()).get([RGB], Family())


class Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append((record.levelname, record.getMessage()))


def case_log(_: Fake, __: Path) -> None:
    heard = Heard()
    log = logging.getLogger("fastaug")
    log.addHandler(heard)
    log.setLevel(logging.DEBUG)
    try:
        made(Compiler()).get([RGB], Family())
        made(never).get([RGB], Family())
    finally:
        log.removeHandler(heard)
        log.setLevel(logging.NOTSET)
    (level, first), (other, second) = heard.said
    assert (level, other) == ("INFO", "DEBUG")
    assert first.startswith(f"fastaug: compiled kernel {RGB} for sm_90 in 0.0"), first
    assert str(RGB) in second


def case_words(_: Fake, __: Path) -> None:
    text = "Compiling entry function 'k'\n8 bytes stack frame, 4 bytes spill stores, 6 bytes spill\nUsed 64 registers"
    assert kernels._words(nvrtc.Binary("cubin", b"12345", text)) == (
        "5 bytes; 64 registers, 8 bytes of stack, 4 bytes spilled"
    )
    assert "newer than NVRTC" in kernels._words(nvrtc.Binary("ptx", b"12345", ""))


class Real:
    """Kernels that NVRTC compiles."""

    headers: Mapping[str, str] = {"tiny.h": "#include <cstdint>\ninline uint8_t twice(uint8_t x) { return 2 * x; }\n"}

    def tile(self, spec: Spec, blocks: int) -> str:
        body = f"to[threadIdx.x] = twice(to[threadIdx.x]) + {spec[5]};"
        return f'#include "tiny.h"\nextern "C" __global__ void fastaug_tile(uint8_t* to) {{ {body} }}  // {blocks}\n'

    def prepare(self) -> str:
        return 'extern "C" __global__ void fastaug_prepare(int* to) { *to = 0; }\n'


def case_real_kernels(fake: Fake, _: Path) -> None:
    """From text to a launch, all but the GPU."""
    one = Kernels(0, Real())
    (function,) = one.get([with_masks(1, 1, 5, 0)], Family())
    one.prepare_kernel()
    loaded = [line.split() for line in fake.log() if line.startswith("cuModuleLoadData")]
    assert [words[1] for words in loaded] == ["cubin", "cubin"]
    sizes = [
        len(nvrtc.compile(text, Real.headers, "sm_90").data)
        for text in (Real().tile((0,) * 5 + (5, 0), 3), Real().prepare())
    ]
    assert [int(words[2]) for words in loaded] == sizes
    data = (ctypes.c_uint8 * 4)(1, 2, 3, 4)

    def run(name: str, grid: object, block: tuple[int, ...], shared: int, stream: int, params: Any) -> int:
        assert name == "fastaug_tile"
        to = ctypes.cast(ctypes.cast(params[0], ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_uint8))
        for k in range(block[0]):
            to[k] = 2 * to[k] + 5
        return 0

    fake.on_launch(run)
    with driver.current(0):
        pointer = ctypes.c_void_p(ctypes.addressof(data))
        assert fake_cuda.launch(driver.launch_address(), function, (1, 1, 1), (4, 1, 1), params=[pointer]) == 0
    assert list(data) == [7, 9, 11, 13]
    again = Kernels(0, Real(), compile=never)
    again.get([with_masks(1, 1, 5, 0)], Family())
    again.prepare_kernel()


def case_a_gpu_newer_than_nvrtc(fake: Fake, _: Path) -> None:
    fake.attribute(0, fake_cuda.MAJOR, 99)
    assert Kernels(0, Real()).get([RGB], Family())
    assert any(line.startswith("cuModuleLoadData ptx") for line in fake.log())


def case_shared_by_all(_: Fake, __: Path) -> None:
    extension = types.SimpleNamespace(
        cuda_headers=lambda: Real.headers, cuda_source=Real().tile, cuda_prepare_source=Real().prepare
    )
    with mock.patch.object(kernels, "_C", extension):
        results = in_threads(*[lambda: kernels.of(0)] * 3)
        assert results[0] is results[1] is results[2] is kernels.of(0)
        assert kernels.of(0).get([RGB], Family())
        assert kernels.of(0).prepare_kernel()
    with pytest.raises(ValueError, match="index is 1"):
        kernels.of(1)


def case_fork(_: Fake, __: Path) -> None:
    with mock.patch.object(kernels, "_C"):
        kernels.of(0)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            kernels.of(0)
        except RuntimeError as error:
            status = 0 if "forked" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
