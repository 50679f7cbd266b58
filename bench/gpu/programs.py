"""Native programs on a device and on the CPU, byte by byte: each op alone and random chains, in ragged bags."""

from __future__ import annotations

import importlib
import random
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bench.gpu.machine import ROOT, Machine
from fastaug import _C
from fastaug._cuda import bag
from fastaug._cuda.kernels import Family

#: Where nobody has written.
DIRT = 0xA5
#: Sides of images: ones, odd ones, those around a vector, a warp and a tile.
SIDES = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 97, 130)
DTYPES = {"uint8": 1, "float32": 4, "float16": 2, "bfloat16": 2}
FLOATS = ("float32", "float32", "float16", "bfloat16")
LAYOUTS = ("interleaved", "planar", "gaps", "mirrored")


def op_table() -> Any:
    """tests/tables/op_table.py, whose operands can be drawn where there is no torchvision for its references.

    Raises:
        ImportError: the tests are not there.
    """
    tests = str(ROOT / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    if "tables.op_table" in sys.modules or importlib.util.find_spec("torchvision"):
        return importlib.import_module("tables.op_table")
    names = ("torchvision", "torchvision.transforms", "torchvision.transforms._functional_tensor")
    modules = [types.ModuleType(name) for name in names]
    functions: Any = modules[-1]
    functions.__getattr__ = lambda name: _absent
    functions._get_gaussian_kernel1d = _gaussian
    modules[1]._functional_tensor = functions  # type: ignore[attr-defined]
    sys.modules.update(zip(names, modules))
    try:
        return importlib.import_module("tables.op_table")
    finally:
        # fastaug and others ask whether torchvision has been imported.
        for name in names:
            del sys.modules[name]


def _absent(*_: Any) -> Any:
    raise RuntimeError("this reference is torchvision's, which is not installed")


def _gaussian(size: int, sigma: float, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    x = torch.linspace(-(size - 1) / 2, (size - 1) / 2, size, dtype=dtype, device=device)
    weights = torch.exp(-0.5 * (x / sigma) ** 2)
    return weights / weights.sum()


@dataclass(frozen=True)
class Sample:
    """A program, an image, and how the image and the result lie in memory."""

    program: bytes
    image: np.ndarray
    layout: str
    dtype: str
    planar: bool
    slack: int
    name: str

    @property
    def size(self) -> tuple[int, int, int]:
        """(height, width, channels) of the result."""
        height, width, channels = self.image.shape
        return _C.shape(self.program, height, width, channels)


def noise(rng: random.Random, height: int, width: int, channels: int) -> np.ndarray:
    """Bytes, a third of them at the ends of the range."""
    draw = np.random.default_rng(rng.getrandbits(32))
    pixels = draw.integers(0, 256, (height, width, channels), dtype=np.uint8)
    ends = draw.integers(0, 6, pixels.shape)
    pixels[ends == 0] = 0
    pixels[ends == 1] = 255
    return pixels


def drawn_ops(
    rng: random.Random, table: Any, shape: tuple[int, int, int], names: Sequence[str], most: int
) -> list[Any]:
    """Up to so many ops that make sense for an image of this shape, half of the time stored as float."""
    ops: list[Any] = []
    now = shape
    for _ in range(rng.randint(1, most)):
        usable = [name for name in names if now[2] in table.ROWS[name].channels]
        if not usable:
            break
        ops.append(table.ROWS[rng.choice(usable)].draw(rng, np.empty(now, np.uint8)))
        now = _C.shape(b"".join(op.pack() for op in ops), *shape)
    if rng.random() < 0.5:
        like = np.empty(now, np.uint8)
        ops.append(table.Op(rng.choice(("TO_FLOAT", "V2_TO_FLOAT"))))
        if rng.random() < 0.7:
            ops.append(table.ROWS["NORMALIZE"].draw(rng, like))
        if rng.random() < 0.3:
            ops += [table.ROWS["ERASE"].draw(rng, like) for _ in range(rng.randint(1, 3))]
    return ops


def _sample(
    rng: random.Random, ops: Sequence[Any], image: np.ndarray, table: Any, floats: Sequence[str] = FLOATS
) -> Sample:
    stored = any(table.ROWS[op.name].kind == "store" for op in ops)
    dtype = rng.choice(floats) if stored else "uint8"
    slack = rng.choice((0, 0, 1, 5))
    program = b"".join(op.pack() for op in ops)
    name = " ".join(op.name for op in ops)
    return Sample(program, image, rng.choice(LAYOUTS), dtype, rng.random() < 0.5, slack, name)


def of_op(table: Any, name: str, count: int, channels: int | None = None) -> list[Sample]:
    """So many images with one op each, of all channels that it takes, or of so many if it takes them."""
    row, samples = table.ROWS[name], []
    for number in range(count):
        rng = random.Random(f"{name} {number}")
        taken = channels if channels in row.channels else sorted(row.channels)[number % len(row.channels)]
        image = noise(rng, rng.choice(SIDES), rng.choice(SIDES), taken)
        ops = [row.draw(rng, image)]
        if name in ("NORMALIZE", "ERASE"):
            ops.insert(0, table.Op("TO_FLOAT"))
        elif row.kind != "store" and number % 3 == 0:
            ops.append(table.Op("TO_FLOAT"))
        samples.append(_sample(rng, ops, image, table))
    return samples


def chains(table: Any, count: int, channels: Sequence[int] = (1, 2, 3, 3, 3, 4)) -> list[Sample]:
    """Random programs, for which few kinds of kernels do everything."""
    names = [name for name, row in table.ROWS.items() if row.kind != "store"]
    samples = []
    for number in range(count):
        rng = random.Random(f"chain {number}")
        image = noise(rng, rng.choice(SIDES), rng.choice(SIDES), rng.choice(channels))
        ops = drawn_ops(rng, table, image.shape, names, 9)  # type: ignore[arg-type]
        samples.append(_sample(rng, ops, image, table, ("float32", "float32", "bfloat16")))
    return samples


def _laid(image: np.ndarray, layout: str) -> tuple[np.ndarray, int, tuple[int, int, int]]:
    """Memory with an image in it: where it begins, and its (row, pixel, channel) strides."""
    height, width, channels = image.shape
    if layout == "planar":
        return np.ascontiguousarray(image.transpose(2, 0, 1)).reshape(-1), 0, (width, 1, height * width)
    if layout == "gaps":
        # Four bytes a pixel as Pillow has them, rows that begin anywhere.
        row = 4 * width + 3
        memory = np.full(height * row + 1, DIRT, np.uint8)
        rows = np.lib.stride_tricks.as_strided(memory[1:], (height, width, channels), (row, 4, 1))
        rows[...] = image
        return memory, 1, (row, 4, 1)
    row, pixel = width * channels, channels
    if layout == "mirrored":
        memory = np.ascontiguousarray(image[::-1, ::-1]).reshape(-1)
        return memory, memory.size - pixel, (-row, -pixel, 1)
    return np.ascontiguousarray(image).reshape(-1), 0, (row, pixel, 1)


Job = tuple[bytes, _C.Source, _C.Target]


def _job(sample: Sample, pixels: torch.Tensor, start: int, strides: Sequence[int], result: torch.Tensor) -> Job:
    """The job with an image and a result in two pieces of memory, on the host or there."""
    source = _C.from_pointer(pixels.data_ptr() + start, *sample.image.shape, *strides, pixels)
    height, width, channels = sample.size
    size = DTYPES[sample.dtype]
    row = (width if sample.planar else width * channels) * size + sample.slack * size
    into = (row, size, row * height) if sample.planar else (row, channels * size, size)
    address = result.data_ptr() + sample.slack * size
    return (
        sample.program,
        source,
        _C.into_pointer(address, _C.DTYPES[sample.dtype], height, width, channels, *into, result),
    )


def _result_bytes(sample: Sample) -> int:
    height, width, channels = sample.size
    samples, lines = (width, height * channels) if sample.planar else (width * channels, height)
    return ((samples + sample.slack) * lines + sample.slack) * DTYPES[sample.dtype]


class Pair:
    """The jobs of samples, on the host and on a device."""

    def __init__(self, samples: Sequence[Sample], machine: Machine) -> None:
        self.samples = samples
        self.machine = machine
        self._host: list[Job] = []
        self._there: list[Job] = []
        self._results: list[tuple[torch.Tensor, torch.Tensor]] = []
        for sample in samples:
            memory, start, strides = _laid(sample.image, sample.layout)
            pixels = torch.from_numpy(memory)
            blank = torch.full((_result_bytes(sample),), DIRT, dtype=torch.uint8)
            result = blank.clone()
            self._host.append(_job(sample, pixels, start, strides, result))
            there = machine.put(blank)
            self._there.append(_job(sample, machine.put(pixels), start, strides, there))
            self._results.append((result, there))

    def compare(self, rewrites: int, family: Family, emulate: bool = False) -> tuple[int, list[str]]:
        """How many were done there, and a line for each whose bytes, or those around it, are others.

        Exact rewrites give the CPU's bits. Others give those of the device's bodies, which the CPU can `emulate`.
        """
        device = self.machine.bags
        if emulate:
            _C.Bag(self._host, rewrites, *device.limits).emulate()
        else:
            _C.run(self._host, rewrites)
        with device.current():
            unfit = set(bag.run(self._there, device, rewrites, family))
        self.machine.synchronize()
        wrong = []
        for number, (sample, (result, there)) in enumerate(zip(self.samples, self._results)):
            if number in unfit:
                continue
            got = there.cpu()
            if not torch.equal(result, got):
                different = int((result != got).sum())
                wrong.append(
                    f"{different} of {len(got)} bytes of {sample.name}, {sample.image.shape} {sample.layout} to"
                    f" {sample.size} {sample.dtype} {'planar' if sample.planar else 'interleaved'}"
                )
        return len(self.samples) - len(unfit), wrong

    def ask(self, rewrites: int, family: Family) -> None:
        """Lets a family know what it will be asked for, so that fewer kernels are compiled."""
        family.widen(_C.Bag(self._there, rewrites, *self.machine.bags.limits).specs)


def batches(samples: Sequence[Sample], count: int) -> Iterator[Sequence[Sample]]:
    for start in range(0, len(samples), count):
        yield samples[start : start + count]
