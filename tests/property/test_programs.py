"""The streaming executor equals the op-by-op one bit for bit, and both equal numpy and Pillow."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from fastaug import _C
from support.differences import each
from support.images import noise, photo
from support.programs import describe, execute, pack, random_program, reference
from support.scale import cases
from tables.op_table import FILLED, HAS_ALPHA, ROWS, WIDTH_FIRST, Op

EXTENTS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 70)


def assert_program(ops: list[Op], image: np.ndarray, **layout: object) -> None:
    expected = reference(ops, image)
    plain = execute(ops, image, plain=True)
    assert np.array_equal(plain, expected), f"op-by-op executor on {image.shape}:\n{describe(ops)}"
    streamed = execute(ops, image, **layout)
    assert np.array_equal(streamed, expected), f"streaming executor on {image.shape}, {layout}:\n{describe(ops)}"


@each("name", ROWS, whole=True)
def test_each_op(name: str) -> None:
    row = ROWS[name]
    for seed in range(cases(60)):
        rng = random.Random(f"{name} {seed}")
        channels = rng.choice(sorted(row.channels))
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), channels, seed)
        ops = [row.draw(rng, image)]
        if name in ("NORMALIZE", "ERASE"):
            ops.insert(0, Op("TO_FLOAT"))
        assert_program(ops, image, planar=seed % 2 == 0, slack=seed % 3)


@pytest.mark.parametrize("block", range(cases(24)))
def test_random_chains(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        rng = random.Random(seed)
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), rng.choice([1, 2, 3, 3, 4]), seed)
        ops = random_program(rng, image)
        assert_program(ops, image, planar=rng.random() < 0.5, slack=rng.choice([0, 0, 5]))


@pytest.mark.parametrize("block", range(cases(8)))
def test_random_chains_of_geometry(block: int) -> None:
    """Only ops that move or mix pixels: here regions of interest are pushed back and flips are folded away."""
    names = [name for name, row in ROWS.items() if row.kind in ("geometry", "filter")]
    for seed in range(40 * block, 40 * block + 40):
        rng = random.Random(10_000 + seed)
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), rng.choice([1, 3, 4]), seed)
        assert_program(random_program(rng, image, names), image, planar=rng.random() < 0.5)


@pytest.mark.parametrize("block", range(cases(4)))
def test_random_chains_of_colour(block: int) -> None:
    names = [name for name, row in ROWS.items() if row.kind in ("pointwise", "reduction", "filter")] + [
        "HFLIP",
        "WINDOW",
    ]
    for seed in range(40 * block, 40 * block + 40):
        rng = random.Random(20_000 + seed)
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), rng.choice([1, 2, 3, 4]), seed)
        assert_program(random_program(rng, image, names), image, planar=rng.random() < 0.5)


ROTATE = Op("AFFINE", (60, 70), (0.9, 0.4, -9.0, -0.4, 0.9, 17.0), 2, (9, 8, 7, 6))
PERSPECTIVE = Op("PERSPECTIVE", (61, 72), (0.8, 0.1, 3.0, -0.1, 0.9, 5.0, 0.002, -0.003), 2, (9, 8, 7, 6))
BLUR = Op("BLUR", (5, 3), struct.unpack("<8d", struct.pack("<16f", 0.1, 0.2, 0.4, 0.3, 0.4, *[0.0] * 11)))
FAR = Op("WINDOW", (500, 500, 11, 13), fill=(1, 2, 3, 4))

CHAINS: dict[str, list[Op]] = {
    "nothing": [],
    "only a float store": [Op("TO_FLOAT")],
    "flips that cancel": [Op("HFLIP"), Op("VFLIP"), Op("HFLIP"), Op("VFLIP")],
    "flips around a resize": [Op("HFLIP"), Op("RESIZE", (20, 33), flags=2), Op("HFLIP"), Op("VFLIP")],
    "flip between crops": [Op("WINDOW", (3, 5, 30, 31)), Op("HFLIP"), Op("WINDOW", (-2, 4, 25, 40), fill=(7, 7, 7, 7))],
    "crop wholly outside": [FAR],
    "crop outside, then colour": [FAR, Op("CONTRAST", f=(0.3,)), Op("BRIGHTNESS", f=(1.7,))],
    "crop outside, then rotate and resize": [FAR, ROTATE, Op("RESIZE", (5, 90), flags=3)],
    "rotate after resize": [Op("RESIZE", (60, 70), flags=2), ROTATE, Op("WINDOW", (20, 22, 15, 9))],
    "resize after rotate after resize": [
        Op("RESIZE", (60, 70), flags=3),
        ROTATE,
        Op("WINDOW", (5, 5, 40, 50)),
        Op("RESIZE", (31, 17), flags=1),
    ],
    "rotate twice": [ROTATE, ROTATE, Op("HFLIP")],
    "pad, crop, pad": [
        Op("PAD", (5, 4, 3, 2), flags=1),
        Op("WINDOW", (2, 2, 30, 30)),
        Op("PAD", (40, 40, 40, 40), flags=2),
        Op("WINDOW", (33, 2, 9, 80)),
    ],
    "constant pad, then reflect it": [
        Op("WINDOW", (-4, -4, 50, 60), fill=(9, 0, 255, 1)),
        Op("PAD", (30, 1, 0, 60), flags=1),
    ],
    "several contrasts": [Op("CONTRAST", f=(1.4,)), Op("VFLIP"), Op("CONTRAST", f=(0.6,)), Op("CONTRAST", f=(2.9,))],
    "contrast of a part": [Op("CONTRAST", f=(0.5,)), Op("WINDOW", (1, 2, 3, 4)), Op("CONTRAST", f=(1.5,))],
    "contrast between resizes": [
        Op("RESIZE", (33, 44), flags=2),
        Op("CONTRAST", f=(1.3,)),
        Op("RESIZE", (10, 12), flags=2),
        Op("TO_FLOAT"),
        Op("NORMALIZE", f=(0.4, 0.5, 0.6, 0.7, 0.2, 0.3, 0.4, 0.5)),
    ],
    "resizes by short weights": [
        Op("RESIZE", (70, 21), flags=WIDTH_FIRST | 11),
        Op("WINDOW", (12, 3, 50, 17)),
        Op("HFLIP"),
        Op("RESIZE", (31, 60), flags=WIDTH_FIRST | 10),
        Op("SHARPNESS", f=(1.5,)),
        Op("RESIZE", (9, 60), flags=9),
    ],
    "flips around torch's resize": [Op("HFLIP"), Op("TORCH_RESIZE", (20, 33), flags=2), Op("HFLIP"), Op("VFLIP")],
    "torch's resizes of parts": [
        Op("WINDOW", (-3, 4, 33, 50), fill=(9, 8, 7, 6)),
        Op("TORCH_RESIZE", (70, 21), flags=3),
        Op("WINDOW", (30, 2, 31, 17)),
        Op("TORCH_RESIZE", (31, 60), flags=2),
        Op("CONTRAST", f=(1.3,)),
        Op("TORCH_RESIZE", (9, 60), flags=3),
        ROTATE,
        Op("TORCH_RESIZE", (60, 7), flags=2),
        Op("TO_FLOAT"),
    ],
    "upside down after torch's resize": [
        Op("TORCH_RESIZE", (40, 44), flags=2),
        Op("PAD", (3, 9, 3, 9), flags=1),
        Op("VFLIP"),
        BLUR,
    ],
    "one pixel in the end": [ROTATE, Op("RESIZE", (1, 1), flags=1), Op("ROT90", flags=1)],
    "one pixel blown up": [
        Op("WINDOW", (2, 3, 1, 1)),
        Op("RESIZE", (50, 61), flags=3),
        Op("PAD", (9, 9, 9, 9), flags=0),
    ],
    "nearest up and down": [
        Op("NEAREST", (77, 3)),
        Op("HFLIP"),
        Op("NEAREST", (5, 80), flags=1),
        Op("NEAREST", (9, 9), flags=2),
    ],
    "quarter turns": [
        Op("ROT90", flags=1),
        Op("HFLIP"),
        Op("ROT90", flags=3),
        Op("ROT90", flags=2),
        Op("WINDOW", (1, 2, 9, 8)),
    ],
    "resize to the same size": [
        Op("RESIZE", (41, 53), flags=2),
        Op("RESIZE", (41, 90), flags=2),
        Op("RESIZE", (8, 90), flags=2),
    ],
    "tables that meet": [
        Op("INVERT"),
        Op("GAMMA", f=(0.5, 1.2)),
        Op("POSTERIZE", (3,)),
        Op("SOLARIZE", f=(99.5,)),
        Op("INVERT"),
    ],
    "equalize of a part": [
        Op("WINDOW", (3, 4, 9, 11), fill=(7, 8, 9, 10)),
        Op("EQUALIZE"),
        Op("VFLIP"),
        Op("EQUALIZE"),
    ],
    "autocontrast between resizes": [
        Op("RESIZE", (33, 44), flags=2),
        Op("AUTOCONTRAST"),
        Op("RESIZE", (70, 12), flags=3),
        Op("AUTOCONTRAST"),
        Op("TO_FLOAT"),
    ],
    "reductions in a row": [Op("CONTRAST", f=(0.4,)), Op("AUTOCONTRAST"), Op("EQUALIZE"), Op("CONTRAST", f=(1.8,))],
    "sharpness of a part": [Op("WINDOW", (-2, 5, 30, 30)), Op("SHARPNESS", f=(1.9,)), Op("WINDOW", (4, 4, 9, 8))],
    "sharpness twice, flipped": [Op("HFLIP"), Op("SHARPNESS", f=(0.1,)), Op("VFLIP"), Op("SHARPNESS", f=(3.0,))],
    "sharpness of one line": [Op("WINDOW", (1, 1, 1, 30)), Op("SHARPNESS", f=(0.0,))],
    "blur of a part": [Op("RESIZE", (40, 44), flags=2), BLUR, Op("WINDOW", (10, 0, 9, 44)), Op("HFLIP"), BLUR],
    "blur of a warp": [ROTATE, BLUR, Op("WINDOW", (50, 60, 10, 10)), Op("RESIZE", (30, 31), flags=2)],
    "warps of warps": [
        PERSPECTIVE,
        Op("WINDOW", (2, 3, 50, 51)),
        Op("TORCH_AFFINE", (50, 51), (0.9, 0.2, 3.0, -0.2, 1.1, -2.0), FILLED | 2, (9, 8, 7, 6)),
        Op("TORCH_PERSPECTIVE", (50, 51), PERSPECTIVE.f, FILLED, (9, 8, 7, 6)),
        PERSPECTIVE,
        Op("HFLIP"),
        Op("WINDOW", (0, 30, 20, 20)),
    ],
    "sixty-four ops": [Op("BRIGHTNESS", f=(0.99 + 0.02 * (k % 2),)) for k in range(32)]
    + [Op("HFLIP"), Op("VFLIP")] * 16,
}


@pytest.mark.parametrize("name", CHAINS)
@each("channels", [1, 2, 3, 4])
def test_chain(name: str, channels: int) -> None:
    alpha = HAS_ALPHA if channels in (2, 4) else 0
    ops = [
        Op(
            op.name,
            op.i,
            op.f,
            op.flags | (alpha if op.name in ("BRIGHTNESS", "CONTRAST", "SHARPNESS") else 0),
            op.fill,
        )
        for op in CHAINS[name]
    ]
    for height, width in ((41, 53), (1, 1), (1, 40), (40, 1), (64, 64)):
        for planar in (False, True):
            assert_program(ops, noise(height, width, channels), planar=planar)


@pytest.mark.parametrize("filter_", [1, 2, 3, 4, 5, 9, 10, 11])
def test_every_window_of_a_resize(filter_: int) -> None:
    """Where a position falls on a pixel, weights are zero, and a row may need an earlier one than the row above."""
    for before, after in ((42, 70), (3, 63), (10, 20), (7, 21), (20, 28), (30, 12), (45, 18), (9, 90)):
        image = noise(before, before, 1)
        resize = Op("RESIZE", (after, after), flags=filter_)
        whole = reference([resize], image)
        for start in range(after):
            rows, columns = min(4, after - start), min(5, after - start)
            result = execute([resize, Op("WINDOW", (start, start, rows, columns))], image)
            assert np.array_equal(result, whole[start : start + rows, start : start + columns]), (before, after, start)


def test_large_photograph() -> None:
    """Rows longer than any internal strip, more rows than any ring."""
    image = np.asarray(photo("ihc", 700, 1300))
    rotate = Op("AFFINE", (700, 1300), (0.96, -0.28, 120.5, 0.28, 0.96, -150.25), 2)
    ops = [rotate, Op("WINDOW", (40, 100, 600, 1000)), Op("RESIZE", (221, 333), flags=2), Op("HFLIP")]
    colour = [Op("BRIGHTNESS", f=(1.1,)), Op("CONTRAST", f=(0.9,)), Op("SATURATION", f=(1.05,)), Op("HUE", (5,))]
    store = [Op("TO_FLOAT"), Op("NORMALIZE", f=(0.485, 0.456, 0.406, 0, 0.229, 0.224, 0.225, 1))]
    assert_program([*ops, *colour, *store], image, planar=True)
    assert_program([*colour, *ops, *store], image, planar=True)


def test_planar_source_equals_packed_source() -> None:
    for seed in range(100):
        rng = random.Random(30_000 + seed)
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), rng.choice([1, 2, 3, 4]), seed)
        ops = random_program(rng, image)
        planar = np.ascontiguousarray(image.transpose(2, 0, 1)).transpose(1, 2, 0)
        mirrored = np.ascontiguousarray(image[::-1, ::-1])[::-1, ::-1]
        for view in (planar, mirrored):
            assert np.array_equal(execute(ops, view), reference(ops, image)), describe(ops)


def test_a_program_reads_its_source_each_time() -> None:
    image = noise(20, 30)
    ops = [Op("RESIZE", (11, 12), flags=2)]
    first = execute(ops, image)
    image[:] = 255 - image
    assert not np.array_equal(execute(ops, image), first)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_result_in_pillow_layout(mode: str) -> None:
    """run() writes into the memory of a PIL image, the bytes between the bands included."""
    from PIL import Image

    channels = len(Image.new(mode, (1, 1)).getbands())
    for seed in range(25):
        rng = random.Random(40_000 + seed)
        image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), channels, seed)
        ops = [op for op in random_program(rng, image) if ROWS[op.name].kind != "store"]
        expected = reference(ops, image)
        for plain in (False, True):
            height, width, planes = expected.shape
            result = Image.new({1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[planes], (width, height))
            _C.run([(pack(ops), _C.from_array(image), _C.into_pil(result, planes))], reference=plain)
            assert np.array_equal(np.asarray(result).reshape(expected.shape), expected), describe(ops)
            result.load()


def test_descriptions_name_every_op() -> None:
    image = noise(40, 50)
    for seed in range(30):
        ops = random_program(random.Random(seed), image)
        lines = _C.describe(pack(ops)).splitlines()
        assert len(lines) == len(ops)
        assert all(line.split()[0] == op.name for line, op in zip(lines, ops))
        passes = _C.plan(pack(ops), *image.shape).passes
        assert passes and passes[-1].height and all(one.name for one in passes)
