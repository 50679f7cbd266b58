"""Ops of the native core's registry (csrc/program/ops.def) as bytes.

An op is 96 bytes, struct format "<HH4B6i8d": id, flags, fill, i[6], f[8]. Operands that an op does not have are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from fastaug import _C

_ID = {name: position for position, (name, _) in enumerate(_C.OPS)}

OP_BYTES = _C.OP_BYTES
#: The native core's limit on the length of a program.
MAX_OPS = _C.MAX_OPS

# PadMode, NearestRule and the flags of csrc/program/op.h.
PAD_MODES = _C.PAD_MODES
NEAREST_PILLOW = _C.NEAREST_RULES["pillow"]
WIDTH_FIRST = _C.FLAGS["WIDTH_FIRST"]
SHORT_WEIGHTS = _C.FLAGS["SHORT_WEIGHTS"]
HAS_ALPHA = _C.FLAGS["HAS_ALPHA"]
#: TORCH_AFFINE, TORCH_PERSPECTIVE: what lies outside is the fill, not zero.
FILLED = _C.FLAGS["FILLED"]
#: TORCH_AFFINE, TORCH_PERSPECTIVE: torch's matrix product fuses.
FUSED = _C.FLAGS["FUSED"]
#: TORCH_AFFINE, TORCH_PERSPECTIVE, beside FILLED: torchvision.transforms.v2's blend with the fill.
V2_FILL = _C.FLAGS["V2_FILL"]
_FLOAT_FILL = _C.FLAGS["FLOAT_FILL"]
# HED: stains below zero stay what they are.
_UNCLIPPED = _C.FLAGS["UNCLIPPED"]
#: STAINS: densities and rounding of AlbumentationsX, densities of torchstain; neither is tiatoolbox.
ROUNDS_STAINS = _C.FLAGS["ROUNDS_STAINS"]
NEXT_DENSITIES = _C.FLAGS["NEXT_DENSITIES"]
#: STAINS: pixels without tissue stay as they are.
KEEPS_BACKGROUND = _C.FLAGS["KEEPS_BACKGROUND"]

NO_FILL = bytes(4)

_PLAIN = Struct("<HH92x")
_SIZED = Struct("<HH4x2i80x")
_FOUR = Struct("<HH4x4i72x")
_INTEGER = Struct("<HH4xi84x")
_FACTOR = Struct("<HH28xd56x")
_WINDOW = Struct("<HH4s4i72x")
_AFFINE = Struct("<HH4s2i16x6d16x")
_PERSPECTIVE = Struct("<HH4s2i16x8d")
# The same with a fill of numbers.
_AFFINE_FLOAT = Struct("<HH4x2i4f6d16x")
_PERSPECTIVE_FLOAT = Struct("<HH4x2i4f8d")
_BOX_BLUR = Struct("<HH4xi20x2d48x")
_HED = Struct("<HH28x6d16x")
_STAINS = Struct("<HH4x24s8d")
_DOUBLE, _BITS = Struct("<d"), Struct("<Q")
_NORMALIZE = Struct("<HH28x8d")


def plain(name: str) -> bytes:
    """Pack an op without operands."""
    return _PLAIN.pack(_ID[name], 0)


def by_factor(name: str, factor: float, flags: int = 0) -> bytes:
    """Pack an op whose only operand is a factor, with flags."""
    return _FACTOR.pack(_ID[name], flags, factor)


def by_integer(name: str, number: int) -> bytes:
    return _INTEGER.pack(_ID[name], 0, number)


HFLIP = plain("HFLIP")
VFLIP = plain("VFLIP")
PREMULTIPLY = plain("PREMULTIPLY")
UNPREMULTIPLY = plain("UNPREMULTIPLY")
#: Counter-clockwise rotations by 90, 180 and 270 degrees.
ROT90 = {90 * turns: _PLAIN.pack(_ID["ROT90"], turns) for turns in (1, 2, 3)}


def window(top: int, left: int, height: int, width: int, fill: bytes = NO_FILL) -> bytes:
    """Pack a rectangle, which is `fill` outside the image."""
    return _WINDOW.pack(_ID["WINDOW"], 0, fill, top, left, height, width)


def resize(height: int, width: int, flags: int) -> bytes:
    return _SIZED.pack(_ID["RESIZE"], flags, height, width)


def nearest(height: int, width: int, rule: int) -> bytes:
    return _SIZED.pack(_ID["NEAREST"], rule, height, width)


def affine(height: int, width: int, interpolation: int, matrix: Sequence[float], fill: bytes) -> bytes:
    return _AFFINE.pack(_ID["AFFINE"], interpolation, fill, height, width, *matrix)


def perspective(height: int, width: int, interpolation: int, coefficients: Sequence[float], fill: bytes) -> bytes:
    return _PERSPECTIVE.pack(_ID["PERSPECTIVE"], interpolation, fill, height, width, *coefficients)


def hed(alpha: Sequence[float], beta: Sequence[float], clip: bool) -> bytes:
    """Pack factors and shifts of haematoxylin, eosin and DAB, all within 1e6 of zero."""
    return _HED.pack(_ID["HED"], 0 if clip else _UNCLIPPED, *alpha, *beta)


def stains(numbers: Sequence[float], flags: int) -> bytes:
    """Pack a map of densities, twelve numbers within 1e6 of zero. The last four are rounded to 37 bits."""
    rest = b"".join(
        ((_BITS.unpack(_DOUBLE.pack(number))[0] + 0x8000) >> 16).to_bytes(6, "little") for number in numbers[8:]
    )
    return _STAINS.pack(_ID["STAINS"], flags, rest, *numbers[:8])


def normalize(mean: Sequence[float], std: Sequence[float]) -> bytes:
    spare = 4 - len(mean)
    return _NORMALIZE.pack(_ID["NORMALIZE"], 0, *mean, *(0.0,) * spare, *std, *(1.0,) * spare)


def box_blur(across: float, down: float, passes: int) -> bytes:
    """Pack Pillow's extended box blur by radii from 0 to 2^20, in 1 to 16 passes."""
    return _BOX_BLUR.pack(_ID["BOX_BLUR"], 0, passes, across, down)


