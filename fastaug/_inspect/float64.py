"""Programs in float64: what a pipeline would give if nothing were rounded between its ops.

Samples are [channels, height, width], and from 0 to 255 before TO_FLOAT or SCALE. Formulas are Pillow's and
torchvision's. The core is exact where it only moves pixels, so it moves them here, too.
"""

from __future__ import annotations

import functools
import itertools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fastaug import _C
from fastaug._inspect import pairs
from fastaug._program import ops
from fastaug._program.borrow import borrow_tensor
from fastaug._program.job import DTYPES, Job
from fastaug._program.kinds import TENSOR

Floats = NDArray[np.float64]
Jobs = Sequence[tuple[bytes, _C.Source, _C.Target]]

_DTYPES = {number: dtype for dtype, (number, _) in DTYPES.items()}
_KIND, _FLOAT_FILL = 0xFF, _C.FLAGS["FLOAT_FILL"]
_BILINEAR, _BICUBIC = 2, 3


class NoTruthError(RuntimeError):
    """A call that has no float64 reference."""


@dataclass
class Op:
    """An op with its operands (csrc/program/ops.def)."""

    name: str
    packed: bytes
    flags: int
    fill: Floats
    i: tuple[int, ...]
    f: tuple[float, ...]

    @property
    def by_torch(self) -> bool:
        """Return whether the arithmetic is that of torchvision's tensors."""
        return self.name.startswith(("TORCH_", "V2_"))


def unpacked(program: bytes) -> list[Op]:
    found = []
    for start in range(0, len(program), ops.OP_BYTES):
        packed = program[start : start + ops.OP_BYTES]
        number, flags, *rest = struct.unpack("<HH4B6i8d", packed)
        fill = struct.unpack_from("<4f", packed, 16) if flags & _FLOAT_FILL else rest[:4]
        colour = np.array(fill, np.float64)[:, None, None]
        found.append(Op(_C.OPS[number][0], packed, flags, colour, tuple(rest[4:10]), tuple(rest[10:])))
    return found


def planes(image: Any) -> Floats:
    """Return the samples of an image of any container."""
    samples = np.asarray(pairs.samples(image), np.float64)
    if not isinstance(image, torch.Tensor):
        samples = np.moveaxis(np.atleast_3d(samples), 2, 0)
    return samples[None] if samples.ndim == 2 else samples


# ---- by the core


