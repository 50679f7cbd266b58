"""The native core refuses every program and buffer that it could not run safely."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from fastaug import _C
from support.images import noise, pil
from support.processes import python
from support.programs import execute, pack
from tables.op_table import OP_FORMAT, Op

IMAGE = noise(10, 12)
HUGE = 2**31 - 1

BAD_PROGRAMS = {
    "half an op": pack([Op("HFLIP")])[:-1],
    "an unknown op": struct.pack(OP_FORMAT, 999, *[0] * 11, *[0.0] * 8),
    "too many ops": pack([Op("HFLIP")] * 65),
    "an empty window": pack([Op("WINDOW", (0, 0, 0, 5))]),
    "a negative window": pack([Op("WINDOW", (0, 0, 5, -5))]),
    "a negative pad": pack([Op("PAD", (-1, 0, 0, 0))]),
    "an unknown pad": pack([Op("PAD", (1, 1, 1, 1), flags=9)]),
    "a resize to nothing": pack([Op("RESIZE", (0, 5), flags=2)]),
    "an unknown filter": pack([Op("RESIZE", (5, 5), flags=17)]),
    "a filter without a kernel": pack([Op("RESIZE", (5, 5), flags=0)]),
    "an unknown nearest rule": pack([Op("NEAREST", (5, 5), flags=3)]),
    "nearest to a negative size": pack([Op("NEAREST", (5, -5))]),
    "five quarter turns": pack([Op("ROT90", flags=5)]),
    "no quarter turn": pack([Op("ROT90", flags=0)]),
    "a rotation with a box filter": pack([Op("AFFINE", (5, 5), (1, 0, 0, 0, 1, 0), flags=4)]),
    "a rotation by nan": pack([Op("AFFINE", (5, 5), (float("nan"), 0, 0, 0, 1, 0))]),
    "a rotation by infinity": pack([Op("AFFINE", (5, 5), (1, 0, float("inf"), 0, 1, 0), flags=2)]),
    "a hue out of a byte": pack([Op("HUE", (256,))]),
    "grey made grey": pack([Op("LUMA"), Op("LUMA")]),
    "a hue of grey": pack([Op("LUMA"), Op("HUE", (3,))]),
    "a saturation of grey": pack([Op("LUMA"), Op("SATURATION", f=(3.0,))]),
    "colour replicated": pack([Op("REPLICATE", (3,))]),
    "replicated nought times": pack([Op("LUMA"), Op("REPLICATE", (0,))]),
    "premultiplied without alpha": pack([Op("PREMULTIPLY")]),
    "unpremultiplied without alpha": pack([Op("UNPREMULTIPLY")]),
    "floats in the middle": pack([Op("TO_FLOAT"), Op("HFLIP")]),
    "floats twice": pack([Op("TO_FLOAT"), Op("TO_FLOAT")]),
    "normalized bytes": pack([Op("NORMALIZE", f=(0, 0, 0, 0, 1, 1, 1, 1))]),
    "normalized twice": pack([Op("TO_FLOAT"), *[Op("NORMALIZE", f=(0, 0, 0, 0, 1, 1, 1, 1))] * 2]),
    "more pixels than memory": pack([Op("NEAREST", (HUGE, HUGE))]),
    "a pad beyond int": pack([Op("PAD", (HUGE, 0, HUGE, 0))]),
    "a window beyond int": pack([Op("WINDOW", (HUGE, HUGE, HUGE, HUGE))]),
}


def into(memory: np.ndarray, dtype: int, height: int, width: int, channels: int, row: int) -> _C.Target:
    return _C.into_pointer(memory.ctypes.data, int(dtype), height, width, channels, row, 3, 1, memory)


@pytest.mark.parametrize("name", BAD_PROGRAMS)
def test_bad_program(name: str) -> None:
    program = BAD_PROGRAMS[name]
    with pytest.raises((ValueError, TypeError, MemoryError)) as caught:
        _C.shape(program, *IMAGE.shape)
    assert len(str(caught.value)) > 8, "the message should say what is wrong"
    source, result = _C.from_array(IMAGE), np.zeros(64, np.uint8)
    for plain in (False, True):
        with pytest.raises((ValueError, TypeError, MemoryError)):
            _C.run([(program, source, into(result, 0, 1, 1, 3, 3))], reference=plain)
        with pytest.raises((ValueError, TypeError, MemoryError)):
            _C.run([(program, source, _C.into_pil(pil("RGB", 1, 1), 3))], reference=plain)
        with pytest.raises((ValueError, TypeError, MemoryError)):
            _C.plan((program, source, _C.into_pil(pil("RGB", 1, 1), 3)))
    assert not result.any()


@pytest.mark.parametrize("shape", [(0, 5, 3), (5, 0, 3), (-1, 5, 3), (5, 5, 0)])
def test_bad_input_shape(shape: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError):
        _C.shape(pack([Op("HFLIP")]), *shape)


def test_result_of_another_shape_or_type() -> None:
    source, program = _C.from_array(IMAGE), pack([Op("HFLIP")])
    result = np.zeros((10, 12, 3), np.float32)
    for height, width, channels, as_float in (
        (9, 12, 3, False),
        (10, 13, 3, False),
        (10, 12, 4, False),
        (10, 12, 3, True),
    ):
        for plain in (False, True):
            with pytest.raises((ValueError, TypeError)):
                _C.run([(program, source, into(result, as_float, height, width, channels, 36))], reference=plain)
    with pytest.raises((ValueError, TypeError)):
        _C.run([(pack([Op("TO_FLOAT")]), source, into(result, 0, 10, 12, 3, 36))])
    with pytest.raises((ValueError, TypeError)):
        _C.run([(pack([Op("TO_FLOAT")]), source, _C.into_pil(pil("RGB", 10, 12), 3))])
    for mode, channels in (("L", 3), ("RGB", 1), ("F", 1)):
        with pytest.raises(ValueError):
            _C.into_pil(pil(mode, 10, 12), channels)
    with pytest.raises(ValueError):
        _C.run([(b"", source, _C.into_pil(pil("RGB", 9, 12), 3))])
    with pytest.raises(ValueError):
        into(result, 4, 10, 12, 3, 36)
    assert not result.any()


def test_bad_arrays() -> None:
    for array in (np.zeros((4, 4), np.float32), np.zeros((2, 2, 2, 2), np.uint8), np.zeros(4, np.uint8)):
        with pytest.raises((ValueError, TypeError)):
            _C.from_array(array)
    for thing in (None, [[1, 2]], "image", 3):
        with pytest.raises(TypeError):
            _C.from_array(thing)
        with pytest.raises(TypeError):
            _C.into_array(thing)
    fixed = np.zeros((4, 4), np.uint8)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        _C.into_array(fixed)


def test_bad_pil_images() -> None:
    for thing in (None, 3, noise(3, 3)):
        with pytest.raises((TypeError, AttributeError)):
            _C.from_pil(thing, 3)
    for mode, channels in (("RGB", 5), ("RGB", 0), ("L", 3), ("I", 3)):
        with pytest.raises((TypeError, ValueError)):
            _C.from_pil(pil(mode, 4, 5), channels)


def test_wrong_python_types() -> None:
    for arguments in ((None, 1, 2, 3), ("HFLIP", 1, 2, 3), (b"", 1.5, 2, 3), (b"", None, 2, 3)):
        with pytest.raises(TypeError):
            _C.shape(*arguments)
    with pytest.raises(TypeError):
        _C.run([(b"", IMAGE, _C.into_array(np.zeros((10, 12, 3), np.uint8)))])
    with pytest.raises(TypeError):
        _C.run([(b"", _C.from_array(IMAGE), IMAGE)])
    for jobs in (None, 3, [None], [b""]):
        with pytest.raises(TypeError):
            _C.run(jobs)
    for made in (_C.Source, _C.Target, _C.Plan):
        with pytest.raises(TypeError):
            made()


def test_several_jobs_run_in_order() -> None:
    results = [np.zeros((10, 12, 3), np.uint8) for _ in range(3)]
    programs = [b"", pack([Op("HFLIP")]), pack([Op("INVERT")])]
    jobs = [
        (*one, _C.into_array(result)) for one, result in zip(((p, _C.from_array(IMAGE)) for p in programs), results)
    ]
    reports: list[list[_C.Pass]] = []
    _C.run(jobs, reports=reports)
    assert [report[-1].kind for report in reports] == ["move", "move", "recolour"]
    for result, expected in zip(results, (IMAGE, IMAGE[:, ::-1], 255 - IMAGE)):
        assert np.array_equal(result, expected)
    _C.run([])


def test_null_pointers() -> None:
    """In a process of their own: the failure would be a crash."""
    code = """
import numpy as np
from fastaug import _C
source = _C.from_array(np.zeros((10, 12, 3), np.uint8))
calls = {
    "result": lambda: _C.into_pointer(0, 0, 10, 12, 3, 36, 3, 1, None),
    "source": lambda: _C.from_pointer(0, 10, 12, 3, 36, 3, 1, None),
}
for name, call in calls.items():
    try:
        call()
    except ValueError:
        print(name)
"""
    result = python(["-c", code])
    assert (result.returncode, result.stdout.split()) == (0, ["result", "source"]), result.stderr[-2000:]


def test_a_source_keeps_its_owner_alive() -> None:
    import gc
    import weakref

    class Owner(np.ndarray):
        """An array that can be watched."""

    array = noise(50, 60).view(Owner)
    kept = array.copy()
    alive = weakref.ref(array)
    source = _C.from_array(array)
    del array
    gc.collect()
    assert np.array_equal(execute([], source), kept)
    del source
    gc.collect()
    assert alive() is None


def test_sources_do_not_leak() -> None:
    import sys

    array = noise(5, 6)
    before = sys.getrefcount(array)
    for _ in range(100):
        execute([Op("HFLIP")], array)
    assert sys.getrefcount(array) == before
