"""Programs of the ops in op_table: packed, drawn at random, run by the native executors and by the references."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch

from fastaug import _C
from tables.op_table import ROWS, Op

#: What results may be made of: their number in a call, and what holds the bits of one.
DTYPES = {"uint8": (0, np.uint8), "float32": (1, np.float32), "float16": (2, np.uint16), "bfloat16": (3, np.uint16)}


def pack(ops: Sequence[Op]) -> bytes:
    return b"".join(op.pack() for op in ops)


def reference(ops: Sequence[Op], image: np.ndarray) -> np.ndarray:
    for op in ops:
        image = np.ascontiguousarray(ROWS[op.name].reference(op, image))
    return image


def random_program(rng: random.Random, image: np.ndarray, names: Sequence[str] | None = None) -> list[Op]:
    """Up to nine ops that make sense for `image`, half of the time stored as float, sometimes with erased boxes."""
    names = [name for name, row in ROWS.items() if row.kind != "store"] if names is None else names
    ops: list[Op] = []
    for _ in range(rng.randint(1, 9)):
        usable = [name for name in names if image.shape[2] in ROWS[name].channels]
        if not usable:
            break
        ops.append(ROWS[rng.choice(usable)].draw(rng, image))
        image = reference(ops[-1:], image)
    if rng.random() < 0.5:
        ops.append(Op(rng.choice(["TO_FLOAT", "V2_TO_FLOAT"])))
        if rng.random() < 0.7:
            ops.append(ROWS["NORMALIZE"].draw(rng, image))
        if rng.random() < 0.3:
            ops += [ROWS["ERASE"].draw(rng, image) for _ in range(rng.randint(1, 3))]
    return ops


def is_float(ops: Sequence[Op]) -> bool:
    return any(ROWS[op.name].kind == "store" for op in ops)


def narrowed(samples: np.ndarray, dtype: str) -> np.ndarray:
    """float32 samples as torch rounds them to another dtype, the bits of 16-bit numbers as uint16."""
    if dtype == "float32":
        return samples
    return torch.from_numpy(samples.copy()).to(getattr(torch, dtype)).view(torch.int16).numpy().view(np.uint16)


def execute(
    ops: Sequence[Op],
    source: np.ndarray | _C.Source,
    *,
    plain: bool = False,
    planar: bool = False,
    slack: int = 0,
    dtype: str | None = None,
    rewrites: int = _C.EXACT,
) -> np.ndarray:
    """Runs a program; `plain` chooses the op-by-op executor, `planar` a CHW result. Checks that the `slack` samples
    around every row of the result are left alone."""
    program = pack(ops)
    view = _C.from_array(source) if isinstance(source, np.ndarray) else source
    height, width, channels = _C.shape(program, view.height, view.width, view.channels)
    number, kind = DTYPES[dtype or ("float32" if is_float(ops) else "uint8")]
    size = np.dtype(kind).itemsize
    samples = width if planar else width * channels
    lines = height * channels if planar else height
    row = samples * size
    stride = row + slack * size
    memory = np.full(stride * lines + slack * size, 0xA5, np.uint8)
    start = memory.ctypes.data + slack * size
    strides = (stride, size, stride * height) if planar else (stride, channels * size, size)
    target = _C.into_pointer(start, number, height, width, channels, *strides, memory)
    _C.run([(program, view, target)], rewrites, reference=plain)
    rows = memory[slack * size :].reshape(lines, stride)
    assert (memory[: slack * size] == 0xA5).all() and (rows[:, row:] == 0xA5).all(), "wrote beside a row"
    pixels = rows[:, :row].copy().view(kind)
    if planar:
        return pixels.reshape(channels, height, width).transpose(1, 2, 0)
    return pixels.reshape(height, width, channels)


def describe(ops: Sequence[Op]) -> str:
    return "\n".join(f"  {op!r}" for op in ops)