def torch_affine(height: int, width: int, flags: int, matrix: Sequence[float], fill: bytes | Sequence[float]) -> bytes:
    """Pack an affine map with a fill of bytes, or of four numbers from 0 to 255."""
    if isinstance(fill, bytes):
        return _AFFINE.pack(_ID["TORCH_AFFINE"], flags, fill, height, width, *matrix)
    return _AFFINE_FLOAT.pack(_ID["TORCH_AFFINE"], flags | _FLOAT_FILL, height, width, *fill, *matrix)


def torch_resize(height: int, width: int, number: int) -> bytes:
    """Pack v1's antialiased resize of a uint8 tensor. `number` is Pillow's filter, bilinear or bicubic.

    If the height changes and the width becomes one pixel, torch repeats the first row. The core does not.
    """
    return _SIZED.pack(_ID["TORCH_RESIZE"], number, height, width)


def torch_perspective(
    height: int, width: int, flags: int, coefficients: Sequence[float], fill: bytes | Sequence[float]
) -> bytes:
    if isinstance(fill, bytes):
        return _PERSPECTIVE.pack(_ID["TORCH_PERSPECTIVE"], flags, fill, height, width, *coefficients)
    return _PERSPECTIVE_FLOAT.pack(_ID["TORCH_PERSPECTIVE"], flags | _FLOAT_FILL, height, width, *fill, *coefficients)


def v2_permute(order: Sequence[int]) -> bytes:
    """Pack an order of up to four channels: channel c of the result is channel order[c]."""
    return _FOUR.pack(_ID["V2_PERMUTE"], 0, *order, *range(len(order), 4))
