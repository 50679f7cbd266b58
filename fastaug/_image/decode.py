"""Encoded images to pixels: the native core decodes what it can, Pillow the rest, and nobody sees who it was."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image import pillow
from fastaug._image.encoded import CHANNELS, Encoded
from fastaug._image.npy import Data
from fastaug._program import ops, pil

#: (top, left, height, width)
Region: TypeAlias = tuple[int, int, int, int]

# Conversions to these spread their errors over neighbours: part of the result is not the result of the part.
_DITHERED = ("1", "P", "PA")

#: Programs that make the image of an Exif orientation of the stored one.
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
    """What becomes of the samples of an image on their way into an array.

    Attributes:
        swapped: red and blue change places.
        floats: each is divided by the largest there is, in float32.
    """

    swapped: bool = False
    floats: bool = False

    def program(self, channels: int) -> bytes:
        """The ops for samples of eight bits."""
        swap = ops.v2_permute((2, 1, 0, 3)[:channels]) if self.swapped else b""
        return swap + ops.TO_FLOAT if self.floats else swap

    @property
    def dtype(self) -> np.dtype:
        """What samples of eight bits become."""
        return _FLOAT32 if self.floats else _UINT8

    def of(self, array: np.ndarray) -> np.ndarray:
        """The same of an array, by NumPy.

        Raises:
            ValueError: floats are wanted of samples that are not unsigned integers.
        """
        if self.swapped:
            array = array[:, :, [2, 1, 0, 3][: array.shape[2]]]
        if not self.floats:
            return array
        if array.dtype not in (np.uint8, np.uint16):
            raise ValueError(f"dtype float32 is for modes of 8 or 16 bits, but this one has samples of {array.dtype}")
        shares: np.ndarray = np.divide(array, np.float32(np.iinfo(array.dtype).max), dtype=np.float32)
        return shares


_UINT8, _FLOAT32 = np.dtype(np.uint8), np.dtype(np.float32)

#: As they are.
PLAIN = Samples()


def read(image: Encoded, region: Any = None, out: np.ndarray | None = None, samples: Samples = PLAIN) -> np.ndarray:
    """The pixels, or those of a region of the image as it is seen; written to `out` if that is given.

    Raises:
        DecodeError: the image cannot be decoded.
        TypeError, ValueError: a region that does not lie in the image, or an `out` that does not fit.
    """
    data, encoded = image.encoded()
    if not encoded.native:
        return store(_by_pillow(image, data, region), out, samples)
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
    except _C.Deferred as deferred:
        return store(_by_pillow(image, data, region, deferred), out, samples)
    except _C.Refused as refused:
        raise image.error(data, refused) from None


def _run(
    program: bytes, source: _C.Source, shape: tuple[int, ...], out: np.ndarray | None, samples: Samples
) -> np.ndarray:
    """What a program makes of an image, with its samples as they are wanted; in `out`, which fits, if that is given."""
    # The core writes any rows, but the samples of one have to lie side by side.
    direct = out is not None and out[0].flags.c_contiguous and out.strides[0] > 0 and out.flags.aligned
    result = out if out is not None and direct else np.empty(shape, samples.dtype)
    _C.run([(program + samples.program(source.channels), source, _target(result))])
    if out is None:
        return result
    if result is not out:
        out[...] = result
    return out


def _target(array: np.ndarray) -> _C.Target:
    """Memory of an array of uint8 or float32, HW or HWC."""
    if array.dtype == _UINT8:
        return _C.into_array(array)
    height, width, channels = (*array.shape, 1)[:3]
    size = array.itemsize
    address, number = array.__array_interface__["data"][0], _C.DTYPES["float32"]
    # NumPy's stride of an axis of one is any number.
    row = array.strides[0] if height > 1 else size * width * channels
    return _C.into_pointer(address, number, height, width, channels, row, size * channels, size, array)


def luma(image: Encoded) -> np.ndarray:
    """The luma of a JPEG as it is seen: what libjpeg gives where it is asked for gray, not a conversion of RGB.

    Raises:
        DecodeError: the image cannot be decoded.
    """
    data, _ = image.encoded()
    encoded = _C.Encoded(data, luma=True)
    native: Exception | None = None
    if encoded.native:
        program, height, width = _program(image, None)
        try:
            return _run(program, encoded.source(1), (height, width), None, PLAIN)
        except _C.Deferred as deferred:
            native = deferred
        except _C.Refused as refused:
            raise image.error(data, refused) from None
    opened: Any = image.open(data, native)
    # Asked for it before it decodes, Pillow asks libjpeg for gray.
    opened.draft("L", opened.size)
    gray = pillow.load_image(opened, len(data))
    return store(pillow.orient(gray.convert("L"), image.orientation if image.exif else 1))


def load(image: Encoded) -> Image.Image:
    """The image as it is seen, as a PIL image.

    Raises:
        DecodeError: the image cannot be decoded.
    """
    data, encoded = image.encoded()
    return _decoded(image, data, encoded, None) if encoded.native else _by_pillow(image, data, None)


def stored(image: Encoded) -> np.ndarray:
    """All stored pixels in the image's mode, by the core alone, which has to have it.

    Raises:
        _C.Deferred, _C.Refused: it cannot be decoded.
    """
    width, height, *_ = image.header
    channels = CHANNELS[image.mode]
    pixels = np.empty((height, width) if channels == 1 else (height, width, channels), np.uint8)
    _, encoded = image.encoded()
    _C.run([(b"", encoded.source(channels), _C.into_array(pixels))])
    return pixels


def oriented(image: Encoded, pixels: np.ndarray) -> Image.Image:
    """load() of stored() pixels."""
    program, height, width = _program(image, None)
    mode = image.mode
    return pil.run(program, _C.from_array(pixels), mode, (height, width, CHANNELS[mode]))


def _decoded(image: Encoded, data: Data, encoded: _C.Encoded, region: Any) -> Image.Image:
    """By the core as far as it goes, and by Pillow's conversions from there."""
    mode, rest = image.steps()
    if mode is None:
        return _by_pillow(image, data, region)
    dithered = region is not None and any(step in _DITHERED for step in rest)
    program, height, width = _program(image, None if dithered else region)
    try:
        channels = CHANNELS[mode]
        made = pil.run(program, image.part_of(encoded, channels), mode, (height, width, channels))
    except _C.Deferred as deferred:
        return _by_pillow(image, data, region, deferred)
    except _C.Refused as refused:
        raise image.error(data, refused) from None
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
    """What makes the image as it is seen, or a region of it, of the stored one; with its height and width."""
    width, height, *_ = image.header
    stored = height, width
    orientation = image.orientation if image.exif else 1
    if orientation > 4:
        height, width = width, height
    program = ORIENT[orientation]
    if region is None:
        return program, height, width
    region = check_region(region, height, width)
    return ops.window(*stored_region(region, *stored, orientation)) + program, region[2], region[3]


