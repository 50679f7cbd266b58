"""Native programs on a device and on the CPU, byte by byte: each op alone and random chains, in ragged bags."""

from __future__ import annotations

import importlib
import random
import sys
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from bench.gpu.ahead import Ahead, made
from bench.gpu.clock import Clock
from bench.gpu.machine import ROOT, Machine, importable
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
    if "tables.op_table" in sys.modules or importable("torchvision"):
        return importlib.import_module("tables.op_table")
    modules = {name: types.ModuleType(name) for name in _TORCHVISION}
    for name, module in modules.items():
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(modules[parent], own, module)
        module.__getattr__ = _absent  # type: ignore[method-assign]
    modules[_TORCHVISION[2]]._get_gaussian_kernel1d = _gaussian  # type: ignore[attr-defined]
    sys.modules.update(modules)
    try:
        return importlib.import_module("tables.op_table")
    finally:
        # fastaug and others ask whether torchvision has been imported.
        for name in modules:
            del sys.modules[name]


#: Its modules that the table imports, each after the one that it is in.
_TORCHVISION = (
    "torchvision",
    "torchvision.transforms",
    "torchvision.transforms._functional_tensor",
    "torchvision.transforms.v2",
    "torchvision.transforms.v2.functional",
    "torchvision.transforms.v2.functional._geometry",
)


def _absent(name: str) -> Any:
    """Stand for a function of torchvision."""
    if name.startswith("__"):
        raise AttributeError(name)

    def reference(*_: Any) -> Any:
        raise RuntimeError(f"{name} is of torchvision, which is not installed")

    return reference


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
        ops.append(table.ROWS[rng.choice(("TO_FLOAT", "V2_TO_FLOAT", "SCALE"))].draw(rng, like))
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


def fits(op: bytes, shape: tuple[int, int, int], rewrites: int) -> bool:
    """Say whether a device does an op that leaves bytes, by itself on an image of this shape."""
    height, width, channels = _C.shape(op, *shape)
    # Planning reads no pixel.
    source = _C.from_pointer(1 << 40, *shape, shape[1] * shape[2], shape[2], 1, None)
    strides = width * channels, channels, 1
    target = _C.into_pointer(1 << 40, _C.DTYPES["uint8"], height, width, channels, *strides, None)
    return not _C.Bag([(op, source, target)], rewrites).unfit


def on_devices(table: Any) -> list[str]:
    """List the ops that leave bytes of which a device does any at all."""
    names = []
    for name, row in table.ROWS.items():
        rng = random.Random(name)
        images = [np.empty((9, 8, channels), np.uint8) for channels in sorted(row.channels) * 8]
        if row.kind != "store" and any(
            fits(row.draw(rng, image).pack(), image.shape, _C.EXACT)  # type: ignore[arg-type]
            for image in images
        ):
            names.append(name)
    return names


def left_to_the_host(table: Any, sample: Sample, rewrites: int) -> bool:
    """Say whether a sample has an op that no device does by itself, of what the ops before it leave."""
    size = len(sample.program) // len(sample.name.split())
    for number, name in enumerate(sample.name.split()):
        before, op = sample.program[: number * size], sample.program[number * size : (number + 1) * size]
        if table.ROWS[name].kind != "store" and not fits(op, _C.shape(before, *sample.image.shape), rewrites):
            return True
    return False


def chains(table: Any, count: int, channels: Sequence[int] = (1, 2, 3, 3, 3, 4)) -> list[Sample]:
    """Random programs of what devices do, for which few kinds of kernels do everything."""
    names = on_devices(table)
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


class Found(NamedTuple):
    """What became of samples.

    Attributes:
        seen: how many were given to a device.
        kernels: how many they needed.
        unfit: those of them that no device does.
        wrong: a line for each whose bytes, or those around it, are others.
    """

    seen: int
    kernels: int
    unfit: list[Sample]
    wrong: list[str]

    @property
    def done(self) -> int:
        return self.seen - len(self.unfit)


class Trial:
    """The jobs of samples, on the host and on a device.

    Kernels are made for all of the samples at once, and those first that most of them need. Samples begin with those
    that one kernel suffices for, then come those of two and three, of up to seven, and so on, mixed as they were.

    Args:
        most: how many kernels are made; samples that need others are left out.
    """

    #: Samples that a device gets together.
    BAG = 64

    def __init__(
        self, samples: Sequence[Sample], machine: Machine, rewrites: int, ahead: Ahead, most: int | None = None
    ) -> None:
        self._machine = machine
        self._rewrites = rewrites
        self._family = Family()
        self._host: list[Job] = []
        self._there: list[Job] = []
        self._results: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._samples = samples
        for sample in samples:
            memory, start, strides = _laid(sample.image, sample.layout)
            pixels = torch.from_numpy(memory)
            blank = torch.full((_result_bytes(sample),), DIRT, dtype=torch.uint8)
            result = blank.clone()
            self._host.append(_job(sample, pixels, start, strides, result))
            there = machine.put(blank)
            self._there.append(_job(sample, machine.put(pixels), start, strides, there))
            self._results.append((result, there))
        specs = [_C.Bag([job], rewrites, *machine.bags.limits).specs for job in self._there]
        used = Counter(spec[:3] for one in specs for spec in one)
        wide = {spec[:3]: spec for spec in self._family.widen(spec for one in specs for spec in one)}
        ranks = {kind: rank for rank, (kind, _) in enumerate(used.most_common())}
        self._kernels = ahead.ask([wide[kind] for kind in list(ranks)[:most]], self._family)
        #: By sample: how many of the kernels have to be there.
        self._needed = [max((1 + ranks[spec[:3]] for spec in one), default=0) for one in specs]
        order = sorted(range(len(samples)), key=lambda number: self._needed[number].bit_length())
        self._order = [number for number in order if self._needed[number] <= len(self._kernels)]

    def compare(self, clock: Clock, emulate: bool = False) -> Found:
        """Run samples until the time is over.

        Exact rewrites give the CPU's bits. Others give those of the device's bodies, which the CPU can `emulate`.
        """
        seen, kernels, unfit, wrong = 0, 0, [], []
        for start in range(0, len(self._order), self.BAG):
            numbers = self._order[start : start + self.BAG]
            needed = max(self._needed[number] for number in numbers)
            if clock.over or not made(self._kernels[:needed], clock):
                break
            kernels = max(kernels, needed)
            left = self._run(numbers, emulate)
            seen += len(numbers)
            unfit += [self._samples[number] for number in left]
            wrong += [line for number in numbers if number not in left and (line := self._differs(number))]
        return Found(seen, kernels, unfit, wrong)

    def _run(self, numbers: Sequence[int], emulate: bool) -> set[int]:
        """Do samples on both sides; those that no device does are returned."""
        device, host = self._machine.bags, [self._host[number] for number in numbers]
        if emulate:
            _C.Bag(host, self._rewrites, *device.limits).emulate()
        else:
            _C.run(host, self._rewrites)
        with device.current():
            unfit = bag.run([self._there[number] for number in numbers], device, self._rewrites, self._family)
        self._machine.synchronize()
        return {numbers[k] for k in unfit}

    def _differs(self, number: int) -> str:
        sample, (result, there) = self._samples[number], self._results[number]
        got = there.cpu()
        if torch.equal(result, got):
            return ""
        return (
            f"{int((result != got).sum())} of {len(got)} bytes of {sample.name}, {sample.image.shape} {sample.layout}"
            f" to {sample.size} {sample.dtype} {'planar' if sample.planar else 'interleaved'}"
        )
