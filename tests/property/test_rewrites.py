"""Every rewrite of programs, alone and with others, keeps every bit: the streaming executor equals the op-by-op one."""

from __future__ import annotations

import numpy as np
import pytest

from fastaug import _C
from random_rewrites import EXACT, STYLES, check_style, draw
from support.differences import assert_none
from support.programs import describe, execute, narrowed, pack, reference
from support.scale import blocks
from tables.op_table import ROWS, Op

BLOCK = 25


@pytest.mark.parametrize("first", blocks(200, BLOCK))
@pytest.mark.parametrize("style", STYLES)
def test_rewrites(style: str, first: int) -> None:
    found = [text for number in range(first, first + BLOCK) if (text := check_style(style, number))]
    assert_none(found, BLOCK)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("style", STYLES)
def test_every_float_dtype_in_both_layouts(style: str, dtype: str) -> None:
    """As torch rounds the float32 result."""
    for number in range(1000, 1030):
        rng, image, ops = draw(style, number)
        ops = [op for op in ops if ROWS[op.name].kind != "store"]
        shaped = np.empty(_C.shape(pack(ops), *image.shape), np.float32)
        ops += [Op("TO_FLOAT"), *([ROWS["NORMALIZE"].draw(rng, shaped)] if rng.random() < 0.7 else [])]
        ops += [ROWS["ERASE"].draw(rng, shaped) for _ in range(rng.choice([0, 0, 1, 3]))]
        expected = narrowed(reference(ops, image), dtype)
        for planar in (False, True):
            for plain in (False, True):
                result = execute(ops, image, planar=planar, plain=plain, slack=number % 3, dtype=dtype)
                assert np.array_equal(result, expected), f"{planar=} {plain=} {image.shape}:\n{describe(ops)}"


def test_every_rewrite_is_named_and_has_a_bit_of_its_own() -> None:
    bits = list(_C.REWRITES.values())
    assert all(bit.bit_count() == 1 for bit in bits) and len(set(bits)) == len(bits)
    assert sum(EXACT.values()) == _C.EXACT and sum(bits) == _C.FAST


def test_the_programs_give_every_rewrite_work() -> None:
    """Without a rewrite, some plan is another one than with all of them."""
    unused = set(EXACT)
    for number in range(100):
        for style in STYLES:
            _, image, ops = draw(style, number)

            whole = _C.plan(pack(ops), *image.shape)
            unused -= {name for name in unused if _C.plan(pack(ops), *image.shape, _C.EXACT & ~EXACT[name]) != whole}
    assert not unused