def check_region(region: Any, height: int, width: int) -> Region:
    """The region as four int."""
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
    """The region of the stored image, of that height and width, that is seen as `region`."""
    top, left, rows, columns = region
    if orientation > 4:
        # Seen rows are stored columns.
        top, left, rows, columns = left, top, columns, rows
    if orientation in (3, 4, 6, 7):
        top = height - top - rows
    if orientation in (2, 3, 7, 8):
        left = width - left - columns
    return top, left, rows, columns


def stored_part(region: Any, height: int, width: int, orientation: int) -> Region:
    """The region, not yet checked, of the stored image that is wanted; all of it when None is."""
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
    """The pixels of a PIL image, as np.asarray() gives them, in memory that may be written to.

    Raises:
        ValueError: floats are wanted of samples that are not unsigned integers.
        TypeError, ValueError: an `out` that does not fit.
    """
    channels = CHANNELS.get(image.mode)
    if channels is not None:
        height, width = image.height, image.width
        shape = (height, width) if channels == 1 else (height, width, channels)
        if out is not None:
            check_out(out, shape, samples.dtype)
        try:
            source = _C.from_pil(image, channels)
        except ValueError:
            pass  # large images, in several blocks
        else:
            return _run(b"", source, shape, out, samples)
    array = samples.of(np.asarray(image))
    return kept(array, out)


def kept(array: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """An array in memory of its own, or in `out`.

    Raises:
        TypeError, ValueError: an `out` that does not fit.
    """
    if out is None:
        return np.array(array, order="C")
    check_out(out, array.shape, array.dtype)
    out[...] = array
    return out
