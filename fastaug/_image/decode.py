"""Decode images. The core decodes what it can, Pillow the rest, with the same pixels."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image import pillow
from fastaug._image.encoded import CHANNELS, NOT_DECODED, Encoded
from fastaug._image.npy import Data
from fastaug._program import ops, pil

#: (top, left, height, width)
Region: TypeAlias = tuple[int, int, int, int]

# Conversions to these spread errors over neighbours, so a region must be cropped after them.
_DITHERED = ("1", "P", "PA")

#: Programs that turn the stored image by an Exif orientation.
ORIENT = {
    1: b"",
    2: ops.HFLIP,
    3: ops.ROT90[180],
    4: ops.VFLIP,
    5: ops.ROT90[90] + ops.VFLIP,
    6: ops.ROT90[270],
    7: ops.ROT90[90] + ops.HFLIP,
    8: ops.ROT90[90],
}


class Samples(NamedTuple):
    """The conversion of samples: swap red and blue, divide by the largest possible sample in float32, or both."""

    swapped: bool = False
    floats: bool = False

    def program(self, channels: int) -> bytes:
        """Return the ops for samples of eight bits."""
        swap = ops.v2_permute((2, 1, 0, 3)[:channels]) if self.swapped else b""
        return swap + ops.plain("TO_FLOAT") if self.floats else swap

    @property
    def dtype(self) -> np.dtype:
        return _FLOAT32 if self.floats else _UINT8

    def of(self, array: np.ndarray) -> np.ndarray:
        """Convert an array by NumPy. Raise ValueError for floats of samples that are not unsigned integers."""
        if self.swapped:
            array = array[:, :, [2, 1, 0, 3][: array.shape[2]]]
        if not self.floats:
            return array
        if array.dtype not in (np.uint8, np.uint16):
            raise ValueError(f"dtype float32 is for modes of 8 or 16 bits, but this one has samples of {array.dtype}")
        shares: np.ndarray = np.divide(array, np.float32(np.iinfo(array.dtype).max), dtype=np.float32)
        return shares


_UINT8, _FLOAT32 = np.dtype(np.uint8), np.dtype(np.float32)

PLAIN = Samples()


def read(image: Encoded, region: Any = None, out: np.ndarray | None = None, samples: Samples = PLAIN) -> np.ndarray:
    """Return the pixels of the oriented image or of a region of it, in `out` if given."""
    data, encoded = image.encoded()
    if not encoded.native:
        return store(_by_pillow(image, data, region), out, samples)
    if image.as_stored and not (samples.floats and image.mode == "1"):
        return _as_stored(image, data, encoded, region, out, samples)
    mode, rest = image.steps()
    if mode is None or rest:
        return store(_decoded(image, data, encoded, region), out, samples)
    program, height, width = _program(image, region)
    channels = CHANNELS[mode]
    shape = (height, width) if channels == 1 else (height, width, channels)
    if out is not None:
        check_out(out, shape, samples.dtype)
    try:
        return _run(program, image.part_of(encoded, channels), shape, out, samples)
    except NOT_DECODED as reason:
        return store(_by_pillow(image, data, region, reason), out, samples)


def _as_stored(
    image: Encoded, data: Data, encoded: _C.Encoded, region: Any, out: np.ndarray | None, samples: Samples
) -> np.ndarray:
    """Return indices of a palette, booleans of mode 1, or uint16, like read()."""
    try:
        if image.mode == "I;16":
            return owned(samples.of(read_16(image, encoded, region)[:, :, 0]), out)
        program, height, width = _program(image, region)
        if image.mode != "1":
            if out is not None:
                check_out(out, (height, width), samples.dtype)
            return _run(program, encoded.stored(), (height, width), out, samples)
        if out is not None:
            check_out(out, (height, width), np.dtype(np.bool_))
        as_bytes = None if out is None else out.view(np.uint8)
        made = _run(program, encoded.stored(), (height, width), as_bytes, PLAIN)
        return made.view(np.bool_) if out is None else out
    except NOT_DECODED as reason:
        return store(_by_pillow(image, data, region, reason), out, samples)


def read_16(image: Encoded, encoded: _C.Encoded, region: Any = None) -> np.ndarray:
    """Return uint16 HWC of the channels of a PNG file of 16 bits, or raise the core's Deferred or Refused."""
    orientation = image.orientation if image.exif else 1
    wanted = stored_part(region, encoded.height, encoded.width, orientation)
    samples = np.empty((*wanted[2:], encoded.channels), np.uint16)
    encoded.read_16(*wanted, samples.__array_interface__["data"][0])
    return orient(samples, orientation)


