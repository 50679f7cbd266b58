"""Ops as bytes: one function or constant per op of the native core's registry (csrc/program/ops.def).

An op is 96 bytes, struct format "<HH4B6i8d": id, flags, fill, i[6], f[8]. The packers below write only the operands
that their op has and leave the rest zero.
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
NEAREST_PILLOW, NEAREST_TORCH, NEAREST_TORCH_EXACT = (
    _C.NEAREST_RULES[rule] for rule in ("pillow", "torch", "torch_exact")
)
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
# BLUR: both kernels are the same; torch's convolution does not fuse.
_SQUARE = _C.FLAGS["SQUARE"]
_UNFUSED = _C.FLAGS["UNFUSED"]

NO_FILL = bytes(4)

_PLAIN = Struct("<HH92x")
_SIZED = Struct("<HH4x2i80x")
_ORDER = Struct("<HH4x4i72x")
_INTEGER = Struct("<HH4xi84x")
_FACTOR = Struct("<HH28xd56x")
_HUE = Struct("<HH4xi20xd56x")
_ERASE = Struct("<HH4x4i8x4d32x")
_WINDOW = Struct("<HH4s4i72x")
_PAD = Struct("<HH4x4i72x")
_AFFINE = Struct("<HH4s2i16x6d16x")
_PERSPECTIVE = Struct("<HH4s2i16x8d")
_GAMMA = Struct("<HH28x2d48x")
# The same with a fill of numbers.
_AFFINE_FLOAT = Struct("<HH4x2i4f6d16x")
_PERSPECTIVE_FLOAT = Struct("<HH4x2i4f8d")
_BLUR = Struct("<HH4x2i16x16f")
_BOX_BLUR = Struct("<HH4xi20x2d48x")
_HED = Struct("<HH28x6d16x")
_STAINS = Struct("<HH4x24s8d")
_DOUBLE, _BITS = Struct("<d"), Struct("<Q")
_NORMALIZE = Struct("<HH28x8d")

HFLIP = _PLAIN.pack(_ID["HFLIP"], 0)
VFLIP = _PLAIN.pack(_ID["VFLIP"], 0)
LUMA = _PLAIN.pack(_ID["LUMA"], 0)
PREMULTIPLY = _PLAIN.pack(_ID["PREMULTIPLY"], 0)
UNPREMULTIPLY = _PLAIN.pack(_ID["UNPREMULTIPLY"], 0)
TO_FLOAT = _PLAIN.pack(_ID["TO_FLOAT"], 0)
TORCH_LUMA = _PLAIN.pack(_ID["TORCH_LUMA"], 0)
INVERT = _PLAIN.pack(_ID["INVERT"], 0)
AUTOCONTRAST = _PLAIN.pack(_ID["AUTOCONTRAST"], 0)
TORCH_AUTOCONTRAST = _PLAIN.pack(_ID["TORCH_AUTOCONTRAST"], 0)
V2_LUMA = _PLAIN.pack(_ID["V2_LUMA"], 0)
#: What to_dtype(torch.float32, scale=True) makes of samples.
V2_TO_FLOAT = _PLAIN.pack(_ID["V2_TO_FLOAT"], 0)
V2_AUTOCONTRAST = _PLAIN.pack(_ID["V2_AUTOCONTRAST"], 0)
EQUALIZE = _PLAIN.pack(_ID["EQUALIZE"], 0)
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
_HED_ID = _ID["HED"]
_STAINS_ID = _ID["STAINS"]
_NORMALIZE_ID = _ID["NORMALIZE"]
_ERASE_ID = _ID["ERASE"]
_PERSPECTIVE_ID = _ID["PERSPECTIVE"]
_POSTERIZE_ID = _ID["POSTERIZE"]
_SOLARIZE_ID = _ID["SOLARIZE"]
_GAMMA_ID = _ID["GAMMA"]
_SHARPNESS_ID = _ID["SHARPNESS"]
_BLUR_ID = _ID["BLUR"]
_BOX_BLUR_ID = _ID["BOX_BLUR"]
_TORCH_AFFINE_ID = _ID["TORCH_AFFINE"]
_TORCH_CONTRAST_ID = _ID["TORCH_CONTRAST"]
_TORCH_SATURATION_ID = _ID["TORCH_SATURATION"]
_TORCH_SHARPNESS_ID = _ID["TORCH_SHARPNESS"]
_TORCH_GAMMA_ID = _ID["TORCH_GAMMA"]
_TORCH_HUE_ID = _ID["TORCH_HUE"]
_TORCH_RESIZE_ID = _ID["TORCH_RESIZE"]
_TORCH_PERSPECTIVE_ID = _ID["TORCH_PERSPECTIVE"]
_V2_CONTRAST_ID = _ID["V2_CONTRAST"]
_V2_PERMUTE_ID = _ID["V2_PERMUTE"]
_V2_SATURATION_ID = _ID["V2_SATURATION"]
_V2_HUE_ID = _ID["V2_HUE"]
_V2_SHARPNESS_ID = _ID["V2_SHARPNESS"]


def window(top: int, left: int, height: int, width: int, fill: bytes = NO_FILL) -> bytes:
    """A rectangle of the image; what lies outside of it is `fill`."""
    return _WINDOW.pack(_WINDOW_ID, 0, fill, top, left, height, width)


def pad(left: int, top: int, right: int, bottom: int, mode: str) -> bytes:
    return _PAD.pack(_PAD_ID, PAD_MODES[mode], left, top, right, bottom)


def resize(height: int, width: int, flags: int) -> bytes:
    return _SIZED.pack(_RESIZE_ID, flags, height, width)


def nearest(height: int, width: int, rule: int) -> bytes:
    return _SIZED.pack(_NEAREST_ID, rule, height, width)


def affine(height: int, width: int, interpolation: int, matrix: Sequence[float], fill: bytes) -> bytes:
    return _AFFINE.pack(_AFFINE_ID, interpolation, fill, height, width, *matrix)


def perspective(height: int, width: int, interpolation: int, coefficients: Sequence[float], fill: bytes) -> bytes:
    return _PERSPECTIVE.pack(_PERSPECTIVE_ID, interpolation, fill, height, width, *coefficients)


def brightness(factor: float, flags: int) -> bytes:
    return _FACTOR.pack(_BRIGHTNESS_ID, flags, factor)


def contrast(factor: float, flags: int) -> bytes:
    return _FACTOR.pack(_CONTRAST_ID, flags, factor)


def saturation(factor: float) -> bytes:
    return _FACTOR.pack(_SATURATION_ID, 0, factor)


def hue(share: float) -> bytes:
    """A shift by a share of the circle of hues; Pillow's hue has 8 bits and wraps."""
    return _HUE.pack(_HUE_ID, 0, int(share * 255) & 255, share)


