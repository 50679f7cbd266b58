"""The tests' op table: for every op of the native registry its random operands and a reference in numpy and Pillow.

A program is packed here from scratch, so that the tests check the format as well as the arithmetic. Images are
uint8 arrays of shape (height, width, channels); the store ops make float32 ones.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from PIL import Image

from fastaug import _C

OP_FORMAT = "<HH4B6i8d"
IDS = {name: index for index, (name, _) in enumerate(_C.OPS)}

HAS_ALPHA = 1
WIDTH_FIRST = 0x100
LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = 1, 2, 3, 4, 5
PAD_MODES = ("edge", "reflect", "symmetric")
LARGEST = 90


@dataclass(frozen=True)
class Op:
    """One op with its operands."""

    name: str
    i: tuple[int, ...] = ()
    f: tuple[float, ...] = ()
    flags: int = 0
    fill: tuple[int, ...] = (0, 0, 0, 0)

    def pack(self) -> bytes:
        integers = (*self.i, *[0] * (6 - len(self.i)))
        floats = (*self.f, *[0.0] * (8 - len(self.f)))
        return struct.pack(OP_FORMAT, IDS[self.name], self.flags, *self.fill, *integers, *floats)


def pack(ops: Sequence[Op]) -> bytes:
    return b"".join(op.pack() for op in ops)


def planes(image: np.ndarray, change: Callable[[Image.Image, int], Image.Image]) -> np.ndarray:
    """Applies a Pillow call to every channel as a greyscale image."""
    parts = [np.asarray(change(Image.fromarray(image[:, :, c].copy()), c)) for c in range(image.shape[2])]
    return np.stack(parts, axis=2)


# ---- references


def window(op: Op, image: np.ndarray) -> np.ndarray:
    top, left, height, width = op.i
    out = np.empty((height, width, image.shape[2]), np.uint8)
    out[:] = op.fill[: image.shape[2]]
    y0, y1 = max(top, 0), min(top + height, image.shape[0])
    x0, x1 = max(left, 0), min(left + width, image.shape[1])
    if y0 < y1 and x0 < x1:
        out[y0 - top : y1 - top, x0 - left : x1 - left] = image[y0:y1, x0:x1]
    return out


def pad(op: Op, image: np.ndarray) -> np.ndarray:
    left, top, right, bottom = op.i
    return np.pad(image, ((top, bottom), (left, right), (0, 0)), mode=PAD_MODES[op.flags])


def resize(op: Op, image: np.ndarray) -> np.ndarray:
    """Two one-axis passes; which goes first is Pillow's choice (13 and later) unless the op says width first."""
    height, width = op.i
    lost_height, lost_width = image.shape[0] - height, image.shape[1] - width
    height_first = lost_height > 0 and lost_height > 2 * lost_width and not op.flags & WIDTH_FIRST
    kind = Image.Resampling(op.flags & 0xFF)

    def both(plane: Image.Image, _: int) -> Image.Image:
        first = (plane.width, height) if height_first else (width, plane.height)
        return plane.resize(first, kind).resize((width, height), kind)

    return planes(image, both)


def nearest(op: Op, image: np.ndarray) -> np.ndarray:
    height, width = op.i
    if op.flags == 0:
        return planes(image, lambda plane, _: plane.resize((width, height), Image.Resampling.NEAREST))
    batch = torch.from_numpy(image.transpose(2, 0, 1).copy())[None]
    rule = "nearest" if op.flags == 1 else "nearest-exact"
    resized = torch.nn.functional.interpolate(batch, size=(height, width), mode=rule)
    return resized[0].permute(1, 2, 0).numpy()


def affine(op: Op, image: np.ndarray) -> np.ndarray:
    height, width = op.i
    kind = Image.Resampling(op.flags)
    return planes(
        image,
        lambda plane, c: plane.transform(
            (width, height), Image.Transform.AFFINE, op.f[:6], resample=kind, fillcolor=op.fill[c]
        ),
    )


def blend(first: np.ndarray, second: np.ndarray, factor: float, alpha: bool) -> np.ndarray:
    """Pillow's Blend.c; an alpha channel is taken from `second`."""
    out = second.copy()
    for c in range(second.shape[2] - alpha):
        out[:, :, c] = Image.blend(Image.fromarray(first[:, :, c]), Image.fromarray(second[:, :, c].copy()), factor)
    return out