def _run(
    program: bytes, source: _C.Source, shape: tuple[int, ...], out: np.ndarray | None, samples: Samples
) -> np.ndarray:
    """Run a program, and return its pixels, in `out` if given, which fits."""
    # The core writes rows at any stride, but the samples of a row must be contiguous.
    direct = out is not None and out[0].flags.c_contiguous and out.strides[0] > 0 and out.flags.aligned
    result = out if out is not None and direct else np.empty(shape, samples.dtype)
    _C.run([(program + samples.program(source.channels), source, _target(result))])
    if out is None:
        return result
    if result is not out:
        out[...] = result
    return out


def _target(array: np.ndarray) -> _C.Target:
    """Return an array of uint8 or float32, HW or HWC, as a target."""
    if array.dtype == _UINT8:
        return _C.into_array(array)
    height, width, channels = (*array.shape, 1)[:3]
    size = array.itemsize
    address, number = array.__array_interface__["data"][0], _C.DTYPES["float32"]
    # NumPy's stride of an axis of length one is arbitrary.
    row = array.strides[0] if height > 1 else size * width * channels
    return _C.into_pointer(address, number, height, width, channels, row, size * channels, size, array)


def luma(image: Encoded) -> np.ndarray:
    """Return the luma plane of a JPEG, oriented, or raise DecodeError."""
    data, _ = image.encoded()
    encoded = _C.Encoded(data, luma=True)
    native: Exception | None = None
    if encoded.native:
        program, height, width = _program(image, None)
        try:
            return _run(program, encoded.source(1), (height, width), None, PLAIN)
        except NOT_DECODED as reason:
            native = reason
    opened: Any = image.open(data, native)
    # This makes Pillow ask libjpeg for gray.
    opened.draft("L", opened.size)
    gray = pillow.load_image(opened, len(data))
    return store(pillow.orient(gray.convert("L"), image.orientation if image.exif else 1))


def load(image: Encoded) -> Image.Image:
    """Return the oriented image as a PIL image, or raise DecodeError."""
    data, encoded = image.encoded()
    return _decoded(image, data, encoded, None) if encoded.native else _by_pillow(image, data, None)


def stored(image: Encoded) -> np.ndarray:
    """Return all stored pixels in the image's mode, by the core, or raise its Deferred or Refused."""
    width, height, *_ = image.header
    channels = CHANNELS[image.mode]
    pixels = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
    _, encoded = image.encoded()
    _C.run([(b"", encoded.source(channels), _C.into_array(pixels))])
    return pixels


def oriented(image: Encoded, pixels: np.ndarray) -> Image.Image:
    """Return load() of stored() pixels."""
    program, height, width = _program(image, None)
    mode = image.mode
    return pil.run(program, _C.from_array(pixels), mode, (height, width, CHANNELS[mode]))


def _decoded(image: Encoded, data: Data, encoded: _C.Encoded, region: Any) -> Image.Image:
    """Decode by the core, then convert by Pillow."""
    mode, rest = image.steps()
    if mode is None:
        return _by_pillow(image, data, region)
    dithered = region is not None and any(step in _DITHERED for step in rest)
    program, height, width = _program(image, None if dithered else region)
    try:
        channels = CHANNELS[mode]
        made = pil.run(program, image.part_of(encoded, channels), mode, (height, width, channels))
    except NOT_DECODED as reason:
        return _by_pillow(image, data, region, reason)
    made = pillow.convert(made, rest)
    return _crop(made, check_region(region, height, width)) if dithered else made