def hed(alpha: Sequence[float], beta: Sequence[float], clip: bool) -> bytes:
    """Haematoxylin, eosin and DAB, each times alpha and plus beta, all within 1e6 of zero."""
    return _HED.pack(_HED_ID, 0 if clip else _UNCLIPPED, *alpha, *beta)


def stains(numbers: Sequence[float], flags: int) -> bytes:
    """A map of densities, by twelve numbers within 1e6 of zero; the last four are rounded to 37 bits."""
    rest = b"".join(
        ((_BITS.unpack(_DOUBLE.pack(number))[0] + 0x8000) >> 16).to_bytes(6, "little") for number in numbers[8:]
    )
    return _STAINS.pack(_STAINS_ID, flags, rest, *numbers[:8])


def normalize(mean: Sequence[float], std: Sequence[float]) -> bytes:
    """For up to four channels."""
    spare = 4 - len(mean)
    return _NORMALIZE.pack(_NORMALIZE_ID, 0, *mean, *(0.0,) * spare, *std, *(1.0,) * spare)


def posterize(bits: int) -> bytes:
    return _INTEGER.pack(_POSTERIZE_ID, 0, bits)


def solarize(threshold: float) -> bytes:
    return _FACTOR.pack(_SOLARIZE_ID, 0, threshold)


def gamma(exponent: float, gain: float) -> bytes:
    return _GAMMA.pack(_GAMMA_ID, 0, exponent, gain)


def sharpness(factor: float, flags: int) -> bytes:
    return _FACTOR.pack(_SHARPNESS_ID, flags, factor)


def blur(across: Sequence[float], down: Sequence[float], fused: bool = True) -> bytes | None:
    """A Gaussian blur by two symmetric kernels of odd length, each given by its first half and its centre.

    `fused` says whether torch would fuse multiplications and additions. None when the weights do not fit into an op.
    """
    square = list(across) == list(down)
    weights = [*across] if square else [*across, *down]
    spare = _C.BLUR_WEIGHTS - len(weights)
    if spare < 0:
        return None
    flags = (_SQUARE if square else 0) | (0 if fused else _UNFUSED)
    return _BLUR.pack(_BLUR_ID, flags, 2 * len(across) - 1, 2 * len(down) - 1, *weights, *(0.0,) * spare)