def grey(image: np.ndarray) -> np.ndarray:
    """ITU-R 601-2 in Pillow's 16-bit fixed point (Convert.c); a single channel, or grey with alpha, is its own grey."""
    if image.shape[2] < 3:
        return image[:, :, :1]
    red, green, blue = (image[:, :, c].astype(np.int64) for c in range(3))
    return ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16).astype(np.uint8)[:, :, None]


def contrast(op: Op, image: np.ndarray) -> np.ndarray:
    mean = int(grey(image).astype(np.int64).sum() / (image.shape[0] * image.shape[1]) + 0.5)
    return blend(np.full_like(image, mean), image, op.f[0], bool(op.flags & HAS_ALPHA))


def hue(op: Op, image: np.ndarray) -> np.ndarray:
    hsv = np.array(Image.fromarray(image[:, :, :3].copy()).convert("HSV"))
    hsv[:, :, 0] += np.uint8(op.i[0])
    rgb = Image.frombytes("HSV", (image.shape[1], image.shape[0]), hsv.tobytes()).convert("RGB")
    out = np.full_like(image, 255)
    out[:, :, :3] = np.asarray(rgb)
    return out


def alpha_pair(image: np.ndarray) -> str:
    return "LA" if image.shape[2] == 2 else "RGBA"


def convert(image: np.ndarray, source: str, target: str) -> np.ndarray:
    size = (image.shape[1], image.shape[0])
    changed = Image.frombytes(source, size, image.tobytes()).convert(target)
    return np.frombuffer(changed.tobytes(), np.uint8).reshape(image.shape)


def premultiply(op: Op, image: np.ndarray) -> np.ndarray:
    mode = alpha_pair(image)
    return convert(image, mode, mode[:-1] + "a")


def unpremultiply(op: Op, image: np.ndarray) -> np.ndarray:
    mode = alpha_pair(image)
    return convert(image, mode[:-1] + "a", mode)


def normalize(op: Op, image: np.ndarray) -> np.ndarray:
    channels = image.shape[2]
    mean, std = np.float32(op.f[:channels]), np.float32(op.f[4 : 4 + channels])
    return (image - mean) / std


# ---- random operands


def fill(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice([0, 255, rng.randrange(256)]) for _ in range(4))