def _by_pillow(image: Encoded, data: Data, region: Any, native: Exception | None = None) -> Image.Image:
    made: Image.Image = image.open(data, native, load=True)
    orientation = pillow.orientation_of(made) if image.exif else 1
    height, width = (made.width, made.height) if orientation > 4 else (made.height, made.width)
    if region is not None:
        region = check_region(region, height, width)
        if not any(mode in _DITHERED for mode in image.modes):
            made = _crop(made, stored_region(region, made.height, made.width, orientation))
            region = None
    made = pillow.convert(pillow.orient(made, orientation), image.modes)
    return made if region is None else _crop(made, region)


def _crop(image: Image.Image, region: Region) -> Image.Image:
    top, left, height, width = region
    return image.crop((left, top, left + width, top + height))


def _program(image: Encoded, region: Any) -> tuple[bytes, int, int]:
    """Return a program from the stored image to the oriented one or a region of it, and its height and width."""
    width, height, *_ = image.header
    orientation = image.orientation if image.exif else 1
    part = stored_part(region, height, width, orientation)
    window = b"" if region is None else ops.window(*part)
    rows, columns = (part[3], part[2]) if orientation > 4 else (part[2], part[3])
    return window + ORIENT[orientation], rows, columns


def check_region(region: Any, height: int, width: int) -> Region:
    try:
        top, left, rows, columns = (operator.index(number) for number in region)
    except (TypeError, ValueError):
        raise TypeError(f"region should be four integers, (top, left, height, width), got {region!r}") from None
    if top < 0 or left < 0 or rows < 1 or columns < 1 or top + rows > height or left + columns > width:
        raise ValueError(
            "region should be (top, left, height, width) of at least one pixel inside the image, whose height is "
            f"{height} and width {width}, got {(top, left, rows, columns)}"
        )
    return top, left, rows, columns


def stored_region(region: Region, height: int, width: int, orientation: int) -> Region:
    """Return the region of the stored image, of that height and width, that `region` of the oriented one shows."""
    top, left, rows, columns = region
    if orientation > 4:
        top, left, rows, columns = left, top, columns, rows
    if orientation in (3, 4, 6, 7):
        top = height - top - rows
    if orientation in (2, 3, 7, 8):
        left = width - left - columns
    return top, left, rows, columns


def orient(array: np.ndarray, orientation: int) -> np.ndarray:
    """Return a view of a stored HWC array, turned by an Exif orientation."""
    if orientation > 4:
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        array = array[::-1]
    if orientation in (2, 3, 6, 7):
        array = array[:, ::-1]
    return array


def stored_part(region: Any, height: int, width: int, orientation: int) -> Region:
    """Check a region, and return it in the stored image, or all of that for None."""
    if region is None:
        return 0, 0, height, width
    seen = (width, height) if orientation > 4 else (height, width)
    return stored_region(check_region(region, *seen), height, width, orientation)


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out should be an ndarray, got {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out should be {dtype} of shape {shape}, got {out.dtype} of shape {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out should be writable, got a read-only array")


def store(image: Image.Image, out: np.ndarray | None = None, samples: Samples = PLAIN) -> np.ndarray:
    """Return np.asarray() of a PIL image in writable memory, in `out` if given."""
    channels = CHANNELS.get(image.mode)
    if channels is not None:
        height, width = image.height, image.width
        shape = (height, width) if channels == 1 else (height, width, channels)
        if out is not None:
            check_out(out, shape, samples.dtype)
        try:
            source = _C.from_pil(image, channels)
        except ValueError:
            pass  # large images, if it is not known where their rows are
        else:
            return _run(b"", source, shape, out, samples)
    return kept(samples.of(np.asarray(image)), out)


def owned(array: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """Return a new array in C order, which may be the given one, or copy that to `out` as kept() does."""
    return np.ascontiguousarray(array) if out is None else kept(array, out)


def kept(array: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """Copy an array, to `out` if given. Raise TypeError or ValueError if that does not fit."""
    if out is None:
        return np.array(array, order="C")
    check_out(out, array.shape, array.dtype)
    out[...] = array
    return out
