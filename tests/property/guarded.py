"""Runs random programs with source and result flush against memory that must not be touched.

A stray read or write ends this process with SIGSEGV; the tests start it and look at its exit status. Prints the number
of programs that ran.
"""

from __future__ import annotations

import ctypes
import mmap
import random
import sys

import numpy as np

from fastaug import _C
from support.images import noise
from support.programs import describe, execute, is_float, pack, random_program

LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Zeroed bytes between two pages without any access right, flush against the first or the last of them."""

    def __init__(self, size: int, at_end: bool) -> None:
        page = mmap.PAGESIZE
        body = -(-size // page) * page
        self.memory = mmap.mmap(-1, body + 2 * page)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for guard in (base, base + page + body):
            if LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        self.address = base + page + (body - size if at_end else 0)
        self.bytes = np.frombuffer((ctypes.c_char * size).from_address(self.address), np.uint8)


def check(seed: int) -> None:
    rng = random.Random(seed)
    extents = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 47, 64, 65, 70)
    image = noise(rng.choice(extents), rng.choice(extents), rng.choice([1, 2, 3, 3, 4]), seed)
    height, width, channels = image.shape
    ops = random_program(rng, image)
    expected = execute(ops, image)
    planar_source, planar_result = rng.random() < 0.4, rng.random() < 0.5
    stored = np.ascontiguousarray(image.transpose(2, 0, 1)) if planar_source else image
    in_strides = (width, 1, height * width) if planar_source else (width * channels, channels, 1)
    out_height, out_width, out_channels = expected.shape
    item = 4 if is_float(ops) else 1
    if planar_result:
        out_strides = (out_width * item, item, out_height * out_width * item)
    else:
        out_strides = (out_width * out_channels * item, out_channels * item, item)
    for at_end in (True, False):
        source = Guarded(image.size, at_end)
        source.bytes[:] = stored.ravel()
        result = Guarded(expected.nbytes, at_end)
        view = _C.from_pointer(source.address, height, width, channels, *in_strides, source)
        for plain in (False, True):
            result.bytes[:] = 0xA5
            into = _C.into_pointer(result.address, int(item == 4), *expected.shape, *out_strides, result)
            _C.run([(pack(ops), view, into)], reference=plain)
            pixels = result.bytes.view(expected.dtype)
            if planar_result:
                pixels = pixels.reshape(out_channels, out_height, out_width).transpose(1, 2, 0)
            if not np.array_equal(pixels.reshape(expected.shape), expected):
                raise AssertionError(f"seed {seed}, {image.shape}, at_end={at_end}, plain={plain}:\n{describe(ops)}")
        if not np.array_equal(source.bytes, stored.ravel()):
            raise AssertionError(f"seed {seed}: the source was written to")


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, last):
        print(f"seed {seed}", file=sys.stderr, flush=True)
        check(seed)
    print(last - first)
