"""What libpng, as torchvision asks it to, makes of the samples of a PNG file."""

from __future__ import annotations

import numpy as np

from fastaug._image import decode
from fastaug._image.lazy import LazyImage

# torchvision's weights in libpng's fixed point: red and green of 0.2989 and 0.587, rounded as png_set_rgb_to_gray does.
_RED, _GREEN = 29890 * 32768 // 100000, 58700 * 32768 // 100000
_BLUE = 32768 - _RED - _GREEN

_SRGB = 45455
# Closer to 1 than this, libpng takes a gamma for 1.
_INSIGNIFICANT = range(95000, 105001)


def stored_samples(image: LazyImage) -> np.ndarray:
    """uint8 HWC of the channels of the file; the indices of a palette; gray of fewer bits spread to 0 to 255."""
    pixels = decode.read(image)
    if pixels.dtype == np.bool_:
        pixels = np.where(pixels, np.uint8(255), np.uint8(0))
    return pixels.reshape(*pixels.shape[:2], -1)


def to_channels(samples: np.ndarray, channels: int, bits: int, gamma: int | None) -> np.ndarray:
    """HWC samples of 1 to 4 channels in another number of them. `bits` are those of a sample of the file."""
    height, width, given = samples.shape
    if given == channels:
        return samples
    result = np.empty((height, width, channels), samples.dtype)
    colours = channels - (channels in (2, 4))
    if given < 3:
        result[:, :, :colours] = samples[:, :, :1]
    elif colours == 3:
        result[:, :, :3] = samples[:, :, :3]
    else:
        result[:, :, 0] = gray(samples, gamma)
    if colours < channels:
        # libpng takes the file's largest sample for opaque, even where it has spread gray since.
        result[:, :, -1] = samples[:, :, -1] if given in (2, 4) else (1 << bits) - 1
    return result


def gray(samples: np.ndarray, gamma: int | None) -> np.ndarray:
    """png_do_rgb_to_gray (libpng, pngrtran.c): through linear light when the file says what its gamma is."""
    red, green, blue = (samples[:, :, band].astype(np.int64) for band in range(3))
    same = (red == green) & (red == blue)
    wide = samples.dtype == np.uint16
    if gamma is None:
        rounding = 1 << 14 if wide else 0
        mixed = (_RED * red + _GREEN * green + _BLUE * blue + rounding) >> 15
    else:
        top = 65535 if wide else 255
        to_linear = _power(top, int(np.floor(1e10 / gamma + 0.5)))
        mixed = _RED * to_linear[red] + _GREEN * to_linear[green] + _BLUE * to_linear[blue]
        mixed = _power(top, gamma)[(mixed + (1 << 14)) >> 15]
    return np.where(same, red, mixed)


def _power(top: int, gamma: int) -> np.ndarray:
    """png_build_8bit_table and png_build_16bit_table (libpng, png.c)."""
    return np.floor(top * np.power(np.arange(top + 1) / top, gamma * 1e-5) + 0.5).astype(np.int64)


def gamma_of(data: bytes) -> int | None:
    """The gamma that libpng goes by, times 100,000: of the chunk sRGB, else of gAMA; None when there is none, or 1."""
    gamma = None
    at = 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"sRGB":
            return _SRGB
        if kind == b"gAMA" and gamma is None and length == 4:
            gamma = int.from_bytes(content, "big")
        if kind == b"IDAT":
            break
        at += 12 + length
    return None if not gamma or gamma in _INSIGNIFICANT else gamma