def _by_core(op: bytes, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Apply an op to bytes, [height, width, channels]."""
    result = np.empty(_C.shape(op, *pixels.shape), np.uint8)
    _C.run([(op, _C.from_array(pixels), _C.into_array(result))])
    return result


def of_bytes(op: Op, samples: Floats) -> Floats:
    """Apply an op that has no model, if the samples are bytes."""
    pixels = np.rint(samples)
    if np.abs(samples - pixels).max() > 1e-9:
        raise NoTruthError(f"{op.name.lower()} has no model in float64 but of bytes")
    return planes(_by_core(op.packed, np.moveaxis(pixels, 0, 2).astype(np.uint8)))


def moved(op: Op, samples: Floats) -> Floats:
    """Let the core move the numbers of pixels, in four channels of bytes. Number 0 is the fill."""
    channels, height, width = samples.shape
    numbers = np.arange(1, height * width + 1, dtype="<u4").view(np.uint8).reshape(height, width, 4)
    outside = ops.FILLED | ops.V2_FILL | _FLOAT_FILL if op.by_torch else 0
    unfilled = op.packed[:2] + struct.pack("<H4x", op.flags & ~outside) + op.packed[8:]
    source = _by_core(unfilled, numbers).view("<u4")[..., 0]
    return np.concatenate([op.fill[:channels, 0], samples.reshape(channels, -1)], axis=1)[:, source]


# ---- resizes


def _cubic(x: Floats, a: float) -> Floats:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x < 1, near, np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0.0))


#: Functions of the distance from the centre, and their reach, by Pillow's numbers. BOX has one of its two ends.
_FILTERS: dict[int, tuple[Callable[[Floats], Floats], float]] = {
    1: (lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0), 3.0),
    _BILINEAR: (lambda x: np.maximum(1 - np.abs(x), 0), 1.0),
    _BICUBIC: (lambda x: _cubic(np.abs(x), -0.5), 2.0),
    4: (lambda x: np.where((x > -0.5) & (x <= 0.5), 1.0, 0.0), 0.5),
    5: (lambda x: np.where(np.abs(x) < 1, np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x)), 0.0), 1.0),
}


@functools.lru_cache(maxsize=64)
def _resampling(before: int, after: int, kind: int) -> Floats:
    """Return the matrix [after, before] of a resize along one axis."""
    filter_, reach = _FILTERS[kind]
    stretch = max(before / after, 1.0)
    centre = (np.arange(after) + 0.5)[:, None] * (before / after)
    first, last = (np.trunc(np.maximum(centre + side * reach * stretch + 0.5, 0)) for side in (-1, 1))
    index = np.arange(before)
    taps = filter_((index - centre + 0.5) / stretch) * ((index >= first) & (index < last))
    return np.asarray(taps / taps.sum(axis=1, keepdims=True), np.float64)


def resized(op: Op, samples: Floats) -> Floats:
    """Resize along both axes. Pillow cuts samples off after each, and torch after both."""
    height, width = op.i[:2]
    lost_height, lost_width = samples.shape[1] - height, samples.shape[2] - width
    kind = op.flags & _KIND & ~ops.SHORT_WEIGHTS
    down, across = _resampling(samples.shape[1], height, kind), _resampling(samples.shape[2], width, kind).T
    if op.by_torch:
        return np.clip(down @ samples @ across, 0, 255)
    if lost_height > max(0, 2 * lost_width) and not op.flags & ops.WIDTH_FIRST:
        return np.clip(np.clip(down @ samples, 0, 255) @ across, 0, 255)
    return np.clip(down @ np.clip(samples @ across, 0, 255), 0, 255)


# ---- warps


def warped(op: Op, samples: Floats) -> Floats:
    """Apply an affine map, or a perspective, of which the former is one without a horizon."""
    if op.flags & _KIND not in (_BILINEAR, _BICUBIC):
        return moved(op, samples)
    before, after = np.reshape(samples.shape[1:], (2, 1, 1)), np.reshape(op.i[:2], (2, 1, 1))
    y, x = np.mgrid[: op.i[0], : op.i[1]] + 0.5 - (after / 2 if op.name == "TORCH_AFFINE" else 0)
    a, b, c, d, e, f, g, h = op.f
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.stack([d * x + e * y + f, a * x + b * y + c]) / (g * x + h * y + 1)
    if op.name == "TORCH_AFFINE":
        at += before / 2
    elif op.by_torch:
        at *= before / after
    at = np.clip(np.nan_to_num(at), -1, before + 1)
    fill = op.fill[: len(samples)]
    if not op.by_torch:
        inside = ((at >= 0) & (at < before)).all(axis=0)
        return np.where(inside, _sampled(samples, at - 0.5, op.flags & _KIND == _BICUBIC), fill)
    # Outside is nothing. A channel of ones shows how much of each sample is inside.
    framed = np.pad(np.concatenate([samples, np.ones((1, *samples.shape[1:]))]), ((0, 0), (1, 1), (1, 1)))
    found = _sampled(framed, at + 0.5, False)
    result, share = found[:-1], found[-1]
    return result * share + (1 - share) * fill if op.flags & ops.FILLED else result


def _sampled(samples: Floats, at: Floats, cubic: bool) -> Floats:
    """Interpolate at positions [2, height, width]. Borders are repeated. Pillow's cubic has A = -1."""
    total = np.zeros((len(samples), *at.shape[1:]))
    corner = np.floor(at)
    taps = (-1, 0, 1, 2) if cubic else (0, 1)
    for tap in itertools.product(taps, taps):
        place = corner + np.reshape(tap, (2, 1, 1))
        away = np.abs(at - place)
        down, across = _cubic(away, -1.0) if cubic else 1 - away
        rows, columns = (np.clip(one, 0, size - 1).astype(np.int64) for one, size in zip(place, samples.shape[1:]))
        total += samples[:, rows, columns] * (down * across)
    return np.clip(total, 0, 255) if cubic else total


# ---- filters


def blurred(op: Op, samples: Floats) -> Floats:
    width, height = op.i[:2]
    weights = np.frombuffer(op.packed[32:], np.float32).astype(np.float64)
    across = weights[: width // 2 + 1]
    down = across if op.flags & _C.FLAGS["SQUARE"] else weights[len(across) :][: height // 2 + 1]
    return _smoothing(samples.shape[1], down) @ samples @ _smoothing(samples.shape[2], across).T


def _smoothing(size: int, half: Floats) -> Floats:
    """Return the matrix of a symmetric kernel along an axis that is reflected at its ends."""
    reach = len(half) - 1
    reflected = np.pad(np.eye(size), ((reach, reach), (0, 0)), "reflect")
    shifted = (weight * reflected[k : k + size] for k, weight in enumerate([*half, *half[-2::-1]]))
    return np.asarray(sum(shifted), np.float64)


def sharpened(op: Op, samples: Floats) -> Floats:
    smooth = samples.copy()
    height, width = samples.shape[1:]
    if height > 2 and width > 2:
        shifted = [samples[:, y : y + height - 2, x : x + width - 2] for y in range(3) for x in range(3)]
        smooth[:, 1:-1, 1:-1] = (sum(shifted) + 4 * shifted[4]) / 13
    return blended(op, smooth, samples)


# ---- colour


def luma(op: Op, samples: Floats) -> Floats:
    weights = [0.2989 if op.by_torch else 0.299, 0.587, 0.114]
    return np.tensordot(weights, samples, 1)[None] if len(samples) > 1 else samples


def blended(op: Op, first: Any, samples: Floats) -> Floats:
    if op.flags & ops.HAS_ALPHA:
        raise NoTruthError(f"{op.name.lower()} has no model in float64 of images with alpha")
    mixed: Floats = np.clip(first + op.f[0] * (samples - first), 0, 255)
    return mixed


def turned(op: Op, samples: Floats) -> Floats:
    """Turn the hue by a share of the circle. Saturation and value stay."""
    red, green, blue = samples
    value = samples.max(axis=0)
    chroma = value - samples.min(axis=0)
    divisor = np.where(chroma == 0, 1, chroma)
    others = np.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor)
    hue = np.where(value == red, (green - blue) / divisor, others)
    k = (np.reshape([5, 3, 1], (3, 1, 1)) + hue + 6 * op.f[0]) % 6
    channels: Floats = value - chroma * np.clip(np.minimum(k, 4 - k), 0, 1)
    return channels


def stretched(op: Op, samples: Floats) -> Floats:
    low, high = samples.min(axis=(1, 2), keepdims=True), samples.max(axis=(1, 2), keepdims=True)
    return np.where(high > low, (samples - low) * (255 / np.where(high > low, high - low, 255)), samples)


# ---- the store


def normalized(op: Op, samples: Floats) -> Floats:
    mean, std = (np.reshape(values[: len(samples)], (-1, 1, 1)) for values in (op.f[:4], op.f[4:]))
    result: Floats = (samples - mean) / std
    return result


def erased(op: Op, samples: Floats) -> Floats:
    top, left, height, width = op.i[:4]
    result = samples.copy()
    result[:, top : top + height, left : left + width] = np.reshape(op.f[: len(samples)], (-1, 1, 1))
    return result


#: Models of ops by their names, without TORCH_ and V2_.
_MODELS: dict[str, Callable[[Op, Floats], Floats]] = {
    **dict.fromkeys(("WINDOW", "PAD", "NEAREST", "HFLIP", "VFLIP", "ROT90"), moved),
    **dict.fromkeys(("AFFINE", "PERSPECTIVE"), warped),
    "RESIZE": resized,
    "BLUR": blurred,
    "SHARPNESS": sharpened,
    "BRIGHTNESS": lambda op, samples: blended(op, 0.0, samples),
    "CONTRAST": lambda op, samples: blended(op, luma(op, samples).mean(), samples),
    "SATURATION": lambda op, samples: blended(op, luma(op, samples), samples),
    "HUE": turned,
    "LUMA": luma,
    "REPLICATE": lambda op, samples: np.repeat(samples, op.i[0], axis=0),
    "INVERT": lambda op, samples: 255 - samples,
    "SOLARIZE": lambda op, samples: np.where(samples < op.f[0], samples, 255 - samples),
    "AUTOCONTRAST": stretched,
    "TO_FLOAT": lambda op, samples: samples / 255,
    "SCALE": lambda op, samples: samples * op.f[0],
    "NORMALIZE": normalized,
    "ERASE": erased,
}


class Unrounded:
    """A run of programs in float64. It hands out rounded images, and keeps their samples from before."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], bytes], Floats] = {}

    def run(self, jobs: Jobs, rewrites: int) -> None:
        """Run jobs in place of the core. An image that another job made goes on as it was before it was rounded."""
        for program, source, target in jobs:
            size, dtype = (source.height, source.width, source.channels), _DTYPES[int(source.floats)]
            samples = self.of(Job(b"", source, TENSOR, size, dtype=dtype).execute())
            for op in unpacked(program):
                model = _MODELS.get(op.name.removeprefix("TORCH_").removeprefix("V2_"), of_bytes)
                samples = model(op, samples)
            dtype = _DTYPES[target.dtype]
            exact = torch.from_numpy(np.ascontiguousarray(samples))
            rounded = (exact if dtype.is_floating_point else exact.round().clamp(0, 255)).to(dtype)
            self._known[_key(planes(rounded))] = samples
            readable = rounded.float() if dtype.is_floating_point else rounded
            _C.run([(b"", borrow_tensor(readable), target)])

    def of(self, image: Any) -> Floats:
        """Return the samples of an image before they were rounded, or as they are if no job made it."""
        found = planes(image)
        if found.ndim > 3:
            return np.stack([self.of(torch.from_numpy(one)) for one in found])
        parts = (found[k : k + 4] for k in range(0, len(found), 4))  # a job has four channels at most
        return np.concatenate([self._known.get(_key(part), part) for part in parts])


def _key(samples: Floats) -> tuple[tuple[int, ...], bytes]:
    return samples.shape, samples.tobytes()


def unrounded(pipeline: Any, image: Any) -> tuple[Any, Unrounded]:
    """Call a pipeline, and return its result with the samples that it was made of.

    User code, and Pillow and torch where the core leaves an op to them, get rounded images.

    Raises:
        NoTruthError: for an op that has no model of such samples.
    """
    made = Unrounded()
    call = pipeline._call.like()
    call.run = made.run
    return pipeline._run(image, call), made
