"""Programs of the ops in op_table: packed, drawn at random, run by the native executors and by the references."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from fastaug import _C
from op_table import ROWS, Op


def pack(ops: Sequence[Op]) -> bytes:
    return b"".join(op.pack() for op in ops)


def reference(ops: Sequence[Op], image: np.ndarray) -> np.ndarray:
    for op in ops:
        image = np.ascontiguousarray(ROWS[op.name].reference(op, image))
    return image


def random_program(rng: random.Random, image: np.ndarray, names: Sequence[str] | None = None) -> list[Op]:
    """Up to nine ops that make sense for `image`, half of the time stored as float."""
    names = [name for name, row in ROWS.items() if row.kind != "store"] if names is None else names
    ops: list[Op] = []
    for _ in range(rng.randint(1, 9)):
        usable = [name for name in names if image.shape[2] in ROWS[name].channels]
        if not usable:
            break
        ops.append(ROWS[rng.choice(usable)].draw(rng, image))
        image = reference(ops[-1:], image)
    if rng.random() < 0.5:
        ops.append(Op("TO_FLOAT"))
        if rng.random() < 0.7:
            ops.append(ROWS["NORMALIZE"].draw(rng, image))
    return ops


def is_float(ops: Sequence[Op]) -> bool:
    return any(ROWS[op.name].kind == "store" for op in ops)


def execute(
    ops: Sequence[Op], source: np.ndarray | _C.Source, *, plain: bool = False, planar: bool = False, slack: int = 0
) -> np.ndarray:
    """Runs a program; `plain` chooses the op-by-op executor, `planar` a CHW result. Checks that the `slack` bytes
    around every row of the result are left alone."""
    program = pack(ops)
    view = _C.from_array(source) if isinstance(source, np.ndarray) else source
    height, width, channels = _C.shape(program, view.height, view.width, view.channels)
    dtype = np.dtype(np.float32 if is_float(ops) else np.uint8)
    samples = width if planar else width * channels
    lines = height * channels if planar else height
    row = samples * dtype.itemsize
    stride = row + slack * dtype.itemsize
    memory = np.full(stride * lines + slack * dtype.itemsize, 0xA5, np.uint8)
    start = memory.ctypes.data + slack * dtype.itemsize
    strides = (
        (stride, dtype.itemsize, stride * height) if planar else (stride, channels * dtype.itemsize, dtype.itemsize)
    )
    _C.run(program, view, start, dtype == np.float32, height, width, channels, *strides, reference=plain)
    rows = memory[slack * dtype.itemsize :].reshape(lines, stride)
    assert (memory[: slack * dtype.itemsize] == 0xA5).all() and (rows[:, row:] == 0xA5).all(), "wrote beside a row"
    pixels = rows[:, :row].copy().view(dtype)
    if planar:
        return pixels.reshape(channels, height, width).transpose(1, 2, 0)
    return pixels.reshape(height, width, channels)


def describe(ops: Sequence[Op]) -> str:
    return "\n".join(f"  {op!r}" for op in ops)
