"""Ops as bytes: one function or constant per op of the native core's registry (csrc/core/ops.def).

An op is 96 bytes, struct format "<HH4B6i8d": id, flags, fill, i[6], f[8]. The packers below write only the operands
that their op has and leave the rest zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from fastaug import _C

_ID = {name: position for position, (name, _) in enumerate(_C.OPS)}

OP_BYTES = 96
#: The native core's limit on the length of a program.
MAX_OPS = 64

# PadMode, NearestRule and the flags of csrc/core/program.h.
PAD_MODES = {"edge": 0, "reflect": 1, "symmetric": 2}
NEAREST_PILLOW, NEAREST_TORCH, NEAREST_TORCH_EXACT = 0, 1, 2
WIDTH_FIRST = 0x100
HAS_ALPHA = 1

NO_FILL = bytes(4)

_PLAIN = Struct("<HH92x")
_SIZED = Struct("<HH4x2i80x")
_INTEGER = Struct("<HH4xi84x")
_FACTOR = Struct("<HH28xd56x")
_WINDOW = Struct("<HH4s4i72x")
_PAD = Struct("<HH4x4i72x")
_AFFINE = Struct("<HH4s2i16x6d16x")
_NORMALIZE = Struct("<HH28x8d")

HFLIP = _PLAIN.pack(_ID["HFLIP"], 0)
VFLIP = _PLAIN.pack(_ID["VFLIP"], 0)
LUMA = _PLAIN.pack(_ID["LUMA"], 0)
PREMULTIPLY = _PLAIN.pack(_ID["PREMULTIPLY"], 0)
UNPREMULTIPLY = _PLAIN.pack(_ID["UNPREMULTIPLY"], 0)
TO_FLOAT = _PLAIN.pack(_ID["TO_FLOAT"], 0)
REPLICATE_3 = _INTEGER.pack(_ID["REPLICATE"], 0, 3)
#: Counter-clockwise rotations by 90, 180 and 270 degrees.
ROT90 = {90 * turns: _PLAIN.pack(_ID["ROT90"], turns) for turns in (1, 2, 3)}

_WINDOW_ID = _ID["WINDOW"]
_PAD_ID = _ID["PAD"]
_RESIZE_ID = _ID["RESIZE"]
_NEAREST_ID = _ID["NEAREST"]
_AFFINE_ID = _ID["AFFINE"]
_BRIGHTNESS_ID = _ID["BRIGHTNESS"]
_CONTRAST_ID = _ID["CONTRAST"]
_SATURATION_ID = _ID["SATURATION"]
_HUE_ID = _ID["HUE"]
_NORMALIZE_ID = _ID["NORMALIZE"]


def window(top: int, left: int, height: int, width: int, fill: bytes = NO_FILL) -> bytes:
    """A rectangle of the image; what lies outside of it is `fill`."""
    return _WINDOW.pack(_WINDOW_ID, 0, fill, top, left, height, width)


def window_of(op: bytes) -> tuple[int, int, int, int] | None:
    """(top, left, height, width) when `op` is a WINDOW."""
    op_id, _, _, top, left, height, width = _WINDOW.unpack(op)
    return (top, left, height, width) if op_id == _WINDOW_ID else None


def pad(left: int, top: int, right: int, bottom: int, mode: str) -> bytes:
    return _PAD.pack(_PAD_ID, PAD_MODES[mode], left, top, right, bottom)


def resize(height: int, width: int, flags: int) -> bytes:
    return _SIZED.pack(_RESIZE_ID, flags, height, width)


def nearest(height: int, width: int, rule: int) -> bytes:
    return _SIZED.pack(_NEAREST_ID, rule, height, width)


def affine(height: int, width: int, interpolation: int, matrix: Sequence[float], fill: bytes) -> bytes:
    return _AFFINE.pack(_AFFINE_ID, interpolation, fill, height, width, *matrix)


def brightness(factor: float, flags: int) -> bytes:
    return _FACTOR.pack(_BRIGHTNESS_ID, flags, factor)


def contrast(factor: float, flags: int) -> bytes:
    return _FACTOR.pack(_CONTRAST_ID, flags, factor)


def saturation(factor: float) -> bytes:
    return _FACTOR.pack(_SATURATION_ID, 0, factor)


def hue(shift: int) -> bytes:
    return _INTEGER.pack(_HUE_ID, 0, shift)


def normalize(mean: Sequence[float], std: Sequence[float]) -> bytes:
    """For up to four channels."""
    spare = 4 - len(mean)
    return _NORMALIZE.pack(_NORMALIZE_ID, 0, *mean, *(0.0,) * spare, *std, *(1.0,) * spare)