def box_blur(across: float, down: float, passes: int) -> bytes:
    """Pillow's extended box blur by radii from 0 to 2^20, in 1 to 16 passes."""
    return _BOX_BLUR.pack(_BOX_BLUR_ID, 0, passes, across, down)


def erase(top: int, left: int, height: int, width: int, values: Sequence[float]) -> bytes:
    """One value for each of up to four channels."""
    return _ERASE.pack(_ERASE_ID, 0, top, left, height, width, *values, *(0.0,) * (4 - len(values)))


def torch_affine(height: int, width: int, flags: int, matrix: Sequence[float], fill: bytes | Sequence[float]) -> bytes:
    """A fill of bytes, or of four numbers from 0 to 255."""
    if isinstance(fill, bytes):
        return _AFFINE.pack(_TORCH_AFFINE_ID, flags, fill, height, width, *matrix)
    return _AFFINE_FLOAT.pack(_TORCH_AFFINE_ID, flags | _FLOAT_FILL, height, width, *fill, *matrix)


def torch_contrast(factor: float) -> bytes:
    return _FACTOR.pack(_TORCH_CONTRAST_ID, 0, factor)


def torch_saturation(factor: float) -> bytes:
    return _FACTOR.pack(_TORCH_SATURATION_ID, 0, factor)


def torch_sharpness(factor: float) -> bytes:
    return _FACTOR.pack(_TORCH_SHARPNESS_ID, 0, factor)


def torch_hue(factor: float) -> bytes:
    """A shift by a share of the circle of hues, -0.5 to 0.5."""
    return _FACTOR.pack(_TORCH_HUE_ID, 0, factor)


def v2_resize(height: int, width: int, number: int) -> bytes:
    """torchvision.transforms.v2's antialiased resize of a uint8 tensor; `number` is Pillow's, 1 for Lanczos, 2 for
    bilinear and 3 for bicubic."""
    return _SIZED.pack(_RESIZE_ID, number | SHORT_WEIGHTS | WIDTH_FIRST, height, width)


def torch_resize(height: int, width: int, number: int) -> bytes:
    """torchvision's antialiased resize of a uint8 tensor; `number` is Pillow's, 2 for bilinear and 3 for bicubic.

    torch gives all rows the first one's values where an image gets another height and becomes one pixel wide, but for
    batches in channels_last; this does not follow it there.
    """
    return _SIZED.pack(_TORCH_RESIZE_ID, number, height, width)


def torch_perspective(
    height: int, width: int, flags: int, coefficients: Sequence[float], fill: bytes | Sequence[float]
) -> bytes:
    """A fill as torch_affine's."""
    if isinstance(fill, bytes):
        return _PERSPECTIVE.pack(_TORCH_PERSPECTIVE_ID, flags, fill, height, width, *coefficients)
    return _PERSPECTIVE_FLOAT.pack(_TORCH_PERSPECTIVE_ID, flags | _FLOAT_FILL, height, width, *fill, *coefficients)


def torch_gamma(exponent: float, gain: float) -> bytes | None:
    """None when the last bits of torch's powers decide a sample."""
    if not _C.torch_gamma_is_certain(exponent, gain):
        return None
    return _GAMMA.pack(_TORCH_GAMMA_ID, 0, exponent, gain)


def v2_gamma(exponent: float, gain: float) -> bytes | None:
    """TORCH_GAMMA. None when its table is another one than torchvision.transforms.v2's, or might be."""
    if not _C.v2_gamma_is_certain(exponent, gain):
        return None
    return _GAMMA.pack(_TORCH_GAMMA_ID, 0, exponent, gain)


def v2_contrast(factor: float) -> bytes:
    return _FACTOR.pack(_V2_CONTRAST_ID, 0, factor)


def v2_permute(order: Sequence[int]) -> bytes:
    """Channel c of the result is channel order[c], of up to four."""
    return _ORDER.pack(_V2_PERMUTE_ID, 0, *order, *range(len(order), 4))


def v2_saturation(factor: float) -> bytes:
    return _FACTOR.pack(_V2_SATURATION_ID, 0, factor)


def v2_hue(factor: float) -> bytes:
    """A shift by a share of the circle of hues, -0.5 to 0.5."""
    return _FACTOR.pack(_V2_HUE_ID, 0, factor)


def v2_sharpness(factor: float) -> bytes:
    return _FACTOR.pack(_V2_SHARPNESS_ID, 0, factor)