def size(rng: random.Random, now: int) -> int:
    """A new extent: the same, one, twice, or anything up to LARGEST."""
    return min(
        LARGEST, rng.choice([now, 1, 2 * now, max(1, now // 2), rng.randint(1, LARGEST), rng.randint(1, LARGEST)])
    )


def factor(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, 0.5, -0.5, rng.uniform(0, 1), rng.uniform(1, 3), rng.uniform(0.9, 1.1), 40.0])


def draw_window(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    kind = rng.randrange(4)
    if kind == 0:
        top, left = rng.randrange(h), rng.randrange(w)
        box = (top, left, rng.randint(1, h - top), rng.randint(1, w - left))
    elif kind == 1:
        top, left = rng.randint(0, 5), rng.randint(0, 5)
        box = (-top, -left, min(LARGEST, h + top + rng.randint(0, 5)), min(LARGEST, w + left + rng.randint(0, 5)))
    else:
        box = (rng.randint(-h - 3, h + 3), rng.randint(-w - 3, w + 3), size(rng, h), size(rng, w))
    return Op("WINDOW", box, fill=fill(rng))


def draw_pad(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    mode = rng.randrange(3)
    most = [max(0, min(LARGEST - extent, rng.choice([3, 2 * extent])) // 2) for extent in (w, h)]
    return Op("PAD", tuple(rng.randint(0, limit) for limit in (*most, *most)), flags=mode)


def draw_affine(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    out_h, out_w = (h, w) if rng.random() < 0.5 else (size(rng, h), size(rng, w))
    kind = rng.randrange(6)
    if kind <= 2:
        angle, zoom = math.radians(rng.uniform(-180, 180)), rng.choice([1.0, 1.0, rng.uniform(0.3, 3)])
        a, b = math.cos(angle) * zoom, math.sin(angle) * zoom
        matrix = [a, b, w / 2 - a * out_w / 2 - b * out_h / 2, -b, a, h / 2 + b * out_w / 2 - a * out_h / 2]
    elif kind == 3:  # scale and shift only: Pillow's ImagingScaleAffine
        matrix = [
            rng.uniform(-2, 2) or 1.0,
            0.0,
            rng.uniform(-9, w),
            0.0,
            rng.uniform(-2, 2) or 1.0,
            rng.uniform(-9, h),
        ]
    elif kind == 4:  # nothing to do, or a whole shift
        matrix = [1.0, 0.0, float(rng.randint(-3, 3)), 0.0, 1.0, float(rng.randint(-3, 3))]
    else:  # too far out for Pillow's 16.16 fixed point
        matrix = [rng.uniform(-900, 900), rng.uniform(-900, 900), rng.uniform(-9e4, 9e4), rng.uniform(-2, 2), 0.5, 1.5]
    return Op("AFFINE", (out_h, out_w), tuple(matrix), rng.choice([0, 0, 2, 2, 3]), fill(rng))


def alpha_flag(image: np.ndarray) -> int:
    return HAS_ALPHA if image.shape[2] in (2, 4) else 0


@dataclass(frozen=True)
class Row:
    """A line of the op table."""

    kind: str
    reference: Callable[[Op, np.ndarray], np.ndarray]
    draw: Callable[[random.Random, np.ndarray], Op]
    channels: frozenset[int] = field(default_factory=lambda: frozenset({1, 2, 3, 4}))


COLOURS = frozenset({3, 4})
PAIRS = frozenset({2, 4})

ROWS: dict[str, Row] = {
    "WINDOW": Row("geometry", window, draw_window),
    "PAD": Row("geometry", pad, draw_pad),
    "RESIZE": Row(
        "geometry",
        resize,
        lambda rng, x: Op(
            "RESIZE",
            (size(rng, x.shape[0]), size(rng, x.shape[1])),
            flags=rng.choice([2, 2, 2, 3, 3, 1, 4, 5]) | rng.choice([0, 0, WIDTH_FIRST]),
        ),
    ),
    "NEAREST": Row(
        "geometry",
        nearest,
        lambda rng, x: Op("NEAREST", (size(rng, x.shape[0]), size(rng, x.shape[1])), flags=rng.randrange(3)),
    ),
    "HFLIP": Row("geometry", lambda op, x: x[:, ::-1], lambda rng, x: Op("HFLIP")),
    "VFLIP": Row("geometry", lambda op, x: x[::-1], lambda rng, x: Op("VFLIP")),
    "ROT90": Row(
        "geometry", lambda op, x: np.rot90(x, op.flags), lambda rng, x: Op("ROT90", flags=rng.choice([1, 2, 3]))
    ),
    "AFFINE": Row("geometry", affine, draw_affine),
    "BRIGHTNESS": Row(
        "pointwise",
        lambda op, x: blend(np.zeros_like(x), x, op.f[0], bool(op.flags & HAS_ALPHA)),
        lambda rng, x: Op("BRIGHTNESS", f=(factor(rng),), flags=alpha_flag(x)),
    ),
    "CONTRAST": Row("reduction", contrast, lambda rng, x: Op("CONTRAST", f=(factor(rng),), flags=alpha_flag(x))),
    "SATURATION": Row(
        "pointwise",
        lambda op, x: blend(np.repeat(grey(x), 3, axis=2), x, op.f[0], x.shape[2] == 4),
        lambda rng, x: Op("SATURATION", f=(factor(rng),)),
        COLOURS,
    ),
    "HUE": Row("pointwise", hue, lambda rng, x: Op("HUE", (rng.randrange(256),)), COLOURS),
    "LUMA": Row("pointwise", lambda op, x: grey(x), lambda rng, x: Op("LUMA"), COLOURS),
    "REPLICATE": Row(
        "pointwise",
        lambda op, x: np.repeat(x, op.i[0], axis=2),
        lambda rng, x: Op("REPLICATE", (rng.randint(1, 4),)),
        frozenset({1}),
    ),
    "PREMULTIPLY": Row("pointwise", premultiply, lambda rng, x: Op("PREMULTIPLY"), PAIRS),
    "UNPREMULTIPLY": Row("pointwise", unpremultiply, lambda rng, x: Op("UNPREMULTIPLY"), PAIRS),
    "TO_FLOAT": Row("store", lambda op, x: x.astype(np.float32) / np.float32(255), lambda rng, x: Op("TO_FLOAT")),
    "NORMALIZE": Row(
        "store",
        normalize,
        lambda rng, x: Op(
            "NORMALIZE",
            f=(*(rng.uniform(-1, 2) for _ in range(4)), *(rng.choice([1.0, rng.uniform(0.01, 3)]) for _ in range(4))),
        ),
    ),
}


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
